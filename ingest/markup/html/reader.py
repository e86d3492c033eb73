"""An HTML page to elements."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from ingest.markup.decoding import decode
from ingest.markup.html.page import main_part
from ingest.markup.html.walker import Walker
from ingest.markup.inline import collapsed
from ingest.markup.nodes import Node
from ingest.markup.reading import Reading, Source
from ingest.markup.trees import html_tree
from paperscope.types import Element, PageProblem, Passage

__all__ = ["read_html", "read_tree"]

_TITLES = ("citation_title", "dc.title", "dcterms.title", "og:title")
_AUTHORS = ("citation_author", "dc.creator", "author")


def read_html(source: Source) -> Reading:
    """Read a page. Raises `PaperFileError` for a file that is no text."""
    text, problems = decode(source.data, name=source.name, declared=True)
    tree, lost = html_tree(text, name=source.name)
    return read_tree(tree, source=source, problems=(*problems, *lost))


def read_tree(tree: Node, *, source: Source, problems: Sequence[PageProblem] = ()) -> Reading:
    """Read a page that is a tree already."""
    elements = Walker(source).walked(main_part(tree))
    told = _meta(tree, _TITLES)
    title = next(iter(told), "") or next((node.plain() for node in tree.all("title") if node.plain()), "")
    return Reading(
        elements=_with_title(elements, told),
        title=title,
        authors=tuple(dict.fromkeys(_name(author) for author in _meta(tree, _AUTHORS))),
        problems=problems,
    )


def _meta(tree: Node, names: Iterable[str]) -> list[str]:
    """The contents of the `meta` elements with the first of these names that is there."""
    metas = [(node.get("name") or node.get("property"), collapsed(node.get("content"))) for node in tree.all("meta")]
    for name in names:
        if found := [content for key, content in metas if key.lower() == name and content]:
            return found
    return []


def _name(author: str) -> str:
    """`Curie, Marie` as `Marie Curie`."""
    last, comma, first = author.partition(", ")
    return f"{first} {last}" if comma and "," not in first else author


def _with_title(elements: Sequence[Element], told: Sequence[str]) -> list[Element]:
    """Mark the heading as title that says what the page's metadata say."""
    result = list(elements)
    if any(isinstance(element, Passage) and element.role == "title" for element in result):
        return result
    for index, element in enumerate(result):
        said = isinstance(element, Passage) and element.role == "heading" and element.text.casefold()
        if isinstance(element, Passage) and said in {title.casefold() for title in told}:
            result[index] = replace(element, role="title", level=0)
            break
    return result
