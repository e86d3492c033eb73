"""Finds servers of language models on this machine, lists what a server offers, and tries a model.

Only `paperscope setup` uses it: nothing is contacted without being asked for.
"""

import io
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import urlsplit

from pydantic import BaseModel, BeforeValidator, SecretStr, ValidationError

from paperscope.library import Library
from paperscope_core.errors import ModelError, ModelRefusedError, ModelUnavailableError
from paperscope_core.models import build_model
from paperscope_core.models.cache import MemoryCallCache
from paperscope_core.models.server_habits import habits_of
from paperscope_core.settings import (
    EmbedSettings,
    ExtractSettings,
    RetrievalSettings,
    RoleSettings,
    Settings,
)
from paperscope_core.types import Answer, AskRequest, Message, ModelRequest, PaperFile, TextEvent

__all__ = ["LOCAL_PORTS", "OfferedModel", "Server", "Trial", "list_models", "local_servers", "try_models"]

LOCAL_PORTS: Mapping[str, int] = {"Ollama": 11434, "LM Studio": 1234, "llama.cpp": 8080, "vLLM": 8000}
"""The usual ports of servers that run models on one's own machine."""

_SECONDS = 5.0
_MAX_BYTES = 5_000_000
# Ollama is asked about each model.
_MAX_ASKED = 50
_SIGHT = frozenset({"vision", "multimodal", "image"})

_PAPER = """# Four Reports, Four Rulers

## Results on KLUE

Report B trains a base model, a large model and an ensemble of both on KLUE-NER. The ensemble has the highest entity F1
in four of the four seeds shown. Neither single model is safely the better one: had either been trained with one seed, a
reader could have been told either story.

Table 1: Report B: entity F1 (%) by seed.

| Seed | RoBERTa-base | RoBERTa-large | Ensemble |
|---|---|---|---|
| 1 | 89.33 | 88.70 | 89.34 |
| 2 | 89.04 | 89.68 | 89.80 |
| 3 | 88.79 | 89.19 | 89.41 |
| 4 | 89.28 | 89.05 | 89.55 |
"""
_QUESTION = "What is the highest entity F1 of the ensemble, and which seed reaches it?"
_EXPECTED = "89.8"
_PICTURED = "7294"
_PICTURE_QUESTION = "Which number does the picture show? Reply with the number alone."


