"""Every error of the `openai` package, translated once.

No message holds the key, and nothing that is public the address, even where a server quotes them.
"""

import re
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from pydantic import SecretStr

from paperscope.errors import ModelError, ModelRateLimitError, ModelRefusedError, ModelReplyError, ModelUnavailableError

if TYPE_CHECKING:
    from openai import APIStatusError, OpenAIError

__all__ = ["BadRequestError", "quoted", "retry_after", "translated"]

QUOTE = 300
"""How many characters of a server's own words an error quotes."""


class BadRequestError(ModelRefusedError):
    """The server dislikes the request itself; `complaint` is what it said, in small letters."""

    def __init__(self, public: str, *, where: str, complaint: str) -> None:
        super().__init__(public, where=where)
        self.complaint = complaint


def translated(error: "OpenAIError", *, model: str, base_url: str, key: SecretStr) -> ModelError:
    """The error of our own tree that says what happened, to which model, where, and what to do."""
    import openai

    named = f"model {model!r}"
    if isinstance(error, openai.APITimeoutError):
        return ModelUnavailableError(
            f"{named}: no reply in time; raise the role's timeout or try later", where=base_url
        )
    if isinstance(error, openai.APIConnectionError):
        reason = quoted(str(error.__cause__ or error), base_url=base_url, key=key)
        told = f"{named}: no connection ({reason}); is the server up, and base_url right?"
        return ModelUnavailableError(told, where=base_url)
    if isinstance(error, openai.APIStatusError):
        said = quoted(str(error.body or error.message), base_url=base_url, key=key)
        return _of_status(error, model=named, where=base_url, said=said)
    said = quoted(str(error), base_url=base_url, key=key)
    return ModelReplyError(f"{named}: {said}; is base_url an OpenAI-compatible endpoint?", where=base_url)


def _of_status(error: "APIStatusError", *, model: str, where: str, said: str) -> ModelError:
    status = error.status_code
    told = f"{model}: HTTP {status}, {said!r}"
    if status == 429 and error.code != "insufficient_quota":
        wait = retry_after(error.response.headers)
        return ModelRateLimitError(f"{told}; lower the role's concurrency or try later", where=where, retry_after=wait)
    if status in (408, 409, 425) or status >= 500:
        return ModelUnavailableError(f"{told}; try later", where=where)
    if status in (400, 422):
        return BadRequestError(f"{told}; the server can't do what was asked", where=where, complaint=said.lower())
    if 300 <= status < 400:
        target = error.response.headers.get("location", "")[:QUOTE]
        return ModelRefusedError(
            f"{model}: a redirection, which is not followed; set base_url to the final address",
            where=f"{where} (to {target!r})",
        )
    remedies = {
        401: "check the role's api_key",
        403: "the key may not use this model: check api_key and model",
        404: "no such model or path: check model, and base_url (it usually ends in /v1)",
        429: "the account has no credit left",
    }
    return ModelRefusedError(f"{told}; {remedies.get(status, 'check model and base_url')}", where=where)


def quoted(text: str, *, base_url: str, key: SecretStr) -> str:
    """The beginning of a text of the server's, key and address blotted out."""
    address = urlsplit(base_url)
    for secret in filter(None, (key.get_secret_value(), base_url, address.netloc)):
        text = text.replace(secret, "********")
    # A host may be called as words that occur in any text.
    host = re.escape(address.hostname or base_url)
    return re.sub(rf"(?<!\w){host}(?!\w)", "********", text)[:QUOTE]


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
