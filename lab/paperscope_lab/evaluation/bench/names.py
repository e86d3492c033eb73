"""`bench names`: how well the types of names are told."""

import argparse
import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy import float32
from numpy.typing import NDArray

from ingest.extraction import name_types
from ingest.extraction.mentions import Sentence
from ingest.extraction.name_types import FITTED_TYPES, NameTypes, bundled_vectors, features_of_name, type_of_name
from ingest.extraction.phrases import count_phrases
from ingest.extraction.recognizer.examples import Example
from paperscope_core.files import write_atomically
from paperscope_lab.evaluation.bench.common import print_page
from paperscope_lab.evaluation.gold.graphs import join_tokens
from paperscope_lab.evaluation.rendering import table
from paperscope_lab.ner.importing import import_examples

__all__ = ["DESCRIPTION", "HELP", "LabelledName", "add_options", "fit", "names_in", "run"]

HELP = "how well the types of names are told"
DESCRIPTION = (
    "Fits the model of ingest/extraction/name_types.py to annotated sentences in any form that `paperscope ner data "
    "import` reads, and scores the model that is installed on others."
)
_FILE = Path(name_types.__file__).with_name("name_types.json")
# Chosen on SciER's development set.
_PENALTY = 1e-3
# The deviation of the vectors, beside features of spelling between 0 and 1.
_DEVIATION = 0.4
_STEPS = 120
_DIGITS = 3
# The most letters of a name, and the most by which a name counts more than one that occurs once.
_MAX_LETTERS = 60
_MAX_WEIGHT = 3.0
_NONE = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class LabelledName:
    """A name with the types that it may have by its set's annotations; "" is none of them.

    A phrase outside the annotations may have any type that the set doesn't annotate.
    """

    name: str
    types: frozenset[str]
    weight: float


def add_options(names: argparse.ArgumentParser) -> None:
    """Add the options of `names`."""
    names.add_argument("--train", type=Path, nargs="+", default=(), metavar="FILE", help="the files to fit to")
    names.add_argument("--test", type=Path, nargs="+", default=(), metavar="FILE", help="the files to score on")
    names.add_argument("--write", action="store_true", help="write the fitted model into the package")


def run(options: argparse.Namespace) -> int:
    """Return 0. Raises ExampleFileError."""
    if options.train:
        model = fit([name for file in options.train for name in names_in(import_examples(file).examples)])
        if options.write:
            stored = {
                "weights": [[round(float(value), _DIGITS) for value in row] for row in model.weights],
                "bias": [round(float(value), _DIGITS) for value in model.bias],
            }
            write_atomically(_FILE, json.dumps(stored, separators=(",", ":")).encode())
    rows = [_scores(file.name, names_in(import_examples(file).examples)) for file in options.test]
    print_page(table(["file", "names", "with a type", "right of these", "of all phrases with a type"], rows, texts=1))
    return 0


def names_in(examples: Sequence[Example]) -> list[LabelledName]:
    """Return the annotated names of a set, and the noun phrases outside its annotations."""
    labels = {_type(span.label) for example in examples for span in example.spans}
    other = frozenset({*FITTED_TYPES, _NONE} - labels) | {_NONE}
    counts: dict[str, Counter[frozenset[str]]] = defaultdict(Counter)
    for example in examples:
        rest = list(example.text)
        for span in example.spans:
            name = join_tokens(example.text[span.start : span.end].split()).text
            counts[name][frozenset({_type(span.label)})] += 1
            rest[span.start : span.end] = " ;" + " " * (span.end - span.start - 2)
        for name in _phrases(join_tokens("".join(rest).split()).text):
            counts[name][other] += 1
    return [
        LabelledName(name=name, types=types, weight=times / found.total() * min(1 + np.log(found.total()), _MAX_WEIGHT))
        for name, found in counts.items()
        if len(name) <= _MAX_LETTERS
        for types, times in found.items()
    ]


def _type(label: str) -> str:
    """Return our type for a label of a set, or none."""
    kind = {"Material": "dataset"}.get(label, label.casefold())
    return kind if kind in FITTED_TYPES else _NONE


def _phrases(text: str) -> Iterator[str]:
    for count in count_phrases([Sentence(element="", text=text)]).values():
        if count.whole:
            yield from count.forms


def fit(names: Sequence[LabelledName]) -> NameTypes:
    """Return the model with the least cross-entropy of the allowed types, with a penalty on squared weights."""
    import torch
    from torch.nn import functional

    features = np.array([features_of_name(one.name) for one in names], dtype=float32)
    center, scale = _scales(features)
    inputs = torch.tensor((features - center) / scale)
    classes = (*FITTED_TYPES, _NONE)
    allowed = torch.tensor([[kind in one.types for kind in classes] for one in names])
    counted = torch.tensor([one.weight for one in names], dtype=torch.float32)
    weights = torch.zeros(inputs.shape[1], len(classes), requires_grad=True)
    bias = torch.zeros(len(classes), requires_grad=True)
    optimizer = torch.optim.LBFGS([weights, bias], max_iter=_STEPS, line_search_fn="strong_wolfe")

    def closure() -> torch.Tensor:
        optimizer.zero_grad()
        found = functional.log_softmax(inputs @ weights + bias, dim=1).masked_fill(~allowed, -torch.inf)
        loss = -(counted * found.logsumexp(dim=1)).sum() / counted.sum() + _PENALTY * (weights**2).sum()
        loss.backward()
        return loss

    optimizer.step(closure)
    fitted = weights.detach().numpy() / scale[:, None]
    return NameTypes(weights=fitted, bias=bias.detach().numpy() - center @ fitted)


def _scales(features: NDArray[float32]) -> tuple[NDArray[float32], NDArray[float32]]:
    """Return the centre and scale of each feature: features of spelling stay as they are, vectors get the same
    deviation."""
    spelling = features.shape[1] % bundled_vectors().dimension
    center, scale = np.zeros(features.shape[1], dtype=float32), np.ones(features.shape[1], dtype=float32)
    center[spelling:] = features[:, spelling:].mean(axis=0)
    scale[spelling:] = features[:, spelling:].std() / _DEVIATION
    return center, scale


def _scores(file: str, names: Sequence[LabelledName]) -> list[str]:
    """Return how many annotated names get a type, and how many of these the right one, alone and with other phrases."""
    found: Mapping[str, str] = {one.name: type_of_name(one.name) for one in names}
    typed = [one for one in names if found[one.name] in FITTED_TYPES]
    annotated = [one for one in names if _NONE not in one.types]
    told = [one for one in typed if _NONE not in one.types]
    right = sum(found[one.name] in one.types for one in told)
    return [
        file,
        str(len(annotated)),
        f"{len(told) / max(len(annotated), 1):.3f}",
        f"{right / max(len(told), 1):.3f}",
        f"{right / max(len(typed), 1):.3f}",
    ]
