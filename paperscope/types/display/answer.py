"""An answer with its claims' places and all that it rests on."""

from collections.abc import Sequence
from html import escape

from paperscope.types.answer import Answer, Check, Claim, Evidence, Exhibit, Reading
from paperscope.types.display.parts import (
    Holder,
    aside,
    details,
    files_of,
    fragment,
    listed,
    pictures,
    shortened,
    warning,
)
from paperscope.types.images import UnreadImage
from paperscope.types.place import Place
from paperscope.types.tables import Table

__all__ = ["answer_html", "answer_text"]


def answer_html(answer: Answer, holder: Holder) -> str:
    """The answer with its claims' places, computed numbers, warnings, exhibits, readings, context and cost.

    What `holder` does not have is told in words, and of tables it doesn't have only the cells that are cited.
    """
    names = {**files_of(holder), **_labels(answer)}
    return fragment(
        f'<p class="title">{escape(answer.question)}</p>',
        f'<p class="text">{escape(answer.text)}</p>',
        aside("The papers do not say.") if answer.status == "unanswerable" else "",
        *map(warning, answer.warnings),
        listed(_claim(claim, names) for claim in answer.claims),
        _computed(answer.checks),
        *(_exhibit(exhibit, names, holder) for exhibit in answer.exhibits),
        details("Readings of images", listed(_reading(reading, names) for reading in answer.readings)),
        details("Context", _context(answer)),
        aside(_cost(answer)),
    )


def answer_text(answer: Answer) -> str:
    """The answer's text, its warnings, and a line for each place that it rests on."""
    names = _labels(answer)
    places = dict.fromkeys(_quoted(one, names) for claim in answer.claims for one in claim.evidence)
    warnings = (f"warning: {warning}" for warning in answer.warnings)
    return "\n".join([answer.text, *warnings, *(f"  {place}" for place in places)])


def _labels(answer: Answer) -> dict[str, str]:
    return {exhibit.element: exhibit.label for exhibit in answer.exhibits if exhibit.label}


def _claim(claim: Claim, names: dict[str, str]) -> str:
    places = "".join(f"<br>{_evidence(evidence, names)}" for evidence in claim.evidence)
    return escape(claim.text) + (places or "<br><span class='aside'>no evidence</span>")


def _evidence(evidence: Evidence, names: dict[str, str]) -> str:
    return f'<span class="aside" title="{escape(str(evidence.place))}">{escape(_quoted(evidence, names))}</span>'


def _quoted(evidence: Evidence, names: dict[str, str]) -> str:
    where = f"{_name(evidence.element, names)}, {_place(evidence.place, names)}"
    return f"{where}: “{shortened(evidence.quote)}”" if evidence.quote else where


def _place(place: Place, names: dict[str, str]) -> str:
    return f"{place.where} of {names.get(place.paper, place.paper)}"


def _name(element: str, names: dict[str, str]) -> str:
    return names.get(element) or element.rpartition("/")[2].replace("-", " ")


def _computed(checks: Sequence[Check]) -> str:
    formulas = listed(escape(check.formula) for check in checks if check.formula)
    return aside("Computed:") + formulas if formulas else ""


def _exhibit(exhibit: Exhibit, names: dict[str, str], holder: Holder) -> str:
    title = ": ".join(part for part in (exhibit.label or exhibit.kind.capitalize(), exhibit.caption) if part)
    where = f"<span class='aside'>({escape(_place(exhibit.place, names))})</span>"
    latex = f"<p><code>{escape(exhibit.latex)}</code></p>" if exhibit.latex else ""
    shown = pictures(exhibit.crops, title, holder)
    if exhibit.kind == "table":
        grid = _table(exhibit, holder)
        shown = grid + details("As printed", shown) if grid else _cells(exhibit) + shown
    return f"<figure><figcaption>{escape(title)} {where}</figcaption>{latex}{shown}</figure>"


def _table(exhibit: Exhibit, holder: Holder) -> str:
    try:
        element = holder.element(exhibit.element)
    except KeyError:
        return ""
    if not isinstance(element, Table) or not element.cells:
        return ""
    return f'<div class="wide">{element.to_html(marked=[cited.cell for cited in exhibit.cells])}</div>'


def _cells(exhibit: Exhibit) -> str:
    rows = "".join(
        f"<tr><th>{escape(cited.row)}</th><th>{escape(cited.column)}</th>"
        f"<td><mark>{escape(cited.cell.text)}</mark></td></tr>"
        for cited in exhibit.cells
    )
    return f"<table>{rows}</table>" if rows else ""


def _reading(reading: Reading, names: dict[str, str]) -> str:
    name = f"{_name(reading.element, names)}, {reading.place.where}"
    if isinstance(reading, UnreadImage):
        return escape(f"{name}: unread: {reading.reason}")
    return escape(f"{name}: {reading.text}{'' if reading.relevant else ' (does not bear on the question)'}")


def _context(answer: Answer) -> str:
    context = answer.context
    counts = f"{len(context.entities)} entities, {len(context.relations)} relations, {len(context.images)} images"
    sources = [f"S{source.id}, {source.place.where}: {shortened(source.content)}" for source in context.sources]
    return listed(map(escape, (counts, *sources)))


def _cost(answer: Answer) -> str:
    stages = ", ".join(f"{stage.stage} {stage.seconds:.1f} s" for stage in answer.stages)
    return f"{answer.model or 'no language model'}; {answer.usage}; {answer.seconds:.1f} s ({stages})"
