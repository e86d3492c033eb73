"""`paperscope ner train|ensemble|predict`: trained recognizers, and what they find."""

import asyncio
import json
import re
import shutil
import time
from collections import Counter
from collections.abc import Callable, Coroutine, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import replace
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from rich.text import Text

from paperscope_core.errors import InputError
from paperscope_core.files import output_errors
from paperscope_lab.cli.progress import progress_bar
from paperscope_lab.ner.formats import FormatName
from paperscope_lab.ner.importing import import_examples
from service.cli.options import ConfigOption, read_settings
from service.cli.terminal import print_text, stderr

if TYPE_CHECKING:
    from ingest.extraction.recognizer.examples import Example
    from ingest.extraction.recognizer.loading import Recognizer
    from paperscope_core.types import ModelCall, Usage
    from paperscope_lab.ner.training import TrainingOptions

    Wait = Callable[[Coroutine[Any, Any, list[Example]]], list[Example]]

__all__ = ["ensemble", "init", "predict", "train"]

# An adapter learns little at the rate of a whole encoder: F1 .391 with 2e-4 and .813 with this, in the same time.
_ADAPTER_RATE = 2e-3
# On JNLPBA, 5e-3 learns next to nothing in five epochs: the table starts far from where it ends.
_TABLE_RATE = 2e-2
Kind = Literal["encoder", "soft-labels", "spacy", "generative", "alpaca"]
_ALWAYS = {"files", "out", "kind"}
_TAGGER = _ALWAYS | {
    *("dev", "seeds", "jobs", "swa", "epochs", "batch", "rate", "dtype", "threads", "device", "no_context"),
    *("weight_decay", "clip", "warm_up", "patience", "outweight", "class_weights", "keep_epochs"),
}
# The options of `train` that each kind of training obeys.
_OBEYED = {
    "encoder": _TAGGER | {"encoder", "rank", "no_case", "freeze"},
    "preset": (_TAGGER | {"preset", "rank", "no_case"}) - {"kind"},
    "soft-labels": _TAGGER | {"encoder", "temperature"},
    "spacy": _ALWAYS | {"dev", "seeds", "jobs", "epochs", "language", "base"},
    "generative": _ALWAYS
    | {"encoder", "seeds", "epochs", "rate", "rank", "form", "labels", "instruction", "dtype", "device"},
    "alpaca": _ALWAYS | {"form", "labels", "instruction"},
}
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


