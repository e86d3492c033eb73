"""A Word document to elements."""

import re

from ingest.markup.docx.archive import Archive
from ingest.markup.docx.walker import DocxWalker
from ingest.markup.inline import collapsed
from ingest.markup.nodes import Node
from ingest.markup.reading import Reading, Source
from paperscope.errors import PaperFileError
from paperscope.types import Element, Passage

__all__ = ["read_docx"]

_MAIN = "word/document.xml"
_FRAMES = re.compile(r"word/(?:header|footer)\d*\.xml")
_MOST_FRAMES = 12


def read_docx(source: Source) -> Reading:
    """Read a document. Raises `PaperFileError` for one that is damaged or too large."""
    archive = Archive(source.data, name=source.name)
    root = archive.tree(_MAIN)
    body = root.one("body") if root is not None else None
    if body is None:
        raise PaperFileError(f"{source.name!r} holds no Word document that can be read. Save it again as DOCX.")
    targets = archive.targets(_MAIN)
    walker = DocxWalker(archive, targets=targets, source=source)
    elements = walker.walked(body)
    frames = [part for part in dict.fromkeys(targets.values()) if _FRAMES.fullmatch(part)][:_MOST_FRAMES]
    elements += _furniture([tree for part in frames if (tree := archive.tree(part)) is not None], walker, source)
    core = archive.tree("docProps/core.xml")
    return Reading(elements=elements, title=_said(core, "title"), authors=(), problems=archive.problems)


def _furniture(frames: list[Node], walker: DocxWalker, source: Source) -> list[Element]:
    """Headers and footers, each text once; they stand on the document's last line."""
    texts = dict.fromkeys(
        text for frame in frames for paragraph in frame.all("p") if (text := walker.text_of(paragraph))
    )
    place = source.lines.at(walker.line, walker.line)
    return [Passage(id="", place=place, order=0, text=text, role="furniture") for text in texts]


def _said(core: Node | None, tag: str) -> str:
    node = core.one(tag) if core is not None else None
    return collapsed(node.text()) if node is not None else ""
