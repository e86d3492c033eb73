"""A paper as one HTML page that depends only on its pictures and contains no scripts."""

import base64
import hashlib
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby

from markupsafe import Markup

from ingest.export.file_names import crop_names, file_stems
from paperscope_core.text.escaping import html
from paperscope_core.types import Element, Equation, Figure, Link, Paper, Passage, Reference, Section, Table

__all__ = ["linked", "to_html"]

_NUMBER = re.compile(r"[A-Z]?\.?\d+(?:\.\d+)*[a-z]?")
_BRACKETED = re.compile(r"\[(\d+)\]")

# Pixels per point, so that the letters of a formula are about as large as the text's.
_PIXELS = 1.6
_STYLE = Markup("""
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
""")
_PAGE = """\
<!doctype html>
<html><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>{title}</title>
<style>{style}</style></head>
<body><main>
<h1 dir="auto">{title}</h1>
{body}
</main></body></html>
"""
_DEEPEST = 6


def linked(text: str, links: Sequence[Link]) -> Markup:
    """Return the text as escaped HTML, with the words of each link linked to `#TARGET`.

    If words name several elements ("Figs. 2 and 3"), each number is linked if there are as many numbers as targets, and
    otherwise the words are linked to the first target. Numbers in groups of citations ("[3, 12]") are linked, too.
    """
    targets: dict[str, list[str]] = {}
    for link in links:
        if link.text.strip():
            targets.setdefault(link.text, []).append(link.target)
    if not targets:
        return html("{}", text)
    # Text and the words of links alternate.
    pieces = _pattern(targets).split(text)
    return Markup().join(
        _anchors(piece, targets.get(piece) or targets[f"[{piece}]"]) if place % 2 else piece
        for place, piece in enumerate(pieces)
    )


def _pattern(targets: Mapping[str, Sequence[str]]) -> re.Pattern[str]:
    """Match the words of every link, the longest first, but no part of a word or number."""
    ways: list[str] = []
    for words in sorted(targets, key=len, reverse=True):
        before = r"(?<!\w)" if words[0].isalpha() or words[0].isdecimal() else ""
        after = r"(?!\w|\.\d)" if words[-1].isalpha() or words[-1].isdecimal() else ""
        ways.append(f"{before}{re.escape(words)}{after}")
        if number := _BRACKETED.fullmatch(words):
            ways.append(rf"(?<=[\[,;\s–-]){number[1]}(?=[\d,;\s–-]*\])(?!\d)")
    return re.compile(f"({'|'.join(ways)})")


def _anchors(words: str, targets: Sequence[str]) -> Markup:
    numbers = list(_NUMBER.finditer(words))
    if len(targets) == 1 or len(numbers) != len(targets):
        return _anchor(words, targets[0])
    parts: list[str] = []
    end = 0
    for number, target in zip(numbers, targets, strict=True):
        start = number.start() if parts else 0
        parts += [words[end:start], _anchor(words[start : number.end()], target)]
        end = number.end()
    return Markup().join([*parts, words[end:]])


def _anchor(words: str, target: str) -> Markup:
    return html('<a href="#{}">{}</a>', target, words)


class _ElementHtml:
    """Renders elements of one paper."""

    def __init__(self, paper: Paper) -> None:
        self._stems = file_stems(paper)
        self._links: dict[str, list[Link]] = defaultdict(list)
        anchors = {element.id for element in paper.elements} | {section.id for section in paper.sections}
        for link in paper.links:
            if link.target in anchors:
                self._links[link.source].append(link)

    def block(self, element: Element) -> Markup:
        """Return the element as a block, or as the item of a list."""
        match element:
            case Passage():
                return self._passage(element)
            case Reference():
                label = "" if element.label in element.text or element.label[:1] != "[" else f"{element.label} "
                return html("<li{}>{}{}</li>", self.attributes(element), label, self.text(element))
            case Table():
                return self._float(element, self._caption(element), self._table(element))
            case Figure():
                return self._float(element, *self._figure(element))
            case Equation():
                pictures = self._pictures(element)
                text = html("<p>{}</p>", self.text(element))
                shown = pictures + _details("Text", text) if pictures else text
                return self._float(element, shown, self._caption(element))

    def attributes(self, element: Element) -> Markup:
        """Return the anchor, the page as a tooltip, and the direction of the script."""
        return html(' id="{}" title="{}" dir="auto"', element.id, element.place.where)

    def text(self, element: Element) -> Markup:
        """Return the element's text, or a float's caption, with its links."""
        words = element.caption if isinstance(element, Table | Figure) else element.text
        return linked(words, self._links[element.id])

    def _float(self, element: Element, *parts: Markup) -> Markup:
        kind = Markup(' class="equation"') if isinstance(element, Equation) else ""
        return html("<figure{}{}>{}</figure>", self.attributes(element), kind, Markup().join(parts))

    def _passage(self, passage: Passage) -> Markup:
        attributes = self.attributes(passage)
        match passage.role:
            case "list":
                return html("<li{}>{}</li>", attributes, self.text(passage))
            case "code":
                return self._float(passage, self._caption(passage), html("<pre>{}</pre>", passage.text))
            case "authors" | "footnote":
                return html('<p{} class="{}">{}</p>', attributes, passage.role, self.text(passage))
            case _:
                return html("<p{}>{}</p>", attributes, self.text(passage))

    def _caption(self, element: Table | Figure | Equation | Passage) -> Markup:
        words = element.caption if isinstance(element, Passage) else ""
        if isinstance(element, Table | Figure):
            words = self.text(element)
        label = html("<b>{}</b> ", element.label) if element.label else ""
        return html("<figcaption>{}{}</figcaption>", label, words) if label or words else Markup()

    def _table(self, table: Table) -> Markup:
        pictures = self._pictures(table)
        if not table.cells:
            return pictures
        cells = html('<div class="scroll">{}</div>', replace(table, label="", caption="").to_html())
        return cells + _details("As printed", pictures) if pictures else cells

    def _figure(self, figure: Figure) -> Iterator[Markup]:
        yield self._pictures(figure)
        yield self._caption(figure)
        panels = (html("<li>({}) {}</li>", panel.mark, panel.caption) for panel in figure.panels)
        if figure.panels:
            yield html('<ul class="items">{}</ul>', Markup().join(panels))
        if figure.text:
            yield _details("Text in the figure", html("<p>{}</p>", figure.text))

    def _pictures(self, element: Table | Figure | Equation) -> Markup:
        width = (element.place.box.x1 - element.place.box.x0) * _PIXELS if isinstance(element, Equation) else 0
        size = html(' width="{}"', round(width)) if width > 0 else ""
        alternative = element.label or element.kind
        names = crop_names(element, stem=self._stems[element.id]).values()
        return Markup().join(
            html('<img src="{}" alt="{}"{} loading="lazy">', name, alternative, size) for name in names
        )


