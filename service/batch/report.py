"""The batch report in Markdown."""

import re
from collections.abc import Mapping, Sequence

from paperscope_core.types import Answer, Claim, ImageFinding, Place, Reading
from query import render_context
from service.batch.rows import BatchRow, citation, image_name
from service.batch.summary import BatchSummary, summary_lines

__all__ = ["render_report"]


_HEADING = re.compile(r"^(?=#{1,6} |---\s*$)", re.MULTILINE)
# A viewer would fetch a picture, or what a tag names, from wherever a paper or a model says.
_FETCHED = re.compile(r"(?<=!)(?=\[)|(?=<[A-Za-z/!])")


def render_report(rows: Sequence[BatchRow], summary: BatchSummary, *, paper_names: Mapping[str, str]) -> str:
    """The whole report, questions in the order asked; `paper_names` are what the papers are called, by their ids."""
    lines = "\n".join(f"- {_line(line)}" for line in summary_lines(summary))
    return "\n---\n\n".join([*(_block(row, paper_names) for row in rows), f"## Summary\n\n{lines}\n"])


def _block(row: BatchRow, names: Mapping[str, str]) -> str:
    heading = f"## Query: {_line(row.question)}\n"
    if row.answer is None:
        return f"{heading}\n### Final Response\n\nNo answer: {'; '.join(map(_line, row.warnings))}\n{_gold(row)}"
    answer = row.answer
    parts = [
        heading,
        f"### Context\n\n{render_context(answer.context)}",
        f"### Initial LLM Response\n\n{_initial(answer)}",
        f"### Multimodal Processing ({len(answer.readings)} images)\n\n{_readings(answer)}",
        f"### Merged Multimodal Response\n\n{_merged(answer)}",
        f"### Final Response\n\n{_final(answer, names)}",
        _gold(row),
    ]
    return "\n".join(part.strip("\n") + "\n" for part in parts if part)


def _initial(answer: Answer) -> str:
    if not answer.model:
        return "_No language model is configured: the embedded answerer read the context; its answer stands below._"
    return _body(answer.initial)


def _readings(answer: Answer) -> str:
    if not answer.readings:
        why = "no vision model is configured" if not answer.model else "no image was worth reading, or none can be read"
        return f"_No image was read: {why}._"
    return "\n\n".join(_reading(reading) for reading in answer.readings)


def _reading(reading: Reading) -> str:
    head = f"**Image**: images/{image_name(reading.element)} ({reading.place})"
    if isinstance(reading, ImageFinding):
        note = "" if reading.relevant else "_Does not bear on the question._ "
        return f"{head}\n\n**Response**: {note}{_body(reading.text)}"
    return f"{head}\n\n**Response**: _Unread: {_line(reading.reason)}._"


def _merged(answer: Answer) -> str:
    if answer.merged:
        return _body(answer.merged)
    why = "no image reading could change the answer" if answer.readings else "no image was read"
    return f"_Left out: {why}._"


def _final(answer: Answer, names: Mapping[str, str]) -> str:
    lines = [_body(answer.text)]
    if answer.status == "unanswerable":
        lines.append("**Status**: the papers do not say.")
    if answer.claims:
        claims = "\n".join(_claim(claim, answer, names) for claim in answer.claims)
        lines.append(f"**Claims and their places**:\n\n{claims}")
    formulas = dict.fromkeys(check.formula for check in answer.checks if check.formula)
    if formulas:
        lines.append("**Computed**:\n\n" + "\n".join(f"- {_line(formula)}" for formula in formulas))
    lines += [f"**Warning**: {_line(warning)}" for warning in answer.warnings]
    lines.append(f"_{answer.model or 'no language model'}; {answer.usage}; {answer.seconds:.1f} s_")
    return "\n\n".join(lines)


def _gold(row: BatchRow) -> str:
    """The gold answer and how right the answer is; nothing where there is none."""
    if row.gold is None:
        return ""
    gold = _line(row.gold.answer) or "the papers do not say"
    return f"\n**Gold**: {gold}" + (f" _(right: {row.right:.2g})_\n" if row.right is not None else "\n")


def _claim(claim: Claim, answer: Answer, names: Mapping[str, str]) -> str:
    places = [
        f"  - {_line(citation(item, answer, names))} (`{item.element}`{_box(item.place)}): “{_line(item.quote)}”"
        for item in claim.evidence
    ]
    return "\n".join([f"- {_line(claim.text)}", *(places or ["  - no evidence"])])


def _box(place: Place) -> str:
    """Where on its page it is; nothing of a file without pages, whose box counts the lines that are told."""
    return "" if place.by_line else f" [{str(place).partition(' [')[2]}"


def _line(text: str) -> str:
    return _inert(" ".join(text.split()))


def _body(text: str) -> str:
    return _HEADING.sub(" ", _inert(text.strip()))


def _inert(text: str) -> str:
    """Markdown that shows the same text, and neither a picture nor HTML."""
    return _FETCHED.sub(r"\\", text)
