"""A recognizer that classifies tokens: an encoder, and the best valid sequence of tags."""

import asyncio
import json
import operator
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import reduce
from itertools import accumulate
from pathlib import Path
from typing import Any, Self

import numpy as np
import torch
from numpy import float64
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.torch import load_file, save

from ingest.extraction.recognizer.examples import Example, Span
from ingest.extraction.recognizer.network import (
    WINDOW,
    NetworkOptions,
    TaggerNetwork,
    batches,
    encoder_of_config,
    load_encoder,
    load_tokenizer,
    save_config,
    windows,
)
from ingest.extraction.recognizer.pieces import Pieces, PieceSplitter, pack, read_tokenizer
from ingest.extraction.recognizer.tagging import TagSet, text_tokens
from paperscope_core.errors import ModelError
from paperscope_core.files import output_errors, write_atomically
from paperscope_core.models.weights import find_weights

__all__ = ["EncoderTagger", "UnitScores"]

# More windows at once no longer fit into a processor's cache.
_BATCH = 8
_SETTINGS, _WEIGHTS, _TOKENIZER, _CONFIG = "recognizer.json", "model.safetensors", "tokenizer.json", "encoder"


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class UnitScores:
    """The scores of a text's tags.

    Attributes:
        units: The characters [start, end) of each unit.
        scores: Of shape (units, tags), divided by the temperature.
    """

    units: tuple[tuple[int, int], ...]
    scores: NDArray[float64]


