"""One vision call a picture, all at once; a picture that can't be read doesn't stop the rest."""

import asyncio
import hashlib
import json
import logging
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence

import prompts
from ingest.describing.picking import Pictured, pick_images
from ingest.describing.reply import description_of, image_adapter
from ingest.extraction.floats import excerpt, float_mentions
from ingest.extraction.mentions import read_paper
from ingest.extraction.type_system import TypeSystem
from paperscope.errors import ModelError
from paperscope.models import ask_json
from paperscope.models.json_schema import strict_schema
from paperscope.protocols import VisionModel
from paperscope.quoting import as_data
from paperscope.types import (
    Figure,
    ImageDescription,
    ImageReading,
    Message,
    ModelRequest,
    Paper,
    PaperImages,
    Table,
    UnreadImage,
    crops_of,
)

__all__ = ["ImageDescriber"]

_log = logging.getLogger(__name__)
_PLACEHOLDERS = frozenset({"types", "what", "text"})
_KINDS = {"table": "a table", "figure": "a figure", "equation": "an equation"}
_MOST_MENTIONS = 8
_MOST_PARTS = 4

Spoken = Mapping[str, Sequence[str]]


class ImageDescriber:
    """Describes the pictures of papers with `model`; limits and a cache are its wrappers' business."""

    def __init__(self, model: VisionModel, *, types: TypeSystem | None = None) -> None:
        self._model = model
        self._types = types or TypeSystem()
        self._adapter = image_adapter(self._types)
        self._prompt = prompts.load("describe_image", placeholders=_PLACEHOLDERS)

    @property
    def reader(self) -> str:
        """Names the model, and the prompt and schema that it is given: with others, pictures are read anew."""
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
        """What is seen in each of the paper's pictures; `crops` are PNG bytes by content hash. Raises KeyError.

        What the same reader saw `before` is taken over; the rest is asked for, a call a picture and a second one where
        the reply is malformed. A picture whose call fails is an `UnreadImage`; where all fail, what another reader saw
        before is kept. `on_read(done, total)` is told before the first call and after each.
        """
        picked = await asyncio.to_thread(pick_images, paper, crops)
        kept = {one.element: one for one in before.descriptions} if before.reader == self.reader else {}
        asked = [element for element in picked.wanted if element.id not in kept]
        spoken = await asyncio.to_thread(_spoken, paper)
        requests = [self._request(element, crops, spoken) for element in asked]
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
        """All at once; what is no `ModelError` is raised after the calls under way have ended, and are kept."""
        done = 0

        async def read(element: Pictured, request: ModelRequest) -> ImageReading:
            nonlocal done
            reading = await self._read(element, request)
            done += 1
            on_read(done, len(elements))
            return reading

        if elements:
            on_read(0, len(elements))
        outcomes = await asyncio.gather(*map(read, elements, requests), return_exceptions=True)
        readings: list[ImageReading] = []
        for outcome in outcomes:
            if isinstance(outcome, BaseException):
                raise outcome
            readings.append(outcome)
        return readings

    async def _read(self, element: Pictured, request: ModelRequest) -> ImageReading:
        try:
            reply, _ = await ask_json(self._model, request, self._adapter)
        except ModelError as error:
            _log.info("%s was not read: %s", element.id, error)
            return UnreadImage(element=element.id, crop=element.crop or "", place=element.place, reason=error.public)
        return _told(description_of(element, reply, types=self._types))

    def _request(self, element: Pictured, crops: Mapping[str, bytes], spoken: Spoken) -> ModelRequest:
        parts = crops_of(element)[:_MOST_PARTS]
        system, user = self._prompt.fill(
            types=", ".join(self._types.meanings),
            what=_KINDS[element.kind] + (f", cut into {len(parts)} pictures" if len(parts) > 1 else ""),
            text=as_data(_beside(element, spoken.get(element.id, ()))),
        )
        pictures = tuple(crops[part] for part in parts)
        return ModelRequest(
            messages=(Message(role="system", text=system), Message(role="user", text=user, images=pictures)),
            schema_name="image_description",
        )


def _told(description: ImageDescription) -> ImageDescription:
    if description.dropped:
        _log.info("dropped %d entries of the reply to %s", description.dropped, description.element)
    return description


def _spoken(paper: Paper) -> Spoken:
    """For each element the first sentences that mention it or, of an equation, stand round it."""
    text = read_paper(paper)
    spoken: dict[str, dict[str, None]] = defaultdict(dict)
    for mention in sorted(float_mentions(paper, text), key=lambda mention: mention.sentence):
        sentence = text.sentences[mention.sentence]
        if not sentence.caption:
            spoken[mention.float][excerpt(sentence.text)] = None
    return {element: tuple(sentences)[:_MOST_MENTIONS] for element, sentences in spoken.items()}


def _beside(element: Pictured, mentions: Sequence[str]) -> str:
    """What the paper prints in, under and about a picture."""
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
