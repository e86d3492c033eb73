"""The network of a tagger on PyTorch, for training: see `ingest.extraction.recognizer.network`."""

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

import torch
from numpy import float32
from numpy.typing import NDArray
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.utils.rnn import pad_sequence

from ingest.extraction.recognizer.network import LORA_SCALE, NetworkOptions
from ingest.extraction.recognizer.pieces import CASES, Pieces, PieceSplitter, Window, read_tokenizer
from paperscope_core.models.onnx_bert import BertShape
from paperscope_core.models.weights import find_weights, load_weights
from paperscope_lab.ner.torch_bert import Bert

__all__ = [
    "TaggerNetwork",
    "batches",
    "encoder_of_config",
    "load_encoder",
    "load_tokenizer",
    "read_splitter",
    "save_config",
]


class TaggerNetwork(nn.Module):  # type: ignore[misc]
    """Scores the tags of each piece.

    Args:
        encoder: The encoder; None for the one that the options name.

    Raises:
        ModelError: There is no such encoder.
    """

    def __init__(self, options: NetworkOptions, encoder: nn.Module | None = None) -> None:
        super().__init__()
        self.options = options
        self.encoder = encoder if encoder is not None else load_encoder(options.encoder, dropout=options.dropout)
        hidden = self.encoder.hidden_size
        if options.frozen:
            self.encoder.requires_grad_(False)
        if options.rank:
            _replace(self.encoder, nn.Linear, lambda linear: _LowRank(linear, options.rank))
        self.case = nn.Embedding(CASES, self.encoder.embedding_size)
        self.case.requires_grad_(options.case)
        nn.init.zeros_(self.case.weight)
        self.dropout = nn.Dropout(options.dropout)
        self.head = _SoftLabels(options.tags, hidden) if options.table else nn.Linear(hidden, options.tags)
        if not options.table:
            nn.init.normal_(self.head.weight, std=0.02)
            nn.init.zeros_(self.head.bias)

    def forward(self, ids: Tensor, present: Tensor, cases: Tensor) -> Tensor:
        """Score pieces: their numbers, presence and case classes, each of shape (texts, pieces).

        Returns:
            Scores of shape (texts, pieces, tags).
        """
        added = self.case(cases) if self.options.case else None
        return self.head(self.dropout(self.encoder(ids, present, added)))

    def score(self, ids: Sequence[Sequence[int]], cases: Sequence[Sequence[int]]) -> NDArray[float32]:
        """See `Network.score`."""
        device = next(self.parameters()).device
        self.eval()
        with torch.inference_mode():
            scores = self(*(tensor.to(device) for tensor in _padded(ids, cases)))
            return scores.float().cpu().numpy()  # type: ignore[no-any-return]

    def trained_weights(self) -> dict[str, Tensor]:
        """Return the weights that training changes, by name; only the adapter's if there is one."""
        trained = {name for name, weight in self.named_parameters() if weight.requires_grad}
        return {name: weight.detach() for name, weight in self.state_dict().items() if name in trained}

    def load_trained(self, weights: Mapping[str, Tensor]) -> None:
        """Set the weights that training changes.

        Raises:
            KeyError: They are not the weights of this network.
        """
        if weights.keys() != self.trained_weights().keys():
            raise KeyError(f"other weights, such as {sorted(weights.keys() ^ self.trained_weights().keys())[:3]}")
        self.load_state_dict(weights, strict=False)

    def merge_adapters(self) -> None:
        """Add the adapters to the weights that they adapt, so that they cost no time."""
        _replace(self.encoder, _LowRank, _LowRank.merged)


class _SoftLabels(nn.Module):  # type: ignore[misc]
    """Scores tags by the cosine of a piece's hidden values and the vector of each tag.

    The vectors start as the encodings of the labels' names and are trained, with a common scale and one bias per tag.
    """

    def __init__(self, tags: int, hidden: int) -> None:
        super().__init__()
        self.table = nn.Parameter(torch.randn(tags, hidden))
        self.logarithm_of_scale = nn.Parameter(torch.tensor(math.log(10.0)))
        self.bias = nn.Parameter(torch.zeros(tags))

    def forward(self, hidden: Tensor) -> Tensor:
        """Score pieces by their hidden values."""
        cosines = functional.linear(functional.normalize(hidden, dim=-1), functional.normalize(self.table, dim=-1))
        return cosines * self.logarithm_of_scale.exp() + self.bias


class _LowRank(nn.Module):  # type: ignore[misc]
    """A linear layer plus a product of two small matrices (Hu et al. 2021, "LoRA")."""

    def __init__(self, linear: nn.Linear, rank: int) -> None:
        super().__init__()
        self.linear = linear
        self.down = nn.Parameter(torch.empty(rank, linear.in_features))
        self.up = nn.Parameter(torch.zeros(linear.out_features, rank))
        nn.init.kaiming_uniform_(self.down, a=math.sqrt(5))

    def forward(self, values: Tensor) -> Tensor:
        return self.linear(values) + functional.linear(functional.linear(values, self.down), LORA_SCALE * self.up)

    def merged(self) -> nn.Linear:
        with torch.no_grad():
            self.linear.weight += LORA_SCALE * (self.up @ self.down)
        return self.linear


