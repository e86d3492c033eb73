"""Reads the images of a context with one vision call; a failed image does not stop the others."""

import asyncio
from collections.abc import Mapping, Sequence
from functools import partial

from pydantic import BaseModel

import prompts
from paperscope_core.cancellation import run_in_thread
from paperscope_core.errors import ModelError, ModelReplyError, NotFoundError, PaperFileError, TooManyImagesError
from paperscope_core.models.structured import ask_json
from paperscope_core.models.wrapper import images_per_call
from paperscope_core.protocols import Corpus, LanguageModel, PageImages
from paperscope_core.types import ContextImage, ImageFinding, ModelRequest, Reading, UnreadImage, Usage
from prompts import as_data
from query.element_views import referring_texts

__all__ = ["ImageReader", "irrelevant_reply"]

_PLACEHOLDERS = frozenset({"question", "answer", "pictures"})
_MENTIONS = 3
_NO_PAGES = "this library can't render the pages of its papers"
_LOST = "its picture is missing from the library, or damaged; remove the paper and add it again"


class _PictureReply(BaseModel):
    """What the vision model read in one picture, which it numbers from 1."""

    picture: int = 0
    finding: str
    relevant: bool = True
    agrees: bool = False


class _PicturesReply(BaseModel):
    """The reply of the vision model."""

    pictures: list[_PictureReply]

    def numbered(self, count: int) -> dict[int, _PictureReply]:
        """Return the replies by the numbers of `count` pictures; by their order if they have no numbers.

        Empty if they are not one reply to each picture.
        """
        found = {one.picture: one for one in self.pictures}
        if len(self.pictures) == count and (count == 1 or not any(found)):
            found = dict(enumerate(self.pictures, start=1))
        return found if sorted(found) == list(range(1, count + 1)) else {}


class ImageReader:
    """Reads the images of a context for a question.

    Args:
        page_image: Renders pages; without it, they can't be read.
    """

    def __init__(self, corpus: Corpus, model: LanguageModel, *, page_image: PageImages | None = None) -> None:
        self._corpus = corpus
        self._model = model
        self._page_image = page_image
        self._prompt = prompts.load("read_image", placeholders=_PLACEHOLDERS)

    async def read(
        self, question: str, images: Sequence[ContextImage], *, answer: str
    ) -> tuple[tuple[Reading, ...], Usage]:
        """Read the images with one call, or with several if the model takes fewer in a call, or if that call fails.

        Args:
            answer: The initial answer, with which each reading is compared.

        Returns:
            One reading for each image, in the given order, and the total usage.
        """
        crops: dict[int, bytes] = {}
        readings: dict[int, Reading] = {}
        for image in images:
            try:
                crops[image.id] = await run_in_thread(partial(self._picture, image))
            except NotFoundError:
                readings[image.id] = _unread(image, _LOST)
            except PaperFileError as error:
                readings[image.id] = _unread(image, error.public)
        found, usage = await self._read([image for image in images if image.id in crops], crops, question, answer)
        readings |= found
        return tuple(readings[image.id] for image in images), usage

    def _picture(self, image: ContextImage) -> bytes:
        if image.crop:
            return self._corpus.crop(image.crop)
        if self._page_image is None:
            raise PaperFileError(_NO_PAGES)
        return self._page_image(image.place.paper, image.place.page)

    async def _read(
        self, images: Sequence[ContextImage], crops: Mapping[int, bytes], question: str, answer: str
    ) -> tuple[dict[int, Reading], Usage]:
        if not images:
            return {}, Usage()
        limit = images_per_call(self._model)
        if 0 < limit < len(images):
            return await self._read_in_groups(images, limit, crops, question, answer)
        parts = self._prompt.fill(
            question=question, answer=as_data(answer), pictures=as_data("\n\n".join(self._captions(images)))
        )
        request = ModelRequest.of(parts, "image_findings", images=tuple(crops[image.id] for image in images))
        usage = Usage()
        try:
            otherwise = _plain if len(images) == 1 else None
            reply, usage = await ask_json(self._model, request, _PicturesReply, otherwise=otherwise)
            replies = reply.numbered(len(images))
            if not replies:
                raise ModelReplyError(f"the model {self._model.name!r} did not reply to every picture once")
        except ModelError as error:
            if len(images) == 1:
                return {images[0].id: _unread(images[0], error.public)}, usage
            # One image may be what failed.
            size = error.limit if isinstance(error, TooManyImagesError) else 1
            readings, spent = await self._read_in_groups(images, size, crops, question, answer)
            return readings, usage + spent
        return {image.id: _finding(image, replies[at]) for at, image in enumerate(images, start=1)}, usage

    async def _read_in_groups(
        self, images: Sequence[ContextImage], size: int, crops: Mapping[int, bytes], question: str, answer: str
    ) -> tuple[dict[int, Reading], Usage]:
        groups = [images[start : start + size] for start in range(0, len(images), size)]
        parts = await asyncio.gather(*(self._read(group, crops, question, answer) for group in groups))
        readings = {key: reading for found, _ in parts for key, reading in found.items()}
        return readings, sum((spent for _, spent in parts), Usage())

    def _captions(self, images: Sequence[ContextImage]) -> list[str]:
        """Return the label, page, caption and mentions of each image; a passage that mentions several is written
        once."""
        texts = []
        said = set[str]()
        for number, image in enumerate(images, start=1):
            if not image.crop:
                texts.append(f"Picture {number}: the whole of {image.label}")
                continue
            mentions = referring_texts(self._corpus.paper(image.place.paper), image.element)[:_MENTIONS]
            head = f"Picture {number}: {image.label or 'without a label'} ({image.place.where})"
            texts.append("\n".join(filter(None, (head, image.caption, *(one for one in mentions if one not in said)))))
            said.update(mentions)
        return texts


def irrelevant_reply(count: int) -> str:
    """Return the reply of a model that finds nothing in so many pictures."""
    pictures = [_PictureReply(picture=one, finding="nothing", relevant=False) for one in range(1, count + 1)]
    return _PicturesReply(pictures=pictures).model_dump_json()


def _plain(text: str, _problem: str) -> _PicturesReply:
    return _PicturesReply(pictures=[_PictureReply(finding=text)])


def _finding(image: ContextImage, reply: _PictureReply) -> ImageFinding:
    text = reply.finding.strip()
    return ImageFinding(
        element=image.element,
        crop=image.crop,
        place=image.place,
        text=text,
        relevant=reply.relevant and bool(text),
        agrees=reply.agrees,
    )


def _unread(image: ContextImage, reason: str) -> UnreadImage:
    return UnreadImage(element=image.element, crop=image.crop, place=image.place, reason=reason)
