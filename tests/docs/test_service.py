"""The guide to the service agrees with the code, and its examples run."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from paperscope_core.settings import load_settings
from service.http.shutdown import CLOSING_SECONDS
from tests.service.servers import serve_app

ADDRESS = "http://127.0.0.1:8000"


@pytest.fixture(scope="module")
def page(root: Path) -> str:
    return (root / "docs/guides/service.md").read_text()


def blocks(page: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", page, flags=re.DOTALL | re.MULTILINE)


def test_the_longest_shutdown_is_documented(page: str) -> None:
    assert f"at the latest {CLOSING_SECONDS:g} s after that time" in re.sub(r"\s+", " ", page)


@pytest.mark.slow
def test_the_examples_run(page: str, root: Path, example_library: Path, tmp_path: Path) -> None:
    """In the order of the page, on one service whose library already holds the example paper."""
    library = shutil.copytree(example_library, tmp_path / "library")
    given = {"library": str(library), "service.keys": str(tmp_path / "keys.json")}
    with serve_app(load_settings(environ={}, overrides=given)) as address:
        serve, *commands = blocks(page, "bash")
        assert serve.startswith("paperscope serve")
        shell = "\n".join(block for block in commands if ADDRESS in block and "KEY" not in block)
        done = subprocess.run(  # noqa: S603
            ["/bin/bash", "-ec", shell.replace(ADDRESS, address)], cwd=root, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        assert '"state":"queued"' in done.stdout.replace('": "', '":"')
        assert "0.9687" in done.stdout
        (python,) = blocks(page, "python")
        done = subprocess.run(  # noqa: S603
            [sys.executable, "-c", python.replace(ADDRESS, address)],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        assert "256" in done.stdout
        assert "Sources:" in done.stdout
