"""Cells and computations over them, in several fields, and wording that names too little."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paperscope_core.types import Box, Cell, Paper, Place, Table
from query import Cited, verify
from query.evidence import Draft
from query.extractive.arithmetic import compute, look_up
from query.extractive.cells import captioned, select
from query.extractive.question import read_question
from query.extractive.table_index import index_table
from query.question.references import find_references

MakeTable = Callable[..., Table]


def answers(question: str, table: Table) -> list[str]:
    """The statements that a table gives, by look-up and, if the question asks for one, by computation."""
    asked, index = read_question(question), index_table(table)
    quoted = captioned(asked, [table]).get(table.id, frozenset())
    found = []
    for operation in dict.fromkeys((None, asked.operation)):
        for selection in select(asked, index, operation, quoted=quoted, by_label=bool(quoted)):
            claim = look_up(selection) if operation is None else compute(operation, selection)
            found += [claim.text] if claim is not None else []
    return found


@pytest.fixture
def rivers(make_table: MakeTable) -> Table:
    return make_table(
        [
            ["River", "Low flow", "Low depth", "High flow"],
            ["Rhine", "1,020", "2.1", "4,530"],
            ["Elbe", "310", "1.4", "1,910"],
            ["Oder", "270", "1.1", "1,330"],
        ]
    )


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("What is the low flow of the Elbe?", "In Table 1, Elbe has 310 under Low flow."),
        ("How much is the low depth of the Oder?", "In Table 1, Oder has 1.1 under Low depth."),
        (
            "What are the low flow and the high flow of the Rhine?",
            "In Table 1, Rhine has 1,020 under Low flow and 4,530 under High flow.",
        ),
        (
            "Which river has the highest low depth?",
            "In Table 1, Rhine has the highest value for Low depth: 2.1.",
        ),
        (
            "Which river has the second lowest high flow?",
            "In Table 1, Elbe has the second lowest value for High flow: 1,910.",
        ),
        (
            "What is the difference in low depth between the Rhine and the Oder?",
            "In Table 1, for Low depth, Rhine has 2.1 and Oder has 1.1: Rhine is higher by 1.0 (2.1 − 1.1 = 1.0).",
        ),
        (
            "By how much does the low flow of the Elbe exceed that of the Oder?",
            "In Table 1, for Low flow, Elbe has 310 and Oder has 270: Elbe is higher by 40 (310 − 270 = 40).",
        ),
        (
            "What is the ratio of the low depth of the Rhine to that of the Elbe?",
            "In Table 1, for Low depth, the ratio of Rhine to Elbe is 2.1 / 1.4 = 1.50.",
        ),
        (
            "What is the sum of the low depth of the Elbe and the Oder?",
            "In Table 1, the sum for Elbe under Low depth and Oder under Low depth is 1.4 + 1.1 = 2.5.",
        ),
        (
            "What is the average low depth of the Elbe and the Oder?",
            "In Table 1, the average for Elbe under Low depth and Oder under Low depth is (1.4 + 1.1) / 2 = 1.25.",
        ),
        (
            "Which river has the higher low flow, Elbe or Oder?",
            "In Table 1, for Low flow, Elbe has 310 and Oder has 270: Elbe is higher by 40 (310 − 270 = 40).",
        ),
    ],
)
def test_named_cells_and_computations(rivers: Table, question: str, answer: str) -> None:
    assert answers(question, rivers) == [answer]


@pytest.mark.parametrize(
    "question",
    [
        "What is the flow of the Elbe?",  # two columns of flow, neither named in full
        "What is the low flow?",
        "Which river is best?",
        "Which river has the highest flow?",
        "What is the low flow of the Weser?",
        "What is the mean low depth of all rivers?",
        "What is the low flow of the Elbe-Saale?",
    ],
)
def test_names_that_are_not_in_full_select_nothing(rivers: Table, question: str) -> None:
    assert answers(question, rivers) == []


def test_a_row_of_totals_is_no_candidate(make_table: MakeTable) -> None:
    counts = [["Ward", "Cases"], ["North", "14"], ["South", "9"], ["Total", "23"]]
    assert answers("Which ward has the highest cases?", make_table(counts)) == [
        "In Table 1, North has the highest value for Cases: 14."
    ]
    unnamed = [["Ward", "Cases"], ["North", "14"], ["South", "9"], ["City", "23"]]
    assert answers("Which ward has the highest cases?", make_table(unnamed)) == []


def test_a_word_of_an_operation_may_be_a_header(make_table: MakeTable) -> None:
    ratios = make_table([["Alloy", "Ratio", "Total"], ["Brass", "0.6", "12"], ["Bronze", "0.9", "15"]])
    assert answers("What is the ratio of bronze?", ratios) == ["In Table 1, Bronze has 0.9 under Ratio."]
    assert answers("What is the total of brass?", ratios) == ["In Table 1, Brass has 12 under Total."]


def test_a_unit_in_parentheses_need_not_be_said(make_table: MakeTable) -> None:
    times = make_table([["Enzyme", "Half-life (h)"], ["Lipase", "3.2"], ["Amylase", "5.1"]])
    assert answers("What is the half-life of lipase?", times) == ["In Table 1, Lipase has 3.2 under Half-life (h)."]


def test_a_header_cut_with_a_period_and_the_letters_of_precision_and_recall(make_table: MakeTable) -> None:
    cut = make_table([["Sensor", "Temp.", "Humid."], ["North", "21", "40"]])
    assert answers("What is the temperature of the north sensor?", cut) == ["In Table 1, North has 21 under Temp.."]
    trio = make_table([["Tagger", "P", "R", "F1"], ["CRF", "0.8", "0.6", "0.69"]])
    assert answers("What recall does the CRF have?", trio) == ["In Table 1, CRF has 0.6 under R."]
    letters = make_table([["Site", "P", "R"], ["Lake", "0.8", "0.6"]])
    assert answers("What is the recall of the lake?", letters) == []


def test_a_bare_number_is_told_with_the_title_of_its_column(make_table: MakeTable) -> None:
    seeds = make_table([["Seed", "Score"], ["1", "4.0"], ["2", "4.5"]])
    assert answers("Which seed has the highest score?", seeds) == [
        "In Table 1, Seed 2 has the highest value for Score: 4.5."
    ]


def test_sections_tell_rows_of_one_name_apart(make_table: MakeTable) -> None:
    groups = make_table([["Group", "Age"], ["Men"], ["Mild", "41"], ["Severe", "57"], ["Women"], ["Mild", "39"]])
    assert answers("What is the age of mild?", groups) == []
    assert answers("What is the age of mild women?", groups) == ["In Table 1, Mild has 39 under Women Age."]


def test_a_table_is_named_by_its_caption(make_table: MakeTable) -> None:
    one = make_table([["Fuel", "Yield"], ["Peat", "7"]], caption="Yields of the small burner.")
    question = 'In the table "Yields of the small burner.", what is the yield of peat?'
    assert captioned(read_question(question), [one]).keys() == {one.id}
    assert answers(question, one) == ["In Table 1, Peat has 7 under Yield."]


# Cells named by the label of their table and by their place.


AskTable = Callable[[str, Table], Awaitable[Draft]]


@pytest.fixture
def ask_table(ask: Callable[..., Awaitable[Draft]], make_paper: Callable[..., Paper]) -> AskTable:
    async def asked(question: str, table: Table) -> Draft:
        paper = make_paper(table)
        return await ask(question, paper, named=find_references(question, [paper]).elements)

    return asked


@pytest.fixture
def soils(make_table: MakeTable) -> Table:
    return make_table(
        [
            ["Site", "Clay", "Clay", "Sand", "Grains per second"],
            ["", "Dry", "Wet", "", ""],
            ["Coast"],
            ["Dune", "1.5", "2.5", "90", "7"],
            ["Marsh", "31", "44", "12", "3"],
            ["Inland"],
            ["Heath", "8.1", "9.4", "66", "5"],
        ],
        headers=2,
        caption="The second survey of 4 soils at each site.",
    )


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        (
            "In Table 1, what is in the second row, third column?",
            "Row 2 (Coast / Marsh), column 3 (Sand) of Table 1, headers not counted: 12.",
        ),
        (
            "What is the value in row 3 of the sand column of Table 1?",
            "Row 3 (Inland / Heath), column Sand of Table 1, headers not counted: 66.",
        ),
        (
            "What is the last row of Table 1 under Sand?",
            "Row 3 (Inland / Heath), column Sand of Table 1, headers not counted: 66.",
        ),
        (
            "the last row of Table 1 under Sand",
            "Row 3 (Inland / Heath), column Sand of Table 1, headers not counted: 66.",
        ),
        (
            "Give the 1st row's last column in Table 1.",
            "Row 1 (Coast / Dune), column 4 (Grains per second) of Table 1, headers not counted: 7.",
        ),
        (
            "What does Table 1 give for Marsh in the 2nd column?",
            "Row Coast / Marsh, column 2 (Clay / Wet) of Table 1, headers not counted: 44.",
        ),
        (
            "In Table 1, what is wet clay in the first row?",
            "Row 1 (Coast / Dune), column Clay / Wet of Table 1, headers not counted: 2.5.",
        ),
        (
            "What is the number of grains per second in row number 2 of Table 1?",
            "Row 2 (Coast / Marsh), column Grains per second of Table 1, headers not counted: 3.",
        ),
        (
            "What is the sand of the site in row 2 of Table 1?",
            "Row 2 (Coast / Marsh), column Sand of Table 1, headers not counted: 12.",
        ),
    ],
)
async def test_a_counted_cell_is_told_with_its_headers(
    ask_table: AskTable, soils: Table, question: str, answer: str
) -> None:
    draft = await ask_table(question, soils)
    assert (draft.status, draft.text) == ("answered", answer)
    cited = Cited(elements={soils.id: soils})
    assert verify(question=question, text=draft.text, claims=draft.claims, cited=cited).findings == ()
    wrong = f"{draft.text.removesuffix('.').rpartition(': ')[0]}: 17."
    [finding] = verify(question=question, text=wrong, claims=draft.claims, cited=cited).findings
    assert (finding.kind, finding.subject, finding.place) == ("number", "17", None)
    assert [evidence.quote for evidence in draft.claims[0].evidence] == [answer.removesuffix(".").rpartition(": ")[2]]


@pytest.mark.parametrize(
    "question",
    [
        "In Table 1, what is in the fourth row, third column?",  # out of range
        "In Table 1, what is in row 0, column 1?",
        "In Table 1, what is the sand in row 12?",
        "In Table 1, what is the sand in the 4th row?",
        "In Table 1, what is in the second row, ninth column?",
        "What is in the second row, third column?",  # no label
        "In Table 2, what is in the second row, third column?",  # another label
        "In Table 1, what is in the second row?",  # no column
        "In Table 1, what is the clay in the second row?",  # two columns
        "In Table 1, what is the sand in the second row and the third row?",
        "In Table 1, what is the sand in rows 2 and 3?",
        "In Table 1, what is the sand in row 2 and 3?",
        "In Table 1, what is the sand in row 2-3?",
        "In Table 1, what is the sand in row 2.5?",
        "In Table 1, what is the sand in the second-to-last row?",  # "second" is a word of the caption
        "In Table 1, what is the sand in the second last row?",
        "In Table 1, what is the sand in the last row but one?",
        "In Table 1, what is the sand in the last but one row?",
        "In Table 1, what is the sand in the row below the first row?",
        "In Table 1, what is under the second row of the sand column?",
        "In Table 1, what is the sand in the second row from the bottom?",
        "In Table 1, what are the values from the second row to the third column?",
        "In Table 1, how many rows are in the third column, second row?",
        "In Table 1, which paper is in the second row, third column?",
        "In Table 1, what is the sand in the second row of Inland?",
        "In Table 1, what is the wet value in the second column of Marsh?",
        "In Table 1, what is the sand in the second row group?",
        "In Table 1, what is the value before the third column in the second row?",
        "In Table 1, what is not in the second row, third column?",
        "In Table 1, what is in the second row, third column of the last table?",
        "In Table 1, what is the sand in the twenty-second row?",
        "In Table 1, what is the header of the third column in the second row?",
        "In Table 1, which site has the second row, third column?",
        "In Table 1, what is the highest value in the third column?",
        "In Table 1, what is the sand of the second site?",  # a site is no row
        "In Table 1, what is the second value of Marsh?",
        "In Table 1, what are the grains in the second of row 2?",
        "Is the second row, third column of Table 1 equal to 12?",
    ],
)
async def test_a_place_that_is_not_certain_is_no_answer(ask_table: AskTable, soils: Table, question: str) -> None:
    assert (await ask_table(question, soils)).status == "evidence"


async def test_a_word_of_the_caption_does_not_turn_a_count_round(ask_table: AskTable, make_table: MakeTable) -> None:
    rows = [["Layer", "Depth"], ["Silt", "1"], ["Loam", "4"], ["Rock", "9"]]
    lake = make_table(rows, caption="Depth of the layers from the bottom of the lake.")
    assert (
        await ask_table("In Table 1, what is the depth in the first row from the bottom?", lake)
    ).status == "evidence"
    found = await ask_table("Give the value of the lake from row 1 of Table 1 under Depth.", lake)
    assert found.text == "Row 1 (Silt), column Depth of Table 1, headers not counted: 1."


async def test_a_row_called_by_a_number_or_an_ordinal(ask_table: AskTable, make_table: MakeTable) -> None:
    beams = make_table([["Beams", "BLEU"], ["4", "27.1"], ["2", "26.8"], ["8", "27.3"]])
    assert (
        await ask_table("What is the BLEU in row 2 of Table 1?", beams)
    ).text == "Row 2 (2), column BLEU of Table 1, headers not counted: 26.8."
    assert (
        await ask_table("What is the BLEU in row 3 of Table 1?", beams)
    ).text == "Row 3 (8), column BLEU of Table 1, headers not counted: 27.3."
    assert (await ask_table("What is the BLEU in row 4 of Table 1?", beams)).status == "evidence"
    racks = make_table([["Rack", "Load"], ["Row 2", "5"], ["Row 1", "9"]])
    assert (
        await ask_table("What is the load of row 1 in Table 1?", racks)
    ).text == "In Table 1, Row 1 has 9 under Load."
    seats = make_table([["Aircraft", "First row seats", "Last"], ["Jet", "4", "6"], ["Glider", "1", "2"]])
    assert (await ask_table("In Table 1, what is the first row seats of the jet?", seats)).text == (
        "In Table 1, Jet has 4 under First row seats."
    )
    assert (await ask_table("In Table 1, what is the first row seats in row 2?", seats)).text == (
        "Row 2 (Glider), column First row seats of Table 1, headers not counted: 1."
    )


async def test_merged_and_empty_cells_leave_a_count_open(
    ask_table: AskTable, make_table: MakeTable, soils: Table
) -> None:
    question = "In Table 1, what is in the second row, third column?"
    wide = tuple(replace(cell, row_span=2) if cell.text == "90" else cell for cell in soils.cells)
    assert (await ask_table(question, replace(soils, cells=wide))).status == "evidence"
    without = tuple(cell for cell in soils.cells if not (cell.column and cell.row == 3))
    assert (await ask_table(question, replace(soils, cells=without))).status == "evidence"
    empty = make_table([["Drug", "Dose", "Note", "Effect"], ["A", "1", "", "2"], ["B", "3", "", "4"]])
    assert (await ask_table("In Table 1, what is in the second row, second column?", empty)).status == "evidence"
    assert (await ask_table("In Table 1, what is the effect in the second row?", empty)).status == "answered"


@pytest.mark.parametrize("count", ["seventh", "tenth", "11th", "Last", "21st"])
async def test_every_ordinal_counts(ask_table: AskTable, make_table: MakeTable, count: str) -> None:
    days = make_table([["Plot", "Rain"], *([f"p{chr(97 + day)}", f"{day}.5"] for day in range(1, 22))])
    row = {"seventh": 7, "tenth": 10, "11th": 11, "Last": 21, "21st": 21}[count]
    draft = await ask_table(f"{count} row of Table 1 under Rain", days)
    assert draft.text == f"Row {row} (p{chr(97 + row)}), column Rain of Table 1, headers not counted: {row}.5."


async def test_a_table_without_values_has_no_lines(ask_table: AskTable, make_table: MakeTable) -> None:
    bare = make_table([["Plot", "Rain"], ["North", ""]])
    assert (await ask_table("In Table 1, what is in row 1, column 1?", bare)).status == "evidence"


async def test_a_count_reads_one_table(
    ask: Callable[..., Awaitable[Draft]], make_paper: Callable[..., Paper], soils: Table, rivers: Table
) -> None:
    other = replace(rivers, id="aaaa00000001/table-2", label="Table 2")
    draft = await ask(
        "In Tables 1 and 2, what is in row 1, column 1?", make_paper(soils, other), named=(soils.id, other.id)
    )
    assert draft.status == "evidence"


numbers = st.lists(st.integers(min_value=0, max_value=999), min_size=3, max_size=6, unique=True)


@given(values=numbers)
def test_the_extreme_of_a_column_is_its_maximum_unless_it_sums_up_the_rest(values: Sequence[int]) -> None:
    names = [f"plot{chr(97 + number)}" for number in range(len(values))]
    rows = [["Plot", "Biomass"], *([name, str(value)] for name, value in zip(names, values, strict=True))]
    found = answers("Which plot has the highest biomass?", _plain(rows))
    top = max(values)
    if abs(2 * top - sum(values)) <= top / 1000:
        assert found == []
    else:
        assert found == [f"In Table 1, {names[values.index(top)]} has the highest value for Biomass: {top}."]


@settings(max_examples=40)  # every example asks for each of its cells
@given(values=numbers)
def test_every_cell_is_found_by_its_own_names(values: Sequence[int]) -> None:
    names = [f"plot{chr(97 + number)}" for number in range(len(values))]
    table = _plain([["Plot", "Biomass"], *([name, str(value)] for name, value in zip(names, values, strict=True))])
    for name, value in zip(names, values, strict=True):
        assert answers(f"What is the biomass of {name}?", table) == [f"In Table 1, {name} has {value} under Biomass."]


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
