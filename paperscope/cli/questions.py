"""The commands that ask the library, `paperscope ask`, `batch`, `graph`, which `asking.py`, … carry out."""

from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from paperscope.cli.display import stderr, stdout
from paperscope.cli.options import (
    AfterOption,
    ConfigOption,
    JsonOption,
    KindOption,
    LibraryOption,
    PaperOption,
    SectionOption,
    YearOption,
    open_library,
)

__all__ = ["ask", "batch", "graph"]


def ask(
    question: Annotated[str, typer.Argument(help="The question, in quotes.")],
    *,
    paper: PaperOption = None,
    section: SectionOption = None,
    kind: KindOption = None,
    year: YearOption = None,
    after: AfterOption = None,
    library: LibraryOption = None,
    config: ConfigOption = None,
    as_json: JsonOption = False,
) -> None:
    """Answer a question, with the places that the answer rests on. Exit code 0 also when the papers don't say."""
    from paperscope.cli.asking import ask_one, read_history
    from paperscope.types import Filters

    filters = Filters.of(papers=paper or (), sections=section or (), kinds=kind or (), years=year)
    history = read_history(after or ())
    with open_library(library=library, config=config) as opened:
        ask_one(opened, question, filters=filters, history=history, as_json=as_json)


def batch(
    questions: Annotated[Path, typer.Argument(help="The questions: JSON lines, CSV, or one a line (.txt, .md).")],
    *,
    out: Annotated[Path, typer.Option("--out", "-o", help="The folder for answers.jsonl, answers.csv and report.md.")],
    show: Annotated[bool, typer.Option("--show", help="Print each answer as well.")] = False,
    at_once: Annotated[int, typer.Option("--at-once", min=1, help="How many questions are asked at a time.")] = 4,
    library: LibraryOption = None,
    config: ConfigOption = None,
) -> None:
    """Answer a file of questions. Run again, it goes on where it stopped."""
    from paperscope.cli.batching import answer_all
    from service import load_questions

    asked = load_questions(questions)
    with open_library(library=library, config=config) as opened:
        failed = answer_all(opened, asked, out=out, show=show, at_once=at_once)
    raise typer.Exit(1 if failed else 0)


def graph(
    entity: Annotated[str, typer.Argument(help="An entity's name, or another name of it.")],
    *,
    paper: Annotated[list[str] | None, typer.Option("--paper", "-p", help="Named in this paper (repeatable).")] = None,
    steps: Annotated[int, typer.Option("--steps", min=1, max=3, help="How far from the entity.")] = 1,
    limit: Annotated[int, typer.Option("--limit", min=1, help="The most relations, the heaviest first.")] = 40,
    png: Annotated[Path | None, typer.Option("--png", help="Draw it into this file.")] = None,
    graphml: Annotated[Path | None, typer.Option("--graphml", help="Write it as GraphML into this file.")] = None,
    library: LibraryOption = None,
    config: ConfigOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show what stands round an entity in the graph, and where the papers say so."""
    from paperscope.cli.graphing import neighbourhood_view, write_files
    from paperscope.codec import to_json

    with open_library(library=library, config=config) as opened:
        found = opened.neighbourhood(entity, papers=paper or (), steps=steps, limit=limit)
        if as_json:
            typer.echo(to_json(found, indent=2))
        else:
            stdout().print(neighbourhood_view(found))
    for file in write_files(found, png=png, graphml=graphml):
        stderr().print(Text(f"wrote {file}"))
