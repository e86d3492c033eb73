"""A recognizer that classifies tokens: an encoder, and the best valid sequence of tags."""

import asyncio
import json
import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import accumulate
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy import float64
from numpy.typing import NDArray

from ingest.extraction.recognizer.examples import Example, Span
from ingest.extraction.recognizer.network import Network, NetworkOptions, OnnxNetwork
from ingest.extraction.recognizer.pieces import WINDOW, Pieces, PieceSplitter, pack, read_tokenizer, windows
from ingest.extraction.recognizer.tagging import TagSet, text_tokens
from paperscope_core.errors import ModelError
from paperscope_core.models.weights import find_weights

__all__ = ["SETTINGS", "TOKENIZER", "EncoderTagger", "UnitScores"]

SETTINGS, TOKENIZER = "recognizer.json", "tokenizer.json"
"""The names of files in a tagger's folder."""
# More windows at once no longer fit into a processor's cache.
_BATCH = 8


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
        network: Network,
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
        self.characters = characters

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
        tokens = [example.tokens or text_tokens(example.text, characters=self.characters) for example in examples]
        return self.splitter.split([example.text for example in examples], tokens)

    def _score(self, pieces: Sequence[Pieces]) -> list[NDArray[float64]]:
        """Score of shape (units, tags) per text."""
        scores = [np.zeros((len(of.ids), len(self.tags.tags))) for of in pieces]
        order = [window for window in windows([len(of.ids) for of in pieces]) if window.start < window.end]
        order.sort(key=lambda window: window.start - window.end)
        before = len(self.splitter.before)
        for start in range(0, len(order), _BATCH):
            batch = order[start : start + _BATCH]
            inputs = [self.splitter.inputs(pieces[window.text], window) for window in batch]
            found = self.network.score([ids for ids, _ in inputs], [cases for _, cases in inputs])
            for window, row in zip(batch, found, strict=True):
                shift = before - window.start
                scores[window.text][window.from_ : window.to] = row[window.from_ + shift : window.to + shift]
        return [rows[list(of.firsts)] for of, rows in zip(pieces, scores, strict=True)]

    @classmethod
    def load(cls, folder: Path, *, read: Callable[[Path, NetworkOptions], Network] = OnnxNetwork.read) -> Self:
        """Load what a training wrote.

        Args:
            read: Reads the network.

        Raises:
            ModelError: A file is missing or damaged, or the tokenizer or a frozen encoder is not the one that it was
                trained with.
        """
        try:
            settings: dict[str, Any] = json.loads((folder / SETTINGS).read_text(encoding="utf-8"))
            options = NetworkOptions(**settings["network"])
            if options.frozen and (found := find_weights(options.encoder).name) != settings.get("frozen", found):
                raise ModelError(
                    f"trained over the encoder {settings['frozen']!r}, but {options.encoder!r} is {found!r}; train it "
                    "again",
                    where=folder,
                )
            tokenizer = (folder if options.encoder else Path(find_weights("").location)) / TOKENIZER
            splitter = PieceSplitter.of(read_tokenizer(tokenizer))
            tagger = cls(
                read(folder, options),
                splitter,
                TagSet(labels=tuple(settings["labels"])),
                name=folder.name,
                temperature=float(settings["temperature"]),
                characters=bool(settings["characters"]),
            )
            trained_with = str(settings["tokenizer"])
        except (OSError, ValueError, KeyError, TypeError, RuntimeError) as error:
            raise ModelError(f"no tagger can be loaded ({error}); train it again", where=folder) from error
        if splitter.digest != trained_with:
            raise ModelError(
                f"trained with tokenizer {trained_with[:12]}, but here it is {splitter.digest[:12]}; train it again",
                where=folder,
            )
        return tagger


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