def _details(summary: str, inner: Markup) -> Markup:
    return html("<details><summary>{}</summary>{}</details>", summary, inner)


def to_html(paper: Paper) -> Markup:
    """Return the paper as a page; its pictures are named by the paths of `crop_names`, relative to the file.

    The id of each element is its anchor, to which cross-references link. A Content-Security-Policy allows only the
    page's own style and pictures from the same place. All text is escaped.
    """
    elements = _ElementHtml(paper)
    digest = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()
    policy = (
        f"default-src 'none'; img-src 'self' file:; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    )
    return html(
        _PAGE,
        policy=policy,
        style=_STYLE,
        title=paper.title,
        body=Markup("\n").join([*_front(paper), *_body(paper, elements)]),
    )


def _front(paper: Paper) -> Iterator[Markup]:
    if not any(isinstance(element, Passage) and element.role == "authors" for element in paper.elements):
        yield html('<p class="authors" dir="auto">{}</p>', ", ".join(paper.authors))
    if paper.problems:
        items = Markup().join(
            html("<li>{}{}</li>", f"Page {problem.page}: " if paper.paged else "", problem.reason)
            for problem in paper.problems
        )
        yield html('<div class="problems">What could not be read:<ul>{}</ul></div>', items)
    if paper.sections:
        items = html("<ul>{}</ul>", Markup().join(map(_entry, paper.sections)))
        yield html("<nav>{}</nav>", _details("Contents", items))


def _entry(section: Section) -> Markup:
    name = f"{section.number} {section.title}".strip()
    deep = Markup(' class="deep"') if section.level > 1 else ""
    return html('<li{}><a href="#{}" dir="auto">{}</a></li>', deep, section.id, name)


def _body(paper: Paper, elements: _ElementHtml) -> Iterator[Markup]:
    """Yield the sections, nested by level, with their elements."""
    sections = {section.id: section for section in paper.sections}
    opened: list[int] = []
    shown: set[str] = set()
    for kind, group in groupby(paper.elements, key=_kind):
        run = list(group)
        if kind in ("items", "references"):
            yield html('<ul class="items {}">{}</ul>', kind, Markup().join(map(elements.block, run)))
        elif kind == "heading":
            for heading in run:
                yield from _heading(heading, elements, sections, opened=opened, shown=shown)
        elif kind != "left out":
            yield from map(elements.block, run)
    yield from (Markup("</section>") for _ in opened)


def _heading(
    heading: Element, elements: _ElementHtml, sections: dict[str, Section], *, opened: list[int], shown: set[str]
) -> Iterator[Markup]:
    """Close the sections that the heading ends, and open its own."""
    section = sections.get(heading.section)
    level = section.level if section else 1
    while opened and opened[-1] >= level:
        opened.pop()
        yield Markup("</section>")
    opened.append(level)
    anchor = html(' id="{}"', section.id) if section and section.id not in shown else ""
    shown.update([section.id] if section else [])
    tag = f"h{min(max(level, 1) + 1, _DEEPEST)}"
    text = html("<{tag}{}>{}</{tag}>", elements.attributes(heading), elements.text(heading), tag=tag)
    yield html("<section{}>{}", anchor, text)


def _kind(element: Element) -> str:
    """Return how an element is grouped: list items, references, headings, blocks; the title and furniture are left
    out."""
    if isinstance(element, Reference):
        return "references"
    role = element.role if isinstance(element, Passage) else ""
    return {"list": "items", "heading": "heading", "title": "left out", "furniture": "left out"}.get(role, "block")
