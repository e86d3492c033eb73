"""`paperscope ner predict|ensemble`: recognizers, and what they find; options that training shares."""

import asyncio
import json
import re
import shutil
import time
from collections import Counter
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from rich.text import Text

from paperscope_core.errors import InputError
from paperscope_core.files import output_errors
from paperscope_lab.ner.formats import FormatName
from paperscope_lab.ner.importing import import_examples
from service.cli.options import ConfigOption, read_settings
from service.cli.terminal import print_text, stderr

if TYPE_CHECKING:
    from ingest.extraction.recognizer.examples import Example
    from ingest.extraction.recognizer.loading import Recognizer
    from paperscope_core.types import ModelCall, Usage

    Wait = Callable[[Coroutine[Any, Any, list[Example]]], list[Example]]

__all__ = [
    "Device",
    "DeviceOption",
    "FormOption",
    "InstructionOption",
    "LabelsOption",
    "device_of",
    "ensemble",
    "meanings_of",
    "numbers_of",
    "predict",
    "read_text",
    "refuse_others",
]

# Those of `predict` that a trained recognizer obeys.
_PREDICTED = {"files", "out", "system", "text", "device", "curve", "config"}


OutFile = Annotated[Path, typer.Option("--out", "-o", help="The file of span JSONL to write.")]
Device = Literal["auto", "cpu", "cuda"]
DeviceOption = Annotated[Device, typer.Option("--device", help="auto: a GPU if there is one.")]
LabelsOption = Annotated[
    Path | None,
    typer.Option("--labels", help="A JSON object: what each label means. Without it, the names of the labels."),
]
InstructionOption = Annotated[
    Path | None, typer.Option("--instruction", help="A text file: what the model is told, in place of our own words.")
]
FormOption = Annotated[FormatName, typer.Option("--form", help="The format of a language model's replies.")]


def predict(
    context: typer.Context,
    files: Annotated[list[Path], typer.Argument(help="Data of any format, or with --text plain texts.")],
    out: OutFile,
    *,
    system: Annotated[
        Path | None,
        typer.Option(
            "--system",
            "-s",
            help="A folder that `ner train` wrote (of several seeds: --out is then a folder, too), or papers for the "
            "installed one.",
        ),
    ] = None,
    labels: LabelsOption = None,
    shots: Annotated[
        Path | None, typer.Option("--shots", help="Examples for the language model; at most --shown of them are used.")
    ] = None,
    shown: Annotated[int, typer.Option("--shown", min=0, help="The number of examples that it is shown.")] = 5,
    form: FormOption = "bracketed",
    instruction: InstructionOption = None,
    texts_per_call: Annotated[
        int, typer.Option("--texts-per-call", min=1, help="The most texts of one request to the language model.")
    ] = 1,
    text: Annotated[bool, typer.Option("--text", help="Each file is one plain text.")] = False,
    device: DeviceOption = "auto",
    curve: Annotated[
        str | None,
        typer.Option("--curve", help="The run's learning curve in `ner compare`; if none, that of equal options."),
    ] = None,
    config: ConfigOption = None,
) -> None:
    """Find entities by a trained recognizer, or without --system by the language model of the role `extract`."""
    from paperscope_lab.ner.examples import repeated_id

    if system is not None:
        refuse_others(context, _PREDICTED, f"--system {system}")
    seeds = _seed_folders(system) if system else {}
    if (out.is_dir() and not seeds) or not out.parent.is_dir():  # found before a model is paid
        raise InputError("no file can be written here; name one in a folder that exists", where=out)
    examples = read_texts(files) if text else [one for file in files for one in import_examples(file).examples]
    if repeated := repeated_id(examples):
        raise InputError(f"two texts have the id {repeated!r}; read their files one at a time")
    if system is not None:
        from ingest.extraction.recognizer.loading import load_recognizer

        if seeds:
            with output_errors(out):
                out.mkdir(exist_ok=True)
        for name, folder in (seeds or {"": system}).items():
            recognizer = load_recognizer(folder, device=device_of(device))
            file = out / f"{name}.jsonl" if name else out
            _predict(recognizer, asyncio.run, examples, file, system=folder, curve=curve)
        return
    calls = out.with_name(f".{out.name}.calls")
    continued = calls.exists()
    told = read_text(instruction)
    with _language_model(
        calls, config, labels, shots=shots, shown=shown, form=form, instruction=told, texts_per_call=texts_per_call
    ) as (asked, wait):
        _predict(asked, wait, examples, out, system=None, curve=curve, continued=continued)


