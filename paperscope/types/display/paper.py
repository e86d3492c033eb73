"""A paper at a glance: what it is, what was read of it, and what could not be."""

from collections import Counter
from collections.abc import Sequence
from html import escape

from paperscope.types.display.parts import aside, details, fragment, grid, listed, warning
from paperscope.types.elements import Equation, Figure, PageProblem, Paper
from paperscope.types.tables import Table

__all__ = ["paper_html", "paper_text", "papers_html"]

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
        details("Sections", listed(sections)),
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
