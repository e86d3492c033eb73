"""Longer names that say no more than a shorter one are that one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.extraction.terms import plainer_names


@pytest.mark.parametrize(
    ("name", "home", "type_"),
    [
        ("NER task", "NER", "task"),
        ("F1 score", "F1", "metric"),
        ("BERT model", "BERT", "concept"),
        ("SST-2 dataset", "SST 2", "dataset"),
        ("English OntoNotes 5.0", "OntoNotes5.0", "dataset"),
    ],
)
def test_a_class_or_a_language_makes_no_other_name(name: str, home: str, type_: str) -> None:
    assert plainer_names([(name,), ("other", home)], ["concept", type_]) == {0: 1}


@pytest.mark.parametrize(
    ("name", "home", "type_"),
    [
        ("DSC loss", "DSC", "metric"),
        ("BERT model", "BERT", "dataset"),
        ("language model", "language", "concept"),
        ("English NER", "NER", "task"),
        ("English texts", "texts", "concept"),
    ],
)
def test_other_words_do(name: str, home: str, type_: str) -> None:
    assert plainer_names([(name,), (home,)], ["concept", type_]) == {}


def test_a_name_in_two_languages_is_two() -> None:
    names = [("Chinese OntoNotes",), ("OntoNotes",), ("English OntoNotes",)]
    assert plainer_names(names, ["dataset"] * 3) == {}


NAMES = st.lists(
    st.sampled_from(["NER", "NER task", "English NER", "F1", "F1 score", "F1 scores score", "German F1", "BERT model"]),
    unique=True,
)


@given(NAMES)
def test_homes_are_names_that_stay(names: list[str]) -> None:
    homes = plainer_names([(name,) for name in names], ["concept"] * len(names))
    assert not homes.keys() & set(homes.values())
    assert all(len(names[home]) < len(names[number]) for number, home in homes.items())
