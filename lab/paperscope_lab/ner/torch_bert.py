"""A BERT encoder on PyTorch alone, to train recognizers of entities: transformers takes several times longer to
import."""

from pathlib import Path
from typing import Self

import torch
from safetensors.torch import load_file
from torch import Tensor, nn
from torch.nn import functional

from paperscope_core.models.onnx_bert import BertShape

__all__ = ["Bert"]


class Bert(nn.Module):  # type: ignore[misc]
    """The encoder of Devlin et al. (2019), "BERT", without its pooler. Its weights have the names of transformers.

    Args:
        shape: Its numbers. The weights are those that PyTorch draws.
        dropout: The share of hidden values that training sets to zero. Attention weights have no dropout, because with
            it PyTorch has no fast attention on processors.
    """

    def __init__(self, shape: BertShape, *, dropout: float = 0.0) -> None:
        super().__init__()
        self.shape = shape
        self.embeddings = _Embeddings(shape, dropout)
        self.encoder = nn.Module()
        self.encoder.layer = nn.ModuleList(_Layer(shape, dropout) for _ in range(shape.num_hidden_layers))

    @classmethod
    def load(cls, folder: Path, *, dropout: float = 0.0) -> Self:
        """Read an encoder from a folder with `config.json` and `model.safetensors`.

        Raises:
            OSError: A file can't be read.
            KeyError: `config.json` lacks a number.
            RuntimeError: A weight is missing.
        """
        with torch.device("meta"):
            bert = cls(BertShape.read(folder), dropout=dropout)
        weights = load_file(folder / "model.safetensors")
        # Models with a head have the prefix.
        weights = {name.removeprefix("bert."): weight for name, weight in weights.items()}
        bert.load_state_dict({name: weights[name] for name in bert.state_dict() if name in weights}, assign=True)
        return bert

    @property
    def hidden_size(self) -> int:
        """The number of hidden values of a piece."""
        return self.shape.hidden_size

    @property
    def embedding_size(self) -> int:
        """The number of values of a piece's embedding."""
        return self.shape.hidden_size

    def forward(self, ids: Tensor, present: Tensor, added: Tensor | None = None) -> Tensor:
        """Encode word pieces.

        Args:
            ids: Their numbers, of shape (texts, pieces).
            present: False where a text has no piece, of the same shape.
            added: What is added to the pieces' embeddings, of shape (texts, pieces, hidden).

        Returns:
            Hidden values of shape (texts, pieces, hidden).
        """
        hidden = self.embeddings(ids, added)
        mask = None if bool(present.all()) else present[:, None, None, :]
        for layer in self.encoder.layer:
            hidden = layer(hidden, mask)
        return hidden


class _Embeddings(nn.Module):  # type: ignore[misc]
    def __init__(self, shape: BertShape, dropout: float) -> None:
        super().__init__()
        self.word_embeddings = nn.Embedding(shape.vocab_size, shape.hidden_size)
        self.position_embeddings = nn.Embedding(shape.max_position_embeddings, shape.hidden_size)
        self.token_type_embeddings = nn.Embedding(2, shape.hidden_size)
        self.LayerNorm = nn.LayerNorm(shape.hidden_size, eps=shape.layer_norm_eps)
        self.dropout = nn.Dropout(dropout)

    def forward(self, ids: Tensor, added: Tensor | None) -> Tensor:
        words = self.word_embeddings(ids)
        if added is not None:
            words = words + added
        # All pieces are of type 0.
        hidden = words + self.position_embeddings.weight[: ids.shape[1]] + self.token_type_embeddings.weight[0]
        return self.dropout(self.LayerNorm(hidden))


class _Layer(nn.Module):  # type: ignore[misc]
    def __init__(self, shape: BertShape, dropout: float) -> None:
        super().__init__()
        self.attention = nn.Module()
        self.attention.self = _Attention(shape)
        self.attention.output = _Output(shape.hidden_size, shape, dropout)
        self.intermediate = nn.Module()
        self.intermediate.dense = nn.Linear(shape.hidden_size, shape.intermediate_size)
        self.output = _Output(shape.intermediate_size, shape, dropout)

    def forward(self, hidden: Tensor, mask: Tensor | None) -> Tensor:
        hidden = self.attention.output(self.attention.self(hidden, mask), hidden)
        return self.output(functional.gelu(self.intermediate.dense(hidden)), hidden)


class _Attention(nn.Module):  # type: ignore[misc]
    def __init__(self, shape: BertShape) -> None:
        super().__init__()
        self.query, self.key, self.value = (nn.Linear(shape.hidden_size, shape.hidden_size) for _ in range(3))
        self._heads = shape.num_attention_heads

    def forward(self, hidden: Tensor, mask: Tensor | None) -> Tensor:
        query, key, value = (
            linear(hidden).unflatten(-1, (self._heads, -1)).transpose(1, 2)
            for linear in (self.query, self.key, self.value)
        )
        attended = functional.scaled_dot_product_attention(query, key, value, attn_mask=mask)
        return attended.transpose(1, 2).flatten(2)


class _Output(nn.Module):  # type: ignore[misc]
    def __init__(self, width: int, shape: BertShape, dropout: float) -> None:
        super().__init__()
        self.dense = nn.Linear(width, shape.hidden_size)
        self.LayerNorm = nn.LayerNorm(shape.hidden_size, eps=shape.layer_norm_eps)
        self.dropout = nn.Dropout(dropout)

    def forward(self, values: Tensor, residual: Tensor) -> Tensor:
        return self.LayerNorm(residual + self.dropout(self.dense(values)))
