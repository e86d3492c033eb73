"""The network of a tagger: an encoder, an embedding of case, and a linear layer over the first pieces of units."""

import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.utils.rnn import pad_sequence

from ingest.extraction.recognizer.pieces import CASES, Pieces, PieceSplitter, read_tokenizer
from paperscope_core.models.bert import Bert
from paperscope_core.models.onnx_bert import BertShape
from paperscope_core.models.weights import find_weights, load_weights

__all__ = [
    "NetworkOptions",
    "TaggerNetwork",
    "Window",
    "batches",
    "encoder_of_config",
    "load_encoder",
    "load_tokenizer",
    "save_config",
    "windows",
]

WINDOW = 254
"""The pieces of a window: with two at its ends half of the 512 positions of BERT, because longer windows gain nothing
and take quadratic time."""
_OVERLAP = 64


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
        self.head = SoftLabels(options.tags, hidden) if options.table else nn.Linear(hidden, options.tags)
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


class SoftLabels(nn.Module):  # type: ignore[misc]
    """Scores tags by the cosine of a piece's hidden values and the vector of each tag.

    The vectors start as the encodings of the labels' names and are trained, with a common scale and one bias per tag.
    """

    def __init__(self, tags: int, hidden: int) -> None:
        super().__init__()
        self.table = nn.Parameter(torch.randn(tags, hidden))
        self.logarithm_of_scale = nn.Parameter(torch.tensor(math.log(10.0)))
        self.bias = nn.Parameter(torch.zeros(tags))

    def forward(self, hidden: Tensor) -> Tensor:
        cosines = functional.linear(functional.normalize(hidden, dim=-1), functional.normalize(self.table, dim=-1))
        return cosines * self.logarithm_of_scale.exp() + self.bias


class _LowRank(nn.Module):  # type: ignore[misc]
    """A linear layer plus a product of two small matrices (Hu et al. 2021, "LoRA").

    The product counts twice: their alpha is twice the rank.
    """

    def __init__(self, linear: nn.Linear, rank: int) -> None:
        super().__init__()
        self.linear = linear
        self.down = nn.Parameter(torch.empty(rank, linear.in_features))
        self.up = nn.Parameter(torch.zeros(linear.out_features, rank))
        nn.init.kaiming_uniform_(self.down, a=math.sqrt(5))

    def forward(self, values: Tensor) -> Tensor:
        return self.linear(values) + functional.linear(functional.linear(values, self.down), 2.0 * self.up)

    def merged(self) -> nn.Linear:
        with torch.no_grad():
            self.linear.weight += 2.0 * (self.up @ self.down)
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
    return load_weights(
        find_weights(name), lambda folder: PieceSplitter.of(read_tokenizer(Path(folder) / "tokenizer.json"))
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class Window:
    """The pieces [start, end) of a text, which fit into the encoder, and those [from_, to) that it scores."""

    text: int
    start: int
    end: int
    from_: int
    to: int


def windows(lengths: Sequence[int], *, size: int = WINDOW) -> Iterator[Window]:
    """Yield the windows of texts with these numbers of pieces.

    Windows overlap, and each piece is scored by the one whose end is farthest from it.
    """
    overlap = min(_OVERLAP, size // 2)
    for text, length in enumerate(lengths):
        start = from_ = 0
        while True:
            end = min(length, start + size)
            to = length if end == length else end - overlap // 2
            yield Window(text=text, start=start, end=end, from_=from_, to=to)
            if end == length:
                break
            start, from_ = end - overlap, to


def batches(
    pieces: Sequence[Pieces], splitter: PieceSplitter, order: Iterable[Window]
) -> tuple[Tensor, Tensor, Tensor]:
    """Return windows as tensors: numbers, presence and case classes of the pieces, including the ends."""
    before, after = len(splitter.before), len(splitter.after)
    ids, cases = [], []
    for window in order:
        of = pieces[window.text]
        ids.append(torch.tensor([*splitter.before, *of.ids[window.start : window.end], *splitter.after]))
        cases.append(torch.tensor([*[0] * before, *of.cases[window.start : window.end], *[0] * after]))
    lengths = torch.tensor([len(one) for one in ids])
    padded = pad_sequence(ids, batch_first=True)
    return padded, torch.arange(padded.shape[1]) < lengths[:, None], pad_sequence(cases, batch_first=True)