def _replace(parent: nn.Module, kind: type[nn.Module], by: Callable[[nn.Module], nn.Module]) -> None:
    """Replace all modules of a kind below `parent`."""
    for name, child in list(parent.named_children()):
        if isinstance(child, kind):
            setattr(parent, name, by(child))
        else:
            _replace(child, kind, by)


class _HuggingFace(nn.Module):  # type: ignore[misc]
    """Any encoder of transformers."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model
        self.hidden_size = int(model.config.hidden_size)
        # Small ELECTRA and ALBERT project embeddings to hidden values.
        self.embedding_size = int(model.get_input_embeddings().embedding_dim)

    def forward(self, ids: Tensor, present: Tensor, added: Tensor | None = None) -> Tensor:
        if added is None:
            return self.model(input_ids=ids, attention_mask=present.long()).last_hidden_state
        embedded = self.model.get_input_embeddings()(ids) + added
        return self.model(inputs_embeds=embedded, attention_mask=present.long()).last_hidden_state


def load_encoder(name: str, *, dropout: float = 0.0) -> nn.Module:
    """Load an encoder with its weights. A BERT does not need transformers. Raise ModelError."""
    weights = find_weights(name)
    weights.verify()

    def load(folder: str) -> nn.Module:
        if _is_bert(Path(folder)):
            return Bert.load(Path(folder), dropout=dropout)
        from transformers import AutoModel

        return _HuggingFace(AutoModel.from_pretrained(folder))

    return load_weights(weights, load)


def encoder_of_config(folder: Path) -> nn.Module:
    """Return an encoder with the configuration that `save_config` wrote, and weights that PyTorch draws. Raises
    OSError."""
    if _is_bert(folder):
        return Bert(BertShape.read(folder))
    from transformers import AutoConfig, AutoModel

    return _HuggingFace(AutoModel.from_config(AutoConfig.from_pretrained(folder)))


def save_config(encoder: nn.Module, folder: Path) -> None:
    """Write an encoder's configuration. Raise OSError."""
    folder.mkdir(parents=True, exist_ok=True)
    if isinstance(encoder, Bert):
        config = {"model_type": "bert", "hidden_act": "gelu", **asdict(encoder.shape)}
        (folder / "config.json").write_text(json.dumps(config, indent=1), encoding="utf-8")
    else:
        encoder.model.config.save_pretrained(folder)


def _is_bert(folder: Path) -> bool:
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    return bool(config.get("model_type") == "bert" and config.get("hidden_act", "gelu") == "gelu")


def load_tokenizer(name: str) -> PieceSplitter:
    """Load the tokenizer of an encoder. Raise ModelError."""
    return load_weights(find_weights(name), lambda folder: read_splitter(Path(folder)))


def read_splitter(folder: Path) -> PieceSplitter:
    """Read the tokenizer in a folder, or the `vocab.txt` of an older BERT in its place. Raise ValueError."""
    file, words = folder / "tokenizer.json", folder / "vocab.txt"
    old = words.exists() and not file.exists()
    return PieceSplitter.of(_bert_tokenizer(words) if old else read_tokenizer(file))


def _bert_tokenizer(words: Path) -> Tokenizer:
    """Return the tokenizer of older BERTs, which have a list of word pieces and a setting of case."""
    settings = words.with_name("tokenizer_config.json")
    lower = not settings.exists() or json.loads(settings.read_text(encoding="utf-8")).get("do_lower_case", True)
    found = Tokenizer(models.WordPiece.from_file(str(words), unk_token="[UNK]"))  # noqa: S106
    found.normalizer = normalizers.BertNormalizer(lowercase=lower)
    found.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    ends = [(piece, found.token_to_id(piece)) for piece in ("[CLS]", "[SEP]")]
    found.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=ends)
    return found


def batches(
    pieces: Sequence[Pieces], splitter: PieceSplitter, order: Iterable[Window]
) -> tuple[Tensor, Tensor, Tensor]:
    """Return windows as tensors: numbers, presence and case classes of the pieces, including the ends."""
    inputs = [splitter.inputs(pieces[window.text], window) for window in order]
    return _padded([ids for ids, _ in inputs], [cases for _, cases in inputs])


def _padded(ids: Sequence[Sequence[int]], cases: Sequence[Sequence[int]]) -> tuple[Tensor, Tensor, Tensor]:
    padded, classes = (pad_sequence([torch.tensor(of) for of in one], batch_first=True) for one in (ids, cases))
    lengths = torch.tensor([len(one) for one in ids])
    return padded, torch.arange(padded.shape[1]) < lengths[:, None], classes
