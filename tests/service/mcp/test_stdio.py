"""`paperscope mcp` in a process of its own, used by the official SDK's client."""

import base64
import io
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from mcp import MCPError
from mcp_types import TextContent, TextResourceContents
from PIL import Image

from paperscope.library import Library
from paperscope_core.settings import Settings
from tests.service.http.requests import copy_library
from tests.service.mcp.clients import PAPER, command, pictures_of, stdio_client_of, text_of
from tests.service.servers import is_alive, markdown_paper, wait_until

pytestmark = pytest.mark.slow

LINKS = "http://127.0.0.1:8000"
PAPER_LINK = f"{LINKS}/#/papers/{PAPER}"
TOOLS = [
    *("papers", "outline", "search", "section", "element", "page", "reference", "check_claim"),
    *("each_paper", "results", "table"),
]


async def test_each_tool_finds_what_is_named_with_places_and_links(example_library: Path) -> None:
    async with stdio_client_of(example_library, "--link-base", f"{LINKS}/") as client:
        tools = (await client.list_tools()).tools
        assert [tool.name for tool in tools] == TOOLS
        assert all(tool.annotations and tool.annotations.read_only_hint for tool in tools)
        for tool, arguments, parts in (
            (
                "papers",
                {"words": "rulers"},
                ["Four Reports, Four Rulers", f"Id: {PAPER}", f"link: {PAPER_LINK}"],
            ),
            ("outline", {}, ["Tables: ", "Table 9 (page 5", "3.4 "]),
            ("search", {"text": "LoRA rank"}, ["LoRA", f"{PAPER_LINK}?element=", f"{{{PAPER}/"]),
            ("section", {"name": "3.4"}, [f"{{{PAPER}/passage-", ", page 3 ["]),
            (
                "element",
                {"label": "Table 9"},
                [
                    f"link: {PAPER_LINK}?element=table-9\n",
                    f"{{{PAPER}/table-9, page 5 [",
                    "Macro F1 | Model 1",
                ],
            ),
            ("page", {"number": 5}, ["?page=5\n", "Table 9"]),
            ("reference", {"key": "Hu et al., 2022"}, ["LoRA", "element=reference-"]),
        ):
            text = await text_of(client, tool, arguments)
            assert [part for part in parts if part not in text] == [], (tool, text)


async def test_tables_and_pages_come_as_pictures_that_a_client_takes(example_library: Path) -> None:
    async with stdio_client_of(example_library) as client:
        for tool, arguments in (("element", {"label": "Table 9"}), ("page", {"number": "5"})):
            (picture,) = await pictures_of(client, tool, arguments)
            data = base64.b64decode(picture.data)
            with Image.open(io.BytesIO(data)) as image:
                assert image.format == picture.mime_type.removeprefix("image/").upper()
                assert max(image.size) <= 1568
            assert len(data) <= 600_000
            assert await pictures_of(client, tool, {**arguments, "picture": False}) == []
        assert "link:" not in await text_of(client, "element", {"label": "Table 9"})


async def test_a_claim_is_checked_and_the_very_cell_is_linked(example_library: Path) -> None:
    async with stdio_client_of(example_library, "--link-base", LINKS) as client:
        text = await text_of(
            client, "check_claim", {"text": "Macro F1 is 0.1560 for Model 1.", "evidence": [f"{PAPER}/table-9"]}
        )
        assert text.startswith("The evidence bears every number")
        assert "- 0.1560: printed\n" in text
        assert f"{PAPER_LINK}?at=5," in text
        text = await text_of(
            client, "check_claim", {"text": "Macro F1 is 0.9 with Zorblax.", "evidence": ["Table 9"], "paper": PAPER}
        )
        assert text.startswith("Not borne out")
        assert "the number 0.9 is not in the cited evidence" in text
        assert "'Zorblax'" in text
        text = await text_of(client, "check_claim", {"text": "So.", "evidence": [f"{PAPER}/no-1"]}, is_error=True)
        assert "no 'no-1' in paper" in text


