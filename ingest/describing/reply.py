"""What a vision model replies to a picture, and what of it is believed."""

from collections.abc import Sequence
from typing import Annotated, Any

from pydantic import BaseModel, TypeAdapter, WithJsonSchema, create_model, field_validator

from ingest.describing.language import is_english
from ingest.describing.picking import Pictured
from ingest.element_text import element_text
from ingest.extraction.floats import excerpt
from ingest.extraction.folded import stands_in
from ingest.extraction.type_system import TypeSystem
from paperscope.types import DataPoint, ImageDescription, PictureKind, SeenEntity, entity_key

__all__ = ["ImageReply", "description_of", "image_adapter"]

_MOST_ENTITIES = 40
_MOST_LINES = 120
_MOST_POINTS = 200
_LONGEST_TEXT = 1500
_LONGEST_LINE = 200
_LONGEST_NAME = 80
_LONGEST_LATEX = 4000


class EntityReply(BaseModel):
    """A thing that the picture names."""

    name: str
    type: str
    description: str


class PointReply(BaseModel):
    """A point of a plot."""

    series: str
    x: str
    y: str
    estimated: bool


class ImageReply(BaseModel):
    """The description of one picture."""

    kind: PictureKind
    description: str
    visible_text: list[str]
    entities: Sequence[EntityReply]
    data_points: list[PointReply]
    latex: str

    # What is refused here is asked for once more.
    @field_validator("description")
    @classmethod
    def _is_english(cls, value: str) -> str:
        if not value.strip():
            raise ValueError("it is empty; say what the picture shows")
        if not is_english(value):
            raise ValueError("it is not in English; describe the picture in English")
        return value


def image_adapter(types: TypeSystem) -> TypeAdapter[ImageReply]:
    """Reads replies; its schema names the types to choose from, and a reply with another one is read all the same."""
    named: Any = Annotated[str, WithJsonSchema({"type": "string", "enum": list(types.meanings)})]
    entity = create_model("EntityReply", __base__=EntityReply, __doc__=EntityReply.__doc__, type=(named, ...))
    fields: Any = {"entities": (list[entity], ...)}  # type: ignore[valid-type]
    return TypeAdapter(create_model("ImageReply", __base__=ImageReply, __doc__=ImageReply.__doc__, **fields))


def description_of(element: Pictured, reply: ImageReply, *, types: TypeSystem) -> ImageDescription:
    """The reply as a value. An entity stays where its name is printed: in the picture (`visible_text`), or in what
    the parser read of the element. Repeated and surplus entities, lines and points are dropped and counted.
    """
    lines = _lines(reply.visible_text)[:_MOST_LINES]
    printed = entity_key("\n".join((element_text(element), *lines)))
    named: dict[str, SeenEntity] = {}
    for seen in _named(reply.entities, types):
        if stands_in(entity_key(seen.name), printed):
            named.setdefault(entity_key(seen.name), seen)
    entities = list(named.values())[:_MOST_ENTITIES]
    points = _points(reply.data_points)[:_MOST_POINTS]
    given = len(reply.visible_text) + len(reply.entities) + len(reply.data_points)
    return ImageDescription(
        element=element.id,
        crop=element.crop or "",
        place=element.place,
        picture=reply.kind,
        text=excerpt(reply.description, limit=_LONGEST_TEXT),
        visible_text=tuple(lines),
        entities=tuple(entities),
        points=tuple(points),
        latex=reply.latex.strip() if len(reply.latex) <= _LONGEST_LATEX else "",
        dropped=given - len(lines) - len(entities) - len(points),
    )


def _lines(texts: Sequence[str]) -> list[str]:
    return [line for line in dict.fromkeys(excerpt(text, limit=_LONGEST_LINE) for text in texts) if line]


def _named(entities: Sequence[EntityReply], types: TypeSystem) -> list[SeenEntity]:
    """Those whose name can be one: it has letters, and is no sentence."""
    seen = [
        SeenEntity(
            name=" ".join(entity.name.split()),
            type=entity.type if entity.type in types.meanings else types.rest,
            description=excerpt(entity.description),
        )
        for entity in entities
    ]
    return [one for one in seen if len(one.name) <= _LONGEST_NAME and sum(map(str.isalpha, one.name)) > 1]


def _points(points: Sequence[PointReply]) -> list[DataPoint]:
    cut = (
        DataPoint(
            series=excerpt(point.series, limit=_LONGEST_NAME),
            x=excerpt(point.x, limit=_LONGEST_NAME),
            y=excerpt(point.y, limit=_LONGEST_NAME),
            estimated=point.estimated,
        )
        for point in points
    )
    return [point for point in dict.fromkeys(cut) if point.y or point.x]
