"""Trains taggers: deterministic on one thread count, resumable after each epoch, with a record of what was used."""

import hashlib
import io
import json
import operator
import os
import pickle
import platform
import random
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from functools import reduce
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import torch
from scipy.optimize import minimize_scalar
from torch import Tensor, nn
from torch.nn import functional
from torch.optim.swa_utils import AveragedModel

from ingest.extraction.recognizer.examples import Example, Span
from ingest.extraction.recognizer.network import NetworkOptions, load_tokenizer
from ingest.extraction.recognizer.pieces import WINDOW, Pieces, PieceSplitter, Window, pack, windows
from ingest.extraction.recognizer.tagging import TagSet
from paperscope_core.errors import InputError, ModelError
from paperscope_core.files import output_errors, replace_file, write_atomically
from paperscope_lab.ner.gates import unknown_share
from paperscope_lab.ner.gold_tags import gold_tags
from paperscope_lab.ner.scoring import Counts, entity_counts
from paperscope_lab.ner.torch_network import TaggerNetwork, batches
from paperscope_lab.ner.torch_tagger import TorchTagger

__all__ = [
    "PAPERS",
    "Progress",
    "TrainingOptions",
    "calibration_error",
    "described",
    "finished",
    "papers_corpora",
    "train_tagger",
]

Progress = Callable[[int, int, float], None]
"""Called with (steps done, steps in total, mean loss of the epoch so far)."""

_CHECKPOINT, _MANIFEST = "checkpoint.pt", "manifest.json"
_SORTED = 50
_SWA_START, _SWA_FLOOR, _SWA_PER_EPOCH = 0.5, 0.2, 8
"""Weights are averaged over the second half of training, several times an epoch (Izmailov et al. 2018); meanwhile the
rate falls to a fifth and not to zero, so that the weights still differ."""
_PACKAGES = ("torch", "numpy", "tokenizers", "safetensors", "transformers")


@dataclass(frozen=True, kw_only=True, slots=True)
class TrainingOptions:
    """How a tagger is trained.

    Attributes:
        encoder: "" for the bundled MiniLM, a folder, or a Hugging Face name.
        case: Whether an embedding of case is added.
        context: Whether the encoder sees a text with its neighbours in its document.
        table: Whether only a table of soft labels is trained, over a frozen encoder.
        rank: The rank of an adapter; 0 to train the whole encoder.
        dropout: The share of values that is set to zero.
        epochs: The number of epochs.
        batch: The number of texts of a step, about.
        rate: The highest learning rate of the encoder, or of its adapter.
        new_rate: That of the head and the embedding of case, which start from nothing.
        freeze: Whether the encoder stays as it is.
        weight_decay: That of AdamW.
        clip: The largest norm of the gradients of a step.
        warm_up: The steps in which the rate rises, or below 1 their share.
        patience: Training stops after so many epochs without a better F1 on dev, and the best epoch is the result; 0
            for all epochs and the last one.
        outweight: The weight of tokens outside of entities in the loss.
        class_weights: Whether each tag weighs the same in the loss, however frequent it is.
        temperature: Divides the scores in the loss.
        keep_epochs: The epochs after which the tagger is also written, as `epoch-N`.
        swa: Whether the result is the average of weights along the way.
        seed: Seeds the new layers, the order of examples, and dropout.
        threads: Results are equal to the bit only for the same number of threads.
        dtype: "float32" or "bfloat16" (autocast).
        device: "cpu" or "cuda".
    """

    encoder: str = ""
    case: bool = True
    context: bool = True
    table: bool = False
    rank: int = 0
    dropout: float = 0.1
    epochs: int = 4
    batch: int = 32
    rate: float = 2e-4
    new_rate: float = 1e-3
    freeze: bool = False
    weight_decay: float = 0.01
    clip: float = 1.0
    warm_up: float = 0.1
    patience: int = 0
    outweight: float = 1.0
    class_weights: bool = False
    temperature: float = 1.0
    keep_epochs: tuple[int, ...] = ()
    swa: bool = False
    seed: int = 1
    threads: int = 1
    dtype: str = "float32"
    device: str = "cpu"


PAPERS = TrainingOptions(rank=16, epochs=3, batch=16, rate=2e-3, dropout=0.05)
"""The adapter of the local extractor."""
_UNTYPED = "Concept"


