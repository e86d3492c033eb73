"""A paper as one HTML page that depends only on its pictures and contains no scripts."""

import base64
import hashlib
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from html import escape
from itertools import groupby

from ingest.export.file_names import crop_names, file_stems
from paperscope_core.types import Element, Equation, Figure, Link, Paper, Passage, Reference, Section, Table

__all__ = ["linked", "to_html"]

_NUMBER = re.compile(r"[A-Z]?\.?\d+(?:\.\d+)*[a-z]?")
_BRACKETED = re.compile(r"\[(\d+)\]")

# Pixels per point, so that the letters of a formula are about as large as those of the text.
_PIXELS = 1.6
_STYLE = """
:root { color-scheme: light dark; }
:root { --text: #1c1d21; --back: #fdfdfc; --faint: #5d616b; --line: #d9dbe0; --link: #1a56b0; }
@media (prefers-color-scheme: dark) {
  :root { --text: #e4e5e9; --back: #17181b; --faint: #a2a6b1; --line: #3b3e46; --link: #8ab4f8; }
}
* { box-sizing: border-box; }
body { margin: 0; color: var(--text); background: var(--back); font: 17px/1.6 Georgia, "Times New Roman", serif; }
main { max-width: 46rem; margin: 0 auto; padding: 2rem 1.25rem 6rem; overflow-wrap: break-word; }
h1, h2, h3, h4, h5, h6, nav, figcaption, table, summary, .authors, .problems { font-family: system-ui, sans-serif; }
h1 { font-size: 1.8rem; line-height: 1.25; margin: 0 0 1rem; }
h2 { font-size: 1.35rem; margin: 2.5rem 0 .75rem; }
h3 { font-size: 1.12rem; margin: 2rem 0 .5rem; }
h4, h5, h6 { font-size: 1rem; margin: 1.5rem 0 .5rem; }
a { color: var(--link); text-decoration: none; }
a:hover { text-decoration: underline; }
:target { outline: 2px solid var(--link); outline-offset: 4px; border-radius: 2px; }
.authors, .footnote, nav, figcaption, summary { color: var(--faint); font-size: .88rem; line-height: 1.5; }
.authors { white-space: pre-line; }
.footnote { border-left: 3px solid var(--line); padding-left: .75rem; }
.problems { border: 1px solid #c98a1b; border-radius: 6px; padding: .5rem 1rem; font-size: .88rem; }
nav ul, ul.items { list-style: none; padding: 0; }
nav .deep { padding-left: 1.5rem; }
ul.items li { margin: .4rem 0; padding-left: 1.5rem; }
ul.references li { font-size: .88rem; line-height: 1.5; padding-left: 2rem; text-indent: -2rem; }
figure { margin: 2rem 0; }
figcaption { margin: .5rem 0; }
figcaption b { color: var(--text); }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-size: .85rem; line-height: 1.4; font-variant-numeric: tabular-nums; }
caption:empty { display: none; }
td, th { border: 1px solid var(--line); padding: .25rem .6rem; text-align: start; vertical-align: top; }
th { font-weight: 600; }
img { max-width: 100%; height: auto; background: #fff; border-radius: 4px; }
.equation { text-align: center; }
pre { overflow-x: auto; padding: .75rem 1rem; border: 1px solid var(--line); border-radius: 6px; }
pre { font: .82rem/1.5 ui-monospace, Menlo, Consolas, monospace; }
summary { cursor: pointer; }
"""
_DEEPEST = 6


def linked(text: str, links: Sequence[Link]) -> str:
    """Returns the text as escaped HTML, with the words of each link linked to `#TARGET`.

    If words name several elements ("Figs. 2 and 3"), each number is linked if there are as many numbers as targets, and
    otherwise the words are linked to the first target. Numbers in groups of citations ("[3, 12]") are linked, too.
    """
    targets: dict[str, list[str]] = {}
    for link in links:
        if link.text.strip():
            targets.setdefault(link.text, []).append(link.target)
    if not targets:
        return escape(text)
    # Text and the words of links alternate.
    pieces = _pattern(targets).split(text)
    return "".join(
        _anchors(piece, targets.get(piece) or targets[f"[{piece}]"]) if place % 2 else escape(piece)
        for place, piece in enumerate(pieces)
    )


