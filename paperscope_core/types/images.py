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
    "model_words",
    "paper_words",
]

PictureKind = Literal["plot", "diagram", "photo", "table", "equation", "other"]

# Papers don't use these brackets. A model's own are replaced, so that no reply can close the mark early.
_OPEN, _CLOSE = "⟦a vision model's words: ", "⟧"
_MARKED = re.compile(rf"\n?{re.escape(_OPEN)}[^⟧]*(?:⟧|\Z)")


@dataclass(frozen=True, kw_only=True, slots=True)
class SeenEntity:
    """A name that is printed in an image, and what the image shows about it."""

    name: str
    type: str
    description: str


@dataclass(frozen=True, kw_only=True, slots=True)
class DataPoint:
    """A point of a plot; `estimated` if its value was estimated from the axes and is not printed."""

    series: str
    x: str
    y: str
    estimated: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class ImageDescription:
    """What a vision model read in an element's image; none of it is the paper's own words.

    Attributes:
        crop: The image's content hash.
        picture: What kind of image it is.
        visible_text: Texts printed in the image.
        entities: Names printed in the image.
        points: Points of a plot.
        latex: An equation as LaTeX; the parser's text is kept beside it.
        dropped: How many entities, lines and points of the reply were dropped: too many, repeated or not printed.
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
    """An image that a rule excludes from being read, and why."""

    element: str
    crop: str
    place: Place
    reason: str
    kind: Literal["skipped"] = "skipped"


@dataclass(frozen=True, kw_only=True, slots=True)
class UnreadImage:
    """An image that should have been read but could not be, and why. It is retried the next time."""

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
        """The images that a rule excludes."""
        return tuple(reading for reading in self.readings if isinstance(reading, SkippedImage))


def model_words(text: str) -> str:
    """Mark a model's words, for a text that also contains the paper's own."""
    return f"{_OPEN}{text.replace('⟦', '[').replace('⟧', ']')}{_CLOSE}"


def paper_words(text: str) -> str:
    """Remove what `model_words` marked, which leaves what may be quoted as the paper's words."""
    return _MARKED.sub("", text).strip() if _OPEN in text else text
