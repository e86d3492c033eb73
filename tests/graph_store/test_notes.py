"""Tags and notes in the store: they outlive newer versions of a paper, and its removal."""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace

import pytest

from graph_store import Store
from paperscope_core.errors import InputError, UnknownNoteError
from paperscope_core.locations import Location
from paperscope_core.types import Box, Note, Place
from tests.graph_store.indexed_papers import PAPER_IDS, add, make_indexed

ONE, TWO, THREE = PAPER_IDS[:3]
PLACE = Place(paper=ONE, page=2, box=Box(1.5, 2.25, 30.0, 40.125))
NOTE = Note(paper=ONE, title="On Öwls", text="To\x00 check", quote="Owls see.", places=(PLACE,))


@pytest.fixture
def store(location: Location) -> Iterator[Store]:
    with closing(Store.open(location)) as store:
        add(store, make_indexed(ONE))
        add(store, make_indexed(TWO))
        yield store


def test_papers_have_tags(store: Store) -> None:
    store.tags.change([TWO, ONE, ONE], add=["#reading list", "Ökologie/Eulen"])
    store.tags.change([ONE], add=["READING-LIST", "z"], remove=["ökologie/eulen"])
    assert dict(store.tags.all()) == {"reading-list": (ONE, TWO), "z": (ONE,), "Ökologie/Eulen": (TWO,)}
    for wrong in ("", "#", "a,b", "2024", "a" * 61, "a\n#b"):
        with pytest.raises(InputError, match="is no tag"):
            store.tags.change([ONE], add=[wrong])


def test_notes_are_found_changed_and_deleted(store: Store) -> None:
    first, second = store.notes.add(NOTE), store.notes.add(Note(paper=TWO, title="Two", text="Later"))
    assert replace(first, id="", created=0, updated=0) == replace(NOTE, text="To check")
    assert [note.id for note in store.notes.all()] == [second.id, first.id]
    assert store.notes.all(words="OWLS on check") == [first]
    assert store.notes.all(papers=[ONE], words="later") == []
    changed = store.notes.change(first.id, "Done")
    assert (changed.text, changed.places, changed.created) == ("Done", (PLACE,), first.created)
    assert store.notes.all()[0] == changed
    store.notes.delete(first.id)
    for call in (lambda: store.notes.delete(first.id), lambda: store.notes.change(first.id, "x")):
        with pytest.raises(UnknownNoteError, match=first.id):
            call()
    with pytest.raises(InputError, match="has neither"):
        store.notes.add(Note(paper=ONE, title="One", text=" "))
    with pytest.raises(InputError, match="20001 characters"):
        store.notes.add(Note(paper=ONE, title="One", text="a" * 20_001))


def test_they_stay_when_a_paper_is_replaced_or_removed(store: Store) -> None:
    store.tags.change([ONE, TWO], add=["owls"])
    store.notes.add(NOTE)
    add(store, make_indexed(THREE), replaces=ONE)
    assert store.tags.all() == {"owls": (TWO, THREE)}
    (note,) = store.notes.all(papers=[THREE])
    assert note.places == (replace(PLACE, paper=THREE),)
    store.remove(THREE)
    assert (store.tags.all(), store.notes.all()) == ({"owls": (TWO,)}, [note])
    add(store, make_indexed(THREE))
    assert store.tags.all() == {"owls": (TWO, THREE)}