class EncoderTagger:
    """Tags units of text by an encoder.

    Args:
        name: Its name in reports.
        temperature: Divides scores, so that confidences are probabilities; fitted on data that was not trained on.
        characters: Whether each character is a token where a text has none (writing without spaces).
    """

    def __init__(
        self,
        network: TaggerNetwork,
        splitter: PieceSplitter,
        tags: TagSet,
        *,
        name: str = "encoder",
        temperature: float = 1.0,
        characters: bool = False,
    ) -> None:
        self.name = name
        self.tags = tags
        self.temperature = temperature
        self.network = network
        self.splitter = splitter
        self._characters = characters

    async def recognize(self, examples: Sequence[Example]) -> list[Example]:
        """Find the entities of texts in a thread. See `Recognizer.recognize`."""
        return await asyncio.to_thread(self.tag, examples)

    def tag(self, examples: Sequence[Example]) -> list[Example]:
        """Find the entities of texts. See `Recognizer.recognize`."""
        return [
            replace(example, spans=decode(self.tags, scores), failure=None)
            for example, scores in zip(examples, self.score(examples), strict=True)
        ]

    def score(self, examples: Sequence[Example]) -> list[UnitScores]:
        """Score the tags of texts, in windows of similar length."""
        pieces = self.split(examples)
        documents = [example.document if self.network.options.context else None for example in examples]
        groups = pack(pieces, documents, size=WINDOW)
        rows = self._score([reduce(operator.add, (pieces[index] for index in group)) for group in groups])
        found = []
        for group, of_group in zip(groups, rows, strict=True):
            ends = list(accumulate(len(pieces[index].units) for index in group))
            for index, part in zip(group, np.split(of_group, ends[:-1]), strict=True):
                found.append(UnitScores(units=pieces[index].units, scores=part / self.temperature))
        return found

    def split(self, examples: Sequence[Example]) -> list[Pieces]:
        """Split texts into pieces and units."""
        tokens = [example.tokens or text_tokens(example.text, characters=self._characters) for example in examples]
        return self.splitter.split([example.text for example in examples], tokens)

    def _score(self, pieces: Sequence[Pieces]) -> list[NDArray[float64]]:
        """Score of shape (units, tags) per text."""
        scores = [np.zeros((len(of.ids), len(self.tags.tags))) for of in pieces]
        order = [window for window in windows([len(of.ids) for of in pieces]) if window.start < window.end]
        order.sort(key=lambda window: window.start - window.end)
        device = next(self.network.parameters()).device
        self.network.eval()
        before = len(self.splitter.before)
        with torch.inference_mode():
            for start in range(0, len(order), _BATCH):
                batch = order[start : start + _BATCH]
                inputs = (tensor.to(device) for tensor in batches(pieces, self.splitter, batch))
                for window, row in zip(batch, self.network(*inputs).float().cpu().numpy(), strict=True):
                    shift = before - window.start
                    scores[window.text][window.from_ : window.to] = row[window.from_ + shift : window.to + shift]
        return [rows[list(of.firsts)] for of, rows in zip(pieces, scores, strict=True)]

    def save(self, folder: Path) -> None:
        """Write the tagger; the weights of a frozen encoder are not among its files.

        Raises:
            OutputError: A file can't be written.
        """
        with output_errors(folder):
            folder.mkdir(parents=True, exist_ok=True)
        options = self.network.options
        if options.encoder:
            with output_errors(folder):
                save_config(self.network.encoder, folder / _CONFIG)
            write_atomically(folder / _TOKENIZER, self.splitter.tokenizer.to_str().encode())
        weights = {name: weight.contiguous().cpu() for name, weight in self.network.trained_weights().items()}
        write_atomically(folder / _WEIGHTS, save(weights))
        settings = {
            "kind": "encoder",
            "labels": self.tags.labels,
            "network": asdict(options),
            "temperature": self.temperature,
            "characters": self._characters,
            "tokenizer": self.splitter.digest,
            "frozen": find_weights(options.encoder).name if options.frozen else "",
        }
        write_atomically(folder / _SETTINGS, f"{json.dumps(settings, indent=1, ensure_ascii=False)}\n".encode())

    @classmethod
    def load(cls, folder: Path, *, device: str = "cpu") -> Self:
        """Read what `save` wrote, and the weights of its encoder if they were frozen.

        Raises:
            ModelError: A file is missing or damaged, or the tokenizer or a frozen encoder is not the one that it was
                trained with.
        """
        try:
            settings: dict[str, Any] = json.loads((folder / _SETTINGS).read_text(encoding="utf-8"))
            options = NetworkOptions(**settings["network"])
            encoder = load_encoder(options.encoder) if options.frozen else None
            if encoder is not None and (found := find_weights(options.encoder).name) != settings.get("frozen", found):
                raise ModelError(
                    f"trained over the encoder {settings['frozen']!r}, but {options.encoder!r} is {found!r}; train it "
                    "again",
                    where=folder,
                )
            if options.encoder:
                encoder = encoder or encoder_of_config(folder / _CONFIG)
                splitter = PieceSplitter.of(read_tokenizer(folder / _TOKENIZER))
            else:
                splitter = load_tokenizer("")
            network = TaggerNetwork(replace(options, dropout=0.0), encoder)
            network.load_trained(load_file(folder / _WEIGHTS))
            tags = TagSet(labels=tuple(settings["labels"]))
            temperature, characters = float(settings["temperature"]), bool(settings["characters"])
            trained_with = str(settings["tokenizer"])
        except (OSError, ValueError, KeyError, TypeError, RuntimeError, SafetensorError) as error:
            raise ModelError(f"no tagger can be loaded ({error}); train it again", where=folder) from error
        if splitter.digest != trained_with:
            raise ModelError(
                f"trained with tokenizer {trained_with[:12]}, but here it is {splitter.digest[:12]}; train it again",
                where=folder,
            )
        network.merge_adapters()
        return cls(
            network.to(device).eval(),
            splitter,
            tags,
            name=folder.name,
            temperature=temperature,
            characters=characters,
        )


def decode(tags: TagSet, scored: UnitScores) -> tuple[Span, ...]:
    """Return the entities of the best valid sequence of tags, with their probabilities."""
    entities = list(tags.decode(tags.best(scored.scores)))
    return tuple(
        Span(
            start=scored.units[first][0],
            end=scored.units[after - 1][1],
            label=tags.labels[label],
            confidence=round(confidence, 4),
        )
        for (first, after, label), confidence in zip(entities, tags.confidences(scored.scores, entities), strict=True)
    )
