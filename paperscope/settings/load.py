"""Reading the settings: sources of pydantic-settings, merged in order and checked once.

From highest to lowest: overrides, `PAPERSCOPE_*` variables (`PAPERSCOPE_ANSWER__MODEL` is `answer.model`), the TOML
file, `OPENAI_BASE_URL` and `OPENAI_API_KEY`. A role takes model, base_url and api_key from the top of the tree where
nothing names its own; an explicit empty string counts as named, so `PAPERSCOPE_VISION__MODEL=` switches vision off.
The embedder takes base_url and api_key from the top only when its provider is "openai". A role whose base_url is
another than the top's takes no api_key: a key is for the server that it stands beside.
"""

import difflib
import tomllib
from collections import ChainMap
from collections.abc import Container, Mapping
from pathlib import Path

from pydantic import ValidationError

from paperscope.errors import SettingsError
from paperscope.settings.sources import PREFIX, Environment, File, Given, Inherited
from paperscope.settings.tree import Settings, Source, setting_names

__all__ = ["load_settings"]

CONFIG = f"{PREFIX}CONFIG"
DEFAULT_FILE = Path("paperscope.toml")
FALLBACKS = {"base_url": "OPENAI_BASE_URL", "api_key": "OPENAI_API_KEY"}


def load_settings(
    *, environ: Mapping[str, str], file: Path | None = None, overrides: Mapping[str, object] | None = None
) -> Settings:
    """Read the settings; raise `SettingsError`, naming the remedy, for an unknown name or a wrong value.

    `file` is a TOML file; without it `PAPERSCOPE_CONFIG` names one, or else `paperscope.toml` of the working directory
    is read where it exists. `overrides` are dotted names or nested sections; a None among them means "not given".
    """
    sources: list[Source] = [
        Given(overrides or {}, origin="override"),
        Environment({variable: value for variable, value in environ.items() if variable != CONFIG}),
        *_files(file, environ),
        *(
            Given({name: environ[variable]}, origin=variable)
            for name, variable in FALLBACKS.items()
            if environ.get(variable)
        ),
    ]
    origins = ChainMap(*(source.origins for source in sources))
    _refuse_unknown(origins)
    inherited = Inherited(origins)
    try:
        return Settings(*sources, inherited)
    except ValidationError as error:
        raise SettingsError(_explained(error, origins, inherited.origins)) from None


def _files(file: Path | None, environ: Mapping[str, str]) -> list[Source]:
    if file is None and environ.get(CONFIG):
        file = Path(environ[CONFIG])
    if file is None and not DEFAULT_FILE.is_file():
        return []
    file = file or DEFAULT_FILE
    try:
        return [File(file)]
    except OSError as error:
        raise SettingsError(
            f"can't read the settings file {str(file)!r}: {error.strerror}; name another one or unset {CONFIG}"
        ) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingsError(f"the settings file {str(file)!r} is not TOML in UTF-8: {error}") from error


def _refuse_unknown(origins: Mapping[str, str]) -> None:
    known = list(setting_names())
    for name, origin in origins.items():
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            remedy = (
                f"did you mean {near[0]} ({PREFIX}{near[0].upper().replace('.', '__')})?"
                if near
                else "`paperscope config` lists what there is"
            )
            raise SettingsError(f"unknown setting {name!r} (from {origin}): {remedy}")


def _explained(error: ValidationError, origins: Mapping[str, str], inherited: Container[str]) -> str:
    """One sentence a problem; the names that share it stand together, and an inherited value is not blamed again."""
    names: dict[str, list[str]] = {}
    for problem in error.errors(include_url=False, include_context=False):
        name = ".".join(str(part) for part in problem["loc"])
        if name not in inherited:
            message = problem["msg"].removeprefix("Value error, ")
            names.setdefault(message, []).append(_quoted(name, problem["input"], origins.get(name)))
    return "; ".join(f"{', '.join(places)}: {message}" for message, places in names.items())


def _quoted(name: str, value: object, origin: str | None) -> str:
    """Name, value and origin, without what may be a secret."""
    if origin is None:
        return name
    secret = name.endswith("api_key") or (name.endswith("base_url") and set("@?") & set(str(value)))
    return f"{name} (from {origin})" if secret else f"{name} = {value!r} (from {origin})"
