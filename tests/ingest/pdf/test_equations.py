"""Formulas from words and bars, and which lines are display equations."""

import pytest

from ingest.document.pages import HorizontalRule, PageContent
from ingest.pdf.equations import FoundEquation, find_equations
from ingest.pdf.fonts import glyph_text
from ingest.pdf.formula_layout import read_formula
from ingest.pdf.layout import Edges, PageLayout
from ingest.pdf.lines import fold_fractions, lines_of
from ingest.pdf.pdf_words import Word, words_of
from tests.ingest.pdf.words import chars, word


def row(text: str, x0: float, baseline: float, *, size: float = 10.0) -> list[Word]:
    words, x = [], x0
    for part in text.split():
        words.append(word(part, x, baseline, size=size))
        x = words[-1].x1 + 0.28 * size
    return words


def test_a_fraction_is_read_from_its_bar() -> None:
    words = [*row("s =", 0, 100), *row("a + b", 22, 93), word("c", 30, 107)]
    assert read_formula(words, [HorizontalRule(21, 43.6, 97.5)]) == "s = (a + b)/c"
    assert read_formula([], []) == ""


def test_a_fraction_in_a_fraction() -> None:
    words = [
        *row("s =", 0, 100),
        *row("1 −", 22, 90),
        word("a", 40, 87, size=7),
        word("b", 40, 94, size=7),
        *row("1 +", 22, 112),
        word("c", 40, 108, size=7),
        word("d", 40, 116, size=7),
    ]
    bars = [HorizontalRule(21, 45, 97.5), HorizontalRule(40, 43.5, 88), HorizontalRule(40, 43.5, 109.7)]
    assert read_formula(words, bars) == "s = (1 − a/b)/(1 + c/d)"


def test_limits_follow_their_operator() -> None:
    words = [
        word("∑", 0, 100, size=14),
        word("i=1", 0.2, 113, size=7),
        word("N", 2, 86, size=7),
        word("x", 12, 100),
        word("i", 17, 102, size=7),
    ]
    assert read_formula(words, []) == "∑_{i=1}^N x_i"


def test_scripts_keep_their_letters_together() -> None:
    words = [
        word("e", 0, 100),
        word("k", 5, 103, size=7),
        word("(I", 5, 95, size=7),
        word("i", 12, 96.5, size=5),
        word(")", 14.5, 95, size=7),
        word("y", 18, 100),
        word("2", 23, 96, size=7),
    ]
    assert read_formula(words, []) == "e_k^{(I_i)} y²"


def test_root_contains_what_its_bar_covers() -> None:
    words = [*row("σ =", 0, 100), word("√", 20, 100), *row("n − 1", 26, 100), word("m", 54, 100)]
    assert read_formula(words, [HorizontalRule(25, 50, 91)]) == "σ = sqrt(n − 1) m"


def test_root_of_a_fraction() -> None:
    words = [word("√", 0, 102), word("a", 9, 93), word("b", 9, 107)]
    bars = [HorizontalRule(5, 16, 84), HorizontalRule(6.2, 15, 97.5)]
    assert read_formula(words, bars) == "sqrt(a/b)"


def test_rows_between_delimiters_are_a_matrix() -> None:
    words = [*row("M = (", 0, 100), *row("a b", 30, 94), *row("c d", 30, 106), word(")", 44, 100)]
    assert read_formula(words, []) == "M = (a b; c d)"


def test_rows_after_a_brace_are_cases() -> None:
    words = [
        *row("f = {", 0, 100),
        *row("x if x > 0", 30, 94),
        *row("0 otherwise", 30, 106),
    ]
    assert read_formula(words, []) == "f = {x if x > 0; 0 otherwise"


def test_the_pieces_of_a_tall_delimiter_are_one() -> None:
    words = [
        *(word(piece, 0, baseline) for piece, baseline in (("⎡", 88), ("⎢", 100), ("⎣", 112))),
        *(word(letter, 8, baseline) for letter, baseline in (("a", 88), ("b", 100), ("c", 112))),
        *(word(piece, 16, baseline) for piece, baseline in (("⎤", 88), ("⎥", 100), ("⎦", 112))),
    ]
    assert read_formula(words, []) == "[a; b; c]"


def test_mathematical_letters_are_plain() -> None:
    assert read_formula([word("𝑃", 0, 100), word("=", 8, 100), word("ℝ", 16, 100)], []) == "P = ℝ"


def test_a_fraction_within_a_line_becomes_one_word() -> None:
    words = [word("K", 0, 100), word("n", 9, 96, size=7), word("m", 9, 104.5, size=7)]
    folded = fold_fractions(words, [HorizontalRule(8.5, 13, 97.8)], below=8.2)
    assert [item.text for item in folded] == ["K", "n/m"]


