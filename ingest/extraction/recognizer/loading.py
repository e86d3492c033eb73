"""The protocol of recognizers of entities, and loading one that a training wrote."""

import json
from collections.abc import Sequence
from functools import cache
from importlib.metadata import entry_points
from importlib.resources import as_file, files
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, cast

from ingest.extraction.recognizer.examples import Example
from paperscope_core.errors import ModelError

if TYPE_CHECKING:
    from ingest.extraction.recognizer.encoder_tagger import EncoderTagger

__all__ = ["Recognizer", "load_recognizer", "papers_recognizer"]

# Distributions name functions here that load other kinds of recognizers: `load(folder, device=...)`.
_KINDS = "paperscope.recognizers"


class Recognizer(Protocol):
    """Finds entities in texts."""

    @property
    def name(self) -> str:
        """Identifies the system in reports."""
        ...

    async def recognize(self, examples: Sequence[Example]) -> list[Example]:
        """Find the entities of texts of any length.

        Args:
            examples: The texts. Their spans are not read; a text without tokens is split into words.

        Returns:
            The same texts in the same order, each with the entities found or with the reason of a failure.

        Raises:
            ModelError: A model can't be reached at all, or its weights can't be loaded.
        """
        ...


@cache
def papers_recognizer() -> "EncoderTagger":
    """Return the recognizer of tasks, methods, datasets and metrics in papers that is installed with Paperscope.

    It is an adapter over the bundled MiniLM; `papers/README.md` is its model card.

    Raises:
        ModelError: The bundled MiniLM is missing.
    """
    from ingest.extraction.recognizer.encoder_tagger import EncoderTagger

    with as_file(files("ingest.extraction.recognizer") / "papers") as folder:
        return EncoderTagger.load(folder)


def load_recognizer(folder: Path, *, device: str = "cpu") -> Recognizer:
    """Load what a training wrote.

    Args:
        folder: The folder, with `recognizer.json`; "papers", if no such folder has one, for `papers_recognizer`.
        device: "cpu" or "cuda".

    Raises:
        InputError: An extra is not installed.
        ModelError: There is no recognizer in the folder, or it can't be loaded.
    """
    settings = folder / "recognizer.json"
    if str(folder) == "papers" and not settings.is_file():
        return papers_recognizer()
    try:
        kind = str(json.loads(settings.read_text(encoding="utf-8"))["kind"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ModelError("no recognizer; name a folder that `paperscope ner train` wrote", where=folder) from error
    if kind == "encoder":
        if device == "cpu":
            from ingest.extraction.recognizer.encoder_tagger import EncoderTagger

            return EncoderTagger.load(folder)
        kind = "torch"
    for entry_point in entry_points(group=_KINDS, name=kind):
        return cast("Recognizer", entry_point.load()(folder, device=device))
    raise ModelError(
        f"a recognizer of the kind {kind!r} needs paperscope-lab: pip install 'paperscope-lab[ner]'", where=folder
    )
