"""`paperscope parse`: files to JSON, Markdown, HTML and CSV, without a library."""

import json
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.text import Text

from ingest import check_size, parser_for, read_paper
from ingest.export import Written, to_paper_json, unique_name, write_paper
from ingest.page_images import PageImages, has_pages, open_page_images
from paperscope_core.errors import InputError, OutputError
from paperscope_core.files import output_errors
from paperscope_core.settings import ParserSettings, Settings
from paperscope_core.types import Paper, ParsedPaper
from service.cli.display import problem_line, stderr, stdout
from service.cli.options import expand_paths, report_failure

__all__ = ["ParseJob", "parse_all"]


_COUNTED = ("table", "figure", "equation", "reference")


@dataclass(frozen=True, kw_only=True, slots=True)
class ParseJob:
    """What is asked for; without `out` the paper is printed as JSON, with `as_json` so is the report."""

    out: Path | None
    formats: Sequence[str]
    overlay: bool = False
    password: str | None = None
    as_json: bool = False


def parse_all(settings: Settings, paths: Sequence[Path], job: ParseJob) -> int:
    """Parse every file that `paths` stand for; returns how many paths or files failed.

    One file goes into the folder itself, several or a folder's go into a folder each, named after the file. Raises
    OutputError when the folder can't be made.
    """
    if job.out is not None:
        with output_errors(job.out):
            job.out.mkdir(parents=True, exist_ok=True)
    files, failed = expand_paths(paths, as_json=job.as_json, progress=stderr())
    alone = files == list(paths)[:1] and len(paths) == 1
    for number, (file, name) in enumerate(_named(files), start=1):
        try:
            folder = job.out if job.out is None or alone else job.out / name
            _parse(settings, file, job, folder=folder, head=f"[{number}/{len(files)}] {file.name}")
        except (InputError, OutputError) as error:
            failed += 1
            report_failure(file, error, as_json=job.as_json, progress=stderr())
    return failed


def _named(files: Sequence[Path]) -> Iterator[tuple[Path, str]]:
    """Each file with a folder's name of its own; names that differ in case only are one name to some systems."""
    taken: set[str] = set()
    for file in files:
        stem = file.stem if file.stem.strip(". ") else "paper"
        yield file, stem + unique_name(stem.casefold(), taken=taken)[len(stem.casefold()) :]


def _parse(settings: Settings, file: Path, job: ParseJob, *, folder: Path | None, head: str) -> None:
    started = time.perf_counter()
    check_size(file, max_mb=settings.limits.max_file_mb)
    parser = parser_for(settings.parser, limits=settings.limits)
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TextColumn("pages"))
    with Progress(*columns, console=stderr(), transient=True, disable=not stderr().is_terminal) as progress:
        task = progress.add_task(head, total=None)

        def on_page(done: int, total: int) -> None:
            progress.update(task, completed=done, total=total)

        parsed = read_paper(parser, file, password=job.password, on_page=on_page)
    if folder is None:
        typer.echo(to_paper_json(parsed.paper, pictures={}))
        return
    with _pictures(file, parsed.paper, job, settings=settings.parser) as pictures:
        written = write_paper(parsed, folder, formats=job.formats, pictures=pictures)
    _report(file, parsed, written, job, folder=folder, seconds=time.perf_counter() - started)


@contextmanager
def _pictures(file: Path, paper: Paper, job: ParseJob, *, settings: ParserSettings) -> Iterator[PageImages | None]:
    if not job.overlay:
        yield None
    elif not has_pages(paper):
        note = f"! {file.name}: --overlay has nothing to draw on, because a {paper.format} file has no pages to look at"
        stderr().print(Text(note, style="yellow"))
        yield None
    else:
        with open_page_images(file, paper, settings=settings, password=job.password) as pictures:
            yield pictures


def _report(file: Path, parsed: ParsedPaper, written: Written, job: ParseJob, *, folder: Path, seconds: float) -> None:
    paper = parsed.paper
    kinds = Counter[str](element.kind for element in paper.elements)
    counts = {"page": len(paper.pages), "section": len(paper.sections), **{kind: kinds[kind] for kind in _COUNTED}}
    problems = (*paper.problems, *written.problems)
    if job.as_json:
        row = {"file": str(file), "outcome": "parsed", "paper": paper.id, "title": paper.title, "out": str(folder)}
        more = {"files": written.files, "problems": [asdict(problem) for problem in problems]}
        numbers = {f"{kind}s": count for kind, count in counts.items()}
        typer.echo(json.dumps({**row, **numbers, **more, "seconds": round(seconds, 3)}, ensure_ascii=False))
        return
    told = counts if paper.paged else {kind: count for kind, count in counts.items() if kind != "page"}
    parts = [f"{count} {kind}{'' if count == 1 else 's'}" for kind, count in told.items()]
    numbers_text = ", ".join(parts if paper.paged else [paper.format, *parts])
    results = stdout()
    results.print(Text(paper.title, style="bold"))
    results.print(Text(f"  {numbers_text}  ({seconds:.1f} s)"))
    for problem in problems:
        results.print(Text(f"  {problem_line(problem, paper)}", style="yellow"))
    results.print(Text(f"  {len(written.files)} files in {folder}: {_files_text(written.files)}"))


def _files_text(files: Sequence[str]) -> str:
    """The files at the top by name, those of each folder by number."""
    folders = Counter(folder for folder, inside, _ in (file.partition("/") for file in files) if inside)
    names = [file for file in files if "/" not in file]
    return ", ".join([*names, *(f"{folder}/ ({count})" for folder, count in folders.items())])
