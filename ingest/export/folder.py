"""A folder that holds exactly what the last export wrote, beside whatever else people keep there."""

import json
from collections.abc import Iterable
from pathlib import Path, PurePosixPath

from paperscope.errors import OutputError
from paperscope.files import write_atomically, writing

__all__ = ["MANIFEST", "ExportFolder"]

MANIFEST = ".paperscope-files.json"
_KIND = "paperscope-files/1"


class ExportFolder:
    """Writes files into a folder and keeps a list of them there.

    What the list names is replaced or, where this export no longer has it, removed. Any other file is left alone. Each
    file is wholly there or not at all, and a run that was killed leaves a list that names all it may have written.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._written: dict[str, None] = {}
        self._older: frozenset[str] = frozenset()

    def begin(self, names: Iterable[str]) -> None:
        """Make the folder ready for files of these names.

        Raises OutputError when it can't be written, and when one of them is there that no export wrote.
        """
        names = list(names)
        with writing(self._folder):
            self._folder.mkdir(parents=True, exist_ok=True)
        self._older = self._listed()
        for name in names:
            path = self._folder / name
            if name not in self._older and path.exists():
                raise OutputError(
                    f"{path}: is there already, and no earlier run wrote it; move it away, or choose another folder"
                )
        self._list({*self._older, *names})

    def write(self, name: str, data: bytes) -> None:
        """Write one of the files that were announced, in place of its older version. Raises OutputError."""
        path = self._folder / name
        with writing(path.parent):
            path.parent.mkdir(exist_ok=True)
        write_atomically(path, data)
        self._written[name] = None

    def finish(self) -> None:
        """Remove what only earlier exports wrote. Raises OutputError."""
        for name in sorted(self._older - self._written.keys()):
            path = self._folder / name
            with writing(path):
                path.unlink(missing_ok=True)
                if path.parent != self._folder and path.parent.is_dir() and not any(path.parent.iterdir()):
                    path.parent.rmdir()
        self._list(self._written)

    def _listed(self) -> frozenset[str]:
        """What earlier exports wrote; a list that somebody changed can't name a file outside the folder."""
        try:
            listed = json.loads((self._folder / MANIFEST).read_bytes())
        except FileNotFoundError:
            return frozenset()
        except (OSError, ValueError):
            listed = None
        if not isinstance(listed, dict) or listed.get("schema") != _KIND or not isinstance(listed.get("files"), list):
            raise OutputError(
                f"{self._folder / MANIFEST}: is not the list of files that an earlier run left; remove it with those "
                "files, or choose another folder"
            )
        return frozenset(name for name in listed["files"] if isinstance(name, str) and _is_ours(name))

    def _list(self, names: Iterable[str]) -> None:
        listed = {"schema": _KIND, "files": sorted(names)}
        write_atomically(self._folder / MANIFEST, json.dumps(listed, indent=1, ensure_ascii=False).encode())


def _is_ours(name: str) -> bool:
    """Whether an export may have written a file of this name: at most one folder deep, and never upwards."""
    path = PurePosixPath(name)
    return (
        len(path.parts) in (1, 2)
        and not path.is_absolute()
        and ".." not in path.parts
        and path.suffix in (".json", ".md", ".html", ".csv", ".png")
    )
