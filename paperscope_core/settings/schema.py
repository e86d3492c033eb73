"""Every setting with its type, default and description."""

import re
from collections import ChainMap
from collections.abc import Iterator, Mapping
from functools import reduce
from pathlib import Path
from typing import Annotated, Literal, NamedTuple, Self
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, Field, PrivateAttr, SecretStr, model_validator
from pydantic_settings import BaseSettings, InitSettingsSource, PydanticBaseSettingsSource, SettingsConfigDict

__all__ = [
    "OPENAI_REMEDY",
    "Address",
    "AnswerSettings",
    "ChunkingSettings",
    "EmbedSettings",
    "ExtractSettings",
    "Folder",
    "Key",
    "LimitSettings",
    "ParserSettings",
    "RetrievalSettings",
    "RoleSettings",
    "Section",
    "ServiceSettings",
    "SettingRow",
    "Settings",
    "SettingsSource",
    "setting_names",
]


OPENAI_REMEDY = "for OpenAI itself write https://api.openai.com/v1"


def _checked_address(address: str) -> str:
    if not address:
        return address
    parts = urlsplit(address)
    if parts.username is not None or parts.query or parts.fragment:
        raise ValueError("an address holds no password, query or fragment; a key belongs into api_key")
    # A port out of range is a ValueError of `port`.
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.port == 0:
        raise ValueError(f"not an http(s) address; {OPENAI_REMEDY}")
    return address.rstrip("/")


def _expanded(path: Path) -> Path:
    try:
        return path.expanduser()
    except RuntimeError as error:
        raise ValueError(f"no such home folder: {error}") from error


def _checked_key(key: SecretStr) -> SecretStr:
    text = key.get_secret_value().strip()
    if not text.isascii() or not text.isprintable():
        raise ValueError("a key consists of printable ASCII characters; was it pasted whole?")
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


Address = Annotated[str, AfterValidator(_checked_address)]
Key = Annotated[SecretStr, AfterValidator(_checked_key)]
EntityTypes = Annotated[Mapping[str, str], AfterValidator(_checked_types)]
Folder = Annotated[Path, AfterValidator(_expanded)]


class Section(BaseModel):
    """What every section shares: frozen, no unknown names, no values in error texts (they may be keys)."""

    model_config = SettingsConfigDict(
        frozen=True, extra="forbid", hide_input_in_errors=True, str_strip_whitespace=True, allow_inf_nan=False
    )


class EndpointSettings(Section):
    """A model on a server that speaks OpenAI's protocol."""

    model: str = Field(default="", description="the model's name; empty: not configured")
    base_url: Address = Field(default="", description=f"the server's address; {OPENAI_REMEDY}")
    api_key: Key = Field(default=SecretStr(""), description="the server's key; empty where it asks for none")
    timeout: float = Field(default=120.0, gt=0, description="seconds until a call is given up")
    retries: int = Field(
        default=4, ge=0, description="how often a call that failed for a passing reason is tried again"
    )


class RoleSettings(EndpointSettings):
    """The language model of one role."""

    concurrency: int = Field(default=4, ge=1, description="how many calls may be under way at once")
    price_prompt: float = Field(
        default=0.0, ge=0, description="price of a million prompt tokens, in a currency of your choice"
    )
    price_completion: float = Field(default=0.0, ge=0, description="price of a million completion tokens")

    @property
    def configured(self) -> bool:
        """Whether the role has a model."""
        return bool(self.model)

    @model_validator(mode="after")
    def _has_address(self) -> Self:
        if self.model and not self.base_url:
            raise ValueError(
                f"the model {self.model!r} has no base_url: set base_url (or OPENAI_BASE_URL); {OPENAI_REMEDY}"
            )
        return self


class AnswerSettings(RoleSettings):
    """The model that answers, and how it is asked."""

    tokenizer: str = Field(
        default="", description="the model's tokenizer.json, by which tokens are counted; empty: they are estimated"
    )
    decompose: bool = Field(
        default=False, description="split a question of several parts, a call more, and look for each part by itself"
    )


class ExtractSettings(RoleSettings):
    """The model that extracts entities, and what it is asked for."""

    tokens_per_call: int = Field(
        default=2500, ge=200, description="chunks of near sections share a call up to about this many tokens"
    )
    gleanings: int = Field(
        default=0, ge=0, le=5, description="how often the model is asked again whether it missed something, a call each"
    )
    types: EntityTypes = Field(
        default={},
        description="the types of entities, each with what it is, the most telling first, the last for all else; "
        "empty: dataset, metric, task, method, quantity, concept",
    )