def _pattern(targets: Mapping[str, Sequence[str]]) -> re.Pattern[str]:
    """Matches the words of every link, the longest first, but no part of a word or number."""
    ways: list[str] = []
    for words in sorted(targets, key=len, reverse=True):
        before = r"(?<!\w)" if words[0].isalpha() or words[0].isdecimal() else ""
        after = r"(?!\w|\.\d)" if words[-1].isalpha() or words[-1].isdecimal() else ""
        ways.append(f"{before}{re.escape(words)}{after}")
        if number := _BRACKETED.fullmatch(words):
            ways.append(rf"(?<=[\[,;\s–-]){number[1]}(?=[\d,;\s–-]*\])(?!\d)")
    return re.compile(f"({'|'.join(ways)})")


def _anchors(words: str, targets: Sequence[str]) -> str:
    numbers = list(_NUMBER.finditer(words))
    if len(targets) == 1 or len(numbers) != len(targets):
        return _anchor(words, targets[0])
    parts: list[str] = []
    end = 0
    for number, target in zip(numbers, targets, strict=True):
        start = number.start() if parts else 0
        parts += [escape(words[end:start]), _anchor(words[start : number.end()], target)]
        end = number.end()
    return "".join([*parts, escape(words[end:])])


def _anchor(words: str, target: str) -> str:
    return f'<a href="#{escape(target)}">{escape(words)}</a>'


class _ElementHtml:
    """Renders elements of one paper."""

    def __init__(self, paper: Paper) -> None:
        self._stems = file_stems(paper)
        self._links: dict[str, list[Link]] = defaultdict(list)
        anchors = {element.id for element in paper.elements} | {section.id for section in paper.sections}
        for link in paper.links:
            if link.target in anchors:
                self._links[link.source].append(link)

    def html(self, element: Element) -> str:
        """Returns the element as a block, or as the item of a list."""
        match element:
            case Passage():
                return self._passage(element)
            case Reference():
                label = "" if element.label in element.text or element.label[:1] != "[" else f"{element.label} "
                return f"<li{self.attributes(element)}>{escape(label)}{self.text(element)}</li>"
            case Table():
                return f"<figure{self.attributes(element)}>{self._caption(element)}{self._table(element)}</figure>"
            case Figure():
                return f"<figure{self.attributes(element)}>{''.join(self._figure(element))}</figure>"
            case Equation():
                pictures = self._pictures(element)
                text = f"<p>{self.text(element)}</p>"
                shown = f"{pictures}{_details('Text', text)}" if pictures else text
                return f'<figure{self.attributes(element)} class="equation">{shown}{self._caption(element)}</figure>'

    def attributes(self, element: Element) -> str:
        """Returns the anchor, the page as a tooltip, and the direction of the script."""
        return f' id="{escape(element.id)}" title="{element.place.where}" dir="auto"'

    def text(self, element: Element) -> str:
        """Returns the element's text, or a float's caption, with its links."""
        words = element.caption if isinstance(element, Table | Figure) else element.text
        return linked(words, self._links[element.id])

    def _passage(self, passage: Passage) -> str:
        attributes = self.attributes(passage)
        match passage.role:
            case "list":
                return f"<li{attributes}>{self.text(passage)}</li>"
            case "code":
                caption = self._caption(passage)
                return f"<figure{attributes}>{caption}<pre>{escape(passage.text)}</pre></figure>"
            case "authors" | "footnote":
                return f'<p{attributes} class="{passage.role}">{self.text(passage)}</p>'
            case _:
                return f"<p{attributes}>{self.text(passage)}</p>"

    def _caption(self, element: Table | Figure | Equation | Passage) -> str:
        words = escape(element.caption) if isinstance(element, Passage) else ""
        if isinstance(element, Table | Figure):
            words = self.text(element)
        label = f"<b>{escape(element.label)}</b> " if element.label else ""
        return f"<figcaption>{label}{words}</figcaption>" if label or words else ""

    def _table(self, table: Table) -> str:
        pictures = self._pictures(table)
        if not table.cells:
            return pictures
        cells = f'<div class="scroll">{replace(table, label="", caption="").to_html()}</div>'
        return f"{cells}{_details('As printed', pictures)}" if pictures else cells

    def _figure(self, figure: Figure) -> Iterator[str]:
        yield self._pictures(figure)
        yield self._caption(figure)
        panels = (f"<li>({escape(panel.mark)}) {escape(panel.caption)}</li>" for panel in figure.panels)
        if figure.panels:
            yield f'<ul class="items">{"".join(panels)}</ul>'
        if figure.text:
            yield _details("Text in the figure", f"<p>{escape(figure.text)}</p>")

    def _pictures(self, element: Table | Figure | Equation) -> str:
        width = (element.place.box.x1 - element.place.box.x0) * _PIXELS if isinstance(element, Equation) else 0
        size = f' width="{round(width)}"' if width > 0 else ""
        alternative = escape(element.label or element.kind)
        names = crop_names(element, stem=self._stems[element.id]).values()
        return "".join(f'<img src="{escape(name)}" alt="{alternative}"{size} loading="lazy">' for name in names)


