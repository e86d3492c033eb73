"""The Dockerfile, compose.yaml and the container guide agree with the code; no container engine is needed."""

import json
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import typer
import yaml  # type: ignore[import-untyped]
from packaging.specifiers import SpecifierSet

from paperscope_core.locations import files_folder, local_folder
from paperscope_core.settings import Settings, load_settings
from service.cli import app
from service.http.shutdown import CLOSING_SECONDS
from tests.service.servers import serve_app

DATA = Path("/data")


@pytest.fixture
def project(root: Path) -> dict[str, Any]:
    return tomllib.loads((root / "pyproject.toml").read_text())


@pytest.fixture
def steps(root: Path) -> list[tuple[str, str]]:
    """The instructions of the Dockerfile with their arguments, continued lines joined."""
    text = re.sub(r"\\\n\s*", "", (root / "Dockerfile").read_text())
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    return [(word, rest.strip()) for word, _, rest in (line.partition(" ") for line in lines)]


@pytest.fixture
def services(root: Path) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((root / "compose.yaml").read_text())["services"]
    return found


def of(steps: list[tuple[str, str]], word: str) -> list[str]:
    return [rest for name, rest in steps if name == word]


def environment(steps: list[tuple[str, str]], service: Mapping[str, Any]) -> dict[str, str]:
    """Paperscope's variables of the image, overridden by those of Compose."""
    given = [pair.partition("=") for rest in of(steps, "ENV") for pair in shlex.split(rest)]
    ours = {name: value for name, _, value in given if name.startswith("PAPERSCOPE_")}
    return {**ours, **service["environment"]}


def command_exists(words: list[str]) -> bool:
    """Whether the command line has the command that `words` begin with."""
    command: Any = typer.main.get_command(app)
    while commands := getattr(command, "commands", None):
        if not words or words[0] not in commands:
            return False
        command, words = commands[words[0]], words[1:]
    options = {option for parameter in command.params for option in parameter.opts}
    return {word for word in words if word.startswith("--")} <= options


def test_every_package_is_copied(root: Path, project: dict[str, Any], steps: list[tuple[str, str]]) -> None:
    copied = [shlex.split(rest) for rest in of(steps, "COPY") if not rest.startswith("--from")]
    sources = {source.partition("/")[0] for arguments in copied for source in arguments[:-1]}
    packages = {name.rstrip("*") for name in project["tool"]["setuptools"]["packages"]["find"]["include"]}
    assert {source for source in sources if (root / source).is_dir()} == packages
    assert all((root / source).exists() for source in sources)
    lines = (root / ".dockerignore").read_text().splitlines()
    assert lines[1] == "*"
    assert {line.removeprefix("!") for line in lines if line.startswith("!")} == sources


def test_the_python_version_of_the_image_is_supported(project: dict[str, Any], steps: list[tuple[str, str]]) -> None:
    base = of(steps, "FROM")[0]
    version = re.fullmatch(r"python:(\d+\.\d+\.\d+)-slim-\w+ AS base", base)
    assert version, f"{base!r} names no exact version"
    assert version[1] in SpecifierSet(project["project"]["requires-python"])
    assert version[1].startswith(f"{project['tool']['mypy']['python_version']}.")
    assert all(rest.startswith("base") for rest in of(steps, "FROM")[1:])


def test_the_documented_extras_exist(root: Path, project: dict[str, Any]) -> None:
    text = (root / "Dockerfile").read_text() + (root / "docs/guides/container.md").read_text()
    named = re.findall(r'EXTRAS=([a-z,]+)|such as "([a-z,]+)" or "([a-z,]+)"', text)
    extras = {extra for group in named for names in group if names for extra in names.split(",")}
    assert extras
    assert extras <= set(project["project"]["optional-dependencies"])


def test_the_entrypoint_is_a_command(steps: list[tuple[str, str]], project: dict[str, Any]) -> None:
    (entrypoint,) = map(json.loads, of(steps, "ENTRYPOINT"))
    (command,) = map(json.loads, of(steps, "CMD"))
    assert entrypoint == list(project["project"]["scripts"])
    assert command_exists(command)
    assert not command_exists(["serve", "--nowhere"])
    assert not command_exists(["nothing"])
    assert of(steps, "EXPOSE") == [command[command.index("--port") + 1]]


@pytest.mark.parametrize("name", ["paperscope", "server-1", "server-2"])
def test_the_settings_of_a_container_are_consistent(
    steps: list[tuple[str, str]], services: dict[str, Any], name: str
) -> None:
    ours = services[name]
    settings = load_settings(environ=environment(steps, ours))
    for folder in (files_folder(settings.library), local_folder(settings.library)):
        assert folder.is_relative_to(DATA)
        assert not settings.service.keys.is_relative_to(folder)
    assert settings.service.keys.is_relative_to(DATA)
    assert of(steps, "VOLUME") == [str(DATA)]
    assert ours["volumes"] == [f"data:{DATA}"]
    assert settings.limits.memory_mb < int(ours["mem_limit"].removesuffix("g")) * 1024
    assert settings.service.shutdown_seconds + CLOSING_SECONDS < int(ours["stop_grace_period"].removesuffix("s"))


