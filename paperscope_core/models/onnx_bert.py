"""A BERT encoder on ONNX Runtime, and the bundled embedder made of it: a process that adds a paper or embeds a question
needs neither PyTorch nor sentence-transformers, whose imports take longer than all else that answers it."""

import json
import mmap
import os
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy import float32
from numpy.typing import NDArray
from tokenizers import Tokenizer

from paperscope_core.telemetry import disable_onnxruntime_telemetry

if TYPE_CHECKING:
    from onnxruntime import InferenceSession

__all__ = ["BertShape", "MiniLM", "OnnxBert", "WeightFile"]

# More texts at once no longer fit into a processor's cache.
_BATCH = 8
# The piece that stands for a word outside a vocabulary of BERT.
_UNKNOWN = "[UNK]"
_MICROSOFT = "com.microsoft"
# Versions of the format and of the two sets of operators, which every ONNX Runtime since 1.15 reads.
_IR_VERSION, _OPSETS = 9, {"": 17, _MICROSOFT: 1}
_FLOAT, _INT32 = 1, 6


@dataclass(frozen=True, kw_only=True, slots=True)
class BertShape:
    """The numbers of a BERT encoder, under the names of its `config.json`."""

    vocab_size: int
    hidden_size: int
    num_hidden_layers: int
    num_attention_heads: int
    intermediate_size: int
    max_position_embeddings: int = 512
    layer_norm_eps: float = 1e-12

    @classmethod
    def read(cls, folder: Path) -> Self:
        """Read `config.json`.

        Raises:
            OSError: The file can't be read.
            ValueError: It is of another architecture.
            KeyError: It lacks a number.
        """
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        kind = config.get("model_type", "bert"), config.get("hidden_act", "gelu")
        if kind != ("bert", "gelu"):
            raise ValueError(f"its encoder is {kind[0]} with {kind[1]}, not a BERT with gelu")
        return cls(**{name: config[name] for name in cls.__dataclass_fields__})


class WeightFile:
    """The 32-bit floats of a `.safetensors` file. They take memory only once they are used.

    Attributes:
        weights: The values by name.

    Raises:
        OSError: The file can't be read.
        ValueError: It is damaged.
        KeyError: It is damaged.
    """

    def __init__(self, path: Path) -> None:
        with path.open("rb") as file:
            self._mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        begin = 8 + int.from_bytes(self._mapped[:8], "little")
        self.weights: dict[str, NDArray[float32]] = {
            name: np.frombuffer(
                self._mapped, dtype=float32, count=prod(of["shape"]), offset=begin + of["data_offsets"][0]
            ).reshape(of["shape"])
            for name, of in json.loads(self._mapped[8:begin]).items()
            if name != "__metadata__" and of["dtype"] == "F32"
        }

    def release(self) -> None:
        """Free the memory of what was read; what is used again is read from the file again."""
        if hasattr(mmap, "MADV_DONTNEED"):
            self._mapped.madvise(mmap.MADV_DONTNEED)


class OnnxBert:
    """The encoder of Devlin et al. (2019), "BERT", without its pooler, on the processor.

    Args:
        weights: The weights under the names of transformers. The session copies most of them.

    Raises:
        KeyError: A weight is missing.
    """

    def __init__(self, shape: BertShape, weights: Mapping[str, NDArray[float32]]) -> None:
        self.hidden_size = shape.hidden_size
        self._words = weights["embeddings.word_embeddings.weight"]
        # All pieces are of type 0.
        types = weights["embeddings.token_type_embeddings.weight"]
        self._positions = weights["embeddings.position_embeddings.weight"] + types[0]
        self._session = _session(shape, weights)

    @classmethod
    def read(cls, folder: Path) -> Self:
        """Read `config.json` and `model.safetensors`.

        Raises:
            OSError: A file can't be read.
            ValueError: A file is damaged, or the model is no BERT.
            KeyError: A number or a weight is missing.
        """
        file = WeightFile(folder / "model.safetensors")
        bert = cls(BertShape.read(folder), file.weights)
        file.release()
        return bert

    def encode(
        self, pieces: Sequence[Sequence[int]], *, added: Sequence[NDArray[float32]] | None = None
    ) -> tuple[NDArray[float32], NDArray[np.bool_]]:
        """Encode word pieces.

        Args:
            pieces: The numbers of each text's pieces.
            added: What is added to the embeddings of each text's pieces, of shape (pieces, hidden).

        Returns:
            Hidden values of shape (texts, pieces, hidden), and where a text has a piece.
        """
        lengths = np.array([len(one) for one in pieces])
        longest = int(lengths.max())
        present = np.arange(longest) < lengths[:, None]
        ids = np.zeros((len(pieces), longest), dtype=np.int64)
        ids[present] = [piece for one in pieces for piece in one]
        embedded = self._words[ids] + self._positions[:longest]
        if added is not None:
            embedded[present] += np.concatenate(added)
        [hidden] = self._session.run(None, {"embedded": embedded, "present": present.astype(np.int32)})
        return hidden, present


