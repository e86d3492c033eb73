"""Values as HTML for notebooks and as text for terminals."""

from collections import Counter
from collections.abc import Mapping, Sequence
from html import escape
from typing import assert_never

from paperscope_core.types.answer import Answer, Check, Claim, Evidence, Exhibit, Reading
from paperscope_core.types.displayable import Displayable
from paperscope_core.types.elements import Element, Equation, Figure, PageProblem, Paper, Passage, Reference, crops_of
from paperscope_core.types.html import (
    ContentSource,
    NoContent,
    aside,
    bullet_list,
    details,
    file_names,
    fragment,
    grid,
    image_tags,
    shortened,
    warning,
)
from paperscope_core.types.images import ImageDescription, UnreadImage
from paperscope_core.types.place import Place
from paperscope_core.types.retrieval import Context
from paperscope_core.types.tables import Table

__all__ = [
    "ContentSource",
    "answer_html",
    "answer_text",
    "aside",
    "context_html",
    "context_text",
    "details",
    "element_html",
    "element_text",
    "fragment",
    "grid",
    "paper_html",
    "paper_text",
    "papers_html",
    "places_text",
    "several_html",
    "title_of",
    "to_html",
    "to_text",
]


def answer_html(answer: Answer, holder: ContentSource) -> str:
    """The answer with its claims' places, computed numbers, warnings, exhibits, readings, context and cost.

    What `holder` does not have is told in words, and of tables it doesn't have only the cells that are cited.
    """
    names = {**file_names(holder), **_labels(answer)}
    return fragment(
        f'<p class="title">{escape(answer.question)}</p>',
        f'<p class="text">{escape(answer.text)}</p>',
        aside("The papers do not say.") if answer.status == "unanswerable" else "",
        *map(warning, answer.warnings),
        bullet_list(_claim(claim, names) for claim in answer.claims),
        _computed(answer.checks),
        *(_exhibit(exhibit, names, holder) for exhibit in answer.exhibits),
        details("Readings of images", bullet_list(_reading(reading, names) for reading in answer.readings)),
        details("Context", _context_summary(answer)),
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
    where = f"{_element_name(evidence.element, names)}, {_place(evidence.place, names)}"
    return f"{where}: “{shortened(evidence.quote)}”" if evidence.quote else where


def _place(place: Place, names: dict[str, str]) -> str:
    return f"{place.where} of {names.get(place.paper, place.paper)}"


def _element_name(element: str, names: dict[str, str]) -> str:
    return names.get(element) or element.rpartition("/")[2].replace("-", " ")


def _computed(checks: Sequence[Check]) -> str:
    formulas = bullet_list(escape(check.formula) for check in checks if check.formula)
    return aside("Computed:") + formulas if formulas else ""


def _exhibit(exhibit: Exhibit, names: dict[str, str], holder: ContentSource) -> str:
    title = ": ".join(part for part in (exhibit.label or exhibit.kind.capitalize(), exhibit.caption) if part)
    where = f"<span class='aside'>({escape(_place(exhibit.place, names))})</span>"
    latex = f"<p><code>{escape(exhibit.latex)}</code></p>" if exhibit.latex else ""
    shown = image_tags(exhibit.crops, title, holder)
    if exhibit.kind == "table":
        grid = _table(exhibit, holder)
        shown = grid + details("As printed", shown) if grid else _cells(exhibit) + shown
    return f"<figure><figcaption>{escape(title)} {where}</figcaption>{latex}{shown}</figure>"


def _table(exhibit: Exhibit, holder: ContentSource) -> str:
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
    name = f"{_element_name(reading.element, names)}, {reading.place.where}"
    if isinstance(reading, UnreadImage):
        return escape(f"{name}: unread: {reading.reason}")
    return escape(f"{name}: {reading.text}{'' if reading.relevant else ' (does not bear on the question)'}")


def _context_summary(answer: Answer) -> str:
    context = answer.context
    counts = f"{len(context.entities)} entities, {len(context.relations)} relations, {len(context.images)} images"
    sources = [f"S{source.id}, {source.place.where}: {shortened(source.content)}" for source in context.sources]
    return bullet_list(map(escape, (counts, *sources)))


def _cost(answer: Answer) -> str:
    stages = ", ".join(f"{stage.stage} {stage.seconds:.1f} s" for stage in answer.stages)
    return f"{answer.model or 'no language model'}; {answer.usage}; {answer.seconds:.1f} s ({stages})"


_PLACES = 3


def context_html(context: Context, holder: ContentSource) -> str:
    """Sources stand open, entities, relationships and images are folded away; `query.render_context` gives the CSV."""
    files = file_names(holder)
    sources = (
        (row.id, row.content, _short_id(row.element), places_text([row.place], files)) for row in context.sources
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
    crops = "".join(image_tags([row.crop], row.label, holder) for row in context.images)
    return fragment(
        f"<p>{escape(context_text(context))}</p>",
        _open_details("Sources", grid(("id", "content", "element", "where"), sources)),
        details("Entities", grid(("id", "entity", "type", "description", "rank", "where"), entities)),
        details("Relationships", grid(("id", "source", "target", "description", "weight", "rank", "where"), relations)),
        details("Images", grid(("id", "label", "caption", "where"), images) + crops),
    )


def context_text(context: Context) -> str:
    """How much of each kind there is, on one line."""
    return (
        f"{len(context.sources)} sources, {len(context.entities)} entities, {len(context.relations)} relationships, "
        f"{len(context.images)} images"
    )


def places_text(places: Sequence[Place], files: Mapping[str, str]) -> str:
    """Pages and papers (by file, where it is known), each once and the first few; boxes are left out."""
    where = list(dict.fromkeys(f"{place.where} of {files.get(place.paper, place.paper)}" for place in places))
    more = len(where) - _PLACES
    return "; ".join(where[:_PLACES]) + (f"; and {more} more" if more > 0 else "")


def _short_id(element: str) -> str:
    return element.rpartition("/")[2]


def _open_details(title: str, inner: str) -> str:
    return details(title, inner).replace("<details>", "<details open>", 1)


def element_html(element: Element, holder: ContentSource) -> str:
    """The element as a block. What a vision model saw in its picture is said to be a model's words."""
    title = element.label or "Equation" if isinstance(element, Equation) else title_of(element)
    name = _location(element, holder)
    head = f"<figcaption>{escape(title)}</figcaption>"
    crops = image_tags(crops_of(element), title_of(element), holder)
    match element:
        case Passage() | Reference():
            return fragment(f'<p class="text">{escape(element.text)}</p>', aside(name))
        case Table():
            body = f'<div class="wide">{element.to_html()}</div>' if element.cells else ""
            shown = body + details("As printed", crops) if body else crops
        case Figure():
            shown = crops + details("Text in the figure", _block(element.text))
        case Equation():
            shown = crops + details("Text", _block(element.text)) if crops else _block(element.text)
        case _:
            assert_never(element)
    return fragment(f"<figure>{head}{shown}{_seen(element, holder)}</figure>", aside(name))


def element_text(element: Element) -> str:
    """What it is and where it stands, on one line."""
    words = element.text if isinstance(element, Passage | Reference) else title_of(element)
    return f"{words} ({element.place.where})"


def title_of(element: Element) -> str:
    """Label and caption; of an equation its text, of text its label."""
    words = element.text if isinstance(element, Equation) else getattr(element, "caption", "")
    return ": ".join(part for part in (element.label or element.kind.capitalize(), words) if part)


def _location(element: Element, holder: ContentSource) -> str:
    place = element.place
    size = f", {element.shape[0]} × {element.shape[1]} cells" if isinstance(element, Table) else ""
    return f"{place.where} of {file_names(holder).get(place.paper, place.paper)}, id {element.id}{size}"


def _block(text: str) -> str:
    return f'<p class="text">{escape(text)}</p>' if text else ""


def _seen(element: Element, holder: ContentSource) -> str:
    found = (one for one in holder.images(element.place.paper).descriptions if one.element == element.id)
    return "".join(map(_description, found))


def _description(seen: ImageDescription) -> str:
    latex = f"<p><code>{escape(seen.latex)}</code></p>" if seen.latex else ""
    return details("What a vision model saw", _block(seen.text) + latex)


_KINDS: tuple[str, ...] = ("passage", "table", "figure", "equation", "reference")


def paper_html(paper: Paper) -> str:
    """Title, authors, what was read and what was not; sections, tables, figures and equations are folded away."""
    floats = [element for element in paper.elements if isinstance(element, Table | Figure | Equation)]
    rows = (
        (one.id.rpartition("/")[2], one.label, one.text if isinstance(one, Equation) else one.caption, one.place.where)
        for one in floats
    )
    sections = (escape(f"{section.number} {section.title}".strip()) for section in paper.sections)
    return fragment(
        f'<p class="title">{escape(paper.title)}</p>',
        aside(", ".join(paper.authors)),
        f"<p>{escape(_read(paper))}</p>",
        *(warning(_problem(problem, paper)) for problem in paper.problems),
        details("Sections", bullet_list(sections)),
        details("Tables, figures, equations", grid(("id", "label", "caption or text", "where"), rows)),
        aside(f"{paper.file}, id {paper.id}"),
    )


def papers_html(papers: Sequence[Paper]) -> str:
    """A row for each paper."""
    rows = (
        (
            paper.title,
            ", ".join(paper.authors),
            paper.file,
            _read(paper),
            "\n".join(_problem(problem, paper) for problem in paper.problems) or "none",
            paper.id,
        )
        for paper in papers
    )
    header = ("paper", "authors", "file", "what was read", "problems", "id")
    return fragment(grid(header, rows) or aside("No papers."))


def paper_text(paper: Paper) -> str:
    """The title and what was read, on one line."""
    return f"{paper.title} ({paper.file}): {_read(paper)}"


def _read(paper: Paper) -> str:
    counts = Counter[str](element.kind for element in paper.elements)
    pages = [_counted(len(paper.pages), "page")] if paper.paged else []
    return ", ".join([*pages, *(_counted(counts[kind], kind) for kind in _KINDS if counts[kind])])


def _counted(count: int, name: str) -> str:
    return f"{count} {name}{'' if count == 1 else 's'}"


def _problem(problem: PageProblem, paper: Paper) -> str:
    return f"page {problem.page}: {problem.reason}" if paper.paged else problem.reason


def to_html(value: Displayable, holder: ContentSource | None = None) -> str:
    """A value as one block of HTML; `holder` has the pictures and tables that it only names."""
    holder = holder or NoContent()
    match value:
        case Answer():
            return answer_html(value, holder)
        case Context():
            return context_html(value, holder)
        case Paper():
            return paper_html(value)
        case Passage() | Table() | Figure() | Equation() | Reference():
            return element_html(value, holder)
        case _:
            return value._repr_html_()


def to_text(value: Displayable) -> str:
    """A value as a line of text, an answer with its places."""
    match value:
        case Answer():
            return answer_text(value)
        case Context():
            return context_text(value)
        case Paper():
            return paper_text(value)
        case Passage() | Table() | Figure() | Equation() | Reference():
            return element_text(value)
        case _:
            return str(value)


def several_html(values: Sequence[Displayable], holder: ContentSource | None = None) -> str:
    """Papers as a table with a row for each, anything else one after another."""
    papers = [value for value in values if isinstance(value, Paper)]
    if len(papers) == len(values):
        return papers_html(papers)
    return "".join(to_html(value, holder) for value in values)
