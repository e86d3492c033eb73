"""Settings: one frozen tree, read once from overrides, the environment and a TOML file."""

from paperscope.settings.load import load_settings
from paperscope.settings.sections import (
    AnswerSettings,
    ChunkingSettings,
    EmbedSettings,
    ExtractSettings,
    LimitSettings,
    ParserSettings,
    RetrievalSettings,
    RoleSettings,
)
from paperscope.settings.service import ServiceSettings
from paperscope.settings.tree import SettingRow, Settings

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
