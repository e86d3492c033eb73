"""Asks a vision model to describe each picture of a paper, and checks its replies."""

import asyncio
import hashlib
import json
import logging
import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any

from pydantic import BaseModel, TypeAdapter, WithJsonSchema, create_model, field_validator

import prompts
from ingest.captioning.selection import Pictured, select_images
from ingest.document.crops import below_one_another
from ingest.document.element_text import element_text
from ingest.extraction.entity_types import TypeSystem
from ingest.extraction.float_entities import float_mentions
from ingest.extraction.mentions import contains_name, excerpt, read_paper
from ingest.extraction.model_batches import gather_replies
from paperscope_core.errors import ModelError, TooManyImagesError
from paperscope_core.models import ask_json
from paperscope_core.models.structured import strict_schema
from paperscope_core.models.wrapper import images_per_call
from paperscope_core.protocols import LanguageModel
from paperscope_core.text.words import STOP_WORDS, entity_key
from paperscope_core.types import (
    DataPoint,
    Figure,
    ImageDescription,
    ImageReading,
    ModelRequest,
    Paper,
    PaperImages,
    PictureKind,
    SeenEntity,
    Table,
    UnreadImage,
    crops_of,
)
from prompts import as_data

__all__ = ["ImageCaptioner", "ImageReply", "is_english"]

# Fewer words are no evidence; a formula or a list of names has few function words, another language hardly any.
_LEAST_WORDS = 12
_LEAST_SHARE = 0.15
_LATIN = 0x250
_WORD = re.compile(r"[^\W\d_]+")

_MOST_ENTITIES = 40
# Each is searched for in the text.
_MOST_NAMES = 4 * _MOST_ENTITIES
_MOST_LINES = 120
_MOST_POINTS = 200
_LONGEST_TEXT = 1500
_LONGEST_LINE = 200
_LONGEST_NAME = 80
_LONGEST_LATEX = 4000
_log = logging.getLogger(__name__)
_PLACEHOLDERS = frozenset({"types", "what", "text"})
_KINDS = {"table": "a table", "figure": "a figure", "equation": "an equation"}
_MOST_MENTIONS = 8
_MOST_PARTS = 4
MentionTexts = Mapping[str, Sequence[str]]


def is_english(text: str) -> bool:
    """Return whether a text may be English.

    False if most letters are not Latin (Greek letters, which occur in formulas, are ignored), or if fewer than 15 % of
    at least 12 words are English function words.
    """
    letters = [character for character in text if character.isalpha() and not "\u0370" <= character <= "\u03ff"]
    if sum(ord(character) >= _LATIN for character in letters) * 2 > len(letters):
        return False
    words = [word.casefold() for word in _WORD.findall(text) if len(word) > 1]
    return len(words) < _LEAST_WORDS or sum(word in STOP_WORDS for word in words) >= _LEAST_SHARE * len(words)


class EntityReply(BaseModel):
    """An entity that the image names."""

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
    """The description of one image."""

    kind: PictureKind
    description: str
    visible_text: list[str] = []
    entities: Sequence[EntityReply] = ()
    data_points: list[PointReply] = []
    latex: str = ""

    # A reply rejected here is requested once more.
    @field_validator("description")
    @classmethod
    def _is_english(cls, value: str) -> str:
        if not value.strip():
            raise ValueError("it is empty; describe what the picture shows")
        if not is_english(value):
            raise ValueError("it is not in English; describe the picture in English")
        return value


def _image_adapter(types: TypeSystem) -> TypeAdapter[ImageReply]:
    """Validate replies; the schema lists the types, but a reply with another type is accepted."""
    named: Any = Annotated[str, WithJsonSchema({"type": "string", "enum": list(types.meanings)})]
    entity = create_model("EntityReply", __base__=EntityReply, __doc__=EntityReply.__doc__, type=(named, ...))
    fields: Any = {"entities": (list[entity], [])}  # type: ignore[valid-type]
    return TypeAdapter(create_model("ImageReply", __base__=ImageReply, __doc__=ImageReply.__doc__, **fields))


