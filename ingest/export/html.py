"""A paper as one HTML page that needs nothing but its pictures, and runs nothing."""

import base64
import hashlib
from collections.abc import Iterator
from html import escape
from itertools import groupby

from ingest.export.html_elements import ElementHtml
from ingest.export.html_style import STYLE
from paperscope.types import Element, PageProblem, Paper, Passage, Reference, Section

__all__ = ["to_html"]

_DEEPEST = 6


def to_html(paper: Paper) -> str:
    """The paper as a page; its pictures are named by the paths of `crop_names`, relative to the file.

    Each element stands under its id as anchor, and cross-references lead there. A Content-Security-Policy allows this
    page's own style and pictures beside it, nothing else. Every text is escaped.
    """
    elements = ElementHtml(paper)
    title = escape(paper.title)
    digest = base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()
    policy = (
        f"default-src 'none'; img-src 'self' file:; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    )
    return "\n".join(
        [
            "<!doctype html>",
            '<html><head><meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            '<meta name="referrer" content="no-referrer">',
            f"<title>{title}</title>",
            f"<style>{STYLE}</style></head>",
            "<body><main>",
            f'<h1 dir="auto">{title}</h1>',
            *_front(paper),
            *_body(paper, elements),
            "</main></body></html>\n",
        ]
    )


def _front(paper: Paper) -> Iterator[str]:
    if not any(isinstance(element, Passage) and element.role == "authors" for element in paper.elements):
        yield f'<p class="authors" dir="auto">{escape(", ".join(paper.authors))}</p>'
    if paper.problems:
        items = "".join(f"<li>{_page(problem, paper)}{escape(problem.reason)}</li>" for problem in paper.problems)
        yield f'<div class="problems">What could not be read:<ul>{items}</ul></div>'
    if paper.sections:
        items = "".join(_entry(section) for section in paper.sections)
        yield f"<nav><details><summary>Contents</summary><ul>{items}</ul></details></nav>"


def _page(problem: PageProblem, paper: Paper) -> str:
    return f"Page {problem.page}: " if paper.paged else ""


def _entry(section: Section) -> str:
    name = escape(f"{section.number} {section.title}".strip())
    deep = ' class="deep"' if section.level > 1 else ""
    return f'<li{deep}><a href="#{escape(section.id)}" dir="auto">{name}</a></li>'


def _body(paper: Paper, elements: ElementHtml) -> Iterator[str]:
    """The sections nested as their levels say, each under its id, and what stands in them."""
    sections = {section.id: section for section in paper.sections}
    opened: list[int] = []
    shown: set[str] = set()
    for kind, group in groupby(paper.elements, key=_kind):
        run = list(group)
        if kind in ("items", "references"):
            lines = [elements.html(element) for element in run]
            yield f'<ul class="items {kind}">{"".join(lines)}</ul>'
        elif kind == "heading":
            for heading in run:
                yield from _heading(heading, elements, sections, opened=opened, shown=shown)
        elif kind != "left out":
            yield from (elements.html(element) for element in run)
    yield from ("</section>" for _ in opened)


def _heading(
    heading: Element, elements: ElementHtml, sections: dict[str, Section], *, opened: list[int], shown: set[str]
) -> Iterator[str]:
    """Close the sections that the heading ends, and open its own."""
    section = sections.get(heading.section)
    level = section.level if section else 1
    while opened and opened[-1] >= level:
        opened.pop()
        yield "</section>"
    opened.append(level)
    anchor = f' id="{escape(section.id)}"' if section and section.id not in shown else ""
    shown.update([section.id] if section else [])
    tag = f"h{min(max(level, 1) + 1, _DEEPEST)}"
    yield f"<section{anchor}><{tag}{elements.attributes(heading)}>{elements.text(heading)}</{tag}>"


def _kind(element: Element) -> str:
    """What stands together: items of a list, references; the title stands at the top, furniture nowhere."""
    if isinstance(element, Reference):
        return "references"
    role = element.role if isinstance(element, Passage) else ""
    return {"list": "items", "heading": "heading", "title": "left out", "furniture": "left out"}.get(role, "block")
