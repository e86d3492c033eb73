"""Atomic writes, and errors that name the path and a remedy."""

import errno
import os
from pathlib import Path

import pytest

from paperscope_core.errors import OutputError
from paperscope_core.files import output_errors, write_atomically


def test_replaces_the_whole_file_and_leaves_nothing_behind(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    write_atomically(file, b"one")
    write_atomically(file, b"two")
    assert file.read_bytes() == b"two"
    assert list(tmp_path.iterdir()) == [file]


def test_the_umask_decides_who_may_read(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        write_atomically(tmp_path / "a.txt", b"one")
    finally:
        os.umask(before)
    assert (tmp_path / "a.txt").stat().st_mode & 0o777 == 0o640


def test_full_disk_keeps_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "a.txt"
    write_atomically(file, b"one")

    def full(_descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OutputError, match=r"a\.txt.*No space left.*free some space"):
        write_atomically(file, b"two")
    assert file.read_bytes() == b"one"
    assert list(tmp_path.iterdir()) == [file]


def test_part_of_the_path_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"")
    with pytest.raises(OutputError, match="choose another folder"), output_errors(tmp_path / "f" / "g"):
        (tmp_path / "f" / "g").mkdir()