def _predict(
    recognizer: "Recognizer",
    wait: "Wait",
    examples: "Sequence[Example]",
    out: Path,
    *,
    system: Path | None,
    curve: str | None,
    continued: bool = False,
) -> None:
    """Write what a recognizer finds, and the record of the run; print what became of it."""
    from paperscope_lab.ner.examples import write_examples
    from paperscope_lab.ner.run_records import RunRecord, train_examples, training_recipe, write_run

    started = time.perf_counter()
    found = wait(recognizer.recognize(examples))
    seconds = round(time.perf_counter() - started, 3)
    write_examples(out, found)
    usage: Usage | None = getattr(recognizer, "usage", None)
    outcomes = Counter[str](getattr(recognizer, "outcomes", ()))
    failures = sum(example.failure is not None for example in found)
    record = RunRecord(
        seconds=None if continued else seconds,
        calls=usage.calls + usage.cached if usage else None,
        cost=(usage.cost or None) if usage and not continued else None,
        failures=failures,
        outcomes=dict(outcomes),
        train_examples=train_examples(system) if system else None,
        curve=curve if curve is not None else training_recipe(system) if system else "",
    )
    write_run(out, record)
    spans = sum(len(example.spans) for example in found)
    print_text(f"{out}: {len(found)} texts, {spans} entities, {failures} failures ({recognizer.name})")
    if usage:
        print_text(str(usage) if usage.cost else f"{str(usage).rpartition(', ')[0]}, price not known")
    for outcome, count in outcomes.items():
        stderr().print(Text(f"! {count} {outcome}" if outcome != "exact" else f"  {count} exact", style="yellow"))


def _seed_folders(system: Path) -> dict[str, Path]:
    """Return the trainings with several seeds in a folder, by their names `seed-N`."""
    return {one.name: one for one in sorted(system.glob("seed-*"), key=lambda one: (len(one.name), one.name))}


@contextmanager
def _language_model(
    calls: Path,
    config: Path | None,
    labels: Path | None,
    *,
    shots: Path | None,
    shown: int,
    form: FormatName,
    instruction: str,
    texts_per_call: int,
) -> "Iterator[tuple[Recognizer, Wait]]":
    """Return a recognizer that asks the language model of the role `extract`, and what runs its work.

    The model's replies are stored in the folder `calls` until the block ends and the server failed for no text, so that
    the same command continues one that was stopped. Their number is shown.

    Raises:
        InputError, OutputError, StoreError: An option or the folder can't be used.
    """
    from graph_store import Store
    from paperscope.event_loop import EventLoopThread
    from paperscope_core.files import create_private_folder
    from paperscope_core.models.build import build_model
    from paperscope_lab.ner.language_model import LanguageModelRecognizer

    settings = read_settings(config=config)
    if not settings.extract.configured:
        raise InputError("no --system, and no model of the role extract is configured; give one of them")
    examples = import_examples(shots).examples if shots else []
    meanings = meanings_of(labels, examples)
    if not meanings:
        raise InputError("a language model needs labels; give --labels or --shots")
    with output_errors(calls):
        create_private_folder(calls)
    replies = 0

    def count(call: "ModelCall") -> None:
        nonlocal replies
        replies += call.outcome in ("answered", "kept")
        status.update(Text(f"{replies} replies …"))

    with closing(Store.open(calls)) as store, stderr().status("") as status:
        if (model := build_model(settings.extract, store, calls=settings.calls, on_call=count)) is None:
            raise AssertionError("the model is configured")
        loop = EventLoopThread()
        try:
            recognizer = LanguageModelRecognizer(
                model,
                meanings,
                form=form,
                shots=examples[:shown],
                instruction=instruction,
                texts_per_call=texts_per_call,
            )
            yield recognizer, loop.wait
        finally:
            loop.close(model.drain)
    if recognizer.unanswered:
        stderr().print(Text(f"! {recognizer.unanswered} requests failed; the same command asks again", style="yellow"))
    else:
        shutil.rmtree(calls, ignore_errors=True)


def ensemble(
    systems: Annotated[
        list[Path],
        typer.Argument(
            help="Folders of encoders that `ner train` wrote; with --vote also predictions. Those of several seeds are "
            "combined seed by seed, and --out is a folder."
        ),
    ],
    data: Annotated[Path, typer.Option("--data", "-d", help="The texts; their entities, if any, score the result.")],
    out: OutFile,
    *,
    vote: Annotated[bool, typer.Option("--vote", help="Keep what most systems find, in place of mean scores.")] = False,
    device: DeviceOption = "auto",
) -> None:
    """Combine recognizers: the mean of their scores over the parts of words that any of them tells apart, or votes."""
    from paperscope_lab.statistics import mean_and_deviation

    examples = import_examples(data).examples
    seeds = [_seed_folders(system) for system in systems]
    if not any(seeds):
        _combine(systems, examples, out, vote=vote, device=device_of(device))
        return
    common = [name for name in seeds[0] if all(name in one for one in seeds)]
    if not common:
        raise InputError(f"no seed is in all of {', '.join(map(str, systems))}; train them with the same --seeds")
    with output_errors(out):
        out.mkdir(exist_ok=True)
    scores = [
        _combine([one[name] for one in seeds], examples, out / f"{name}.jsonl", vote=vote, device=device_of(device))
        for name in common
    ]
    if any(example.spans for example in examples):
        print_text(f"ensembles: {mean_and_deviation(scores)}")