class MiniLM:
    """A BERT encoder whose output is the normalised mean over a text's word pieces.

    The computation follows Reimers and Gurevych (2019), "Sentence-BERT".

    Args:
        folder: A folder of sentence-transformers with such a model.

    Raises:
        OSError: A file can't be read.
        ValueError: A file is damaged.
        KeyError: A number or a weight is missing.
    """

    def __init__(self, folder: Path) -> None:
        self._bert = OnnxBert.read(folder)
        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        pooling = json.loads((folder / "sentence_bert_config.json").read_text(encoding="utf-8"))
        self._tokenizer.enable_truncation(int(pooling["max_seq_length"]))
        self._tokenizer.no_padding()

    def embed(self, texts: Sequence[str]) -> NDArray[float32]:
        """Embed texts, in batches of similar length.

        Returns:
            Unit vectors, a row per text; zeros for a text in a language of which the vocabulary has no words.
        """
        encodings = self._tokenizer.encode_batch(list(texts))
        pieces = [encoding.ids for encoding in encodings]
        vectors = np.empty((len(pieces), self._bert.hidden_size), dtype=float32)
        by_length = sorted(range(len(pieces)), key=lambda index: -len(pieces[index]))
        for start in range(0, len(by_length), _BATCH):
            batch = by_length[start : start + _BATCH]
            hidden, present = self._bert.encode([pieces[index] for index in batch])
            sums = (hidden * present[:, :, None]).sum(axis=1)
            vectors[batch] = sums / np.linalg.norm(sums, axis=1, keepdims=True)
        vectors[[index for index, encoding in enumerate(encodings) if _is_foreign(encoding.tokens)]] = 0.0
        return vectors


def _is_foreign(pieces: Sequence[str]) -> bool:
    """Return whether more than half of a text's pieces with letters are unknown or single letters that are not ASCII.

    The share is at most .16 in one sentence each of eight languages in Latin letters, and at least .94 in ten others.
    """
    letters = [piece.removeprefix("##") for piece in pieces if piece == _UNKNOWN or not piece.startswith("[")]
    spelled = [piece for piece in letters if any(map(str.isalpha, piece))]
    foreign = sum(piece == _UNKNOWN or (len(piece) == 1 and not piece.isascii()) for piece in spelled)
    return foreign > len(spelled) / 2


def _session(shape: BertShape, weights: Mapping[str, NDArray[float32]]) -> "InferenceSession":
    disable_onnxruntime_telemetry()
    from onnxruntime import InferenceSession, OrtValue, SessionOptions

    graph = _Graph(weights)
    model = graph.encoder(shape)
    options = SessionOptions()
    # As many threads as PyTorch and FAISS have. They don't spin, because other processes may need the processor.
    options.intra_op_num_threads = _threads()
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    names = list(graph.used)
    options.add_external_initializers(names, [OrtValue.ortvalue_from_numpy(graph.used[name]) for name in names])
    return InferenceSession(model, options, providers=["CPUExecutionProvider"])


