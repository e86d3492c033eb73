"""`paperscope keys`: create, list and revoke a key."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from paperscope_core.locations import parse_location
from service.keys import KeyStore

if TYPE_CHECKING:
    from tests.service.cli.conftest import Run


FILE = "paperscope-keys.json"


def test_a_key_is_made_listed_and_revoked(run: "Run", tmp_path: Path) -> None:
    (tmp_path / "papers").mkdir()
    made = run("keys", "create", "alice", "--library", "lab", "--folder", "papers", "--expires", "2999-01-01")
    assert made.code == 0
    secret = made.out.strip()
    key = KeyStore.open(tmp_path / FILE).find(secret)
    assert key is not None
    assert (key.library, key.folders) == (parse_location(tmp_path / "lab"), (tmp_path / "papers",))
    assert key.id in made.err
    assert "shown only once" in made.err
    assert secret not in made.err
    listed = run("keys", "list")
    assert all(shown in listed.out for shown in (key.id, "alice", str(key.library), "2999-01-01"))
    assert secret not in listed.out
    assert key.name in run("keys", "revoke", key.id).out
    assert KeyStore.open(tmp_path / FILE).find(secret) is None
    assert "paperscope keys create NAME" in run("keys", "list").out


def test_programs_get_json(run: "Run", tmp_path: Path) -> None:
    made = json.loads(run("keys", "create", "alice", "--json").out)
    assert made["library"] == str(tmp_path / "library")
    assert KeyStore.open(tmp_path / FILE).find(made["secret"])
    run("keys", "create", "bob")
    rows = [json.loads(line) for line in run("keys", "list", "--json").out.splitlines()]
    assert [row["name"] for row in rows] == ["alice", "bob"]
    assert set(rows[0]) == set(made) - {"secret"}


def test_bad_input_makes_no_key_and_names_the_remedy(run: "Run", tmp_path: Path) -> None:
    for arguments, expected in (
        (("create", ""), "can't be a key's name"),
        (("create", "alice", "--folder", "nowhere"), "'nowhere' is no folder"),
        (("create", "alice", "--expires", "2020-01-01"), "2020-01-01 would never work"),
        (("create", "alice", "--expires", "tomorrow"), "'tomorrow'"),
        (("revoke", "abc"), "no API key with the id 'abc': `paperscope keys list`"),
    ):
        outcome = run("keys", *arguments)
        assert outcome.code == 2, arguments
        assert expected in outcome.err
        assert not outcome.out
    assert not (tmp_path / FILE).exists()
    (tmp_path / FILE).write_text("{")
    outcome = run("keys", "list")
    assert outcome.code == 3
    assert f"{FILE}: damaged" in outcome.err


def test_the_setting_says_where_keys_are_kept(run: "Run", tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PAPERSCOPE_SERVICE__KEYS", str(tmp_path / "data" / "keys.json"))
    secret = run("keys", "create", "alice").out.strip()
    assert KeyStore.open(tmp_path / "data" / "keys.json").find(secret)
    assert "alice" in run("keys", "list").out
    assert not (tmp_path / FILE).exists()
