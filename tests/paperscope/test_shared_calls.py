"""Processes that make the same calls of a model at once pay for them once."""

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from paperscope_core.locations import Location, location_text
from tests.model_server import Body, echo, kind_of, serve
from tests.postgresql_server import PostgresServer

_PROCESS = """
import asyncio, json, sys
from paperscope.library import Library
from paperscope_core.locations import parse_location
from paperscope_core.settings import load_settings

location, url, file = sys.argv[1:]
role = {"model": "m", "base_url": url}
given = {"extract": role, "answer": role, "embed": {"model": "fake", "base_url": url}, "calls.timeout": 60.0}

async def ask(library):
    asked = (library.ask_async("What is the score of Owl?") for _ in range(4))
    return [answer.text for answer in await asyncio.gather(*asked)]

with Library.open(parse_location(location), settings=load_settings(environ={}, overrides=given)) as library:
    print("ready", flush=True)
    sys.stdin.readline()
    print(json.dumps(library.add(file).paper.id), flush=True)
    sys.stdin.readline()
    print(json.dumps(asyncio.run(ask(library))), flush=True)
"""


def _reply(body: Body) -> str:
    if kind_of(body) == "answer":
        return json.dumps({"status": "answered", "answer": "It is 91.5.", "claims": []})
    return echo(body)


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["sqlite", "postgresql"])
def test_two_processes_pay_once(engine: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    location: Location = tmp_path / "library"
    if engine == "postgresql":
        server = request.getfixturevalue("postgresql")
        assert isinstance(server, PostgresServer)
        location = server.address(tmp_path)
    file = tmp_path / "owl.md"
    parts = (f"## Part {part}\n\n{f'Part {part} names the Owl net and its Corpus. ' * 60}" for part in range(3))
    file.write_text("\n\n".join(["# On Owls", "The Owl net has a score of 91.5.", *parts]))
    with serve(_reply, seconds=1.0) as model:
        command = [sys.executable, "-c", _PROCESS, location_text(location), model.url, str(file)]
        pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        both: list[Any] = [subprocess.Popen(command, **pipes) for _ in range(2)]  # noqa: S603
        for one in both:
            assert one.stdout.readline() == "ready\n"

        def next_step() -> list[object]:
            """What the processes print that take their next step at once."""
            for one in both:
                one.stdin.write("\n")
                one.stdin.flush()
            return [json.loads(one.stdout.readline()) for one in both]

        first, second = next_step()
        assert first == second
        assert set(Counter(model.names).values()) == {1}
        added = len(model.names)
        assert added >= 1
        assert next_step() == [["It is 91.5."] * 4] * 2
        assert len(model.names) == added + 1
        for one in both:
            one.communicate(timeout=60)
        assert [one.returncode for one in both] == [0, 0]
