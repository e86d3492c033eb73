"""The batch report in Markdown.

Each question has a block with the headings `## Query:`, `### Context` (the CSV sections), `### Initial LLM Response`,
`### Multimodal Processing (N images)` (with `**Image**:` and `**Response**:` for each image),
`### Merged Multimodal Response` and `### Final Response`; `## Summary` is last. A step that was skipped says why. Text
of papers and models is indented where it could be mistaken for a heading, and can include neither images nor HTML.
"""

import re
from collections.abc import Mapping, Sequence

from paperscope_core.types import Answer, Claim, ImageFinding, Place, Reading
from query import render_context
from service.batch.rows import BatchRow, citation, image_name
from service.batch.summary import BatchSummary, summary_lines

__all__ = ["escape_active_markdown", "escaped_line", "render_report"]

_HEADING = re.compile(r"^(?=#{1,6} |---\s*$)", re.MULTILINE)
# Between the two characters that begin an image, and before an HTML tag.
_ACTIVE = re.compile(r"(?<=!)(?=\[)|(?=<[A-Za-z/!?])")


def escape_active_markdown(text: str) -> str:
    """Escapes images and HTML, which a viewer would fetch or run; the text looks the same."""
    return _ACTIVE.sub(r"\\", text)


def escaped_line(text: str) -> str:
    """The text on one line, escaped."""
    return escape_active_markdown(" ".join(text.split()))


def render_report(rows: Sequence[BatchRow], summary: BatchSummary, *, paper_names: Mapping[str, str]) -> str:
    """The report on all rows; `paper_names` are the names of cited papers by id."""
    lines = "\n".join(f"- {escaped_line(line)}" for line in summary_lines(summary))
    return "\n---\n\n".join([*(_block(row, paper_names) for row in rows), f"## Summary\n\n{lines}\n"])


def _block(row: BatchRow, names: Mapping[str, str]) -> str:
    heading = f"## Query: {escaped_line(row.question)}\n"
    if row.answer is None:
        return f"{heading}\n### Final Response\n\nNo answer: {'; '.join(map(escaped_line, row.warnings))}\n{_gold(row)}"
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
        return "_No language model is configured: the final response is what the papers themselves state._"
    return _body(answer.initial)


def _readings(answer: Answer) -> str:
    if not answer.readings:
        reason = "no vision model is configured" if not answer.model else "no image was relevant or readable"
        return f"_No image was read: {reason}._"
    return "\n\n".join(_reading(reading) for reading in answer.readings)


def _reading(reading: Reading) -> str:
    head = f"**Image**: images/{image_name(reading.element)} ({reading.place})"
    if isinstance(reading, ImageFinding):
        note = "" if reading.relevant else "_Not relevant to the question._ "
        return f"{head}\n\n**Response**: {note}{_body(reading.text)}"
    return f"{head}\n\n**Response**: _Unread: {escaped_line(reading.reason)}._"


def _merged(answer: Answer) -> str:
    if answer.merged:
        return _body(answer.merged)
    reason = "no image reading could change the answer" if answer.readings else "no image was read"
    return f"_Skipped: {reason}._"


def _final(answer: Answer, names: Mapping[str, str]) -> str:
    parts = [_body(answer.text)]
    if answer.status == "evidence":
        parts.append("**Status**: evidence only, nothing is concluded.")
    elif answer.status == "unanswerable" and answer.model:
        parts.append("**Status**: the papers do not say.")
    if answer.claims:
        claims = "\n".join(_claim(claim, answer, names) for claim in answer.claims)
        parts.append(f"**Claims and their places**:\n\n{claims}")
    if answer.formulas:
        parts.append("**Computed**:\n\n" + "\n".join(f"- {escaped_line(formula)}" for formula in answer.formulas))
    parts += [f"**Warning**: {escaped_line(warning)}" for warning in answer.warnings]
    parts.append(f"_{answer.model or 'no language model'}; {answer.usage}; {answer.seconds:.1f} s_")
    return "\n\n".join(parts)


def _gold(row: BatchRow) -> str:
    """The gold answer and the score; "" if there is none."""
    if row.gold is None:
        return ""
    gold = escaped_line(row.gold.answer) or "the papers do not say"
    return f"\n**Gold**: {gold}" + (f" _(right: {row.right:.2g})_\n" if row.right is not None else "\n")


def _claim(claim: Claim, answer: Answer, names: Mapping[str, str]) -> str:
    lines = [f"- {escaped_line(claim.text)}"]
    for item in claim.evidence:
        cited = f"{escaped_line(citation(item, answer, names))} (`{item.element}`{_box(item.place)})"
        lines.append(f"  - {cited}: “{escaped_line(item.quote)}”")
    return "\n".join(lines if claim.evidence else [*lines, "  - no evidence"])


def _box(place: Place) -> str:
    """The box on its page; "" for a file without pages, whose box counts lines that the citation already names."""
    return "" if place.by_line else f" [{str(place).partition(' [')[2]}"


def _body(text: str) -> str:
    return _HEADING.sub(" ", escape_active_markdown(text.strip()))
