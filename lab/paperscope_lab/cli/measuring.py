"""`paperscope eval`: a command for each suite of measurements, and one that compares two runs."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from paperscope_lab.cli.progress import progress_bar
from paperscope_lab.evaluation.suite import SUITES, Part, load_suite
from service.cli.options import ConfigOption, JsonOption, new_app, read_settings
from service.cli.terminal import print_json, print_text

if TYPE_CHECKING:
    from paperscope_lab.evaluation.report import Report
    from paperscope_lab.evaluation.run import RunOptions
    from paperscope_lab.evaluation.score import ItemResult


__all__ = ["eval_app"]

DataOption = Annotated[Path, typer.Option("--data", "-d", help="The folder with the gold: eval/ and papers/ below it.")]
ModeOption = Annotated[
    str, typer.Option("--mode", "-m", help="What is measured; an unknown mode lists the known ones.")
]
OutOption = Annotated[
    Path | None, typer.Option("--out", "-o", help="Write items and report here; run again, it resumes.")
]
OnlyOption = Annotated[
    list[str] | None, typer.Option("--only", help="A set, paper or item; nothing else is scored (repeatable).")
]
PartOption = Annotated[
    Part | None,
    typer.Option("--part", help="Score these documents only: tune on one part, report on the other."),
]
SeedOption = Annotated[int, typer.Option("--seed", help="Seed of all random choices.")]
MissesOption = Annotated[bool, typer.Option("--misses", help="Also print each item and miss; the report has them.")]

eval_app = new_app("Measure Paperscope against gold: your own, or a benchmark's.")


def _add_command(name: str, title: str) -> None:
    def command(
        data: DataOption,
        *,
        mode: ModeOption = "",
        out: OutOption = None,
        only: OnlyOption = None,
        part: PartOption = None,
        seed: SeedOption = 0,
        misses: MissesOption = False,
        config: ConfigOption = None,
        as_json: JsonOption = False,
    ) -> None:
        from paperscope_lab.evaluation.rendering import render_figures, render_report
        from paperscope_lab.evaluation.run import RunOptions

        settings = read_settings(config=config)
        run = RunOptions(
            data=data, settings=settings, mode=mode, names=tuple(only or ()), part=part or "", out=out, seed=seed
        )
        report = _measure(name, run)
        if as_json:
            print_json(report.to_json())
        else:
            print_text((render_report if misses else render_figures)(report))
        raise typer.Exit(1 if report.problems else 0)

    command.__doc__ = title
    eval_app.command(name)(command)


for _name, (_, _title) in SUITES.items():
    _add_command(_name, _title)


@eval_app.command()
def compare(
    a: Annotated[Path, typer.Argument(help="What `eval SUITE --out` wrote: the folder, or its SUITE.json.")],
    b: Annotated[Path, typer.Argument(help="The other run.")],
    *,
    as_json: JsonOption = False,
) -> None:
    """Compare two runs on their common items: differences, confidence intervals, paired tests."""
    from paperscope_core.codec import to_json
    from paperscope_lab.evaluation.compare import compare_runs, render_comparison
    from paperscope_lab.evaluation.report import load_reports

    found = compare_runs(load_reports(a), load_reports(b))
    if as_json:
        print_json(to_json(found, indent=1))
    else:
        print_text("\n".join(map(render_comparison, found)))


def _measure(name: str, run: "RunOptions") -> "Report":
    from paperscope_lab.evaluation.run import RunCallbacks, run_suite

    with progress_bar(name) as bar:
        task = bar.add_task("", total=None)

        def done(result: "ItemResult") -> None:
            bar.update(task, advance=1, description=result.name)
            if result.problem:
                bar.console.print(Text(f"! {result.name}: {result.problem}", style="yellow"))

        return run_suite(
            load_suite(name),
            run,
            callbacks=RunCallbacks(started=lambda count: bar.update(task, total=count), done=done),
        )