def test_no_container_runs_as_root_or_listens_publicly(steps: list[tuple[str, str]], services: dict[str, Any]) -> None:
    (user,) = of(steps, "USER")
    assert re.fullmatch(r"[1-9]\d{3,}:[1-9]\d{3,}", user), "a number, so that it can be checked that it is not root"
    for service in services.values():
        assert all(str(port).startswith("127.0.0.1:") for port in service.get("ports", []))
        assert service["cap_drop"] == ["ALL"]
        assert service["security_opt"] == ["no-new-privileges:true"]
        assert "build" in service or re.search(r":\d+\.\d+\.\d+(-|$)", service["image"]), "a version, not the latest"


def test_the_servers_on_postgresql_reach_it_and_are_reached(
    root: Path, project: dict[str, Any], services: dict[str, Any]
) -> None:
    database, front, one = services["postgresql"], services["front"], services["server-1"]
    assert one == services["server-2"]
    assert one["build"]["args"]["EXTRAS"] in project["project"]["optional-dependencies"]
    assert command_exists(services["worker"]["command"])
    assert {**services["worker"], "command": 0, "healthcheck": 0} == {**one, "command": 0, "healthcheck": 0}
    address = urlsplit(one["environment"]["PAPERSCOPE_LIBRARY"])
    assert services[address.hostname or ""] is database
    assert (address.username, address.path[1:]) == tuple(
        database["environment"][f"POSTGRES_{it}"] for it in ("USER", "DB")
    )
    assert one["env_file"][-1] == database["env_file"][0]
    assert front["ports"][0].rpartition(":")[0] == services["paperscope"]["ports"][0].rpartition(":")[0]
    (source,) = front["configs"]
    rules = yaml.safe_load((root / "compose.yaml").read_text())["configs"][source["source"]]["content"]
    servers = re.findall(r"server (\S+):8000 ", rules)
    assert servers == front["depends_on"] == ["server-1", "server-2"]
    assert f"listen {front['ports'][0].rpartition(':')[2]};" in rules
    assert not re.search(r"(?<!\$)\$(?!\$)", rules), "Compose would read a single $ as its own variable"
    assert (root / ".gitignore").read_text().count("/postgresql.env\n") == 1


def test_the_health_check_detects_a_running_service(steps: list[tuple[str, str]], tmp_path: Path) -> None:
    command = json.loads(of(steps, "HEALTHCHECK")[0].partition("CMD ")[2])
    assert command[0] == "python"
    with serve_app(Settings(library=tmp_path / "library")) as address:
        port = address.rpartition(":")[2]
        check = [sys.executable, *(part.replace("8000", port) for part in command[1:])]
        assert subprocess.run(check, check=False).returncode == 0  # noqa: S603
        elsewhere = [part.replace("/healthz", "/nowhere") for part in check]
        assert subprocess.run(elsewhere, check=False).returncode == 1  # noqa: S603
    done = subprocess.run(check, check=False, capture_output=True)  # noqa: S603
    assert done.returncode == 1


def shell_lines(text: str) -> Iterator[list[str]]:
    for block in re.findall(r"^```bash\n(.*?)^```", text, flags=re.DOTALL | re.MULTILINE):
        yield from map(shlex.split, block.splitlines())


def test_the_documented_commands_exist(root: Path, services: dict[str, Any]) -> None:
    page = (root / "docs/guides/container.md").read_text()
    calls = re.findall(
        r"docker compose (?:--profile \w+ )?(?:run --rm (?:paperscope|server-1)|exec \w[\w-]* paperscope) ([^`\n]*)",
        page,
    )
    assert len(calls) > 6
    for call in calls:
        assert command_exists(shlex.split(call)), call
    profiles = {name for service in services.values() for name in service.get("profiles", [])}
    for line in shell_lines(page):
        if "--profile" in line:
            assert line[line.index("--profile") + 1] in profiles
        if "exec" in line:
            named = [word for word in line[line.index("exec") + 1 :] if not word.startswith("-")]
            assert named[0] in services


def test_the_documented_variables_are_settings(root: Path, services: dict[str, Any]) -> None:
    page = (root / "docs/guides/container.md").read_text()
    blocks = re.findall(r"^```text\n(.*?)^```", page, flags=re.DOTALL | re.MULTILINE)
    assert len(blocks) == 2
    for block in blocks:
        settings = load_settings(environ=dict(line.split("=", 1) for line in block.splitlines()))
        assert settings.answer.configured
    host, port = re.search(r"http://(\w+):(\d+)/v1", blocks[1]).groups()  # type: ignore[union-attr]
    assert host in services
    assert services[host]["image"].startswith("ollama/")
    assert port == "11434"