def _description(element: Pictured, reply: ImageReply, *, types: TypeSystem) -> ImageDescription:
    """Return the reply as a value. An entity is kept if its name occurs in the image (`visible_text`) or in the
    element's text. Repeated and excess entities, lines and points are dropped and counted."""
    texts = (excerpt(text, limit=_LONGEST_LINE) for text in reply.visible_text)
    lines = [line for line in dict.fromkeys(texts) if line][:_MOST_LINES]
    printed = entity_key("\n".join((element_text(element), *lines)))
    entities = _entities(reply.entities[:_MOST_NAMES], printed, types)[:_MOST_ENTITIES]
    points = _points(reply.data_points)[:_MOST_POINTS]
    given = len(reply.visible_text) + len(reply.entities) + len(reply.data_points)
    dropped = given - len(lines) - len(entities) - len(points)
    if dropped:
        _log.info("dropped %d entries of the reply to %s", dropped, element.id)
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
        dropped=dropped,
    )


def _entities(entities: Sequence[EntityReply], printed: str, types: TypeSystem) -> list[SeenEntity]:
    """Return the entities whose name is printed, has letters and is not too long, without repeats."""
    named: dict[str, SeenEntity] = {}
    for entity in entities:
        name = " ".join(entity.name.split())
        key = entity_key(name)
        if len(name) <= _LONGEST_NAME and sum(map(str.isalpha, name)) > 1 and contains_name(key, printed):
            type_ = entity.type if entity.type in types.meanings else types.rest
            named.setdefault(key, SeenEntity(name=name, type=type_, description=excerpt(entity.description)))
    return list(named.values())


def _points(points: Sequence[PointReply]) -> list[DataPoint]:
    cut: dict[DataPoint, None] = {}
    for point in points:
        series, x, y = (excerpt(text, limit=_LONGEST_NAME) for text in (point.series, point.x, point.y))
        if x or y:
            cut[DataPoint(series=series, x=x, y=y, estimated=point.estimated)] = None
    return list(cut)


