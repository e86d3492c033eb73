"""Renders values as HTML for notebooks and as text for terminals."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import assert_never

from markupsafe import Markup

from paperscope.html_blocks import (
    NoContent,
    aside,
    bullet_list,
    details,
    file_names,
    fragment,
    grid,
    image_tags,
    numbered_list,
    warning,
)
from paperscope_core.errors import NotFoundError
from paperscope_core.protocols import ContentSource
from paperscope_core.text.citation_marks import place_marks, split_at_marks
from paperscope_core.text.escaping import html, shortened
from paperscope_core.types import (
    Answer,
    Check,
    Claim,
    Context,
    Displayable,
    Element,
    Equation,
    Evidence,
    Exhibit,
    Figure,
    ImageDescription,
    Paper,
    Passage,
    Place,
    Reading,
    Reference,
    StageTime,
    Table,
    ToolResult,
    UnreadImage,
    Usage,
    crops_of,
)
from paperscope_core.types.displayable import as_html, as_text

__all__ = ["View", "places_text", "to_html", "to_text", "view"]

_KINDS: tuple[str, ...] = ("passage", "table", "figure", "equation", "reference")
# The maximum number of places listed for a graph row; further ones are only counted.
_LISTED_PLACES = 3
_MAX_QUOTE_LENGTH = 240


def to_html(value: Displayable, content: ContentSource | None = None) -> Markup:
    """Render a value as one block of HTML.

    Args:
        content: The source of the images and tables that the value refers to; None to leave them out.
    """
    content = content or NoContent()
    match value:
        case Answer():
            return _answer_html(value, content)
        case Context():
            return _context_html(value, content)
        case Paper():
            return _paper_html(value)
        case Passage() | Table() | Figure() | Equation() | Reference():
            return _element_html(value, content)
        case ToolResult():
            return _tool_result_html(value, content)
        case _:
            return value._repr_html_()


def to_text(value: Displayable) -> str:
    """Render a value as one line of text, or an answer with a line per finding and place."""
    match value:
        case Answer():
            return _answer_text(value)
        case Context():
            return _context_text(value)
        case Paper():
            return f"{value.title} ({value.file}): {_element_counts(value)}"
        case Passage() | Reference():
            return f"{value.text} ({value.place.where})"
        case Table() | Figure() | Equation():
            return f"{_title(value)} ({value.place.where})"
        case _:
            return str(value)


for _type in (Answer, Context, Paper, Passage, Table, Figure, Equation, Reference):
    as_html.register(_type, to_html)
    as_text.register(_type, to_text)
as_html.register(ToolResult, to_html)


@dataclass(frozen=True, kw_only=True, slots=True)
class View(Displayable):
    """Rendered values: HTML with images, and text.

    Example:
        >>> print(View(html=Markup("<p>No papers.</p>"), text="No papers."))
        No papers.
    """

    html: Markup
    text: str

    def __str__(self) -> str:
        return self.text

    def _repr_html_(self) -> Markup:
        return self.html


def view(value: Displayable | Sequence[Displayable], content: ContentSource) -> View:
    """Render one or several values: papers as the rows of a table, other values one after another."""
    if isinstance(value, Displayable):
        return View(html=to_html(value, content), text=str(value))
    papers = [one for one in value if isinstance(one, Paper)]
    parts = [_papers_html(papers)] if len(papers) == len(value) else [to_html(one, content) for one in value]
    return View(html=Markup().join(parts), text="\n".join(map(str, value)))


# Answers.


def _answer_html(answer: Answer, content: ContentSource) -> Markup:
    """Return the answer with its numbered claims, computed numbers, findings, exhibits, readings, context and cost.

    A table that `content` does not have is shown as its cited cells.
    """
    names = {**file_names(content), **_labels(answer)}
    return fragment(
        html('<p class="title">{}</p>', answer.question),
        _paragraph(_marked_text(answer)),
        aside("The papers do not say." if answer.status == "unanswerable" and answer.model else ""),
        *(warning(str(finding)) for finding in answer.findings),
        numbered_list(
            (_shown_place if answer.status == "evidence" else _claim)(claim, names) for claim in answer.claims
        ),
        _computed(answer.checks),
        *(_exhibit(exhibit, names, content) for exhibit in answer.exhibits),
        details("Readings of images", bullet_list(_reading(reading, names) for reading in answer.readings)),
        details("Context", _context_summary(answer.context)),
        aside(_cost(answer)),
    )


def _marked_text(answer: Answer) -> Markup:
    """Return the text with the number of each claim where it is stated."""
    parts = split_at_marks(answer.text, place_marks(answer.text, [claim.text for claim in answer.claims]))
    return Markup().join(
        html("{}{}", part, Markup().join(html("<sup>[{}]</sup>", claim + 1) for claim in claims))
        for part, claims in parts
    )


def _answer_text(answer: Answer) -> str:
    names = _labels(answer)
    if answer.status == "evidence":
        places = dict.fromkeys(_named(one, names) for claim in answer.claims for one in claim.evidence[:1])
    else:
        places = dict.fromkeys(_quoted(one, names) for claim in answer.claims for one in claim.evidence)
    findings = (f"warning: {finding}" for finding in answer.findings)
    return "\n".join([answer.text, *findings, *(f"  {place}" for place in places)])


def _labels(answer: Answer) -> dict[str, str]:
    return {exhibit.element: exhibit.label for exhibit in answer.exhibits if exhibit.label}


def _claim(claim: Claim, names: Mapping[str, str]) -> Markup:
    places = Markup().join(
        html('<br><span class="aside" title="{}">{}</span>', one.place, _quoted(one, names)) for one in claim.evidence
    )
    return html("{}{}", claim.text, places or Markup('<br><span class="aside">no evidence</span>'))


def _shown_place(claim: Claim, names: Mapping[str, str]) -> Markup:
    """Return where that is which the text shows without a conclusion."""
    return Markup().join(
        html('<span class="aside" title="{}">{}</span>', one.place, _named(one, names)) for one in claim.evidence[:1]
    )


def _named(evidence: Evidence, names: Mapping[str, str]) -> str:
    return evidence.name or f"{_element_name(evidence.element, names)}, {_place(evidence.place, names)}"


def _quoted(evidence: Evidence, names: Mapping[str, str]) -> str:
    where = _named(evidence, names)
    return f"{where}: “{shortened(evidence.quote, limit=_MAX_QUOTE_LENGTH)}”" if evidence.quote else where


def _place(place: Place, names: Mapping[str, str]) -> str:
    return f"{place.where} of {names.get(place.paper, place.paper)}"


def _element_name(element: str, names: Mapping[str, str]) -> str:
    return names.get(element) or _local_id(element).replace("-", " ")


def _local_id(element: str) -> str:
    """Return an element's id without its paper's."""
    return element.rpartition("/")[2]


def _computed(checks: Sequence[Check]) -> Markup:
    formulas = bullet_list(check.formula for check in checks if check.formula)
    return aside("Computed:") + formulas if formulas else Markup()


def _exhibit(exhibit: Exhibit, names: Mapping[str, str], content: ContentSource) -> Markup:
    title = ": ".join(part for part in (exhibit.label or exhibit.kind.capitalize(), exhibit.caption) if part)
    body = image_tags(exhibit.crops, title, content)
    if exhibit.kind == "table":
        table = _table(exhibit, content)
        body = table + details("As printed", body) if table else _cited_cells(exhibit) + body
    where = html('<span class="aside">({})</span>', _place(exhibit.place, names))
    return html("<figure><figcaption>{} {}</figcaption>{}{}</figure>", title, where, _latex(exhibit.latex), body)


def _latex(latex: str) -> Markup:
    # Notebooks draw what is between dollars.
    return html("<p>$${}$$</p>", latex.replace("$", "")) if latex else Markup()


def _table(exhibit: Exhibit, content: ContentSource) -> Markup:
    try:
        element = content.element(exhibit.element)
    except NotFoundError:
        return Markup()
    if not isinstance(element, Table) or not element.cells:
        return Markup()
    return html('<div class="wide">{}</div>', element.to_html(marked=[cited.cell for cited in exhibit.cells]))


def _cited_cells(exhibit: Exhibit) -> Markup:
    rows = Markup().join(
        html("<tr><th>{}</th><th>{}</th><td><mark>{}</mark></td></tr>", cited.row, cited.column, cited.cell.text)
        for cited in exhibit.cells
    )
    return html("<table>{}</table>", rows) if rows else Markup()


def _reading(reading: Reading, names: Mapping[str, str]) -> str:
    element = f"{_element_name(reading.element, names)}, " if reading.crop else "whole "
    name = f"{element}{reading.place.where}"
    if isinstance(reading, UnreadImage):
        return f"{name}: unread: {reading.reason}"
    return f"{name}: {reading.text}{'' if reading.relevant else ' (not relevant to the question)'}"


def _context_summary(context: Context) -> Markup:
    counts = f"{len(context.entities)} entities, {len(context.relations)} relations, {len(context.images)} images"
    sources = [
        f"S{source.id}, {source.place.where}: {shortened(source.content, limit=_MAX_QUOTE_LENGTH)}"
        for source in context.sources
    ]
    return bullet_list((counts, *sources))


def _cost(answer: Answer) -> str:
    stages = "; ".join(map(_stage, answer.stages))
    return f"{answer.model or 'no language model'}; {answer.usage}; {answer.seconds:.1f} s ({stages})"


def _stage(stage: StageTime) -> str:
    used = f", {stage.usage}" if stage.usage != Usage() else ""
    return f"{stage.stage} {stage.seconds:.1f} s{used}"


# Contexts.


def _context_html(context: Context, content: ContentSource) -> Markup:
    """Return four tables; only the sources are unfolded."""
    files = file_names(content)
    sources = (
        (row.id, row.content, row.section, row.label or _local_id(row.element), places_text([row.place], files))
        for row in context.sources
    )
    entities = (
        (row.id, row.entity, row.type, row.description, row.rank, places_text(row.places, files))
        for row in context.entities
    )
    relations = (
        (row.id, row.source, row.target, row.description, f"{row.weight:g}", row.rank, places_text(row.places, files))
        for row in context.relations
    )
    images = ((row.id, row.label, row.caption, places_text([row.place], files)) for row in context.images)
    crops = Markup().join(image_tags([row.crop], row.label, content) for row in context.images)
    return fragment(
        html("<p>{}</p>", _context_text(context)),
        details("Sources", grid(("id", "content", "section", "element", "where"), sources), open_=True),
        details("Entities", grid(("id", "entity", "type", "description", "rank", "where"), entities)),
        details("Relationships", grid(("id", "source", "target", "description", "weight", "rank", "where"), relations)),
        details("Images", grid(("id", "label", "caption", "where"), images) + crops),
    )


def _context_text(context: Context) -> str:
    return (
        f"{len(context.sources)} sources, {len(context.entities)} entities, {len(context.relations)} relationships, "
        f"{len(context.images)} images"
    )


def _tool_result_html(result: ToolResult, content: ContentSource) -> Markup:
    """Return what a reading tool found: for each item what it is and where, its picture, and its text."""
    items = (
        html('<p class="title">{}</p>', item.heading)
        + image_tags([item.crop] if item.crop else [], item.label, content)
        + _paragraph(item.text)
        for item in result.items
    )
    part = f"Part {result.call.part} of {result.parts}" if result.parts > 1 else ""
    return fragment(*items, aside(result.message), aside(part))


def places_text(places: Sequence[Place], files: Mapping[str, str]) -> str:
    """Return the pages of places and the files of their papers, without repeats; only the first three if there are
    many.

    Args:
        places: The places; boxes are not shown.
        files: The file name of each paper, by paper id.
    """
    where = list(dict.fromkeys(_place(place, files) for place in places))
    more = len(where) - _LISTED_PLACES
    return "; ".join(where[:_LISTED_PLACES]) + (f"; and {more} more" if more > 0 else "")


# Elements.


def _element_html(element: Element, content: ContentSource) -> Markup:
    """Return the element, and the reading of its image, marked as a vision model's."""
    title = element.label or "Equation" if isinstance(element, Equation) else _title(element)
    crops = image_tags(crops_of(element), _title(element), content)
    match element:
        case Passage() | Reference():
            return fragment(_paragraph(element.text), aside(_location(element, content)))
        case Table():
            table = html('<div class="wide">{}</div>', element.to_html()) if element.cells else Markup()
            body = table + details("As printed", crops) if table else crops
        case Figure():
            body = crops + details("Text in the figure", _paragraph(element.text))
        case Equation():
            shown = crops or _latex(element.latex)
            body = shown + details("Text", _paragraph(element.text)) if shown else _paragraph(element.text)
        case _:
            assert_never(element)
    read = (one for one in content.images(element.place.paper).descriptions if one.element == element.id)
    body += Markup().join(map(_description, read))
    figure = html("<figure><figcaption>{}</figcaption>{}</figure>", title, body)
    return fragment(figure, aside(_location(element, content)))


