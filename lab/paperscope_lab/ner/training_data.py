"""The data of a training: corpora with different labels, in windows and batches that the encoder reads."""

import hashlib
import json
import operator
import random
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import reduce
from typing import Any

import torch
from torch import Tensor

from ingest.extraction.recognizer.examples import Example, Span
from ingest.extraction.recognizer.pieces import WINDOW, Pieces, Window, pack, windows
from ingest.extraction.recognizer.tagging import TagSet
from paperscope_lab.ner.gates import unknown_share
from paperscope_lab.ner.gold_tags import gold_tags
from paperscope_lab.ner.torch_tagger import TorchTagger
from paperscope_lab.ner.training_options import TrainingOptions

__all__ = ["TrainingData", "described", "digest", "labels_of", "papers_corpora"]

_SORTED = 50
_UNTYPED = "Concept"


def papers_corpora(corpora: Sequence[Sequence[Example]]) -> list[Sequence[Example]]:
    """Return the training data of the local extractor: SciER, whose labels the others get if they differ only in case.

    The texts of the others are read without context: TDMSci has single sentences of its papers. A corpus that shares no
    label with SciER is of another field: its entities become `Concept`, and none of its words is of another label.
    """
    names = {label.casefold(): label for label in sorted(labels_of(corpora[0]))}

    def of_field(corpus: Sequence[Example]) -> Sequence[Example]:
        def named(span: Span) -> Span:
            label = names.get(span.label.casefold(), span.label.capitalize())
            return replace(span, label=label if near else _UNTYPED)

        near = any(label.casefold() in names for label in labels_of(corpus))
        return [
            replace(one, document=None if near else one.document, spans=tuple(map(named, one.spans))) for one in corpus
        ]

    return [corpora[0], *map(of_field, corpora[1:])]


@dataclass(frozen=True, kw_only=True)
class TrainingData:
    """Texts in windows that the encoder reads, with the tags that each word may have."""

    pieces: list[Pieces]
    targets: list[list[int]]
    windows: list[Window]
    texts: int
    corpora: list[int]
    allowed: Tensor
    unknown: float
    lost: int

    @classmethod
    def of(cls, corpora: Sequence[Sequence[Example]], tagger: TorchTagger) -> "TrainingData":
        """Divide the texts of corpora into the pieces of a tagger."""
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
            allowed=torch.stack([_allowed(tags, labels_of(corpus)) for corpus in corpora]),
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


def labels_of(examples: Sequence[Example]) -> set[str]:
    """Return the labels of the entities."""
    return {span.label for example in examples for span in example.spans}


def described(examples: Sequence[Example]) -> dict[str, Any]:
    """Return what a manifest records of data: the numbers of examples and entities, and a hash of all."""
    plain = [asdict(replace(example, failure=None)) for example in examples]
    return {
        "examples": len(examples),
        "spans": sum(len(example.spans) for example in examples),
        "sha256": digest(plain),
    }


def digest(value: object) -> str:
    """Return the hash of a value of JSON."""
    return hashlib.sha256(json.dumps(value, sort_keys=True, ensure_ascii=False).encode("utf-8", "replace")).hexdigest()
