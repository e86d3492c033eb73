"""`paperscope lightrag`: a working directory comes in, and what can't be used is reported."""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from paperscope.library import Library
from paperscope_core.settings import Settings
from tests.graph_store.lightrag.test_working_dir import write

if TYPE_CHECKING:
    from tests.service.cli.conftest import Run


@pytest.mark.slow
def test_a_working_directory_is_imported(run: "Run", tmp_path: Path) -> None:
    folder = write(tmp_path / "rag")
    before = {file: file.read_bytes() for file in folder.iterdir()}
    done = run("lightrag", "import", str(folder), "--library", "lab")
    assert done.code == 0
    assert "a.txt" in done.out
    assert "2 papers, 2 entities, 1 relations" in done.err
    assert "left out: 1 documents that LightRAG has not finished" in done.err
    with Library.open(tmp_path / "lab", settings=Settings()) as library:
        assert {relation.kind for relation in library.neighbourhood("BERT").relations} == {"scores,by"}
    assert {file: file.read_bytes() for file in folder.iterdir()} == before
    again = run("lightrag", "import", str(folder), "--library", "lab")
    assert "2 papers" in again.err


def test_a_folder_that_is_none_is_reported(run: "Run", tmp_path: Path) -> None:
    done = run("lightrag", "import", str(tmp_path / "nowhere"), "--library", "lab")
    assert done.code == 2
    assert "nowhere: is no folder; name a working directory of LightRAG" in " ".join(done.err.split())


def test_others_need_a_key(run: "Run", monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LIGHTRAG_API_KEY", raising=False)
    done = run("lightrag", "serve", "--host", "0.0.0.0")  # noqa: S104
    assert done.code == 2
    assert "set LIGHTRAG_API_KEY to a secret key first" in " ".join(done.err.split())
