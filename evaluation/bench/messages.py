"""`bench messages`: how well small talk and questions on the library are told from questions on papers."""

import argparse
import asyncio
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import numpy as np
from numpy import float32
from numpy.typing import NDArray

from evaluation.bench.common import print_page
from evaluation.gold.files import read_lines, separate_errors
from evaluation.gold.questions import mmlongbench_questions, ohrbench_pages, ohrbench_questions
from evaluation.gold.text_questions import argscichat_dialogues, qasper_papers
from evaluation.rendering import table
from paperscope_core.files import write_atomically
from paperscope_core.models import build_embedder
from paperscope_core.protocols import Embedder
from paperscope_core.settings import Settings
from query.question import kinds
from query.question.kinds import KINDS, KindModel, MessageKind, features

__all__ = ["DESCRIPTION", "HELP", "Message", "add_options", "fit", "messages_in", "run"]

HELP = "how well small talk and questions on the library are told from questions on papers"
DESCRIPTION = (
    "Fits the model of query/question/kinds.py to evaluation/gold/messages/development.jsonl and scores it on "
    "heldout.jsonl and varied.jsonl, and on the questions of the benchmarks below --data, which are on papers."
)
_GOLD = Path(__file__).resolve().parents[1] / "gold" / "messages"
# The varied messages are by non-native writers, in several languages, with slips.
_HELD_OUT = ("heldout", "varied")
_FILE = Path(kinds.__file__).with_name("kinds.json")
# A word or a pair of words that fewer messages contain gets no weight. This, the penalty and the weight of words were
# chosen by cross-validation on the development messages.
_LEAST_MESSAGES = 4
_PENALTY = 3e-5
_STEPS = 300
_DIGITS = 3


@dataclass(frozen=True, kw_only=True, slots=True)
class Message:
    """A message and its kind."""

    text: str
    kind: MessageKind


def add_options(messages: argparse.ArgumentParser) -> None:
    """Adds the options of `messages`."""
    messages.add_argument("--data", type=Path, metavar="DIR", help="the evaluation data, for its questions on papers")
    messages.add_argument("--write", action="store_true", help="write the fitted model into the package")


def run(options: argparse.Namespace) -> int:
    """Returns 0."""
    embedder = build_embedder(Settings().embed)
    model = asyncio.run(fit(messages_in(_GOLD / "development.jsonl"), embedder))
    if options.write:
        write_atomically(_FILE, model.model_dump_json().encode())
    asked = {name: messages_in(_GOLD / f"{name}.jsonl") for name in _HELD_OUT}
    if options.data:
        asked["benchmarks"] = [Message(text=text, kind="papers") for text in dict.fromkeys(_questions(options.data))]
    rows, misses = [], []
    for name, messages in asked.items():
        found = asyncio.run(_found(model, messages, embedder))
        counts = Counter((message.kind, kind) for message, kind in zip(messages, found, strict=True))
        rows += [[name, kind, *(str(counts[kind, other]) for other in KINDS)] for kind in KINDS]
        misses += [
            f"{name}: {message.text!r} is {message.kind}, found {kind}"
            for message, kind in zip(messages, found, strict=True)
            if kind != message.kind
        ]
    print_page([*table(["messages", "kind", *(f"found {kind}" for kind in KINDS)], rows, texts=2), "", *misses])
    return 0


def messages_in(file: Path) -> list[Message]:
    """The messages of a file. Raises GoldFileError."""
    messages, bad = separate_errors(read_lines(file, Message, lambda _, message: message, key=lambda one: one.text))
    if bad:
        raise bad[0]
    return messages


async def fit(messages: Sequence[Message], embedder: Embedder) -> KindModel:
    """The model with the least cross-entropy on the messages, with a penalty on squared weights."""
    import torch
    from torch.nn import functional

    vectors = await embedder.embed([message.text for message in messages])
    counts = Counter(chain.from_iterable(features(message.text) for message in messages))
    words = sorted(word for word, count in counts.items() if count >= _LEAST_MESSAGES)
    inputs = torch.tensor(_inputs(messages, vectors, words))
    wanted = torch.tensor([KINDS.index(message.kind) for message in messages])
    weights = torch.zeros(inputs.shape[1], len(KINDS), requires_grad=True)
    bias = torch.zeros(len(KINDS), requires_grad=True)
    optimizer = torch.optim.LBFGS([weights, bias], max_iter=_STEPS, line_search_fn="strong_wolfe")

    def closure() -> "torch.Tensor":
        optimizer.zero_grad()
        loss = functional.cross_entropy(inputs @ weights + bias, wanted) + _PENALTY * (weights**2).sum()
        loss.backward()
        return loss

    optimizer.step(closure)
    rows = [[round(value, _DIGITS) for value in row] for row in weights.tolist()]
    return KindModel(
        embedder=embedder.name,
        vector=rows[: embedder.dimension],
        words=dict(zip(words, rows[embedder.dimension :], strict=True)),
        bias=[round(value, _DIGITS) for value in bias.tolist()],
    )


def _inputs(messages: Sequence[Message], vectors: NDArray[float32], words: Sequence[str]) -> NDArray[float32]:
    present = np.zeros((len(messages), len(words)), dtype=float32)
    columns = {word: column for column, word in enumerate(words)}
    for row, message in enumerate(messages):
        present[row, [columns[word] for word in features(message.text) if word in columns]] = kinds.WORD_WEIGHT
    return np.concatenate([vectors, present], axis=1)


async def _found(model: KindModel, messages: Sequence[Message], embedder: Embedder) -> list[MessageKind]:
    vectors = await embedder.embed([message.text for message in messages])
    return [model.kind(message.text, vector) for message, vector in zip(messages, vectors, strict=True)]


def _questions(data: Path) -> Iterator[str]:
    """The questions of the benchmarks."""
    papers, _ = separate_errors(qasper_papers(data))
    dialogues, _ = separate_errors(argscichat_dialogues(data))
    pages, _ = ohrbench_pages(data)
    yield from (asked.question for paper in papers for asked in paper.questions)
    yield from (turn.text for dialogue in dialogues for turn in dialogue.turns if turn.text.strip())
    for found in (separate_errors(mmlongbench_questions(data))[0], separate_errors(ohrbench_questions(data, pages))[0]):
        yield from (question.question for question in found)
