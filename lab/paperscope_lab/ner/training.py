"""Trains taggers: deterministic on one thread count, resumable after each epoch, with a record of what was used."""

import json
import os
import platform
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch

from ingest.extraction.recognizer.examples import Example
from ingest.extraction.recognizer.network import NetworkOptions
from ingest.extraction.recognizer.pieces import PieceSplitter, Window
from ingest.extraction.recognizer.tagging import TagSet
from paperscope_core.errors import InputError, ModelError
from paperscope_core.files import output_errors, write_atomically
from paperscope_lab.ner.calibration import calibration_error, fitted_temperature
from paperscope_lab.ner.scoring import Counts, entity_counts
from paperscope_lab.ner.torch_network import TaggerNetwork, batches, load_tokenizer
from paperscope_lab.ner.torch_tagger import TorchTagger
from paperscope_lab.ner.training_data import TrainingData, described, digest, labels_of
from paperscope_lab.ner.training_options import TrainingOptions
from paperscope_lab.ner.training_run import CHECKPOINT, Progress, TrainingRun

__all__ = ["finished", "train_tagger"]

_MANIFEST = "manifest.json"
_PACKAGES = ("torch", "numpy", "tokenizers", "safetensors", "transformers")


def train_tagger(
    corpora: Sequence[Sequence[Example]],
    dev: Sequence[Example],
    options: TrainingOptions,
    folder: Path,
    *,
    on_progress: Progress = lambda *_: None,
) -> dict[str, Any]:
    """Train a tagger, or continue an interrupted training with the same data and options.

    The result is the last (or averaged) state; no epoch is selected, but by `patience`. `dev` fits the temperature of
    confidences and is scored.

    Corpora may have different labels. A token outside of all entities of its corpus may be an entity of a label that
    the corpus lacks: its loss is the negative logarithm of the probability of all tags that it may have. A corpus whose
    only label is `Concept` (names that are none of the other labels' kind) lacks none.

    Args:
        corpora: The examples to learn.
        dev: Other examples of the first corpus, or with its labels.
        options: How to train.
        folder: Where the tagger, `manifest.json` and the state after each epoch are written.
        on_progress: Called after each step.

    Returns:
        The manifest.

    Raises:
        InputError: There are no entities to learn, or `dev` has labels that the first corpus lacks.
        ModelError: The encoder can't be loaded, or the state of an interrupted training.
        OutputError: A file can't be written.
    """
    started, cpu_started = time.perf_counter(), time.process_time()
    tags = _tags(corpora, dev)
    with output_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
    with _deterministic(options):
        torch.manual_seed(options.seed)
        splitter = load_tokenizer(options.encoder)
        network = _new_network(options, tags, splitter)
        characters = all(end - start == 1 for corpus in corpora for example in corpus for start, end in example.tokens)
        tagger = TorchTagger(network.to(options.device), splitter, tags, name=folder.name, characters=characters)
        data = TrainingData.of(corpora, tagger)
        manifest: dict[str, Any] = {
            **_asked(corpora, dev, options),
            "labels": tags.labels,
            "tokenizer": splitter.digest,
            "unknown_pieces": data.unknown,
            "spans_lost": data.lost,
            "versions": {"python": platform.python_version(), **{name: version(name) for name in _PACKAGES}},
            "machine": platform.machine(),
        }
        run = TrainingRun(tagger=tagger, data=data, options=options, identity=digest(manifest))
        history = _run_epochs(run, dev, labels_of(corpora[0]), folder, on_progress)
        tagger.temperature = fitted_temperature(tagger, dev)
        predicted = tagger.tag(dev)
    tagger.save(folder)
    reloaded = TorchTagger.read(folder, device=options.device).tag(dev)
    manifest |= {
        "history": history,
        "dev_f1_reloaded": round(_counts(dev, reloaded, labels_of(corpora[0])).f1, 5),
        "dev_f1_strict": round(_counts(dev, predicted, labels_of(corpora[0])).f1, 5),
        "temperature": tagger.temperature,
        "calibration_error": calibration_error(dev, predicted),
        "seconds": round(time.perf_counter() - started, 1),
        "cpu_seconds": round(time.process_time() - cpu_started, 1),
    }
    write_atomically(folder / _MANIFEST, f"{json.dumps(manifest, indent=1, ensure_ascii=False)}\n".encode())
    (folder / CHECKPOINT).unlink(missing_ok=True)
    return manifest


