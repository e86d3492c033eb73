"""`paperscope mcp`: its options, and what `--install` writes into the settings files of clients and what it leaves."""

import io
import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.service.cli.conftest import Run

FILES = {
    "claude-desktop": (".config/Claude/claude_desktop_config.json", "mcpServers"),
    "claude-code": (".mcp.json", "mcpServers"),
    "cursor": (".cursor/mcp.json", "mcpServers"),
    "vscode": (".config/Code/User/mcp.json", "servers"),
}


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's home, which is the working directory, too."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    return tmp_path


def settings_of_cursor(home: Path) -> tuple[Path, Any]:
    file = home / ".cursor/mcp.json"
    return file, json.loads(file.read_text())


@pytest.mark.parametrize("client", FILES)
def test_each_client_can_start_the_server_from_any_folder(run: "Run", home: Path, client: str) -> None:
    (home / "papers").mkdir()
    options = ("--library", "lib", "--allow-add", "papers", "--link-base", "http://127.0.0.1:8000/")
    shown = run("mcp", "--install", client, "--yes", *options)
    assert shown.code == 0, shown.err
    name, servers = FILES[client]
    written = json.loads((home / name).read_text())
    entry = written[servers]["paperscope"]
    assert [entry["command"], *entry["args"]] == [
        *(sys.executable, "-P", "-m", "paperscope", "mcp", "--library", str(home / "lib")),
        *("--allow-add", str(home / "papers"), "--link-base", "http://127.0.0.1:8000"),
    ]
    assert f'+      "command": "{sys.executable}"' in shown.out
    (home / "prompts").mkdir()
    (home / "prompts" / "__init__.py").write_text("raise SystemExit('a module of the folder that the client runs in')")
    started = subprocess.run(  # noqa: S603
        [entry["command"], *entry["args"]], input=b"", capture_output=True, cwd=home, check=False, timeout=60
    )
    assert (started.returncode, started.stdout) == (0, b""), started.stderr


def test_other_settings_stay_and_the_old_file_is_kept(run: "Run", home: Path) -> None:
    old = '{"theme": "dark", "mcpServers": {"other": {"command": "x", "args": ["ü"]}}}'
    (home / ".cursor").mkdir()
    kept = home / "dotfiles.json"
    kept.write_text(old)
    kept.chmod(0o600)
    (home / ".cursor/mcp.json").symlink_to(kept)
    assert run("mcp", "--install", "cursor", "--yes").code == 0
    file, written = settings_of_cursor(home)
    assert file.is_symlink()
    assert kept.stat().st_mode & 0o777 == 0o600
    assert written["theme"] == "dark"
    assert list(written["mcpServers"]) == ["other", "paperscope"]
    assert '"ü"' in kept.read_text()
    (backup,) = home.glob("dotfiles.json.*.bak")
    assert backup.read_text() == old
    again = run("mcp", "--install", "cursor", "--yes")
    assert (again.code, again.out) == (0, "")
    assert "nothing is changed" in again.err
    assert len(list(home.glob("*.bak"))) == 1


def test_nothing_is_written_without_a_yes(run: "Run", home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for answer, code in (("n\n", 0), ("", 1)):
        monkeypatch.setattr(sys, "stdin", io.StringIO(answer))
        shown = run("mcp", "--install", "cursor")
        assert shown.code == code
        assert '+    "paperscope": {' in shown.out
        assert not (home / ".cursor").exists()
    monkeypatch.setattr(sys, "stdin", io.StringIO("y\n"))
    assert run("mcp", "--install", "cursor").code == 0
    assert "paperscope" in settings_of_cursor(home)[1]["mcpServers"]


@pytest.mark.parametrize(
    "text", ['{"a": 1, // comment\n}', "[1]", '{"mcpServers": []}', "\x00", "[" * 100_000, "é".encode("latin-1")]
)
def test_a_file_of_another_form_is_left_with_one_message(run: "Run", home: Path, text: str | bytes) -> None:
    (home / ".cursor").mkdir()
    file = home / ".cursor/mcp.json"
    data = text if isinstance(text, bytes) else text.encode()
    file.write_bytes(data)
    shown = run("mcp", "--install", "cursor", "--yes")
    assert (shown.code, shown.out) == (2, "")
    assert shown.err.startswith(f"error: {file}: ")
    assert 'left as it is; add this to it by hand, under \'mcpServers\': {"paperscope": {"command":' in shown.err
    assert len(shown.err.splitlines()) == 1
    assert [one.name for one in file.parent.iterdir()] == ["mcp.json"]
    assert file.read_bytes() == data


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--install", "emacs"), "'emacs' is no known client; take one of claude-desktop, claude-code, cursor, vscode"),
        (("--allow-add", "absent"), "absent: no such folder"),
        (("--link-base", "localhost"), "--link-base 'localhost' is no address; give one such as http://127.0.0.1:8000"),
    ],
)
def test_bad_options_are_one_message(run: "Run", options: tuple[str, ...], message: str) -> None:
    shown = run("mcp", *options)
    assert shown.code == 2
    assert message in shown.err
    assert len(shown.err.splitlines()) == 1


def test_without_the_extra_the_message_names_it(run: "Run", monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("service.cli.mcp_command.find_spec", lambda _name: None)
    assert 'pip install "paperscope[mcp]"' in run("mcp").err
