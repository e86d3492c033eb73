"""Cells that a question names fully, in several fields, and wording that names too little."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paperscope_core.types import Box, Cell, Paper, Place, Table
from query import Cited, verify
from query.evidence import Draft
from query.extractive.cell_lookup import look_up
from query.extractive.table_index import index_table
from query.question.named_elements import find_references

MakeTable = Callable[..., Table]
AskTable = Callable[[str, Table], Awaitable[Draft]]


def answer(question: str, *tables: Table) -> str | None:
    """What the tables answer."""
    found = look_up(question, tables, [], index_table)
    return found[0].text if found is not None else None


@pytest.fixture
def rivers(make_table: MakeTable) -> Table:
    return make_table(
        [
            ["River", "Low flow", "Low depth", "High flow"],
            ["Rhine", "1,020", "2.1", "4,530"],
            ["Elbe", "310", "1.4", "1,910"],
            ["Oder", "270", "1.1", ""],
        ],
        caption="Mean depth and lowest flow, in the first and the second year.",
    )


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("What is the low flow of the Elbe?", "In Table 1, Elbe has 310 under Low flow."),
        ("How much is the low depth of the Oder?", "In Table 1, Oder has 1.1 under Low depth."),
        ("What low depth does the river Rhine have?", "In Table 1, Rhine has 2.1 under Low depth."),
        ("In the row Rhine, which value is in the column High flow?", "In Table 1, Rhine has 4,530 under High flow."),
    ],
)
def test_a_cell_is_named_by_its_row_and_column(rivers: Table, question: str, text: str) -> None:
    assert answer(question, rivers) == text


@pytest.mark.parametrize(
    "question",
    [
        "What is the flow of the Elbe?",  # two columns of flow, neither named in full
        "What is the low flow?",
        "Which river is best?",
        "What is the low flow of the Weser?",
        "What is the low flow of the Elbe-Saale?",
        "What are the low flow and the high flow of the Rhine?",  # two cells
        "What are the high flows of the Rhine and the Oder?",  # one of them is empty
        # Nothing is computed or chosen, also where the caption has the word for it.
        "Which river has the lowest low flow?",
        "What is the mean low depth of the Elbe?",
        "What is the difference in low depth between the Rhine and the Oder?",
        "By how much does the low flow of the Elbe exceed that of the Oder?",
        "Which river has the higher low flow, Elbe or Oder?",
        "What is the low flow of the Elbe in the second year?",
        # Another row or column than the named one.
        "What is the low flow in the row below the Elbe?",
        "What is the low flow in the row before the Elbe?",
        "What is the low flow of the river after the Rhine?",
        "What is the low flow of each river except the Elbe?",
        "What is the low flow in the second row?",
        "What is the low flow of the Elbe in row 1?",
    ],
)
def test_names_that_are_not_in_full_or_other_words_select_nothing(rivers: Table, question: str) -> None:
    assert answer(question, rivers) is None


def test_a_word_of_an_operation_may_be_a_header(make_table: MakeTable) -> None:
    ratios = make_table([["Alloy", "Ratio", "Total"], ["Brass", "0.6", "12"], ["Bronze", "0.9", "15"]])
    assert answer("What is the ratio of bronze?", ratios) == "In Table 1, Bronze has 0.9 under Ratio."
    assert answer("What is the total of brass?", ratios) == "In Table 1, Brass has 12 under Total."


def test_a_value_with_a_character_that_is_not_known_is_not_stated(make_table: MakeTable) -> None:
    estimates = make_table([["Disease", "Effect"], ["Malaria", "\ufffd0.76"], ["Dengue", "0.24"]])
    assert answer("What is the effect of malaria?", estimates) is None
    assert answer("What is the effect of dengue?", estimates) == "In Table 1, Dengue has 0.24 under Effect."


def test_a_word_that_names_a_row_and_a_column_must_be_said_twice(make_table: MakeTable) -> None:
    confusion = make_table([["", "Cat", "Dog"], ["Cat", "8", "2"], ["Dog", "3", "7"]])
    assert answer("What is the value of cat?", confusion) is None
    assert answer("What is the value of cat and dog?", confusion) is None
    assert answer("What is the cat of cat?", confusion) == "In Table 1, Cat has 8 under Cat."


def test_a_unit_in_parentheses_need_not_be_said(make_table: MakeTable) -> None:
    times = make_table([["Enzyme", "Half-life (h)"], ["Lipase", "3.2"], ["Amylase", "5.1"]])
    assert answer("What is the half-life of lipase?", times) == "In Table 1, Lipase has 3.2 under Half-life (h)."


def test_the_letters_of_precision_and_recall(make_table: MakeTable) -> None:
    trio = make_table([["Tagger", "P", "\U0001d445", "F1"], ["CRF", "0.8", "0.6", "0.69"]])
    assert answer("What recall does the CRF have?", trio) == "In Table 1, CRF has 0.6 under R."  # as it is folded
    letters = make_table([["Site", "P", "R"], ["Lake", "0.8", "0.6"]])
    assert answer("What is the recall of the lake?", letters) is None


def test_sections_tell_rows_of_one_name_apart(make_table: MakeTable) -> None:
    groups = make_table(
        [["Group", "Age"], ["Men"], ["Mild", "41"], ["Severe", "57"], ["Women"], ["Mild", "39"]],
        caption="Ages of men and women.",
    )
    assert answer("What is the age of mild?", groups) is None
    assert answer("What is the age of mild women?", groups) == "In Table 1, Mild has 39 under Women Age."


def test_a_name_inside_a_longer_one_is_not_meant(make_table: MakeTable) -> None:
    models = make_table(
        [["Model", "F1"], ["BERT", "1"], ["BERT large", "2"], ["BERT + CRF", "3"]], caption="A large study."
    )
    assert answer("What is the F1 of BERT large?", models) == "In Table 1, BERT large has 2 under F1."
    assert answer("What is the F1 of BERT?", models) == "In Table 1, BERT has 1 under F1."
    assert answer("What is the F1 of BERT + CRF?", models) == "In Table 1, BERT + CRF has 3 under F1."
    assert answer("What is the F1 of BERT-base?", models) is None


def test_rows_below_another_header_are_not_read(make_table: MakeTable) -> None:
    two = make_table([["City", "Rain"], ["Bern", "7"], ["City", "Snow"], ["Bern", "9"], ["Graz", "4"]])
    heads = tuple(replace(cell, role="column_header") if cell.row == 2 else cell for cell in two.cells)
    question = "What is the rain of {}?"
    assert answer(question.format("Bern"), replace(two, cells=heads)) == "In Table 1, Bern has 7 under Rain."
    assert answer(question.format("Graz"), replace(two, cells=heads)) is None
    assert answer("What is the snow of Graz?", replace(two, cells=heads)) is None
    again = tuple(replace(cell, text="Rain") if cell.text == "Snow" else cell for cell in heads)
    assert answer(question.format("Graz"), replace(two, cells=again)) == "In Table 1, Graz has 4 under Rain."


def test_a_note_on_a_line_of_its_own_belongs_to_the_value(make_table: MakeTable) -> None:
    gains = make_table([["Drug", "Gain"], ["A", "92.1"], ["", "(+0.4)"], ["B", "90.2"]])
    found = look_up("What is the gain of drug A?", [gains], [], index_table)
    assert found is not None
    assert found[0].text == "In Table 1, A has 92.1 (+0.4) under Gain."
    assert [evidence.quote for evidence in found[0].evidence] == ["92.1", "(+0.4)"]


def test_a_table_is_named_by_its_caption(make_table: MakeTable) -> None:
    one = make_table([["Fuel", "Yield"], ["Peat", "7"]], caption="Yields of the small burner.")
    other = make_table([["Fuel", "Yield"], ["Peat", "9"]], caption="Yields of the large burner.", number=2)
    question = 'In the table "Yields of the small burner.", what is the yield of peat?'
    assert answer(question, one, other) == "In Table 1, Peat has 7 under Yield."
    assert answer("What is the yield of peat?", one, other) is None
    # A table that is named needs no name on an axis on which it has a single line.
    assert answer('In the table "Yields of the small burner.", what is the yield?', one, other) == (
        "In Table 1, Peat has 7 under Yield."
    )


def test_all_rows_of_one_name_are_stated_if_the_table_is_named(make_table: MakeTable) -> None:
    runs = make_table(
        [["Run", "Loss"], ["A", "1.5"], ["B", "0.9"], ["B", "0.8"]], caption="Losses of the longest runs."
    )
    question = "what is the loss of B?"
    assert answer(f'In the table "Losses of the longest runs.", {question}', runs) == (
        "In Table 1, B has 0.9 under Loss and B has 0.8 under Loss."
    )
    assert answer(question, runs) is None


@pytest.fixture
def ask_table(ask: Callable[..., Awaitable[Draft]], make_paper: Callable[..., Paper]) -> AskTable:
    async def asked(question: str, table: Table) -> Draft:
        paper = make_paper(table)
        return await ask(question, paper, named=find_references(question, [paper]).elements)

    return asked


async def test_the_answer_cites_its_cell_and_is_verified(ask_table: AskTable, rivers: Table) -> None:
    question = "In Table 1, what is the low flow of the Elbe?"
    draft = await ask_table(question, rivers)
    assert (draft.status, draft.text) == ("answered", "In Table 1, Elbe has 310 under Low flow.")
    assert [evidence.quote for evidence in draft.claims[0].evidence] == ["310"]
    cited = Cited(elements={rivers.id: rivers})
    assert verify(question=question, text=draft.text, claims=draft.claims, cited=cited).findings == ()
    [finding] = verify(question=question, text="Elbe has 17.", claims=draft.claims, cited=cited).findings
    assert (finding.kind, finding.subject, finding.place) == ("number", "17", None)


@pytest.mark.parametrize(
    "question",
    [
        "In Table 2, what is the low flow of the Elbe?",  # another label
        "In Table 1, what is in the second row, third column?",
        "In Table 1, what is the low flow in the last row?",
        "In Table 1, how many rows have a low flow?",
        "Is the low flow of the Elbe in Table 1 equal to 310?",
    ],
)
async def test_a_cell_that_is_not_certain_is_no_answer(ask_table: AskTable, rivers: Table, question: str) -> None:
    assert (await ask_table(question, rivers)).status == "evidence"


def test_cells_of_equal_text_in_two_tables_are_left_open(rivers: Table) -> None:
    assert answer("What is the low flow of the Elbe?", rivers, replace(rivers, id="bbbb00000002/table-1")) is None


numbers = st.lists(st.integers(min_value=0, max_value=999), min_size=3, max_size=6, unique=True)


@settings(max_examples=40)  # every example asks for each of its cells
@given(values=numbers)
def test_every_cell_is_found_by_its_own_names(values: Sequence[int]) -> None:
    names = [f"plot{chr(97 + number)}" for number in range(len(values))]
    table = _plain([["Plot", "Biomass"], *([name, str(value)] for name, value in zip(names, values, strict=True))])
    for name, value in zip(names, values, strict=True):
        assert answer(f"What is the biomass of {name}?", table) == f"In Table 1, {name} has {value} under Biomass."


def _plain(rows: Sequence[Sequence[str]]) -> Table:
    place = Place(paper="aaaa00000001", page=1, box=Box(0.0, 0.0, 10.0, 10.0))
    cells = tuple(
        Cell(
            row=row,
            column=column,
            text=text,
            place=place,
            role="column_header" if row == 0 else "value" if column else "row_header",
        )
        for row, texts in enumerate(rows)
        for column, text in enumerate(texts)
    )
    return Table(id="aaaa00000001/table-1", place=place, order=1, cells=cells, label="Table 1", header_rows=1)
