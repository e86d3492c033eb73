"""Reads the settings from their sources, in order of precedence.

From highest to lowest: overrides, `PAPERSCOPE_*` variables (`PAPERSCOPE_ANSWER__MODEL` is `answer.model`), the TOML
file, `OPENAI_BASE_URL` and `OPENAI_API_KEY`. A role takes model, base_url and api_key from the top level if no source
gives its own. An empty string counts as given: `PAPERSCOPE_VISION__MODEL=` switches vision off. The embedder takes
base_url and api_key from the top level only if its provider is "openai". A role with another base_url than the top
level takes no api_key, because a key belongs to one server.
"""

import difflib
import tomllib
from collections import ChainMap
from collections.abc import Container, Iterator, Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from pydantic_settings import EnvSettingsSource, InitSettingsSource, TomlConfigSettingsSource

from paperscope_core.errors import SettingsError
from paperscope_core.settings.schema import Settings, SettingsSource, setting_names

__all__ = ["load_settings"]

_PREFIX = "PAPERSCOPE_"
_CONFIG_VARIABLE = f"{_PREFIX}CONFIG"
_DEFAULT_FILE = Path("paperscope.toml")
_FALLBACKS = {"base_url": "OPENAI_BASE_URL", "api_key": "OPENAI_API_KEY"}
# Settings whose value is a table with keys that the user chooses.
_TABLES = frozenset({"extract.types"})


def load_settings(
    *, environ: Mapping[str, str], file: Path | None = None, overrides: Mapping[str, object] | None = None
) -> Settings:
    """Read the settings.

    Args:
        environ: The environment variables.
        file: A TOML file. None: the one that `PAPERSCOPE_CONFIG` names, else `paperscope.toml` of the working
            directory, if it exists.
        overrides: Values by dotted name or in nested sections; None means "not given".

    Raises:
        SettingsError: A name is unknown, a value is wrong, or the file can't be read.
    """
    sources: list[SettingsSource] = [
        ValuesSource(overrides or {}, origin="override"),
        EnvironmentSource({variable: value for variable, value in environ.items() if variable != _CONFIG_VARIABLE}),
        *_file_sources(file, environ),
        *(
            ValuesSource({name: environ[variable]}, origin=variable)
            for name, variable in _FALLBACKS.items()
            if environ.get(variable)
        ),
    ]
    origins = ChainMap(*(source.origins for source in sources))
    _refuse_unknown(origins)
    inherited = InheritedSource(origins)
    try:
        return Settings(*sources, inherited)
    except ValidationError as error:
        raise SettingsError(_error_message(error, origins, inherited.origins)) from None


class ValuesSource(InitSettingsSource, SettingsSource):
    """Values by dotted name or in nested sections; None means "not given"."""

    def __init__(self, values: Mapping[str, object], *, origin: str) -> None:
        leaves = dict(_leaves(values))
        super().__init__(Settings, _nested(leaves))
        self.origins = dict.fromkeys(leaves, origin)


class FileSource(TomlConfigSettingsSource, SettingsSource):
    """A TOML file. Raises OSError, TOMLDecodeError and UnicodeDecodeError."""

    def __init__(self, file: Path) -> None:
        self._file = file
        super().__init__(Settings, file)
        self.origins = dict.fromkeys(dict(_leaves(self.toml_data)), str(file))

    # pydantic-settings ignores a missing file; one that was named must exist.
    def _read_files(self, *_: object, **__: object) -> dict[str, Any]:
        return _nested(dict(_leaves(self._read_file(self._file))))