def _details(summary: str, inner: str) -> str:
    return f"<details><summary>{summary}</summary>{inner}</details>"


def to_html(paper: Paper) -> str:
    """Returns the paper as a page; its pictures are named by the paths of `crop_names`, relative to the file.

    The id of each element is its anchor, to which cross-references link. A Content-Security-Policy allows only the
    page's own style and pictures from the same place. All text is escaped.
    """
    elements = _ElementHtml(paper)
    title = escape(paper.title)
    digest = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()
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
            f"<style>{_STYLE}</style></head>",
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
        pages = [f"Page {problem.page}: " if paper.paged else "" for problem in paper.problems]
        reasons = [escape(problem.reason) for problem in paper.problems]
        items = "".join(f"<li>{page}{reason}</li>" for page, reason in zip(pages, reasons, strict=True))
        yield f'<div class="problems">What could not be read:<ul>{items}</ul></div>'
    if paper.sections:
        items = "".join(_entry(section) for section in paper.sections)
        yield f"<nav><details><summary>Contents</summary><ul>{items}</ul></details></nav>"


def _entry(section: Section) -> str:
    name = escape(f"{section.number} {section.title}".strip())
    deep = ' class="deep"' if section.level > 1 else ""
    return f'<li{deep}><a href="#{escape(section.id)}" dir="auto">{name}</a></li>'


def _body(paper: Paper, elements: _ElementHtml) -> Iterator[str]:
    """Yields the sections, nested by level, with their elements."""
    sections = {section.id: section for section in paper.sections}
    opened: list[int] = []
    shown: set[str] = set()
    for kind, group in groupby(paper.elements, key=_kind):
        run = list(group)
        if kind in ("items", "references"):
            yield f'<ul class="items {kind}">{"".join(map(elements.html, run))}</ul>'
        elif kind == "heading":
            for heading in run:
                yield from _heading(heading, elements, sections, opened=opened, shown=shown)
        elif kind != "left out":
            yield from map(elements.html, run)
    yield from ("</section>" for _ in opened)


def _heading(
    heading: Element, elements: _ElementHtml, sections: dict[str, Section], *, opened: list[int], shown: set[str]
) -> Iterator[str]:
    """Closes the sections that the heading ends, and opens its own."""
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
    """How an element is grouped: list items, references, headings, blocks; the title and furniture are left out."""
    if isinstance(element, Reference):
        return "references"
    role = element.role if isinstance(element, Passage) else ""
    return {"list": "items", "heading": "heading", "title": "left out", "furniture": "left out"}.get(role, "block")
