"""Requests to language and vision models, their replies and their usage."""

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from operator import add, sub
from typing import Any, Literal

__all__ = ["Message", "ModelCall", "ModelReply", "ModelRequest", "Prices", "Usage"]

_PRICED_TOKENS = 1_000_000


@dataclass(frozen=True, kw_only=True, slots=True)
class Message:
    """One message of a request; `images` are PNG bytes shown with the text."""

    role: Literal["system", "user", "assistant"]
    text: str
    images: tuple[bytes, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class ModelRequest:
    """A request to a language or vision model.

    Attributes:
        schema: The JSON schema that the reply must obey; None for free text.
        schema_name: What the schema describes; tells the kinds of calls apart.
        max_tokens: The longest reply, in tokens; None for the server's default.
    """

    messages: tuple[Message, ...]
    schema: Mapping[str, object] | None = None
    schema_name: str = "reply"
    max_tokens: int | None = None
    temperature: float = 0.0

    @classmethod
    def of(cls, parts: tuple[str, str], schema_name: str, *, images: tuple[bytes, ...] = ()) -> "ModelRequest":
        """Return a request of a system and a user message; the images are shown with the latter."""
        system, user = parts
        messages = (Message(role="system", text=system), Message(role="user", text=user, images=images))
        return cls(messages=messages, schema_name=schema_name)

    def key(self, model: str) -> str:
        """Return the cache key: SHA-256 over the model's name and everything that determines the reply."""
        messages = [
            [message.role, message.text, [hashlib.sha256(image).hexdigest() for image in message.images]]
            for message in self.messages
        ]
        parts = [model, messages, self.schema, self.schema_name, self.max_tokens, self.temperature]
        text = json.dumps(parts, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()


@dataclass(frozen=True, kw_only=True, slots=True)
class Usage:
    """The usage of one or several calls.

    Attributes:
        calls: The number of calls sent.
        cached: The number of calls answered from the cache, which cost nothing.
        cost: In the currency of the price settings; 0 if no price is set.

    Example:
        >>> print(Usage(calls=2, prompt_tokens=5000, cost=0.01) + Usage(cached=1, completion_tokens=200))
        3 model calls (1 from the store), 5000 + 200 tokens, cost 0.0100
    """

    calls: int = 0
    cached: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float = 0.0

    def __str__(self) -> str:
        """Return a readable text: "3 model calls (1 from the store), 5000 + 200 tokens, cost 0.0120"."""
        if self == Usage():
            return "0 model calls"
        count = self.calls + self.cached
        cached = f" ({self.cached} from the store)" if self.cached else ""
        tokens = f"{self.prompt_tokens} + {self.completion_tokens} tokens"
        return f"{count} model call{'s' if count > 1 else ''}{cached}, {tokens}, cost {self.cost:.4f}"

    def __add__(self, other: "Usage") -> "Usage":
        return self._by_field(other, add)

    def __sub__(self, other: "Usage") -> "Usage":
        return self._by_field(other, sub)

    def _by_field(self, other: "Usage", operation: Callable[[Any, Any], Any]) -> "Usage":
        names = [field.name for field in fields(self)]
        return Usage(**{name: operation(getattr(self, name), getattr(other, name)) for name in names})


@dataclass(frozen=True, kw_only=True, slots=True)
class Prices:
    """A model's prices of a million prompt tokens and of a million completion tokens."""

    prompt: float = 0.0
    completion: float = 0.0

    def usage(self, *, prompt_tokens: int, completion_tokens: int = 0) -> Usage:
        """Return the usage of one call with this number of tokens."""
        cost = (prompt_tokens * self.prompt + completion_tokens * self.completion) / _PRICED_TOKENS
        return Usage(calls=1, prompt_tokens=prompt_tokens, completion_tokens=completion_tokens, cost=cost)


@dataclass(frozen=True, kw_only=True, slots=True)
class ModelReply:
    """A reply's text and usage; `cut` if the token limit truncated it."""

    text: str
    usage: Usage = Usage()
    cut: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class ModelCall:
    """The outcome of a call.

    Attributes:
        outcome: "answered"; "failed" (no reply); "limited" (rejected by a rate limit, and not billed); "kept" (not
            sent, because the cache has the reply).
        usage: Its usage, as far as known.
    """

    outcome: Literal["answered", "failed", "limited", "kept"]
    usage: Usage = Usage()
