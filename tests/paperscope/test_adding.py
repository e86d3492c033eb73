"""Adding files: an unchanged one costs nothing, an edited one replaces its older version, a failure changes nothing."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import pymupdf
import pytest
from numpy import float32
from numpy.typing import NDArray

from graph_store import Store
from ingest.sandbox.isolated_parser import IsolatedParser
from paperscope.library import Library, Stage
from paperscope_core.errors import ModelUnavailableError, PaperFileError, StoreReadOnlyError
from paperscope_core.models import FakeEmbedder, FakeModel, Models
from paperscope_core.settings import LimitSettings, Settings


def write_pdf(file: Path, text: str) -> Path:
    document = pymupdf.open()
    document.new_page().insert_text((72, 72), text)
    document.save(file)
    return file


class CountingEmbedder(FakeEmbedder):
    """Knows how many texts it was given."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []

    async def embed(self, texts: Sequence[str]) -> NDArray[float32]:
        self.texts += texts
        return await super().embed(texts)


@pytest.fixture
def embedder() -> CountingEmbedder:
    return CountingEmbedder()


@pytest.fixture
def library(tmp_path: Path, embedder: CountingEmbedder) -> Iterator[Library]:
    store = Store.open(tmp_path / "library")
    with Library(store=store, settings=Settings(), models=Models(embedder=embedder)) as opened:
        yield opened


@pytest.mark.slow
def test_an_unchanged_file_costs_nothing(library: Library, embedder: CountingEmbedder, tmp_path: Path) -> None:
    file = write_pdf(tmp_path / "a.pdf", "Taggers are compared.")
    stages: list[Stage] = []
    assert library.add(file, on_stage=stages.append).outcome == "added"
    assert stages[1] == Stage(name="parsing", done=1, total=1)
    assert list(map(str, stages)) == ["parsing", "parsing 1/1", "extracting entities", "embedding", "storing"]
    before = len(embedder.texts)
    stages.clear()
    assert library.add(file, on_stage=stages.append).outcome == "unchanged"
    assert (stages, len(embedder.texts)) == ([], before)


def test_an_edited_file_replaces_its_older_version(library: Library, tmp_path: Path) -> None:
    file = write_pdf(tmp_path / "a.pdf", "Taggers are compared.")
    old = library.add(file).paper
    write_pdf(file, "Parsers are compared.")
    added = library.add(file)
    assert added.outcome == "replaced"
    assert [paper.id for paper in library.papers()] == [added.paper.id]
    assert old.id != added.paper.id


def test_a_file_with_known_content_is_unchanged(library: Library, tmp_path: Path) -> None:
    first = write_pdf(tmp_path / "a.pdf", "Taggers are compared.")
    (tmp_path / "b.pdf").write_bytes(first.read_bytes())
    library.add(first)
    assert library.add(tmp_path / "b.pdf").outcome == "unchanged"
    assert len(library.papers()) == 1


def test_papers_of_another_embedder_are_embedded_again(library: Library, tmp_path: Path) -> None:
    file = write_pdf(tmp_path / "a.pdf", "Taggers are compared.")
    library.add(file)
    models = Models(embedder=FakeEmbedder(dimension=32))
    with Library(store=Store.open(tmp_path / "library"), settings=Settings(), models=models) as other:
        assert other.add(file).outcome == "replaced"
        assert other.ask("What is compared?").context.sources


def test_a_file_over_the_limit_is_refused_before_it_is_read(tmp_path: Path) -> None:
    file = tmp_path / "big.pdf"
    with file.open("wb") as out:
        out.truncate(2_000_000)
    store = Store.open(tmp_path / "library")
    settings = Settings(limits=LimitSettings(max_file_mb=1))
    with (
        Library(store=store, settings=settings, models=Models(embedder=FakeEmbedder())) as library,
        pytest.raises(PaperFileError, match=r"big\.pdf: 2 MB is over the limit of 1 MB"),
    ):
        library.add(file)


def test_nothing_is_paid_for_what_a_library_for_reading_could_not_store(library: Library, tmp_path: Path) -> None:
    library.add(write_pdf(tmp_path / "a.pdf", "Taggers are compared."))
    new = write_pdf(tmp_path / "b.pdf", "Parsers are compared.")
    model = FakeModel([])
    models = Models(embedder=FakeEmbedder(), extract=model)
    stages: list[Stage] = []
    store = Store.open(tmp_path / "library", read_only=True)
    with (
        Library(store=store, settings=Settings(), models=models) as for_reading,
        pytest.raises(StoreReadOnlyError),
    ):
        for_reading.add(new, on_stage=stages.append)
    assert (stages, model.requests) == ([], [])


@pytest.mark.slow
def test_a_failing_model_leaves_the_library_unchanged(tmp_path: Path) -> None:
    file = write_pdf(tmp_path / "a.pdf", "Taggers are compared by their scores.")
    model = FakeModel([ModelUnavailableError("down")])
    store = Store.open(tmp_path / "library")
    models = Models(embedder=FakeEmbedder(), extract=model)
    with Library(store=store, settings=Settings(), models=models) as library:
        with pytest.raises(ModelUnavailableError):
            library.add(file)
        assert library.papers() == []


def test_an_unexpected_parser_error_concerns_one_file(
    library: Library, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stumble(_self: IsolatedParser, _file: Path, **_options: object) -> None:
        raise IndexError("no such column")

    monkeypatch.setattr(IsolatedParser, "parse", stumble)
    file = write_pdf(tmp_path / "a.pdf", "Taggers are compared.")
    with pytest.raises(PaperFileError, match=r"a\.pdf.*IndexError: no such column.*please report"):
        library.add(file)


def test_a_mineru_folder_is_one_paper_identified_by_its_json(library: Library, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    folder.mkdir()
    line = {"bbox": [50, 50, 300, 60], "spans": [{"type": "text", "content": "Taggers are compared."}]}
    block = {"type": "text", "bbox": [50, 50, 300, 60], "lines": [line]}
    page = {"page_idx": 0, "page_size": [600, 800], "para_blocks": [block], "discarded_blocks": []}
    (folder / "a_middle.json").write_text(json.dumps({"pdf_info": [page]}))
    added = library.add(folder)
    assert (added.outcome, added.paper.format) == ("added", "mineru")
    assert library.add(folder).outcome == "unchanged"
