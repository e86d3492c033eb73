"""Settings: a frozen tree, read once from overrides, the environment and a TOML file."""

from paperscope_core.settings.fields import (
    AnswerSettings,
    CallSettings,
    EmbedSettings,
    ExtractSettings,
    LimitSettings,
    ParserSettings,
    RecordSettings,
    RetrievalSettings,
    RoleSettings,
    Settings,
)
from paperscope_core.settings.load import keys_file, load_settings, settings_file

__all__ = [
    "AnswerSettings",
    "CallSettings",
    "EmbedSettings",
    "ExtractSettings",
    "LimitSettings",
    "ParserSettings",
    "RecordSettings",
    "RetrievalSettings",
    "RoleSettings",
    "Settings",
    "keys_file",
    "load_settings",
    "settings_file",
]
