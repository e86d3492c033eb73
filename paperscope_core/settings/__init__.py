"""Settings: a frozen tree, read once from overrides, the environment and a TOML file."""

from paperscope_core.settings.load import load_settings
from paperscope_core.settings.schema import (
    AnswerSettings,
    ChunkingSettings,
    EmbedSettings,
    ExtractSettings,
    LimitSettings,
    ParserSettings,
    RetrievalSettings,
    RoleSettings,
    ServiceSettings,
    SettingRow,
    Settings,
)

__all__ = [
    "AnswerSettings",
    "ChunkingSettings",
    "EmbedSettings",
    "ExtractSettings",
    "LimitSettings",
    "ParserSettings",
    "RetrievalSettings",
    "RoleSettings",
    "ServiceSettings",
    "SettingRow",
    "Settings",
    "load_settings",
]
