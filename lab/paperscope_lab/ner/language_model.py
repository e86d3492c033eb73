"""A recognizer that asks a language model."""

import asyncio
import re
from collections import Counter
from collections.abc import Coroutine, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, islice
from typing import Any, TypeVar

from pydantic import TypeAdapter

from ingest.extraction.recognizer.examples import Example
from paperscope_core.errors import ModelError, ModelUnavailableError
from paperscope_core.models.reply_reading import without_thoughts
from paperscope_core.models.structured import strict_schema
from paperscope_core.protocols import LanguageModel
from paperscope_core.text.sentences import split_sentences
from paperscope_core.types import Message, ModelRequest, Usage
from paperscope_lab.ner.formats import FormatName, JsonEntities, ParsedReply, instruction_of, one_line, reply_format
from prompts import load

__all__ = ["WINDOW", "LanguageModelRecognizer", "joined", "text_windows"]

T = TypeVar("T")

WINDOW = 1500
"""The longest text of a request, in characters: the reply repeats the text, and small models lose track of a long
one."""


_GONE = 3
"""A server that fails for this many texts one after another, each after its retries, is gone; one that answers others
refuses the text."""


class LanguageModelRecognizer:
    """Asks a language model for the entities of a text, with examples if there are any.

    `outcomes` counts what became of the entities in its replies, and the replies that could not be read; `usage` is
    that of all replies; `unanswered` counts the texts for which the server failed.

    Args:
        model: The model.
        labels: What each label means; "" if the name says it.
        form: The format of replies.
        shots: Examples that precede each request.
        instruction: What the model is told, in place of our own words.
        texts_per_call: The most texts of a request. One whose part of the reply can't be read is asked by itself.
    """

    def __init__(
        self,
        model: LanguageModel,
        labels: Mapping[str, str],
        *,
        form: FormatName = "bracketed",
        shots: Sequence[Example] = (),
        instruction: str = "",
        texts_per_call: int = 1,
    ) -> None:
        self.name = f"{model.name} ({form}, {len(shots)} examples)"
        self.outcomes = Counter[str]()
        self.usage = Usage()
        self.unanswered = 0
        self._model = model
        self._format = reply_format(form, tuple(labels))
        self._instruction = instruction or instruction_of(form, labels)
        self._per_call = texts_per_call
        self._shots = [(one_line(shot.text), self._format.write(shot)) for shot in shots]
        self._answered, self._failed_in_a_row = False, 0
        self._error: ModelUnavailableError | None = None

    async def recognize(self, examples: Sequence[Example]) -> list[Example]:
        """Ask for the entities of texts. See `Recognizer.recognize`.

        A text fails if no reply to it can be read; a part of a long text that fails has no entities, and is counted.

        Raises:
            ModelUnavailableError: The server fails for every text, or for three one after another.
        """
        windows = [list(text_windows(example.text)) for example in examples]
        texts = [
            example.text[start:end] for example, parts in zip(examples, windows, strict=True) for start, end in parts
        ]
        groups = [texts[at : at + self._per_call] for at in range(0, len(texts), self._per_call)]
        replies = chain.from_iterable(await _gather(map(self._ask_together, groups)))
        if self._error is not None and not self._answered:
            raise self._error
        found = []
        for example, parts in zip(examples, windows, strict=True):
            of_parts = list(islice(replies, len(parts)))
            for reply in of_parts:
                self.outcomes.update(reply.outcomes)
                self.outcomes.update({"failed replies": 1} if reply.failure is not None else {})
            found.append(joined(example, parts, of_parts))
        return found

    async def _ask_together(self, texts: Sequence[str]) -> list[ParsedReply]:
        """Return the replies to the texts of one request, and to those that it does not answer by themselves."""
        if len(texts) == 1:
            return [await self._ask(texts[0])]
        prompt = load("entities_together", placeholders=frozenset({"instruction", "texts"}))
        system, user = prompt.fill(instruction=self._instruction, texts=_numbered(map(one_line, texts)))
        asked, answered = (_numbered(pair[at] for pair in self._shots) for at in (0, 1))
        reply, failure = await self._complete(system, [(asked, answered)] if asked else [], user)
        lines = {} if failure else _by_number(reply, len(texts))
        parsed = [self._format.parse(text, lines.get(number, "")) for number, text in enumerate(texts, 1)]
        return [
            await self._ask(text) if one.failure is not None else one for text, one in zip(texts, parsed, strict=True)
        ]

    async def _ask(self, text: str) -> ParsedReply:
        schema = strict_schema(TypeAdapter(JsonEntities)) if self._format.name == "json" else None
        reply, failure = await self._complete(self._instruction, self._shots, one_line(text), schema)
        if failure:
            return ParsedReply(spans=(), outcomes=Counter(), failure=failure)
        return self._format.parse(text, reply)

    async def _complete(
        self, system: str, shots: Sequence[tuple[str, str]], user: str, schema: dict[str, Any] | None = None
    ) -> tuple[str, str]:
        """Return the reply, and why there is none that can be used."""
        messages = [Message(role="system", text=system)]
        for text, written in shots:
            messages += [Message(role="user", text=text), Message(role="assistant", text=written)]
        messages.append(Message(role="user", text=user))
        try:
            reply = await self._model.complete(
                ModelRequest(messages=tuple(messages), schema=schema, schema_name="entities")
            )
        except ModelUnavailableError as error:
            self.unanswered += 1
            self._failed_in_a_row += 1
            if self._failed_in_a_row == _GONE:
                raise
            self._error = error
            return "", error.public
        except ModelError as error:
            return "", error.public
        self._answered, self._failed_in_a_row = True, 0
        self.usage += reply.usage
        return reply.text, "the reply was cut off at its token limit" if reply.cut else ""


def _numbered(lines: Iterable[str]) -> str:
    return "\n".join(f"{number}: {line}" for number, line in enumerate(lines, 1))


def _by_number(reply: str, count: int) -> dict[int, str]:
    """Return what follows each number of a reply, if the numbers follow each other."""
    reply = without_thoughts(reply)
    found: dict[int, str] = {}
    at = 0
    for number in range(1, count + 1):
        begins = re.compile(rf"^\W{{0,4}}{number}\s*[:.)]", re.MULTILINE).search(reply, at)
        if begins is None:
            break
        found[number - 1] = reply[at : begins.start()]
        at = begins.end()
        found[number] = reply[at:]
    return found


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
