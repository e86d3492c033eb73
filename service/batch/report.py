"""The batch report in Markdown.

`## Summary` is first: the figures of the batch and each question's answer in a line. Each question has a block with the
headings `## Query:`, `### Context` (the CSV sections), `### Initial LLM Response`,
`### Multimodal Processing (N images)` (with `**Image**:` and `**Response**:` for each image),
`### Merged Multimodal Response` and `### Final Response`. A step that was skipped says why. A text that several rows of
a context or several questions have is written once. Text of papers and models is escaped: none of it is read as
Markdown or HTML.
"""

from collections.abc import Sequence
from dataclasses import replace

from paperscope_core.text.escaping import markdown_heading, markdown_line, markdown_text, one_line, shortened
from paperscope_core.types import Answer, Claim, Context, Evidence, ImageFinding, LookUp, Place, Reading
from query import compact, render_context
from service.batch.rows import BatchRow, image_name
from service.batch.summary import BatchSummary, summary_lines

__all__ = ["render_report"]

_MAX_OUTCOME_LENGTH = 160
# Characters of a source that is written once for all questions; a reader sees at a glance what a shorter one says.
_LEAST_REPEATED = 200


def render_report(rows: Sequence[BatchRow], summary: BatchSummary) -> str:
    """Return the report on all rows."""
    lines = [*(f"- {markdown_line(line)}" for line in summary_lines(summary)), "", *map(_outcome, rows)]
    overview = "## Summary\n\n" + "\n".join(lines) + "\n"
    shown: dict[str, str] = {}
    return "\n---\n\n".join([overview, *(_block(row, shown) for row in rows)])


def _outcome(row: BatchRow) -> str:
    """Return a question's number, text, status and the start of its answer, or of the first place if nothing is
    concluded."""
    said = row.answer.text if row.answer else row.error
    if row.answer and row.status == "evidence" and row.answer.claims:
        said = row.answer.claims[0].text
    said = shortened(one_line(said), limit=_MAX_OUTCOME_LENGTH)
    return f"{row.index + 1}. {markdown_line(row.question)} **{row.status}**: {markdown_line(said)}"


def _block(row: BatchRow, shown: dict[str, str]) -> str:
    """Return the block of a question. `shown` says where each long source of earlier questions is, and gets those of
    this."""
    heading = markdown_heading(f"Query: {row.question}", level=2) + "\n"
    if row.answer is None:
        return f"{heading}\n### Final Response\n\nNo answer: {markdown_line(row.error)}\n{_gold(row)}"
    answer = row.answer
    parts = [
        heading,
        f"### Context\n\n{render_context(_context(answer.context, row.index + 1, shown))}",
        f"### Initial LLM Response\n\n{_initial(answer)}",
        f"### Multimodal Processing ({len(answer.readings)} images)\n\n{_readings(answer)}",
        f"### Merged Multimodal Response\n\n{_merged(answer)}",
        f"### Final Response\n\n{_final(answer)}",
        _gold(row),
    ]
    return "\n".join(part.strip("\n") + "\n" for part in parts if part)


def _context(context: Context, question: int, shown: dict[str, str]) -> Context:
    """Return the context without what other rows, or long sources of earlier questions, say; see `_block`."""
    sources = []
    for source in context.sources:
        at = shown.get(source.content)
        sources.append(source if at is None else replace(source, content=at))
        if len(source.content) >= _LEAST_REPEATED:
            shown.setdefault(source.content, f"see S{source.id} of question {question}")
    return replace(compact(context), sources=tuple(sources))


def _initial(answer: Answer) -> str:
    if not answer.model:
        return "_No language model is configured: the final response is what the papers themselves state._"
    return markdown_text(answer.initial)


def _readings(answer: Answer) -> str:
    if not answer.readings:
        reason = "no vision model is configured" if not answer.model else "no image was relevant or readable"
        return f"_No image was read: {reason}._"
    return "\n\n".join(_reading(reading) for reading in answer.readings)


def _reading(reading: Reading) -> str:
    head = f"**Image**: images/{image_name(reading)} ({reading.place})"
    if isinstance(reading, ImageFinding):
        agrees = "_Agrees with the initial response._ " if reading.agrees else ""
        note = agrees if reading.relevant else "_Not relevant to the question._ "
        return f"{head}\n\n**Response**: {note}{markdown_text(reading.text)}"
    return f"{head}\n\n**Response**: _Unread: {markdown_line(reading.reason)}._"


def _merged(answer: Answer) -> str:
    if answer.merged:
        looked_up = "\n".join(f"- {markdown_line(_look_up(one))}" for one in answer.look_ups)
        head = f"**Looked up**:\n\n{looked_up}\n\n" if looked_up else ""
        return head + markdown_text(answer.merged)
    reason = "no image reading could change the answer" if answer.readings else "no image was read"
    return f"_Skipped: {reason}._"


def _look_up(one: LookUp) -> str:
    rows = ", ".join(f"S{row}" for row in one.rows)
    return f"{one.call}: {'; '.join(filter(None, (rows, one.message)))}"


def _final(answer: Answer) -> str:
    parts = [markdown_text(answer.text)]
    if answer.status == "evidence":
        parts.append("**Status**: evidence only, nothing is concluded.")
    elif answer.status == "unanswerable" and answer.model:
        parts.append("**Status**: the papers do not say.")
    if answer.claims and answer.status == "evidence":
        # The text has the words themselves.
        places = (
            f"{number}. {', '.join(map(_cited, claim.evidence[:1]))}" for number, claim in enumerate(answer.claims, 1)
        )
        parts.append("**Places**:\n\n" + "\n".join(places))
    elif answer.claims:
        claims = "\n".join(_claim(claim) for claim in answer.claims)
        parts.append(f"**Claims and their places**:\n\n{claims}")
    if answer.formulas:
        parts.append("**Computed**:\n\n" + "\n".join(f"- {markdown_line(formula)}" for formula in answer.formulas))
    parts += [f"**Warning**: {markdown_line(str(finding))}" for finding in answer.findings]
    parts.append(f"_{markdown_line(answer.model) or 'no language model'}; {answer.usage}; {answer.seconds:.1f} s_")
    return "\n\n".join(parts)


def _gold(row: BatchRow) -> str:
    """Return the gold answer and the score; "" if there is none."""
    if row.gold is None:
        return ""
    gold = markdown_line(row.gold.answer) or "the papers do not say"
    return f"\n**Gold**: {gold}" + (f" _(right: {row.right:.2g})_\n" if row.right is not None else "\n")


def _claim(claim: Claim) -> str:
    lines = [f"- {markdown_line(claim.text)}"]
    lines += [f"  - {_cited(item)}: “{markdown_line(item.quote)}”" for item in claim.evidence]
    return "\n".join(lines if claim.evidence else [*lines, "  - no evidence"])


def _cited(item: Evidence) -> str:
    return f"{markdown_line(str(item))} (`{item.element}`{''.join(map(_box, item.places))})"


def _box(place: Place) -> str:
    """Return the box on its page; "" for a file without pages, whose box counts lines that the citation already
    names."""
    return "" if place.by_line else f" [{str(place).partition(' [')[2]}"
