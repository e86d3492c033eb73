"""The tree of settings. It only holds values; `paperscope.settings.load` reads them.

A role (answer, extract, vision) without a model is not configured: Paperscope then does its job with what it brings
along. There is no default model and no default host.
"""

from collections import ChainMap
from collections.abc import Iterator, Mapping
from functools import reduce
from pathlib import Path
from typing import NamedTuple

from pydantic import BaseModel, Field, PrivateAttr, SecretStr
from pydantic_settings import BaseSettings, InitSettingsSource, PydanticBaseSettingsSource

from paperscope.settings.sections import (
    Address,
    AnswerSettings,
    ChunkingSettings,
    EmbedSettings,
    ExtractSettings,
    Folder,
    Key,
    LimitSettings,
    ParserSettings,
    RetrievalSettings,
    RoleSettings,
    Section,
)
from paperscope.settings.service import ServiceSettings

__all__ = ["SettingRow", "Settings", "Source", "setting_names"]


class SettingRow(NamedTuple):
    """One setting for people: dotted name, value (keys masked), and where it came from."""

    name: str
    value: str
    origin: str


class Source(PydanticBaseSettingsSource):
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

    def __init__(self, *sources: Source, **values: object) -> None:
        """Take `values`, then each source in turn for what is still missing; nothing else is read."""
        super().__init__(_build_sources=((InitSettingsSource(type(self), values), *sources), values))
        self._origins = dict(ChainMap(*(source.origins for source in sources)))

    @classmethod
    def _settings_log_debug(cls, _states: Mapping[str, object]) -> None:
        """Log nothing: with PYDANTIC_SETTINGS_DEBUG set, the library would log keys."""

    def describe(self) -> list[SettingRow]:
        """Every setting in the tree's order."""
        return [
            SettingRow(name, _shown(reduce(getattr, name.split("."), self)), self._origins.get(name, "default"))
            for name in setting_names()
        ]

    def notes(self) -> list[str]:
        """What is set but can't take effect, a sentence each, with the remedy."""
        roles = [role for role in (self.answer, self.extract, self.vision, self.judge) if role.configured]
        if not roles:
            given = [name for name in ("api_key", "base_url") if _shown(getattr(self, name))]
            why = "no model is named: set PAPERSCOPE_MODEL"
        else:
            used = any(_shown(role.api_key) for role in (*roles, self.embed))
            given = ["api_key"] if _shown(self.api_key) and not used else []
            why = "every role names another server: set base_url to the key's server, or the role's api_key"
        return [f"{self._origins.get(name, name)} is set but {why}" for name in given]


def setting_names(section: type[BaseModel] = Settings, prefix: str = "") -> Iterator[str]:
    """The dotted names of all settings of a section, in order."""
    for name, field in section.model_fields.items():
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
            yield from setting_names(field.annotation, f"{prefix}{name}.")
        else:
            yield prefix + name


def _shown(value: object) -> str:
    # str() of a SecretStr is its mask, and "" where it is empty.
    return "" if value is None else str(value)
