"""Markdown to elements: as HTML in which everything stands on its own line."""

from ingest.markup.decoding import decode
from ingest.markup.front_matter import FrontMatter, split_front_matter
from ingest.markup.html.walker import Walker
from ingest.markup.inline import collapsed
from ingest.markup.markdown.rendering import markdown_html
from ingest.markup.reading import Reading, Source
from ingest.markup.trees import html_tree
from paperscope.types import Element, Passage, PassageRole

__all__ = ["read_markdown"]


def read_markdown(source: Source) -> Reading:
    """Read a file. Raises `PaperFileError` for a file that is no text."""
    text, problems = decode(source.data, name=source.name)
    front, body = split_front_matter(text)
    page = markdown_html(body)
    # Link targets alone show nothing.
    if not page.strip():
        return Reading(elements=_head(front, source), title=front.title, authors=front.authors, problems=problems)
    tree, lost = html_tree(page, name=source.name)
    elements = Walker(source).walked(next(tree.all("body"), tree))
    return Reading(
        elements=[*_head(front, source), *elements],
        title=front.title,
        authors=front.authors,
        problems=(*problems, *lost),
    )


def _head(front: FrontMatter, source: Source) -> list[Element]:
    """Title, authors and abstract of the front matter."""
    parts: tuple[tuple[PassageRole, str, str], ...] = (
        ("title", front.title, "title"),
        ("authors", "\n".join(front.authors), "author"),
        ("abstract", collapsed(front.abstract), "abstract"),
    )
    return [
        Passage(id="", place=source.lines.at(*front.span(key)), order=0, text=text, role=role)
        for role, text, key in parts
        if text
    ]