def _combine(systems: "Sequence[Path]", examples: "Sequence[Example]", out: Path, *, vote: bool, device: str) -> float:
    """Write what systems find together, and print scores if the texts have entities; return the entity F1."""
    from ingest.extraction.recognizer.encoder_tagger import EncoderTagger
    from ingest.extraction.recognizer.loading import load_recognizer
    from paperscope_lab.ner.ensemble import ScoreEnsemble
    from paperscope_lab.ner.ensemble import vote as vote_on
    from paperscope_lab.ner.examples import write_examples
    from paperscope_lab.ner.scoring import entity_f1
    from paperscope_lab.statistics import mean_and_deviation

    def predictions(system: Path) -> "list[Example]":
        if system.is_file():
            return _predicted(system, examples)
        return asyncio.run(load_recognizer(system, device=device).recognize(examples))

    scored = any(example.spans for example in examples)
    if vote:
        alone = [predictions(system) for system in systems]
        found = vote_on(alone)
    else:
        taggers = []
        for system in systems:
            tagger = None if system.is_file() else load_recognizer(system, device=device)
            if not isinstance(tagger, EncoderTagger):
                raise InputError("it has no scores to average; count votes by --vote", where=system)
            taggers.append(tagger)
        alone = [tagger.tag(examples) for tagger in taggers] if scored else []
        found = ScoreEnsemble(taggers).tag(examples)
    write_examples(out, found)
    print_text(f"{out}: {len(found)} texts, {sum(len(example.spans) for example in found)} entities")
    together = entity_f1(examples, found)
    if scored:
        print_text("entity F1 (offsets and label):")
        scores = [entity_f1(examples, one) for one in alone]
        for system, score in zip(systems, scores, strict=True):
            print_text(f"{system}: {score:.4f}")
        print_text(f"alone: {mean_and_deviation(scores)}")
        print_text(f"ensemble: {together:.4f}")
    return together


def _predicted(file: Path, examples: "Sequence[Example]") -> "list[Example]":
    """Return the predictions of a file for these texts. Raises InputError if it has not one for each."""
    from paperscope_lab.ner.gates import read_predictions

    joined = read_predictions(file, examples)
    if joined.failed:
        raise InputError(joined.failed[0], where=file)
    return joined.predictions


def refuse_others(context: typer.Context, obeyed: set[str], wish: str) -> None:
    """Raise InputError if another option than those obeyed is given."""
    sources = {name: context.get_parameter_source(name) for name in sorted(context.params)}
    given = [name for name, source in sources.items() if source and source.name != "DEFAULT"]
    if unused := [f"--{name.replace('_', '-')}" for name in given if name not in obeyed]:
        raise InputError(f"{wish} does not use {', '.join(unused)}")


def read_text(file: Path | None) -> str:
    """Return the text of a file; "" if none is given. Raises InputError."""
    return read_texts([file])[0].text.strip() if file else ""


def read_texts(files: Sequence[Path]) -> "list[Example]":
    """Return files of plain text as examples. Raise InputError."""
    from ingest.extraction.recognizer.examples import Example

    found = []
    for file in files:
        try:
            text = file.read_text(encoding="utf-8-sig")
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(f"{file}: can't be read ({error}); name a text file in UTF-8") from error
        found.append(Example(id=str(file), text=text, tokens=(), spans=()))
    return found


def device_of(name: Device) -> str:
    """Return the device that `auto` means; another name as it is. Raises InputError."""
    import torch

    available = torch.cuda.is_available()
    if name == "cuda" and not available:
        raise InputError("--device cuda: PyTorch finds no GPU; use cpu or auto")
    return ("cuda" if available else "cpu") if name == "auto" else name


def numbers_of(text: str, option: str = "--seeds") -> list[int]:
    """Return the numbers that `1..8` or `1,3` means. Raises InputError."""
    if match := re.fullmatch(r"(\d+)\.\.(\d+)", text):
        found = list(range(int(match[1]), int(match[2]) + 1))
    else:
        found = [int(part) for part in text.split(",") if part.strip().isdigit()]
    if not found or (not match and len(found) != len(text.split(","))):
        raise InputError(f"{option} {text}: no {option[2:]}; give some such as 1..8 or 1,3")
    return list(dict.fromkeys(found))


def meanings_of(file: Path | None, examples: "Sequence[Example]") -> dict[str, str]:
    """Return what each label means, by a file of JSON or else by nothing. Raise InputError."""
    used = sorted({span.label for example in examples for span in example.spans})
    if file is None:
        return dict.fromkeys(used, "")
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"--labels {file}: can't be read ({error}); name a file of JSON") from error
    if not isinstance(found, dict) or not all(isinstance(value, str) for value in found.values()):
        raise InputError(f"--labels {file}: not a JSON object of texts")
    if missing := [label for label in used if label not in found]:
        raise InputError(f"--labels {file}: it lacks {', '.join(missing)}")
    return found
