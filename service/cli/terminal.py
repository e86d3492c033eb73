"""Prints to the terminal, and renders papers and answers for it.

Text of papers and models is neither markup, nor can it control the terminal: all commands print by `stdout`, `stderr`,
`print_json` and `print_text`.
"""

import codecs
import io
import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import typer
from rich import box
from rich.console import Console, ConsoleOptions, Group, RenderableType
from rich.padding import Padding
from rich.segment import Segment
from rich.table import Table as Grid
from rich.text import Text

from paperscope_core.errors import OutputError
from paperscope_core.text.escaping import shortened, terminal_json, terminal_text
from paperscope_core.types import (
    Answer,
    Claim,
    Element,
    Equation,
    Evidence,
    Figure,
    ImageDescription,
    Paper,
    PaperImages,
    Place,
    Publication,
    Reference,
    Shortfall,
    SkippedImage,
    Table,
    UnreadImage,
    Usage,
)

__all__ = [
    "USAGE_COLUMNS",
    "answer_view",
    "escape_unencodable",
    "extent",
    "paper_view",
    "papers_view",
    "print_json",
    "print_line",
    "print_note",
    "print_text",
    "publication_line",
    "record_lines",
    "retraction_line",
    "stderr",
    "stdout",
    "usage_cells",
]

USAGE_COLUMNS = ("calls", "cached", "prompt tokens", "completion tokens", "cost")
"""The columns of a usage in a table; see `usage_cells`."""

_MAX_QUOTE_CHARACTERS = 160
_ESCAPE = "paperscope.escape"


class _Console(Console):
    """Writes no control characters but Rich's own, and reads no markup in strings."""

    def __init__(self, *, stderr: bool = False) -> None:
        super().__init__(stderr=stderr, highlight=False, markup=False, emoji=False)

    def print(self, *objects: Any, **options: Any) -> None:  # noqa: ANN401 # the base's
        """See Console. Raises OutputError."""
        with _stream_errors("standard error" if self.stderr else "standard output"):
            super().print(*objects, **options)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """See Console."""
        for text, style, control in super().render(renderable, options):
            yield Segment(text if control else terminal_text(text), style, control)


def stdout() -> Console:
    """Return the console for results."""
    return _Console()


def stderr() -> Console:
    """Return the console for progress and errors."""
    return _Console(stderr=True)


def print_line(text: str, *, style: str = "") -> None:
    """Print a result to stdout. Raises OutputError."""
    stdout().print(Text(text, style=style))


def print_note(text: str, *, style: str = "") -> None:
    """Print progress, a warning or an error to stderr. Raises OutputError."""
    stderr().print(Text(text, style=style))


def print_json(document: str | Mapping[str, object], *, indent: int | None = None) -> None:
    """Print a JSON document, or what is to be one, to stdout. Raises OutputError."""
    text = document if isinstance(document, str) else json.dumps(document, ensure_ascii=False, indent=indent)
    with _stream_errors("standard output"):
        typer.echo(terminal_json(text))  # noqa: TID251


def print_text(text: str) -> None:
    """Print text to stdout as it is, not wrapped to the width of the terminal. Raises OutputError."""
    with _stream_errors("standard output"):
        typer.echo(terminal_text(text))  # noqa: TID251


def escape_unencodable() -> None:
    """Print what the encoding of stdout lacks as escape sequences of JSON, such as \\u00d7."""
    codecs.register_error(_ESCAPE, _as_json_escape)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors=_ESCAPE)


