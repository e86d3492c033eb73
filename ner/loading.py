"""Loads any recognizer that this package trained."""

import json
from functools import cache
from importlib.resources import as_file, files
from pathlib import Path
from typing import TYPE_CHECKING

from ner.recognizer import Recognizer
from paperscope_core.errors import ModelError

if TYPE_CHECKING:
    from ner.encoder_tagger import EncoderTagger

__all__ = ["load_recognizer", "papers_recognizer"]


@cache
def papers_recognizer() -> "EncoderTagger":
    """The recognizer of tasks, methods, datasets and metrics in papers that is installed with Paperscope.

    It is an adapter over the bundled MiniLM; `ner/papers/README.md` is its model card.

    Raises:
        ModelError: The bundled MiniLM is missing.
    """
    from ner.encoder_tagger import EncoderTagger

    with as_file(files("ner") / "papers") as folder:
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
        kind = json.loads(settings.read_text(encoding="utf-8"))["kind"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ModelError("no recognizer; name a folder that `paperscope ner train` wrote", where=folder) from error
    if kind == "spacy":
        from ner.spacy_tagger import SpacyTagger

        return SpacyTagger.load(folder)
    if kind == "generative":
        from ner.generative import GenerativeRecognizer

        return GenerativeRecognizer.load(folder, device=device)
    from ner.encoder_tagger import EncoderTagger

    return EncoderTagger.load(folder, device=device)
