"""The parser's pure rules, on words that no PDF library has touched."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.document.captions import normalized_label
from ingest.document.geometry import join_rules
from ingest.document.headings import is_references_title, split_number
from ingest.document.line_text import join_lines, script_text, vocabulary_of
from ingest.document.pages import Char, HorizontalRule
from ingest.pdf.captions import find_captions
from ingest.pdf.columns import find_gutters, reading_order
from ingest.pdf.line_numbers import find_line_numbers
from ingest.pdf.lines import line_of, lines_of
from ingest.pdf.words import Word, words_of
from paperscope_core.types import Box
from tests.ingest.pdf.words import chars, sentence, word


def test_words_are_cut_at_gaps() -> None:
    words = words_of(chars("two words", 0, 10) + chars("below", 0, 22), body_font="Times")
    assert [item.text for item in words] == ["two", "words", "below"]


def test_narrow_spaces_part_words_where_all_other_letters_abut() -> None:
    narrow = letters_of("Mixture of words", space=1.3)
    assert [item.text for item in words_of(narrow, body_font="Times")] == ["Mixture", "of", "words"]
    spaced_out = letters_of("Mixture of words", space=0.6, apart=0.7)
    assert [item.text for item in words_of(spaced_out, body_font="Times")] == ["Mixtureofwords"]


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


def test_the_tail_of_a_ligature_stands_before_the_next_letter() -> None:
    spots = [("f", 0.0, 5.0), ("i", 5.001, 5.001), ("l", 5.0, 7.0), ("e", 7.0, 12.0)]
    letters = [Char(letter, x0, x1, 100, 10.0, "Times", False, False) for letter, x0, x1 in spots]
    assert [item.text for item in words_of(letters, body_font="Times")] == ["file"]


def test_a_ligature_stays_whole_where_the_next_letter_is_kerned_into_it() -> None:
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


def test_a_superscript_joins_its_line_legibly() -> None:
    lines = lines_of([word("tasks", 0, 100), word("2", 25, 96, size=6), word("show", 31, 100)], gutters=())
    assert [line.text for line in lines] == ["tasks² show"]


def test_lines_are_cut_at_the_gutter() -> None:
    words = [word("left", 0, 10), word("side", 23, 10), word("right", 49.5, 10)]
    assert [line.text for line in lines_of(words, gutters=(46,))] == ["left side", "right"]
    assert [line.text for line in lines_of(words, gutters=())] == ["left side right"]


@pytest.mark.parametrize(
    ("text", "raised", "expected"),
    [
        ("2", True, "²"),
        ("10", False, "₁₀"),
        ("t", False, "_t"),
        ("ij", False, "_ij"),
        ("k,l", False, "_(k,l)"),
        ("†", True, "†"),
        ("±0.2", False, "±0.2"),
    ],
)
def test_scripts(text: str, raised: bool, expected: str) -> None:
    assert script_text(text, raised=raised) == expected


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
def test_an_address_or_range_that_a_line_end_cuts_is_joined(lines: list[str], text: str) -> None:
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


def test_halves_of_broken_words_are_no_vocabulary() -> None:
    known = vocabulary_of(["in addition", "an addition-", "ally broken word"])
    assert join_lines(["addition-", "ally"], known) == "additionally"


@given(st.lists(st.text(alphabet="abcdef", min_size=1, max_size=8), min_size=1, max_size=6))
def test_joining_keeps_every_letter(lines: list[str]) -> None:
    assert join_lines(lines).replace(" ", "") == "".join(lines)


@pytest.mark.parametrize(
    ("word_", "number", "label"),
    [
        ("Tab.", "5", "Table 5"),
        ("TABLE", "S1", "Table S1"),
        ("Fig.", "3", "Figure 3"),
        ("Figures", "A.2", "Figure A.2"),
    ],
)
def test_labels_are_normalised(word_: str, number: str, label: str) -> None:
    assert normalized_label(word_, number) == label


def test_a_caption_goes_on_until_its_pitch_breaks() -> None:
    lines = [
        line_of(sentence("Fig. 3. A very long caption that", 0, 100)),
        line_of(sentence("goes on here.", 0, 111)),
        line_of(sentence("Running text after a gap.", 0, 140)),
    ]
    [caption] = find_captions(lines, gutter=None)
    assert (caption.kind, caption.label) == ("figure", "Figure 3")
    assert caption.text == "A very long caption that goes on here."
    assert len(caption.lines) == 2


def test_a_caption_in_small_capitals_stands_centred_below_its_label() -> None:
    wide = sentence("THE SPARSE MODEL HELPS BEYOND THE TASK", 330, 109, size=6.4)
    below = sentence("IT WAS MADE FOR", 0, 118, size=6.4)
    middle = (wide[0].x0 + wide[-1].x1) / 2
    lines = [line_of(centred(words, middle)) for words in (sentence("TABLE IV", 0, 100, size=8), wide, below)]
    for gutter in (None, middle - 10):
        [caption] = find_captions(lines, gutter=gutter)
        assert caption.label == "Table IV"
        assert caption.text == "THE SPARSE MODEL HELPS BEYOND THE TASK IT WAS MADE FOR"


def test_a_caption_hangs_from_its_first_word_and_ends_at_the_first_row() -> None:
    first = sentence("Table 1: The regular", 50, 100)
    hang = first[2].x0
    lines = [
        line_of(first),
        line_of(sentence("estimator.", hang, 111)),
        line_of(sentence("Size", 58, 122)),
        line_of(sentence("Description", hang, 122)),
    ]
    [caption] = find_captions(lines, gutter=None)
    assert caption.text == "The regular estimator."


def centred(words: list[Word], middle: float) -> list[Word]:
    shift = middle - (words[0].x0 + words[-1].x1) / 2
    return [replace(word, x0=word.x0 + shift, x1=word.x1 + shift) for word in words]


def test_a_sentence_about_a_table_is_no_caption() -> None:
    lines = [line_of(sentence("Table 4 shows that it works", 0, 100)), line_of(sentence("As in Table 3: no", 0, 112))]
    assert find_captions(lines, gutter=None) == []


def test_a_gutter_is_found_between_two_columns_only() -> None:
    two = [
        item
        for row in range(30)
        for item in (*sentence("x" * 40, 50, 100 + 12 * row), word("y" * 40, 310, 100 + 12 * row))
    ]
    one = [item for row in range(30) for item in sentence("many words " * 8, 50, 100 + 12 * row)]
    [[gutter], none] = find_gutters([(600.0, two), (600.0, one)])
    assert 250 < gutter < 310
    assert none == ()


def test_the_gap_behind_the_numbers_of_a_list_is_no_gutter() -> None:
    left = [word("x" * 48, 50, 100 + 12 * row) for row in range(30)]
    right = [
        item for row in range(10) for item in (word("[1]", 310, 100 + 12 * row), word("y" * 40, 332, 100 + 12 * row))
    ]
    title = word("a" * 11, 270, 80)
    [[gutter]] = find_gutters([(600.0, [*left, *right, title])])
    assert 290 < gutter < 310


def test_a_page_with_a_wide_abstract_over_two_columns_takes_the_gutter_of_the_others() -> None:
    def columns(top: int, rows: int) -> list[Word]:
        return [
            item
            for row in range(rows)
            for x, shift in ((50, 0), (310, 5))
            for item in sentence("some plain words stand here and there", x, top + shift + 12 * row)
        ]

    abstract = [item for row in range(12) for item in sentence("many words " * 8, 50, 100 + 12 * row)]
    first, *_ = find_gutters(
        [(600.0, abstract + columns(280, 9)), (600.0, columns(100, 30)), (600.0, columns(100, 30))]
    )
    assert len(first) == 1
    alone, *_ = find_gutters([(600.0, abstract), (600.0, columns(100, 30)), (600.0, columns(100, 30))])
    assert alone == ()


def test_three_columns_of_running_text_are_told_from_a_table_of_three() -> None:
    text = [
        item
        for row in range(30)
        for x in (40, 240, 440)
        for item in sentence("some plain words " * 2, x, 90 + 12 * row)
    ]
    [found] = find_gutters([(650.0, text)])
    assert [round(x / 100) for x in found] == [2, 4]
    table = [word("cell" * 8, x, 90 + 12 * row) for row in range(30) for x in (40, 240, 440)]
    assert find_gutters([(650.0, table)]) == [()]


def test_raised_numbers_before_the_entries_of_a_list_are_no_line_numbers() -> None:
    entries = [item for row in range(25) for item in sentence("some words of an entry", 60, 100 + 20 * row)]
    marks = [word(str(row + 1), 52, 97 + 20 * row, size=6) for row in range(25)]
    assert find_line_numbers([entries + marks]) == [[]]


def test_line_numbers_are_told_from_numbers_in_the_text() -> None:
    text = [item for row in range(24) for item in sentence("7 plain words stand here", 60, 100 + 12 * row)]
    ruler = [word(str(row + 41), 30, 100 + 12 * row, size=6) for row in range(24)]
    assert find_line_numbers([text + ruler]) == [[ruler]]
    counted = [word(str(row + 1), 60, 400 + 12 * row) for row in range(20)]
    assert find_line_numbers([text + counted]) == [[]]


@given(st.permutations(list(range(8))))
def test_reading_order_goes_column_by_column_between_wide_items(order: list[int]) -> None:
    boxes = [
        Box(50, 20, 550, 40),
        *(Box(50, 60 + 20 * row, 290, 70 + 20 * row) for row in range(3)),
        *(Box(310, 60 + 20 * row, 550, 70 + 20 * row) for row in range(3)),
        Box(50, 140, 550, 160),
    ]
    shuffled = [boxes[index] for index in order]
    assert reading_order(shuffled, box=lambda box: box, gutters=(300.0,)) == boxes


def test_dashes_and_abutting_rules_join_but_meant_gaps_stay() -> None:
    dashes = [HorizontalRule(x, x + 3, 10) for x in range(0, 60, 6)]
    borders = [HorizontalRule(0, 50, 30), HorizontalRule(50.5, 100, 30)]
    groups = [HorizontalRule(0, 50, 50), HorizontalRule(55, 100, 50)]
    assert len(join_rules(dashes)) == 1
    assert join_rules(borders) == [HorizontalRule(0, 100, 30)]
    assert join_rules(groups) == groups


@pytest.mark.parametrize(
    ("text", "number", "title"),
    [
        ("4.2 Results", "4.2", "Results"),
        ("1. Introduction", "1", "Introduction"),
        ("A.1 Data", "A.1", "Data"),
        ("IV. METHOD", "IV", "METHOD"),
        ("Conclusion", "", "Conclusion"),
    ],
)
def test_heading_numbers(text: str, number: str, title: str) -> None:
    assert split_number(text) == (number, title)


def test_the_bibliography_is_known_by_its_title() -> None:
    assert is_references_title("7 References")
    assert is_references_title("Bibliography")
    assert is_references_title("REFERENCES AND NOTES")
    assert is_references_title("Notes and references")
    assert not is_references_title("Results")