def _tags(corpora: Sequence[Sequence[Example]], dev: Sequence[Example]) -> TagSet:
    """Return the tags of all labels. Raise InputError if there are none, or `dev` has others than the first corpus."""
    of_corpora = [labels_of(corpus) for corpus in corpora]
    labels = tuple(sorted(set().union(*of_corpora)))
    if not labels:
        raise InputError("the training data have no entities")
    if foreign := sorted(labels_of(dev) - of_corpora[0]):
        lacking = ", ".join(foreign)
        raise InputError(
            f"labels of the dev data that the training data lack: {lacking}; train with more, or omit them"
        )
    return TagSet(labels=labels)


def _run_epochs(
    run: TrainingRun, dev: Sequence[Example], labels: set[str], folder: Path, on_progress: Progress
) -> list[dict[str, Any]]:
    """Train until the last epoch, or that at which patience ends; return the figures on dev after each."""
    history = run.resume(folder)
    for epoch in range(len(history), run.options.epochs):
        if run.stopped(history):
            break
        loss = run.epoch(epoch, on_progress)
        scored = _counts(dev, run.tagger.tag(dev), labels)
        figures = {"dev_precision": scored.precision, "dev_recall": scored.recall, "dev_f1": scored.f1}
        history.append(
            {"epoch": epoch + 1, "loss": round(loss, 5), **{name: round(one, 5) for name, one in figures.items()}}
        )
        run.note_best(history)
        if epoch + 1 in run.options.keep_epochs:
            run.tagger.save(folder / f"epoch-{epoch + 1}")
        run.keep(folder, history)
    run.finish()
    return history


def _new_network(options: TrainingOptions, tags: TagSet, splitter: PieceSplitter) -> TaggerNetwork:
    network = TaggerNetwork(
        NetworkOptions(
            encoder=options.encoder,
            tags=len(tags.tags),
            case=options.case and not options.table,
            context=options.context,
            table=options.table,
            rank=options.rank,
            dropout=options.dropout,
            freeze=options.freeze,
        )
    )
    if options.table:
        _start_soft_labels(network.eval(), splitter, [_name_of_tag(tag) for tag in tags.tags])
    return network


def _start_soft_labels(network: TaggerNetwork, splitter: PieceSplitter, names: Sequence[str]) -> None:
    """Set the vector of each tag to the encoding of its name: the mean over its pieces."""
    pieces = splitter.split(names, [() for _ in names])
    order = [Window(text=text, start=0, end=len(of.ids), from_=0, to=0) for text, of in enumerate(pieces)]
    ids, present, _ = batches(pieces, splitter, order)
    with torch.no_grad():
        network.head.table.copy_((network.encoder(ids, present) * present[:, :, None]).sum(dim=1))


def finished(
    corpora: Sequence[Sequence[Example]], dev: Sequence[Example], options: TrainingOptions, folder: Path
) -> dict[str, Any] | None:
    """Return the manifest of a finished training with the same data, options and tokenizer in this folder.

    None if there is none, or if its tagger can't be loaded.
    """
    try:
        manifest: dict[str, Any] = json.loads((folder / _MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    asked = _asked(corpora, dev, options)
    if {name: manifest.get(name) for name in asked} != asked:
        return None
    try:
        TorchTagger.read(folder)
        return manifest if manifest.get("tokenizer") == load_tokenizer(options.encoder).digest else None
    except ModelError:
        return None


def _asked(corpora: Sequence[Sequence[Example]], dev: Sequence[Example], options: TrainingOptions) -> dict[str, Any]:
    return {
        "options": json.loads(json.dumps(asdict(options))),
        "train": [described(corpus) for corpus in corpora],
        "dev": described(dev),
    }


def _name_of_tag(tag: str) -> str:
    """Return what the encoder reads for a tag."""
    part, _, label = tag.partition("-")
    words = label.replace("_", " ").replace("-", " ").lower()
    return {"B": words, "I": f"part of {words}"}.get(part, "other words")


@contextmanager
def _deterministic(options: TrainingOptions) -> Iterator[None]:
    # cuBLAS is deterministic only with this setting, which it reads when it is first used.
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    threads, deterministic = torch.get_num_threads(), torch.are_deterministic_algorithms_enabled()
    torch.set_num_threads(options.threads)
    torch.use_deterministic_algorithms(True)
    # The network reads no uninitialised memory; filling it would take a twentieth of the time.
    torch.utils.deterministic.fill_uninitialized_memory = False
    try:
        yield
    finally:
        torch.use_deterministic_algorithms(deterministic)
        torch.set_num_threads(threads)


def _counts(gold: Sequence[Example], predicted: Sequence[Example], labels: set[str]) -> Counts:
    """Count entities of these labels alone."""
    kept = [replace(one, spans=tuple(span for span in one.spans if span.label in labels)) for one in predicted]
    return entity_counts(gold, kept)
