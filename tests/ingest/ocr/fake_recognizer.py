"""A recogniser of text without a model."""

from collections.abc import Sequence

from PIL import Image

from ingest.ocr import RecognizedWord

__all__ = ["FakeRecognizer"]


class FakeRecognizer:
    """Returns the same words for every image, and records the sizes of the images."""

    def __init__(self, words: Sequence[RecognizedWord] = ()) -> None:
        self._words = tuple(words)
        self.seen: list[tuple[int, int]] = []

    def recognize(self, picture: Image.Image) -> Sequence[RecognizedWord]:
        """See `TextRecognizer.recognize`."""
        self.seen.append(picture.size)
        return self._words
