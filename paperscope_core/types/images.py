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

# Brackets that papers don't use; a model's own are taken out, so that no reply can close the mark too early.
_OPEN, _CLOSE = "⟦a vision model's words: ", "⟧"
_MARKED = re.compile(rf"\n?{re.escape(_OPEN)}[^⟧]*(?:⟧|\Z)")


@dataclass(frozen=True, kw_only=True, slots=True)
class SeenEntity:
    """A name that is printed in a picture, with what the picture shows of it."""

    name: str
    type: str
    description: str


@dataclass(frozen=True, kw_only=True, slots=True)
class DataPoint:
    """A point of a plot as printed; `estimated` where the value was judged by eye, not read."""

    series: str
    x: str
    y: str
    estimated: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class ImageDescription:
    """What a vision model saw in the picture of `element`; none of it is the paper's own words.

    `latex` is what it reads an equation as; the parser's text stays beside it. `dropped` counts the entities, lines
    and points of the reply that were too many, repeated, or not printed in the picture.
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
    """A picture that by rule is not worth a model's call, and why."""

    element: str
    crop: str
    place: Place
    reason: str
    kind: Literal["skipped"] = "skipped"


@dataclass(frozen=True, kw_only=True, slots=True)
class UnreadImage:
    """An image that was chosen but could not be read, and why. It is retried the next time; it is no description."""

    element: str
    crop: str
    place: Place
    reason: str
    kind: Literal["unread"] = "unread"


ImageReading = ImageDescription | SkippedImage | UnreadImage


@dataclass(frozen=True, kw_only=True, slots=True)
class PaperImages:
    """A paper's pictures in reading order, as `reader` (a model and the prompt it was given) saw them.

    `reader` is "" where no model looked at them.
    """

    reader: str = ""
    readings: tuple[ImageReading, ...] = ()

    @property
    def descriptions(self) -> tuple[ImageDescription, ...]:
        """The pictures that were read."""
        return tuple(reading for reading in self.readings if isinstance(reading, ImageDescription))

    @property
    def unread(self) -> tuple[UnreadImage, ...]:
        """Those that could not be read."""
        return tuple(reading for reading in self.readings if isinstance(reading, UnreadImage))

    @property
    def skipped(self) -> tuple[SkippedImage, ...]:
        """Those that by rule nobody looked at."""
        return tuple(reading for reading in self.readings if isinstance(reading, SkippedImage))


def model_words(text: str) -> str:
    """A model's words, marked as such, for a text that also holds the paper's own."""
    return f"{_OPEN}{text.replace('⟦', '[').replace('⟧', ']')}{_CLOSE}"


def paper_words(text: str) -> str:
    """A text without what `model_words` marked in it: what may be quoted as the paper's."""
    return _MARKED.sub("", text).strip() if _OPEN in text else text
