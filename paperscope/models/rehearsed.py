"""A model that tells what calls would take, without making any."""

import json
from dataclasses import replace

from paperscope.models.expected import expected_usage, least_reply
from paperscope.protocols import CallCache, LanguageModel
from paperscope.types import ModelReply, ModelRequest, Usage

__all__ = ["RehearsedModel"]


class RehearsedModel:
    """Stands in for `model` while the same code runs that would call it, so that exactly its requests are counted.

    A kept reply comes from the cache. Any other request is noted, once, and gets the least reply that its schema
    allows; nothing is sent. Prices are per million tokens.
    """

    def __init__(
        self, model: LanguageModel, cache: CallCache, *, price_prompt: float = 0.0, price_completion: float = 0.0
    ) -> None:
        self._model = model
        self._cache = cache
        self._price_prompt = price_prompt
        self._price_completion = price_completion
        self._noted: set[str] = set()
        self._usage = Usage()

    @property
    def name(self) -> str:
        """The model's name."""
        return self._model.name

    @property
    def usage(self) -> Usage:
        """What the requests so far would take together; those in the cache count as cached."""
        return self._usage

    async def complete(self, request: ModelRequest) -> ModelReply:
        """A kept reply, or a stand-in that counts as a call."""
        key = request.key(self.name)
        kept = self._cache.get_call(key)
        if kept is not None:
            self._usage += Usage(cached=1)
            return replace(kept, usage=Usage(cached=1))
        expected = expected_usage(request, price_prompt=self._price_prompt, price_completion=self._price_completion)
        if key not in self._noted:
            self._noted.add(key)
            self._usage += expected
        text = "" if request.schema is None else json.dumps(least_reply(request.schema))
        return ModelReply(text=text, usage=expected)
