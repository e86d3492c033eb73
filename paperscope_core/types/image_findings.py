"""What a vision model read in a paper's images."""

import re
from dataclasses import dataclass
from typing import Literal

from paperscope_core.types.place import Place

__all__ = [
    "DataPoint",
    "ImageDescription",
    "ImageReading",
    "PaperImages",
    "PictureKind",
    "SeenEntity",
    "SkippedImage",
    "UnreadImage",
    "marked_words",
    "model_words",
    "paper_words",
]

PictureKind = Literal["plot", "diagram", "photo", "table", "equation", "other"]

# Papers don't use these brackets. Those in a model's reply are replaced, so that no reply can close the mark early.
_OPEN, _CLOSE = "⟦a vision model's words: ", "⟧"
_MARKED = re.compile(rf"\n?{re.escape(_OPEN)}(?P<words>[^⟧]*)(?:⟧|\Z)")


@dataclass(frozen=True, kw_only=True, slots=True)
class SeenEntity:
    """A name printed in an image, with what the image shows about it."""

    name: str
    type: str
    description: str


@dataclass(frozen=True, kw_only=True, slots=True)
class DataPoint:
    """A point of a plot; `estimated` if its value is read off the axes and not printed."""

    series: str
    x: str
    y: str
    estimated: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class ImageDescription:
    """What a vision model read in an element's image, in the model's words.

    Attributes:
        crop: The image's content hash.
        picture: The kind of image.
        visible_text: Texts printed in the image.
        entities: Names printed in the image.
        points: Points of a plot.
        latex: An equation as LaTeX; the parser's text is kept, too.
        dropped: The number of entities, lines and points dropped from the reply: too many, repeated or not printed.
    """

    element: str
    crop: str
    place: Place
    picture: PictureKind
    text: str
    visible_text: tuple[str, ...] = ()
    entities: tuple[SeenEntity, ...] = ()
    points: tuple[DataPoint, ...] = ()
    latex: str = ""
    dropped: int = 0
    kind: Literal["description"] = "description"


@dataclass(frozen=True, kw_only=True, slots=True)
class SkippedImage:
    """An image that a rule excludes, with the reason."""

    element: str
    crop: str
    place: Place
    reason: str
    kind: Literal["skipped"] = "skipped"


@dataclass(frozen=True, kw_only=True, slots=True)
class UnreadImage:
    """An image that could not be read, with the reason. It is retried the next time."""

    element: str
    crop: str
    place: Place
    reason: str
    kind: Literal["unread"] = "unread"


ImageReading = ImageDescription | SkippedImage | UnreadImage


@dataclass(frozen=True, kw_only=True, slots=True)
class PaperImages:
    """The readings of a paper's images, in reading order.

    `reader` names the model and its prompt; it is "" if no model read the images.
    """

    reader: str = ""
    readings: tuple[ImageReading, ...] = ()

    @property
    def descriptions(self) -> tuple[ImageDescription, ...]:
        """The images that were read."""
        return tuple(reading for reading in self.readings if isinstance(reading, ImageDescription))

    @property
    def unread(self) -> tuple[UnreadImage, ...]:
        """The images that could not be read."""
        return tuple(reading for reading in self.readings if isinstance(reading, UnreadImage))

    @property
    def skipped(self) -> tuple[SkippedImage, ...]:
        """The images that a rule excludes from reading."""
        return tuple(reading for reading in self.readings if isinstance(reading, SkippedImage))


def model_words(text: str) -> str:
    """Mark a model's words in a text that also contains the paper's words."""
    return f"{_OPEN}{text.replace('⟦', '[').replace('⟧', ']')}{_CLOSE}"


def marked_words(text: str) -> tuple[str, ...]:
    """Return what `model_words` marked in a text."""
    return tuple(match["words"] for match in _MARKED.finditer(text)) if _OPEN in text else ()


def paper_words(text: str) -> str:
    """Remove what `model_words` marked; the rest may be quoted as the paper's words."""
    return _MARKED.sub("", text).strip() if _OPEN in text else text
