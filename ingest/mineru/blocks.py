"""What every version of MinerU's files comes to: blocks in reading order, boxes in points."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from ingest.mineru.nodes import Node
from ingest.pdf.text.hyphens import join_lines
from paperscope.types import Box, Page

__all__ = ["Block", "BlockKind", "Imported", "TextLine", "kind_of", "line_text", "tidied"]

BlockKind = Literal[
    "title", "heading", "text", "list", "reference", "code", "equation", "table", "figure", "note", "footnote",
    "furniture", "discarded"
]  # fmt: skip

_KINDS: dict[str, BlockKind] = {
    "doc_title": "title",
    "title": "heading",
    "paragraph_title": "heading",
    "text": "text",
    "abstract": "text",
    "phonetic": "text",
    "vertical_text": "text",
    "index": "text",
    "list": "list",
    "ref_text": "reference",
    "code": "code",
    "algorithm": "code",
    "code_body": "code",
    "algorithm_body": "code",
    "equation": "equation",
    "interline_equation": "equation",
    "formula_number": "text",
    "table": "table",
    "table_body": "table",
    "image": "figure",
    "image_body": "figure",
    "chart": "figure",
    "chart_body": "figure",
    "page_footnote": "footnote",
    "header": "furniture",
    "footer": "furniture",
    "page_number": "furniture",
    "aside_text": "furniture",
    "header_image": "furniture",
    "footer_image": "furniture",
    "discarded": "discarded",
}
_LIGATURES = str.maketrans({"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "st", "ﬆ": "st"})
_BULLET = re.compile(r"^[\uf000-\uf0ff\u0000-\u001f\u007f-\u009f\ufffd▪◦●○■‣∙⋅·•]+\s*")
_FORMULAS = frozenset(("inline_equation", "interline_equation", "equation", "equation_inline"))


@dataclass(frozen=True, kw_only=True, slots=True)
class TextLine:
    """A line of text; `starts` says that an item of a list begins with it."""

    text: str
    box: Box
    starts: bool = False


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Block:
    """A part of a page (its index from 0); a "note" is what MinerU took for the caption or footnote of some float.

    `level` is MinerU's, 0 where it gives none; `goes_on` says that MinerU joined the block to the text before it;
    `images` are paths in the folder.
    """

    kind: BlockKind
    page: int
    box: Box
    lines: tuple[TextLine, ...] = ()
    level: int = 0
    html: str = ""
    images: tuple[str, ...] = ()
    goes_on: bool = False

    @property
    def text(self) -> str:
        """The lines as one text."""
        return join_lines(line.text for line in self.lines)


@dataclass(frozen=True, kw_only=True, slots=True)
class Imported:
    """A document as MinerU saw it; `sized` is false where its file names no page sizes and A4 was assumed."""

    pages: tuple[Page, ...]
    blocks: tuple[Block, ...]
    sized: bool = True


def kind_of(name: str) -> BlockKind | None:
    """Our kind of block for MinerU's, "note" for captions and footnotes of floats, None for an unknown one."""
    if name.endswith(("_caption", "_footnote")) and name != "page_footnote":
        return "note"
    return "note" if name in ("caption", "footnote") else _KINDS.get(name)


def line_text(spans: Iterable[Node] | Sequence[Node], *, formula: bool = False) -> str:
    """The text of spans: formulas inside text stand between `$`, a display equation is bare."""
    parts: list[str] = []
    for span in spans:
        if isinstance(span.content, list):
            parts.append(line_text(span.content))
            continue
        text = (span.content or span.latex).strip()
        if text:
            parts.append(text if formula or span.type not in _FORMULAS else f"${text}$")
    joined = " ".join(parts)
    return joined.strip() if formula else tidied(joined)


def tidied(text: str) -> str:
    """Text with single spaces, plain letters for ligatures, and one kind of bullet."""
    text = re.sub(r"\s+", " ", _BULLET.sub("• ", text.lstrip(" "))).translate(_LIGATURES)
    text = re.sub(r"(?<=\$)\s+(?=[.,;:)\]])|(?<=[(\[])\s+(?=\$)", "", text)
    return text.strip()
