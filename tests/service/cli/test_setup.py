"""`paperscope setup` with scripted servers of models."""

import json
import stat
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from paperscope import model_setup
from paperscope.model_setup import list_models
from paperscope_core.models.server_habits import habits_of
from paperscope_core.settings import load_settings
from service.cli import setup_command
from tests.model_server import Body, ModelServer, serve, words
from tests.service.cli.conftest import Run

ANSWER: dict[str, Any] = {
    "status": "answered",
    "answer": "Seed 2 reaches the highest entity F1 of the ensemble, 89.80.",
    "claims": [{"text": "Seed 2 reaches 89.80.", "evidence": ["S1"]}],
}


def images(body: Body) -> bool:
    return any(isinstance(message["content"], list) for message in body["messages"])


def reply(body: Body) -> str:
    """What a model with eyes replies."""
    return "7294" if images(body) else json.dumps(ANSWER)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelServer]:
    """A server of its own, and no other on this machine."""
    monkeypatch.setattr(model_setup, "LOCAL_PORTS", {})
    habits_of.cache_clear()
    with serve(reply) as found:
        found.streams = True
        yield found


def ollama(server: ModelServer) -> None:
    entries = [{"id": name, "owned_by": "library"} for name in ("small", "llava", "embedder")]
    server.documents["/v1/models"] = {"object": "list", "data": entries}
    server.documents["/api/show"] = {
        "small": {"capabilities": ["completion", "tools"]},
        "llava": {"capabilities": ["completion", "vision"]},
        "embedder": {"capabilities": ["embedding"]},
    }


def on_this_machine(server: ModelServer, monkeypatch: pytest.MonkeyPatch) -> None:
    port = int(server.url.removesuffix("/v1").rpartition(":")[2])
    monkeypatch.setattr(model_setup, "LOCAL_PORTS", {"vLLM": 9, "Ollama": port})


def written(folder: Path, name: str = "paperscope.toml") -> dict[str, Any]:
    return tomllib.loads((folder / name).read_text())


LISTS: list[tuple[dict[str, Any], dict[str, Any]]] = [
    # OpenRouter
    (
        {
            "/v1/models": {
                "data": [
                    {"id": "a", "architecture": {"input_modalities": ["text"]}},
                    {"id": "b", "architecture": {"input_modalities": ["text", "image"]}},
                ]
            }
        },
        {"b": True, "a": False},
    ),
    # Mistral
    ({"/v1/models": {"data": [{"id": "a", "capabilities": {"vision": True}}]}}, {"a": True}),
    # LM Studio
    (
        {
            "/v1/models": {"data": [{"id": "a"}, {"id": "b"}, {"id": "e"}]},
            "/api/v0/models": {
                "data": [{"id": "a", "type": "llm"}, {"id": "b", "type": "vlm"}, {"id": "e", "type": "embeddings"}]
            },
        },
        {"b": True, "a": False},
    ),
    # llama.cpp
    (
        {"/v1/models": {"data": [{"id": "a"}]}, "/props": {"modalities": {"vision": True, "audio": False}}},
        {"a": True},
    ),
    # vLLM says nothing; an entry that is none is left out, and so is Paperscope's own service.
    (
        {"/v1/models": {"data": [{"id": "a", "owned_by": "vllm"}, 3, {"id": "paperscope", "owned_by": "paperscope"}]}},
        {"a": None},
    ),
]


@pytest.mark.parametrize(("documents", "expected"), LISTS)
def test_models_are_listed_with_what_the_server_says_of_their_sight(
    server: ModelServer, documents: dict[str, Any], expected: dict[str, Any]
) -> None:
    server.documents |= documents
    assert {one.name: one.sees for one in list_models(server.url)} == expected