def train(
    context: typer.Context,
    files: Annotated[
        list[Path],
        typer.Argument(
            help="Training data of any format that `ner data import` reads. Files may have different labels: what has "
            "none in one file may be an entity of a label that only another has."
        ),
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="The folder to write; with several seeds, one in it each.")],
    *,
    dev: Annotated[
        Path | None, typer.Option("--dev", help="Data for calibration and a first score; never the test.")
    ] = None,
    kind: Annotated[
        Kind,
        typer.Option(
            "--kind",
            help="encoder: token classification. soft-labels: a table over a frozen encoder. spacy. generative: LoRA "
            "of a language model. alpaca: only the data for one.",
        ),
    ] = "encoder",
    encoder: Annotated[
        str, typer.Option("--encoder", help="A folder or a Hugging Face name (MiniLM, which is installed, if none).")
    ] = "",
    preset: Annotated[
        Literal["papers"] | None,
        typer.Option(
            "--preset", help="papers: the adapter of the local extractor, from SciER, TDMSci and names of other fields."
        ),
    ] = None,
    seeds: Annotated[str, typer.Option("--seeds", help="Seeds such as 1..8 or 1,3.")] = "1",
    jobs: Annotated[int, typer.Option("--jobs", min=1, help="Seeds that are trained at once, a process each.")] = 1,
    swa: Annotated[bool, typer.Option("--swa", help="Average the weights of the second half of training.")] = False,
    epochs: Annotated[int | None, typer.Option("--epochs", min=1)] = None,
    batch: Annotated[int | None, typer.Option("--batch", min=1, help="Texts of a step.")] = None,
    rate: Annotated[float | None, typer.Option("--rate", min=0, help="The highest learning rate.")] = None,
    rank: Annotated[
        int | None, typer.Option("--rank", min=0, help="The rank of an adapter (LoRA); 0 for none.")
    ] = None,
    freeze: Annotated[bool, typer.Option("--freeze", help="Train only what is added to the encoder.")] = False,
    weight_decay: Annotated[float | None, typer.Option("--weight-decay", min=0)] = None,
    clip: Annotated[float | None, typer.Option("--clip", min=0, help="The largest norm of gradients.")] = None,
    warm_up: Annotated[
        float | None, typer.Option("--warm-up", min=0, help="Steps in which the rate rises; below 1, their share.")
    ] = None,
    patience: Annotated[
        int | None, typer.Option("--patience", min=0, help="Stop after so many epochs without a better F1 on --dev.")
    ] = None,
    outweight: Annotated[
        float | None, typer.Option("--outweight", min=0, help="The weight of tokens outside of entities in the loss.")
    ] = None,
    class_weights: Annotated[
        bool, typer.Option("--class-weights", help="Each tag weighs the same in the loss, however frequent.")
    ] = False,
    temperature: Annotated[
        float | None, typer.Option("--temperature", min=0.01, help="Divides the scores of soft labels in the loss.")
    ] = None,
    keep_epochs: Annotated[
        str, typer.Option("--keep-epochs", help="Write the tagger after these epochs, too (20,50), as epoch-N.")
    ] = "",
    no_case: Annotated[bool, typer.Option("--no-case", help="No embedding of case (for cased encoders).")] = False,
    no_context: Annotated[bool, typer.Option("--no-context", help="Read each text without its neighbours.")] = False,
    dtype: Annotated[
        Literal["float32", "bfloat16"] | None,
        typer.Option("--dtype", help="bfloat16, that of --kind generative, is faster where there is hardware for it."),
    ] = None,
    threads: Annotated[
        int, typer.Option("--threads", min=1, help="Results repeat to the bit for the same number.")
    ] = 1,
    device: DeviceOption = "auto",
    language: Annotated[str, typer.Option("--language", help="spaCy's code of the language.")] = "xx",
    base: Annotated[
        str, typer.Option("--base", help="spaCy's installed pipeline that is trained further, such as en_core_web_md.")
    ] = "",
    form: FormOption = "bracketed",
    labels: LabelsOption = None,
    instruction: InstructionOption = None,
) -> None:
    """Train a recognizer. Run again, an interrupted training of an encoder or a table continues from the last epoch."""
    _check_options(context, kind, preset)
    from paperscope_lab.ner.gates import check_seen

    corpora: list[Sequence[Example]] = [import_examples(file).examples for file in files]
    examples = [example for corpus in corpora for example in corpus]
    if kind == "alpaca":
        from paperscope_lab.ner.formats import write_alpaca

        write_alpaca(out, examples, form, _meanings(labels, examples), _text(instruction))
        print_text(f"{out}: {len(examples)} records")
        return
    if preset:
        from paperscope_lab.ner.training import papers_corpora

        corpora = papers_corpora(corpora)
    held_out = import_examples(dev).examples if dev else []
    if kind in ("encoder", "soft-labels") and not held_out:
        raise InputError(f"--kind {kind} needs --dev, on which its confidence is calibrated")
    wished = {"epochs": epochs, "rate": rate, "rank": rank, "batch": batch}
    tuned = {"weight_decay": weight_decay, "clip": clip, "warm_up": warm_up, "patience": patience}
    tuned |= {"outweight": outweight, "temperature": temperature}
    given: dict[str, Any] = {name: value for name, value in wished.items() if value is not None}
    options = _options(preset, encoder, kind, given | {name: one for name, one in tuned.items() if one is not None})
    options = replace(
        options,
        swa=swa,
        case=not no_case,
        context=not no_context,
        freeze=freeze,
        class_weights=class_weights,
        keep_epochs=tuple(_seeds(keep_epochs, "--keep-epochs")) if keep_epochs else (),
        dtype=dtype or "float32",
        threads=threads,
        device=_device(device),
    )
    for reason in check_seen(held_out, {"training": examples}):
        stderr().print(Text(f"! --dev {dev}: {reason}", style="yellow"))
    numbers = _seeds(seeds)
    work: list[tuple[Path, Callable[..., dict[str, Any]]]] = []
    for seed in numbers:
        folder = out if len(numbers) == 1 else out / f"seed-{seed}"
        if kind == "spacy":
            from paperscope_lab.ner.spacy_tagger import SpacyOptions, train_spacy

            spacy = SpacyOptions(language=language, base=base, seed=seed, **({"epochs": epochs} if epochs else {}))
            work.append((folder, partial(train_spacy, examples, held_out, spacy, folder)))
        elif kind == "generative":
            from paperscope_lab.ner.generative import GenerativeOptions, train_generative

            recipe = GenerativeOptions(model=encoder, form=form, seed=seed, device=_device(device))
            chosen: dict[str, Any] = {"instruction": _text(instruction)} | ({"dtype": dtype} if dtype else {})
            recipe = replace(recipe, **chosen, **{name: value for name, value in given.items() if name != "batch"})
            work.append((folder, partial(train_generative, examples, _meanings(labels, examples), recipe, folder)))
        else:
            work.append((folder, partial(_train_tagger, corpora, held_out, replace(options, seed=seed), folder)))
    _summarise(_train_all(work, jobs=jobs))


