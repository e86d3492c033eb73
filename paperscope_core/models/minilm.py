"""Runs the bundled sentence-transformers model on PyTorch alone.

sentence-transformers gives the same vectors, but importing it takes some 7 s of CPU time in every process that embeds a
question. It still runs all other models.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy import float32
from numpy.typing import NDArray
from safetensors.torch import load_file
from tokenizers import Tokenizer
from torch import Tensor
from torch.nn import functional
from torch.nn.utils.rnn import pad_sequence

__all__ = ["MiniLM"]

_BATCH = 32


class MiniLM:
    """A BERT encoder whose output is the normalised mean over a text's word pieces.

    The computation is that of Devlin et al. (2019), "BERT", and of Reimers and Gurevych (2019), "Sentence-BERT".

    Args:
        folder: A folder of sentence-transformers with such a model.

    Raises:
        OSError: A file can't be read.
        KeyError: A weight is missing.
    """

    def __init__(self, folder: Path) -> None:
        config = _read_json(folder / "config.json")
        self.dimension = int(config["hidden_size"])
        self._layers = int(config["num_hidden_layers"])
        self._heads = int(config["num_attention_heads"])
        self._epsilon = float(config["layer_norm_eps"])
        self._weights = load_file(folder / "model.safetensors")
        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.enable_truncation(int(_read_json(folder / "sentence_bert_config.json")["max_seq_length"]))
        self._tokenizer.no_padding()

    def embed(self, texts: Sequence[str]) -> NDArray[float32]:
        """Embed texts, in batches of similar length.

        Returns:
            Unit vectors of shape (texts, dimension).
        """
        pieces = [torch.tensor(encoding.ids) for encoding in self._tokenizer.encode_batch(list(texts))]
        vectors = np.empty((len(pieces), self.dimension), dtype=float32)
        by_length = sorted(range(len(pieces)), key=lambda index: -len(pieces[index]))
        with torch.inference_mode():
            for start in range(0, len(by_length), _BATCH):
                batch = by_length[start : start + _BATCH]
                vectors[batch] = self._encode([pieces[index] for index in batch]).numpy()
        return vectors

    def _encode(self, pieces: Sequence[Tensor]) -> Tensor:
        lengths = torch.tensor([len(one) for one in pieces])
        ids = pad_sequence(list(pieces), batch_first=True)
        present = torch.arange(ids.shape[1]) < lengths[:, None]
        tables = {
            name: self._weights[f"embeddings.{name}_embeddings.weight"] for name in ("word", "position", "token_type")
        }
        # All pieces are of type 0.
        hidden = tables["word"][ids] + tables["position"][: ids.shape[1]] + tables["token_type"][0]
        hidden = self._norm(hidden, "embeddings.LayerNorm")
        mask = None if bool(present.all()) else present[:, None, None, :]
        for layer in range(self._layers):
            hidden = self._apply_layer(hidden, mask, f"encoder.layer.{layer}")
        means = (hidden * present[:, :, None]).sum(dim=1) / lengths[:, None]
        return functional.normalize(means)

    def _apply_layer(self, hidden: Tensor, mask: Tensor | None, layer: str) -> Tensor:
        query, key, value = (
            self._linear(hidden, f"{layer}.attention.self.{name}").unflatten(-1, (self._heads, -1)).transpose(1, 2)
            for name in ("query", "key", "value")
        )
        attended = functional.scaled_dot_product_attention(query, key, value, attn_mask=mask)
        attended = self._linear(attended.transpose(1, 2).flatten(2), f"{layer}.attention.output.dense")
        hidden = self._norm(hidden + attended, f"{layer}.attention.output.LayerNorm")
        expanded = functional.gelu(self._linear(hidden, f"{layer}.intermediate.dense"))
        return self._norm(hidden + self._linear(expanded, f"{layer}.output.dense"), f"{layer}.output.LayerNorm")

    def _linear(self, values: Tensor, name: str) -> Tensor:
        return functional.linear(values, self._weights[f"{name}.weight"], self._weights[f"{name}.bias"])

    def _norm(self, values: Tensor, name: str) -> Tensor:
        weight, bias = (self._weights[f"{name}.{part}"] for part in ("weight", "bias"))
        return functional.layer_norm(values, (self.dimension,), weight, bias, self._epsilon)


def _read_json(file: Path) -> dict[str, Any]:
    values: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return values
