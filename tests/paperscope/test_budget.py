"""Estimates of adds, budgets that stop an add, and chunks without a usable reply."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pymupdf
import pytest

from graph_store import Store
from paperscope.library import Library
from paperscope_core.errors import BudgetError
from paperscope_core.models import Budget, FakeEmbedder, build_models
from paperscope_core.settings import Settings, load_settings
from paperscope_core.types import Usage
from tests.model_server import Body, ModelServer, echo, kind_of, serve, words

pytestmark = pytest.mark.slow

PROSE = "The Tagger reads a Sentence of the Corpus, and the Parser reads what the Tagger wrote about the Words. "


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with serve() as started:
        yield started


@pytest.fixture
def paper(tmp_path: Path) -> Path:
    return write_paper(tmp_path / "paper.md")


def write_paper(file: Path, *, change: str = "") -> Path:
    sections = "\n\n".join(f"## Section {number}\n\n{f'Number {number}. ' + PROSE * 12}" for number in range(1, 9))
    file.write_text(f"# On Taggers\n\n{sections}\n\n## Closing\n\nWe close here. {change}\n")
    return file


def settings_of(server: ModelServer) -> Settings:
    extract = {"model": "m", "base_url": server.url, "price_prompt": 1.0, "price_completion": 2.0}
    overrides = {"extract": {**extract, "tokens_per_call": 400}, "calls.retries": 0}
    return load_settings(environ={}, overrides=overrides)


@pytest.fixture
def opened(tmp_path: Path, server: ModelServer) -> Iterator[Callable[..., Library]]:
    """Opens the library of a test, with a budget or without."""
    libraries: list[Library] = []

    def open_library(budget: Budget | None = None) -> Library:
        for library in libraries:
            library.close()
        settings = settings_of(server)
        store = Store.open(tmp_path / "library")
        models = replace(build_models(settings, store, budget=budget), embedder=FakeEmbedder())
        libraries[:] = [Library(store=store, settings=settings, models=models)]
        return libraries[0]

    yield open_library
    for library in libraries:
        library.close()


def estimated(library: Library, *files: Path) -> list[Usage]:
    estimator = library.estimator()
    work = (estimator.estimate(file, on_stage=lambda _: None) for file in files)
    return [library.wait(one).total for one in work]


def test_an_estimate_has_the_number_of_calls_and_sends_nothing(
    opened: Callable[..., Library], server: ModelServer, paper: Path, tmp_path: Path
) -> None:
    library = opened()
    copy = write_paper(tmp_path / "copy.md", change="This is another Ending.")
    expected, of_copy = estimated(library, paper, copy)
    assert server.bodies == []
    assert library.papers() == []
    assert (tmp_path / "library" / "crops").exists() is False or not list((tmp_path / "library" / "crops").iterdir())
    spent = library.add(paper).usage
    assert expected.calls == spent.calls == len(server.bodies) > 4
    assert expected.prompt_tokens == pytest.approx(spent.prompt_tokens, rel=0.5)
    assert expected.cost > 0
    assert estimated(library, paper) == [Usage()], "an unchanged file costs nothing"
    assert of_copy.calls == estimated(library, copy)[0].calls == library.add(copy).usage.calls
    assert 0 < of_copy.calls <= 2, "what both papers say is counted, and paid for, once"


def test_a_changed_file_pays_for_what_changed_only(
    opened: Callable[..., Library], server: ModelServer, paper: Path
) -> None:
    library = opened()
    before = library.add(paper).usage.calls
    server.bodies.clear()
    write_paper(paper, change="The Ending is new.")
    (expected,) = estimated(library, paper)
    added = library.add(paper)
    assert added.outcome == "replaced"
    assert expected.calls == added.usage.calls == len(server.bodies) <= 2 < before
    assert all("The Ending is new." in words(body) for body in server.bodies)


def test_an_add_stopped_by_its_budget_continues_with_a_new_one(
    opened: Callable[..., Library], server: ModelServer, paper: Path
) -> None:
    (whole,) = estimated(opened(), paper)
    for number in range(1, 4):
        library = opened(Budget(max_calls=2))
        with pytest.raises(BudgetError, match="budget of 2 model calls is spent"):
            library.add(paper)
        assert len(server.bodies) == 2 * number
        assert library.papers() == []
        (left,) = estimated(library, paper)
        assert (left.calls, left.cached) == (whole.calls - 2 * number, 2 * number)
    assert opened().add(paper).usage.calls == whole.calls - 6
    assert len(server.names) == len(set(server.names)) == whole.calls


def test_the_cost_stays_within_the_budget(opened: Callable[..., Library], server: ModelServer, paper: Path) -> None:
    (whole,) = estimated(opened(), paper)
    budget = Budget(max_cost=whole.cost / 2)
    with pytest.raises(BudgetError, match="allows no further call"):
        opened(budget).add(paper)
    assert 0 < len(server.bodies) < whole.calls
    assert budget.spent.cost <= whole.cost / 2


def test_a_rate_limit_slows_an_add_and_takes_nothing_from_the_budget(
    opened: Callable[..., Library], server: ModelServer, paper: Path
) -> None:
    (whole,) = estimated(opened(), paper)
    server.refuse = [429] * 5
    server.retry_after = 0.01
    added = opened(Budget(max_calls=whole.calls)).add(paper)
    assert (added.outcome, added.usage.calls) == ("added", whole.calls)
    assert added.shortfall.unread == ()


def test_unread_chunks_are_stored_with_the_paper_and_retried(
    opened: Callable[..., Library], server: ModelServer, paper: Path
) -> None:
    def stubborn(body: Body) -> str:
        return "I won't." if "Number 3." in words(body) else echo(body)

    server.reply = stubborn
    library = opened()
    added = library.add(paper)
    assert added.shortfall.unread
    assert library.shortfall(added.paper.id) == added.shortfall
    server.bodies.clear()
    (expected,) = estimated(library, paper)
    assert expected.calls == 1
    again = library.add(paper)
    assert (again.outcome, again.usage.calls, len(server.bodies)) == ("unchanged", 2, 2)
    server.reply = echo
    assert library.add(paper).outcome == "replaced"
    assert library.shortfall(added.paper.id).unread == ()
    assert library.add(paper).usage == Usage()


def test_budget_and_estimate_cover_text_and_images(tmp_path: Path, root: Path, server: ModelServer) -> None:
    file = tmp_path / "pages.pdf"
    with pymupdf.open(root / "examples" / "paper" / "ner-report.pdf") as document:
        document.select([3, 4])
        document.save(file)
    role = {"model": "m", "base_url": server.url, "price_prompt": 1.0, "price_completion": 1.0}
    overrides = {"extract": {**role, "tokens_per_call": 400}, "vision": role}
    settings = load_settings(environ={}, overrides=overrides)

    def opened(budget: Budget | None = None) -> Library:
        store = Store.open(tmp_path / "library")
        models = replace(build_models(settings, store, budget=budget), embedder=FakeEmbedder())
        return Library(store=store, settings=settings, models=models)

    with opened() as library:
        expected = library.wait(library.estimator().estimate(file, on_stage=lambda _: None)).roles
    assert min(expected["extract"].calls, expected["vision"].calls) > 3
    with opened(Budget(max_calls=9)) as library, pytest.raises(BudgetError):
        library.add(file)
    assert len(server.names) == 9
    with opened() as library:
        added = library.add(file)
    assert len(server.names) == len(set(server.names))
    known = sum(kind_of(body) in ("entities", "image_description") for body in server.bodies)
    # Names that the model finds, which no estimate knows, may take further calls to be judged and summarised.
    assert known <= expected["extract"].calls + expected["vision"].calls <= len(server.names)
    assert (added.images.unread, added.shortfall.unread, added.shortfall.unjudged) == ((), (), ())
