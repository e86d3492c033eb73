"""An answer as HTML for a notebook. Everything that came from papers, models and questions is escaped."""

import base64
from collections.abc import Callable, Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING

from paperscope.types.images import UnreadImage

if TYPE_CHECKING:
    from paperscope.types.answer import Answer, Check, Claim, Evidence, Exhibit, Reading

__all__ = ["answer_html"]

_STYLE = """
.paperscope-answer { max-width: 60em; line-height: 1.45; }
.paperscope-answer .question { font-weight: 600; margin: 0 0 .4em; }
.paperscope-answer .text { white-space: pre-wrap; margin: 0 0 .6em; }
.paperscope-answer .aside { opacity: .7; font-size: .9em; }
.paperscope-answer .warning { border-left: .25em solid #d98e04; padding-left: .6em; margin: .2em 0; }
.paperscope-answer figure { margin: .8em 0; overflow-x: auto; }
.paperscope-answer figcaption { margin-bottom: .3em; }
.paperscope-answer img { display: block; max-width: 100%; background: #fff; }
.paperscope-answer table { border-collapse: collapse; font-size: .85em; }
.paperscope-answer th, .paperscope-answer td { border: 1px solid #8886; padding: .1em .5em; text-align: left; }
.paperscope-answer caption { display: none; }
.paperscope-answer mark { background: #ffe066; color: #000; }
"""
_QUOTE = 240


def answer_html(
    answer: "Answer",
    *,
    crop: Callable[[str], bytes] = lambda _crop: b"",
    table: Callable[[str], str] = lambda _table: "",
) -> str:
    """The answer with its claims' places, computed numbers, warnings, exhibits, readings, context and cost.

    `crop` gives the PNG bytes of a crop by content hash, `table` a cited table as HTML by its id; where they give
    nothing, exhibits are told in words, and of tables only the cells that are cited.
    """
    names = {exhibit.element: exhibit.label for exhibit in answer.exhibits if exhibit.label}
    parts = [
        f"<style>{_STYLE}</style>",
        f'<p class="question">{escape(answer.question)}</p>',
        f'<p class="text">{escape(answer.text)}</p>',
        '<p class="aside">The papers do not say.</p>' if answer.status == "unanswerable" else "",
        *(f'<p class="warning">{escape(warning)}</p>' for warning in answer.warnings),
        _list(_claim(claim, names) for claim in answer.claims),
        _computed(answer.checks),
        *(_exhibit(exhibit, crop=crop, table=table) for exhibit in answer.exhibits),
        _details("Readings of images", [_reading(reading, names) for reading in answer.readings]),
        _details("Context", _context(answer)),
        f'<p class="aside">{escape(_cost(answer))}</p>',
    ]
    return f'<div class="paperscope-answer">{"".join(parts)}</div>'


def _claim(claim: "Claim", names: dict[str, str]) -> str:
    places = "".join(f"<br>{_evidence(evidence, names)}" for evidence in claim.evidence)
    return escape(claim.text) + (places or "<br><span class='aside'>no evidence</span>")


def _evidence(evidence: "Evidence", names: dict[str, str]) -> str:
    place = evidence.place
    where = f"{_name(evidence.element, names)}, {place.where} of {place.paper}"
    quote = evidence.quote if len(evidence.quote) <= _QUOTE else evidence.quote[: _QUOTE - 1] + "\u2026"
    shown = f"{where}: \u201c{quote}\u201d" if quote else where
    return f'<span class="aside" title="{escape(str(place))}">{escape(shown)}</span>'


def _name(element: str, names: dict[str, str]) -> str:
    return names.get(element) or element.rpartition("/")[2].replace("-", " ")


def _computed(checks: Sequence["Check"]) -> str:
    formulas = "".join(f"<li>{escape(check.formula)}</li>" for check in checks if check.formula)
    return f'<p class="aside">Computed:</p><ul>{formulas}</ul>' if formulas else ""


def _exhibit(exhibit: "Exhibit", *, crop: Callable[[str], bytes], table: Callable[[str], str]) -> str:
    title = ": ".join(part for part in (exhibit.label or exhibit.kind.capitalize(), exhibit.caption) if part)
    where = f"<span class='aside'>({escape(exhibit.place.where)})</span>"
    pictures = [_picture(png, title) for png in map(crop, exhibit.crops) if png]
    grid = table(exhibit.element) if exhibit.kind == "table" else ""
    parts = [
        f"<figcaption>{escape(title)} {where}</figcaption>",
        f"<p><code>{escape(exhibit.latex)}</code></p>" if exhibit.latex else "",
        *pictures,
        grid or _cells(exhibit),
    ]
    return f"<figure>{''.join(parts)}</figure>"


def _cells(exhibit: "Exhibit") -> str:
    rows = "".join(
        f"<tr><th>{escape(cited.row)}</th><th>{escape(cited.column)}</th>"
        f"<td><mark>{escape(cited.cell.text)}</mark></td></tr>"
        for cited in exhibit.cells
    )
    return f"<table>{rows}</table>" if rows else ""


def _picture(png: bytes, title: str) -> str:
    data = base64.b64encode(png).decode()
    return f'<img alt="{escape(title)}" src="data:image/png;base64,{data}">'


def _reading(reading: "Reading", names: dict[str, str]) -> str:
    name = f"{_name(reading.element, names)}, {reading.place.where}"
    if isinstance(reading, UnreadImage):
        return escape(f"{name}: unread: {reading.reason}")
    return escape(f"{name}: {reading.text}{'' if reading.relevant else ' (does not bear on the question)'}")


def _context(answer: "Answer") -> list[str]:
    context = answer.context
    counts = f"{len(context.entities)} entities, {len(context.relations)} relations, {len(context.images)} images"
    sources = [f"S{source.id}, {source.place.where}: {source.content[:_QUOTE]}" for source in context.sources]
    return [escape(counts), *map(escape, sources)]


def _details(title: str, items: Sequence[str]) -> str:
    return f"<details><summary>{escape(title)}</summary>{_list(items)}</details>" if items else ""


def _list(items: Iterable[str]) -> str:
    rows = "".join(f"<li>{item}</li>" for item in items)
    return f"<ul>{rows}</ul>" if rows else ""


def _cost(answer: "Answer") -> str:
    stages = ", ".join(f"{stage.stage} {stage.seconds:.1f} s" for stage in answer.stages)
    return f"{answer.model or 'no language model'}; {answer.usage}; {answer.seconds:.1f} s ({stages})"