class EnvironmentSource(EnvSettingsSource, SettingsSource):
    """The `PAPERSCOPE_*` variables of a mapping."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = {name: value for name, value in environ.items() if name.startswith(_PREFIX)}
        self.origins = {name.removeprefix(_PREFIX).lower().replace("__", "."): name for name in self._environ}
        super().__init__(Settings, env_prefix=_PREFIX, env_nested_delimiter="__")

    # pydantic-settings would read os.environ.
    def _load_env_vars(self) -> Mapping[str, str | None]:
        return {name.lower(): value for name, value in self._environ.items()}


class InheritedSource(InitSettingsSource, SettingsSource):
    """What roles take from the top level; the last of the sources.

    Args:
        origins: Where the values of the other sources come from.
    """

    def __init__(self, origins: Mapping[str, str]) -> None:
        super().__init__(Settings, {})
        self._other_origins = origins
        self.origins = {}

    def __call__(self) -> dict[str, Any]:
        """Return the inherited values, and set their `origins`."""
        given = dict(_leaves(self.current_state))
        inherited: dict[str, object] = {}
        if given.get("embed.base_url") and "embed.provider" not in given:
            given["embed.provider"] = inherited["embed.provider"] = "openai"
            self.origins["embed.provider"] = f"embed.base_url ({self._other_origins['embed.base_url']})"
        for name, key in _inherited_names(given):
            inherited[name] = given[key]
            self.origins[name] = f"{key} ({self._other_origins[key]})"
        return _nested(inherited)


def _inherited_names(given: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    """The names that take a value from the top level, each with that value's name."""
    keys: dict[str, tuple[str, ...]] = dict.fromkeys(("answer", "extract", "vision"), ("model", "base_url", "api_key"))
    if given.get("embed.provider") == "openai":
        keys["embed"] = ("base_url", "api_key")
    for role, wanted in keys.items():
        own = given.get(f"{role}.base_url")
        elsewhere = own is not None and _server(own) != _server(given.get("base_url"))
        for key in wanted:
            name = f"{role}.{key}"
            if key in given and name not in given and not (key == "api_key" and elsewhere):
                yield name, key


def _server(address: object) -> str:
    return str(address).strip().rstrip("/")


def _leaves(values: Mapping[str, object], prefix: str = "") -> Iterator[tuple[str, object]]:
    """Dotted names and values; an empty table counts as a value unless it is a section."""
    for key, value in values.items():
        name = prefix + key
        if isinstance(value, Mapping) and name not in _TABLES and (value or name in Settings.model_fields):
            yield from _leaves(value, f"{name}.")
        elif value is not None:
            yield name, value


def _nested(leaves: Mapping[str, object]) -> dict[str, Any]:
    tree: dict[str, Any] = {}
    for name, value in leaves.items():
        section, _, key = name.rpartition(".")
        branch = tree.setdefault(section, {}) if section else tree
        if isinstance(branch, dict):
            branch[key] = value
    return tree


def _file_sources(file: Path | None, environ: Mapping[str, str]) -> list[SettingsSource]:
    if file is None and environ.get(_CONFIG_VARIABLE):
        file = Path(environ[_CONFIG_VARIABLE])
    if file is None and not _DEFAULT_FILE.is_file():
        return []
    file = file or _DEFAULT_FILE
    try:
        return [FileSource(file)]
    except OSError as error:
        raise SettingsError(
            f"can't read the settings file {str(file)!r}: {error.strerror}; name another one or unset "
            f"{_CONFIG_VARIABLE}"
        ) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingsError(f"the settings file {str(file)!r} is not TOML in UTF-8: {error}") from error


def _refuse_unknown(origins: Mapping[str, str]) -> None:
    known = list(setting_names())
    for name, origin in origins.items():
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            remedy = (
                f"did you mean {near[0]} ({_PREFIX}{near[0].upper().replace('.', '__')})?"
                if near
                else "`paperscope config` lists all settings"
            )
            raise SettingsError(f"unknown setting {name!r} (from {origin}): {remedy}")


def _error_message(error: ValidationError, origins: Mapping[str, str], inherited: Container[str]) -> str:
    """One sentence per problem, with all names affected by it; inherited values are not reported a second time."""
    names: dict[str, list[str]] = {}
    for problem in error.errors(include_url=False, include_context=False):
        name = ".".join(str(part) for part in problem["loc"])
        if name not in inherited:
            message = problem["msg"].removeprefix("Value error, ")
            names.setdefault(message, []).append(_describe_value(name, problem["input"], origins.get(name)))
    return "; ".join(f"{', '.join(places)}: {message}" for message, places in names.items())


def _describe_value(name: str, value: object, origin: str | None) -> str:
    """Name, value and origin; values that may be secrets are left out."""
    if origin is None:
        return name
    secret = name.endswith("api_key") or (name.endswith("base_url") and set("@?") & set(str(value)))
    return f"{name} (from {origin})" if secret else f"{name} = {value!r} (from {origin})"
