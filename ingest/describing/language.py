"""Whether a text is English, told by its letters and its small words; no model, no word list of other languages."""

import re

from ingest.extraction.words import STOP

__all__ = ["is_english"]

# Fewer words tell nothing; a formula or a list of names has few small words, another language nearly none.
_LEAST_WORDS = 12
_LEAST_SHARE = 0.15
_LATIN = 0x250
_WORD = re.compile(r"[^\W\d_]+")


def is_english(text: str) -> bool:
    """False where most letters are not Latin (Greek ones are left aside: they stand in formulas), or where fewer than
    15 % of at least 12 words are among the small words of English."""
    letters = [character for character in text if character.isalpha() and not "\u0370" <= character <= "\u03ff"]
    if sum(ord(character) >= _LATIN for character in letters) * 2 > len(letters):
        return False
    words = [word.casefold() for word in _WORD.findall(text) if len(word) > 1]
    return len(words) < _LEAST_WORDS or sum(word in STOP for word in words) >= _LEAST_SHARE * len(words)
