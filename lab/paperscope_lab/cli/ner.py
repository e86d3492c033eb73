"""`paperscope ner`: data, training, scores and comparisons of entity extractors."""

import json
from dataclasses import asdict
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from rich.text import Text

from paperscope_core.errors import InputError
from paperscope_core.files import output_errors, write_atomically
from paperscope_lab.cli.recognizer_training import init, train
from paperscope_lab.cli.recognizers import ensemble, predict
from paperscope_lab.ner.importing import Format, import_examples
from paperscope_lab.ner.tags import Scheme
from service.cli.options import JsonOption, new_app
from service.cli.terminal import print_json, print_text, stderr

if TYPE_CHECKING:
    from ingest.extraction.recognizer.examples import Example

__all__ = ["ner_app"]

ner_app = new_app("Train, score and compare entity extractors.")
for _command in (init, train, predict, ensemble):
    ner_app.command()(_command)
data_app = new_app("Read entity data of many formats, count it, and check it.")
ner_app.add_typer(data_app, name="data")

FormatOption = Annotated[
    Format | None,
    typer.Option(
        "--format",
        help="columns: CoNLL, JNLPBA, WNUT, TDMSci. klue: characters. json: SciER, SciERC, spaCy, GLiNER, a list or a "
        "record a line. standoff: brat, a folder or a tar archive. spans: our own. Found if it is not given.",
    ),
]
SchemeOption = Annotated[
    Scheme | None, typer.Option("--scheme", help="The scheme of the tags in columns; found if it is not given.")
]
FilesArgument = Annotated[list[Path], typer.Argument(help="Files of any format that `ner data import` reads.")]


