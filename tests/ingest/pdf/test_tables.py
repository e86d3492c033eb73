"""The rules that turn words and rules into tables, without a PDF library."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.document.cell_values import is_annotation, is_value
from ingest.document.pages import HorizontalRule, PageContent
from ingest.pdf.captions import Caption, find_captions
from ingest.pdf.layout import PageLayout
from ingest.pdf.lines import Line, fold_fractions, line_of, lines_of
from ingest.pdf.pdf_words import Word
from ingest.pdf.tables.find import find_tables
from ingest.pdf.tables.grid import read_grid
from ingest.pdf.tables.regions import without_running_rules
from ingest.pdf.tables.table_columns import Strip, columns_of
from ingest.pdf.tables.table_values import PrintedRow, TableRegion
from paperscope_core.types import Box
from tests.ingest.pdf.words import sentence, word

VALUES = st.integers(min_value=100, max_value=999).map(lambda number: f"{number / 10:.1f}")


def grid_of(
    rows: Sequence[Sequence[tuple[float, str]]],
    *,
    rules: Sequence[float],
    partial: Sequence[tuple[float, float, float]] = (),
    width: float = 300,
    bands: Sequence[float] = (),
) -> list[list[str]]:
    """Read rows 12 pt apart, each of (x, text), the first baseline at 10."""
    words = [item for row, texts in enumerate(rows) for x, text in texts for item in sentence(text, x, 10 + 12 * row)]
    grid = read_grid(
        TableRegion(
            box=Box(0, rules[0], width, rules[-1]),
            words=tuple(words),
            rules=tuple(rules),
            partial=tuple(HorizontalRule(*rule) for rule in partial),
        ),
        bands=bands,
    )
    height = max(cell.row + cell.row_span for cell in grid.cells)
    columns = max(cell.column + cell.column_span for cell in grid.cells)
    result = [[""] * columns for _ in range(height)]
    for cell in grid.cells:
        result[cell.row][cell.column] = cell.text
    return result


@pytest.mark.parametrize(
    "text", ["92.11", "-", "1,234", "12.5%", "(0.3)", "59.49/60.92", "92.11 (+0.81)", "4.98 ± 0.02", "170K"]
)
def test_values(text: str) -> None:
    assert is_value(text)


@pytest.mark.parametrize("text", ["Model", "F1", "BERT (2018)", "Prec.", "Acc"])
def test_texts_that_are_not_values(text: str) -> None:
    assert not is_value(text)


def test_annotations() -> None:
    assert is_annotation("(+0.81)")
    assert not is_annotation("0.81")


def test_a_plain_table() -> None:
    rows = [
        [(0, "Model"), (100, "Prec."), (150, "F1")],
        [(0, "Our model"), (100, "91.0"), (150, "92.5")],
        [(0, "BERT"), (150, "90.1")],
    ]
    assert grid_of(rows, rules=[0, 14, 40]) == [
        ["Model", "Prec.", "F1"],
        ["Our model", "91.0", "92.5"],
        ["BERT", "", "90.1"],
    ]


def test_values_side_by_side_stay_apart_below_a_title_over_both() -> None:
    values = [(0, "Ours"), (100, "75.2"), (125, "63.9"), (160, "51.0")]
    rows = [
        [(0, "Model"), (100, "Corr"), (125, "Cite"), (160, "Fluency")],
        values,
        [(98, "Closed book")],
        values,
        values,
    ]
    body = grid_of(rows, rules=[0, 14, 66])
    assert [row[1:] for row in body if row[0] == "Ours"] == 3 * [["75.2", "63.9", "51.0"]]


def test_a_rule_over_two_titles_groups_them_even_if_it_is_as_wide_as_its_own_title() -> None:
    rows = [
        [(101, "Citations"), (170, "Answer")],
        [(0, "Model"), (100, "Corr"), (123, "Cite"), (170, "F1"), (190, "EM")],
        [(0, "ours"), (100, "75.2"), (123, "63.9"), (170, "5.1"), (190, "7.2")],
        [(0, "theirs"), (100, "71.2"), (123, "60.9"), (170, "4.1"), (190, "6.2")],
    ]
    grid = grid_of(rows, rules=[0, 26, 50], partial=[(99, 145, 14), (169, 206, 14)])
    assert grid[:2] == [["", "Citations", "", "Answer", ""], ["Model", "Corr", "Cite", "F1", "EM"]]


def test_a_label_between_two_rows_is_that_of_both() -> None:
    printed = [
        (10, [(0, "plain"), (60, "Exp"), (120, "9.87")]),
        (22, [(60, "Exp"), (120, "4.10")]),
        (28, [(0, "nested")]),
        (34, [(60, "Sph"), (120, "3.74")]),
    ]
    head = sentence("Model", 0, -2) + sentence("Kind", 60, -2) + sentence("Error", 120, -2)
    words = [*head, *(each for y, row in printed for x, text in row for each in sentence(text, x, y))]
    region = TableRegion(box=Box(0, -10, 200, 40), words=tuple(words), rules=(-10, 1, 40))
    spans = {cell.text: (cell.row, cell.row_span) for cell in read_grid(region).cells if cell.column == 0}
    assert spans == {"Model": (0, 1), "plain": (1, 1), "nested": (2, 2)}


def test_a_label_in_the_last_row_of_a_block_is_not_that_of_the_rows_above() -> None:
    rows = [
        [(0, "Set"), (80, "Kind"), (150, "F1")],
        [(80, "small"), (150, "1.0")],
        [(80, "large"), (150, "2.0")],
        [(0, "dev"), (80, "total"), (150, "3.0")],
    ]
    assert grid_of(rows, rules=[0, 14, 52])[1:] == [["", "small", "1.0"], ["", "large", "2.0"], ["dev", "total", "3.0"]]


def test_a_rule_far_below_the_top_is_not_that_of_the_header() -> None:
    names = [(0, "Name"), (80, "Meaning")]
    rows = [names, *([(0, f"item{index}"), (80, "what it is")] for index in range(14))]
    assert len(grid_of(rows, rules=[0, 150, 190])) == len(rows)
    words = [item for row, texts in enumerate(rows) for x, text in texts for item in sentence(text, x, 10 + 12 * row)]
    assert read_grid(TableRegion(box=Box(0, 0, 300, 190), words=tuple(words), rules=(0, 150, 190))).header_rows == 1


def centred(rows: Sequence[Sequence[tuple[float, Sequence[str]]]], *, gap: float) -> list[list[str]]:
    """Read rows whose texts are centred vertically; lines are 12 pt apart, rows further by the gap."""
    words: list[Word] = []
    bands: list[float] = []
    y = 10.0
    for row in rows:
        height = max(len(lines) for _, lines in row)
        bands.append(y - 10)
        for x, lines in row:
            top = y + 6 * (height - len(lines))
            words += [each for line, text in enumerate(lines) for each in sentence(text, x, top + 12 * line)]
        y += 12 * height + gap
    box = Box(0, 0, 300, y)
    grid = read_grid(TableRegion(box=box, words=tuple(words), rules=(0, 16, y)), bands=bands[1:])
    return [[cell.text for cell in grid.cells if cell.row == row] for row in sorted(grid.rows)]


def test_rows_whose_texts_are_centred_on_each_other() -> None:
    short, long = (
        ["a label of", "two lines"],
        ["one text that is", "printed in lines", "until the column", "has no room left"],
    )
    rows = [
        [(0, ["Name"]), (60, ["Kind"]), (150, ["Meaning"])],
        [(0, ["Alpha"]), (60, short), (150, long[:3])],
        [(0, ["Beta"]), (60, short[:1]), (150, long)],
        [(0, ["Gamma"]), (60, short), (150, long[:1])],
    ]
    assert centred(rows, gap=8) == [[" ".join(lines) for _, lines in row] for row in rows]


def test_values_beside_the_label_of_their_block_are_rows() -> None:
    values = [["11.5", "12.5", "13.5"], ["0.15", "0.25", "0.35"]]
    rows = [
        [(0, ["Name"]), (60, ["Cost"]), (150, ["Score"])],
        [(0, ["Alpha"]), (60, values[0]), (150, values[1])],
        [(0, ["Beta"]), (60, values[0]), (150, values[1])],
    ]
    assert [row[-2:] for row in centred(rows, gap=8)[1:4]] == [["11.5", "0.15"], ["12.5", "0.25"], ["13.5", "0.35"]]


def test_partial_rules_group_columns() -> None:
    rows = [
        [(110, "First"), (210, "Second")],
        [(0, "Model"), (100, "A"), (150, "B"), (200, "A"), (250, "B")],
        [(0, "ours"), (100, "1.0"), (150, "2.0"), (200, "3.0"), (250, "4.0")],
        [(0, "theirs"), (100, "5.0"), (150, "6.0"), (200, "7.0"), (250, "8.0")],
    ]
    grid = grid_of(rows, rules=[0, 26, 50], partial=[(98, 172, 15), (198, 272, 15)])
    assert grid[0] == ["", "First", "", "Second", ""]
    assert grid[1] == ["Model", "A", "B", "A", "B"]
    assert grid[3] == ["theirs", "5.0", "6.0", "7.0", "8.0"]


def test_one_rule_under_titles_with_wide_spaces_groups_columns() -> None:
    rows = [
        [(105, "Out"), (124, "of"), (138, "it"), (210, "Few"), (229, "shot")],
        [(0, "Model"), (100, "A"), (150, "B"), (200, "A"), (250, "B")],
        [(0, "ours"), (100, "1.0"), (150, "2.0"), (200, "3.0"), (250, "4.0")],
        [(0, "theirs"), (100, "5.0"), (150, "6.0"), (200, "7.0"), (250, "8.0")],
    ]
    grid = grid_of(rows, rules=[0, 26, 50], partial=[(98, 272, 15)])
    assert grid[:2] == [["", "Out of it", "", "Few shot", ""], ["Model", "A", "B", "A", "B"]]


def test_a_title_centred_over_its_columns_is_not_cut() -> None:
    rows = [
        [(86, "Zeros shots"), (205, "Others")],
        [(0, "Model"), (85, "Hits"), (120, "Rank"), (200, "Hits"), (235, "Rank")],
        [(0, "ours"), (88, "1.0"), (123, "2.0"), (203, "3.0"), (238, "4.0")],
        [(0, "theirs"), (88, "5.0"), (123, "6.0"), (203, "7.0"), (238, "8.0")],
    ]
    grid = grid_of(rows, rules=[0, 26, 50], width=260)
    assert grid[:2] == [["", "Zeros shots", "", "Others", ""], ["Model", "Hits", "Rank", "Hits", "Rank"]]


def test_annotation_below_a_value_joins_it() -> None:
    rows = [
        [(0, "Model"), (100, "F1"), (150, "EM")],
        [(0, "ours"), (100, "91.0"), (150, "80.0")],
        [(95, "(+0.5)"), (145, "(+0.7)")],
        [(0, "theirs"), (100, "90.5"), (150, "79.3")],
    ]
    assert grid_of(rows, rules=[0, 14, 50])[1:] == [
        ["ours", "91.0 (+0.5)", "80.0 (+0.7)"],
        ["theirs", "90.5", "79.3"],
    ]


def test_a_label_halfway_down_names_its_block() -> None:
    rows = [[(0, "Set"), (80, "Model"), (150, "F1")], [(80, "small"), (150, "1.0")], [(80, "large"), (150, "2.0")]]
    words = [word(text, x, 10 + 12 * row) for row, texts in enumerate(rows) for x, text in texts]
    words.append(word("dev", 0, 28))
    grid = read_grid(TableRegion(box=Box(0, 0, 200, 40), words=tuple(words), rules=(0, 14, 40)))
    [label] = [cell for cell in grid.cells if cell.text == "dev"]
    assert (label.row, label.column, label.row_span, label.role) == (1, 0, 2, "row_header")
    assert grid.header_rows == 1


def test_a_value_in_a_block_of_its_own_names_no_rows() -> None:
    head = sentence("Model", 0, -2) + sentence("F1", 60, -2) + sentence("Gain", 120, -2)
    printed = [(10, [(0, "plain"), (60, "91.2"), (120, "9.8")]), (25, [(0, "dice"), (60, "93.4"), (120, "3.7")])]
    rows = [*printed, (37, [(120, "4.1")]), (52, [(0, "focal"), (60, "92.5"), (120, "5.6")])]
    words = [*head, *(each for y, row in rows for x, text in row for each in sentence(text, x, y))]
    region = TableRegion(box=Box(0, -10, 200, 56), words=tuple(words), rules=(-10, 1, 14, 41, 56))
    found = {cell.text: (cell.row_span, cell.role) for cell in read_grid(region).cells}
    assert found["dice"] == (2, "row_header")
    assert found["93.4"] == (1, "value")


def page_of(rows: Sequence[tuple[float, Sequence[tuple[float, str]]]], rules: Sequence[float]) -> PageLayout:
    """A page of one column, 300 by 400, of rows (baseline, texts by x) and full-width rules from 0 to 300."""
    lines = [line_of(sentence(text, x, baseline), size=10) for baseline, texts in rows for x, text in texts]
    content = PageContent(
        number=1,
        width=300,
        height=400,
        chars=(),
        horizontal=tuple(HorizontalRule(0, 300, y) for y in rules),
    )
    return PageLayout(
        content=content,
        words=tuple(item for line in lines for item in line.words),
        lines=tuple(lines),
        captions=tuple(find_captions(lines, gutter=None)),
    )


def table_rows(first: float, count: int) -> list[tuple[float, Sequence[tuple[float, str]]]]:
    """A header row at `first` and `count` body rows, 12 pt apart."""
    header: list[tuple[float, Sequence[tuple[float, str]]]] = [(first, [(0, "Model"), (270, "F1")])]
    return header + [(first + 12 * row, [(0, f"row{row}"), (270, f"9{row}.0")]) for row in range(1, count + 1)]


def rules_left(pages: Sequence[PageLayout]) -> list[list[float]]:
    return [[rule.y for rule in page.content.horizontal] for page in without_running_rules(pages)]


def test_last_rule_of_tables_at_the_foot_of_three_pages_is_not_furniture() -> None:
    pages = [
        page_of([(380 - 12 * (count + 1), [(0, "Table 1: Scores.")]), *table_rows(380 - 12 * count, count)], rules)
        for count, rules in ((3, [330, 346, 382]), (4, [318, 334, 382]), (6, [294, 310, 382]))
    ]
    assert rules_left(pages) == [[330, 346, 382], [318, 334, 382], [294, 310, 382]]


def test_rules_at_the_head_of_three_pages_are_furniture() -> None:
    empty = page_of([(12, [(0, "Our paper")])], [16])
    captioned_above = page_of(
        [(12, [(0, "Our paper")]), (30, [(0, "Table 1: Scores.")]), *table_rows(50, 3)], [16, 38, 54, 90]
    )
    captioned_below = page_of([(12, [(0, "Our paper")]), *table_rows(50, 3), (104, [(0, "Table 1: A.")])], [16, 38, 90])
    assert rules_left([empty, captioned_above, captioned_below]) == [[], [38, 54, 90], [38, 90]]


def test_a_table_without_a_last_rule_keeps_its_body() -> None:
    page = page_of([(100, [(0, "Table 1: Scores.")]), *table_rows(130, 4)], [112, 134])
    [table] = find_tables([page])
    assert [cell.text for cell in table.grid.cells if cell.column == 0] == ["Model", "row1", "row2", "row3", "row4"]


COEFFICIENTS = [
    [(0, "Model"), (60, "Lag"), (110, "Growth"), (180, "Fit")],
    [(0, "Sticky")],
    [(60, "0.468"), (180, "0.216")],
    [(60, "(0.076)")],
    [(110, "0.587"), (180, "0.203")],
    [(110, "(0.110)")],
]


@pytest.mark.parametrize("bands", [(), (14, 40, 62)])
def test_estimates_and_their_errors_are_rows_below_the_name_of_their_block(bands: Sequence[float]) -> None:
    body = grid_of(COEFFICIENTS, rules=[0, 14, 74], width=200, bands=bands)[1:]
    assert body == [
        ["Sticky", "", "", ""],
        ["", "0.468", "", "0.216"],
        ["", "(0.076)", "", ""],
        ["", "", "0.587", "0.203"],
        ["", "", "(0.110)", ""],
    ]


def test_lines_across_the_table_that_do_not_wrap_are_rows() -> None:
    notes = ["Sensitivity = 100%", "Specificity = 63% in all of the samples", "Predictive value = 74%"]
    rows = [[(0, "Clinical diagnosis"), (110, "Positive"), (160, "Total")]]
    rows += [[(0, name), (110, "55"), (160, "74")] for name in ("Positive", "Negative", "Total")]
    found = grid_of([*rows, *([(0, note)] for note in notes)], rules=[0, 14, 90], width=200)
    assert [row[0] for row in found[4:]] == notes


def test_rules_around_most_rows_are_around_each_row() -> None:
    rows: list[list[tuple[float, str]]] = [[(0, "Disease"), (80, "Years"), (160, "Cost")]]
    rows += [[(0, name), (80, "1986–2008"), (160, "610")] for name in ("malaria", "rinderpest", "polio")]
    rows[2:2] = [[(0, "smallpox"), (80, "1967–1979"), (160, "98 (abroad)")], [(160, "298 (total)")]]
    found = grid_of(rows, rules=[0, 14, 26, 50, 62, 74], width=240)
    assert found[2] == ["smallpox", "1967–1979", "98 (abroad) 298 (total)"]
    assert len(found) == 5


def test_the_second_line_of_a_label_may_be_in_the_second_of_its_rows() -> None:
    rows = [
        [(0, "Site"), (80, "Variable"), (160, "Base")],
        [(0, "Intervention"), (80, "Prevalence"), (160, "64")],
        [(10, "(prawn)"), (80, "Infection"), (160, "11")],
        [(80, "Eggs"), (160, "31")],
        [(0, "Control"), (80, "Prevalence"), (160, "30")],
        [(80, "Eggs"), (160, "65")],
    ]
    assert [row[0] for row in grid_of(rows, rules=[0, 14, 74], width=200)] == [
        *("Site", "Intervention (prawn)", "", "", "Control", "")
    ]


def test_a_title_of_two_lines_is_at_the_level_at_which_it_is_printed() -> None:
    rows = [
        [(100, "Positive")],
        [(100, "per"), (190, "Rate")],
        [(60, "No"), (100, "100"), (190, "ratio")],
        *([(0, "Smear"), (60, "23"), (100, "2.6"), (190, "5.5")] for _ in "123"),
    ]
    found = grid_of(rows, rules=[0, 38, 74], partial=[(60, 150, 14)], width=220)
    assert [row[3] for row in found[:2]] == ["", "Rate ratio"]


def test_a_filled_band_above_the_rules_is_the_header() -> None:
    page = page_of([(100, [(0, "Table 1: Scores.")]), *table_rows(130, 4)], [158, 172, 184])
    fill = Box(page.content.horizontal[0].x0, 120, page.content.horizontal[0].x1, 134)
    [table] = find_tables([replace(page, content=replace(page.content, fills=(fill,)))])
    assert [cell.text for cell in table.grid.cells if cell.column == 0] == ["Model", "row1", "row2", "row3", "row4"]


def test_lines_half_a_line_below_others_are_of_the_table() -> None:
    rows: list[tuple[float, Sequence[tuple[float, str]]]] = [(130, [(0, "Name"), (100, "Kind"), (200, "Meaning")])]
    for top in (150, 190, 230):
        text = [(100, "of two lines"), (200, "a text of lines")]
        rows += [(top, text), (top + 6, [(0, "label")]), (top + 12, text)]
    [found] = find_tables([page_of([(100, [(0, "Table 1: Scores.")]), *rows], [])])
    table = replace(found, grid=read_grid(found.parts[0].region, bands=(138, 174, 214)))
    texts = ["label", "of two lines of two lines", "a text of lines a text of lines"]
    assert [cell.text for cell in table.grid.cells] == ["Name", "Kind", "Meaning", *(3 * texts)]


def test_a_rule_that_extends_beyond_the_text_is_that_of_the_header() -> None:
    head: list[tuple[float, Sequence[tuple[float, str]]]] = [
        (130, [(6, "Model"), (200, "Test")]),
        (142, [(6, "name"), (200, "score")]),
    ]
    body = [(142 + 12 * row, [(6, f"row{row}"), (200, f"9{row}.0")]) for row in range(1, 6)]
    page = page_of([(100, [(0, "Table 1: Scores.")]), *head, *body], [146])
    [table] = find_tables([page])
    assert [cell.text for cell in table.grid.cells if cell.role == "column_header"] == ["Model name", "Test score"]


def test_a_row_above_a_table_with_a_header_is_not_of_the_table() -> None:
    page = page_of(
        [(100, [(0, "Table 1: Scores.")]), (122, [(0, "Left"), (250, "Right")]), *table_rows(136, 4)], [126, 140, 188]
    )
    [table] = find_tables([page])
    assert [cell.text for cell in table.grid.cells if cell.row == 0] == ["Model", "F1"]


def wrapped_rows(pitches: Sequence[float]) -> list[list[str]]:
    """Two rows of wrapped texts in three columns, under a header; the pitches are those of their printed lines."""
    rows = [
        [(0, "Report"), (60, "Systems"), (200, "Score")],
        [(0, "first"), (60, "one long text that goes"), (200, "Entity F1")],
        [(60, "on below"), (200, "89.5 (x)")],
        [(0, "second"), (60, "another long text that"), (200, "Entity F1")],
        [(60, "goes on and on and on"), (200, "90.5")],
        [(60, "twice")],
    ]
    baselines = [10.0, 26.0]
    for pitch in pitches:
        baselines.append(baselines[-1] + pitch)
    words = [
        item
        for baseline, texts in zip(baselines, rows, strict=True)
        for x, text in texts
        for item in sentence(text, x, baseline)
    ]
    bottom = baselines[-1] + 4
    grid = read_grid(TableRegion(box=Box(0, 0, 260, bottom), words=tuple(words), rules=(0, 14, bottom)))
    result = [["", "", ""] for _ in range(1 + max(cell.row for cell in grid.cells))]
    for cell in grid.cells:
        result[cell.row][cell.column] = cell.text
    return result


def test_lines_are_joined_into_rows_by_their_leading() -> None:
    assert wrapped_rows([12, 15, 12, 12])[1:] == [
        ["first", "one long text that goes on below", "Entity F1 89.5 (x)"],
        ["second", "another long text that goes on and on and on twice", "Entity F1 90.5"],
    ]


def test_words_of_a_narrow_column_wrap_where_lines_are_closer_than_rows() -> None:
    rows = [
        (10, ["Topic", "What is done", "Who"]),
        (26, ["Random", "all samples that the", "groups of"]),
        (38, ["regions", "teachers brought with", "teachers"]),
        (50, ["", "them"]),
        (66, ["Control", "the rest of the very", "students"]),
        (78, ["phases", "same samples", "of it"]),
    ]
    words = [
        item
        for baseline, texts in rows
        for x, text in zip((0, 50, 170), texts, strict=False)
        if text
        for item in sentence(text, x, baseline)
    ]
    assert grid_beside_caption(words, rules=(0, 14, 82))[1:] == [
        ["Random regions", "all samples that the teachers brought with them", "groups of teachers"],
        ["Control phases", "the rest of the very same samples", "students of it"],
    ]


def test_space_between_groups_of_rows_does_not_join_rows() -> None:
    groups = [
        (10, ["Model", "Size", "F1"]),
        (26, ["BERT", "base", "90.1"]),
        (38, ["", "large", "91.2"]),
        (54, ["GPT2", "base", "88.0"]),
        (66, ["", "large", "89.3"]),
        (82, ["ELMo", "small", "80.5"]),
        (94, ["ULM", "small", "80.1"]),
    ]
    words = [
        word(text, x, baseline)
        for baseline, texts in groups
        for x, text in zip((0, 50, 100), texts, strict=True)
        if text
    ]
    grid = read_grid(TableRegion(box=Box(0, 0, 130, 98), words=tuple(words), rules=(0, 14, 98)))
    assert [cell.text for cell in grid.cells if cell.column == 2] == [texts[2] for _, texts in groups]


def test_named_rows_of_texts_between_two_rules_stay_apart() -> None:
    rows = [
        [(0, "Report"), (60, "Systems and what they do")],
        [(0, "first"), (60, "one long text that goes")],
        [(60, "onwards from here")],
        [(0, "second"), (60, "another long text that")],
        [(60, "goes on from here")],
    ]
    assert grid_of(rows, rules=[0, 14, 64], width=180)[1:] == [
        ["first", "one long text that goes onwards from here"],
        ["second", "another long text that goes on from here"],
    ]


def test_wrapped_rows_at_one_pitch_end_where_a_text_had_room_for_more() -> None:
    rows = [
        [(0, "Kind"), (100, "Description")],
        [(0, "Live coding or"), (100, "Instructors write some code and")],
        [(0, "demonstrations"), (100, "invite people to follow.")],
        [(0, "Tasks"), (100, "All are invited to solve a short")],
        [(100, "exercise on their own.")],
        [(0, "Continuous and"), (100, "Students are asked at the end of")],
        [(0, "anonymous notes"), (100, "the day.")],
    ]
    assert grid_of(rows, rules=(0, 14, 90)) == [
        ["Kind", "Description"],
        ["Live coding or demonstrations", "Instructors write some code and invite people to follow."],
        ["Tasks", "All are invited to solve a short exercise on their own."],
        ["Continuous and anonymous notes", "Students are asked at the end of the day."],
    ]


def test_columns_of_single_words_do_not_wrap() -> None:
    rows = [
        [(0, "Display"), (80, "Extract"), (160, "Modify")],
        [(0, "print()"), (80, "number"), (160, "update()")],
        [(0, "summarise()"), (80, "coefs()")],
        [(0, "plot()"), (80, "effects"), (160, "other()")],
        [(80, "likelihood()")],
        [(80, "residuals()")],
    ]
    read = grid_of(rows, rules=(0, 14, 74))
    assert [row[1] for row in read] == [dict(row).get(80, "") for row in rows]


def test_functions_of_a_group_between_rules_are_rows() -> None:
    rows = [
        [(0, "Group"), (60, "Function"), (140, "Description")],
        [(0, "core"), (60, "mosaic()"), (140, "function for mosaic plots")],
        [(60, "sieve()"), (140, "function for sieve plots")],
        [(60, "assoc()"), (140, "function for other plots")],
        [(0, "legend"), (60, "fixed()"), (140, "a fixed number of bins")],
        [(60, "resbased()"), (140, "an arbitrary number of bins")],
    ]
    read = grid_of(rows, rules=(0, 14, 50, 74))
    assert [row[1:] for row in read] == [[dict(row)[60], dict(row)[140]] for row in rows]


def test_two_identifiers_between_rules_are_two_rows() -> None:
    rows = [
        [(0, "Function"), (120, "Description")],
        [(0, "print()"), (120, "a display with the coefficients")],
        [(0, "summary()"), (120, "the output of a regression, in a")],
        [(120, "list with all of its errors")],
        [(0, "linear_hypothesis()"), (120, "the coefficients of the model")],
    ]
    assert [row[0] for row in grid_of(rows, rules=(0, 14, 50, 64), width=290)] == [
        "Function",
        "print()",
        "summary()",
        "linear_hypothesis()",
    ]


def test_paragraphs_between_rules_are_one_row_if_most_rows_are() -> None:
    rows = [
        [(0, "Item"), (60, "Text")],
        [(0, "Question"), (60, "What is the mass of this sample?")],
        [(60, "Give it in grams:")],
        [(60, "0.355")],
        [(0, "Principle"), (60, "A reaction takes place when two")],
        [(60, "salts are mixed in some water.")],
        [(0, "Answer"), (60, "The number of moles of the salt is")],
        [(60, "the number of moles of the other.")],
    ]
    assert grid_of(rows, rules=(0, 14, 50, 74, 98), width=240, bands=(14, 50, 74))[1:] == [
        ["Question", "What is the mass of this sample? Give it in grams: 0.355"],
        ["Principle", "A reaction takes place when two salts are mixed in some water."],
        ["Answer", "The number of moles of the salt is the number of moles of the other."],
    ]


def test_commas_and_broken_words_and_brackets_continue_a_row() -> None:
    rows = [
        [(0, "Method"), (120, "Code")],
        [(0, "Sorting into Neigh-"), (120, "size,")],
        [(0, "bourhoods"), (120, "mean")],
        [(0, "Tests for the marg-"), (120, "MH")],
        [(0, "ins (McNemar, etc.)")],
        [(0, "Tendency"), (120, "VAT")],
    ]
    assert grid_of(rows, rules=(0, 14, 74), width=145)[1:] == [
        ["Sorting into Neighbourhoods", "size, mean"],
        ["Tests for the margins (McNemar, etc.)", "MH"],
        ["Tendency", "VAT"],
    ]


def test_a_title_below_a_row_of_values_is_not_its_second_line() -> None:
    rows = [
        [(0, "Name"), (80, "F1")],
        [(0, "Nova with more"), (80, "81.5")],
        [(0, "Other results")],
        [(0, "Raven with all"), (80, "79.1")],
        [(0, "of its parts")],
        [(0, "Orion"), (80, "75.0")],
    ]
    assert [row[0] for row in grid_of(rows, rules=(0, 14, 74), width=110)[1:]] == [
        "Nova with more",
        "Other results",
        "Raven with all of its parts",
        "Orion",
    ]


def test_rows_of_names_that_fill_their_columns_stay_apart() -> None:
    rows = [
        [(0, "Encoder of ours"), (100, "Corpus")],
        [(0, "BERT-base-cased"), (100, "SQuAD-with-noise")],
        [(0, "RoBERTa-large-v"), (100, "QuoRef-shortened")],
        [(0, "XLNet-large-cas"), (100, "HotPotQA-in-full")],
    ]
    assert len(grid_of(rows, rules=(0, 14, 60))) == 4


@given(
    st.integers(2, 6).flatmap(
        lambda columns: st.lists(st.lists(VALUES, min_size=columns, max_size=columns), min_size=1, max_size=8)
    )
)
def test_any_full_grid_of_values_is_read_back(values: list[list[str]]) -> None:
    columns = len(values[0])
    header = [(0.0, "Model"), *((100.0 + 40 * index, f"M{chr(65 + index)}") for index in range(columns))]
    body = [
        [(0.0, f"row{chr(97 + row)}"), *((100.0 + 40 * index, value) for index, value in enumerate(line))]
        for row, line in enumerate(values)
    ]
    bottom = 10 + 12 * len(values) + 4
    grid = grid_of([header, *body], rules=[0, 14, bottom], width=100 + 40 * columns)
    assert [row[1:] for row in grid[1:]] == values
    assert [row[0] for row in grid[1:]] == [f"row{chr(97 + row)}" for row in range(len(values))]


def test_strip_that_words_cross_is_not_a_column() -> None:
    lines = [line_of([word("reaching", 100, y)]) for y in (10, 22)]
    rows = [PrintedRow(baseline=line.baseline, segments=(line,)) for line in lines]
    columns = columns_of(rows, [Strip(x0=104, x1=108), Strip(x0=112, x1=116)], em=10)
    assert columns.intervals == ((100, 140),)


def lines(*texts: tuple[float, float, str]) -> list[Line]:
    """Lines of (x, baseline, text)."""
    return lines_of([item for x, baseline, text in texts for item in sentence(text, x, baseline)], gutters=())


def only_caption(found: list[Caption]) -> Caption:
    [caption] = found
    return caption


def test_the_lines_of_a_caption_may_hang_below_its_text() -> None:
    start = sentence("Table 1: Results", 0, 10)[2].x0
    page = lines((0, 10, "Table 1: Results of the larger"), (start, 22, "systems on both"), (start, 34, "test sets."))
    caption = only_caption(find_captions(page, gutter=None))
    assert caption.text == "Results of the larger systems on both test sets."


def test_a_caption_ends_at_the_rule_of_its_table() -> None:
    page = lines((0, 10, "Table 1: Results of the larger systems"), (0, 22, "Model"))
    rule = HorizontalRule(0, 200, 13)
    assert only_caption(find_captions(page, gutter=None, rules=[rule])).text == "Results of the larger systems"
    assert only_caption(find_captions(page, gutter=None)).text.endswith("Model")


def grid_beside_caption(words: list[Word], *, rules: tuple[float, ...]) -> list[list[str]]:
    grid = read_grid(TableRegion(box=Box(0, rules[0], 220, rules[-1]), words=tuple(words), rules=rules))
    height = max(cell.row + cell.row_span for cell in grid.cells)
    rows = [[""] * len(grid.columns) for _ in range(height)]
    for cell in grid.cells:
        for row in range(cell.row, cell.row + cell.row_span):
            rows[row][cell.column] = cell.text
    return rows


def test_a_label_halfway_down_its_rows_names_all_of_them() -> None:
    rows = [["Set", "Model", "F1"]]
    rows += [[("", "One", "", "", "Two", "")[number], f"System{number}", f"9{number}.5"] for number in range(6)]
    words = [
        word(text, x, 10 + 12 * index)
        for index, row in enumerate(rows)
        for x, text in zip((0, 60, 160), row, strict=True)
        if text
    ]
    assert [row[0] for row in grid_beside_caption(words, rules=(0, 90))] == [
        "Set",
        "One",
        "One",
        "One",
        "Two",
        "Two",
        "Two",
    ]


def confidence_of(rows: list[list[str]], *, ruled: bool = True, wide: float = 60) -> float:
    words = [
        item
        for index, row in enumerate(rows)
        for column, text in enumerate(row)
        for item in sentence(text, column * wide, 10 + 12 * index)
    ]
    box = Box(0, 0, 220, 12 * len(rows) + 6)
    return read_grid(TableRegion(box=box, words=tuple(words), rules=(0, 14, box.y1), ruled=ruled)).confidence


def test_confidence_of_a_full_and_of_a_doubtful_grid() -> None:
    plain = [["Model", "Cost", "Score"], *([f"System{row}", f"{row}.25", f"9{row}.5"] for row in range(6))]
    grouped = [[("", "One", "", "", "Two", "")[row], f"System{row}", f"9{row}.5"] for row in range(6)]
    merged = [["Model", "Score"], *([f"System{row} {row}.25", f"9{row}.5"] for row in range(6))]
    untitled = [["Model", "", "Score"], *plain[1:]]
    assert confidence_of(plain) == 1.0
    assert confidence_of([["Set", "Model", "F1"], *grouped]) == 1.0
    assert 0.5 < confidence_of(plain, ruled=False) < 1.0
    assert confidence_of(merged, wide=120) <= 0.5
    assert confidence_of(untitled) <= 0.5


def test_wrapped_cells_make_a_table_without_rules() -> None:
    texts = [("Set", "Content", "n"), ("One", "two surveys", "12"), ("", "by phone", ""), ("", "and post", "")]
    texts += [("Two", "reviews of", "345"), ("", "each record", ""), ("", "by hand", "")]
    page = lines(
        (0, 10, "Table 1: What the sets hold."),
        *(
            (x, 30 + 12 * row, text)
            for row, cells in enumerate(texts)
            for x, text in zip((0, 60, 160), cells, strict=True)
            if text
        ),
    )
    layout = PageLayout(
        content=PageContent(number=1, width=300, height=400, chars=()),
        words=tuple(item for line in page for item in line.words),
        lines=tuple(page),
        captions=tuple(find_captions(page, gutter=None)),
    )
    [table] = find_tables([layout])
    found = {(cell.row, cell.column): cell.text for cell in table.grid.cells}
    assert found[1, 1] == "two surveys by phone and post"
    assert found[2, 1] == "reviews of each record by hand"
    assert len(found) == 9


def table_below_caption(*texts: tuple[float, float, str], width: float = 300) -> list[list[str]]:
    """The only table of a page with texts of (x, baseline, text), of which the first is a caption."""
    page = lines(*texts)
    layout = PageLayout(
        content=PageContent(number=1, width=width, height=400, chars=()),
        words=tuple(item for line in page for item in line.words),
        lines=tuple(page),
        captions=tuple(find_captions(page, gutter=None)),
    )
    [table] = find_tables([layout])
    result = [[""] * len(table.grid.columns) for _ in range(1 + max(cell.row for cell in table.grid.cells))]
    for cell in table.grid.cells:
        result[cell.row][cell.column] = cell.text
    return result


WRAPPED = [("Name", "Content"), ("One", "two surveys that went"), ("", "by phone and by post"), ("", "to all of them")]
WRAPPED += [
    ("Two", "reviews of each paper"),
    ("", "by hand"),
    ("Three", "records of the library"),
    ("", "of each year"),
]


def test_two_columns_of_wrapped_texts_make_a_table_without_rules() -> None:
    cells = [
        (x, 30 + 12 * row, text)
        for row, pair in enumerate(WRAPPED)
        for x, text in zip((60, 120), pair, strict=True)
        if text
    ]
    assert table_below_caption((0, 10, "Table 1: What the sets hold."), *cells)[1:] == [
        ["One", "two surveys that went by phone and by post to all of them"],
        ["Two", "reviews of each paper by hand"],
        ["Three", "records of the library of each year"],
    ]


def test_the_end_of_a_paragraph_is_not_a_row_of_the_table_below() -> None:
    rows = [("Name", "Kind", "F1"), ("One", "small", "81.5"), ("Two", "large", "83.0"), ("Six", "small", "79.1")]
    cells = [
        (x, 42 + 12 * row, text)
        for row, texts in enumerate(rows)
        for x, text in zip((60, 120, 180), texts, strict=True)
    ]
    paragraph = [(0, 8, "The systems of all the groups that we have seen were read again by"), (0, 20, "our readers.")]
    assert table_below_caption(*paragraph, *cells, (60, 94, "Table 1: Scores."), width=340) == [
        list(row) for row in rows
    ]


def test_a_wide_cell_beside_a_stub_is_not_running_text() -> None:
    long = "the systems of all groups that we have seen were read again"
    rows = [("Name", "Kind"), ("One", long), ("", "by hand"), ("Two", long), ("", "and by post"), ("Six", "not at all")]
    cells = [
        (x, 30 + 12 * row, text) for row, pair in enumerate(rows) for x, text in zip((0, 50), pair, strict=True) if text
    ]
    assert table_below_caption((0, 10, "Table 1: What was done."), *cells, width=360)[1:] == [
        ["One", f"{long} by hand"],
        ["Two", f"{long} and by post"],
        ["Six", "not at all"],
    ]


def test_numbers_of_names_are_not_a_column() -> None:
    names = ["Llama 3.1 8B", "Llama 3.1 70B", "Llama 3.2 3B", "Llama 3.3 70B"]
    rows = [[(0.0, "Model"), (100.0, "F1"), (150.0, "EM")]]
    rows += [[(0, name), (100, f"8{row}.5"), (150, f"7{row}.1")] for row, name in enumerate(names)]
    assert [row[0] for row in grid_of(rows, rules=(0, 14, 62))] == ["Model", *names]


def test_labels_that_are_not_centred_stay() -> None:
    labels = ("", "One", "", "Two", "", "")
    rows = [["Set", "Model", "F1"], *([label, f"System{n}", f"9{n}.5"] for n, label in enumerate(labels))]
    words = [
        word(text, x, 10 + 12 * index)
        for index, row in enumerate(rows)
        for x, text in zip((0, 60, 160), row, strict=True)
        if text
    ]
    assert [row[0] for row in grid_beside_caption(words, rules=(0, 90))] == ["Set", *labels]


def test_titles_of_sections_set_with_wide_spaces_hide_no_columns() -> None:
    words, baseline = [], 10.0
    for title in (("Zeroshot", "systems"), ("Trained", "on labels"), ("Supervised", "systems")):
        left = 95 - 4.5 * (len("".join(title)) + 1) / 2
        words += [word(title[0], left, baseline, size=9)]
        words += sentence(title[1], words[-1].x1 + 3.9, baseline, size=9)
        for row in range(1, 4):
            cells = zip((0, 63, 99, 132, 164), ("System", "35.37", "49.40", "94.33", "24.63"), strict=True)
            words += [word(text, x, baseline + 12 * row, size=9) for x, text in cells]
        baseline += 52
    assert {len(row) for row in grid_beside_caption(words, rules=(0, 14, 52, 66, 104, 118, 152))} == {5}


def test_a_bold_title_wraps_above_the_rule_of_the_header() -> None:
    words = [word("Type", 0, 10, bold=True), word("Purpose", 80, 10, bold=True), word("F1", 140, 10, bold=True)]
    words += [word("of", 0, 22, bold=True), word("task", 12, 22, bold=True)]
    for row, name in enumerate(("Gemini", "Llama", "Nova")):
        words += [
            word(name, 0, 38 + 12 * row),
            word("reading", 80, 38 + 12 * row),
            word(f"8{row}.5", 140, 38 + 12 * row),
        ]
    assert grid_beside_caption(words, rules=(0, 26, 68))[0] == ["Type of task", "Purpose", "F1"]


def test_texts_that_fill_their_column_are_separated_from_values() -> None:
    words = [*sentence("Set", 0, 10), *sentence("Content", 60, 10), *sentence("n", 172, 10)]
    texts = ("A survey by telephone", "Random samples of hay", "Reviews of any record")
    for row, text in enumerate(texts, start=1):
        stub, content = word(f"S{row}", 0, 10 + 12 * row), sentence(text, 60, 10 + 12 * row)
        words += [stub, *content, word(f"8{row}4", 172, 10 + 12 * row)]
    assert max(item.x1 for item in words if item.text[0].islower()) > 168
    expected = [["Set", "Content", "n"], *([f"S{row}", text, f"8{row}4"] for row, text in enumerate(texts, start=1))]
    assert grid_beside_caption(words, rules=(0, 14, 52)) == expected


def test_rules_of_a_small_table_are_not_fraction_bars() -> None:
    head, row = [word("Model", 0, 10, size=7), word("F1", 75, 10, size=7)], [word("Ours", 0, 20, size=7)]
    row.append(word("91.5", 70, 20, size=7))
    rules = [HorizontalRule(0, 82, y) for y in (2, 12, 24)]
    assert fold_fractions([*head, *row], rules, below=8.2) == [*head, *row]


def test_the_rule_under_the_title_of_a_group_is_not_a_fraction_bar() -> None:
    title = sentence("Out of domain", 60, 10, size=7)
    names = [word("System", 0, 20, size=7), word("Score", 60, 20, size=7), word("Cost", 88, 20, size=7)]
    rules = [HorizontalRule(0, 106, 2), HorizontalRule(58, 106, 12), HorizontalRule(0, 106, 24)]
    assert fold_fractions([*title, *names], rules, below=8.2) == [*title, *names]