def _threads() -> int:
    """Return OMP_NUM_THREADS, or else the number of processors that this process may use."""
    given = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
    if given.isdecimal() and int(given):
        return int(given)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class _Graph:
    """The nodes of an encoder as an ONNX model, whose weights are given to the session apart from it.

    Attributes:
        used: The weights, by name.
    """

    def __init__(self, weights: Mapping[str, NDArray[float32]]) -> None:
        self.used: dict[str, NDArray[float32]] = {}
        self._weights = weights
        self._nodes: list[bytes] = []

    def encoder(self, shape: BertShape) -> bytes:
        """Return the model: from `embedded`, of shape (texts, pieces, hidden), and `present` to hidden values."""
        eps = float32(shape.layer_norm_eps)
        norm = [self._weight(f"embeddings.LayerNorm.{name}") for name in ("weight", "bias")]
        hidden = self._add("LayerNormalization", ["embedded", *norm], domain="", epsilon=eps)
        for number in range(shape.num_hidden_layers):
            prefix = f"encoder.layer.{number}"
            parts = [f"{prefix}.attention.self.{name}" for name in ("query", "key", "value")]
            bias = f"{prefix}.attention.self.bias"
            self.used[bias] = np.concatenate([self._weights[f"{part}.bias"] for part in parts])
            inputs = [*(self._product(part, hidden) for part in parts), bias, "present"]
            attended = self._add("MultiHeadAttention", inputs, num_heads=shape.num_attention_heads)
            hidden = self._output(f"{prefix}.attention.output", attended, hidden, eps)
            inner = self._product(f"{prefix}.intermediate.dense", hidden)
            inner = self._add("BiasGelu", [inner, self._weight(f"{prefix}.intermediate.dense.bias")])
            hidden = self._output(f"{prefix}.output", inner, hidden, eps)
        return self._model(hidden)

    def _output(self, prefix: str, values: str, residual: str, eps: float32) -> str:
        product = self._product(f"{prefix}.dense", values)
        rest = [self._weight(f"{prefix}.{name}") for name in ("LayerNorm.weight", "LayerNorm.bias", "dense.bias")]
        return self._add("SkipLayerNormalization", [product, residual, *rest], epsilon=eps)

    def _product(self, prefix: str, values: str) -> str:
        return self._add("FusedMatMul", [values, self._weight(f"{prefix}.weight")], transB=1)

    def _weight(self, name: str) -> str:
        self.used[name] = self._weights[name]
        return name

    def _add(
        self, operator: str, inputs: Sequence[str], *, domain: str = _MICROSOFT, **attributes: int | float32
    ) -> str:
        """Add a node. Return the name of its output."""
        output = f"{len(self._nodes)}.{operator}"
        # NodeProto, with AttributeProto.
        fields: list[tuple[int, Any]] = [*((1, name) for name in inputs), (2, output), (4, operator), (7, domain)]
        for name, value in attributes.items():
            number, kind = (2, 1) if isinstance(value, np.floating) else (3, 2)
            fields.append((5, _message((1, name), (number, value), (20, kind))))
        self._nodes.append(_message(*fields))
        return output

    def _model(self, output: str) -> bytes:
        """Return a ModelProto with the nodes in a GraphProto."""
        # TensorProto, with the place of its values outside the model.
        outside = _message((1, "location"), (2, "memory"))
        initializers = [
            _message(*((1, size) for size in value.shape), (2, _FLOAT), (8, name), (13, outside), (14, 1))
            for name, value in self.used.items()
        ]
        # ValueInfoProto, with TypeProto.
        embedded, present, hidden = (
            _message((1, name), (2, _message((1, _message((1, kind))))))
            for name, kind in (("embedded", _FLOAT), ("present", _INT32), (output, _FLOAT))
        )
        graph = _message(
            *((1, node) for node in self._nodes),
            (2, "bert"),
            *((5, initializer) for initializer in initializers),
            (11, embedded),
            (11, present),
            (12, hidden),
        )
        opsets = (_message((1, domain), (2, version)) for domain, version in _OPSETS.items())
        return _message((1, _IR_VERSION), (7, graph), *((8, opset) for opset in opsets))


def _message(*fields: tuple[int, bytes | str | int | float32]) -> bytes:
    """Return a message of protocol buffers: the numbers of its fields, with their values."""
    parts: list[bytes] = []
    for number, value in fields:
        if isinstance(value, bytes | str):
            data = value.encode() if isinstance(value, str) else value
            parts += [_varint(number << 3 | 2), _varint(len(data)), data]
        elif isinstance(value, np.floating):
            parts += [_varint(number << 3 | 5), struct.pack("<f", value)]
        else:
            parts += [_varint(number << 3), _varint(value)]
    return b"".join(parts)


def _varint(number: int) -> bytes:
    digits = bytearray()
    while number > 127:
        digits.append(number & 127 | 128)
        number >>= 7
    return bytes([*digits, number])