class EmbedSettings(EndpointSettings):
    """The embedder. Local and without a model: the bundled all-MiniLM-L6-v2."""

    provider: Literal["local", "openai"] = Field(
        default="local",
        description="local: sentence-transformers; openai: a server (the default once embed.base_url is set)",
    )
    model: str = Field(
        default="", description="local: a folder or a Hugging Face name, empty: bundled; openai: the model's name"
    )
    dimension: int | None = Field(default=None, ge=1, description="openai: the length of the model's vectors")
    price_prompt: float = Field(default=0.0, ge=0, description="openai: price of a million tokens")

    @model_validator(mode="after")
    def _fits_provider(self) -> Self:
        if self.provider == "local":
            if self.base_url:
                raise ValueError("base_url is for a server: set provider = 'openai' or leave base_url out")
            return self
        missing = [name for name in ("model", "base_url", "dimension") if not getattr(self, name)]
        if missing:
            raise ValueError(
                f"provider 'openai' also needs {' and '.join(missing)} (dimension: the length of the model's vectors, "
                f"as its documentation states it; base_url: {OPENAI_REMEDY})"
            )
        return self


class ParserSettings(Section):
    """How files are read."""

    engine: Literal["paperscope", "docling", "mineru"] = Field(
        default="paperscope", description="what reads a PDF: our rules, docling (extra: docling), or MinerU's program"
    )
    backend: Literal["pymupdf", "pdfium"] = Field(
        default="pymupdf", description="the library below our rules; pdfium needs no AGPL (extra: pdfium)"
    )
    dpi: int = Field(default=200, ge=36, le=600, description="resolution of the pictures of tables, figures, equations")
    ocr: Literal["auto", "off"] = Field(
        default="auto", description="auto: recognise the text of pages that have none, where the extra ocr is installed"
    )
    layout_check: bool = Field(
        default=True,
        description="read a table that our rules are unsure of again by the cells that PyMuPDF sees; the surer stays",
    )
    docling_models: Folder | None = Field(
        default=None, description="the folder of docling's models; nothing is fetched"
    )
    mineru_command: str = Field(
        default="mineru", min_length=1, description="MinerU's program and its options, run without a shell"
    )


class ChunkingSettings(Section):
    """How papers are cut into chunks."""

    max_words: int = Field(
        default=160, ge=20, description="words of running text in a chunk; the bundled embedder reads about 180"
    )


class RetrievalSettings(Section):
    """How much of the library a question's context holds."""

    chunks: int = Field(default=8, ge=1, description="the most chunks in a context, the best first")
    tokens: int = Field(
        default=12_000,
        ge=500,
        description="the most tokens of a context; what does not fit is left out, a table too large reduced to what is "
        "asked about",
    )
    entities: int = Field(default=15, ge=0, description="the most entities in a context")
    relations: int = Field(default=20, ge=0, description="the most relations in a context")
    images: int = Field(
        default=2, ge=0, description="the most images that a vision model reads for a question, a call each"
    )
    graph: bool = Field(
        default=True,
        description="whether what is linked to a found text, or states something on the question, is lifted",
    )
    reranker: str = Field(default="", description="a cross-encoder's folder or Hugging Face name; empty: none")


class LimitSettings(Section):
    """What is refused before it is read, or given up while it is read."""

    max_file_mb: int = Field(default=100, ge=1, description="the largest paper file, in megabytes")
    max_pages: int = Field(default=500, ge=1, description="the most pages of a paper")
    parse_seconds: float = Field(
        default=15.0,
        gt=0,
        description="how long opening a file or reading a page, or a megabyte of text, may take; OCR ten times as long",
    )
    engine_seconds: float = Field(
        default=1800.0, gt=0, description="how long docling or MinerU may take for a paper, as parser.engine"
    )
    parse_memory_mb: int = Field(
        default=4096, ge=256, description="how much memory reading a file may take, in megabytes (Linux)"
    )


