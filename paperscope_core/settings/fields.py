"""Every setting with its type, default and description.

A role (answer, extract, vision) without a model is not configured, and Paperscope works without it. There is no default
model and no default host.
"""

import json
import re
from collections.abc import Iterator, Mapping
from functools import reduce
from ipaddress import ip_network
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Literal, NamedTuple, Self
from urllib.parse import urlsplit

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PrivateAttr,
    SecretStr,
    model_validator,
)

from paperscope_core.locations import LibraryLocation
from paperscope_core.types import Prices

__all__ = [
    "PATH_PREFIX",
    "AnswerSettings",
    "CallSettings",
    "EmbedSettings",
    "ExtractSettings",
    "LimitSettings",
    "ParserSettings",
    "RecordSettings",
    "RetrievalSettings",
    "RoleSettings",
    "ServiceSettings",
    "SettingRow",
    "Settings",
    "setting_names",
]

PATH_PREFIX = re.compile(r"(?:/(?!\.{1,2}(?:/|$))[A-Za-z0-9._~-]{1,100}){1,10}")
"""A path below which the service may be: no other host can be read into it."""

# Fields of a request that `extra` may not contain.
_OWN_FIELDS = frozenset({"messages", "model", "response_format", "stream", "stream_options", "n", "tools", "functions"})
_OPENAI_REMEDY = "for OpenAI itself write https://api.openai.com/v1"


def _checked_network(network: str) -> str:
    try:
        return str(ip_network(network))
    except ValueError as error:
        raise ValueError(f"not an address or a network such as 10.0.0.0/8: {error}") from error


def _checked_address(address: str) -> str:
    if not address:
        return address
    parts = urlsplit(address)
    if parts.username is not None or parts.query or parts.fragment:
        raise ValueError("an address holds no password, query or fragment; a key belongs into api_key")
    # `port` itself raises ValueError if it is out of range.
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.port == 0:
        raise ValueError(f"not an http(s) address; {_OPENAI_REMEDY}")
    return address.rstrip("/")


def _checked_path(path: str) -> str:
    path = path.rstrip("/")
    if path and not PATH_PREFIX.fullmatch(path):
        raise ValueError("a path of letters, digits, dots, dashes and underscores, such as /papers")
    return path


def _expanded(path: Path) -> Path:
    try:
        return path.expanduser()
    except RuntimeError as error:
        raise ValueError(f"no such home folder: {error}") from error


def _checked_key(key: SecretStr) -> SecretStr:
    text = key.get_secret_value().strip()
    if not text.isascii() or not text.isprintable():
        raise ValueError("a key consists of printable ASCII characters; was it pasted completely?")
    return SecretStr(text)


def _checked_types(types: Mapping[str, str]) -> Mapping[str, str]:
    for name, meaning in types.items():
        if not re.fullmatch(r"[^\W\d_][\w -]{0,39}", name) or name in ("table", "figure", "equation"):
            raise ValueError(
                f"{name!r} can't be a type: take up to 40 letters, digits, spaces or hyphens (table, figure and "
                "equation are types already)"
            )
        if not meaning or not meaning.isprintable():
            raise ValueError(f"say on one line what the type {name!r} is")
    return types


def _decoded(value: object) -> object:
    """Return a list or table, which is JSON in an environment variable."""
    try:
        return json.loads(value) if isinstance(value, str) else value
    except ValueError:
        raise ValueError("write a list or table as JSON") from None


def _checked_extra(extra: Mapping[str, object]) -> Mapping[str, object]:
    for name, value in extra.items():
        if name in _OWN_FIELDS:
            raise ValueError(f"{name!r} is set by Paperscope: leave it out")
        try:
            json.dumps(value, allow_nan=False)
        except (TypeError, ValueError):
            raise ValueError(f"{name!r} has a value that is not JSON (a date, or not a finite number)") from None
    return extra


_Address = Annotated[str, AfterValidator(_checked_address)]
_Network = Annotated[str, AfterValidator(_checked_network)]
_Key = Annotated[SecretStr, AfterValidator(_checked_key)]
_Json = BeforeValidator(_decoded)
_EntityTypes = Annotated[Mapping[str, str], _Json, AfterValidator(_checked_types)]
_Extra = Annotated[Mapping[str, object], _Json, AfterValidator(_checked_extra)]
_Folder = Annotated[Path, AfterValidator(_expanded)]
_Path = Annotated[str, AfterValidator(_checked_path)]


