"""A JATS article to elements: its front, its body with floats, its back."""

from ingest.markup.decoding import decode
from ingest.markup.inline import inline_text
from ingest.markup.jats.body import BodyWalker
from ingest.markup.jats.citations import full_name
from ingest.markup.nodes import Node
from ingest.markup.reading import Reading, Source
from ingest.markup.trees import xml_tree
from paperscope.errors import PaperFileError
from paperscope.types import Element, Passage, PassageRole

__all__ = ["read_jats"]

_ASIDE = frozenset("graphical teaser toc web-summary video".split())


def read_jats(source: Source) -> Reading:
    """Read an article. Raises `PaperFileError` for a file that holds none."""
    text, problems = decode(source.data, name=source.name, declared=True)
    tree, lost = xml_tree(text, name=source.name)
    article = tree if tree.tag == "article" else next(tree.all("article"), None)
    if article is None:
        raise PaperFileError(f"{source.name!r} holds no JATS article: its root element is {tree.tag!r}.")
    front = article.one("front") or article.one("front-stub")
    meta = (front.one("article-meta") or front) if front else None
    elements: list[Element] = []
    title = ""
    authors: tuple[str, ...] = ()
    if meta is not None:
        head = _Head(meta, source)
        title, authors = head.title, head.authors
        elements.extend(head.elements())
    for part in article.many("body", "back", "floats-group"):
        elements.extend(BodyWalker(source).walked(part))
    if front is not None and meta is not None:
        elements.extend(_furniture(front, meta, source))
    return Reading(elements=elements, title=title, authors=authors, problems=(*problems, *lost))


class _Head:
    """What `article-meta` says."""

    def __init__(self, meta: Node, source: Source) -> None:
        self._meta = meta
        self._source = source
        title = meta.one("title-group", "article-title")
        self._title = title
        self.title = inline_text(title.children) if title is not None else ""
        people = [
            person
            for group in meta.many("contrib-group")
            for person in group.many("contrib")
            if person.get("contrib-type") in ("", "author")
        ]
        self._people = people
        self.authors = tuple(name for name in map(full_name, people) if name)

    def elements(self) -> list[Element]:
        """Title, authors with their affiliations, abstracts and keywords."""
        found: list[Element] = []
        if self._title is not None:
            found += self._passage(self._title, self.title, "title")
        if self.authors:
            places = [inline_text(node.children) for node in self._meta.all("aff")]
            nodes = self._meta.many("contrib-group", "aff")
            text = "\n".join([", ".join(self.authors), *filter(None, places)])
            found.append(Passage(id="", place=self._source.lines.of(*nodes), order=0, text=text, role="authors"))
        for abstract in self._meta.many("abstract"):
            if abstract.get("abstract-type") not in _ASIDE:
                found += self._abstract(abstract)
        for group in self._meta.many("kwd-group"):
            words = ", ".join(inline_text(word.children) for word in group.all("kwd"))
            found += self._passage(group, f"Keywords: {words}" if words else "", "paragraph")
        return found

    def _abstract(self, abstract: Node) -> list[Element]:
        """Its paragraphs; the titles of a structured abstract run into them."""
        found: list[Element] = []
        lead = ""
        for node in abstract.all("title", "p"):
            text = inline_text(node.children)
            if node.tag == "title":
                lead = "" if text.lower().strip(" .:") in ("abstract", "summary") else f"{text.rstrip('.:')}: "
            elif text:
                found += self._passage(node, lead + text, "abstract")
                lead = ""
        if not found:
            found += self._passage(abstract, inline_text(abstract.children), "abstract")
        return found

    def _passage(self, node: Node, text: str, role: PassageRole) -> list[Element]:
        return [Passage(id="", place=self._source.lines.of(node), order=0, text=text, role=role)] if text else []


def _furniture(front: Node, meta: Node, source: Source) -> list[Element]:
    """Journal, year and identifier, as a page's head prints them."""
    journal = next((node for node in front.all("journal-title")), None)
    year = next((node for node in meta.all("pub-date") for node in node.many("year")), None)
    doi = next((node for node in meta.many("article-id") if node.get("pub-id-type") == "doi"), None)
    nodes = [node for node in (journal, year, doi) if node is not None]
    text = ", ".join(filter(None, (node.plain() for node in nodes)))
    if not text:
        return []
    return [Passage(id="", place=source.lines.of(nodes[0]), order=0, text=text, role="furniture")]
