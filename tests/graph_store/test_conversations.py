"""Conversations in the store."""

import json
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from graph_store import Store
from graph_store.conversations import MAX_TURNS, Conversations
from graph_store.schema import turns
from paperscope_core.codec import to_json
from paperscope_core.errors import InputError, StoreError, UnknownConversationError
from paperscope_core.types import Answer, Box, Claim, Context, Evidence, Finding, ImageFinding, Place
from tests.graph_store.indexed_papers import PAPER_IDS, add, make_indexed

PAPER = PAPER_IDS[0]
UNKNOWN = f"conversation-{'0' * 24}"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with closing(Store.open(tmp_path / "library")) as store:
        yield store


def answer_to(question: str, *, paper: str = PAPER) -> Answer:
    places = tuple(Place(paper=paper, page=page, box=Box(1.5, 2.25, 30.0, 40.125)) for page in (1, 2))
    evidence = Evidence(element=f"{paper}/passage-1", place=places[0], more_places=places[1:], quote="It is 0.83.")
    claim = Claim(text="The F1 is 0.83.", evidence=(evidence,))
    context = Context(entities=(), relations=(), sources=(), images=())
    return Answer(question=question, status="answered", text="The F1 is 0.83.", claims=(claim,), context=context)


def test_a_conversation_keeps_whole_answers(store: Store, tmp_path: Path) -> None:
    head = store.conversations.create()
    answers = [answer_to("Which F1?"), answer_to("And the recall?")]
    for answer in answers:
        store.conversations.append(head.id, answer)
    with closing(Store.open(tmp_path / "library")) as again:
        found = again.conversations.get(head.id)
    assert list(found.turns) == answers
    assert (found.head.title, found.head.questions) == ("Which F1?", 2)
    assert found.papers == {PAPER}
    assert [(turn.question, turn.papers) for turn in found.history] == [
        ("Which F1?", (PAPER,)),
        ("And the recall?", (PAPER,)),
    ]


def test_warnings_of_an_answer_that_was_stored_before_there_were_findings_become_notes(store: Store) -> None:
    head = store.conversations.create()
    stored = json.loads(to_json(answer_to("Which F1?")))
    del stored["findings"], stored["context"]["findings"]
    stored["context"]["warnings"] = []
    with store.database.write("conversations") as connection:
        for position, warnings in enumerate((["the number 0.83 is not in the cited evidence"], [])):
            value = json.dumps({**stored, "warnings": warnings})
            connection.execute(turns.insert().values(conversation=head.id, position=position, value=value))
    first, second = store.conversations.get(head.id).turns
    note = Finding(kind="note", message="the number 0.83 is not in the cited evidence")
    assert (first, second) == (replace(answer_to("Which F1?"), findings=(note,)), answer_to("Which F1?"))


def test_papers_of_which_only_an_image_was_read_are_among_those_of_the_conversation(store: Store) -> None:
    head = store.conversations.create()
    place = Place(paper="cccccccccccc", page=3, box=Box(1.0, 2.0, 3.0, 4.0))
    reading = ImageFinding(element="cccccccccccc/figure-1", crop="0" * 64, place=place, text="A bar.", relevant=True)
    store.conversations.append(head.id, replace(answer_to("Which bar?"), readings=(reading,)))
    assert store.conversations.get(head.id).papers == {PAPER, "cccccccccccc"}


def test_the_latest_answer_comes_first(tmp_path: Path) -> None:
    times = iter(range(100))
    with closing(Store.open(tmp_path)) as store:
        conversations = Conversations(store.database, clock=lambda: float(next(times)))
        first, second, third = (conversations.create(title) for title in "abc")
        conversations.append(first.id, answer_to("Which?"))
        assert [one.title for one in conversations.all()] == ["a", "c", "b"]
        assert [one.id for one in conversations.all(limit=1, offset=1)] == [third.id]
        assert conversations.count() == 3
        assert conversations.head(second.id) == second


def test_a_title_is_one_line_of_a_bounded_length(store: Store) -> None:
    head = store.conversations.create()
    head = store.conversations.append(head.id, answer_to("Which\nF1 " + "is it " * 100))
    assert head.title.startswith("Which F1 is it")
    assert len(head.title) == 200
    assert store.conversations.rename(head.id, " Scores\n of\0 taggers\u202e ").title == "Scores of taggers"
    assert store.conversations.append(head.id, answer_to("More?")).title == "Scores of taggers"
    with pytest.raises(InputError, match="title"):
        store.conversations.rename(head.id, " ")


def test_a_conversation_survives_the_removal_of_its_paper(store: Store) -> None:
    add(store, make_indexed(PAPER, names=("tagger",)))
    head = store.conversations.create()
    store.conversations.append(head.id, answer_to("Which F1?"))
    store.remove(PAPER)
    assert store.conversations.get(head.id).turns == (answer_to("Which F1?"),)


def test_a_deleted_conversation_is_gone_with_its_answers(store: Store) -> None:
    head = store.conversations.create()
    store.conversations.append(head.id, answer_to("Which F1?"))
    store.conversations.delete(head.id)
    with store.database.read() as connection:
        assert connection.exec_driver_sql("SELECT count(*) FROM turns").scalar() == 0
    for id_ in (head.id, UNKNOWN):
        with pytest.raises(UnknownConversationError, match=id_):
            store.conversations.get(id_)
        with pytest.raises(UnknownConversationError):
            store.conversations.append(id_, answer_to("Which F1?"))
        with pytest.raises(UnknownConversationError):
            store.conversations.rename(id_, "Scores")
        with pytest.raises(UnknownConversationError):
            store.conversations.delete(id_)


def test_a_full_conversation_takes_no_more(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    assert MAX_TURNS >= 100
    monkeypatch.setattr("graph_store.conversations.MAX_TURNS", 1)
    head = store.conversations.create()
    store.conversations.append(head.id, answer_to("One?"))
    with pytest.raises(InputError, match="begin another"):
        store.conversations.append(head.id, answer_to("Two?"))


def test_a_damaged_answer_is_reported(store: Store) -> None:
    head = store.conversations.create()
    store.conversations.append(head.id, replace(answer_to("Which F1?"), text="None."))
    with store.database.write() as connection:
        connection.exec_driver_sql("UPDATE turns SET value = '{}'")
    with pytest.raises(StoreError, match="damaged; delete the conversation"):
        store.conversations.get(head.id)