async def test_errors_tell_a_model_what_helps(example_library: Path) -> None:
    async with stdio_client_of(example_library) as client:
        for tool, arguments, message in (
            ("section", {"name": "9.9"}, "no section '9.9' in 'Four Reports"),
            ("element", {"label": "Table 99"}, "did you mean 'Table 9'"),
            ("page", {"number": 99}, "ask for 1 to 7"),
            ("page", {"number": 0}, "number: Input should be greater than or equal to 1"),
            ("outline", {"paper": "zzz"}, "no paper 'zzz' in the library"),
            ("section", {"name": "4", "part": 99}, "has no part 99; ask for 1 to "),
            ("section", {}, "name: Field required. The arguments of section are"),
            ("section", {"name": "4", "colour": 1}, "colour: Extra inputs are not permitted. The arguments of section"),
            ("check_claim", {"text": "x", "evidence": []}, "evidence: List should have at least 1 item"),
        ):
            assert message in await text_of(client, tool, arguments, is_error=True)
        with pytest.raises(MCPError, match="there is no tool 'add_paper'; there are papers, outline"):
            await client.call_tool("add_paper", {"path": "/etc/passwd"})


async def test_a_huge_section_has_parts(example_library: Path) -> None:
    async with stdio_client_of(example_library) as client:
        first = await text_of(client, "section", {"name": "4"})
        assert "\nPart 1 of " in first
        assert first.endswith("Call again with part=2 for the next one.")
        second = await text_of(client, "section", {"name": "4", "part": 2})
        assert first.partition("\n\n")[2] != second.partition("\n\n")[2]
        assert max(len(first), len(second)) < 30_000


async def test_papers_are_resources_and_a_prompt_tells_how_to_cite(example_library: Path) -> None:
    async with stdio_client_of(example_library, mode="legacy") as client:
        (paper,) = (await client.list_resources()).resources
        assert (paper.uri, paper.mime_type) == (f"paperscope://papers/{PAPER}", "text/markdown")
        (contents,) = (await client.read_resource(paper.uri)).contents
        assert isinstance(contents, TextResourceContents)
        assert contents.text.startswith("# Four Reports, Four Rulers")
        with pytest.raises(MCPError, match="no paper '0123456789ab'"):
            await client.read_resource("paperscope://papers/0123456789ab")
        (prompt,) = (await client.list_prompts()).prompts
        shown = await client.get_prompt(prompt.name, {"question": "Which rank?"})
        assert isinstance(shown.messages[0].content, TextContent)
        assert shown.messages[0].content.text.endswith("Which rank?")
        assert client.instructions
        assert client.instructions in shown.messages[0].content.text


async def test_papers_are_added_from_allowed_folders_only(tmp_path: Path) -> None:
    allowed = tmp_path / "papers"
    allowed.mkdir()
    (allowed / "note.md").write_bytes(markdown_paper(1))
    (tmp_path / "secret.md").write_bytes(markdown_paper(1, "Secret"))
    (allowed / "link.md").symlink_to(tmp_path / "secret.md")
    async with stdio_client_of(tmp_path / "library", "--allow-add", allowed) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert list(tools) == [*TOOLS, "add_paper"]
        assert tools["add_paper"].annotations
        assert tools["add_paper"].annotations.read_only_hint is False
        assert "the library is empty" in await text_of(client, "outline", {}, is_error=True)
        for path in (tmp_path / "secret.md", allowed / "link.md", allowed / ".." / "secret.md", "note.md"):
            refused = await text_of(client, "add_paper", {"path": str(path)}, is_error=True)
            assert refused.endswith(f"is no absolute path in a folder whose papers may be added: {allowed}")
        assert "no such file" in await text_of(client, "add_paper", {"path": str(allowed / "x.md")}, is_error=True)
        assert (await text_of(client, "add_paper", {"path": str(allowed / "note.md")})).startswith(
            "added: On Taggers; id"
        )
        assert (await text_of(client, "add_paper", {"path": str(allowed / "note.md")})).startswith("unchanged: ")
        assert "On Taggers" in await text_of(client, "papers", {})


