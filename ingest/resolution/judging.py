"""A model's verdicts about names that may mean the same, several pairs a call."""

import asyncio
import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from pydantic import BaseModel

import prompts
from paperscope.errors import ModelError
from paperscope.models.structured import ask_json
from paperscope.protocols import LanguageModel
from paperscope.quoting import as_data
from paperscope.types import Entity, Message, ModelRequest, UnjudgedNames, Verdict

__all__ = ["NameJudge", "Pair"]

_PAIRS_A_CALL = 30
_DESCRIPTION = 240
_REASON = 300
_MOST_ALIASES = 5
_MOST_NEAR = 6

Pair = tuple[Entity, Entity]


class JudgedPair(BaseModel):
    """A verdict as the model words it."""

    pair: str
    reason: str
    same: bool


class JudgedPairs(BaseModel):
    """A model's reply to a batch of pairs."""

    pairs: Sequence[JudgedPair]


class NameJudge:
    """Asks `model`; limits and a cache are its wrappers' business."""

    def __init__(self, model: LanguageModel) -> None:
        self._model = model

    async def judge(
        self, pairs: Sequence[Pair], *, near: Mapping[str, Sequence[str]] = MappingProxyType({})
    ) -> list[Verdict | UnjudgedNames]:
        """A verdict for each pair, or why there is none: the call failed, or the reply leaves the pair out or
        contradicts itself. `near` holds, by entity, the names of what it is related to.

        All calls are made at once; what is no `ModelError` is raised when they have ended.
        """
        calls = [pairs[start : start + _PAIRS_A_CALL] for start in range(0, len(pairs), _PAIRS_A_CALL)]
        found = await asyncio.gather(*(self._judge(call, near) for call in calls), return_exceptions=True)
        judged: list[Verdict | UnjudgedNames] = []
        for batch, outcome in zip(calls, found, strict=True):
            if isinstance(outcome, ModelError):
                judged += [UnjudgedNames(names=_names(pair), reason=str(outcome)) for pair in batch]
            elif isinstance(outcome, BaseException):
                raise outcome
            else:
                judged += outcome
        return judged

    async def _judge(self, pairs: Sequence[Pair], near: Mapping[str, Sequence[str]]) -> list[Verdict | UnjudgedNames]:
        named = {f"P{number}": pair for number, pair in enumerate(pairs, start=1)}
        reply, _ = await ask_json(
            self._model, _request(named, near), JudgedPairs, accept=lambda reply: _by_pair(reply).keys() >= named.keys()
        )
        said = _by_pair(reply)
        return [_outcome(pair, said.get(name, ())) for name, pair in named.items()]


def _by_pair(reply: JudgedPairs) -> Mapping[str, Sequence[JudgedPair]]:
    said: dict[str, list[JudgedPair]] = defaultdict(list)
    for one in reply.pairs:
        said[one.pair].append(one)
    return said


def _outcome(pair: Pair, said: Sequence[JudgedPair]) -> Verdict | UnjudgedNames:
    if len({one.same for one in said}) != 1:
        reason = "the reply contradicts itself" if said else "the reply leaves the pair out"
        return UnjudgedNames(names=_names(pair), reason=reason)
    reason = " ".join(said[0].reason.split())[:_REASON]
    return Verdict(names=_names(pair), same=said[0].same, reason=reason)


def _names(pair: Pair) -> tuple[str, str]:
    return pair[0].name, pair[1].name


def _request(pairs: Mapping[str, Pair], near: Mapping[str, Sequence[str]]) -> ModelRequest:
    lines = [
        f"{name} {json.dumps([_told(one, near.get(one.id, ())) for one in pair], ensure_ascii=False)}"
        for name, pair in pairs.items()
    ]
    system, user = prompts.load("judge_names", placeholders=frozenset({"pairs"})).fill(pairs=as_data("\n".join(lines)))
    return ModelRequest(
        messages=(Message(role="system", text=system), Message(role="user", text=user)), schema_name="same_names"
    )


def _told(entity: Entity, near: Sequence[str]) -> dict[str, str | list[str]]:
    return {
        "name": entity.name,
        "type": entity.type,
        "also": list(entity.aliases[:_MOST_ALIASES]),
        "near": list(near[:_MOST_NEAR]),
        "said": entity.description[:_DESCRIPTION],
    }
