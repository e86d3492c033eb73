"""Joining printed lines into text: hyphens, broken addresses, superscripts and subscripts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.document.line_text import join_lines, vocabulary_of


def test_hyphens_that_break_words_go_and_genuine_ones_stay() -> None:
    known = vocabulary_of(["a state-of-the-art method", "additionally it works", "the cross entropy loss"])
    assert join_lines(["addition-", "ally"], known) == "additionally"
    assert join_lines(["state-of-the-", "art"], known) == "state-of-the-art"
    assert join_lines(["cross-", "entropy"], known) == "cross-entropy"
    assert join_lines(["F1-", "Score"], known) == "F1-Score"
    assert join_lines(["AB-", "STRACTION"], known) == "ABSTRACTION"


@pytest.mark.parametrize(
    ("lines", "text"),
    [
        (["pages 105–", "114."], "pages 105–114."),
        (["Computing, 35:", "22199–22213"], "Computing, 35:22199–22213"),
        (["Intelligence, 45(1):", "1–26"], "Intelligence, 45(1):1–26"),
        (["see https://a.org/meta-llama/", "Llama-3.1-70B"], "see https://a.org/meta-llama/Llama-3.1-70B"),
        (["https://doi.org/10.", "1016/j.", "ijhcs.2020.102498"], "https://doi.org/10.1016/j.ijhcs.2020.102498"),
        (["https://doi.org/10.18653/", "v1/2020.main.553"], "https://doi.org/10.18653/v1/2020.main.553"),
        (["https://a.org/some-", "thing"], "https://a.org/some-thing"),
        (["https://a.org/", "Accessed 2020"], "https://a.org/ Accessed 2020"),
        (["https://a.org/page.", "2019."], "https://a.org/page. 2019."),
        (["In 2019:", "12 papers"], "In 2019: 12 papers"),
        (["from 3 –", "the others"], "from 3 – the others"),
    ],
)
def test_broken_addresses_and_ranges_are_joined(lines: list[str], text: str) -> None:
    assert join_lines(lines) == text


@pytest.mark.parametrize(
    ("lines", "text"),
    [
        (["RoBERTa-", "large wins"], "RoBERTa-large wins"),
        (["an F1-", "oriented loss; F1"], "an F1-oriented loss; F1"),
        (["McDon-", "ald wins"], "McDonald wins"),
        (["PROMPT-", "ING"], "PROMPTING"),
        (["the RNN and the CRF", "as RNN-", "CRF here"], "the RNN and the CRF as RNN-CRF here"),
        (["on FB15K-", "YAGO15K."], "on FB15K-YAGO15K."),
        (["a supervised task", "the self-super-", "vised one"], "a supervised task the self-supervised one"),
        (["a cross-browser-", "compatible page"], "a cross-browser-compatible page"),
        (["with binary-", "cross-entropy"], "with binary-cross-entropy"),
        (["under a graduate", "an under-", "graduate"], "under a graduate an undergraduate"),
    ],
)
def test_a_coded_name_keeps_its_hyphen(lines: list[str], text: str) -> None:
    assert join_lines(lines, vocabulary_of(lines)) == text


@pytest.mark.parametrize(
    ("lines", "text"),
    [
        (["at https://a.example/", "b_c."], "at https://a.example/b_c."),
        (["at https://a.example/b-", "c now"], "at https://a.example/b-c now"),
        (["at https://a.example/", "for all"], "at https://a.example/ for all"),
        (["at https://a.example", "or b/c"], "at https://a.example or b/c"),
    ],
)
def test_an_address_is_whole_over_lines(lines: list[str], text: str) -> None:
    assert join_lines(lines) == text


def test_halves_of_broken_words_are_not_in_the_vocabulary() -> None:
    known = vocabulary_of(["in addition", "an addition-", "ally broken word"])
    assert join_lines(["addition-", "ally"], known) == "additionally"


@given(st.lists(st.text(alphabet="abcdef", min_size=1, max_size=8), min_size=1, max_size=6))
def test_joining_keeps_every_letter(lines: list[str]) -> None:
    assert join_lines(lines).replace(" ", "") == "".join(lines)