class ImageCaptioner:
    """Describes images of papers with a vision model; wrappers of the model limit and cache the calls."""

    def __init__(self, model: LanguageModel, *, types: TypeSystem = TypeSystem()) -> None:
        self._model = model
        self._types = types
        self._adapter = _image_adapter(types)
        self._prompt = prompts.load("describe_image", placeholders=_PLACEHOLDERS)

    @property
    def reader(self) -> str:
        """Identifies the model, the prompt and the schema; with others, images are described again."""
        schema = json.dumps(strict_schema(self._adapter), sort_keys=True)
        asked = "\0".join((self._prompt.system, self._prompt.user, schema))
        return f"{self._model.name} {hashlib.sha256(asked.encode()).hexdigest()[:12]}"

    async def describe(
        self,
        paper: Paper,
        crops: Mapping[str, bytes],
        *,
        before: PaperImages,
        on_read: Callable[[int, int], None],
    ) -> PaperImages:
        """Describe each of the paper's images.

        Each image takes one call, and a second one if the reply is malformed. An image whose call fails becomes an
        `UnreadImage`; if all calls fail, the descriptions of another reader are kept.

        Args:
            crops: PNG bytes by content hash.
            before: Earlier readings; the same `reader`'s are reused.
            on_read: Called with the numbers of images done and in total, before the first call and after each.

        Raises:
            KeyError: If a crop is missing.
        """
        picked = await asyncio.to_thread(select_images, paper, crops)
        kept = {one.element: one for one in before.descriptions} if before.reader == self.reader else {}
        asked = [element for element in picked.wanted if element.id not in kept]
        mentions = await asyncio.to_thread(_mentions_of_floats, paper)
        requests = [self._request(element, crops, mentions) for element in asked]
        fresh = await self._read_all(asked, requests, on_read)
        unread = [one for one in fresh if isinstance(one, UnreadImage)]
        if unread and len(unread) == len(fresh) and before.descriptions and not kept:
            _log.warning("no picture was read, what %r saw is kept: %s", before.reader, unread[0].reason)
            return before
        readings = {one.element: one for one in (*kept.values(), *picked.skipped, *fresh)}
        order = (readings[element.id] for element in paper.elements if element.id in readings)
        return PaperImages(reader=self.reader, readings=tuple(order))

    async def _read_all(
        self, elements: Sequence[Pictured], requests: Sequence[ModelRequest], on_read: Callable[[int, int], None]
    ) -> list[ImageReading]:
        """Run all calls at once; errors other than ModelError are raised when all have ended."""
        done = 0

        async def read(request: ModelRequest) -> ImageReply | ModelError:
            nonlocal done
            outcome: ImageReply | ModelError
            try:
                outcome = await self._ask(request)
            except ModelError as error:
                outcome = error
            done += 1
            on_read(done, len(elements))
            return outcome

        if elements:
            on_read(0, len(elements))
        readings: list[ImageReading] = []
        for element, outcome in zip(elements, await gather_replies(map(read, requests)), strict=True):
            if isinstance(outcome, ImageReply):
                readings.append(_description(element, outcome, types=self._types))
            else:
                _log.info("%s was not read: %s", element.id, outcome)
                crop = element.crop or ""
                readings.append(UnreadImage(element=element.id, crop=crop, place=element.place, reason=outcome.public))
        return readings

    async def _ask(self, request: ModelRequest) -> ImageReply:
        """Ask about an image; one that is cut into more pictures than a call takes becomes one picture."""
        limit, pictures = images_per_call(self._model), len(request.messages[-1].images)
        if 0 < limit < pictures:
            request = await asyncio.to_thread(_with_one_picture, request)
        try:
            reply, _ = await ask_json(self._model, request, self._adapter)
        except TooManyImagesError:
            reply, _ = await ask_json(self._model, await asyncio.to_thread(_with_one_picture, request), self._adapter)
        return reply

    def _request(self, element: Pictured, crops: Mapping[str, bytes], mentions: MentionTexts) -> ModelRequest:
        parts = crops_of(element)[:_MOST_PARTS]
        texts = self._prompt.fill(
            types=", ".join(self._types.meanings),
            what=_KINDS[element.kind] + (f", cut into {len(parts)} pictures" if len(parts) > 1 else ""),
            text=as_data(_context_of(element, mentions.get(element.id, ()))),
        )
        pictures = tuple(crops[part] for part in parts)
        return ModelRequest.of(texts, "image_description", images=pictures)


def _with_one_picture(request: ModelRequest) -> ModelRequest:
    """Return the request with its pictures below one another in one."""
    *before, last = request.messages
    return replace(request, messages=(*before, replace(last, images=(below_one_another(last.images),))))


def _mentions_of_floats(paper: Paper) -> MentionTexts:
    """Return the first sentences that mention each element; for an equation, the sentences around it."""
    text = read_paper(paper)
    mentions: dict[str, dict[str, None]] = defaultdict(dict)
    for mention in sorted(float_mentions(paper, text), key=lambda mention: mention.sentence):
        sentence = text.sentences[mention.sentence]
        if not sentence.caption:
            mentions[mention.float][excerpt(sentence.text)] = None
    return {element: tuple(sentences)[:_MOST_MENTIONS] for element, sentences in mentions.items()}


def _context_of(element: Pictured, mentions: Sequence[str]) -> str:
    """Return the paper's text inside, below and about an image."""
    parts = [f"Label: {element.label}" if element.label else ""]
    if isinstance(element, Table | Figure):
        parts.append(f"Caption: {element.caption}" if element.caption else "")
    if isinstance(element, Figure):
        parts += [f"Part ({panel.mark}): {panel.caption}" for panel in element.panels if panel.caption]
        parts.append(f"Words found in the picture: {excerpt(element.text, limit=1500)}" if element.text else "")
    elif not isinstance(element, Table):
        parts.append(f"Symbols found in the picture, perhaps garbled: {excerpt(element.text)}")
    parts += [f"The text says: {mention}" for mention in mentions]
    return "\n".join(part for part in parts if part)
