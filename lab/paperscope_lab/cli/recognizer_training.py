"""`paperscope ner init|train`: trains recognizers of every kind."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from rich.text import Text

from paperscope_core.errors import InputError
from paperscope_lab.cli.progress import progress_bar
from paperscope_lab.cli.recognizers import (
    DeviceOption,
    FormOption,
    InstructionOption,
    LabelsOption,
    device_of,
    meanings_of,
    numbers_of,
    read_text,
    refuse_others,
)
from paperscope_lab.ner.formats import FormatName
from paperscope_lab.ner.importing import import_examples
from service.cli.terminal import print_text, stderr

if TYPE_CHECKING:
    from ingest.extraction.recognizer.examples import Example
    from paperscope_lab.ner.training_options import TrainingOptions

__all__ = ["init", "train"]

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
Training = Callable[..., dict[str, Any]]
DataArgument = Annotated[
    list[Path],
    typer.Argument(
        help="Training data of any format that `ner data import` reads. Files may have different labels: what has none "
        "in one file may be an entity of a label that only another has."
    ),
]
OutFolder = Annotated[
    Path, typer.Option("--out", "-o", help="The folder to write; with several seeds, one in it each.")
]
DevOption = Annotated[
    Path | None, typer.Option("--dev", help="Data for calibration and a first score; never the test.")
]
KindOption = Annotated[
    Kind,
    typer.Option(
        "--kind",
        help="encoder: token classification. soft-labels: a table over a frozen encoder. spacy. generative: LoRA of a "
        "language model. alpaca: only the data for one.",
    ),
]
EncoderOption = Annotated[
    str, typer.Option("--encoder", help="A folder or a Hugging Face name (MiniLM, which is installed, if none).")
]
Preset = Literal["papers"]
PresetOption = Annotated[
    Preset | None,
    typer.Option(
        "--preset", help="papers: the adapter of the local extractor, from SciER, TDMSci and names of other fields."
    ),
]
SeedsOption = Annotated[str, typer.Option("--seeds", help="Seeds such as 1..8 or 1,3.")]
JobsOption = Annotated[int, typer.Option("--jobs", min=1, help="Seeds that are trained at once, a process each.")]
SwaOption = Annotated[bool, typer.Option("--swa", help="Average the weights of the second half of training.")]
EpochsOption = Annotated[int | None, typer.Option("--epochs", min=1)]
BatchOption = Annotated[int | None, typer.Option("--batch", min=1, help="Texts of a step.")]
RateOption = Annotated[float | None, typer.Option("--rate", min=0, help="The highest learning rate.")]
RankOption = Annotated[int | None, typer.Option("--rank", min=0, help="The rank of an adapter (LoRA); 0 for none.")]
FreezeOption = Annotated[bool, typer.Option("--freeze", help="Train only what is added to the encoder.")]
DecayOption = Annotated[float | None, typer.Option("--weight-decay", min=0)]
ClipOption = Annotated[float | None, typer.Option("--clip", min=0, help="The largest norm of gradients.")]
WarmUpOption = Annotated[
    float | None, typer.Option("--warm-up", min=0, help="Steps in which the rate rises; below 1, their share.")
]
PatienceOption = Annotated[
    int | None, typer.Option("--patience", min=0, help="Stop after so many epochs without a better F1 on --dev.")
]
OutweightOption = Annotated[
    float | None, typer.Option("--outweight", min=0, help="The weight of tokens outside of entities in the loss.")
]
ClassWeightsOption = Annotated[
    bool, typer.Option("--class-weights", help="Each tag weighs the same in the loss, however frequent.")
]
TemperatureOption = Annotated[
    float | None, typer.Option("--temperature", min=0.01, help="Divides the scores of soft labels in the loss.")
]
KeepEpochsOption = Annotated[
    str, typer.Option("--keep-epochs", help="Write the tagger after these epochs, too (20,50), as epoch-N.")
]
NoCaseOption = Annotated[bool, typer.Option("--no-case", help="No embedding of case (for cased encoders).")]
NoContextOption = Annotated[bool, typer.Option("--no-context", help="Read each text without its neighbours.")]
DtypeOption = Annotated[
    Literal["float32", "bfloat16"] | None,
    typer.Option("--dtype", help="bfloat16, that of --kind generative, is faster where there is hardware for it."),
]
ThreadsOption = Annotated[int, typer.Option("--threads", min=1, help="Results repeat to the bit for the same number.")]
LanguageOption = Annotated[str, typer.Option("--language", help="spaCy's code of the language.")]
BaseOption = Annotated[
    str, typer.Option("--base", help="spaCy's installed pipeline that is trained further, such as en_core_web_md.")
]


def train(
    context: typer.Context,
    files: DataArgument,
    out: OutFolder,
    *,
    dev: DevOption = None,
    kind: KindOption = "encoder",
    encoder: EncoderOption = "",
    preset: PresetOption = None,
    seeds: SeedsOption = "1",
    jobs: JobsOption = 1,
    swa: SwaOption = False,
    epochs: EpochsOption = None,
    batch: BatchOption = None,
    rate: RateOption = None,
    rank: RankOption = None,
    freeze: FreezeOption = False,
    weight_decay: DecayOption = None,
    clip: ClipOption = None,
    warm_up: WarmUpOption = None,
    patience: PatienceOption = None,
    outweight: OutweightOption = None,
    class_weights: ClassWeightsOption = False,
    temperature: TemperatureOption = None,
    keep_epochs: KeepEpochsOption = "",
    no_case: NoCaseOption = False,
    no_context: NoContextOption = False,
    dtype: DtypeOption = None,
    threads: ThreadsOption = 1,
    device: DeviceOption = "auto",
    language: LanguageOption = "xx",
    base: BaseOption = "",
    form: FormOption = "bracketed",
    labels: LabelsOption = None,
    instruction: InstructionOption = None,
) -> None:
    """Train a recognizer. Run again, an interrupted training of an encoder or a table continues from the last epoch."""
    _check_options(context, kind, preset)
    corpora = [import_examples(file).examples for file in files]
    told = read_text(instruction)
    shared = {"epochs": epochs, "rate": rate, "rank": rank, "device": device_of(device), "dtype": dtype}
    if kind == "alpaca":
        _write_alpaca(out, _joined(corpora), form, labels, told)
        return
    train_seed: Callable[[int, Path], Training]
    if kind == "generative":
        recipe = {**shared, "model": encoder, "form": form, "instruction": told}
        train_seed = _generative_training(_joined(corpora), labels, recipe)
    elif kind == "spacy":
        train_seed = _spacy_training(_joined(corpora), _held_out(dev, corpora), language, base, epochs)
    else:
        tuned: dict[str, Any] = {
            "batch": batch,
            "weight_decay": weight_decay,
            "clip": clip,
            "warm_up": warm_up,
            "patience": patience,
        }
        tuned |= {"outweight": outweight, "temperature": temperature, "swa": swa, "freeze": freeze}
        tuned |= {"case": not no_case, "context": not no_context, "class_weights": class_weights, "threads": threads}
        tuned["keep_epochs"] = tuple(numbers_of(keep_epochs, "--keep-epochs")) if keep_epochs else ()
        options = _options(preset, encoder, kind, _given(shared | tuned))
        train_seed = _tagger_training(corpora, dev, options, kind, preset)
    numbers = numbers_of(seeds)
    folders = {seed: out if len(numbers) == 1 else out / f"seed-{seed}" for seed in numbers}
    _summarise(_train_all([(folder, train_seed(seed, folder)) for seed, folder in folders.items()], jobs=jobs))


Corpora = Sequence[Sequence["Example"]]


def _joined(corpora: Corpora) -> "list[Example]":
    return [example for corpus in corpora for example in corpus]


def _given(options: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in options.items() if value is not None}


def _write_alpaca(
    out: Path, examples: "Sequence[Example]", form: FormatName, labels: Path | None, instruction: str
) -> None:
    from paperscope_lab.ner.formats import write_alpaca

    write_alpaca(out, examples, form, meanings_of(labels, examples), instruction)
    print_text(f"{out}: {len(examples)} records")


def _held_out(dev: Path | None, corpora: Corpora) -> "list[Example]":
    """Return the dev data, and warn of what they share with the training data."""
    from paperscope_lab.ner.gates import check_seen

    examples = import_examples(dev).examples if dev else []
    for reason in check_seen(examples, {"training": _joined(corpora)}):
        stderr().print(Text(f"! --dev {dev}: {reason}", style="yellow"))
    return examples


def _generative_training(
    examples: "Sequence[Example]", labels: Path | None, recipe: Mapping[str, Any]
) -> Callable[[int, Path], Training]:
    from paperscope_lab.ner.generative import GenerativeOptions, train_generative

    meanings = meanings_of(labels, examples)

    def training(seed: int, folder: Path) -> Training:
        return partial(train_generative, examples, meanings, GenerativeOptions(**_given(recipe), seed=seed), folder)

    return training


def _spacy_training(
    examples: "Sequence[Example]", dev: "Sequence[Example]", language: str, base: str, epochs: int | None
) -> Callable[[int, Path], Training]:
    from paperscope_lab.ner.spacy_tagger import SpacyOptions, train_spacy

    def training(seed: int, folder: Path) -> Training:
        options = SpacyOptions(**_given({"language": language, "base": base, "epochs": epochs, "seed": seed}))
        return partial(train_spacy, examples, dev, options, folder)

    return training


def _tagger_training(
    corpora: Corpora, dev: Path | None, options: "TrainingOptions", kind: Kind, preset: Preset | None
) -> Callable[[int, Path], Training]:
    from paperscope_lab.ner.training_data import papers_corpora

    learned = papers_corpora(corpora) if preset else corpora
    held_out = _held_out(dev, corpora)
    if not held_out:
        raise InputError(f"--kind {kind} needs --dev, on which its confidence is calibrated")
    return lambda seed, folder: partial(_train_tagger, learned, held_out, replace(options, seed=seed), folder)


def _train_all(work: Sequence[tuple[Path, Training]], *, jobs: int) -> list[dict[str, Any]]:
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
    refuse_others(context, _OBEYED["preset" if preset else kind], wish)
    if kind == "generative" and not context.params["encoder"]:
        raise InputError("--kind generative needs --encoder, the language model that it adapts")


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
    from paperscope_lab.ner.training_options import PAPERS, TrainingOptions

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


@contextmanager
def _progress(name: str) -> Iterator[Callable[[int, int, float], None]]:
    with progress_bar(name) as bar:
        task = bar.add_task("", total=None)
        yield lambda done, total, loss: bar.update(task, completed=done, total=total, description=f"loss {loss:.3f}")


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