def test_what_runs_on_this_machine_is_listed(
    run: Run, server: ModelServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    ollama(server)
    on_this_machine(server, monkeypatch)
    done = run("setup", "--list", "--json")
    assert json.loads(done.out) == {
        "kind": "Ollama",
        "base_url": server.url,
        "models": [{"name": "llava", "sees": True}, {"name": "small", "sees": False}],
    }
    assert "llava  reads pictures" in run("setup", "--list").out
    assert not list(tmp_path.iterdir())
    assert not server.bodies


def test_no_server_and_several_models_are_errors_that_say_what_to_name(
    run: Run, server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = run("setup", "--yes")
    assert (done.code, "--url" in done.err) == (2, True)
    ollama(server)
    on_this_machine(server, monkeypatch)
    done = run("setup", "--yes")
    assert done.code == 2
    assert f"llava ({server.url})" in done.err


def test_a_model_is_tried_and_written_beside_other_settings(
    run: Run, server: ModelServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    ollama(server)
    on_this_machine(server, monkeypatch)
    before = '# mine\nlibrary = "papers"\n\n[answer]\nrounds = 2 # two\nmodel = "old"\n\n[retrieval]\nchunks = 5\n'
    (tmp_path / "paperscope.toml").write_text(before)
    done = run("setup", "--model", "llava", "--yes")
    assert done.code == 0, done.err
    for line in ("answer     right, ", "replies    JSON schema\n", "streaming  yes", "pictures   yes (llava)"):
        assert line in done.out
    assert '- model = "old"' in done.out
    assert '+ model = "llava"' in done.out
    after = (tmp_path / "paperscope.toml").read_text()
    for line in ("# mine", "rounds = 2 # two", "chunks = 5"):
        assert line in after
    settings = load_settings(environ={})
    assert (settings.answer.model, settings.answer.rounds, settings.retrieval.chunks) == ("llava", 2, 5)
    assert (settings.vision.model, settings.vision.base_url, settings.extract.model) == ("llava", server.url, "")
    assert not (tmp_path / "paperscope.keys.toml").exists()
    assert not (tmp_path / "papers").exists()
    again = run("setup", "--model", "llava", "--yes", "--no-test")
    assert "say so already" in again.out


def test_a_key_is_kept_in_a_private_file_and_shown_nowhere(run: Run, server: ModelServer, tmp_path: Path) -> None:
    key = "sk-0123456789abcdef"
    (tmp_path / "key").write_text(key + "\n")
    options = ("--url", server.url + "/", "--model", "m", "--key-file", tmp_path / "key", "--yes")
    done = run("setup", *options)
    assert done.code == 0, done.err
    assert key not in done.out + done.err + (tmp_path / "paperscope.toml").read_text()
    file = tmp_path / "paperscope.keys.toml"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert written(tmp_path, file.name) == {"answer": {"api_key": key}, "vision": {"api_key": key}}
    assert load_settings(environ={}).answer.api_key.get_secret_value() == key
    assert set(server.keys) == {f"Bearer {key}"}
    # It is not sent to another server, and not kept for it.
    with serve(reply) as other:
        done = run("setup", "--url", other.url, "--model", "m", "--yes")
        assert done.code == 0, done.err
        assert key not in done.out + done.err
        assert set(other.keys) == {"Bearer none"}
    assert not load_settings(environ={}).answer.api_key.get_secret_value()


def test_a_key_in_the_settings_moves_to_the_private_file(run: Run, server: ModelServer, tmp_path: Path) -> None:
    text = f'[answer]\nbase_url = "{server.url}"\nmodel = "old"\napi_key = "sk-0123456789"\n'
    (tmp_path / "paperscope.toml").write_text(text)
    done = run("setup", "--url", server.url, "--model", "m", "--yes", "--no-test")
    assert "sk-0" not in done.out
    assert written(tmp_path) == {"answer": {"base_url": server.url, "model": "m"}}
    assert written(tmp_path, "paperscope.keys.toml") == {"answer": {"api_key": "sk-0123456789"}}


def test_a_model_that_can_do_little_is_set_up_and_its_limits_are_named(
    run: Run, server: ModelServer, tmp_path: Path
) -> None:
    """Without formats, streams and eyes."""

    def fault(body: Body) -> str:
        for name in ("response_format", "stream"):
            if name in body:
                return f"400 unknown field {name}"
        return "400 this model reads no image" if images(body) else ""

    server.fault = fault
    server.reply = lambda body: "I think " + json.dumps(ANSWER) if "JSON schema" in words(body) else "what?"
    done = run("setup", "--url", server.url, "--model", "m", "--yes")
    assert done.code == 0, done.err
    for line in ("answer     right, ", "replies    plain text\n", "streaming  no", "pictures   no (m: "):
        assert line in done.out
    assert written(tmp_path) == {"answer": {"model": "m", "base_url": server.url}}


def test_a_blind_model_that_takes_pictures_is_found_out(run: Run, server: ModelServer, tmp_path: Path) -> None:
    server.reply = lambda body: "There is no picture." if images(body) else reply(body)
    done = run("setup", "--url", server.url, "--model", "m", "--yes")
    assert "pictures   no (m: it does not read" in done.out
    assert "vision" not in written(tmp_path)


def test_nothing_is_written_if_the_model_fails_or_nobody_agrees(run: Run, server: ModelServer, tmp_path: Path) -> None:
    done = run("setup", "--url", server.url, "--model", "m", "--no-test")
    assert (done.code, "--yes" in done.err) == (1, True)
    server.fault = lambda _body: "401 no such key"
    done = run("setup", "--url", server.url, "--model", "m", "--yes")
    assert done.code not in (0, 2)
    assert "no such key" in done.err
    assert run("setup", "--url", "ftp://x", "--model", "m", "--yes").code == 2
    assert not list(tmp_path.iterdir())


def test_a_person_picks_a_model_or_names_a_server(
    run: Run, server: ModelServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    ollama(server)
    on_this_machine(server, monkeypatch)
    monkeypatch.setattr(setup_command, "_is_interactive", lambda: True)
    monkeypatch.setattr("typer.confirm", lambda *_args, **_options: True)
    replies = iter(["7", "2"])
    monkeypatch.setattr("typer.prompt", lambda *_args, **_options: next(replies))
    assert run("setup", "--no-test").code == 0
    assert written(tmp_path)["answer"]["model"] == "small"
    replies = iter(["0", server.url, "sk-0123456789", "1"])
    assert run("setup", "--no-test").code == 0
    assert written(tmp_path)["answer"]["model"] == "llava"
    assert written(tmp_path, "paperscope.keys.toml")["answer"] == {"api_key": "sk-0123456789"}


def test_a_variable_that_overrides_what_was_written_is_named(
    run: Run, server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PAPERSCOPE_ANSWER__MODEL", "another")
    monkeypatch.setenv("PAPERSCOPE_ANSWER__BASE_URL", server.url)
    done = run("setup", "--url", server.url, "--model", "m", "--yes", "--no-test")
    assert "PAPERSCOPE_ANSWER__MODEL overrides answer.model" in done.err


@pytest.mark.parametrize("text", ["[answer", "answer = 3", "\udcff"])
def test_a_damaged_settings_file_is_left_alone(run: Run, server: ModelServer, tmp_path: Path, text: str) -> None:
    content = text.encode(errors="surrogateescape")
    (tmp_path / "paperscope.toml").write_bytes(content)
    done = run("setup", "--url", server.url, "--model", "m", "--yes", "--no-test")
    assert (done.code, "paperscope.toml" in done.err) == (2, True)
    assert (tmp_path / "paperscope.toml").read_bytes() == content