def _train_all(work: "Sequence[tuple[Path, Callable[..., dict[str, Any]]]]", *, jobs: int) -> list[dict[str, Any]]:
    """Run trainings, `jobs` of them at once, and report each; return their manifests."""
    manifests = []
    if jobs == 1:
        for folder, training in work:
            with _progress(folder.name) as step:
                manifests.append(training(on_progress=step))
            _report(folder, manifests[-1])
        return manifests
    # A forked process would share the state of PyTorch's threads.
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        running = [pool.submit(training) for _, training in work]
        for (folder, _), one in zip(work, running, strict=True):
            manifests.append(one.result())
            _report(folder, manifests[-1])
    return manifests


def _check_options(context: typer.Context, kind: Kind, preset: str | None) -> None:
    """Raise InputError if an option is given that this kind of training does not obey, or lacks one that it needs."""
    wish = f"--preset {preset}" if preset else f"--kind {kind}"
    _refuse_others(context, _OBEYED["preset" if preset else kind], wish)
    if kind == "generative" and not context.params["encoder"]:
        raise InputError("--kind generative needs --encoder, the language model that it adapts")


def _refuse_others(context: typer.Context, obeyed: set[str], wish: str) -> None:
    """Raise InputError if another option than those obeyed is given."""
    sources = {name: context.get_parameter_source(name) for name in sorted(context.params)}
    given = [name for name, source in sources.items() if source and source.name != "DEFAULT"]
    if unused := [f"--{name.replace('_', '-')}" for name in given if name not in obeyed]:
        raise InputError(f"{wish} does not use {', '.join(unused)}")


def _train_tagger(
    corpora: "Sequence[Sequence[Example]]",
    dev: "Sequence[Example]",
    options: "TrainingOptions",
    folder: Path,
    on_progress: Callable[[int, int, float], None] = lambda *_: None,
) -> dict[str, Any]:
    from paperscope_lab.ner.training import finished, train_tagger

    found = finished(corpora, dev, options, folder)
    return found or train_tagger(corpora, dev, options, folder, on_progress=on_progress)


def _options(preset: str | None, encoder: str, kind: Kind, given: dict[str, Any]) -> "TrainingOptions":
    from paperscope_lab.ner.training import PAPERS, TrainingOptions

    if preset:
        return replace(PAPERS, **given)
    if kind == "soft-labels":  # its table is new, and nothing else is trained
        given = {**given, "new_rate": given.get("rate", _TABLE_RATE)}
    elif given.get("rank"):
        given = {"rate": _ADAPTER_RATE, **given}
    return TrainingOptions(encoder=encoder, table=kind == "soft-labels", **given)


def _report(folder: Path, manifest: dict[str, Any]) -> None:
    score = manifest.get("dev_f1_strict")
    kept = manifest.get("options", {}).get("keep_epochs", ())
    for one in manifest.get("history", ()):
        if one["epoch"] in kept:
            shown = ", ".join(f"{name} {one[f'dev_{name}']:.4f}" for name in ("precision", "recall", "f1"))
            print_text(f"{folder / 'epoch-'}{one['epoch']}: on dev {shown}")
    figures = "" if score is None else f": entity F1 (offsets and label) on dev {score:.4f}"
    print_text(f"{folder}{figures}")


def _summarise(manifests: Sequence[dict[str, Any]]) -> None:
    from paperscope_lab.statistics import mean_and_deviation

    scores = [manifest["dev_f1_strict"] for manifest in manifests if "dev_f1_strict" in manifest]
    if len(scores) > 1:
        print_text(f"entity F1 (offsets and label) on dev: {mean_and_deviation(scores)}")


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
        _refuse_others(context, _PREDICTED, f"--system {system}")
    seeds = _seed_folders(system) if system else {}
    if (out.is_dir() and not seeds) or not out.parent.is_dir():  # found before a model is paid
        raise InputError("no file can be written here; name one in a folder that exists", where=out)
    examples = _texts(files) if text else [one for file in files for one in import_examples(file).examples]
    if repeated := repeated_id(examples):
        raise InputError(f"two texts have the id {repeated!r}; read their files one at a time")
    if system is not None:
        from ingest.extraction.recognizer.loading import load_recognizer

        if seeds:
            with output_errors(out):
                out.mkdir(exist_ok=True)
        for name, folder in (seeds or {"": system}).items():
            recognizer = load_recognizer(folder, device=_device(device))
            file = out / f"{name}.jsonl" if name else out
            _predict(recognizer, asyncio.run, examples, file, system=folder, curve=curve)
        return
    calls = out.with_name(f".{out.name}.calls")
    continued = calls.exists()
    told = _text(instruction)
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


