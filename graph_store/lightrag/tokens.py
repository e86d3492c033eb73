"""A tokenizer for LightRAG that needs no vocabulary, because LightRAG downloads one unless it is given a tokenizer."""

import re

__all__ = ["PieceTokenizer"]

# Pieces about as long as tokens (see `paperscope_core.models.tokens`): 5.5 letters and spaces, 1 digit, 1.4 other ASCII
# characters; any other character is two or three bytes.
_PIECE = re.compile(rb"[A-Za-z \n\t\r]{1,5}|[\x00-\xff]", re.DOTALL)
_MARK = b"\x01"


class PieceTokenizer:
    """Cuts texts into pieces whose number estimates the tokens; safe for several threads.

    A token's number is its piece, read as bytes, so that every text can be restored.
    """

    def encode(self, content: str) -> list[int]:
        """The tokens of a text."""
        return [int.from_bytes(_MARK + piece) for piece in _PIECE.findall(content.encode(errors="replace"))]

    def decode(self, tokens: list[int]) -> str:
        """The text of tokens; a character that is cut is left out."""
        pieces = [token.to_bytes((token.bit_length() + 7) // 8)[1:] for token in tokens]
        return b"".join(pieces).decode(errors="ignore")
