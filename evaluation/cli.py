"""`score SUITE --data DIR`: run a suite, print its figures, keep its reports."""

import argparse
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import cast, get_args

from evaluation.gold import load_items
from evaluation.parsing.items import ParsingItem, outline_reader
from evaluation.report import Report, make_report, render_markdown
from evaluation.running import ItemResult, run_items
from ingest.pdf.backends import BackendName, backend_for
from paperscope.errors import PaperscopeError
from paperscope.files import write_atomically, writing
from paperscope.settings import ParserSettings

__all__ = ["main"]

# Crops are not scored: a low resolution saves time.
_DPI = 36


def main(arguments: Sequence[str] | None = None) -> int:
    """The exit code: 0, 1 where something could not be scored, an error's own where nothing could."""
    options = _parser().parse_args(arguments)
    try:
        report = _parsing(options)
    except PaperscopeError as error:
        sys.stderr.write(f"error: {error}\n")
        return error.exit_code
    sys.stdout.write(render_markdown(report, misses=options.misses))
    return 1 if report.problems else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="score", description="Measure against gold.")
    suites = parser.add_subparsers(dest="suite", required=True)
    parsing = suites.add_parser("parsing", help="tables, headings, text and its order, captions, references, equations")
    parsing.add_argument("--data", type=Path, required=True, help="a folder laid out as the development data is")
    parsing.add_argument("--out", type=Path, help="keeps parsing.jsonl (resumed), report.md and report.json here")
    parsing.add_argument("--papers", nargs="+", default=[], metavar="NAME", help="these sets, items or papers only")
    parsing.add_argument(
        "--backend", choices=get_args(BackendName), default="pymupdf", help="the library below our rules"
    )
    parsing.add_argument("--misses", action="store_true", help="print each miss too (report.md always has them)")
    return parser


def _parsing(options: argparse.Namespace) -> Report:
    out = cast("Path | None", options.out)
    settings = ParserSettings(backend=options.backend, dpi=_DPI)
    backend = backend_for(settings.backend)
    gold, bad = load_items(options.data, read_outline=partial(outline_reader, backend), names=options.papers)
    items = [ParsingItem(gold=item, settings=settings, backend=backend) for item in gold]
    if out:
        with writing(out):
            out.mkdir(parents=True, exist_ok=True)
    kept = out / "parsing.jsonl" if out else None
    results = run_items(items, settings=settings.model_dump_json(), kept=kept, on_item=_show)
    report = make_report(
        results,
        suite="parsing",
        settings={"backend": settings.backend, "items": str(len(items))},
        problems=[str(error) for error in bad],
    )
    if out:
        write_atomically(out / "report.md", render_markdown(report).encode())
        write_atomically(out / "report.json", report.to_json().encode())
    return report


def _show(result: ItemResult) -> None:
    sys.stderr.write(f"{result.name}{': ' + result.problem if result.problem else ''}\n")
