"""Entries of a bibliography in running text."""

import pytest

from query.extractive.entries import entries

DOE = "[7] J. Doe and A. Roe. Taggers that smooth. In Proceedings of ACL, pages 1-9, 2019."
POE = "[8] B. Poe. Parsers. arXiv preprint arXiv:2001.00001, 2020."
ROE = "Ann Roe, Bob Poe, and Cy Doe. Corpora of birds. Journal of Birds, 2018."


def test_numbered_entries_are_cut_where_the_next_number_begins() -> None:
    assert entries(f"{DOE} {POE}") == [DOE, POE]


def test_the_end_of_the_entry_before_is_a_part_of_its_own() -> None:
    assert entries(f"Journal of Birds, 2018. {DOE} {POE}") == ["Journal of Birds, 2018.", DOE, POE]


def test_an_entry_without_a_number_stays_whole() -> None:
    assert entries(ROE) == [ROE]


@pytest.mark.parametrize(
    "text",
    [
        "We follow Doe [7] and Poe [9]. [3] The tagger was trained in 2019.",
        "Ann and Bob trained the tagger in 2019. It reads brackets.",
        "We use the corpus of Roe et al. (2018).",
        "",
    ],
)
def test_running_text_has_none(text: str) -> None:
    assert entries(text) == []
