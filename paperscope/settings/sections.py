"""The sections of the settings."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal, Self
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, Field, SecretStr, model_validator
from pydantic_settings import SettingsConfigDict

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