def _as_json_escape(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return json.dumps(error.object[error.start : error.end])[1:-1], error.end


@contextmanager
def _stream_errors(name: str) -> Iterator[None]:
    """Raise what prevents writing to a stream as OutputError, but not that its reader ended."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OutputError(
            f"can't be written ({error.strerror}); free some space, or redirect it elsewhere, and run the same command "
            "again",
            where=name,
        ) from error


def _element_name(element: Element) -> str:
    """Return an element's label, or its kind and number."""
    if isinstance(element, Table | Figure | Equation | Reference) and element.label:
        return element.label
    return element.id.rpartition("/")[2].replace("-", " ")


def extent(paper: Paper) -> str:
    """Return the number of pages, or the format of a paper without pages."""
    return f"{len(paper.pages)} pages" if paper.paged else paper.format


def publication_line(publication: Publication) -> str:
    """Venue, volume, pages, year, DOI and arXiv id, as far as they are known."""
    issue = f"({publication.issue})" if publication.issue else ""
    venue = " ".join(filter(None, (publication.venue, f"{publication.volume}{issue}")))
    pages = f"pp. {publication.pages}" if publication.pages else ""
    ids = [f"{name}:{value}" for name, value in (("doi", publication.doi), ("arXiv", publication.arxiv)) if value]
    return ", ".join(filter(None, [venue, pages, str(publication.year or ""), *ids]))


def retraction_line(publication: Publication) -> str:
    """Return who retracted a paper, "" if nobody did."""
    return f"RETRACTED: {publication.retraction}" if publication.retraction else ""


def record_lines(publication: Publication) -> list[str]:
    """Say who retracted a paper, and which fields are from which record."""
    told: dict[str, list[str]] = {}
    for field, origin in publication.origins:
        if field not in ("families", "retraction"):
            told.setdefault(origin, []).append(field)
    return [
        *filter(None, [retraction_line(publication)]),
        *(f"from {origin}: {', '.join(fields)}" for origin, fields in told.items()),
    ]


def papers_view(papers: Sequence[Paper], tags: Mapping[str, Sequence[str]]) -> RenderableType:
    """Return the papers: the title of each, its id, its file, what it has and its tags."""
    if not papers:
        return Text("No papers yet: paperscope add FILE")
    parts: list[RenderableType] = []
    for paper in papers:
        found = Counter(element.kind for element in paper.elements)
        counts = [f"{found[kind]} {kind}{'s' * (found[kind] != 1)}" for kind in ("table", "figure", "equation")]
        counts += [f"#{tag}" for tag, tagged in tags.items() if paper.id in tagged]
        parts.append(Text(paper.title, style="bold"))
        if published := publication_line(paper.publication):
            parts.append(_indented(Text(published)))
        parts.append(_indented(Text(", ".join([f"{paper.id}  {paper.files}  {extent(paper)}", *counts]), style="dim")))
    return Group(*parts)


def paper_view(
    paper: Paper, degrees: Mapping[str, int], *, images: PaperImages, shortfall: Shortfall
) -> RenderableType:
    """Return a paper: its title, sections, tables, figures, equations, images, entities and problems.

    Args:
        degrees: The number of relations of its most connected entities, by name.
        images: A vision model's readings of its images.
        shortfall: The parts that the extraction model did not read.
    """
    parts: list[RenderableType] = [
        Text(paper.title, style="bold"),
        Text(", ".join(paper.authors)),
        *filter(None, [Text(publication_line(paper.publication))]),
        *(Text(line, style="dim") for line in record_lines(paper.publication)),
        Text(f"{paper.id}  {paper.files}  {extent(paper)}", style="dim"),
        Text(""),
    ]
    parts += [Text(f"{'  ' * section.level}{section.number} {section.title}".rstrip()) for section in paper.sections]
    grid = Grid("element", "where", "what", box=box.SIMPLE_HEAD)
    for element in paper.elements:
        if isinstance(element, Table | Figure | Equation):
            what = element.text if isinstance(element, Equation) else element.caption
            if isinstance(element, Table):
                what += f"  ({element.shape[0]} × {element.shape[1]} cells)"
            grid.add_row(_element_name(element), _where(element.place), Text(what))
    parts.append(grid)
    parts += _images_view(paper, images)
    names = ", ".join(f"{name} ({count})" for name, count in degrees.items())
    parts.append(Text(f"Entities most connected: {names}" if names else "No entities."))
    parts += [Text(line, style="yellow") for line in paper.problem_lines(paper.problems)]
    parts += [Text(line, style="yellow") for line in _shortfall_lines(shortfall)]
    return Group(*parts)


def _shortfall_lines(shortfall: Shortfall) -> list[str]:
    lines = [f"{unread.chunk} was not read by the model: {unread.reason}" for unread in shortfall.unread]
    for unjudged in shortfall.unjudged:
        one, other = unjudged.names
        lines.append(f"The model did not judge whether {one!r} and {other!r} mean the same: {unjudged.reason}")
    lines += [f"The model did not summarize {one.entity!r}: {one.reason}" for one in shortfall.unsummarised]
    if shortfall.dropped_entities or shortfall.dropped_relations:
        dropped = f"{shortfall.dropped_entities} entities and {shortfall.dropped_relations} relations"
        lines.append(f"Dropped from the model's replies, as they are not in the text: {dropped}")
    return lines


def _images_view(paper: Paper, images: PaperImages) -> list[RenderableType]:
    if not images.reader:
        return []
    elements = {element.id: element for element in paper.elements}
    counts = f"{len(images.descriptions)} read, {len(images.skipped)} skipped, {len(images.unread)} unread"
    head = f"Images as {images.reader.rpartition(' ')[0]} saw them: {counts}"
    parts: list[RenderableType] = [Text(head, style="bold")]
    for reading in images.readings:
        name = _element_name(elements[reading.element])
        match reading:
            case ImageDescription():
                latex = f"  LaTeX: {reading.latex}" if reading.latex else ""
                dropped = f"  ({reading.dropped} entries dropped)" if reading.dropped else ""
                line = Text(f"{name}: {reading.picture}: {reading.text}{latex}{dropped}")
            case SkippedImage():
                line = Text(f"{name}: not looked at: {reading.reason}", style="dim")
            case UnreadImage():
                line = Text(f"{name}: unread: {reading.reason}", style="yellow")
        parts.append(_indented(line))
    return [*parts, Text("")]


def usage_cells(usage: Usage) -> tuple[str, ...]:
    """Return a usage as the cells of `USAGE_COLUMNS`."""
    numbers = (usage.calls, usage.cached, usage.prompt_tokens, usage.completion_tokens)
    return (*map(str, numbers), f"{usage.cost:.4f}")


def answer_view(answer: Answer) -> RenderableType:
    """Return an answer, the places that its claims cite, and the formulas of computed numbers."""
    style = "green" if answer.status == "answered" else "yellow"
    parts: list[RenderableType] = [Text(answer.question, style="bold cyan")]
    if answer.asked_as:
        parts.append(Text(f"asked as: {answer.asked_as}", style="dim"))
    if answer.status == "evidence":
        parts.append(Text(answer.text.partition("\n")[0], style=style))
        parts += [_place(claim, number=number) for number, claim in enumerate(answer.claims, start=1)]
        details: list[Text] = []
    else:
        parts.append(Text(answer.text, style=style))
        details = [_evidence(item, number=number) for number, item in enumerate(answer.evidence, start=1)]
    details += [Text(formula, style="dim") for formula in answer.formulas]
    details += [Text(f"! {finding}", style="yellow") for finding in answer.findings]
    if answer.look_ups:
        details.append(Text(f"looked up: {', '.join(str(one.call) for one in answer.look_ups)}", style="dim"))
    if answer.model:
        details.append(Text(f"{answer.model}: {answer.usage}", style="dim"))
    return Group(*parts, *(_indented(detail) for detail in details), Text(""))


def _indented(text: Text) -> Padding:
    return Padding(text, (0, 0, 0, 2))


def _where(place: Place) -> str:
    return place.where if place.by_line else str(place.page)


def _place(claim: Claim, *, number: int) -> Text:
    """Return what an answer shows without concluding anything, and where it is; its words are not repeated."""
    text = Text(f"{number}. {claim.text}".replace("\n", "\n   "))
    for item in claim.evidence[:1]:
        text.append("\n   ").append_text(_located(item))
    return text


def _located(item: Evidence) -> Text:
    text = Text(str(item), style="magenta")
    for place in item.places:
        if not place.by_line:
            text.append(f" [{' '.join(f'{value:g}' for value in place.box)}]", style="dim")
    return text


def _evidence(item: Evidence, *, number: int) -> Text:
    quote = shortened(" ".join(item.quote.split()), limit=_MAX_QUOTE_CHARACTERS)
    text = Text(f"[{number}] ", style="magenta").append_text(_located(item))
    if quote:
        text.append(f" “{quote}”", style="default")
    return text