def _text(file: Path | None) -> str:
    """Return the text of a file; "" if none is given. Raises InputError."""
    return _texts([file])[0].text.strip() if file else ""


def _texts(files: Sequence[Path]) -> "list[Example]":
    from ingest.extraction.recognizer.examples import Example

    found = []
    for file in files:
        try:
            text = file.read_text(encoding="utf-8-sig")
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(f"{file}: can't be read ({error}); name a text file in UTF-8") from error
        found.append(Example(id=str(file), text=text, tokens=(), spans=()))
    return found


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
    meanings = _meanings(labels, examples)
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
        _combine(systems, examples, out, vote=vote, device=_device(device))
        return
    common = [name for name in seeds[0] if all(name in one for one in seeds)]
    if not common:
        raise InputError(f"no seed is in all of {', '.join(map(str, systems))}; train them with the same --seeds")
    with output_errors(out):
        out.mkdir(exist_ok=True)
    scores = [
        _combine([one[name] for one in seeds], examples, out / f"{name}.jsonl", vote=vote, device=_device(device))
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


def init(
    kind: Annotated[
        Literal["characters", "pieces", "language-model"],
        typer.Argument(
            help="characters: an encoder, each character a piece. pieces: an encoder with word pieces. language-model: "
            "a tiny one, to try --kind generative."
        ),
    ],
    files: Annotated[
        list[Path] | None, typer.Argument(help="The training data, of any format: an encoder's pieces are theirs.")
    ] = None,
    *,
    out: Annotated[Path, typer.Option("--out", "-o", help="The folder to write, for `ner train --encoder`.")],
    pieces: Annotated[int, typer.Option("--pieces", min=1, help="The most word pieces.")] = 3000,
    hidden: Annotated[int, typer.Option("--hidden", min=2, help="Hidden values, for an encoder in 32s.")] = 192,
    layers: Annotated[int, typer.Option("--layers", min=1)] = 3,
    seed: Annotated[int, typer.Option("--seed", help="Seed of the weights.")] = 1,
) -> None:
    """Write a small model with random weights: an encoder for a script that no installed one knows, or a trial."""
    from paperscope_lab.ner.new_models import write_encoder, write_language_model

    if kind == "language-model":
        count = write_language_model(out, hidden=hidden, layers=layers, seed=seed)
    else:
        texts = [example.text for file in files or () for example in import_examples(file).examples]
        if not texts:
            raise InputError("an encoder needs texts; name the training data")
        number = pieces if kind == "pieces" else 0
        count = write_encoder(out, texts, pieces=number, hidden=hidden, layers=layers, seed=seed)
    print_text(f"{out}: {count} pieces, {layers} layers")


def _device(name: Device) -> str:
    """Return the device that `auto` means; another name as it is. Raises InputError."""
    import torch

    available = torch.cuda.is_available()
    if name == "cuda" and not available:
        raise InputError("--device cuda: PyTorch finds no GPU; use cpu or auto")
    return ("cuda" if available else "cpu") if name == "auto" else name


def _seeds(text: str, option: str = "--seeds") -> list[int]:
    """Return the numbers that `1..8` or `1,3` means. Raises InputError."""
    if match := re.fullmatch(r"(\d+)\.\.(\d+)", text):
        found = list(range(int(match[1]), int(match[2]) + 1))
    else:
        found = [int(part) for part in text.split(",") if part.strip().isdigit()]
    if not found or (not match and len(found) != len(text.split(","))):
        raise InputError(f"{option} {text}: no {option[2:]}; give some such as 1..8 or 1,3")
    return list(dict.fromkeys(found))


def _meanings(file: Path | None, examples: "Sequence[Example]") -> dict[str, str]:
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


@contextmanager
def _progress(name: str) -> Iterator[Callable[[int, int, float], None]]:
    with progress_bar(name) as bar:
        task = bar.add_task("", total=None)
        yield lambda done, total, loss: bar.update(task, completed=done, total=total, description=f"loss {loss:.3f}")
