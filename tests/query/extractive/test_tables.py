"""Reading tables: the logical view, what a question mentions of it, and the answers computed from its cells."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from paperscope_core.types import Box, Cell, Claim, Page, Paper, Passage, Place, Table
from query.extractive.across import compare_across
from query.extractive.align import Aligner
from query.extractive.compute import compute
from query.extractive.grid import view
from query.extractive.links import linked
from query.extractive.question import read_question
from query.extractive.select import Selection, select
from query.extractive.symbols import spelt_out
from query.extractive.weights import Weights, vocabulary

PAPER = "bbbb00000001"


def place(row: int, column: int) -> Place:
    return Place(paper=PAPER, page=1, box=Box(10.0 * column, 10.0 * row, 10.0 * column + 9, 10.0 * row + 9))


def table(rows: Sequence[Sequence[str]], *, number: int = 1, headers: int = 1, caption: str = "") -> Table:
    """`a|3` spans three columns; a row of one text over all columns is a section; column 0 holds the stubs."""
    cells = []
    for row, texts in enumerate(rows):
        column = 0
        for printed in texts:
            text, _, span = printed.partition("|")
            wide = len(texts) == 1
            role = "section" if wide else "column_header" if row < headers else "value" if column else "row_header"
            cells.append(
                Cell(
                    row=row,
                    column=column,
                    text=text,
                    place=place(row, column),
                    column_span=int(span or 1),
                    role=role,  # type: ignore[arg-type]  # one of the literals above
                )
            )
            column += int(span or 1)
    return Table(
        id=f"{PAPER}/table-{number}",
        place=place(0, 0),
        order=number,
        cells=tuple(cells),
        label=f"Table {number}",
        caption=caption,
        header_rows=headers,
    )


GROUPED = table(
    [
        ["", "News|2", "Tweets|2"],
        ["Model", "Prec.", "F1", "Prec.", "F1"],
        ["BERT (Devlin et al., 2018)", "80.0", "81.0", "70.0", "71.5"],
        ["BERT+FL", "80.5", "81.4 (+0.4)", "70.1", "71.2 (-0.3)"],
        ["BERT+DSC", "79.9", "82.9 (+1.9)", "72.0", "73.0 (+1.5)"],
        ["XLNet", "82.0", "84.0", "74.0", "–"],
        ["XLNet+DSC", "82.5", "84.7 (+0.7)", "74.2", "75.0"],
    ],
    headers=2,
    caption="Results for tagging.",
)
SECTIONS = table(
    [
        ["System", "Acc", "Loss"],
        ["English WSJ|3"],
        ["Alpha", "90.1", "0.31"],
        ["Beta (ours)", "91.3", "0.42"],
        ["Chinese MSRA|3"],
        ["Alpha", "85.0", "0.50"],
        ["Beta (ours)", "84.1", "0.45"],
    ],
    number=2,
    caption="Parsing.",
)
COUNTS = table(
    [["Task", "# neg", "# pos", "ratio"], ["CoNLL03", "170K", "34K", "4.98"], ["QUOREF", "6.52M", "38.6K", "169"]],
    number=3,
    caption="Numbers of examples and their ratios.",
)
METHODS = table(
    [["", "original", "+ positive", "- negative", "+ positive & negative"], ["BERT", "91.3", "92.2", "89.7", "93.1"]],
    number=4,
    caption="Ways of data augmentation.",
)
TABLES = (GROUPED, SECTIONS, COUNTS, METHODS)
TALK = Passage(
    id=f"{PAPER}/passage-1",
    place=place(0, 0),
    order=0,
    text="The model is trained on each dataset and compared with it.",
)
LIBRARY = Paper(
    id=PAPER,
    title="Tagging",
    authors=(),
    sha256="",
    file="tagging.pdf",
    pages=(Page(number=1, width=600.0, height=800.0),),
    sections=(),
    elements=(TALK, *TABLES),
)


def selected(text: str, among: Table) -> Selection:
    question, seen = read_question(text), view(among)
    around = "\n".join((among.label, among.caption, *seen.corners))
    return select(question, seen, Aligner(question, Weights([vocabulary(LIBRARY)])), around=around, aliases={})


def answered(text: str, among: Table) -> Claim:
    claim = compute(read_question(text), selected(text, among))
    assert claim is not None
    return claim


def quotes(claim: Claim) -> list[str]:
    return [evidence.quote for evidence in claim.evidence]


def test_the_view_qualifies_values_by_groups_sections_and_stubs() -> None:
    datum = next(datum for datum in view(GROUPED).data if datum.cell.text == "73.0 (+1.5)")
    assert [part.text for part in datum.row] == ["BERT+DSC"]
    assert [part.text for part in datum.column] == ["Tweets", "F1"]
    datum = next(datum for datum in view(SECTIONS).data if datum.cell.text == "84.1")
    assert [part.text for part in datum.row] == ["Chinese MSRA", "Beta (ours)"]
    assert view(SECTIONS).corners == ("System",)


def test_a_line_of_annotations_belongs_to_the_line_above() -> None:
    seen = view(table([["Model", "F1"], ["BERT+FL", "88.43"], ["", "(+0.43)"], ["BERT+DL", "88.71"]]))
    assert [(datum.value.number, datum.value.change) for datum in seen.data] == [(88.43, 0.43), (88.71, None)]
    assert seen.data[0].note is not None


def test_headers_that_are_repeated_further_down_replace_those_above() -> None:
    grid = table([["Model", "F1"], ["A", "1.5"], ["Model", "EM"], ["A", "2.5"]])
    cells = tuple(
        Cell(row=cell.row, column=cell.column, text=cell.text, place=cell.place, role="column_header")
        if cell.row == 2
        else cell
        for cell in grid.cells
    )
    seen = view(Table(id=grid.id, place=grid.place, order=1, cells=cells, header_rows=1))
    assert [datum.column[0].text for datum in seen.data] == ["F1", "EM"]


def test_a_table_without_values_has_no_data() -> None:
    assert view(Table(id="x", place=place(0, 0), order=0, cells=())).data == ()


def test_every_cell_is_found_by_its_row_and_column() -> None:
    for among in TABLES:
        for datum in view(among).data:
            row = " / ".join(part.text for part in datum.row)
            column = " ".join(part.text for part in datum.column)
            found = selected(f"What is the value of {row} under {column}?", among)
            assert [other.cell for other in found.data] == [datum.cell], (row, column)


def test_a_name_never_matches_a_piece_of_a_joined_name() -> None:
    found = selected("What F1 does BERT+DSC reach on News?", GROUPED)
    assert [mention.part.text for mention in found.mentions if mention.part.axis == "row"] == ["BERT+DSC"]
    found = selected("What F1 does BERT+CNN reach on News?", GROUPED)
    assert [mention.part.text for mention in found.mentions if mention.part.axis == "row"] == []
    assert found.unheld == ("bert", "cnn")


def test_a_plain_name_matches_its_own_row_only() -> None:
    assert quotes(answered("What is the Tweets F1 of BERT?", GROUPED)) == ["71.5"]


def test_a_remark_in_parentheses_may_be_left_out() -> None:
    assert quotes(answered("What is the Acc of Beta on English WSJ?", SECTIONS)) == ["91.3"]


def test_look_up_names_row_column_table_and_rests_on_the_cells_place() -> None:
    claim = answered("What is the Acc of Alpha in Chinese MSRA?", SECTIONS)
    assert claim.text == "In Table 2, Alpha has 85.0 under Chinese MSRA Acc."
    assert claim.evidence[0].element == SECTIONS.id
    assert claim.evidence[0].place == place(5, 1)


def test_a_header_that_is_the_asking_word_is_looked_up() -> None:
    assert quotes(answered("What is the ratio of negative to positive examples for QUOREF?", COUNTS)) == ["169"]


def test_the_highest_of_a_column_and_of_a_row() -> None:
    claim = answered("Which system has the highest Acc in English WSJ?", SECTIONS)
    assert claim.text == "Beta (ours) has the highest value under English WSJ Acc in Table 2: 91.3."
    claim = answered("Which augmentation is best for BERT?", METHODS)
    assert claim.text.startswith("+ positive & negative has the best value for BERT")
    claim = answered("Which augmentation gives the second highest value for BERT?", METHODS)
    assert quotes(claim) == ["92.2"]


def test_the_best_loss_is_the_lowest() -> None:
    assert quotes(answered("Which system has the best Loss on Chinese MSRA?", SECTIONS)) == ["0.45"]
    assert quotes(answered("Which system has the highest Loss on Chinese MSRA?", SECTIONS)) == ["0.50"]


def test_where_rows_and_columns_vary_the_row_that_leads_most_columns_is_named() -> None:
    claim = answered("Which model has the highest scores on News?", GROUPED)
    assert "XLNet+DSC has the highest value in 2 of 2 columns" in claim.text


def test_a_difference_shows_its_computation() -> None:
    claim = answered("By how much does XLNet exceed BERT in News F1?", GROUPED)
    assert "XLNet is higher by 3.0 (84.0 − 81.0 = 3.0)" in claim.text
    assert quotes(claim) == ["84.0", "81.0"]


def test_a_comparison_of_columns_and_a_verdict() -> None:
    claim = answered("How does BERT in News F1 compare to Tweets F1?", GROUPED)
    assert "News is higher by 9.5 (81.0 − 71.5 = 9.5)" in claim.text
    assert answered("Is the Loss of Alpha lower than that of Beta in English WSJ?", SECTIONS).text.startswith("Yes. ")
    assert answered("Is Alpha better than Beta in English WSJ Acc?", SECTIONS).text.startswith("No. ")


def test_a_ratio_of_two_values() -> None:
    claim = answered("What is the ratio of the Loss of Alpha to that of Beta in English WSJ?", SECTIONS)
    assert "the ratio of Alpha to Beta (ours)" in claim.text
    assert "0.31 / 0.42 = 0.74" in claim.text


def test_a_gain_is_the_printed_change_else_computed_from_the_row_that_the_name_extends() -> None:
    claim = answered("What boost did BERT+DSC achieve on Tweets F1?", GROUPED)
    assert claim.text == "In Table 1, BERT+DSC under Tweets F1 changes by +1.5 (to 73.0)."
    claim = answered("What improvement did XLNet+DSC achieve on Tweets Prec.?", GROUPED)
    assert "+0.2 (74.2 − 74.0 = 0.2)" in claim.text


def test_the_highest_gain_over_a_named_baseline_is_computed_from_it() -> None:
    claim = answered("Which variant has the highest improvement in News F1 compared to XLNet?", GROUPED)
    assert "XLNet+DSC under News F1: +0.7 (84.7 − 84.0 = 0.7)" in claim.text
    claim = answered("Which variant has the highest improvement in Tweets F1?", GROUPED)
    assert "BERT+DSC under Tweets F1: +1.5" in claim.text


def test_sums_averages_and_counts() -> None:
    claim = answered("What is the sum of the Acc of Alpha and Beta in English WSJ?", SECTIONS)
    assert "90.1 + 91.3 = 181.4" in claim.text
    claim = answered("What is the average of the Acc of Alpha and Beta in English WSJ?", SECTIONS)
    assert "(90.1 + 91.3) / 2 = 90.70" in claim.text
    claim = answered("How many tasks are in Table 3?", COUNTS)
    assert "there are 2 tasks: CoNLL03 and QUOREF" in claim.text


def test_a_dash_is_no_number() -> None:
    claim = answered("Which model has the highest Tweets F1?", GROUPED)
    assert quotes(claim) == ["75.0"]


@pytest.mark.parametrize("text", ["What is the recall?", "Why is the loss low?", "How is the Acc of Alpha computed?"])
def test_questions_that_no_cell_answers(text: str) -> None:
    assert compute(read_question(text), selected(text, METHODS)) is None


def test_two_values_in_two_tables() -> None:
    other = table([["Model", "Radio"], ["BERT", "60.0"], ["XLNet", "61.5"]], number=5)
    text = "How much lower is XLNet on Radio compared to its Acc on Web?"
    third = table([["Model", "Web Acc"], ["BERT", "70.0"], ["XLNet", "72.5"]], number=6)
    reading = compare_across(read_question(text), [selected(text, third), selected(text, other)])
    assert reading is not None
    assert "the first is lower by 11.0 (72.5 − 61.5 = 11.0)" in reading.claim.text
    assert [evidence.element for evidence in reading.claim.evidence] == [other.id, third.id]
    assert compare_across(read_question(text), [selected(text, other)]) is None


def test_names_that_a_table_lacks_are_told() -> None:
    found = selected("What F1 does GPT-4o reach on News?", GROUPED)
    assert "4o" in found.unheld
    assert found.coverage < selected("What F1 does XLNet reach on News?", GROUPED).coverage


def test_the_aliases_of_a_header_stand_for_it() -> None:
    question, seen = read_question("What is the F1 of Dice Loss on News?"), view(GROUPED)
    aligner = Aligner(question, Weights([vocabulary(LIBRARY)]))
    aliased = select(question, seen, aligner, around="", aliases={"BERT+DSC": ("Dice Loss",)})
    assert [datum.cell.text for datum in aliased.data] == ["82.9 (+1.9)"]


def test_a_word_before_the_comma_names_a_group_of_columns() -> None:
    grouped = table(
        [
            ["", "Entities|1", "Tokens, padding left out|1"],
            ["System", "F1", "F1"],
            ["a1", "1.0", "2.0"],
            ["b2", "3.0", "1.5"],
        ],
        headers=2,
    )
    found = answered("Which system has the higher token-level F1, a1 or b2?", grouped)
    assert quotes(found) == ["2.0", "1.5"]


def test_a_symbol_in_a_header_is_what_the_caption_calls_it() -> None:
    assert spelt_out("Mean ± 𝑠", "Means with sample deviation 𝑠.") == "Mean ± sample deviation"
    assert spelt_out("Mean ± s", "Means.") == ""
    assert spelt_out("F1", "Scores.") == ""


def test_a_sentence_ties_a_name_to_the_tables_rows() -> None:
    settings = table([["Setting", "Value"], ["Adapter rank", "256"], ["Adapter alpha", "512"]], caption="Settings.")
    tie = replace(TALK, text="We tune Kiwi-7B with an adapter. Plum-2 is another model.")
    library = replace(LIBRARY, elements=(tie, settings, *[TALK] * 6))
    weights = Weights([vocabulary(library)])

    def found(text: str) -> Selection:
        question = read_question(text)
        selection = select(question, view(settings), Aligner(question, weights), around="", aliases={})
        return linked(question, selection, weights, library)

    tied, untied = found("What adapter rank was used for Kiwi-7B?"), found("What adapter rank was used for Plum-2X?")
    assert tied.unheld == ()
    assert untied.unheld != ()
    assert tied.coverage > untied.coverage
    assert found("What adapter rank was used for Kiwi-7B on birds?").unheld == ()
    assert found("What adapter rank was used for Kiwi-7B on another dish?").unheld != ()
