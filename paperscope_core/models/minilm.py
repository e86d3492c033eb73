"""Runs the bundled sentence-transformers model on PyTorch alone.

sentence-transformers gives the same vectors, but importing it takes some 7 s of CPU time in every process that embeds a
question. It still runs all other models.
"""

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from numpy import float32
from numpy.typing import NDArray
from tokenizers import Tokenizer
from torch import Tensor
from torch.nn import functional
from torch.nn.utils.rnn import pad_sequence

from paperscope_core.models.bert import Bert

__all__ = ["MiniLM"]

_BATCH = 32


class MiniLM:
    """A BERT encoder whose output is the normalised mean over a text's word pieces.

    The computation follows Reimers and Gurevych (2019), "Sentence-BERT".

    Args:
        folder: A folder of sentence-transformers with such a model.
        device: Where it runs, by PyTorch's name.

    Raises:
        OSError: A file can't be read.
        KeyError: A number is missing.
        RuntimeError: A weight is missing.
    """

    def __init__(self, folder: Path, *, device: str = "cpu") -> None:
        self._device = device
        self._bert = Bert.load(folder).eval().to(device)
        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        pooling = json.loads((folder / "sentence_bert_config.json").read_text(encoding="utf-8"))
        self._tokenizer.enable_truncation(int(pooling["max_seq_length"]))
        self._tokenizer.no_padding()

    def embed(self, texts: Sequence[str]) -> NDArray[float32]:
        """Embed texts, in batches of similar length.

        Returns:
            Unit vectors, a row per text.
        """
        pieces = [torch.tensor(encoding.ids) for encoding in self._tokenizer.encode_batch(list(texts))]
        vectors = np.empty((len(pieces), self._bert.hidden_size), dtype=float32)
        by_length = sorted(range(len(pieces)), key=lambda index: -len(pieces[index]))
        with torch.inference_mode():
            for start in range(0, len(by_length), _BATCH):
                batch = by_length[start : start + _BATCH]
                vectors[batch] = self._encode([pieces[index] for index in batch]).cpu().numpy()
        return vectors

    def _encode(self, pieces: Sequence[Tensor]) -> Tensor:
        lengths = torch.tensor([len(one) for one in pieces], device=self._device)
        ids = pad_sequence(list(pieces), batch_first=True).to(self._device)
        present = torch.arange(ids.shape[1], device=self._device) < lengths[:, None]
        hidden = self._bert(ids, present)
        means = (hidden * present[:, :, None]).sum(dim=1) / lengths[:, None]
        return functional.normalize(means)
