"""Every command and code block of the README runs."""

import json
import os
import re
import shlex
import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from paperscope_core.settings import load_settings
from service.cli.commands import app

LOCAL_SERVER = "http://127.0.0.1:11434/v1"
REPLIES = {
    "image_findings": {
        "pictures": [{"picture": 1, "finding": "nothing of use", "relevant": False, "agrees": False}],
    },
    "answer": {"status": "answered", "answer": "Seed 2, with 89.80.", "claims": []},
}


def blocks(root: Path, language: str, page: str = "README.md") -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", (root / page).read_text(), flags=re.DOTALL | re.MULTILINE)


class _Handler(BaseHTTPRequestHandler):
    """A model server with a fixed reply for each kind of request."""

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        name = body["response_format"]["json_schema"]["name"]
        choice = {"index": 0, "finish_reason": "stop"}
        message = {"role": "assistant", "content": json.dumps(REPLIES[name])}
        reply = {"id": "1", "object": "chat.completion", "created": 0, "model": body["model"]}
        payload = json.dumps({**reply, "choices": [{**choice, "message": message}]}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(payload)))
        self.end_headers()
        self.wfile.write(payload)

    def log_message(self, *_arguments: object) -> None:
        return


@pytest.fixture
def model_server() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/v1"
    server.shutdown()
    thread.join()
    server.server_close()


def checkout(folder: Path, root: Path, library: Path | None = None) -> Path:
    """Links the examples into the folder and copies the library, if given."""
    (folder / "examples").symlink_to(root / "examples")
    if library is not None:
        shutil.copytree(library, folder / "library")
    return folder


def shell(
    script: str, *, folder: Path, root: Path, variables: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    command = f'paperscope() {{ "{sys.executable}" -m paperscope "$@"; }}\nset -e\n{script}'
    environment = {**os.environ, **(variables or {})}
    return subprocess.run(  # noqa: S603
        ["/bin/bash", "-c", command], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


def test_the_demo_and_test_scripts_exist(root: Path) -> None:
    scripts = [block.strip() for block in blocks(root, "bash")][:2]
    assert scripts == ["scripts/demo", "scripts/test"]
    assert all(os.access(root / script, os.X_OK) for script in scripts)
    assert "exec scripts/test" in (root / ".ci" / "run").read_text()


@pytest.fixture
def workplace(tmp_path: Path, root: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the examples, in which the test runs."""
    monkeypatch.chdir(checkout(tmp_path, root))
    return tmp_path


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[[str], str]:
    """Runs a block in this process and returns its output.

    Each line is a command `paperscope` or sets a variable of the environment.
    """

    def run_lines(block: str) -> str:
        for line in block.splitlines():
            program, *arguments = shlex.split(line)
            if program == "export":
                monkeypatch.setenv(*arguments[0].split("=", 1))
            else:
                assert program == "paperscope"
                app(arguments, standalone_mode=False)
        return capsys.readouterr().out

    return run_lines


@pytest.mark.slow
def test_the_demo_the_commands_and_the_python_code_run(
    root: Path, workplace: Path, run: Callable[[str], str], capsys: pytest.CaptureFixture[str]
) -> None:
    """In the order of the README, in one folder: what the demo added and answered is not done again."""
    if (root / ".venv" / ".paperscope-setup-dev").is_file():  # elsewhere the demo would set up an environment
        places = {"PAPERSCOPE_LIBRARY": str(workplace / "library"), "DEMO_OUT": str(workplace / "answers")}
        done = shell(str(root / "scripts" / "demo"), folder=workplace, root=root, variables=places)
        assert done.returncode == 0, done.stderr
        assert "24 questions" in done.stdout
    use, manage = blocks(root, "bash")[2:4]
    _command, *shown = blocks(root, "text")[0].split("\n", 1)
    assert " ".join(shown[0].split()) in " ".join(run(use).split())
    assert len((workplace / "answers" / "answers.jsonl").read_text().splitlines()) == 24
    (python,) = blocks(root, "python")
    guides = [
        block for page in ("guides/add-papers", "guides/ask") for block in blocks(root, "python", f"docs/{page}.md")
    ]
    for block in (python, *guides):
        exec(block, {})  # noqa: S102
    assert "256" in capsys.readouterr().out
    assert "removed" in run(manage)


@pytest.mark.slow
def test_the_commands_of_the_service_run(root: Path, tmp_path: Path, example_library: Path) -> None:
    if shutil.which("curl") is None:
        pytest.skip("curl is not installed")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    script = blocks(root, "bash")[4]
    assert "paperscope serve &" in script
    script = script.replace("paperscope serve &", f"paperscope serve --port {port} &").replace(":8000", f":{port}")
    # Each job a process group, so that what the shell's function started is ended, too.
    jobs = "set -m\ntrap 'kill -- -$(jobs -p); wait' EXIT\n"
    done = shell(jobs + script, folder=checkout(tmp_path, root, example_library), root=root)
    assert '"state":"queued"' in done.stdout, done.stderr
    assert "256" in done.stdout


@pytest.mark.slow
def test_the_commands_with_a_model_run(
    root: Path,
    workplace: Path,
    run: Callable[[str], str],
    example_library: Path,
    model_server: str,
) -> None:
    script = blocks(root, "bash")[5]
    assert LOCAL_SERVER in script
    shutil.copytree(example_library, workplace / "library")
    assert "89.80" in run(script.replace(LOCAL_SERVER, model_server))


def test_every_code_block_is_tested(root: Path) -> None:
    languages = re.findall(r"^```(\w+)\n", (root / "README.md").read_text(), flags=re.MULTILINE)
    assert sorted(languages) == ["bash"] * 6 + ["python", "text", "text", "toml"]


def test_the_settings_file_is_valid(root: Path, tmp_path: Path) -> None:
    (toml,) = blocks(root, "toml")
    file = tmp_path / "paperscope.toml"
    file.write_text(toml)
    settings = load_settings(environ={"PAPERSCOPE_MODEL": "other"}, file=file)
    assert settings.answer.model == "a-large-model"
    assert not settings.extract.configured
