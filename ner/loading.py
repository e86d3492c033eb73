"""Loads any recognizer that this package trained."""

import json
from pathlib import Path

from ner.recognizer import Recognizer
from paperscope_core.errors import ModelError

__all__ = ["load_recognizer"]


def load_recognizer(folder: Path, *, device: str = "cpu") -> Recognizer:
    """Load what a training wrote.

    Args:
        folder: The folder, with `recognizer.json`.
        device: "cpu" or "cuda".

    Raises:
        InputError: An extra is not installed.
        ModelError: There is no recognizer in the folder, or it can't be loaded.
    """
    try:
        kind = json.loads((folder / "recognizer.json").read_text(encoding="utf-8"))["kind"]
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
