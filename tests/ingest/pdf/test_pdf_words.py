"""Characters to words, without a PDF library."""

from ingest.document.pages import Char
from ingest.pdf.pdf_words import fold_initials, words_of
from tests.ingest.pdf.words import chars, word


def letters_of(text: str, *, space: float, apart: float = 0.0) -> list[Char]:
    """Letters 5 pt wide and so far apart, with so much more between words."""
    x, letters = 0.0, []
    for letter in text:
        if letter == " ":
            x += space
            continue
        letters.append(Char(letter, x, x + 5, 100, 10.0, "Times", False, False))
        x += 5 + apart
    return letters


def test_words_are_cut_at_gaps() -> None:
    words = words_of(chars("two words", 0, 10) + chars("below", 0, 22), body_font="Times")
    assert [item.text for item in words] == ["two", "words", "below"]


def test_narrow_spaces_part_words_where_all_other_letters_abut() -> None:
    narrow = letters_of("Mixture of words", space=1.3)
    assert [item.text for item in words_of(narrow, body_font="Times")] == ["Mixture", "of", "words"]
    spaced_out = letters_of("Mixture of words", space=0.6, apart=0.7)
    assert [item.text for item in words_of(spaced_out, body_font="Times")] == ["Mixtureofwords"]


def test_tail_of_a_ligature_is_before_the_next_letter() -> None:
    spots = [("f", 0.0, 5.0), ("i", 5.001, 5.001), ("l", 5.0, 7.0), ("e", 7.0, 12.0)]
    letters = [Char(letter, x0, x1, 100, 10.0, "Times", False, False) for letter, x0, x1 in spots]
    assert [item.text for item in words_of(letters, body_font="Times")] == ["file"]


def test_ligature_before_a_kerned_letter_stays_whole() -> None:
    spots = [("f", 0.0, 5.0), ("i", 5.0, 5.0), ("v", 4.8, 9.0), ("e", 9.0, 14.0)]
    letters = [Char(letter, x0, x1, 100, 10.0, "Times", False, False) for letter, x0, x1 in spots]
    assert [item.text for item in words_of(letters, body_font="Times")] == ["five"]


def test_an_accent_over_its_letter_is_composed() -> None:
    pair = [
        Char("´", 5.2, 8.2, 10, 10, "Times", False, False),
        Char("e", 5, 10, 10, 10, "Times", False, False),
    ]
    assert words_of([*chars("l", 0, 10), *pair], body_font="Times")[0].text == "lé"


def test_an_accent_belongs_to_the_nearer_of_two_letters() -> None:
    spots = [("a", 26.98, 30.9), ("´", 27.05, 30.95), ("n", 30.8, 35.11), ("˜", 31.08, 34.98), ("e", 35.11, 38.58)]
    letters = [Char(letter, x0, x1, 10, 6.9, "CMR7", False, False) for letter, x0, x1 in spots]
    assert [item.text for item in words_of(letters, body_font="Times")] == ["áñe"]


def test_an_accent_set_far_back_over_its_letter_stays_in_the_word() -> None:
    spots = [("r", 3.95, 7.12), ("u", 7.2, 11.69), ("¨", 7.33, 11.39), ("n", 11.69, 16.18)]
    letters = [Char(letter, x0, x1, 10, 7.0, "CMR7", False, False) for letter, x0, x1 in spots]
    assert [item.text for item in words_of(letters, body_font="Times")] == ["rün"]


def test_an_initial_joins_the_word_beside_its_top() -> None:
    words = [word("I", 50, 112, size=24), word("N", 66, 100), word("this", 74, 100), word("text", 66, 112)]
    assert [item.text for item in fold_initials(words)] == ["IN", "this", "text"]


def test_an_initial_that_is_a_word_stays_one() -> None:
    words = [word("A", 50, 112, size=24), word("model", 66, 100), word("text", 66, 112), word("model", 66, 124)]
    assert fold_initials(words)[0].text == "A model"