@pytest.mark.parametrize(
    ("code", "after", "sign"),
    [("\x12", "", "("), ("(", "", "{"), ("(", "\ufe03", "("), ("X", "", "∑"), ("t", "", "⎷"), ("\ufe03", "", " ")],
)
def test_codes_of_texs_extension_font(code: str, after: str, sign: str) -> None:
    assert glyph_text(code, font="CMEX10", after=after)[0] == sign


@pytest.mark.parametrize("font", ["Type3 (11 0 R)", "F25", "T3", ""])
def test_codes_of_texs_bitmap_fonts(font: str) -> None:
    read = [glyph_text(code, font=font)[0] for code in ("\x1c", "\x0e", "\x10", "\x15", "\x88", "a")]
    assert read == ["fi", "ffi", "“", "–", "•", "a"]


def test_greek_capitals_are_not_the_signs_that_adobe_names_like_them() -> None:
    assert [glyph_text(code, font="CMR10")[0] for code in ("\u2206", "\u2126")] == ["Δ", "Ω"]


def test_codes_of_fonts_with_a_name_are_no_ligatures() -> None:
    assert glyph_text("\x1c", font="Dingbats")[0] == "\x1c"


def equations(*placed: tuple[str, float, float]) -> list[FoundEquation]:
    """The equations of a page with lines of text (their text, x, baseline) in a column from 50 to 300."""
    letters = [char for text, x, y in placed for char in chars(text, x, y)]
    words = words_of(letters, body_font="Times")
    content = PageContent(number=1, width=350, height=500, chars=letters)
    lines = lines_of(words, gutters=())
    edges = (Edges(left=50, right=300),)
    return find_equations(PageLayout(content=content, words=tuple(words), lines=tuple(lines), edges=edges), lines)


PROSE = "we know from the text before that it"


def test_equation_number_at_the_right_or_left_edge() -> None:
    right = equations((PROSE, 50, 100), ("E = m + c", 150, 130), ("(3a)", 280, 130))
    left = equations((PROSE, 50, 100), ("E = m + c", 150, 130), ("(A.3)", 50, 130))
    assert [(item.number, item.text) for item in right] == [("3a", "E = m + c")]
    assert [(item.number, item.text) for item in left] == [("A.3", "E = m + c")]


def test_short_line_of_prose_above_an_equation_is_not_part_of_it() -> None:
    [found] = equations((PROSE, 50, 100), ("Two at once:", 65, 118), ("E = m + c", 150, 130), ("(3)", 285, 130))
    assert found.text == "E = m + c"


def test_several_numbered_rows_are_several_equations() -> None:
    found = equations(("a = b + c", 150, 130), ("(1)", 285, 130), ("d = e + f", 150, 146), ("(2)", 285, 146))
    assert [(item.number, item.text) for item in found] == [("1", "a = b + c"), ("2", "d = e + f")]


def test_enumeration_is_not_an_equation() -> None:
    assert equations(("(1)", 50, 100), ("we show that the model works", 80, 100), (PROSE, 80, 112)) == []


def test_lines_that_begin_with_an_operator_continue_an_equation() -> None:
    found = equations(
        (PROSE, 50, 80), ("f = a + b", 140, 110), ("+ c + d", 175, 131), ("+ e", 175, 152), (PROSE, 50, 180)
    )
    assert [item.text for item in found] == ["f = a + b + c + d + e"]


def test_text_between_two_formulas_parts_them() -> None:
    found = equations((PROSE, 50, 80), ("f = a + b", 153, 110), ("and", 50, 122), ("= c + d", 158, 136))
    assert [item.text for item in found] == ["f = a + b", "= c + d"]


def test_a_centred_line_of_single_letters_and_signs_is_an_equation() -> None:
    [found] = equations((PROSE, 50, 80), ("X(0) = Y(0) = 1", 140, 110), (PROSE, 50, 140))
    assert found.text == "X(0) = Y(0) = 1"
    assert equations((PROSE, 50, 80), ("where the count = 12", 130, 110), (PROSE, 50, 140)) == []


def test_a_symbol_at_the_end_of_a_paragraph_is_not_part_of_the_formula_below() -> None:
    [found] = equations((PROSE, 50, 80), ("j.", 50, 92), ("X(0) = Y(0) = 1", 140, 108), (PROSE, 50, 140))
    assert found.text == "X(0) = Y(0) = 1"
    assert equations((PROSE, 50, 80), ("d = 2 + n.", 50, 92)) == []
