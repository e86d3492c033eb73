"""Images of added papers: read once, retried after a failure, searched, shown, and removed with their paper."""

from collections.abc import Iterable
from pathlib import Path

import pymupdf
import pytest

from graph_store import Store
from paperscope.library import Library
from paperscope_core.errors import ModelError, ModelUnavailableError
from paperscope_core.models import CachedModel, FakeEmbedder, FakeModel, Models
from paperscope_core.protocols import LanguageModel
from paperscope_core.settings import Settings
from paperscope_core.types import paper_words
from tests.ingest.captioning.illustrated_papers import png, reply

SEEN = "A zebra stands beside the bars."


def write_paper(file: Path, *, words: str = "Figure 1 compares losses. Dice loss wins.") -> Path:
    """A page with a sentence, and two pictures with captions."""
    document = pymupdf.open()
    page = document.new_page()
    page.insert_text((72, 72), words)
    for number, top in ((1, 120), (2, 420)):
        page.insert_image((72, top, 372, top + 150), stream=png(f"number {number}", bars=(30 * number, 60)))
        page.insert_text((72, top + 170), f"Figure {number}: Two losses, drawn as bars.")
    document.save(file)
    return file


class Shelf:
    """Opens one library again and again, with another vision model each time."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def open(self, vision: LanguageModel | None) -> Library:
        store = Store.open(self.folder)
        cached = CachedModel(vision, store) if vision else None
        return Library(store=store, settings=Settings(), models=Models(embedder=FakeEmbedder(), vision=cached))


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    return Shelf(tmp_path / "library")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return write_paper(tmp_path / "a.pdf")


def seeing(replies: Iterable[str | ModelError] = (), *, name: str = "fake") -> FakeModel:
    return FakeModel([*replies] or (lambda _request: reply(description=SEEN)), name=name)


@pytest.mark.slow
def test_images_are_read_when_a_paper_is_added_and_the_calls_are_counted(shelf: Shelf, file: Path) -> None:
    stages: list[str] = []
    with shelf.open(seeing()) as library:
        added = library.add(file, on_stage=lambda stage: stages.append(str(stage)))
        reading = ["reading images 0/2", "reading images 1/2", "reading images 2/2"]
        assert stages[:5] == ["parsing", "parsing 1/1", *reading]
        assert (added.outcome, added.usage.calls, len(added.images.descriptions)) == ("added", 2, 2)
        assert library.images(added.paper.id) == added.images
        again = library.add(file)
        assert (again.outcome, again.usage.calls, again.images) == ("unchanged", 0, added.images)


def test_descriptions_are_searched_and_shown_and_never_quoted(shelf: Shelf, file: Path) -> None:
    with shelf.open(seeing()) as library:
        library.add(file)
        context = library.retrieve("Where does the zebra stand?")
        assert SEEN in context.sources[0].content
        assert SEEN not in paper_words(context.sources[0].content)
        answer = library.ask("Where does the zebra stand?")
        quotes = [evidence.quote for claim in answer.claims for evidence in claim.evidence]
        assert not [text for text in (answer.text, *quotes) if "zebra stands" in text]


def test_the_next_add_retries_only_the_unread_image(shelf: Shelf, file: Path) -> None:
    with shelf.open(seeing([reply(), ModelUnavailableError("no connection")])) as library:
        added = library.add(file)
        assert [reading.reason for reading in added.images.unread] == ["no connection"]
    with shelf.open(seeing([ModelUnavailableError("no connection")])) as library:
        revision = library._store.revision
        assert library.add(file).outcome == "unchanged"
        assert library._store.revision == revision
    stages: list[str] = []
    with shelf.open(seeing()) as library:
        added = library.add(file, on_stage=lambda stage: stages.append(str(stage)))
        assert (added.outcome, added.usage.calls, added.images.unread) == ("replaced", 1, ())
        assert "parsing" not in stages
        assert len(library.papers()) == 1
    with shelf.open(seeing([])) as library:
        assert library.add(file).outcome == "unchanged"


def test_the_next_add_retries_an_image_with_an_invalid_reply(shelf: Shelf, file: Path) -> None:
    with shelf.open(seeing(["half {", "half {", "half {", "half {"])) as library:
        assert len(library.add(file).images.unread) == 2
    with shelf.open(seeing()) as library:
        added = library.add(file)
        assert (added.usage.calls, len(added.images.descriptions)) == (2, 2)


def test_another_model_reads_the_images_again_and_no_model_keeps_the_readings(shelf: Shelf, file: Path) -> None:
    with shelf.open(seeing()) as library:
        first = library.add(file)
    with shelf.open(None) as library:
        assert library.add(file).outcome == "unchanged"
        assert library.images(first.paper.id) == first.images
    with shelf.open(seeing(name="other")) as library:
        second = library.add(file)
        assert (second.outcome, second.usage.calls) == ("replaced", 2)
        assert second.images.reader.startswith("other ")
    with shelf.open(seeing()) as library:
        assert library.add(file).usage.calls == 0


def test_a_changed_file_pays_only_for_what_changed(shelf: Shelf, file: Path) -> None:
    with shelf.open(seeing()) as library:
        library.add(file)
        write_paper(file, words="Figure 1 shows bars. Dice loss wins.")
        added = library.add(file)
        assert (added.outcome, added.usage.calls, added.usage.cached) == ("replaced", 1, 1)


def test_removing_a_paper_removes_its_readings_only(shelf: Shelf, file: Path, tmp_path: Path) -> None:
    other = write_paper(tmp_path / "b.pdf", words="Figure 2 compares parsers.")
    with shelf.open(seeing()) as library:
        kept = library.add(other)
        store = library._store
        before = store.indexed(kept.paper.id)
        ids = [entity.id for entity in before.extraction.entities]
        alone = (store.entities(ids), store.relations_of(ids, limit=1000))
        gone = library.add(file).paper
        assert store.entities(ids) != alone[0]
        library.remove(gone.id)
        assert (store.entities(ids), store.relations_of(ids, limit=1000)) == alone
        assert store.images(gone.id).readings == ()
        assert store.images(kept.paper.id) == before.images == kept.images
