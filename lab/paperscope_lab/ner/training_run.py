"""A training in progress: its steps, the average of its weights, and its state after each epoch."""

import io
import pickle
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.optim.swa_utils import AveragedModel

from ingest.extraction.recognizer.pieces import Window
from paperscope_core.errors import ModelError
from paperscope_core.files import output_errors, replace_file
from paperscope_lab.ner.torch_network import TaggerNetwork, batches
from paperscope_lab.ner.torch_tagger import TorchTagger
from paperscope_lab.ner.training_data import TrainingData
from paperscope_lab.ner.training_options import TrainingOptions

__all__ = ["CHECKPOINT", "Progress", "TrainingRun"]

Progress = Callable[[int, int, float], None]
"""Called with (steps done, steps in total, mean loss of the epoch so far)."""
CHECKPOINT = "checkpoint.pt"
"""The file of the state after an epoch."""
_SWA_START, _SWA_FLOOR, _SWA_PER_EPOCH = 0.5, 0.2, 8
"""Weights are averaged over the second half of training, several times an epoch (Izmailov et al. 2018); meanwhile the
rate falls to a fifth and not to zero, so that the weights still differ."""


@dataclass(kw_only=True)
class TrainingRun:
    """A training in progress."""

    tagger: TorchTagger
    data: TrainingData
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
        """The number of steps."""
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
            replace_file(folder / CHECKPOINT, buffer.getvalue())

    def resume(self, folder: Path) -> list[dict[str, Any]]:
        """Set the state to that of an interrupted training of the same identity; returns its history.

        Raises:
            ModelError: The state can't be read.
        """
        file = folder / CHECKPOINT
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


def _trained(network: TaggerNetwork) -> list[Tensor]:
    return [weight for weight in network.parameters() if weight.requires_grad]


class _Trained(nn.Module):  # type: ignore[misc]
    """The weights of a network that training changes, for averages: the others need no copy."""

    def __init__(self, network: TaggerNetwork) -> None:
        super().__init__()
        self.weights = nn.ParameterList(_trained(network))
