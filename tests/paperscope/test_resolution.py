"""A model's verdicts on names are stored with the paper, asked for once, and removed with it."""

import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from graph_store import Store
from paperscope.library import Library
from paperscope_core.models import CachedModel, FakeEmbedder, FakeModel, Models
from paperscope_core.settings import Settings
from paperscope_core.types import Extraction, ModelRequest, Verdict
from tests.paperscope.test_adding import write_pdf

ISSUE, PROBLEM = "class imbalance issue", "class imbalance problem"
TEXT = f"We study the {ISSUE} in tagging. The {PROBLEM} is hard."


def same(request: ModelRequest) -> str:
    pairs = re.findall(r"^(P\d+) \[", request.messages[1].text, re.MULTILINE)
    return json.dumps({"pairs": [{"pair": pair, "reason": "Two words for it.", "same": True} for pair in pairs]})


def replying(judge: Callable[[ModelRequest], str] = same) -> FakeModel:
    """Names what the text holds; `judge` replies where names are to be judged."""

    def reply(request: ModelRequest) -> str:
        if request.schema_name == "same_names":
            return judge(request)
        text = request.messages[-1].text
        [passage] = re.findall(r"<<<(C1) ", text)
        found = [
            {"chunk": passage, "mention": name, "type": "concept", "description": f"The {name} is studied."}
            for name in (ISSUE, PROBLEM)
        ]
        return json.dumps({"entities": found, "relations": []})

    return FakeModel(reply)


@contextmanager
def opened(folder: Path, model: FakeModel) -> Iterator[tuple[Library, Store]]:
    store = Store.open(folder)
    models = Models(embedder=FakeEmbedder(), extract=CachedModel(model, store))
    with Library(store=store, settings=Settings(), models=models) as library:
        yield library, store


def judged(model: FakeModel) -> int:
    return sum(request.schema_name == "same_names" for request in model.requests)


def extraction_of(store: Store) -> Extraction:
    [entry] = store.entries()
    return store.indexed(entry.id).extraction


@pytest.mark.slow
def test_a_verdict_is_stored_and_removed_with_its_paper(tmp_path: Path) -> None:
    file = write_pdf(tmp_path / "a.pdf", TEXT)
    model = replying()
    with opened(tmp_path / "library", model) as (library, store):
        added = library.add(file)
        assert (added.usage.calls, judged(model)) == (2, 1)
        extraction = extraction_of(store)
        assert Verdict(names=(ISSUE, PROBLEM), same=True, reason="Two words for it.") in extraction.verdicts
        [entity] = store.entities([PROBLEM, ISSUE]).values()
        assert {entity.name, *entity.aliases} >= {ISSUE, PROBLEM}
        assert library.add(file).outcome == "unchanged"
        library.remove(file.name)
        assert store.entities([PROBLEM, ISSUE]) == {}
        assert library.add(file).usage.calls == 0
        assert extraction_of(store) == extraction


def test_names_without_a_verdict_are_judged_by_the_next_add(tmp_path: Path) -> None:
    file = write_pdf(tmp_path / "a.pdf", TEXT)
    broken = ["none either", "no JSON"]
    model = replying(lambda request: broken.pop() if broken else same(request))
    with opened(tmp_path / "library", model) as (library, store):
        added = library.add(file)
        assert (ISSUE, PROBLEM) in [unjudged.names for unjudged in added.shortfall.unjudged]
        assert set(store.entities([ISSUE, PROBLEM])) == {ISSUE, PROBLEM}
        again = library.add(file)
        assert (again.outcome, again.usage.calls, again.shortfall.unjudged) == ("replaced", 1, ())
        assert len(store.entities([ISSUE, PROBLEM])) == 1
        assert library.add(file).outcome == "unchanged"


def test_an_estimate_counts_the_call_for_verdicts(tmp_path: Path) -> None:
    file = write_pdf(tmp_path / "a.pdf", f"{TEXT} So we weigh the {ISSUE}. And we solve the {PROBLEM}.")
    model = replying()
    with opened(tmp_path / "library", model) as (library, _):
        expected = library.wait(library.estimator().estimate(file, on_stage=lambda _: None)).roles["extract"]
        assert model.requests == []
        assert library.add(file).usage.calls == expected.calls == 2
