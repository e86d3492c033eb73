"""A recognizer that asks a language model."""

import asyncio
from collections import Counter
from collections.abc import Coroutine, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any, TypeVar

from pydantic import TypeAdapter

from ingest.extraction.recognizer.examples import Example
from paperscope_core.errors import ModelError, ModelUnavailableError
from paperscope_core.models.structured import strict_schema
from paperscope_core.protocols import LanguageModel
from paperscope_core.text.sentences import split_sentences
from paperscope_core.types import Message, ModelRequest, Usage
from paperscope_lab.ner.formats import FormatName, JsonEntities, ParsedReply, one_line, reply_format
from prompts import load

__all__ = ["WINDOW", "LanguageModelRecognizer", "joined", "text_windows"]

T = TypeVar("T")

WINDOW = 1500
"""The longest text of a request, in characters: the reply repeats the text, and small models lose track of a long
one."""


class LanguageModelRecognizer:
    """Asks a language model for the entities of a text, with examples if there are any.

    `outcomes` counts what became of the entities in its replies, and the replies that could not be read; `usage` is
    that of all replies.

    Args:
        model: The model.
        labels: What each label means; "" if the name says it.
        form: The format of replies.
        shots: Examples that precede each request.
    """

    def __init__(
        self,
        model: LanguageModel,
        labels: Mapping[str, str],
        *,
        form: FormatName = "bracketed",
        shots: Sequence[Example] = (),
    ) -> None:
        self.name = f"{model.name} ({form}, {len(shots)} examples)"
        self.outcomes = Counter[str]()
        self.usage = Usage()
        self._model = model
        self._format = reply_format(form, tuple(labels))
        self._schema = strict_schema(TypeAdapter(JsonEntities)) if form == "json" else None
        self._labels = "\n".join(f"{label}: {meaning}" if meaning else label for label, meaning in labels.items())
        self._shots = [
            message
            for shot in shots
            for message in (
                Message(role="user", text=self._prompt(shot.text)[1]),
                Message(role="assistant", text=self._format.write(shot)),
            )
        ]

    async def recognize(self, examples: Sequence[Example]) -> list[Example]:
        """Ask for the entities of texts. See `Recognizer.recognize`.

        A text fails if no reply to it can be read; a part of a long text that fails has no entities, and is counted.
        """
        return await _gather(self._recognize(example) for example in examples)

    async def _recognize(self, example: Example) -> Example:
        windows = list(text_windows(example.text))
        replies = await _gather(self._ask(example.text[start:end]) for start, end in windows)
        for reply in replies:
            self.outcomes.update(reply.outcomes if reply.failure is None else {"failed replies": 1})
        return joined(example, windows, replies)

    async def _ask(self, text: str) -> ParsedReply:
        system, user = self._prompt(text)
        messages = (Message(role="system", text=system), *self._shots, Message(role="user", text=user))
        try:
            reply = await self._model.complete(
                ModelRequest(messages=messages, schema=self._schema, schema_name="entities")
            )
        except ModelUnavailableError:
            raise
        except ModelError as error:
            return ParsedReply(spans=(), outcomes=Counter(), failure=error.public)
        self.usage += reply.usage
        if reply.cut:
            return ParsedReply(spans=(), outcomes=Counter(), failure="the reply was cut off at its token limit")
        return self._format.parse(text, reply.text)

    def _prompt(self, text: str) -> tuple[str, str]:
        prompt = load(f"entities_{self._format.name}", placeholders=frozenset({"labels", "text"}))
        return prompt.fill(labels=self._labels, text=one_line(text))


async def _gather(work: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
    """Return the results of coroutines that run at once; an error of one cancels the others."""
    tasks = [asyncio.create_task(one) for one in work]
    try:
        return await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()


def joined(example: Example, windows: Sequence[tuple[int, int]], replies: Sequence[ParsedReply]) -> Example:
    """Return the prediction for a text from the replies to its parts; a failure if no reply can be read."""
    failures = [reply.failure for reply in replies if reply.failure is not None]
    if failures and len(failures) == len(replies):
        return replace(example, spans=(), failure=failures[0])
    spans = [
        replace(span, start=span.start + start, end=span.end + start)
        for (start, _), reply in zip(windows, replies, strict=True)
        for span in reply.spans
    ]
    return replace(example, spans=tuple(spans), failure=None)


def text_windows(text: str, *, size: int = WINDOW) -> Iterator[tuple[int, int]]:
    """Yield parts [start, end) of a text: whole sentences, as many as have at most `size` characters.

    A longer sentence is split after a word, or anywhere if a word is longer. White space alone is in no part.
    """
    start = end = 0
    for sentence in chain.from_iterable(_at_most(sentence, size) for sentence in split_sentences(text)):
        at = text.find(sentence, end)
        if start < end and at + len(sentence) - start > size:
            yield start, end
            start = at
        elif start == end:
            start = at
        end = at + len(sentence)
    if start < end:
        yield start, end


def _at_most(sentence: str, size: int) -> Iterator[str]:
    """Yield the parts of a sentence, each of at most `size` characters."""
    while len(sentence) > size:
        after = sentence.rfind(" ", 0, size) + 1 or size
        if part := sentence[:after].strip():
            yield part
        sentence = sentence[after:]
    if sentence.strip():
        yield sentence.strip()
