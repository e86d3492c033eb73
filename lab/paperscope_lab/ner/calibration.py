"""Confidences: the temperature that is fitted to them, and by how much they are wrong."""

from collections.abc import Sequence

import numpy as np
import torch
from scipy.optimize import minimize_scalar
from torch.nn import functional

from ingest.extraction.recognizer.examples import Example
from paperscope_lab.ner.gold_tags import gold_tags
from paperscope_lab.ner.torch_tagger import TorchTagger

__all__ = ["calibration_error", "fitted_temperature"]


def fitted_temperature(tagger: TorchTagger, dev: Sequence[Example]) -> float:
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
