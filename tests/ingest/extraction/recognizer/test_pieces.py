"""Pieces of words, the case of words, units of tokens, and windows."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.ner.tiny_encoder import write_encoder

from ingest.extraction.recognizer.pieces import Pieces, PieceSplitter, pack, windows


@pytest.fixture(scope="module")
def splitter(tmp_path_factory: pytest.TempPathFactory) -> PieceSplitter:
    from paperscope_lab.ner.torch_network import load_tokenizer

    return load_tokenizer(write_encoder(tmp_path_factory.mktemp("encoder")))


def test_the_ends_are_those_of_the_tokenizer(splitter: PieceSplitter) -> None:
    assert (splitter.before, splitter.after) == ((2,), (3,))


def test_units_are_tokens_that_begin_different_pieces(splitter: PieceSplitter) -> None:
    text = "in 한국 Ada"
    (pieces,) = splitter.split([text], [[(0, 1), (1, 2), (3, 4), (4, 5), (6, 7), (7, 9)]])
    # "in" and "Ada" are one piece each, and the vocabulary has no Korean letter.
    assert pieces.units == ((0, 2), (3, 5), (6, 9))
    assert pieces.firsts == (0, 1, 2)


def test_the_case_is_that_of_the_whole_word(splitter: PieceSplitter) -> None:
    text = "an NLP Paper eBay B2B ."
    (pieces,) = splitter.split([text], [[(0, 2)]])
    assert pieces.cases == (1, 1, 3, 3, 3, 2, 2, 2, 2, 2, 4, 4, 4, 4, 5, 5, 5, 0)


@settings(max_examples=20)
@given(text=st.text(max_size=20))
def test_units_lie_in_the_text_in_order(splitter: PieceSplitter, text: str) -> None:
    tokens = [(at, at + 1) for at in range(len(text))]
    (pieces,) = splitter.split([text], [tokens])
    assert list(pieces.units) == sorted(set(pieces.units))
    assert sorted(set(pieces.firsts)) == list(pieces.firsts)
    assert len(pieces.units) == len(pieces.firsts)
    assert len(pieces.cases) == len(pieces.ids)


@pytest.mark.parametrize("length", [0, 1, 10, 11, 40])
def test_each_piece_is_scored_by_one_window(length: int) -> None:
    found = list(windows([length], size=10))
    assert [piece for window in found for piece in range(window.from_, window.to)] == list(range(length))
    assert all(window.end - window.start <= 10 for window in found)
    assert all(window.start <= window.from_ and window.to <= window.end for window in found)


def test_texts_are_packed_with_their_neighbours() -> None:
    def of(length: int) -> Pieces:
        return Pieces(ids=(1,) * length, cases=(0,) * length, units=((0, 1),), firsts=(0,))

    pieces = [of(4), of(4), of(4), of(20), of(1), of(1)]
    assert pack(pieces, ["a", "a", "a", "a", "b", None], size=10) == [[0, 1], [2], [3], [4], [5]]
    joined = pieces[0] + pieces[1]
    assert joined.firsts == (0, 4)
    assert len(joined.ids) == 8
