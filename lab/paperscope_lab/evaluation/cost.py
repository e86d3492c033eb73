"""The cost suite: model calls, tokens, money and time per paper and per question."""

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from functools import partial
from pathlib import Path

from paperscope_core.models.token_counting import count_tokens
from paperscope_core.types import Answer, Usage
from paperscope_lab.errors import GoldFileError
from paperscope_lab.evaluation.gold.files import separate_errors
from paperscope_lab.evaluation.gold.questions import docbench_questions
from paperscope_lab.evaluation.libraries import BuiltLibrary, Libraries
from paperscope_lab.evaluation.question_suite import library_of_paper, question_suite
from paperscope_lab.evaluation.score import Score, Tally
from paperscope_lab.evaluation.suite import Item, Request
from query import render_for_model

__all__ = ["SUITE", "score_adding", "score_asking"]


_MEGABYTE = 1e6


def score_adding(libraries: Libraries, file: Path) -> Score:
    """Add a paper to its own library; the figures are means over papers.

    Raises PaperFileError if the paper can't be added, and ModelError if a model fails. The figures of a library that an
    earlier run built are those of that run.
    """
    built = library_of_paper(libraries, file)
    name = str(file)
    pages = len(libraries.library(built).paper(built.ids[name]).pages)
    figures = {"add.pages": float(pages), "add.megabytes": _megabytes(built)}
    if built.seconds.get(name):  # 0 if an earlier run was stopped after it had added the paper
        figures |= _usage_figures("add", built.usage.get(name, Usage()))
        figures["seconds.add_per_page"] = built.seconds[name] / max(pages, 1)
    return _mean_score(figures)


def score_asking(libraries: Libraries, file: Path, question: str) -> Score:
    """Ask the library of a paper; the figures are means over questions.

    Raises PaperFileError if the paper can't be added, and ModelError if a model fails.
    """
    library = libraries.library(library_of_paper(libraries, file))
    return _mean_score(_answer_figures(library.ask(question)))


def _read(request: Request, libraries: Libraries) -> Iterator[Item | GoldFileError]:
    """Yield the papers in their own folders, and the questions beside them."""
    asked, bad = separate_errors(docbench_questions(request.data))
    papers = sorted((request.data / "papers").glob("*/paper.pdf"))
    yield from bad
    for file in dict.fromkeys((*papers, *(question.file for question in asked))):
        yield Item(name=f"papers/{file.parent.name}", score=partial(score_adding, libraries, file), files=(file,))
    for found in asked:
        yield Item(
            name=f"questions/{found.paper}/{found.id}",
            score=partial(score_asking, libraries, found.file, found.question),
            gold=found.question,
            files=(found.file,),
        )


def _answer_figures(answer: Answer) -> Mapping[str, float]:
    return {
        **_usage_figures("ask", answer.usage),
        "ask.images": sum(reading.kind == "finding" for reading in answer.readings),
        "ask.context_tokens": count_tokens(render_for_model(answer.context)),
        "ask.context_words": sum(len(source.content.split()) for source in answer.context.sources),
        "seconds.question": answer.seconds,
    }


def _usage_figures(what: str, usage: Usage) -> dict[str, float]:
    return {
        f"{what}.calls": usage.calls,
        f"{what}.cached_calls": usage.cached,
        f"{what}.prompt_tokens": usage.prompt_tokens,
        f"{what}.completion_tokens": usage.completion_tokens,
        f"{what}.cost": usage.cost,
    }


def _mean_score(figures: Mapping[str, float]) -> Score:
    return Score(tallies={name: Tally(right=value, total=1) for name, value in figures.items()})


def _megabytes(built: BuiltLibrary) -> float:
    """Return the size of the paper's library on disk in 10^6 bytes, to a tenth: the database with its write-ahead log,
    and the crops.

    Indexes don't count: they are derived from these when a question is asked.
    """
    with closing(sqlite3.connect(built.folder / "library.sqlite")) as database:
        (size,) = database.execute("SELECT page_count * page_size FROM pragma_page_count, pragma_page_size").fetchone()
    crops = (file for file in (built.folder / "crops").rglob("*") if file.is_file())
    return round((int(size) + sum(file.stat().st_size for file in crops)) / _MEGABYTE, 1)


SUITE = question_suite(
    "cost",
    _read,
    headline=("add.calls", "add.cost", "ask.calls", "ask.cost", "ask.context_words"),
    missing="no papers here; name a folder with papers/NAME/paper.pdf",
)
