"""Look-ups: the calls of reading tools that an answering model asks for, and what they add to its context."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence, Set
from dataclasses import dataclass, replace
from itertools import count

from pydantic import BaseModel, ConfigDict, ValidationError, model_validator

from paperscope_core.cancellation import run_in_thread
from paperscope_core.errors import ModelError
from paperscope_core.protocols import Corpus
from paperscope_core.types import (
    Context,
    ContextImage,
    ContextSource,
    LookUp,
    Place,
    Table,
    ToolCall,
    ToolItem,
    ToolName,
    ToolResult,
)
from query.element_views import ImageElement, elements_of, strip_excerpt_note
from query.question.paper_names import citation_names
from query.retrieval.page_selection import crop_image, page_image

__all__ = ["MOST_LOOK_UPS", "LookUpReply", "LookedUp", "RunTool", "add_to_context", "look_up", "only_calls"]

MOST_LOOK_UPS = 4
"""How many calls of a reply are run."""

# Characters of an argument; a longer one is no name and no search.
_LONGEST = 1000

RunTool = Callable[[ToolCall], Awaitable[ToolResult]]


class LookUpReply(BaseModel):
    """A look-up that a model asks for."""

    model_config = ConfigDict(extra="ignore", coerce_numbers_to_str=True)

    tool: ToolName
    argument: str
    paper: str = ""
    part: int = 1

    @model_validator(mode="before")
    @classmethod
    def _without_nulls(cls, value: object) -> object:
        return {key: one for key, one in value.items() if one is not None} if isinstance(value, dict) else value

    @property
    def call(self) -> ToolCall:
        """The call; a part that can't be is the first."""
        argument, paper = (text.strip()[:_LONGEST] for text in (self.argument, self.paper))
        return ToolCall(tool=self.tool, argument=argument, paper=paper, part=max(self.part, 1))


def only_calls(look_ups: object) -> list[object]:
    """Return what of a reply's look-ups is a call: what is none is no reason to lose the reply."""
    return [one for one in look_ups if _is_call(one)] if isinstance(look_ups, list) else []


def _is_call(value: object) -> bool:
    try:
        LookUpReply.model_validate(value)
    except ValidationError:
        return False
    return True


@dataclass(frozen=True, kw_only=True, slots=True)
class LookedUp:
    """What look-ups found.

    Attributes:
        context: The context with the sources and images that they found.
        look_ups: Each with the numbers of its sources.
        images: Those images of the context that are to be read.
    """

    context: Context
    look_ups: tuple[LookUp, ...] = ()
    images: tuple[ContextImage, ...] = ()

    @property
    def rows(self) -> frozenset[int]:
        """The ids of all sources that were found."""
        return frozenset(row for one in self.look_ups for row in one.rows)

    def told(self, shown: Set[int]) -> str:
        """Return what a model is told of each call: those of its rows that are `shown`, and its message."""
        return "\n".join(_told(one, shown) for one in self.look_ups)


def _told(one: LookUp, shown: Set[int]) -> str:
    rows = ", ".join(f"S{row}" for row in one.rows if row in shown)
    left_out = sum(row not in shown for row in one.rows)
    parts = (rows, one.message, f"{left_out} rows are left out: too long" if left_out else "")
    return f"{one.call}: {'; '.join(filter(None, parts))}"


async def look_up(run: RunTool, calls: Sequence[ToolCall]) -> list[ToolResult]:
    """Run calls at once; one whose search fails has the error as its message."""
    return list(await asyncio.gather(*(_run(run, call) for call in calls)))


async def _run(run: RunTool, call: ToolCall) -> ToolResult:
    try:
        return await run(call)
    except ModelError as error:
        return ToolResult(call=call, message=error.public)


async def add_to_context(
    corpus: Corpus, context: Context, results: Sequence[ToolResult], *, most_images: int
) -> LookedUp:
    """Return a context with what was looked up: further sources, and the pictures that were asked for."""
    return await run_in_thread(lambda: _Additions(corpus, context).add(results, most_images=most_images))


class _Additions:
    """The rows of a context, to which those of look-ups are added."""

    def __init__(self, corpus: Corpus, context: Context) -> None:
        self._corpus = corpus
        self._context = context
        self._names = citation_names(corpus.entries())
        self._sources = list(context.sources)
        self._following = count(max((source.id for source in context.sources), default=-1) + 1)
        # The sources that show an element as a whole.
        self._whole = {
            element.id: source.id
            for source in context.sources
            if strip_excerpt_note(source.content) == source.content
            for element in elements_of(source, corpus)
        }

    def add(self, results: Sequence[ToolResult], *, most_images: int) -> LookedUp:
        look_ups = tuple(self._look_up(result) for result in results)
        shown = {(image.crop, image.place) for image in self._context.images}
        found = {(image.crop, image.place): image for result in results for image in self._images(result)}
        new = [image for key, image in found.items() if key not in shown][:most_images]
        following = count(max((image.id for image in self._context.images), default=-1) + 1)
        images = tuple(replace(image, id=next(following)) for image in new)
        context = replace(self._context, sources=tuple(self._sources), images=(*self._context.images, *images))
        return LookedUp(context=context, look_ups=look_ups, images=images)

    def _images(self, result: ToolResult) -> Iterator[ContextImage]:
        """Yield the pictures that a call asks for: of pages, and of elements whose content is not text."""
        for item in result.items:
            if result.call.tool == "page" and item.kind == "page" and item.page:
                yield page_image(self._corpus.paper(item.paper), item.page)
            elif result.call.tool == "element" and item.crop and item.elements:
                element = self._corpus.element(item.elements[0])
                if isinstance(element, ImageElement) and not (isinstance(element, Table) and element.cells):
                    yield crop_image(element)

    def _look_up(self, result: ToolResult) -> LookUp:
        rows = tuple(dict.fromkeys(self._row(item) for item in result.items if item.elements and item.text))
        # A paper of a list, or a page without text, is no place to cite.
        texts = [item.text for item in result.items if item.text and not item.elements]
        more = [f"part {result.call.part} of {result.parts}"] if result.parts > 1 else []
        return LookUp(call=result.call, rows=rows, message="\n".join(filter(None, (result.message, *texts, *more))))

    def _row(self, item: ToolItem) -> int:
        """Return the id of a source with the content of an item."""
        present = {self._whole.get(element) for element in item.elements}
        if len(present) == 1 and None not in present:
            return next(row for row in present if row is not None)
        place, *more = item.places
        source = ContextSource(
            id=next(self._following),
            content=item.text,
            element=item.elements[0],
            place=place,
            more_places=tuple(more),
            paper=self._names.get(item.paper, item.paper),
            section=item.section,
            label=item.label,
        )
        same = next((one.id for one in self._sources if _says(one) == _says(source)), None)
        if same is not None:
            return same
        self._sources.append(source)
        return source.id


def _says(source: ContextSource) -> tuple[str, str, tuple[Place, ...]]:
    return source.content, source.element, source.places
