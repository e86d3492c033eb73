"""Changes the models of roles in a settings file, and keeps everything else of it: order, comments, other settings."""

import difflib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import SecretStr

from paperscope_core.errors import SettingsError
from paperscope_core.files import PRIVATE_FILE, rewrite_settings
from paperscope_core.settings.load import keys_file

if TYPE_CHECKING:
    from tomlkit import TOMLDocument

__all__ = ["FileChange", "RoleModel", "model_changes", "with_stored_keys"]

_MASK = "********"


@dataclass(frozen=True, kw_only=True, slots=True)
class RoleModel:
    """The model of a role, and its server.

    Attributes:
        key: The server's key, empty if it needs none; None if none is known.
    """

    model: str
    base_url: str
    key: SecretStr | None = None


@dataclass(frozen=True, kw_only=True)
class FileChange:
    """What a file contains, and what it is to contain. `repr` shows no content, which may have keys.

    Attributes:
        private: Whether only its owner may read the file.
        keys: The keys in it, which `lines` masks.
    """

    path: Path
    before: str
    after: str
    private: bool
    keys: tuple[str, ...]

    def __repr__(self) -> str:
        return f"FileChange(path={self.path!r})"

    def lines(self) -> Iterator[str]:
        """Yield the lines that are removed (-) and added (+), with keys masked."""
        for line in difflib.ndiff(self.before.splitlines(), self.after.splitlines()):
            if line.startswith(("- ", "+ ")):
                for key in self.keys:
                    line = line.replace(key, _MASK)  # noqa: PLW2901
                yield line.rstrip()

    def write(self) -> None:
        """Write the file, completely or not at all.

        Raises:
            OutputError: It can't be written.
        """
        rewrite_settings(self.path, self.after, mode=PRIVATE_FILE if self.private else None)


def with_stored_keys(file: Path, roles: Mapping[str, RoleModel]) -> Mapping[str, RoleModel]:
    """Return the models with the keys that the settings file, or the file of keys beside it, has for their servers.

    The key of a role without any stays None, and that of a role whose stored key belongs to another server is empty.

    Raises:
        SettingsError: A file can't be read.
    """
    settings, keys = (_read(path, roles) for path in (file, keys_file(file)))
    found = {}
    for role, wanted in roles.items():
        section = settings.get(role, {})
        stored = section.get("api_key") or keys.get(role, {}).get("api_key")
        server = str(section.get("base_url", settings.get("base_url", ""))).strip().rstrip("/")
        if wanted.key is None and stored:
            key = SecretStr(stored if server == wanted.base_url else "")
            found[role] = replace(wanted, key=key)
        else:
            found[role] = wanted
    return found


def model_changes(file: Path, roles: Mapping[str, RoleModel]) -> Sequence[FileChange]:
    """Return the changes that set the models of roles: names and addresses in the settings file, keys in the file
    beside it. A key of such a role does not stay in the settings file.

    Args:
        file: The settings file, which need not exist.
        roles: The models by role ("answer", "vision"), with the keys to store.

    Raises:
        SettingsError: A file can't be read.
    """
    import tomlkit

    settings, keys = (_read(path, roles) for path in (file, keys_file(file)))
    old = [tomlkit.dumps(one) for one in (settings, keys)]
    masked: list[str] = []
    for role, wanted in roles.items():
        section = settings.setdefault(role, tomlkit.table())
        stored = [section.pop("api_key", None), keys.get(role, {}).pop("api_key", None)]
        key = wanted.key.get_secret_value() if wanted.key else ""
        if key:
            keys.setdefault(role, tomlkit.table())["api_key"] = key
        masked += [str(one) for one in (*stored, key) if one]
        section.update({"model": wanted.model, "base_url": wanted.base_url})
    new = [tomlkit.dumps(one) for one in (settings, keys)]
    return [
        FileChange(path=path, before=before, after=after, private=private, keys=tuple(masked))
        for path, before, after, private in zip((file, keys_file(file)), old, new, (False, True), strict=True)
        if before != after
    ]


def _read(file: Path, roles: Iterable[str]) -> "TOMLDocument":
    """Return a file for changes; raise SettingsError if it can't be read, or a role in it is no section."""
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    try:
        document = tomlkit.parse(file.read_text(encoding="utf-8") if file.is_file() else "")
    except (OSError, UnicodeDecodeError, TOMLKitError) as error:
        raise SettingsError(f"the settings file {str(file)!r} can't be changed: {error}") from error
    for role in roles:
        if not isinstance(document.get(role, {}), Mapping):
            raise SettingsError(f"the settings file {str(file)!r} has {role!r} as a value, which has to be a section")
    return document
