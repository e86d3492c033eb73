"""Captions, groups of rows and titles of tables as several venues set them."""

from ingest.pdf.backend import HorizontalRule, PageContent
from ingest.pdf.captions import Caption, captions_of
from ingest.pdf.formulas.fractions import fold_fractions
from ingest.pdf.page.layout import PageLayout
from ingest.pdf.page.lines import Line, lines_of
from ingest.pdf.page.words import Word
from ingest.pdf.tables.find import find_tables
from ingest.pdf.tables.grid import TableRegion, read_grid
from paperscope.types import Box
from tests.ingest.pdf_words import sentence, word


def lines(*texts: tuple[float, float, str]) -> list[Line]:
    """Lines of (x, baseline, text)."""
    return lines_of([item for x, baseline, text in texts for item in sentence(text, x, baseline)], gutters=())


def only_caption(found: list[Caption]) -> Caption:
    [caption] = found
    return caption


def test_the_lines_of_a_caption_may_hang_below_its_text() -> None:
    start = sentence("Table 1: Results", 0, 10)[2].x0
    page = lines((0, 10, "Table 1: Results of the larger"), (start, 22, "systems on both"), (start, 34, "test sets."))
    caption = only_caption(captions_of(page, gutter=None))
    assert caption.text == "Results of the larger systems on both test sets."


def test_the_cells_of_a_table_are_no_lines_of_a_caption() -> None:
    start = sentence("Table 1: Results", 0, 10)[2].x0
    page = lines((0, 10, "Table 1: Results"), (start, 22, "Model"), (start + 60, 22, "Score"), (start + 120, 22, "F1"))
    assert only_caption(captions_of(page, gutter=None)).text == "Results"


def test_a_caption_ends_at_the_rule_of_its_table() -> None:
    page = lines((0, 10, "Table 1: Results of the larger systems"), (0, 22, "Model"))
    rule = HorizontalRule(0, 200, 13)
    assert only_caption(captions_of(page, gutter=None, rules=[rule])).text == "Results of the larger systems"
    assert only_caption(captions_of(page, gutter=None)).text.endswith("Model")


def grid_of(words: list[Word], *, rules: tuple[float, ...]) -> list[list[str]]:
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
    assert [row[0] for row in grid_of(words, rules=(0, 90))] == ["Set", "One", "One", "One", "Two", "Two", "Two"]


def confidence_of(rows: list[list[str]], *, ruled: bool = True, wide: float = 60) -> float:
    words = [
        item
        for index, row in enumerate(rows)
        for column, text in enumerate(row)
        for item in sentence(text, column * wide, 10 + 12 * index)
    ]
    box = Box(0, 0, 220, 12 * len(rows) + 6)
    return read_grid(TableRegion(box=box, words=tuple(words), rules=(0, 14, box.y1), ruled=ruled)).confidence


def test_a_full_grid_is_trusted_and_a_doubtful_one_less() -> None:
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
    )
    [table] = find_tables([layout], [captions_of(page, gutter=None)])
    found = {(cell.row, cell.column): cell.text for cell in table.grid.cells}
    assert found[1, 1] == "two surveys by phone and post"
    assert found[2, 1] == "reviews of each record by hand"
    assert len(found) == 9


def test_labels_that_stand_at_no_middle_are_left_where_they_are() -> None:
    labels = ("", "One", "", "Two", "", "")
    rows = [["Set", "Model", "F1"], *([label, f"System{n}", f"9{n}.5"] for n, label in enumerate(labels))]
    words = [
        word(text, x, 10 + 12 * index)
        for index, row in enumerate(rows)
        for x, text in zip((0, 60, 160), row, strict=True)
        if text
    ]
    assert [row[0] for row in grid_of(words, rules=(0, 90))] == ["Set", *labels]


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
    assert {len(row) for row in grid_of(words, rules=(0, 14, 52, 66, 104, 118, 152))} == {5}


def test_texts_that_fill_their_column_part_from_the_values_beside_them() -> None:
    words = [*sentence("Set", 0, 10), *sentence("Content", 60, 10), *sentence("n", 172, 10)]
    texts = ("A survey by telephone", "Random samples of hay", "Reviews of any record")
    for row, text in enumerate(texts, start=1):
        stub, content = word(f"S{row}", 0, 10 + 12 * row), sentence(text, 60, 10 + 12 * row)
        words += [stub, *content, word(f"8{row}4", 172, 10 + 12 * row)]
    assert max(item.x1 for item in words if item.text[0].islower()) > 168
    expected = [["Set", "Content", "n"], *([f"S{row}", text, f"8{row}4"] for row, text in enumerate(texts, start=1))]
    assert grid_of(words, rules=(0, 14, 52)) == expected


def test_the_rules_of_a_small_table_are_no_fraction_bars() -> None:
    head, row = [word("Model", 0, 10, size=7), word("F1", 75, 10, size=7)], [word("Ours", 0, 20, size=7)]
    row.append(word("91.5", 70, 20, size=7))
    rules = [HorizontalRule(0, 82, y) for y in (2, 12, 24)]
    assert fold_fractions([*head, *row], rules, below=8.2) == [*head, *row]