def papers_corpora(corpora: Sequence[Sequence[Example]]) -> list[Sequence[Example]]:
    """Return the training data of the local extractor: SciER, whose labels the others get if they differ only in case.

    The texts of the others are read without context: TDMSci has single sentences of its papers. A corpus that shares no
    label with SciER is of another field: its entities become `Concept`, and none of its words is of another label.
    """
    names = {label.casefold(): label for label in sorted(_labels(corpora[0]))}

    def of_field(corpus: Sequence[Example]) -> Sequence[Example]:
        def named(span: Span) -> Span:
            label = names.get(span.label.casefold(), span.label.capitalize())
            return replace(span, label=label if near else _UNTYPED)

        near = any(label.casefold() in names for label in _labels(corpus))
        return [
            replace(one, document=None if near else one.document, spans=tuple(map(named, one.spans))) for one in corpus
        ]

    return [corpora[0], *map(of_field, corpora[1:])]


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
    of_corpora = [_labels(corpus) for corpus in corpora]
    labels = tuple(sorted(set().union(*of_corpora)))
    if not labels:
        raise InputError("the training data have no entities")
    if foreign := sorted(_labels(dev) - of_corpora[0]):
        lacking = ", ".join(foreign)
        raise InputError(
            f"labels of the dev data that the training data lack: {lacking}; train with more, or omit them"
        )
    tags = TagSet(labels=labels)
    with output_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
    with _deterministic(options):
        torch.manual_seed(options.seed)
        splitter = load_tokenizer(options.encoder)
        network = _new_network(options, tags, splitter)
        characters = all(end - start == 1 for corpus in corpora for example in corpus for start, end in example.tokens)
        tagger = TorchTagger(network.to(options.device), splitter, tags, name=folder.name, characters=characters)
        data = _Data.of(corpora, tagger)
        manifest: dict[str, Any] = {
            **_asked(corpora, dev, options),
            "labels": labels,
            "tokenizer": splitter.digest,
            "unknown_pieces": data.unknown,
            "spans_lost": data.lost,
            "versions": {"python": platform.python_version(), **{name: version(name) for name in _PACKAGES}},
            "machine": platform.machine(),
        }
        run = _Run(tagger=tagger, data=data, options=options, identity=_digest(manifest))
        history = run.resume(folder)
        for epoch in range(len(history), options.epochs):
            if run.stopped(history):
                break
            loss = run.epoch(epoch, on_progress)
            scored = _counts(dev, tagger.tag(dev), of_corpora[0])
            figures = {"dev_precision": scored.precision, "dev_recall": scored.recall, "dev_f1": scored.f1}
            history.append(
                {"epoch": epoch + 1, "loss": round(loss, 5), **{name: round(one, 5) for name, one in figures.items()}}
            )
            run.note_best(history)
            if epoch + 1 in options.keep_epochs:
                tagger.save(folder / f"epoch-{epoch + 1}")
            run.keep(folder, history)
        run.finish()
        tagger.temperature = _temperature(tagger, dev)
        predicted = tagger.tag(dev)
    tagger.save(folder)
    reloaded = TorchTagger.read(folder, device=options.device)
    manifest |= {
        "history": history,
        "dev_f1_reloaded": round(_counts(dev, reloaded.tag(dev), of_corpora[0]).f1, 5),
        "dev_f1_strict": round(_counts(dev, predicted, of_corpora[0]).f1, 5),
        "temperature": tagger.temperature,
        "calibration_error": calibration_error(dev, predicted),
        "seconds": round(time.perf_counter() - started, 1),
        "cpu_seconds": round(time.process_time() - cpu_started, 1),
    }
    write_atomically(folder / _MANIFEST, f"{json.dumps(manifest, indent=1, ensure_ascii=False)}\n".encode())
    (folder / _CHECKPOINT).unlink(missing_ok=True)
    return manifest


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


