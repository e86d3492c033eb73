"""What a model on a server was found to take: learned from its errors once, and remembered for the whole process."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache

__all__ = ["ServerHabits", "batch_limit", "habits_of", "image_limit", "rejected_feature"]

# What a complaint calls a feature, where it does not name the field. Servers whose template has no system role say
# "System role not supported" (Gemma) or that roles must alternate (Mistral).
_NAMES = {
    "system": re.compile(r"system.{0,20}(?:role|message|prompt)|role.{0,20}system|roles must alternate"),
    "json_schema": re.compile(r"response_format|json.?schema|structured output|guided|grammar"),
    "json_object": re.compile(r"response_format|json.?(?:object|mode)"),
    "stream_options": re.compile(r"stream_options|include_usage"),
    "stream": re.compile(r"\bstream"),
}
_FORMATS = ("json_schema", "json_object")
# Nothing in the request's fields is wrong.
_CONTENT = re.compile(r"content_filter|content.management.policy|moderation|safety")
# vLLM: "At most 1 image(s) may be provided in one request." Xinference: "You set image=2 (or defaulted to 1) in
# `--limit-mm-per-prompt`, but passed 3 image items". Ollama: "vision model only supports a single image per message".
_IMAGES = re.compile(
    r"at most (\d+) image|image=(\d+)|(?:up to|maximum of|max(?:imum)?) (\d+) images?\b|(?:single|one|1) image\b"
    r"|multiple images|too many images"
)


# DashScope: "batch size is invalid, it should not be larger than 10." SiliconFlow and text-embeddings-inference: "batch
# size 64 > maximum allowed batch size 32". OpenAI: "Expected an array with maximum length 2048". Gemini: "at most 100
# requests can be in one batch".
_BATCH = re.compile(
    r"(?:larger than|at most|exceeds?|maximum(?: allowed)?(?: batch size| length| of)?|limit(?: of| is)?)"
    r"\D{0,20}?(\d{1,6})"
)


@dataclass(kw_only=True, slots=True)
class ServerHabits:
    """What a model on a server was found to take.

    Attributes:
        rejected: Features of a request that are left out.
        unheeded: Whether the server takes a schema and does not heed it, so that the prompt must contain it.
        noted: Whether a warning said that the window may be too short.
        images: The most images of a request; None if no limit is known.
        texts: The most texts of an embedding request; None if no limit is known.
        tokens: The longest text of an embedding request, in tokens as `count_tokens` estimates them; None if no limit
            is known.
    """

    rejected: frozenset[str] = field(default_factory=frozenset)
    unheeded: bool = False
    noted: bool = False
    images: int | None = None
    texts: int | None = None
    tokens: int | None = None


@lru_cache(maxsize=256)
def habits_of(_base_url: str, _model: str) -> ServerHabits:
    """Return the habits of a model on a server, which callers change; the same object for all of a process."""
    return ServerHabits()


def rejected_feature(complaint: str, sent: Sequence[str]) -> str | None:
    """Return the feature of a request that a server's complaint names, or else the format of the reply, the likeliest.

    Args:
        complaint: The complaint, in lower case.
        sent: The features of the request; a name precedes those that are part of it.

    Returns:
        The feature; None if it is none of these.
    """
    if _CONTENT.search(complaint):
        return None
    named = (one for one in sent if (_NAMES[one].search(complaint) if one in _NAMES else one in complaint))
    return next(named, None) or next((one for one in sent if one in _FORMATS), None)


def batch_limit(complaint: str, texts: int) -> int:
    """Return the most texts of an embedding request to try after one with several was rejected: what the complaint
    states, or else half of them."""
    stated = [int(number) for number in _BATCH.findall(complaint) if 0 < int(number) < texts]
    return stated[-1] if stated else texts // 2


def image_limit(complaint: str, images: int) -> int | None:
    """Return the most images that a server takes, by its complaint about a request with some; None if it does not
    complain about their number."""
    found = _IMAGES.search(complaint) if images > 1 else None
    if found is None:
        return None
    stated = next((int(one) for one in found.groups() if one), 1)
    return max(1, min(stated, images - 1))
