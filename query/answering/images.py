"""Reads each image of a context with one vision call; a failed image does not stop the others."""

import asyncio

from pydantic import BaseModel, ConfigDict

import prompts
from paperscope_core.errors import ModelError
from paperscope_core.models.structured import ask_json
from paperscope_core.protocols import Corpus, VisionModel
from paperscope_core.types import Context, ContextImage, ImageFinding, ModelRequest, Reading, UnreadImage, Usage
from prompts import as_data
from query.elements import referring_texts

__all__ = ["ImageReader"]

_PLACEHOLDERS = frozenset({"question", "label", "text"})
_MENTIONS = 3


class _FindingReply(BaseModel):
    """The reply of the vision model."""

    model_config = ConfigDict(extra="forbid")

    relevant: bool
    finding: str


class ImageReader:
    """Reads the images of a context for a question."""

    def __init__(self, corpus: Corpus, model: VisionModel) -> None:
        self._corpus = corpus
        self._model = model
        self._prompt = prompts.load("read_image", placeholders=_PLACEHOLDERS)

    async def read(self, question: str, context: Context) -> tuple[tuple[Reading, ...], Usage]:
        """Reads all images concurrently.

        Returns:
            One reading for each image, in the context's order, and the total usage.
        """
        pairs = await asyncio.gather(*(self._read(question, image) for image in context.images))
        return tuple(reading for reading, _ in pairs), sum((usage for _, usage in pairs), Usage())

    async def _read(self, question: str, image: ContextImage) -> tuple[Reading, Usage]:
        try:
            reply, usage = await ask_json(self._model, self._request(question, image), _FindingReply)
        except KeyError:
            return self._unread(
                image, "its picture is missing from the library, or damaged; remove the paper and add it again"
            ), Usage()
        except ModelError as error:
            return self._unread(image, error.public), Usage()
        finding = ImageFinding(
            element=image.element,
            crop=image.crop,
            place=image.place,
            text=reply.finding.strip(),
            relevant=reply.relevant and bool(reply.finding.strip()),
        )
        return finding, usage

    def _unread(self, image: ContextImage, reason: str) -> UnreadImage:
        return UnreadImage(element=image.element, crop=image.crop, place=image.place, reason=reason)

    def _request(self, question: str, image: ContextImage) -> ModelRequest:
        """Builds the request for one image. Raises KeyError if its picture is not in the library."""
        mentions = referring_texts(self._corpus.paper(image.place.paper), image.element)
        text = "\n\n".join(part for part in (image.caption, *mentions[:_MENTIONS]) if part)
        parts = self._prompt.fill(question=question, label=image.label or "without a label", text=as_data(text))
        return ModelRequest.of(parts, "image_finding", images=(self._corpus.crop(image.crop),))