class _Section(BaseModel):
    """The base of all sections: frozen, without unknown names, and without values in errors, which may be keys."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", hide_input_in_errors=True, str_strip_whitespace=True, allow_inf_nan=False
    )


class _EndpointSettings(_Section):
    """A model on an OpenAI-compatible server."""

    model: str = Field(default="", description="the model's name; empty: not configured")
    base_url: _Address = Field(default="", description=f"the server's address; {_OPENAI_REMEDY}")
    api_key: _Key = Field(default=SecretStr(""), description="the server's key; empty if it needs none")


class CallSettings(_Section):
    """How the models of all roles are called."""

    timeout: float = Field(default=120.0, gt=0, description="how many seconds a call may take")
    retries: int = Field(default=4, ge=0, description="how often a call is retried after a temporary failure")
    concurrency: int = Field(default=4, ge=1, description="how many calls of a role may run at once")


class RoleSettings(_EndpointSettings):
    """The language model of one role."""

    price_prompt: float = Field(
        default=0.0, ge=0, description="price of a million prompt tokens, in a currency of your choice"
    )
    price_completion: float = Field(default=0.0, ge=0, description="price of a million completion tokens")
    extra: _Extra = Field(
        default={},
        description='further fields of each request, such as { reasoning_effort = "low", temperature = 0.6, '
        "max_completion_tokens = 8000 }",
    )

    @property
    def configured(self) -> bool:
        """Whether the role has a model."""
        return bool(self.model)

    @property
    def prices(self) -> Prices:
        """What its tokens cost."""
        return Prices(prompt=self.price_prompt, completion=self.price_completion)

    @model_validator(mode="after")
    def _has_address(self) -> Self:
        if self.model and not self.base_url:
            raise ValueError(
                f"the model {self.model!r} has no base_url: set base_url (or OPENAI_BASE_URL); {_OPENAI_REMEDY}"
            )
        return self


class AnswerSettings(RoleSettings):
    """The model that answers questions, and the parameters of its requests."""

    tokenizer: str = Field(
        default="", description="the model's tokenizer.json, which counts tokens; empty: tokens are estimated"
    )
    context: Literal["retrieved", "paper"] = Field(
        default="retrieved",
        description="what the model reads: what is retrieved, or the whole paper where it fits retrieval.tokens",
    )
    rounds: int = Field(
        default=1,
        ge=0,
        le=4,
        description="how often the model may look up in the papers what its context lacks; each time takes one more "
        "call",
    )
    max_cost: float = Field(
        default=0.0,
        ge=0,
        description="the most that a question may cost, in the currency of the prices; 0: no limit. Further calls are "
        "left out, and a finding says so",
    )


class ExtractSettings(RoleSettings):
    """The model that extracts entities, and the parameters of its requests."""

    tokens_per_call: int = Field(
        default=2500, ge=200, description="neighbouring chunks share a call up to about this many tokens"
    )
    recognizer: str = Field(
        default="papers",
        description="finds and types names beside the rules: papers, the installed recognizer; a folder that "
        "`paperscope ner train` wrote; none: rules alone",
    )
    types: _EntityTypes = Field(
        default={},
        description="the entity types with their meanings, the most specific first, the last for everything else; "
        "empty: dataset, metric, task, method, quantity, concept",
    )


class EmbedSettings(_EndpointSettings):
    """The embedder: local without a base_url, else on an OpenAI-compatible server."""

    model: str = Field(
        default="",
        description="local: a folder or a Hugging Face name, empty: the bundled all-MiniLM-L6-v2; on a server: the "
        "model's name",
    )
    base_url: _Address = Field(
        default="", description=f"the server's address, empty: the embedder runs locally; {_OPENAI_REMEDY}"
    )
    price_prompt: float = Field(default=0.0, ge=0, description="on a server: price of a million tokens")

    @property
    def local(self) -> bool:
        """Whether the embedder runs in this process."""
        return not self.base_url

    @model_validator(mode="after")
    def _has_model(self) -> Self:
        if self.base_url and not self.model:
            raise ValueError(f"base_url = {self.base_url!r} needs the name of a model: set model")
        return self


class ParserSettings(_Section):
    """How files are parsed."""

    engine: Literal["paperscope", "docling", "mineru"] = Field(
        default="paperscope",
        description="what reads a PDF: Paperscope, docling (extra: docling), or the MinerU program",
    )
    dpi: int = Field(default=200, ge=36, le=600, description="resolution of the pictures of tables, figures, equations")
    ocr: Literal["auto", "off"] = Field(
        default="auto", description="auto: recognise the text of pages without any, if the extra ocr is installed"
    )
    docling_models: _Folder | None = Field(
        default=None, description="the folder of docling's models; nothing is downloaded"
    )
    mineru_command: str = Field(
        default="mineru", min_length=1, description="the MinerU program with its options, run without a shell"
    )


class RecordSettings(_Section):
    """What may be contacted for papers that are added by name, and for their records."""

    contact: Annotated[tuple[Literal["crossref", "arxiv", "unpaywall", "urls"], ...], _Json] = Field(
        default=(),
        description="what `paperscope add` and `paperscope complete` may ask for records and open copies: crossref, "
        "arxiv, unpaywall; urls: the https addresses that you name; empty: nothing is contacted",
    )
    mailto: Annotated[str, Field(pattern=r"^([^\s@?&#/]+@[^\s@?&#/]+\.[^\s@?&#/]+)?$")] = Field(
        default="", description="your e-mail address, which these services get with each request; Unpaywall wants one"
    )

    @model_validator(mode="after")
    def _has_address(self) -> Self:
        if "unpaywall" in self.contact and not self.mailto:
            raise ValueError("unpaywall wants an e-mail address with each request: set records.mailto")
        return self


class RetrievalSettings(_Section):
    """How context is retrieved for a question, and how much."""

    index: Literal["native", "postgresql", "lightrag"] = Field(
        default="native",
        description="what finds candidates: Paperscope's index of words, vectors and the graph, in files of each "
        "machine (native) or in the library's database (postgresql, with pgvector), or LightRAG (extra: lightrag)",
    )
    lightrag_mode: Literal["local", "global", "hybrid", "mix", "naive"] = Field(
        default="mix",
        description="LightRAG's mode: entities near the question (local), relations near it (global), both (hybrid), "
        "both and chunks (mix), chunks only (naive)",
    )
    chunks: int = Field(default=8, ge=1, description="the most chunks in a context")
    tokens: int = Field(
        default=12_000,
        ge=500,
        description="the most tokens in a context as a model gets it; chunks that don't fit are left out, a table that "
        "is too large is reduced to the rows and columns that the question is about",
    )
    images: int = Field(
        default=2, ge=0, description="the most images that a vision model reads for a question, in one call"
    )
    reranker: str = Field(default="", description="a cross-encoder's folder or Hugging Face name; empty: none")


class LimitSettings(_Section):
    """Which files are refused, and when parsing is aborted."""

    max_file_mb: int = Field(default=100, ge=1, description="the largest paper file, in megabytes")
    max_pages: int = Field(default=500, ge=1, description="the most pages of a paper")
    parse_seconds: float = Field(
        default=15.0,
        gt=0,
        description="how long opening a file or reading a page, or a megabyte of text, may take; OCR ten times as "
        "long, and docling or MinerU 120 times as long for a paper",
    )
    memory_mb: int = Field(
        default=8192,
        ge=1024,
        description="how much memory the service's process that adds papers may take, in megabytes (Linux); reading a "
        "file may take half of it",
    )

    @property
    def engine_seconds(self) -> float:
        """How long docling or MinerU may take for a paper: half an hour by default."""
        return 120 * self.parse_seconds

    @property
    def parse_memory_mb(self) -> int:
        """How much memory reading a file may take."""
        return self.memory_mb // 2


class ServiceSettings(_Section):
    """The HTTP service: address, access and limits."""

    host: str = Field(
        default="127.0.0.1",
        min_length=1,
        description="the address to listen on; any but this machine's own (such as 0.0.0.0) requires API keys",
    )
    port: int = Field(default=8000, ge=0, le=65535, description="the port to listen on; 0: a free one")
    workers: int = Field(default=1, ge=1, le=64, description="how many processes answer the requests")
    keys: _Folder = Field(
        default=Path("paperscope-keys.json"),
        description="the file of API keys; if it exists, every request needs a key",
    )
    folders: Annotated[tuple[_Folder, ...], _Json] = Field(
        default=(), description="folders whose papers may be added by path, by callers without a key"
    )
    origins: Annotated[tuple[_Address, ...], _Json] = Field(
        default=(), description="other origins whose web pages may call the service, such as https://lab.example"
    )
    hosts: Annotated[tuple[str, ...], _Json] = Field(
        default=(), description="host names besides localhost by which the service may be called without keys"
    )
    proxies: Annotated[tuple[_Network, ...], _Json] = Field(
        default=(),
        description="addresses or networks of reverse proxies, such as 127.0.0.1; who calls and by which scheme is "
        "taken from their X-Forwarded-For and X-Forwarded-Proto, and the path of the service from X-Forwarded-Prefix",
    )
    root_path: _Path = Field(
        default="", description="the path of the service behind a reverse proxy, such as /papers; empty: none"
    )
    questions_at_once: int = Field(default=8, ge=1, description="how many questions are answered at once")
    question_seconds: float = Field(default=300.0, gt=0, description="how long answering a question may take")
    requests_per_minute: int = Field(
        default=0, ge=0, description="the most requests a minute of one key or address; 0: no limit"
    )
    jobs_at_once: int = Field(
        default=2,
        ge=0,
        description="how many jobs (papers, batches) run at once; 0: none, `paperscope worker` does them",
    )
    shutdown_seconds: float = Field(
        default=10.0, gt=0, description="how long requests in progress may take after the service is told to stop"
    )
    log: Literal["text", "json"] = Field(default="text", description="the format of the log, one line per event")


class SettingRow(NamedTuple):
    """A setting for display: dotted name, value (keys masked), and origin."""

    name: str
    value: str
    origin: str


class Settings(_Section):
    """All settings.

    `model`, `base_url` and `api_key` are the defaults of answer, extract and vision.
    """

    library: LibraryLocation = Field(
        default=Path("library"),
        description="the library's folder, or its database: postgresql://host/papers?files=/srv/papers",
    )
    model: str = Field(default="", description="the model of every role that names none")
    base_url: _Address = Field(
        default="", description="the server of every role that names none; falls back to OPENAI_BASE_URL"
    )
    api_key: _Key = Field(
        default=SecretStr(""), description="the key of every role that names none; falls back to OPENAI_API_KEY"
    )
    answer: AnswerSettings = AnswerSettings()
    extract: ExtractSettings = ExtractSettings()
    vision: RoleSettings = RoleSettings()
    embed: EmbedSettings = EmbedSettings()
    calls: CallSettings = CallSettings()
    parser: ParserSettings = ParserSettings()
    records: RecordSettings = RecordSettings()
    retrieval: RetrievalSettings = RetrievalSettings()
    limits: LimitSettings = LimitSettings()
    service: ServiceSettings = ServiceSettings()
    _origins: Mapping[str, str] = PrivateAttr(default_factory=dict)

    def __init__(self, origins: Mapping[str, str] = MappingProxyType({}), /, **values: object) -> None:
        """Take sections and values; `origins` says where values come from, by dotted name."""
        super().__init__(**values)
        self._origins = dict(origins)

    @model_validator(mode="after")
    def _has_prices(self) -> Self:
        roles = {"answer": self.answer, "vision": self.vision}
        unpriced = [f"{name}.price_prompt" for name, role in roles.items() if role.configured and not role.price_prompt]
        if self.answer.max_cost and unpriced:
            raise ValueError(f"answer.max_cost = {self.answer.max_cost:g} can't be kept: set {' and '.join(unpriced)}")
        return self

    def describe(self) -> list[SettingRow]:
        """Return every setting, in the order of the sections."""
        return [
            SettingRow(name, _as_text(reduce(getattr, name.split("."), self)), self._origins.get(name, "default"))
            for name in setting_names()
        ]

    def notes(self) -> list[str]:
        """Return one sentence, with a remedy, for each setting that is set but has no effect."""
        roles = [role for role in (self.answer, self.extract, self.vision) if role.configured]
        if not roles:
            unused = [name for name in ("api_key", "base_url") if _as_text(getattr(self, name))]
            why = "no model is named: set PAPERSCOPE_MODEL"
        else:
            has_key = any(_as_text(role.api_key) for role in (*roles, self.embed))
            unused = ["api_key"] if _as_text(self.api_key) and not has_key else []
            why = "every role names another server: set base_url to the key's server, or the role's api_key"
        return [f"{self._origins.get(name, name)} is set but {why}" for name in unused]


def setting_names(section: type[BaseModel] = Settings, prefix: str = "") -> Iterator[str]:
    """Yield the dotted names of all settings of a section, in order."""
    for name, field in section.model_fields.items():
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
            yield from setting_names(field.annotation, f"{prefix}{name}.")
        else:
            yield prefix + name


def _as_text(value: object) -> str:
    # `str` of a SecretStr is a mask, or "" if it is empty.
    return "" if value is None else str(value)
