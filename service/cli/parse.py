"""`paperscope parse`: files to JSON, Markdown, HTML and CSV, without a library."""

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from paperscope_core.errors import InputError, OutputError
from paperscope_core.types import Paper, PaperFile, ParsedPaper
from service.cli.options import (
    ConfigOption,
    JsonOption,
    PasswordFileOption,
    PasswordOption,
    PathsArgument,
    find_each,
    read_password,
    read_settings,
    report_failure,
)
from service.cli.terminal import print_json, print_line, print_note, stderr

if TYPE_CHECKING:
    from ingest.export import Written
    from ingest.export.drawing import RenderPage
    from paperscope_core.settings import Settings

__all__ = ["parse"]

_COUNTED = ("table", "figure", "equation", "reference")


@dataclass(frozen=True, kw_only=True, slots=True)
class _Options:
    """The options of the command. Without `out`, the paper is printed as JSON; with `as_json`, so is the report."""

    out: Path | None
    formats: Sequence[str]
    overlay: bool
    password: str | None
    as_json: bool


def parse(
    paths: PathsArgument,
    *,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="The folder for the files that are written.")] = None,
    formats: Annotated[
        str, typer.Option("--format", "-f", help="Which files: some of json,markdown,html,csv.")
    ] = "json,markdown,html,csv",
    overlay: Annotated[
        bool, typer.Option("--overlay", help="Also draw what was read over an image of each page.")
    ] = False,
    password: PasswordOption = None,
    password_file: PasswordFileOption = None,
    config: ConfigOption = None,
    as_json: JsonOption = False,
) -> None:
    """Write what is read from papers as JSON, Markdown, HTML and CSV, without a library."""
    from ingest.export import check_formats

    if out is None and not as_json:
        raise InputError("nowhere to write to: name a folder with --out, or print the paper with --json")
    if out is None and overlay:
        raise InputError("--overlay draws files: name a folder for them with --out")
    options = _Options(
        out=out,
        formats=check_formats(formats.split(",")),
        overlay=overlay,
        password=read_password(password, password_file),
        as_json=as_json,
    )
    failed = _parse_all(read_settings(config=config), paths, options)
    raise typer.Exit(1 if failed else 0)


def _parse_all(settings: "Settings", paths: Sequence[Path], options: _Options) -> int:
    """Parse all files at `paths`; return the number of paths or files that failed.

    A single file is written into the folder itself; of several, each gets a folder named after it. Raises OutputError
    if the folder can't be created.
    """
    from ingest.formats import paper_files
    from paperscope_core.files import output_errors

    if options.out is not None:
        with output_errors(options.out):
            options.out.mkdir(parents=True, exist_ok=True)
    files, failed = find_each(paths, paper_files, as_json=options.as_json)
    single = len(paths) == 1 and files == list(paths)
    for number, (file, name) in enumerate(_with_folder_names(files), start=1):
        try:
            folder = options.out if options.out is None or single else options.out / name
            _parse_file(settings, file, options, folder=folder, head=f"[{number}/{len(files)}] {file.name}")
        except (InputError, OutputError) as error:
            failed += 1
            report_failure(file, error, as_json=options.as_json)
    return failed


def _with_folder_names(files: Sequence[Path]) -> Iterator[tuple[Path, str]]:
    """Yield each file with a folder name that no other one has; some file systems ignore case."""
    from ingest.document.assembly import UniqueNames

    names = UniqueNames()
    for file in files:
        stem = file.stem if file.stem.strip(". ") else "paper"
        yield file, stem + names.add(stem.casefold())[len(stem.casefold()) :]


def _parse_file(settings: "Settings", file: Path, options: _Options, *, folder: Path | None, head: str) -> None:
    from ingest.export import to_paper_json, write_paper
    from ingest.parsers import parser_for, read_once, read_paper

    started = time.perf_counter()
    paper_file = read_once(PaperFile(file, password=options.password), max_mb=settings.limits.max_file_mb)
    parser = parser_for(settings.parser, limits=settings.limits)
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TextColumn("pages"))
    with Progress(*columns, console=stderr(), transient=True, disable=not stderr().is_terminal) as progress:
        task = progress.add_task(head, total=None)

        def on_page(done: int, total: int) -> None:
            progress.update(task, completed=done, total=total)

        parsed = read_paper(parser, paper_file, on_page=on_page)
    if folder is None:
        print_json(to_paper_json(parsed.paper, pictures={}))
        return
    with _page_images(file, parsed.paper, options) as render:
        written = write_paper(parsed, folder, formats=options.formats, render=render)
    seconds = time.perf_counter() - started
    _report(file, parsed, written, folder=folder, seconds=seconds, as_json=options.as_json)


@contextmanager
def _page_images(file: Path, paper: Paper, options: _Options) -> "Iterator[RenderPage | None]":
    from ingest.page_images import open_page_images

    if not options.overlay:
        yield None
    elif not paper.has_page_images:
        note = f"! {file.name}: --overlay has nothing to draw on, because a {paper.format} file has no pages to look at"
        print_note(note, style="yellow")
        yield None
    else:
        with open_page_images(PaperFile(file, password=options.password), paper) as render:
            yield render


def _report(
    file: Path, parsed: ParsedPaper, written: "Written", *, folder: Path, seconds: float, as_json: bool
) -> None:
    paper = parsed.paper
    kinds = Counter[str](element.kind for element in paper.elements)
    counts = {"page": len(paper.pages), "section": len(paper.sections), **{kind: kinds[kind] for kind in _COUNTED}}
    problems = (*paper.problems, *written.problems)
    if as_json:
        row = {
            "file": str(file),
            "outcome": "parsed",
            "paper": paper.id,
            "title": paper.title,
            "out": str(folder),
            **{f"{kind}s": count for kind, count in counts.items()},
            "files": written.files,
            "problems": [asdict(problem) for problem in problems],
            "seconds": round(seconds, 3),
        }
        print_json(row)
        return
    parts = [
        f"{count} {kind}{'' if count == 1 else 's'}" for kind, count in counts.items() if paper.paged or kind != "page"
    ]
    print_line(paper.title, style="bold")
    print_line(f"  {', '.join(parts if paper.paged else [paper.format, *parts])}  ({seconds:.1f} s)")
    for line in paper.problem_lines(problems):
        print_line(f"  {line}", style="yellow")
    print_line(f"  {len(written.files)} files in {folder}: {_describe_files(written.files)}")


def _describe_files(files: Sequence[str]) -> str:
    """Return the names of the files, and how many are in each folder."""
    folders = Counter(folder for folder, inside, _ in (file.partition("/") for file in files) if inside)
    names = [file for file in files if "/" not in file]
    return ", ".join([*names, *(f"{folder}/ ({count})" for folder, count in folders.items())])
