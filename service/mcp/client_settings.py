"""Writes `paperscope mcp` into the settings files of MCP clients."""

import json
import os
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from difflib import unified_diff
from pathlib import Path
from typing import Any, Literal

from paperscope_core.errors import InputError
from paperscope_core.files import output_errors, rewrite_settings

__all__ = ["Change", "Client", "planned_change"]

Client = Literal["claude-desktop", "claude-code", "cursor", "vscode"]


def _application_data() -> Path:
    """Return where applications of this user keep their settings."""
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support"
    if sys.platform == "win32":
        return Path(os.environ.get("APPDATA", Path.home() / "AppData" / "Roaming"))
    return Path(os.environ.get("XDG_CONFIG_HOME", Path.home() / ".config"))


# The file of each client, and the key of its servers.
_FILES: Mapping[Client, tuple[Callable[[], Path], str]] = {
    "claude-desktop": (lambda: _application_data() / "Claude" / "claude_desktop_config.json", "mcpServers"),
    "claude-code": (lambda: Path.cwd() / ".mcp.json", "mcpServers"),
    "cursor": (lambda: Path.home() / ".cursor" / "mcp.json", "mcpServers"),
    "vscode": (lambda: _application_data() / "Code" / "User" / "mcp.json", "servers"),
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Change:
    """A change of a settings file.

    Attributes:
        before: What the file has now; None if there is none.
    """

    file: Path
    before: str | None
    after: str

    @property
    def shown(self) -> str:
        """The lines that change, as a unified diff."""
        lines = (self.before or "").splitlines(), self.after.splitlines()
        return "\n".join(unified_diff(*lines, str(self.file), str(self.file), lineterm=""))

    def write(self) -> Path | None:
        """Write the file; return the copy of what it had before, if there was one. Raises OutputError."""
        backup = None
        with output_errors(self.file):
            if self.before is not None:
                backup = self.file.with_name(f"{self.file.name}.{datetime.now().astimezone():%Y%m%d-%H%M%S}.bak")
                shutil.copy2(self.file, backup)
        rewrite_settings(self.file, self.after)
        return backup


def planned_change(client: Client, arguments: Sequence[str]) -> Change | None:
    """Return the change that lets a client start `paperscope` with these arguments; None if it does so already.

    Raises:
        InputError: The settings file can't be read, or is not a JSON object.
    """
    locate, servers = _FILES[client]
    # What a link in the user's home leads to is written, not the link.
    file = locate().resolve()
    # -P: a folder from which a client starts it may have modules of the same names as ours.
    entry: dict[str, Any] = {"command": sys.executable, "args": ["-P", "-m", "paperscope", *arguments]}
    if client == "vscode":
        entry = {"type": "stdio", **entry}
    by_hand = f"add this to it by hand, under {servers!r}: {json.dumps({'paperscope': entry})}"
    before: str | None = None
    settings: Any = {}
    try:
        before = file.read_text(encoding="utf-8-sig")
        settings = json.loads(before) if before.strip() else {}
    except FileNotFoundError:
        pass
    except OSError as error:
        raise InputError(f"can't be read ({error.strerror}); {by_hand}", where=file) from error
    except (ValueError, RecursionError) as error:
        raise InputError(f"is not plain JSON ({error}), so it is left as it is; {by_hand}", where=file) from error
    if not isinstance(settings, dict) or not isinstance(settings.get(servers, {}), dict):
        raise InputError(f"has no JSON object where one is expected, so it is left as it is; {by_hand}", where=file)
    if settings.get(servers, {}).get("paperscope") == entry:
        return None
    changed = {**settings, servers: {**settings.get(servers, {}), "paperscope": entry}}
    return Change(file=file, before=before, after=json.dumps(changed, indent=2, ensure_ascii=False) + "\n")