@dataclass(frozen=True, kw_only=True)
class _Data:
    pieces: list[Pieces]
    targets: list[list[int]]
    windows: list[Window]
    texts: int
    corpora: list[int]
    allowed: Tensor
    unknown: float
    lost: int

    @classmethod
    def of(cls, corpora: Sequence[Sequence[Example]], tagger: TorchTagger) -> "_Data":
        tags, context = tagger.tags, tagger.network.options.context
        examples = [example for corpus in corpora for example in corpus]
        numbers = [number for number, corpus in enumerate(corpora) for _ in corpus]
        pieces = tagger.split(examples)
        targets = [gold_tags(tags, one.spans, of.units) for one, of in zip(examples, pieces, strict=True)]
        learned = sum(sum(1 for _ in tags.decode(row)) for row in targets)
        groups = pack(
            pieces,
            [_group(number, example) if context else None for number, example in zip(numbers, examples, strict=True)],
            size=WINDOW,
        )
        packed = [reduce(operator.add, (pieces[index] for index in group)) for group in groups]
        return cls(
            pieces=packed,
            targets=[[tag for index in group for tag in targets[index]] for group in groups],
            windows=[window for window in windows([len(of.ids) for of in packed]) if window.start < window.end],
            texts=len(examples),
            corpora=[numbers[group[0]] for group in groups],
            allowed=torch.stack([_allowed(tags, _labels(corpus)) for corpus in corpora]),
            unknown=round(unknown_share(tagger.splitter.tokenizer, [piece for of in pieces for piece in of.ids]), 5),
            lost=sum(len(example.spans) for example in examples) - learned,
        )

    def batches(self, size: int, *, seed: str) -> list[list[Window]]:
        """Return batches of windows of similar length, with about `size` texts each, in random order."""
        size = max(1, round(size * len(self.windows) / self.texts))
        order = random.Random(seed)  # noqa: S311 - no secret
        shuffled = order.sample(self.windows, len(self.windows))
        found: list[list[Window]] = []
        for start in range(0, len(shuffled), size * _SORTED):
            part = sorted(shuffled[start : start + size * _SORTED], key=lambda window: window.end - window.start)
            found.extend(part[at : at + size] for at in range(0, len(part), size))
        return order.sample(found, len(found))

    def weights(self, options: TrainingOptions) -> Tensor | None:
        """Return the weight of each tag in the loss, if they differ."""
        tags = self.allowed.shape[1]
        counts = torch.bincount(torch.tensor([tag for row in self.targets for tag in row]), minlength=tags)
        weights = counts.sum() / (tags * counts.clamp(min=1)) if options.class_weights else torch.ones(tags)
        weights[0] *= options.outweight
        return None if bool((weights == 1).all()) else weights

    def positions(self, batch: Sequence[Window], before: int) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Return row and column of each unit that the windows score, the tags that it may have, of shape (units, tags),
        and the one that it has."""
        rows: list[tuple[int, int, int, int]] = []
        for row, window in enumerate(batch):
            firsts = self.pieces[window.text].firsts
            rows.extend(
                (row, first - window.start + before, self.corpora[window.text], tag)
                for first, tag in zip(firsts, self.targets[window.text], strict=True)
                if window.from_ <= first < window.to
            )
        found = torch.tensor(rows, dtype=torch.long).reshape(-1, 4)
        return found[:, 0], found[:, 1], self.allowed[found[:, 2], found[:, 3]], found[:, 3]


@dataclass(kw_only=True)
class _Run:
    """A training in progress."""

    tagger: TorchTagger
    data: _Data
    options: TrainingOptions
    identity: str
    optimizer: torch.optim.Optimizer = field(init=False)
    average: AveragedModel | None = field(init=False, default=None)
    best: dict[str, Tensor] | None = field(init=False, default=None)
    weights: Tensor | None = field(init=False)
    steps: int = field(init=False, default=0)
    per_epoch: int = field(init=False)

    def __post_init__(self) -> None:
        network = self.tagger.network
        new = [weight for part in (network.head, network.case) for weight in part.parameters() if weight.requires_grad]
        old = [weight for weight in network.encoder.parameters() if weight.requires_grad]
        self.optimizer = torch.optim.AdamW(
            [{"params": old, "highest": self.options.rate}, {"params": new, "highest": self.options.new_rate}],
            weight_decay=self.options.weight_decay,
            fused=True,
        )
        self.weights = self.data.weights(self.options)
        self.per_epoch = len(self.data.batches(self.options.batch, seed=""))
        if self.options.swa:
            self.average = AveragedModel(_Trained(network))

    @property
    def total(self) -> int:
        return self.per_epoch * self.options.epochs

    def epoch(self, epoch: int, on_progress: Progress) -> float:
        """Train one epoch; returns the mean loss."""
        network, options = self.tagger.network, self.options
        # An epoch depends on nothing but the weights before it, so that a resumed training is the same.
        torch.manual_seed(options.seed * 1000 + epoch)
        losses: list[float] = []
        network.train()
        for batch in self.data.batches(options.batch, seed=f"{options.seed}/{epoch}"):
            self._set_rate()
            loss = self._loss(batch)
            self.optimizer.zero_grad()
            loss.backward()
            weights = [weight for group in self.optimizer.param_groups for weight in group["params"]]
            nn.utils.clip_grad_norm_(weights, options.clip)
            self.optimizer.step()
            self.steps += 1
            losses.append(float(loss.detach()))
            every = max(1, self.per_epoch // _SWA_PER_EPOCH)
            if self.average is not None and self.steps > _SWA_START * self.total and self.steps % every == 0:
                self.average.update_parameters(_Trained(network))
            on_progress(self.steps, self.total, float(np.mean(losses)))
        return float(np.mean(losses))

    def _loss(self, batch: Sequence[Window]) -> Tensor:
        splitter, device = self.tagger.splitter, self.options.device
        rows, columns, allowed, targets = (one.to(device) for one in self.data.positions(batch, len(splitter.before)))
        inputs = [tensor.to(device) for tensor in batches(self.data.pieces, splitter, batch)]
        with torch.autocast(device, dtype=torch.bfloat16, enabled=self.options.dtype == "bfloat16"):
            scores = self.tagger.network(*inputs)[rows, columns]
        if not len(rows):  # a batch may be texts of nothing but white space
            return scores.sum() * 0.0
        scores = scores.float() / self.options.temperature
        losses = scores.logsumexp(1) - scores.masked_fill(~allowed, -torch.inf).logsumexp(1)
        if self.weights is None:
            return losses.mean()
        weights = self.weights.to(device)[targets]
        return (losses * weights).sum() / weights.sum()

    def _set_rate(self) -> None:
        done, floor = (self.steps + 1) / self.total, _SWA_FLOOR if self.average is not None else 0.0
        warm_up = self.options.warm_up if self.options.warm_up < 1 else self.options.warm_up / self.total
        falling = floor + (1 - floor) * (1 - done) / max(1 - warm_up, 1e-9)
        factor = min(done / warm_up, falling) if warm_up else falling
        for group in self.optimizer.param_groups:
            group["lr"] = group["highest"] * max(factor, 0.0)

    def stopped(self, history: Sequence[dict[str, Any]]) -> bool:
        """Return whether the F1 on dev has not risen for as many epochs as the patience."""
        return 0 < self.options.patience <= len(history) - _best_epoch(history)

    def note_best(self, history: Sequence[dict[str, Any]]) -> None:
        """Keep the weights of the last epoch, if it is the best one and an epoch is selected."""
        if self.options.patience and _best_epoch(history) == len(history):
            self.best = {name: weight.clone() for name, weight in self.tagger.network.trained_weights().items()}

    def finish(self) -> None:
        """Set the network to the weights of the best epoch, if one is selected, or the averaged ones, if any."""
        if self.best is not None:
            self.tagger.network.load_trained(self.best)
        elif self.average is not None and int(self.average.n_averaged):
            for weight, mean in zip(_trained(self.tagger.network), self.average.module.weights, strict=True):
                weight.data.copy_(mean)

    def keep(self, folder: Path, history: list[dict[str, Any]]) -> None:
        """Write the state after an epoch."""
        state = {
            "identity": self.identity,
            "history": history,
            "steps": self.steps,
            "weights": self.tagger.network.trained_weights(),
            "optimizer": self.optimizer.state_dict(),
            "best": self.best,
            "average": None if self.average is None else self.average.state_dict(),
        }
        with output_errors(folder):
            buffer = io.BytesIO()
            torch.save(state, buffer)
            replace_file(folder / _CHECKPOINT, buffer.getvalue())

    def resume(self, folder: Path) -> list[dict[str, Any]]:
        """Set the state to that of an interrupted training of the same identity; returns its history.

        Raises:
            ModelError: The state can't be read.
        """
        file = folder / _CHECKPOINT
        if not file.exists():
            return []
        try:
            state = torch.load(file, weights_only=True)
        except (OSError, EOFError, RuntimeError, KeyError, ValueError, pickle.UnpicklingError) as error:
            raise ModelError("the state of an interrupted training is damaged; delete it", where=file) from error
        if state["identity"] != self.identity:
            return []
        self.tagger.network.load_trained(state["weights"])
        self.optimizer.load_state_dict(state["optimizer"])
        if self.average is not None:
            self.average.load_state_dict(state["average"])
        self.best = state["best"]
        self.steps = int(state["steps"])
        history: list[dict[str, Any]] = state["history"]
        return history


def _best_epoch(history: Sequence[dict[str, Any]]) -> int:
    """Return the number of the first epoch with the highest F1 on dev; 0 if there is none."""
    return max(range(len(history)), key=lambda at: history[at]["dev_f1"]) + 1 if history else 0


def _name_of_tag(tag: str) -> str:
    """Return what the encoder reads for a tag."""
    part, _, label = tag.partition("-")
    words = label.replace("_", " ").replace("-", " ").lower()
    return {"B": words, "I": f"part of {words}"}.get(part, "other words")


def _group(corpus: int, example: Example) -> str | None:
    return None if example.document is None else f"{corpus}/{example.document}"


def _allowed(tags: TagSet, labels: set[str]) -> Tensor:
    """Return which tags each gold tag may stand for, of shape (tags, tags): O also for those of labels without
    annotation, but for none in a corpus of names of other fields."""
    allowed = torch.eye(len(tags.tags), dtype=torch.bool)
    if labels == {_UNTYPED}:
        return allowed
    allowed[0] = torch.tensor([tag == "O" or tag[2:] not in labels for tag in tags.tags])
    return allowed


def _trained(network: TaggerNetwork) -> list[Tensor]:
    return [weight for weight in network.parameters() if weight.requires_grad]


class _Trained(nn.Module):  # type: ignore[misc]
    """The weights of a network that training changes, for averages: the others need no copy."""

    def __init__(self, network: TaggerNetwork) -> None:
        super().__init__()
        self.weights = nn.ParameterList(_trained(network))


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


def _temperature(tagger: TorchTagger, dev: Sequence[Example]) -> float:
    """Return the temperature that minimises the loss on dev (Guo et al. 2017, "On Calibration of Modern Neural
    Networks")."""
    rows, targets = [], []
    for example, scored in zip(dev, tagger.score(dev), strict=True):
        rows.append(scored.scores)
        targets.extend(gold_tags(tagger.tags, example.spans, scored.units))
    if not targets:
        return 1.0
    scores, correct = torch.tensor(np.concatenate(rows)), torch.tensor(targets)

    def loss(logarithm: float) -> float:
        return float(functional.cross_entropy(scores / np.exp(logarithm), correct))

    # exp(+-2) is wider than any factor that neural networks need.
    return round(float(np.exp(minimize_scalar(loss, bounds=(-2.0, 2.0), method="bounded").x)), 4)


def _labels(examples: Sequence[Example]) -> set[str]:
    return {span.label for example in examples for span in example.spans}


def calibration_error(gold: Sequence[Example], predicted: Sequence[Example], *, bins: int = 10) -> float:
    """Return the expected calibration error (Guo et al. 2017): by how much the confidence of entities differs from the
    share of them that is right, weighted over bins of confidence."""
    found: list[tuple[float, bool]] = []
    for due, given in zip(gold, predicted, strict=True):
        right = {(span.start, span.end, span.label) for span in due.spans}
        found.extend(
            (span.confidence, (span.start, span.end, span.label) in right)
            for span in given.spans
            if span.confidence is not None
        )
    error = 0.0
    for number in range(bins):
        inside = [pair for pair in found if min(int(pair[0] * bins), bins - 1) == number]
        error += abs(sum(confidence - right for confidence, right in inside))
    return round(error / max(len(found), 1), 4)


def _counts(gold: Sequence[Example], predicted: Sequence[Example], labels: set[str]) -> Counts:
    """Count entities of these labels alone."""
    kept = [replace(one, spans=tuple(span for span in one.spans if span.label in labels)) for one in predicted]
    return entity_counts(gold, kept)


def described(examples: Sequence[Example]) -> dict[str, Any]:
    """Return what a manifest records of data: the numbers of examples and entities, and a hash of all."""
    plain = [asdict(replace(example, failure=None)) for example in examples]
    return {
        "examples": len(examples),
        "spans": sum(len(example.spans) for example in examples),
        "sha256": _digest(plain),
    }


def _digest(value: object) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True, ensure_ascii=False).encode("utf-8", "replace")).hexdigest()
