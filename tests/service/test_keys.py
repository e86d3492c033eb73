"""API keys: what they open, what is stored, and that neither damage nor a race lets anybody in."""

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import date, timedelta
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from paperscope_core.errors import InputError, KeyFileError, OutputError
from service.keys import KeyStore

CREATE = """
import sys
from pathlib import Path
from service.keys import KeyStore
keys = KeyStore.open(Path(sys.argv[1]))
print("ready", flush=True)
sys.stdin.readline()
for number in range(20):
    print(keys.create(f"{sys.argv[2]} {number}", Path("library"))[1].get_secret_value(), flush=True)
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "conf" / "keys.json"


def test_a_key_is_found_by_its_secret_and_by_nothing_else(file: Path, tmp_path: Path) -> None:
    keys = KeyStore.open(file)
    papers = tmp_path / "papers"
    papers.mkdir()
    alice, secret = keys.create("alice", tmp_path / "a", folders=[papers])
    bob, other = keys.create("bob", tmp_path / "b")
    assert keys.find(secret.get_secret_value()) == alice
    assert keys.find(other.get_secret_value()) == bob
    assert (alice.library, alice.folders) == (tmp_path / "a", (papers,))
    assert keys.all() == KeyStore.open(file).all() == (alice, bob)
    digest = hashlib.sha256(secret.get_secret_value().encode()).hexdigest()
    for wrong in (
        "",
        alice.id,
        f"ps_{alice.id}_",
        secret.get_secret_value()[:-1],
        f"{secret.get_secret_value()} ",
        digest,
    ):
        assert keys.find(wrong) is None


@given(st.text(st.characters()))
def test_no_other_text_is_a_key(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    file = tmp_path_factory.getbasetemp() / "strangers.json"
    keys = KeyStore.open(file)
    if not keys.required:
        keys.create("alice", file.parent)
    assert keys.find(text) is None


@given(st.text(), st.text(min_size=1, max_size=9), st.none() | st.integers(1, 9999))
@example("alice", "papers ", None)
def test_what_is_created_reads_back_equal_or_is_refused(
    tmp_path_factory: pytest.TempPathFactory, name: str, folder: str, days: int | None
) -> None:
    file = tmp_path_factory.mktemp("keys") / "keys.json"
    expires = None if days is None else date(2026, 1, 1) + timedelta(days=days)
    keys = KeyStore.open(file, today=lambda: date(2026, 1, 1))
    try:
        key, secret = keys.create(name, file.parent / "libraries" / folder.replace("\0", "0"), expires=expires)
    except InputError:
        assert not file.exists()
    else:
        assert KeyStore.open(file).all() == (key,)
        assert KeyStore.open(file, today=lambda: key.created).find(secret.get_secret_value()) == key


def test_a_secret_is_not_stored_anywhere(file: Path) -> None:
    keys = KeyStore.open(file)
    made = keys.create("alice", Path("library"))
    secret = made[1].get_secret_value()
    digest = hashlib.sha256(secret.encode()).hexdigest()
    assert secret.startswith("ps_")
    assert len(secret) > 32 + 11
    assert digest in file.read_text()
    for text in (file.read_text(), repr(made), repr(keys), str(keys.all()), repr(vars(keys))):
        assert secret.rpartition(made[0].id)[2] not in text
    assert digest not in repr(vars(keys))


def test_only_the_owner_may_read_the_file(file: Path) -> None:
    before = os.umask(0)
    try:
        KeyStore.open(file).create("alice", Path("library"))
        KeyStore.open(file).create("bob", Path("library"))
    finally:
        os.umask(before)
    assert {path.name: path.stat().st_mode & 0o777 for path in file.parent.iterdir()} == {
        "keys.json": 0o600,
        "keys.json.lock": 0o600,
    }


def test_a_key_that_is_revoked_elsewhere_stops_working_here(file: Path) -> None:
    service, person = KeyStore.open(file), KeyStore.open(file)
    assert not service.required
    key, secret = person.create("alice", Path("library"))
    assert service.required
    assert service.find(secret.get_secret_value()) == key
    assert person.revoke(key.id) == key
    assert service.find(secret.get_secret_value()) is None
    with pytest.raises(InputError, match=f"{key.id}.*keys list"):
        person.revoke(key.id)


def test_keys_stay_required_when_all_are_revoked(file: Path) -> None:
    keys = KeyStore.open(file)
    keys.revoke(keys.create("alice", Path("library"))[0].id)
    assert keys.all() == ()
    assert keys.required
    assert KeyStore.open(file).required
    file.unlink()
    assert keys.required, "a file that vanishes under a service opens nothing"


def test_a_file_that_is_not_read_again_costs_no_reading(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    keys = KeyStore.open(file)
    key, secret = keys.create("alice", Path("library"))
    keys.all()

    def refuse(*_arguments: object, **_options: object) -> None:
        raise AssertionError("read though nothing changed")

    monkeypatch.setattr(Path, "open", refuse)
    assert keys.find(secret.get_secret_value()) == key


def test_a_key_works_until_the_day_it_expires(file: Path) -> None:
    days = [date(2026, 12, 30)]
    keys = KeyStore.open(file, today=lambda: days[-1])
    key, secret = keys.create("alice", Path("library"), expires=date(2027, 1, 1))
    days.append(date(2026, 12, 31))
    assert keys.find(secret.get_secret_value()) == key
    days.append(date(2027, 1, 1))
    assert keys.find(secret.get_secret_value()) is None
    assert keys.all() == (key,)
    with pytest.raises(InputError, match=r"2027-01-01 .*after 2027-01-01"):
        keys.create("bob", Path("library"), expires=date(2027, 1, 1))


@pytest.mark.parametrize("name", ["", "  ", "a\nb", "\x1b[31m", "x" * 81])
def test_a_name_that_can_not_be_meant_is_refused(file: Path, name: str) -> None:
    with pytest.raises(InputError, match="can't be a key's name"):
        KeyStore.open(file).create(name, Path("library"))


def test_folders_that_are_none_are_refused(file: Path, tmp_path: Path) -> None:
    keys = KeyStore.open(file)
    (tmp_path / "f").write_bytes(b"")
    with pytest.raises(InputError, match="'nowhere' is no folder"):
        keys.create("alice", Path("library"), folders=[Path("nowhere")])
    with pytest.raises(InputError, match="is a file; name a folder"):
        keys.create("alice", tmp_path / "f")
    assert not file.exists()


@pytest.mark.parametrize(
    "text", ["", "{}", "[]", '{"version": 1}', '{"version": 2, "keys": []}', '{"version": 1, "keys"']
)
def test_no_key_works_while_the_file_is_damaged(file: Path, text: str) -> None:
    keys = KeyStore.open(file)
    _, secret = keys.create("alice", Path("library"))
    file.write_text(text)
    for call in (
        lambda: keys.find(secret.get_secret_value()),
        lambda: keys.required,
        lambda: keys.create("bob", Path("library")),
        lambda: KeyStore.open(file),
    ):
        with pytest.raises(KeyFileError, match=r"keys\.json: damaged.*copy"):
            call()
    assert file.read_text() == text


@given(st.integers(0, 10_000), st.integers(0, 255))
def test_no_single_wrong_byte_makes_another_key_work(
    tmp_path_factory: pytest.TempPathFactory, position: int, byte: int
) -> None:
    file = tmp_path_factory.mktemp("keys") / "keys.json"
    KeyStore.open(file).create("alice", Path("/library"))
    data = bytearray(file.read_bytes())
    data[position % len(data)] = byte
    file.write_bytes(data)
    keys = KeyStore(file)
    try:
        assert keys.find("guess") is None
    except KeyFileError:
        return
    assert keys.required


def test_a_file_of_another_user_says_so(
    guarded_folder: Path, unprivileged: Callable[[], AbstractContextManager[None]]
) -> None:
    file = guarded_folder / "keys.json"
    KeyStore.open(file).create("alice", Path("library"))
    with unprivileged(), pytest.raises(KeyFileError, match=r"Permission denied.*as the user who owns"):
        KeyStore.open(file)


def test_a_folder_that_can_not_be_written_says_so(
    guarded_folder: Path, unprivileged: Callable[[], AbstractContextManager[None]]
) -> None:
    with unprivileged(), pytest.raises(OutputError, match="Permission denied"):
        KeyStore.open(guarded_folder / "keys.json").create("alice", Path("library"))


@pytest.mark.slow
def test_processes_that_create_at_once_lose_nothing(file: Path, root: Path) -> None:
    command = [sys.executable, "-c", CREATE, str(file)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    makers = [
        subprocess.Popen([*command, name], **pipes)  # type: ignore[call-overload]  # noqa: S603
        for name in ("one", "two")
    ]
    for maker in makers:
        assert maker.stdout.readline() == "ready\n"
    outputs = [maker.communicate("go\n", timeout=60)[0].split() for maker in makers]
    keys = KeyStore.open(file)
    assert len(keys.all()) == 40
    assert len({key.id for key in keys.all()}) == 40
    assert all(keys.find(secret) for output in outputs for secret in output)
    assert sum(map(len, outputs)) == 40
    assert len(json.loads(file.read_text())["keys"]) == 40