@data_app.command("import")
def import_data(
    source: Annotated[Path, typer.Argument(help="A file, or a folder of standoff files.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="The file of span JSONL to write.")],
    *,
    form: FormatOption = None,
    scheme: SchemeOption = None,
) -> None:
    """Write entity data as span JSONL: a text a line, with the characters of its tokens and entities.

    Entities are read as conlleval reads them: a tag that continues nothing starts an entity. How many do is printed.
    """
    from paperscope_lab.ner.examples import write_examples

    found = import_examples(source, form=form, scheme=scheme)
    write_examples(out, found.examples)
    spans = sum(len(example.spans) for example in found.examples)
    kind = f"{found.format}, {found.scheme}" if found.scheme else found.format
    print_text(f"{out}: {len(found.examples)} examples, {spans} entities ({kind})")
    for reason, count in found.counts.items():
        stderr().print(Text(f"! {count} {reason}", style="yellow"))


@data_app.command("export")
def export_data(
    source: Annotated[Path, typer.Argument(help="Gold or predictions of any format that `ner data import` reads.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="The file to write: a token and its tag a line (CoNLL).")],
    *,
    scheme: Annotated[Scheme, typer.Option("--scheme", help="The scheme of the tags.")] = "IOB2",
) -> None:
    """Write entity data in columns: a token and its tag a line, a line -DOCSTART- before each document.

    Entities that tags can't say (off the tokens, or within another) are left out and counted.
    """
    from paperscope_lab.ner.columns import write_columns

    examples = import_examples(source).examples
    lost = write_columns(out, examples, scheme)
    print_text(f"{out}: {len(examples)} sentences")
    if lost:
        stderr().print(Text(f"! {lost} entities that tags can't say", style="yellow"))


@data_app.command("stats")
def show_stats(files: FilesArgument, *, as_json: JsonOption = False) -> None:
    """Count sentences, tokens, entities and duplicates of each file, and what each later file shares with the first."""
    from paperscope_lab.ner.datasets import leakage, stats, with_marks

    imported = {str(file): import_examples(file) for file in files}
    read = {name: found.examples for name, found in imported.items()}
    counted = {name: stats(one.examples, document_marks=one.document_marks) for name, one in imported.items()}
    first = next(iter(read))
    shared = {name: leakage(read[first], examples) for name, examples in read.items() if name != first}
    if as_json:
        document = {
            "files": {name: asdict(one) for name, one in counted.items()},
            "shared": {name: asdict(one) for name, one in shared.items()},
        }
        print_json(json.dumps(document, indent=1, ensure_ascii=False))
        return
    for name, one in counted.items():
        labels = ", ".join(f"{label} {count:,}" for label, count in one.labels.items())
        print_text(f"{name}: {one.examples:,} sentences, {one.tokens:,} tokens, {one.spans:,} entities ({labels})")
        if one.documents:
            print_text(f"  {one.documents:,} documents; {with_marks(one)}")
        print_text(
            f"  {one.without_spans:,} sentences without entities, {one.duplicates:,} with the text of an earlier one, "
            f"{one.overlapping:,} pairs of entities that overlap"
        )
    for name, both in shared.items():
        print_text(
            f"{name}: {both.examples:,} of {both.of_examples:,} texts, {both.documents:,} documents and "
            f"{both.surfaces:,} of {both.of_surfaces:,} entities (text and label) are also in {first}"
        )


@data_app.command("validate")
def validate_data(files: FilesArgument, *, as_json: JsonOption = False) -> None:
    """List what is doubtful in each file, and texts that two files share; exit with 1 if there is anything."""
    from paperscope_lab.ner.datasets import find_problems, leakage

    problems: list[str] = []
    read: list[tuple[Path, list[Example]]] = []
    for file in files:
        found = import_examples(file)
        problems += [f"{file}: {count} {reason}" for reason, count in found.counts.items()]
        problems += [f"{file}: {problem}" for problem in find_problems(found.examples)]
        problems += [
            f"{file}: {both.examples} texts are also in {other}"
            for other, examples in read
            if (both := leakage(examples, found.examples)).examples
        ]
        read.append((file, found.examples))
    if as_json:
        print_json(json.dumps({"problems": problems}, indent=1, ensure_ascii=False))
    else:
        print_text("\n".join(problems) or "no problems")
    raise typer.Exit(1 if problems else 0)


SeedOption = Annotated[int, typer.Option("--seed", help="Seed of resamples and permutations.")]
GoldArgument = Annotated[Path, typer.Argument(help="The gold, in any format that `ner data import` reads.")]
TrainedOption = Annotated[
    Path | None, typer.Option("--trained-on", help="The training data: the run fails if they hold the gold.")
]
SelectedOption = Annotated[
    Path | None,
    typer.Option("--selected-on", help="The data by which a model or epoch was selected: fails if they hold the gold."),
]
TokenizerOption = Annotated[
    Path | None,
    typer.Option("--tokenizer", help="The system's tokenizer.json: the run fails if it doesn't suit the data."),
]


@ner_app.command("eval")
def evaluate_predictions(
    gold: GoldArgument,
    predictions: Annotated[Path, typer.Argument(help="What a system predicted, in the same or another format.")],
    *,
    name: Annotated[str, typer.Option("--name", help="The system's name in the report.")] = "",
    trained_on: TrainedOption = None,
    selected_on: SelectedOption = None,
    tokenizer: TokenizerOption = None,
    scheme: Annotated[
        Scheme | None, typer.Option("--scheme", help="The scheme of the predicted tags; found if it is not given.")
    ] = None,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Write report.json and report.md here.")] = None,
    seed: SeedOption = 0,
    as_json: JsonOption = False,
) -> None:
    """Score predictions by every scorer, with intervals; exit with 1 if a gate fails.

    Gates: an example without a prediction, a prediction of another text or with other tokens, fewer tokens right than
    by always predicting O, gold in the data for training or selection, a tokenizer that doesn't know the script.
    """
    from paperscope_core.codec import to_json
    from paperscope_lab.ner.evaluating import evaluate, markdown
    from paperscope_lab.ner.gates import check_run, read_predictions
    from paperscope_lab.ner.run_records import read_run

    due = import_examples(gold).examples
    joined = read_predictions(predictions, due, scheme=scheme)
    seen = {"training": trained_on, "selection": selected_on}
    failed = joined.failed + check_run(
        due,
        joined.predictions,
        seen={use: import_examples(file).examples for use, file in seen.items() if file},
        tokenizer=tokenizer,
    )
    report = evaluate(
        due,
        joined.predictions,
        system=name or predictions.name,
        tags=joined.tags,
        failed_gates=failed,
        run=read_run(predictions),
        seed=seed,
    )
    _write_reports(out, {"report.json": to_json(report, indent=1), "report.md": markdown(report)})
    if as_json:
        print_json(to_json(report, indent=1))
    else:
        print_text(markdown(report))
    raise typer.Exit(1 if failed else 0)


def _write_reports(folder: Path | None, texts: dict[str, str]) -> None:
    if folder is None:
        return
    with output_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        write_atomically(folder / name, text.encode())


@ner_app.command("audit")
def audit(
    reports: Annotated[list[Path], typer.Argument(help="Reports in Markdown.")],
    *,
    gold: Annotated[
        list[int] | None,
        typer.Option("--gold", min=1, help="A number of gold entities that the report does not state (repeatable)."),
    ] = None,
    data: Annotated[Path | None, typer.Option("--data", help="The data that the report is about, to count.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Recompute a report's figures from its own counts and name what doesn't fit; exit with 1 on a contradiction.

    Reads tables with precision, recall and F1, scikit-learn's text reports, lines such as `Recall: 0.52`, and means
    with a deviation. Counts that are not printed are recovered from rounded figures.
    """
    from paperscope_lab.ner.audit import audit_report
    from paperscope_lab.ner.datasets import stats
    from paperscope_lab.ner.examples import read_lines

    gold_data = import_examples(data) if data else None
    counted = stats(gold_data.examples, document_marks=gold_data.document_marks) if gold_data else None
    found = {
        str(file): audit_report("\n".join(line for _, line in read_lines(file)), gold=gold or (), data=counted)
        for file in reports
    }
    if as_json:
        print_json(json.dumps({name: [asdict(one) for one in listed] for name, listed in found.items()}, indent=1))
    else:
        lines = [f"{name}:{one.line}: {one.kind}: {one.message}" for name, listed in found.items() for one in listed]
        print_text("\n".join(lines) or "nothing found")
    raise typer.Exit(int(any(one.kind == "contradiction" for listed in found.values() for one in listed)))


@ner_app.command("compare")
def compare_systems(
    gold: GoldArgument,
    systems: Annotated[
        list[str],
        typer.Argument(help="Predictions of two or more systems; FILE names itself.", metavar="NAME=FILE..."),
    ],
    *,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Write comparison.json, comparison.md and comparison.png here.")
    ] = None,
    seed: SeedOption = 0,
    as_json: JsonOption = False,
) -> None:
    """Compare systems on the same gold: figures, labels, differences beyond chance, errors, cost; 1 if a gate fails.

    What `ner predict` recorded beside the predictions (FILE.run.json) gives speed, cost and the learning curve.
    """
    from paperscope_core.codec import to_json
    from paperscope_lab.ner.comparison import compare, comparison_markdown, draw
    from paperscope_lab.ner.gates import check_run, read_predictions
    from paperscope_lab.ner.run_records import read_run

    if len(systems) < 2:
        raise InputError("compare needs two or more systems; name them by NAME=FILE")
    due = import_examples(gold).examples
    files = _named_files(systems)
    joined = {name: read_predictions(file, due) for name, file in files.items()}
    failed = {name: [*one.failed, *check_run(due, one.predictions)] for name, one in joined.items()}
    found = compare(
        due,
        {name: one.predictions for name, one in joined.items()},
        runs={name: read_run(file) for name, file in files.items()},
        tags={name: one.tags for name, one in joined.items()},
        failed_gates=failed,
        seed=seed,
    )
    _write_reports(out, {"comparison.json": to_json(found, indent=1), "comparison.md": comparison_markdown(found)})
    if out and find_spec("matplotlib"):
        draw(found, out / "comparison.png")
    elif out:
        stderr().print(Text('no plot: matplotlib is not installed (pip install "paperscope-lab[plots]")', style="dim"))
    if as_json:
        print_json(to_json(found, indent=1))
    else:
        print_text(comparison_markdown(found))
    raise typer.Exit(int(any(failed.values())))


@ner_app.command("report")
def write_report_of(
    form: Annotated[
        Literal["levels", "seeds", "spans", "pair"],
        typer.Argument(
            help="levels: sentences, entities and tokens, with counts. seeds: systems named SEED/NAME, then means. "
            "spans: seqeval by label and nervaluate. pair: two systems, and classes of tokens."
        ),
    ],
    gold: GoldArgument,
    systems: Annotated[
        list[str],
        typer.Argument(
            help="Predictions of the systems; FILE names itself, and a folder of seeds is SEED/NAME.",
            metavar="NAME=FILE...",
        ),
    ],
    *,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="The Markdown file to write.")] = None,
    deviation: Annotated[
        Literal["sample", "population"],
        typer.Option("--deviation", help="seeds: the standard deviation with n - 1 (sample) or n (population)."),
    ] = "sample",
    seed: SeedOption = 0,
) -> None:
    """Report systems in one of four short forms, counted from their predictions; 1 if a prediction is missing."""
    from paperscope_lab.ner.gates import read_predictions
    from paperscope_lab.ner.reports import write_report
    from paperscope_lab.ner.run_records import read_run

    imported = import_examples(gold)
    due = imported.examples
    files = _named_files(systems)
    joined = {name: read_predictions(file, due) for name, file in files.items()}
    text = write_report(
        form,
        due,
        {name: one.predictions for name, one in joined.items()},
        tags={name: one.tags for name, one in joined.items()},
        runs={name: read_run(file) for name, file in files.items()},
        document_marks=imported.document_marks,
        about=_about(gold, files) if form == "pair" else (),
        deviation=deviation,
        seed=seed,
    )
    failed = [f"{name}: {reason}" for name, one in joined.items() for reason in one.failed]
    text = "".join(f"**Gate failed** {reason}\n\n" for reason in failed) + text
    if out:
        write_atomically(out, text.encode())
    else:
        print_text(text)
    raise typer.Exit(int(bool(failed)))


def _about(gold: Path, files: dict[str, Path]) -> list[str]:
    """Return the head of a comparison of two models."""
    models = [f"{number}. {name}: `{file}`" for number, (name, file) in enumerate(files.items(), 1)]
    written = f"{datetime.now(UTC):%Y-%m-%d %H:%M:%S} UTC"
    return ["# Comparison of two models", "", f"**Written:** {written}", "", f"**Dataset:** `{gold}`", "", *models, ""]


def _named_files(systems: list[str]) -> dict[str, Path]:
    """Return the files of systems by their names; those of a folder of seeds by SEED/NAME. Raises InputError."""
    files = {}
    for text in systems:
        name, equals, file = text.partition("=")
        name, path = (name, Path(file)) if equals else (Path(text).name, Path(text))
        seeds = sorted(path.glob("seed-*.jsonl"), key=lambda one: (len(one.name), one.name)) if path.is_dir() else []
        for key, found in {f"{one.stem.removeprefix('seed-')}/{name}": one for one in seeds}.items() or [(name, path)]:
            if key in files:
                raise InputError(f"two systems are named {key}; name them by NAME=FILE")
            files[key] = found
    return files
