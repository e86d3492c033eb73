"""`bench ner`: the speed of recognizers of entities on the same sentences, in one run."""

import argparse
import asyncio
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from statistics import median

import torch

from ingest.extraction.recognizer.encoder_tagger import EncoderTagger
from ingest.extraction.recognizer.examples import Example
from ingest.extraction.recognizer.loading import Recognizer, load_recognizer, papers_recognizer
from ingest.extraction.recognizer.network import NetworkOptions, TaggerNetwork, load_tokenizer
from ingest.extraction.recognizer.tagging import TagSet
from paperscope_core.errors import InputError
from paperscope_lab.evaluation.bench.common import add_out, print_page, write_figures
from paperscope_lab.evaluation.rendering import table
from paperscope_lab.ner.importing import import_examples
from paperscope_lab.ner.spacy_tagger import SpacyOptions, SpacyTagger, train_spacy
from paperscope_lab.ner.training import entity_f1

__all__ = ["DESCRIPTION", "HELP", "Figures", "add_options", "measure", "run"]

HELP = "sentences per second of recognizers of entities"
DESCRIPTION = (
    "Times recognizers on the same annotated sentences: a tagger over the bundled MiniLM, the recognizer that is "
    "installed, spaCy's, and those that --system names. The tagger and spaCy's get weights of no worth, which take as "
    "long as good ones. The systems take turns, so that other work on the machine slows all of them."
)
# Enough for spaCy's transitions to be those of a text with entities.
_SPACY_SENTENCES = 500


@dataclass(frozen=True, kw_only=True, slots=True)
class Figures:
    """A system's times of each round, and what it found.

    Attributes:
        name: The system.
        sentences: The sentences of a round.
        seconds: The time of each round.
        cpu_seconds: The processor time of each round.
        f1: Entity F1 (offsets and label); None for a system of another data set's labels or of weights of no worth.
    """

    name: str
    sentences: int
    seconds: list[float]
    cpu_seconds: list[float]
    f1: float | None

    def per_second(self, times: Sequence[float]) -> float:
        """Sentences per second, by the median of the times."""
        return self.sentences / max(median(times), 1e-9)


def add_options(ner: argparse.ArgumentParser) -> None:
    """Adds the options of `ner`."""
    ner.add_argument("--data", type=Path, required=True, metavar="FILE", help="sentences as `ner data import` reads")
    ner.add_argument("--system", action="append", default=[], metavar="NAME=DIR", help="also what `ner train` wrote")
    ner.add_argument("--sentences", type=int, default=500, metavar="N", help="the first N sentences (default: 500)")
    ner.add_argument("--rounds", type=int, default=3, metavar="N", help="how often each is timed (default: 3)")
    ner.add_argument("--threads", type=int, default=1, metavar="N", help="PyTorch's threads (default: 1)")
    add_out(ner)


def run(options: argparse.Namespace) -> int:
    """Returns 0. Raises ExampleFileError, InputError and ModelError."""
    examples = import_examples(options.data).examples[: options.sentences]
    torch.set_num_threads(options.threads)
    with tempfile.TemporaryDirectory() as folder:
        systems = dict(_systems(examples, options.system, Path(folder)))
        found = measure(systems, examples, rounds=options.rounds)
    rows = [
        [
            one.name,
            f"{one.per_second(one.seconds):,.0f}",
            f"{one.per_second(one.cpu_seconds):,.0f}",
            "" if one.f1 is None else f"{one.f1:.4f}",
        ]
        for one in found
    ]
    words = sum(len(example.tokens) for example in examples)
    lines = [
        f"{len(examples)} sentences with {words} tokens, {options.rounds} rounds, threads: {options.threads}",
        *table(["system", "sentences/s", "per CPU second", "entity F1"], rows, texts=1),
    ]
    if find_spec("spacy") is None:
        lines.append('spaCy is not installed: pip install "paperscope[ner]"')
    print_page(lines)
    write_figures(options.out, {"data": options.data.name, "threads": options.threads, "systems": found})
    return 0


def measure(systems: dict[str, Recognizer], examples: Sequence[Example], *, rounds: int) -> list[Figures]:
    """Time systems in turn, after a first round on a few sentences that loads what is loaded at first use.

    Args:
        systems: The systems by name.
        examples: The sentences, with the entities that score the systems of their labels.
        rounds: How often each system is timed.
    """
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in systems}
    predicted: dict[str, list[Example]] = {}
    for system in systems.values():
        asyncio.run(system.recognize(examples[:8]))
    for _ in range(rounds):
        for name, system in systems.items():
            started, cpu_started = time.perf_counter(), time.process_time()
            predicted[name] = asyncio.run(system.recognize(examples))
            times[name].append((time.perf_counter() - started, time.process_time() - cpu_started))
    labels = {span.label for example in examples for span in example.spans}
    return [
        Figures(
            name=name,
            sentences=len(examples),
            seconds=[round(seconds, 4) for seconds, _ in times[name]],
            cpu_seconds=[round(seconds, 4) for _, seconds in times[name]],
            f1=round(entity_f1(examples, found), 4) if name not in _UNTRAINED and labels & _labels(found) else None,
        )
        for name, found in predicted.items()
    ]


_MINILM, _PAPERS, _SPACY = "MiniLM tagger", "installed recognizer", "spaCy"
_UNTRAINED = (_MINILM, _SPACY)


def _systems(examples: Sequence[Example], named: Sequence[str], folder: Path) -> Iterator[tuple[str, Recognizer]]:
    labels = tuple(sorted(_labels(examples)))
    if not labels:
        raise InputError("the sentences have no entities; name annotated ones")
    tags = TagSet(labels=labels)
    network = TaggerNetwork(NetworkOptions(tags=len(tags.tags), dropout=0.0)).eval()
    yield _MINILM, EncoderTagger(network, load_tokenizer(""), tags)
    yield _PAPERS, papers_recognizer()
    if find_spec("spacy"):
        train_spacy(examples[:_SPACY_SENTENCES], [], SpacyOptions(language="en", epochs=1), folder)
        yield _SPACY, SpacyTagger.load(folder)
    for text in named:
        name, equals, place = text.partition("=")
        if not equals:
            raise InputError(f"--system {text}: write NAME=DIR")
        yield name, load_recognizer(Path(place))


def _labels(examples: Sequence[Example]) -> set[str]:
    return {span.label for example in examples for span in example.spans}
