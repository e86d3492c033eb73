"""Reads the settings from their sources, in order of precedence.

From highest to lowest: overrides, `PAPERSCOPE_*` variables (`PAPERSCOPE_ANSWER__MODEL` is `answer.model`), the TOML
file, the file of keys beside it (`paperscope.keys.toml`), `OPENAI_BASE_URL` and `OPENAI_API_KEY`. A role takes model,
base_url and api_key from the top level if no source gives its own. An empty string counts as given:
`PAPERSCOPE_VISION__MODEL=` switches vision off. The embedder takes only api_key from the top level. A role with
another base_url than the top level takes no api_key, because a key belongs to one server.
"""

import difflib
import tomllib
from collections import ChainMap
from collections.abc import Container, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import ValidationError

from paperscope_core.errors import SettingsError
from paperscope_core.settings.fields import Settings, setting_names

__all__ = ["keys_file", "load_settings", "settings_file"]

_PREFIX = "PAPERSCOPE_"
_CONFIG_VARIABLE = f"{_PREFIX}CONFIG"
_DEFAULT_FILE = Path("paperscope.toml")
_FALLBACKS = {"base_url": "OPENAI_BASE_URL", "api_key": "OPENAI_API_KEY"}
# Settings whose value is a table with keys that the user chooses.
_TABLES = frozenset({"answer.extra", "extract.extra", "extract.types", "vision.extra"})


class _Given(NamedTuple):
    """A value as a source gives it, and where it comes from."""

    value: object
    origin: str


def load_settings(
    *, environ: Mapping[str, str], file: Path | None = None, overrides: Mapping[str, object] | None = None
) -> Settings:
    """Read the settings.

    Args:
        file: A TOML file. None: the one that `PAPERSCOPE_CONFIG` names, else `paperscope.toml` of the working
            directory, if it exists. A file of keys is read from beside it (see `keys_file`).
        overrides: Values by dotted name or in nested sections; None means "not given".

    Raises:
        SettingsError: A name is unknown, a value is wrong, or the file can't be read.

    Example:
        >>> settings = load_settings(environ={"PAPERSCOPE_LIBRARY": "papers"}, overrides={"answer.rounds": 2})
        >>> str(settings.library), settings.answer.rounds
        ('papers', 2)
    """
    given = ChainMap(
        {name: _Given(value, "override") for name, value in _leaves(overrides or {})},
        _from_environment(environ),
        *_from_files(file, environ),
        {name: _Given(environ[variable], variable) for name, variable in _FALLBACKS.items() if environ.get(variable)},
    )
    _refuse_unknown(given)
    inherited = _inherited(given)
    values = {**given, **inherited}
    origins = {name: one.origin for name, one in values.items()}
    try:
        return Settings(origins, **_nested({name: one.value for name, one in values.items()}))
    except ValidationError as error:
        raise SettingsError(_error_message(error, origins, inherited)) from None


def _from_environment(environ: Mapping[str, str]) -> dict[str, _Given]:
    return {
        variable.removeprefix(_PREFIX).lower().replace("__", "."): _Given(value, variable)
        for variable, value in environ.items()
        if variable.startswith(_PREFIX) and variable != _CONFIG_VARIABLE
    }


def settings_file(file: Path | None, environ: Mapping[str, str]) -> Path:
    """Return the settings file, whether it exists or not. See `load_settings`."""
    return file or Path(environ.get(_CONFIG_VARIABLE) or _DEFAULT_FILE)


def keys_file(settings: Path) -> Path:
    """Return the file beside a settings file that holds keys, and that only its owner may read."""
    return settings.with_name(f"{settings.stem}.keys.toml")


def _from_files(named: Path | None, environ: Mapping[str, str]) -> Iterator[dict[str, _Given]]:
    file = settings_file(named, environ)
    # A file that is named must exist.
    if named is not None or environ.get(_CONFIG_VARIABLE) or file.is_file():
        yield _from_file(file)
    if keys_file(file).is_file():
        yield _from_file(keys_file(file))


def _from_file(file: Path) -> dict[str, _Given]:
    try:
        values = tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise SettingsError(
            f"can't read the settings file {str(file)!r}: {error.strerror}; name another one or unset "
            f"{_CONFIG_VARIABLE}"
        ) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingsError(f"the settings file {str(file)!r} is not TOML in UTF-8: {error}") from error
    return {name: _Given(value, str(file)) for name, value in _leaves(values)}


def _inherited(given: Mapping[str, _Given]) -> dict[str, _Given]:
    """Return what roles take from the top level."""
    inherited: dict[str, _Given] = {}
    keys: dict[str, tuple[str, ...]] = dict.fromkeys(("answer", "extract", "vision"), ("model", "base_url", "api_key"))
    if "embed.base_url" in given and given["embed.base_url"].value:
        keys["embed"] = ("api_key",)
    for role, wanted in keys.items():
        own = f"{role}.base_url"
        elsewhere = own in given and _server(given[own]) != _server(given.get("base_url"))
        for key in wanted:
            name = f"{role}.{key}"
            if key in given and name not in given and not (key == "api_key" and elsewhere):
                inherited[name] = _Given(given[key].value, f"{key} ({given[key].origin})")
    return inherited


def _server(address: _Given | None) -> str:
    return "" if address is None else str(address.value).strip().rstrip("/")


def _leaves(values: Mapping[str, object], prefix: str = "") -> Iterator[tuple[str, object]]:
    """Yield dotted names and values; an empty table counts as a value unless it is a section."""
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
        branch[key] = value
    return tree


def _refuse_unknown(given: Mapping[str, _Given]) -> None:
    known = list(setting_names())
    for name, (_, origin) in given.items():
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            remedy = (
                f"did you mean {near[0]} ({_PREFIX}{near[0].upper().replace('.', '__')})?"
                if near
                else "`paperscope config` lists all settings"
            )
            raise SettingsError(f"unknown setting {name!r} (from {origin}): {remedy}")


def _error_message(error: ValidationError, origins: Mapping[str, str], inherited: Container[str]) -> str:
    """Return one sentence per problem, with all names affected by it; inherited values are not reported a second
    time."""
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
    # An address may hold a password ("@"), or a token in its query or fragment.
    secret = name.endswith("api_key") or set("@?#") & set(str(value))
    return f"{name} (from {origin})" if secret else f"{name} = {value!r} (from {origin})"