@dataclass(frozen=True, kw_only=True, slots=True)
class OfferedModel:
    """A model that a server lists; `sees` says whether it reads pictures, None if the server does not say."""

    name: str
    sees: bool | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Server:
    """A server on this machine with its models; `kind` is the program that usually has its port."""

    kind: str
    base_url: str
    models: tuple[OfferedModel, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Trial:
    """What a model did with the example paper.

    Attributes:
        answer: The answer to the question.
        seconds: How long it took.
        form: How replies are asked for: "JSON schema", "JSON schema in the prompt", "JSON mode" or "plain text".
        streams: Whether the answer came in pieces.
        sees: Whether the vision model read a picture; None if none was asked.
        blindness: Why it did not.
    """

    answer: Answer
    seconds: float
    form: str
    streams: bool
    sees: bool | None = None
    blindness: str = ""

    @property
    def right(self) -> bool:
        """Whether the answer is right."""
        return _EXPECTED in self.answer.text

    @property
    def cited(self) -> int:
        """How many places the answer cites."""
        return sum(len(claim.evidence) for claim in self.answer.claims)


class _Listed(BaseModel):
    """A model as servers list it; `architecture` is OpenRouter's, `type` LM Studio's, the lists Mistral's or
    Ollama's."""

    id: str
    owned_by: object = None
    type: object = None
    capabilities: object = None
    architecture: object = None

    @property
    def sees(self) -> bool | None:
        able, built = self.capabilities, self.architecture
        if isinstance(able, Mapping) and "vision" in able:
            return bool(able["vision"])
        if isinstance(able, list):
            return bool(_SIGHT.intersection(map(str, able)))
        if isinstance(built, Mapping) and isinstance(built.get("input_modalities"), list):
            return "image" in built["input_modalities"]
        return self.type == "vlm" if self.type in ("vlm", "llm") else None

    @property
    def answers(self) -> bool:
        """Whether it is a language model, as far as the server says; and none that is Paperscope itself."""
        able = self.capabilities
        embeds_only = isinstance(able, list) and "embedding" in able and "completion" not in able
        return self.owned_by != "paperscope" and self.type not in ("embeddings", "embedding") and not embeds_only


def _readable(entries: object) -> list[_Listed]:
    found = []
    for entry in entries if isinstance(entries, list) else ():
        with suppress(ValidationError):
            found.append(_Listed.model_validate(entry))
    return found


class _Listing(BaseModel):
    data: Annotated[list[_Listed], BeforeValidator(_readable)]


def local_servers() -> Iterator[Server]:
    """Yield the servers that answer on the usual ports of this machine, and have models."""
    for kind, port in LOCAL_PORTS.items():
        address = f"http://127.0.0.1:{port}/v1"
        with suppress(ModelError):
            models = list_models(address)
            if models:
                yield Server(kind=kind, base_url=address, models=tuple(models))


def list_models(base_url: str, key: SecretStr | None = None) -> Sequence[OfferedModel]:
    """Return the language models that an OpenAI-compatible server lists, those that read pictures first.

    Raises:
        ModelUnavailableError: There is no server.
        ModelRefusedError: The server has no such list, or wants a key.
    """
    body = _fetch(f"{base_url}/models", key)
    try:
        listed = [one for one in _Listing.model_validate(body).data if one.answers]
    except ValidationError:
        raise ModelRefusedError(
            "the server lists no models; is base_url an OpenAI-compatible endpoint? It usually ends in /v1",
            where=base_url,
        ) from None
    # Programs on one's own machines have no TLS; their own lists say more. No provider is asked for these paths.
    if listed and urlsplit(base_url).scheme == "http" and all(one.sees is None for one in listed):
        listed = _with_marks(base_url.removesuffix("/v1"), listed, key)
    models = [OfferedModel(name=one.id, sees=one.sees) for one in listed if one.answers]
    return sorted(models, key=lambda one: (one.sees is not True, one.sees is False))


def _with_marks(root: str, listed: Sequence[_Listed], key: SecretStr | None) -> list[_Listed]:
    """Return models with what the server's own interface says: that of LM Studio, llama.cpp or Ollama."""
    with suppress(ModelError, ValidationError):
        marked = {one.id: one for one in _Listing.model_validate(_fetch(f"{root}/api/v0/models", key)).data}
        return [marked.get(one.id, one) for one in listed]
    with suppress(ModelError):
        modalities = _field(_fetch(f"{root}/props", key), "modalities")
        if isinstance(modalities, Mapping):
            return [one.model_copy(update={"capabilities": modalities}) for one in listed]
    marks: dict[str, object] = {}
    with suppress(ModelError):
        for one in listed[:_MAX_ASKED]:
            marks[one.id] = _field(_fetch(f"{root}/api/show", key, body={"model": one.id}), "capabilities")
    return [one.model_copy(update={"capabilities": marks.get(one.id)}) for one in listed]


def _field(document: object, name: str) -> object:
    return document.get(name) if isinstance(document, Mapping) else None


def _fetch(url: str, key: SecretStr | None, *, body: Mapping[str, object] | None = None) -> Any:  # noqa: ANN401
    """Return the JSON at an address, up to a size. Raises ModelError, which quotes nothing of the server."""
    import httpx2
    from pydantic_core import from_json

    headers = {"Accept-Encoding": "identity"}
    if key is not None and key.get_secret_value():
        headers["Authorization"] = f"Bearer {key.get_secret_value()}"
    content = b""
    try:
        with (
            httpx2.Client(timeout=_SECONDS, trust_env=False, follow_redirects=False, headers=headers) as client,
            client.stream("GET" if body is None else "POST", url, json=body) as response,
        ):
            started = time.monotonic()
            for part in response.iter_raw():
                content += part
                if len(content) > _MAX_BYTES or time.monotonic() - started > _SECONDS:
                    raise ModelRefusedError("the server sends too much, or too slowly", where=url)
    except httpx2.HTTPError as error:
        raise ModelUnavailableError(f"no connection ({type(error).__name__}); is the server up?", where=url) from None
    if response.status_code in (401, 403):
        raise ModelRefusedError(f"HTTP {response.status_code}: the server wants another key", where=url)
    if response.status_code != 200:
        raise ModelRefusedError(f"HTTP {response.status_code}; base_url usually ends in /v1", where=url)
    with suppress(ValueError):
        return from_json(content)
    raise ModelRefusedError("the server sends no JSON; base_url usually ends in /v1", where=url)


def try_models(settings: Settings, *, sight: bool) -> Trial:
    """Ask one question on the example paper in a library of its own, and one about a picture.

    Args:
        settings: The models, with their servers, limits and prices. The library of these settings is not touched.
        sight: Whether to try the vision model.

    Raises:
        ModelError: The answering model does not answer.
    """
    with tempfile.TemporaryDirectory(prefix="paperscope-") as folder:
        trial = settings.model_copy(
            update={
                "library": Path(folder) / "library",
                "answer": settings.answer.model_copy(update={"max_cost": 0.0, "tokenizer": ""}),
                "vision": RoleSettings(),
                "extract": ExtractSettings(recognizer="none"),
                "embed": EmbedSettings(),
                "retrieval": RetrievalSettings(),
            }
        )
        with Library.open(settings=trial) as library:
            library.add(PaperFile(Path("example.md"), content=_PAPER.encode()), name="example.md")
            pieces: list[TextEvent] = []
            started = time.monotonic()
            found = library.wait(library.answer(AskRequest.of(_QUESTION), on_text=pieces.append))
            seconds = time.monotonic() - started
            sees, blindness = _try_sight(library, settings) if sight else (None, "")
    habits = habits_of(settings.answer.base_url, settings.answer.model)
    forms = {"JSON schema": "json_schema", "JSON mode": "json_object", "plain text": ""}
    form = next(form for form, feature in forms.items() if feature not in habits.rejected)
    return Trial(
        answer=found,
        seconds=seconds,
        form="JSON schema in the prompt" if habits.unheeded and form == "JSON schema" else form,
        streams=len(pieces) > 1,
        sees=sees,
        blindness=blindness,
    )


def _try_sight(library: Library, settings: Settings) -> tuple[bool, str]:
    """Return whether the vision model reads a number in a picture, and why not."""
    from PIL import Image, ImageDraw

    picture = Image.new("RGB", (320, 160), "white")
    ImageDraw.Draw(picture).text((60, 40), _PICTURED, fill="black", font_size=72)
    picture.save(stream := io.BytesIO(), "PNG")
    message = Message(role="user", text=_PICTURE_QUESTION, images=(stream.getvalue(),))
    model = build_model(settings.vision, MemoryCallCache(), calls=settings.calls)
    if model is None:
        return False, "no model"
    try:
        reply = library.wait(model.complete(ModelRequest(messages=(message,))))
    except ModelError as error:
        return False, error.public
    return _PICTURED in reply.text, "" if _PICTURED in reply.text else "it does not read what the picture shows"
