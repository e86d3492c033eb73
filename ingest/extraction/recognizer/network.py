"""The network of a tagger: an encoder, an embedding of case, and a linear layer over the first pieces of units.

It runs on ONNX Runtime; the laboratory has the same network on PyTorch, trains it, and writes what `OnnxNetwork` reads.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, Self

import numpy as np
from numpy import float32
from numpy.typing import NDArray

from paperscope_core.models.onnx_bert import BertShape, OnnxBert, WeightFile
from paperscope_core.models.weights import find_weights, load_weights

__all__ = ["CONFIG", "LORA_SCALE", "WEIGHTS", "Network", "NetworkOptions", "OnnxNetwork"]

WEIGHTS, CONFIG = "model.safetensors", "encoder"
"""The names in a tagger's folder of the weights that training changed, and of the folder of the encoder's shape."""
LORA_SCALE = 2.0
"""An adapter's product counts twice: its alpha is twice its rank."""
_SHORTEST = 1e-12


@dataclass(frozen=True, kw_only=True, slots=True)
class NetworkOptions:
    """What determines a network's form.

    Attributes:
        encoder: "" for the bundled MiniLM, a folder, or a Hugging Face name.
        case: Whether an embedding of case is added, which an uncased encoder needs.
        table: Whether the encoder is frozen, and only a table of soft labels is trained, one vector per tag.
        rank: The rank of the adapter (LoRA); 0 to train the whole encoder.
        context: Whether the encoder sees a text with its neighbours in its document.
        freeze: Whether only what is added to the encoder is trained.
    """

    encoder: str = ""
    tags: int
    case: bool = True
    context: bool = True
    table: bool = False
    rank: int = 0
    dropout: float = 0.1
    freeze: bool = False

    @property
    def frozen(self) -> bool:
        """Whether training leaves the encoder's weights as they are."""
        return self.table or self.freeze or self.rank > 0


class Network(Protocol):
    """Scores the tags of pieces."""

    options: NetworkOptions

    def score(self, ids: Sequence[Sequence[int]], cases: Sequence[Sequence[int]]) -> NDArray[float32]:
        """Score the pieces of texts, given by their numbers and case classes.

        Returns:
            Scores of shape (texts, pieces of the longest text, tags).
        """
        ...


class OnnxNetwork:
    """A network whose encoder is a BERT on ONNX Runtime, on the processor.

    Args:
        trained: The weights that training changed, under the names of the laboratory's network.

    Raises:
        KeyError: A weight is missing.
    """

    def __init__(self, options: NetworkOptions, bert: OnnxBert, trained: dict[str, NDArray[float32]]) -> None:
        self.options = options
        self._bert = bert
        self._cases = trained["case.weight"] if options.case else None
        table = trained["head.table"] if options.table else trained["head.weight"]
        if options.table:
            # The cosine of a piece's hidden values and the vector of each tag, with a common scale.
            table = _unit(table) * np.exp(trained["head.logarithm_of_scale"])
        self._head, self._bias = np.array(table.T), np.array(trained["head.bias"])

    @classmethod
    def read(cls, folder: Path, options: NetworkOptions) -> Self:
        """Read the weights that a training wrote to a folder, and those of its encoder if they were frozen.

        Raises:
            ModelError: There is no such encoder.
            OSError: A file can't be read.
            ValueError: A file is damaged, or the encoder is no BERT.
            KeyError: A number or a weight is missing.
        """
        file = WeightFile(folder / WEIGHTS)
        if options.frozen or not options.encoder:
            found = find_weights(options.encoder)
            found.verify()
            encoder = load_weights(found, Path)
        shape = BertShape.read(encoder if options.frozen or not options.encoder else folder / CONFIG)
        if options.frozen:
            base = WeightFile(encoder / WEIGHTS)
            bert = OnnxBert(shape, _adapted(base.weights, file.weights))
            base.release()
        else:
            bert = OnnxBert(shape, {name.removeprefix("encoder."): weight for name, weight in file.weights.items()})
        network = cls(options, bert, file.weights)
        file.release()
        return network

    def score(self, ids: Sequence[Sequence[int]], cases: Sequence[Sequence[int]]) -> NDArray[float32]:
        """See `Network.score`."""
        added = None if self._cases is None else [self._cases[list(of)] for of in cases]
        hidden, _ = self._bert.encode(ids, added=added)
        return np.asarray((_unit(hidden) if self.options.table else hidden) @ self._head + self._bias)


def _unit(vectors: NDArray[float32]) -> NDArray[float32]:
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return np.asarray(vectors / np.maximum(lengths, _SHORTEST))


def _adapted(base: dict[str, NDArray[float32]], trained: dict[str, NDArray[float32]]) -> dict[str, NDArray[float32]]:
    """Return an encoder's weights with its adapters added to those that they adapt, so that they cost no time."""
    # Models with a head have the prefix.
    weights = {name.removeprefix("bert."): weight for name, weight in base.items()}
    for name, down in trained.items():
        if name.endswith(".down"):
            layer = name.removesuffix(".down")
            adapted = f"{layer.removeprefix('encoder.')}.weight"
            weights[adapted] = weights[adapted] + float32(LORA_SCALE) * (trained[f"{layer}.up"] @ down)
    return weights
