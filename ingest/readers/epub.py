"""Reads EPUB books: their chapters are read as HTML pages, whose lines are counted on."""

import posixpath
from dataclasses import replace
from urllib.parse import unquote

from ingest.document.drafts import draft_passage
from ingest.readers.element_collector import Reading, Source
from ingest.readers.html import HtmlWalker
from ingest.readers.markup_tree import Node, parse_html
from ingest.readers.zip_archive import ZipArchive
from paperscope_core.errors import PaperFileError
from paperscope_core.publication import doi_in, year_in
from paperscope_core.types import Element, PageProblem, Publication

__all__ = ["read_epub"]

_PAGES = ("application/xhtml+xml", "text/html")


def read_epub(source: Source) -> Reading:
    """Read a book. Raise `PaperFileError` if it is damaged, too large or encrypted."""
    archive = ZipArchive(source.data, name=source.name, kind="EPUB")
    package = _package(archive, name=source.name)
    root = archive.tree(package)
    metadata = root.find("metadata") or root
    title, *_ = _texts(metadata, "title") or [""]
    elements: list[Element] = [draft_passage(title, "title", source.lines.at(1, 1))] if title else []
    problems: list[PageProblem] = []
    chapters = _chapters(root, folder=posixpath.dirname(package))
    protected = {node.get("URI") for node in archive.tree("META-INF/encryption.xml").iter("cipherreference")}
    if chapters and protected.issuperset(chapters):
        raise PaperFileError(f"{source.name!r} is protected against copying. Use a copy without protection.")
    lines = source.lines
    for part in chapters:
        text = None if part in protected else archive.text(part)
        if not text or not text.strip():
            problems.append(PageProblem(page=1, reason=f"the chapter {part} is missing, empty or protected"))
            continue
        tree, lost = parse_html(text, name=source.name)
        source.images.look_in(archive.images_in(posixpath.dirname(part)))
        elements += HtmlWalker(replace(source, lines=lines)).walk(next(tree.iter("body"), tree))
        problems += lost
        lines = replace(lines, before=lines.before + text.count("\n") + 1)
    stated = (*_texts(metadata, "identifier"), *_texts(metadata, "source"))
    return Reading(
        elements=elements,
        title=title,
        authors=_texts(metadata, "creator"),
        problems=(*problems, *archive.problems),
        publication=Publication(
            year=year_in(next(iter(_texts(metadata, "date")), "")),
            doi=next(filter(None, map(doi_in, stated)), ""),
        ),
    )


def _package(archive: ZipArchive, *, name: str) -> str:
    """Return the part that lists the others."""
    named = archive.tree("META-INF/container.xml").first_of("rootfile")
    if named is None or named.get("full-path") not in archive.names:
        raise PaperFileError(f"{name!r} holds no EPUB book that can be read. Fetch the file again.")
    return named.get("full-path")


def _chapters(package: Node, *, folder: str) -> list[str]:
    """Return the parts of the book in reading order, without its table of contents."""
    items = {item.get("id"): item for item in package.iter("item")}
    listed = (items.get(reference.get("idref")) for reference in package.iter("itemref"))
    parts = (
        posixpath.normpath(posixpath.join("/", folder, unquote(item.get("href")))).lstrip("/")
        for item in listed
        if item is not None and item.get("media-type") in _PAGES and "nav" not in item.get("properties").split()
    )
    return list(dict.fromkeys(parts))


def _texts(metadata: Node, tag: str) -> list[str]:
    return [text for node in metadata.iter(tag) if (text := node.plain_text())]
