"""The layers of the settings as sources of pydantic-settings, each of which knows where its values come from."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pydantic_settings import EnvSettingsSource, InitSettingsSource, TomlConfigSettingsSource

from paperscope.settings.tree import Settings, Source

__all__ = ["PREFIX", "Environment", "File", "Given", "Inherited"]

PREFIX = "PAPERSCOPE_"
# Settings whose value is a table with names of the user's own.
TABLES = frozenset({"extract.types"})


class Given(InitSettingsSource, Source):
    """Values by dotted name or in nested sections; a None among them means "not given"."""

    def __init__(self, values: Mapping[str, object], *, origin: str) -> None:
        leaves = dict(_leaves(values))
        super().__init__(Settings, _nested(leaves))
        self.origins = dict.fromkeys(leaves, origin)


class File(TomlConfigSettingsSource, Source):
    """A TOML file. Raises OSError, TOMLDecodeError and UnicodeDecodeError."""

    def __init__(self, file: Path) -> None:
        self._file = file
        super().__init__(Settings, file)
        self.origins = dict.fromkeys(dict(_leaves(self.toml_data)), str(file))

    # The library passes over a file that is missing; one that was named must be there.
    def _read_files(self, *_: object, **__: object) -> dict[str, Any]:
        return _nested(dict(_leaves(self._read_file(self._file))))


class Environment(EnvSettingsSource, Source):
    """The `PAPERSCOPE_*` variables of a mapping: `PAPERSCOPE_ANSWER__MODEL` is `answer.model`."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = {name: value for name, value in environ.items() if name.startswith(PREFIX)}
        self.origins = {name.removeprefix(PREFIX).lower().replace("__", "."): name for name in self._environ}
        super().__init__(Settings, env_prefix=PREFIX, env_nested_delimiter="__")

    # The library would read os.environ.
    def _load_env_vars(self) -> Mapping[str, str | None]:
        return {name.lower(): value for name, value in self._environ.items()}


class Inherited(InitSettingsSource, Source):
    """What roles take from the top of the tree where no source above gives their own; the last of the sources.

    The embedder takes base_url and api_key, and these only when its provider is "openai". A key is for one server: a
    role that names another takes none.
    """

    def __init__(self, above: Mapping[str, str]) -> None:
        super().__init__(Settings, {})
        self._above = above
        self.origins = {}

    def __call__(self) -> dict[str, Any]:
        """The values that are taken; `origins` then holds their names."""
        given = dict(_leaves(self.current_state))
        taken: dict[str, object] = {}
        if given.get("embed.base_url") and "embed.provider" not in given:
            given["embed.provider"] = taken["embed.provider"] = "openai"
            self.origins["embed.provider"] = f"embed.base_url ({self._above['embed.base_url']})"
        for name, key in _heirs(given):
            taken[name] = given[key]
            self.origins[name] = f"{key} ({self._above[key]})"
        return _nested(taken)


def _heirs(given: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    """The names that take a value from the top of the tree, each with that value's name."""
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
    """Dotted names and values; an empty table is a value, unless it is a section that sets nothing."""
    for key, value in values.items():
        name = prefix + key
        if isinstance(value, Mapping) and name not in TABLES and (value or name in Settings.model_fields):
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