def _title(element: Element) -> str:
    """Return label and caption; label and text of an equation; the label of a passage."""
    words = element.text if isinstance(element, Equation) else getattr(element, "caption", "")
    return ": ".join(part for part in (element.label or element.kind.capitalize(), words) if part)


def _location(element: Element, content: ContentSource) -> str:
    size = f", {element.shape[0]} × {element.shape[1]} cells" if isinstance(element, Table) else ""
    return f"{_place(element.place, file_names(content))}, id {element.id}{size}"


def _paragraph(text: str) -> Markup:
    return html('<p class="text">{}</p>', text) if text else Markup()


def _description(image: ImageDescription) -> Markup:
    return details("What a vision model saw", _paragraph(image.text) + _latex(image.latex))


# Papers.


def _paper_html(paper: Paper) -> Markup:
    """Title, authors, counts and problems; sections, tables, figures and equations are folded."""
    floats = [element for element in paper.elements if isinstance(element, Table | Figure | Equation)]
    rows = (
        (_local_id(one.id), one.label, one.text if isinstance(one, Equation) else one.caption, one.place.where)
        for one in floats
    )
    sections = (f"{section.number} {section.title}".strip() for section in paper.sections)
    return fragment(
        html('<p class="title">{}</p>', paper.title),
        aside(", ".join(paper.authors)),
        html("<p>{}</p>", _element_counts(paper)),
        *map(warning, paper.problem_lines(paper.problems)),
        details("Sections", bullet_list(sections)),
        details("Tables, figures, equations", grid(("id", "label", "caption or text", "where"), rows)),
        aside(f"{paper.files}, id {paper.id}"),
    )


def _papers_html(papers: Sequence[Paper]) -> Markup:
    rows = (
        (
            paper.title,
            ", ".join(paper.authors),
            paper.file,
            _element_counts(paper),
            "\n".join(paper.problem_lines(paper.problems)) or "none",
            paper.id,
        )
        for paper in papers
    )
    header = ("paper", "authors", "file", "content", "problems", "id")
    return fragment(grid(header, rows) or aside("No papers."))


def _element_counts(paper: Paper) -> str:
    counts = Counter[str](element.kind for element in paper.elements)
    pages = [_counted(len(paper.pages), "page")] if paper.paged else []
    return ", ".join([*pages, *(_counted(counts[kind], kind) for kind in _KINDS if counts[kind])])


def _counted(count: int, name: str) -> str:
    return f"{count} {name}{'' if count == 1 else 's'}"
