"""Every error of the `openai` package, translated once. No message holds the key, even where a server quotes it."""

from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING

from pydantic import SecretStr

from paperscope.errors import ModelError, ModelRateLimitError, ModelRefusedError, ModelReplyError, ModelUnavailableError

if TYPE_CHECKING:
    from openai import APIStatusError, OpenAIError

__all__ = ["BadRequestError", "retry_after", "translated", "without_key"]

QUOTE = 300
"""How many characters of a server's own words an error quotes."""


class BadRequestError(ModelRefusedError):
    """The server dislikes the request itself; `complaint` is what it said, in small letters."""

    def __init__(self, message: str, *, complaint: str) -> None:
        super().__init__(message)
        self.complaint = complaint


def translated(error: "OpenAIError", *, model: str, base_url: str, key: SecretStr) -> ModelError:
    """The error of our own tree that says what happened, to which model, where, and what to do."""
    import openai

    where = f"model {model!r} at {base_url}"
    if isinstance(error, openai.APITimeoutError):
        return ModelUnavailableError(f"{where}: no reply in time; raise the role's timeout or try later")
    if isinstance(error, openai.APIConnectionError):
        reason = without_key(str(error.__cause__ or error), key)
        return ModelUnavailableError(f"{where}: no connection ({reason}); is the server up, and base_url right?")
    if isinstance(error, openai.APIStatusError):
        said = without_key(str(error.body or error.message), key)
        return _of_status(error, where=where, said=said)
    return ModelReplyError(f"{where}: {without_key(str(error), key)}; is base_url an OpenAI-compatible endpoint?")


def _of_status(error: "APIStatusError", *, where: str, said: str) -> ModelError:
    status = error.status_code
    told = f"{where}: HTTP {status}, {said!r}"
    if status == 429 and error.code != "insufficient_quota":
        return ModelRateLimitError(
            f"{told}; lower the role's concurrency or try later", retry_after=retry_after(error.response.headers)
        )
    if status in (408, 409, 425) or status >= 500:
        return ModelUnavailableError(f"{told}; try later")
    if status in (400, 422):
        return BadRequestError(f"{told}; the server can't do what was asked", complaint=said.lower())
    if 300 <= status < 400:
        target = error.response.headers.get("location", "")[:QUOTE]
        return ModelRefusedError(
            f"{where}: redirects to {target!r}, which is not followed; set base_url to the final address"
        )
    remedies = {
        401: "check the role's api_key",
        403: "the key may not use this model: check api_key and model",
        404: "no such model or path: check model, and base_url (it usually ends in /v1)",
        429: "the account has no credit left",
    }
    return ModelRefusedError(f"{told}; {remedies.get(status, 'check model and base_url')}")


def without_key(text: str, key: SecretStr) -> str:
    """The text's beginning, the key blotted out."""
    secret = key.get_secret_value()
    return (text.replace(secret, "********") if secret else text)[:QUOTE]


def retry_after(headers: Mapping[str, str]) -> float | None:
    """The seconds that a server asks to wait: RFC 9110 section 10.2.3 (seconds or a date), or `retry-after-ms`."""
    with suppress(KeyError, ValueError):
        return max(0.0, float(headers["retry-after-ms"]) / 1000)
    text = headers.get("retry-after", "")
    with suppress(ValueError):
        return max(0.0, float(text))
    with suppress(ValueError):
        return max(0.0, (parsedate_to_datetime(text).replace(tzinfo=UTC) - datetime.now(UTC)).total_seconds())
    return None
