"""Reads LaTeX sources: they become HTML for its reader."""

import re
from collections.abc import Iterator

from ingest.document.bylines import author_names
from ingest.readers.element_collector import Reading, Source
from ingest.readers.html import HtmlWalker
from ingest.readers.inline_text import inline_text
from ingest.readers.latex_files import open_latex
from ingest.readers.latex_html import LatexConverter, latex_rows
from ingest.readers.latex_macros import ExpandedSource, expand_latex, read_group, read_option
from ingest.readers.latex_nodes import KNOWN, parse_latex
from ingest.readers.latex_references import find_citations, formatted_entries, with_bibliography
from ingest.readers.markup_tree import Node, element
from paperscope_core.cancellation import extend_time_limit
from paperscope_core.publication import arxiv_in
from paperscope_core.types import PageProblem, Publication

__all__ = ["read_latex"]

# The time limit is set for one page; pylatexenc takes as long for this much.
_LETTERS_PER_STEP = 100_000
_BEGIN, _END = "\\begin{document}", "\\end{document}"
_NAMES = re.compile(r"\\(title|author)\b\*?(?!\s*\\)")
_AND = re.compile(r"\\(?:and|And|AND)\b")
_SPACE = re.compile(r"\\q?quad\b")
_NOT_A_NAME = re.compile(r"\$[^$]*\$|\\textsuperscript\s*\{[^{}]*\}|\\(?:footnotemark|samethanks)\b(?:\[[^\]]*\])?")
_FOLDERS = re.compile(r"\\graphicspath\s*\{((?:\s*\{[^{}]*\})+)\s*\}")


def read_latex(source: Source) -> Reading:
    """Read a paper. Raise `PaperFileError` if there is none, or it is too large."""
    files = open_latex(source)
    expanded = expand_latex(with_bibliography(files.text, files), read=files.read, known=KNOWN, name=source.name)
    text = expanded.text
    extend_time_limit(1 + len(text) // _LETTERS_PER_STEP)
    start = text.find(_BEGIN) + len(_BEGIN) if _BEGIN in text else 0
    end = text.find(_END, start) if _END in text[start:] else len(text)
    nodes = parse_latex(text[:end], start=start)
    entries = "" if "\\bibitem" in text else formatted_entries(text, files)
    citations = find_citations(text + entries, main=files.text)
    # Converted twice: at first, what is referred to further below has no number.
    first = LatexConverter(expanded, citations=citations, labels={})
    first.blocks(nodes)
    converter = LatexConverter(expanded, citations=citations, labels=first.found)
    authors = _authors(text[:end], expanded, converter)
    body = [
        *_front(text[:end], expanded, converter, authors=authors),
        *converter.blocks(nodes),
        *converter.entries(parse_latex(entries), line=expanded.line(end)),
    ]
    if folders := _FOLDERS.search(text):
        files.picture_folders = tuple(path.strip() for path in re.findall(r"\{([^{}]*)\}", folders[1]))
    source.images.look_in(files.picture)
    missing = [f"the file {path} is missing" for path in expanded.missing]
    missing += [f"drawings of {name} are left out" for name in converter.not_drawn]
    return Reading(
        elements=HtmlWalker(source).walk(element("body", *body, lines=(1, expanded.line(end)))),
        authors=authors,
        problems=(*files.problems, *(PageProblem(page=1, reason=reason) for reason in missing)),
        publication=Publication(arxiv=arxiv_in(f"arXiv:{source.name}")),
    )


def _stated(text: str, name: str) -> list[tuple[str, int]]:
    """Return the arguments of all commands of a name, and where they are."""
    found = (match for match in _NAMES.finditer(text) if match[1] == name)
    return [(read_group(text, read_option(text, match.end())[1])[0], match.start()) for match in found]


def _authors(text: str, source: ExpandedSource, converter: LatexConverter) -> tuple[str, ...]:
    """Return the authors: of several that the paper sets apart, the first line of each."""
    people = [(one, source.line(at)) for group, at in _stated(text, "author") for one in _AND.split(group)]
    lines = [
        inline_text(converter.fragment(part, line))
        for one, line in people
        for part in latex_rows(_NOT_A_NAME.sub(" ", _SPACE.sub(", ", one)))[: 1 if people[1:] else None]
    ]
    return author_names(lines, metadata="")


def _front(text: str, source: ExpandedSource, converter: LatexConverter, *, authors: tuple[str, ...]) -> Iterator[Node]:
    for title, at in _stated(text, "title")[:1]:
        lines = source.line(at), source.line(at)
        yield element("h1", *converter.fragment(title, lines[0]), lines=lines, class_="ltx_title_document")
    for _, at in _stated(text, "author")[: 1 if authors else 0]:
        lines = source.line(at), source.line(at)
        names = (element("span", name, lines=lines, class_="ltx_personname") for name in authors)
        yield element("div", *names, lines=lines, class_="ltx_authors")