async def test_a_paper_that_is_removed_meanwhile_is_unknown(example_library: Path, tmp_path: Path) -> None:
    library = copy_library(example_library, tmp_path)
    async with stdio_client_of(library) as client:
        assert "Table 9" in await text_of(client, "element", {"label": "Table 9"})
        with Library.open(library, settings=Settings()) as opened:
            opened.remove(PAPER)
        assert PAPER in await text_of(client, "outline", {"paper": PAPER}, is_error=True)
        claim = {"text": "It is 0.1560.", "evidence": [f"{PAPER}/table-9"]}
        assert PAPER in await text_of(client, "check_claim", claim, is_error=True)
        assert (await client.list_resources()).resources == []


def started(library: Path, **options: Any) -> "subprocess.Popen[bytes]":
    asked = command(library)
    return subprocess.Popen(  # noqa: S603
        [asked.command, *asked.args],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, **(asked.env or {})},
        **options,
    )


def sent(process: "subprocess.Popen[bytes]", *messages: bytes) -> None:
    assert process.stdin is not None
    process.stdin.write(b"".join(message + b"\n" for message in messages))
    process.stdin.flush()


def request(id_: int, method: str, **params: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": id_, "method": method, "params": params}).encode()


INITIALIZE = request(
    1,
    "initialize",
    protocolVersion="2025-06-18",
    capabilities={},
    clientInfo={"name": "test", "version": "1"},
)
INITIALIZED = b'{"jsonrpc": "2.0", "method": "notifications/initialized"}'


def test_stdout_has_the_protocol_only_whatever_a_client_sends(example_library: Path) -> None:
    process = started(example_library)
    search = request(2, "tools/call", name="search", arguments={"text": "LoRA rank"})
    odd = request(3, "tools/call", name="outline", arguments={"paper": "\x1b[2J\x00 \u202e"})
    sent(process, INITIALIZE, INITIALIZED, b"{ this is no JSON", b"\xff\xfe", b"", rb'{"a": "\ud800"}', odd, search)
    assert process.stdout is not None
    lines = [json.loads(process.stdout.readline()) for _ in range(3)]
    out, _ = process.communicate(timeout=60)
    lines += [json.loads(line) for line in out.splitlines()]
    assert all(line["jsonrpc"] == "2.0" for line in lines)
    assert sorted(line["id"] for line in lines) == [1, 2, 3]
    assert process.returncode == 0


def test_the_process_ends_when_its_client_dies_in_the_middle(example_library: Path) -> None:
    process = started(example_library)
    sent(process, INITIALIZE, INITIALIZED, request(2, "tools/call", name="search", arguments={"text": "LoRA"}))
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdout.readline()
    process.stdout.close()
    process.stdin.close()
    assert process.wait(timeout=60) == 0
    assert process.stderr is not None
    assert b"Traceback" not in process.stderr.read()
    process.stderr.close()


def test_ctrl_c_ends_it_at_once(example_library: Path) -> None:
    process = started(example_library)
    sent(process, INITIALIZE)
    assert process.stdout is not None
    process.stdout.readline()
    begun = time.monotonic()
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=30) == -signal.SIGINT
    assert time.monotonic() - begun < 10
    process.communicate()


def test_a_client_process_that_is_killed_leaves_no_server(example_library: Path, tmp_path: Path) -> None:
    script = tmp_path / "client.py"
    script.write_text(
        "import subprocess, sys\n"
        f"server = subprocess.Popen({[sys.executable, *command(example_library).args]!r}, stdin=subprocess.PIPE,"
        " stdout=subprocess.PIPE)\n"
        f"server.stdin.write({INITIALIZE + chr(10).encode()!r}); server.stdin.flush(); server.stdout.readline()\n"
        "print(server.pid, flush=True)\nimport time; time.sleep(600)\n"
    )
    client = subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE)  # noqa: S603
    assert client.stdout is not None
    server = int(client.stdout.readline())
    assert is_alive(server)
    client.kill()
    client.communicate()
    wait_until(lambda: not is_alive(server))