class ServiceSettings(Section):
    """Where the HTTP service listens, whom it lets in, and how much it takes on."""

    host: str = Field(
        default="127.0.0.1",
        min_length=1,
        description="the address to listen on; beyond this machine (0.0.0.0) it takes API keys to start",
    )
    port: int = Field(default=8000, ge=0, le=65535, description="the port to listen on; 0: a free one")
    keys: Folder = Field(
        default=Path("paperscope-keys.json"),
        description="the file of API keys; where it is there, every request takes a key",
    )
    folders: tuple[Folder, ...] = Field(
        default=(), description="folders whose papers may be added by path, by callers without a key"
    )
    origins: tuple[Address, ...] = Field(
        default=(), description="web pages of other addresses that may call, such as https://lab.example"
    )
    hosts: tuple[str, ...] = Field(
        default=(), description="names by which the service may be called without keys, beside localhost"
    )
    questions_at_once: int = Field(default=8, ge=1, description="how many questions are answered at a time")
    questions_waiting: int = Field(
        default=128, ge=0, description="how many more may wait; others are told to come back later (429)"
    )
    question_seconds: float = Field(default=300.0, gt=0, description="how long answering a question may take")
    requests_per_minute: int = Field(
        default=0, ge=0, description="the most requests a minute of one key or address; 0: no limit"
    )
    batch_questions: int = Field(default=10_000, ge=1, description="how many questions one batch may hold")
    jobs_at_once: int = Field(default=2, ge=1, description="how many jobs (papers, batches) are worked on at a time")
    jobs_waiting: int = Field(default=1000, ge=1, description="how many jobs of a library may wait")
    worker_memory_mb: int = Field(
        default=8192, ge=1024, description="how much memory the process that adds papers may take, in megabytes (Linux)"
    )
    keep_jobs_days: int = Field(default=30, ge=1, description="how long ended jobs and their results are kept")
    shutdown_seconds: float = Field(
        default=10.0, gt=0, description="how long requests under way may take when the service is asked to end"
    )
    log: Literal["text", "json"] = Field(default="text", description="how the log is written, a line an event")
    otlp_endpoint: Address = Field(
        default="", description="where traces are sent (OpenTelemetry, OTLP over HTTP; extra: tracing); empty: nowhere"
    )


class SettingRow(NamedTuple):
    """One setting for people: dotted name, value (keys masked), and where it came from."""

    name: str
    value: str
    origin: str


class SettingsSource(PydanticBaseSettingsSource):
    """A source of settings that knows where each of its values, by dotted name, comes from."""

    origins: dict[str, str]


class Settings(BaseSettings, Section):
    """Everything that can be set. `model`, `base_url` and `api_key` are the defaults of answer, extract and vision.

    `judge` is the model that `eval answers` has judge answers; it takes nothing from the top, as who answers should not
    judge.
    """

    library: Folder = Field(default=Path("library"), description="the library's folder")
    model: str = Field(default="", description="the model of every role that names none")
    base_url: Address = Field(
        default="", description="the server of every role that names none, or else OPENAI_BASE_URL"
    )
    api_key: Key = Field(
        default=SecretStr(""), description="the key of every role that names none, or else OPENAI_API_KEY"
    )
    answer: AnswerSettings = AnswerSettings()
    extract: ExtractSettings = ExtractSettings()
    vision: RoleSettings = RoleSettings()
    judge: RoleSettings = RoleSettings()
    embed: EmbedSettings = EmbedSettings()
    parser: ParserSettings = ParserSettings()
    chunking: ChunkingSettings = ChunkingSettings()
    retrieval: RetrievalSettings = RetrievalSettings()
    limits: LimitSettings = LimitSettings()
    service: ServiceSettings = ServiceSettings()
    _origins: Mapping[str, str] = PrivateAttr(default_factory=dict)

    def __init__(self, *sources: SettingsSource, **values: object) -> None:
        """Take `values`, then each source in turn for what is still missing; nothing else is read."""
        super().__init__(_build_sources=((InitSettingsSource(type(self), values), *sources), values))
        self._origins = dict(ChainMap(*(source.origins for source in sources)))

    @classmethod
    def _settings_log_debug(cls, _states: Mapping[str, object]) -> None:
        """Log nothing: with PYDANTIC_SETTINGS_DEBUG set, the library would log keys."""

    def describe(self) -> list[SettingRow]:
        """Every setting in the tree's order."""
        return [
            SettingRow(name, _as_text(reduce(getattr, name.split("."), self)), self._origins.get(name, "default"))
            for name in setting_names()
        ]

    def notes(self) -> list[str]:
        """What is set but can't take effect, a sentence each, with the remedy."""
        roles = [role for role in (self.answer, self.extract, self.vision, self.judge) if role.configured]
        if not roles:
            given = [name for name in ("api_key", "base_url") if _as_text(getattr(self, name))]
            why = "no model is named: set PAPERSCOPE_MODEL"
        else:
            used = any(_as_text(role.api_key) for role in (*roles, self.embed))
            given = ["api_key"] if _as_text(self.api_key) and not used else []
            why = "every role names another server: set base_url to the key's server, or the role's api_key"
        return [f"{self._origins.get(name, name)} is set but {why}" for name in given]


def setting_names(section: type[BaseModel] = Settings, prefix: str = "") -> Iterator[str]:
    """The dotted names of all settings of a section, in order."""
    for name, field in section.model_fields.items():
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
            yield from setting_names(field.annotation, f"{prefix}{name}.")
        else:
            yield prefix + name


def _as_text(value: object) -> str:
    # str() of a SecretStr is its mask, and "" where it is empty.
    return "" if value is None else str(value)
