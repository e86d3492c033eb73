"""What papers and questions take: nothing without a model, and what a server says with one."""

import json
import shutil
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.evaluation.conftest import Evaluate


ANSWER = {"status": "answered", "answer": "It is thrown away.", "claims": []}
CALLS = ("calls", "cached_calls", "prompt_tokens", "completion_tokens", "cost")


@pytest.fixture
def data(tmp_path: Path, root: Path, short_paper: Path) -> Path:
    """A data folder with a paper and one of its questions."""
    folder = tmp_path / "data" / "papers" / "example"
    folder.mkdir(parents=True)
    shutil.copy(short_paper, folder / "paper.pdf")
    known = (root / "examples" / "paper" / "questions.jsonl").read_text().splitlines()
    (folder / "questions.jsonl").write_text(known[0])
    return tmp_path / "data"


class _Server(BaseHTTPRequestHandler):
    """Speaks OpenAI's protocol: every reply is the same answer, and took 1000 + 200 tokens."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        choice = {"message": {"role": "assistant", "content": json.dumps(ANSWER)}, "finish_reason": "stop", "index": 0}
        usage = {"prompt_tokens": 1000, "completion_tokens": 200}
        body = json.dumps({"choices": [choice], "usage": usage}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Says nothing."""


@pytest.fixture
def server() -> Iterator[str]:
    """The address of a model's server on loopback."""
    with ThreadingHTTPServer(("127.0.0.1", 0), _Server) as running:
        threading.Thread(target=running.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{running.server_address[1]}/v1"
        running.shutdown()


def figures(folder: Path, name: str) -> dict[str, float]:
    report = json.loads((folder / "cost.json").read_text())
    return {metric: figure["value"] for metric, figure in report["figures"][name].items()}


@pytest.mark.slow
def test_without_a_model_nothing_is_paid(data: Path, tmp_path: Path, evaluate: "Evaluate") -> None:
    assert evaluate("cost", "--data", data, "--out", tmp_path / "out") == 0
    lines = [json.loads(line) for line in (tmp_path / "out" / "cost.jsonl").read_text().splitlines()]
    assert [line["name"] for line in lines] == ["papers/example", "questions/example/1"]
    added, asked = figures(tmp_path / "out", "papers"), figures(tmp_path / "out", "questions")
    assert {name: added[f"add.{name}"] for name in CALLS} == dict.fromkeys(CALLS, 0)
    assert {name: asked[f"ask.{name}"] for name in CALLS} == dict.fromkeys(CALLS, 0)
    assert added["add.pages"] == 2
    assert added["add.megabytes"] > 0
    assert added["seconds.add_per_page"] > 0
    assert asked["seconds.question"] > 0
    assert asked["ask.context_tokens"] > asked["ask.context_words"] > 100
    assert asked["ask.images"] == 0


@pytest.mark.slow
def test_with_a_model_calls_and_money_are_those_of_the_server(
    data: Path, tmp_path: Path, evaluate: "Evaluate", server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {"MODEL": "m", "BASE_URL": server, "PRICE_PROMPT": "10", "PRICE_COMPLETION": "100"}.items():
        monkeypatch.setenv(f"PAPERSCOPE_ANSWER__{name}", value)
    assert evaluate("cost", "--data", data, "--mode", "model", "--out", tmp_path / "out") == 0
    asked = figures(tmp_path / "out", "questions")
    # 1000 · 10 / 10^6 + 200 · 100 / 10^6
    assert [asked[f"ask.{name}"] for name in CALLS] == [1, 0, 1000, 200, pytest.approx(0.03)]
    # Asked again, the library has the reply.
    (tmp_path / "out" / "cost.progress.jsonl").unlink()
    assert evaluate("cost", "--data", data, "--mode", "model", "--out", tmp_path / "out") == 0
    asked = figures(tmp_path / "out", "questions")
    assert [asked[f"ask.{name}"] for name in CALLS[:2]] == [0, 1]
    assert asked["ask.cost"] == 0


def test_a_paper_that_can_not_be_added_is_said(
    data: Path, evaluate: "Evaluate", capsys: pytest.CaptureFixture[str]
) -> None:
    broken = data / "papers" / "broken"
    broken.mkdir()
    (broken / "paper.pdf").write_bytes(b"%PDF-1.5 nothing")
    assert evaluate("cost", "--data", data, "--only", "broken") == 1
    assert "papers/broken: 'paper.pdf' is damaged" in capsys.readouterr().out


def test_a_folder_without_papers_is_refused(
    tmp_path: Path, evaluate: "Evaluate", capsys: pytest.CaptureFixture[str]
) -> None:
    assert evaluate("cost", "--data", tmp_path) == 2
    assert "no papers here" in capsys.readouterr().err
