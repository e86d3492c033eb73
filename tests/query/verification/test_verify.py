"""Numbers are read as printed and checked against the evidence."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from decimal import Decimal
from importlib import import_module
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.readers.markup import markup_parsers
from paperscope_core.types import (
    Box,
    Cell,
    Claim,
    Element,
    Evidence,
    Figure,
    Finding,
    Paper,
    PaperFile,
    Passage,
    Place,
    Table,
)
from paperscope_core.types.tables import TableRow, table_rows
from query import Cited, Verified, verify
from query.element_views import element_text
from query.numbers import numbers_in
from query.verification import arithmetic
from query.verification.arithmetic import Operand

HERE = Place(paper="p", page=1, box=Box(0, 0, 1, 1))
LETTERS = "ABCDEFGHJKLMNOPQRSTUVWXYZ"


def claim(text: str, *quotes: str) -> Claim:
    return Claim(text=text, evidence=tuple(Evidence(element="p/table-1", place=HERE, quote=quote) for quote in quotes))


def check(text: str, *quotes: str, table: str = "", question: str = "") -> tuple[Finding, ...]:
    element = Passage(id="p/table-1", place=HERE, order=1, text=table)
    cited = Cited(elements={element.id: element})
    return verify(question=question, text=text, claims=[claim(text, *quotes)], cited=cited).findings


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("1,234 of 5 678", ["1234", "5", "678"]),
        ("−0.53 and +0.97", ["0.53", "0.97"]),
        ("94.90%, 3 percent", ["94.9", "3"]),
        ("170K, 6.52M, 2 billion", ["170000", "6520000", "2000000000"]),
        ("84.0±0.3 (+1.41)", ["84.0", "0.3", "1.41"]),
        ("F1 on SST-5, CTB6 and BERT+2", []),
        ("Table 8, 93.14 is highest; see Figs. 2 and 3 (Li et al., 2019) [12]", ["93.14"]),
        ("It flies for 38 minutes. (lines 11-212), (line 6)", ["38"]),
        ("ends with 12.", ["12"]),
        ("Pages: 24\nFigures: 7 (5 in the main part)", ["24", "7", "5"]),
        ("on pages: 1, 2, and 5", []),
        ("1,2", ["1", "2"]),
        (".5", ["0.5"]),
        ("", []),
    ],
)
def test_numbers(text: str, values: list[str]) -> None:
    assert [number.value for number in numbers_in(text)] == [Decimal(value) for value in values]


@pytest.mark.parametrize(
    ("text", "quotes"),
    [
        ("It scores 94.9.", ["94.90"]),
        ("It scores 1,234.", ["1234"]),
        ("It falls by −0.5.", ["falls by 0.5"]),
        ("It is 73%.", ["0.73"]),
        ("It has 5 steps.", ["has five steps"]),
        ("It is 0.53 better.", ["94.90", "94.37"]),
        ("The ratio is 4.98.", ["168.8", "33.9"]),
        ("It is 25% more.", ["125", "100"]),
        ("The mean is 95.", ["94", "96"]),
        ("Both have 12.", ["5", "7"]),
        ("170K are negative.", ["170,000"]),
    ],
)
def test_what_stands_in_the_evidence_or_follows_from_it_is_supported(text: str, quotes: list[str]) -> None:
    assert check(text, *quotes) == ()


@pytest.mark.parametrize(
    ("text", "quotes", "number"),
    [
        ("It scores 94.8.", ["94.90"], "94.8"),
        ("It is 0.54 better.", ["94.90", "94.37"], "0.54"),
        ("It has 2 parts.", ["94.90", "43.1"], "2"),
        ("It is 73%.", ["0.72"], "73%"),
    ],
)
def test_any_other_number_is_the_subject_of_a_finding(text: str, quotes: list[str], number: str) -> None:
    [finding] = check(text, *quotes)
    assert (finding.kind, finding.subject, finding.place) == ("number", number, None)


def test_pairs_of_numbers_are_tried_once_for_each_statement(monkeypatch: pytest.MonkeyPatch) -> None:
    tried = list[int]()

    def pairs(operands: Sequence[Operand], size: int) -> Iterator[tuple[Operand, ...]]:
        tried.append(len(operands))
        return permutations(operands, size)

    monkeypatch.setattr(arithmetic, "permutations", pairs)
    [finding] = check("The sum is 77.7.", "It has 1.1, 2.2 and 3.4.")
    assert finding.subject == "77.7"
    assert tried == [3, 3]


def test_numbers_of_the_question_and_of_the_cited_element_are_known() -> None:
    assert check("With 7 layers it scores 88.1.", "a", table="x | 88.1", question="What with 7 layers?") == ()


def test_a_table_full_of_numbers_does_not_justify_computed_ones() -> None:
    row = " | ".join(f"{value / 7:.2f}" for value in range(600, 700, 3))
    assert len(check("It is 0.43 better.", row, table=row)) == 1
    stated = "It is 0.43 better (86.14 against 85.71)."
    assert check(stated, row, table=row) == ()


def test_claims_without_evidence_and_answers_without_claims_are_flagged() -> None:
    message = "no evidence is cited for 'It works.'"
    assert check("It works.") == (Finding(kind="claim", subject="It works.", message=message),)
    [finding] = verify(question="", text="Yes.", claims=[], cited=Cited()).findings
    assert (finding.kind, finding.subject) == ("claim", "")


def test_the_answers_own_text_may_rest_on_any_claim() -> None:
    claims = [claim("A has 94.90.", "94.90"), claim("B has 94.37.", "94.37")]
    assert verify(question="", text="A is 0.53 better.", claims=claims, cited=Cited()).findings == ()
    assert len(verify(question="", text="A is 0.55 better.", claims=claims, cited=Cited()).findings) == 1


@given(st.decimals(0, 10**7, places=2, allow_nan=False, allow_infinity=False))
def test_a_number_supports_itself_however_it_is_printed(value: Decimal) -> None:
    for printed in (f"{value}", f"{value:,}", f"{value.normalize():f}", f"+{value}"):
        assert check(f"It is {printed} in all.", f"{value}") == ()


@given(st.integers(13, 10**6), st.integers(13, 10**6))
def test_a_number_that_is_not_in_the_evidence_is_flagged(printed: int, claimed: int) -> None:
    assert bool(check(f"It is {claimed} in all.", f"{printed}")) == (printed != claimed)


@given(st.text(), st.text(), st.text())
def test_any_text_can_be_checked(question: str, text: str, quote: str) -> None:
    findings = check(text, quote, question=question)
    assert sum(finding.kind == "number" for finding in findings) <= len(list(numbers_in(text)))


# Tables: what is cited are cells, not the whole grid.

ROWS = (
    ("Model", "WSJ", "CTB5"),
    ("BERT", "94.90", "94.10"),
    ("BERT+DL", "95.17", "96.02"),
    ("BERT+DSC", "95.43 (+0.53)", "96.30"),
    ("Drop", "-0.62", "+0.40"),
)


def table_of(*rows: Sequence[str], caption: str = "", stubs: int = 1) -> Table:
    """A table of texts: the first row names its columns, the first `stubs` columns name its rows."""
    cells = tuple(
        Cell(
            row=row,
            column=column,
            text=text,
            place=Place(paper="p", page=1, box=Box(column, row, column + 1, row + 1)),
            role="column_header" if row == 0 else "row_header" if column < stubs else "value",
        )
        for row, texts in enumerate(rows)
        for column, text in enumerate(texts)
    )
    return Table(id="p/table-2", place=HERE, order=2, label="Table 2", caption=caption, header_rows=1, cells=cells)


def said_of(table: Table, text: str, *evidence: tuple[Place, str], question: str = "") -> Verified:
    """What is said of a text that cites these places and quotations of a table."""
    cited = tuple(Evidence(element=table.id, place=place, quote=quote) for place, quote in evidence)
    claims = [Claim(text=text, evidence=cited)]
    return verify(question=question, text=text, claims=claims, cited=Cited(elements={table.id: table}))


GRID = table_of(*ROWS, caption="F1 of the taggers.")


def verified(text: str, *cells: str, question: str = "") -> Verified:
    """What is said of a text that cites these cells of the table, or the table as a whole."""
    places = [(cell.place, cell.text) for cell in GRID.cells if cell.text in cells] or [(GRID.place, "")]
    return said_of(GRID, text, *places, question=question)


@pytest.mark.parametrize(
    "text",
    [
        "BERT+DSC has 95.43 on WSJ.",
        "BERT+DSC reaches 95.43 on WSJ, BERT 94.90.",
        "On WSJ, DSC raises BERT from 94.90 to 95.43.",
        "BERT+DSC beats BERT on WSJ with 95.43.",
        "94.10 for BERT and 96.30 for BERT+DSC on CTB5.",
        "On WSJ and CTB5, BERT+DL has 95.17 and 96.02.",
        "On WSJ, BERT+DSC is 0.26 higher than BERT+DL.",
        "The mean of BERT on both is 94.5.",
        "There are 2 columns of F1 for BERT.",
        "BERT+DSC has the highest value on CTB5, 96.30.",
        "On WSJ the drop is 0.62.",
        "About 95.4 on WSJ for BERT+DSC.",
    ],
)
def test_what_a_table_prints_where_it_is_said_to_stand_is_supported(text: str) -> None:
    assert verified(text).findings == ()


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("BERT+DL has 95.43 on WSJ.", "95.43"),
        ("BERT has 95.17 on WSJ.", "95.17"),
        ("BERT+DSC has 96.30 on WSJ.", "96.30"),
        ("On WSJ, BERT+DL has 95.43 and BERT+DSC has 95.43.", "95.43"),
        ("On WSJ, BERT+DSC is 0.27 higher than BERT+DL.", "0.27"),
        ("On WSJ, BERT+DL is -0.26 lower than BERT+DSC.", "-0.26"),
        ("BERT+DSC has -95.43 on WSJ.", "-95.43"),
        ("BERT+DSC has 95.5 on WSJ.", "95.5"),
        ("BERT+DSC has 95.43 (-0.53) on WSJ.", "-0.53"),
        ("On CTB5 the drop is -0.40.", "-0.40"),
        ("There are 7 columns of F1 for BERT.", "7"),
    ],
)
def test_a_value_that_stands_elsewhere_in_the_table_is_flagged(text: str, number: str) -> None:
    assert number in [finding.subject for finding in verified(text).findings if finding.kind == "number"]


# A wrapped label that the parser lost: the row of 64.8 has no header, and "GPT" is a word of another row's.
NAMELESS = (
    ("Model", "Zero-shot 2-class", "Zero-shot 3-class"),
    ("GPT-3.5", "70.1", "60.2"),
    ("", "78.2", "64.8"),
    ("PaLM", "71.9", "61.7"),
)


@pytest.mark.parametrize(
    ("text", "flagged"),
    [
        ("GPT-4 reaches 64.8 in the zero-shot 3-class setting.", False),
        ("In the 3-class setting, GPT-4 has 64.8.", False),
        ("PaLM reaches 64.8 in the zero-shot 3-class setting.", True),
        ("GPT-4 reaches 64.8 in the zero-shot 2-class setting.", True),
        ("GPT-3.5 reaches 61.7 in the zero-shot 3-class setting.", True),
    ],
)
def test_a_missing_header_contradicts_no_name_but_another_rows_whole_name_does(text: str, *, flagged: bool) -> None:
    table = table_of(*NAMELESS)
    quoted = [(cell.place, cell.text) for cell in table.cells if cell.text and cell.text in text]
    findings = said_of(table, text, *quoted).findings
    assert any(finding.kind == "number" and finding.place is not None for finding in findings) == flagged


def test_only_cited_cells_count_where_cells_are_cited() -> None:
    assert verified("It is 95.43.", "95.43 (+0.53)").findings == ()
    assert verified("It is 96.30.", "95.43 (+0.53)").findings
    [finding] = verified("BERT+DL has 95.43 on WSJ.", "95.43 (+0.53)").findings
    assert "is printed under 'BERT+DSC WSJ'" in finding.message
    assert finding.place == next(cell.place for cell in GRID.cells if cell.text == "95.43 (+0.53)")


def test_a_highest_value_that_is_none_is_flagged() -> None:
    [finding] = verified("The highest value on CTB5 is 94.10.").findings
    assert (finding.kind, finding.subject) == ("extreme", "94.10")
    assert finding.message == "94.10 is called the highest, but 96.30 is in the same column"


def test_a_highest_value_after_many_others_is_not_flagged() -> None:
    rows = [("Model", "F1"), *((f"Model {letter}", f"{50 + number}.5") for number, letter in enumerate(LETTERS))]
    text = f"The values of F1 are {', '.join(value for _, value in rows[1:])}; the highest is {rows[-1][1]}."
    findings = said_of(table_of(*rows), text, (HERE, "")).findings
    assert [finding for finding in findings if finding.kind == "extreme"] == []


def test_how_a_number_was_computed_is_told_with_the_cells() -> None:
    [check] = [it for it in verified("On WSJ, BERT+DSC is 0.26 higher than BERT+DL.").checks if it.formula]
    assert (check.number, check.finding, check.formula) == ("0.26", "computed", "95.43 − 95.17 = 0.26")
    assert sorted(evidence.quote for evidence in check.support) == ["95.17", "95.43 (+0.53)"]


# Rows with numbers in their names, and a caption that a question quotes.
HOPS = (
    ("Model", "2-hop Acc", "3-hop Acc", "25%"),
    ("GPT-3.5", "69.3", "54.9", "60.1"),
    ("GPT-4", "70.6", "58.5", "64.2"),
    ("Prog (N=1)", "75.6", "66.1", "70.4"),
    ("Prog (N=5) (Lee et al., 2021)", "74.1", "68.5", "71.7"),
    ("Repetition Step", "0.5", "0", "5.2"),
)


def said_of_hops(text: str, *, question: str = "", quote: str = "", cited: Sequence[str] = ()) -> tuple[Finding, ...]:
    """The findings for a text that cites the table of `HOPS`, or some of its cells."""
    table = table_of(*HOPS, caption="Better models than GPT-4 on each hop.")
    places = [(cell.place, cell.text) for cell in table.cells if cell.text in cited] or [(table.place, quote)]
    return said_of(table, text, *places, question=question).findings


CAPTIONED = 'In the table "Better models than GPT-4 on each hop", what is the 2-hop Acc of GPT-3.5?'


@pytest.mark.parametrize(
    "text",
    [
        "The 3-hop Acc of Prog (N=1) (66.1) is 2.4 lower than that of Prog (N=5) (68.5).",
        "Prog (N=5) (68.5) is 10.0 ahead of GPT-4 (58.5) in 3-hop Acc.",
        "The mean 2-hop Acc of GPT-3.5 (69.3) and GPT-4 (70.6) is 69.95.",
        "Under 3-hop Acc, GPT-3.5 is 3.6 lower than GPT-4.",
        "GPT-3.5 has 60.1 under 25%.",
        "The 2-hop Acc of GPT-4 (70.6) is 70.1 above that of Repetition Step (0.5).",
        "The mean 3-hop Acc of Repetition Step (0) and GPT-4 (58.5) is 29.25.",
        "On average, Prog (N=1) and Prog (N=5) have about 67 under 3-hop Acc.",
        "The gap between GPT-3.5 and GPT-4 (3.6) is large under 3-hop Acc.",
        "GPT-4 has 58.5 and Repetition Step 0 under 3-hop Acc.",
        "Prog (N=1) is about 1.2 times better than GPT-3.5 (66.1 / 54.9) in 3-hop Acc.",
    ],
)
def test_a_number_in_brackets_belongs_to_the_name_before_it(text: str) -> None:
    assert said_of_hops(text) == said_of_hops(text, question=CAPTIONED) == ()


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("The 3-hop Acc of Prog (N=1) (68.5) is 2.4 lower than that of Prog (N=5) (68.5).", "68.5"),
        ("The 3-hop Acc of Prog (N=1) (66.1) is 2.4 lower than that of Prog (N=5) (66.1).", "66.1"),
        ("GPT-3.5 has 70.6 under 2-hop Acc.", "70.6"),
        ("GPT-3.5 has 5.0 under 2-hop Acc.", "5.0"),
        ("Under 2-hop Acc, GPT-3.5 is 3.0 lower than GPT-4.", "3.0"),
        ("Under 3-hop Acc, GPT-3.5 is 2.4 lower than GPT-4.", "2.4"),
        ("The mean 2-hop Acc of GPT-3.5 (69.3) and GPT-4 (70) is 69.95.", "70"),
        ("GPT-3.5 has 64.2 under 25%.", "64.2"),
        ("The 2-hop Acc of Repetition Step (0.7) is low.", "0.7"),
    ],
)
def test_a_number_that_belongs_to_another_name_is_flagged(text: str, number: str) -> None:
    for question in ("", CAPTIONED):
        assert f"the number {number} " in str(said_of_hops(text, question=question))


def test_numbers_beside_those_of_all_names_are_in_the_same_row_or_column() -> None:
    cited = ("66.1", "58.5", "54.9", "68.5", "70.6")
    text = "Under 3-hop Acc, Prog (N=1) has 66.1; two others have only 58.5 and 54.9."
    assert said_of_hops(text, cited=cited) == ()
    for text, number in (
        ("Under 3-hop Acc, Prog (N=1) has 66.1; another one has 70.6.", "70.6"),
        ("Under 3-hop Acc, Prog (N=1) has 68.5; another one has 58.5.", "68.5"),
    ):
        assert f"the number {number} " in str(said_of_hops(text, cited=cited))


@pytest.mark.parametrize(
    ("text", "last", "wrong"),
    [
        ("GPT-3.5 has 69.3, 54.9 and 60.1, 184.3 in total, and GPT-4 70.6, 58.5 and 64.2, ", "193.3 in total", "193.4"),
        ("70.6 - 69.3 = 1.3, 58.5 - 54.9 = 3.6 and 64.2 - 60.1 = 4.1, on average ", "3.0", "3.2"),
    ],
)
def test_a_total_may_be_of_the_numbers_before_it_and_of_computed_ones(text: str, last: str, wrong: str) -> None:
    cited = ("69.3", "54.9", "60.1", "70.6", "58.5", "64.2")
    assert said_of_hops(f"{text}{last}.", cited=cited) == ()
    assert f"the number {wrong} " in str(said_of_hops(f"{text}{wrong} in total.", cited=cited))


GAINS = ("A gains 0.50.", "B gains 0.40.", "C gains 0.46.", "1,225 comments and 612 posts.")


@pytest.mark.parametrize(
    ("text", "right", "wrong"),
    [
        ("The gains are 0.50, 0.40 and 0.46, 1.36 in total; 1.36 / 3 = {}.", "0.453", "0.463"),
        ("The total gain is 1.36 (0.50 + 0.40 + 0.46), so the mean is 1.36 / {} ≈ 0.45.", "3", "4"),
        ("Together A (0.50), B (0.40) and C (0.46) gain {0}, and {0} / 3 = 0.453.", "1.36", "1.37"),
        ("The average is {}, that is 1.36 / 3, where 1.36 is the sum 0.50 + 0.40 + 0.46.", "0.453", "0.435"),
        ("Of 1,837 in all, 1,225 comments and 612 posts, posts are 612 / 1,837 = {}.", "33.3%", "34.3%"),
        ("0.50 + 0.40 + 0.46 = 1.36 and 1.36 / {} = 0.453", "3", "-3"),
        ("A gains 0.10 more (0.50) than B ({}).", "0.40", "-0.40"),
        ("A (0.50) and B (0.40) gain 0.90 in total, which is {} more than C (0.46).", "0.44", "0.45"),
    ],
)
def test_a_number_may_follow_from_one_that_follows_from_the_evidence(text: str, right: str, wrong: str) -> None:
    assert check(text.format(right), *GAINS) == ()
    assert f"the number {wrong} " in str(check(text.format(wrong), *GAINS))


def test_names_that_share_a_value_are_told_it_together() -> None:
    table = table_of(("Method", "TSP", "HC", "GW", "OLO"), ("Time", "0.007", "0.002", "0.003", "0.003"))
    place = next(cell.place for cell in table.cells if cell.text == "0.003")
    for text, right in (("HC takes 0.002 s; GW and OLO need 0.003.", True), ("TSP and HC need 0.003.", False)):
        findings = said_of(table, text, (place, "0.003"), (place, "0.002")).findings
        assert ("0.003" in [finding.subject for finding in findings]) != right


def test_a_value_of_a_quoted_row_is_compared_with_its_headers() -> None:
    row = "GPT-4 | 2-hop Acc: 70.6 | 3-hop Acc: 58.5"
    assert said_of_hops("GPT-4 has 58.5 under 3-hop Acc.", quote=row) == ()
    assert "58.5" in [finding.subject for finding in said_of_hops("GPT-4 has 58.5 under 2-hop Acc.", quote=row)]


# What was read in the images of cited elements.


@pytest.mark.parametrize(
    ("text", "flagged"),
    [
        ("Cats are 45% and dogs 38%.", False),
        ("Cats are 7 percentage points above dogs.", False),
        ("The bar is labelled 'Pets in Rome'.", False),
        ("Cats are 46%.", True),
    ],
)
def test_what_was_read_in_the_image_of_a_cited_figure_is_supported(text: str, *, flagged: bool) -> None:
    figure = Figure(id="p/figure-1", place=HERE, order=1, label="Figure 1", caption="Animals.")
    cites = Claim(text=text, evidence=(Evidence(element=figure.id, place=HERE, quote="Animals."),))
    read = Cited(elements={figure.id: figure}, readings={figure.id: ["'Pets in Rome': cats 45%, dogs 38%"]})
    other = replace(read, readings={"p/figure-2": ["'Pets in Rome': cats 45%, dogs 38%"]})
    assert bool(verify(question="", text=text, claims=[cites], cited=read).findings) == flagged
    assert verify(question="", text=text, claims=[cites], cited=other).findings


def test_the_image_of_a_table_supports_only_what_no_cell_prints() -> None:
    read = Cited(elements={GRID.id: GRID}, readings={GRID.id: ["BERT has 95.17; the dashed line is at 97.25"]})

    def findings(text: str) -> tuple[Finding, ...]:
        cites = Claim(text=text, evidence=(Evidence(element=GRID.id, place=HERE, quote="BERT"),))
        return verify(question="", text=text, claims=[cites], cited=read).findings

    assert findings("The dashed line is at 97.25.") == ()
    assert findings("BERT has 95.17 under WSJ.")


# Computations and lists that the text writes out.

COMMENTS = ("1,225 comments were rated; 37% are toxic and 20% are rude.", "Of 612 posts, 45.5% are kind.")


@pytest.mark.parametrize(
    "text",
    [
        "1,225 × 0.37 = 453.25.",
        "1,225 comments × 37% ≈ 453.",
        "1225*0.37=453.25",
        "$1{,}225 \\times 0.37 = 453.25$",
        "453.25 (1,225 times 0.37) are toxic.",
        "1,225 × 37 / 100 = 453.25",
        "1,225 × (1 − 0.37) = 771.75",
        "1,225 − 453.25 = 771.75, where 453.25 = 0.37 × 1,225.",
        "20 % of 1,225 = 245.",
        "20% of the 1,225 comments, 245, are rude.",
        "245 comments are rude: 20 percent of 1,225.",
        "45.5% of the 612 posts are 278.",
        "100 × 612 / 1,225 = 49.96%",
        "612 of the 1,225 comments, 49.96%, are kind.",
        "About 50% (612 out of 1,225) are kind.",
        "Roughly 50.0% of the comments (612 / 1,225) are kind.",
        "20% of (1,225 − 612) = 122.6.",
        "(37 + 20) / 2 = 28.5",
        "37% − 20% = 17 percentage points.",
        "The share of toxic is 17 percentage points above that of rude.",
        "The sum of 1,225, 612 and 37 is 1,874, 1,225 minus 612 is 613.",
        "The mean of 1,225, 612 and 37 is 624.67, and 20% of 1,225 is 245.",
    ],
)
def test_a_computation_that_is_written_out_and_right_is_supported(text: str) -> None:
    assert check(text, *COMMENTS) == ()


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("1,225 × 0.37 = 435.25.", "435.25"),
        ("1,225 × 0.37 ≈ 454.", "454"),
        ("453.52 (1,225 × 0.37) are toxic.", "453.52"),
        ("1,226 × 0.37 = 453.62.", "1,226"),
        ("1,225 × 0.38 = 465.5.", "0.38"),
        ("1,225 + 612 = 613.", "613"),
        ("20 % of 1,225 = 254.", "254"),
        ("30 % of 1,225 = 367.5.", "30 %"),
        ("37% − 20% = 18%.", "18%"),
        ("About 51% (612 out of 1,225) are kind.", "51%"),
        ("(37 + 20) / 3 = 19", "3"),
        ("The sum of 1,225, 612 and 37 is 1,847.", "1,847"),
        ("453.25 are toxic.", "453.25"),
    ],
)
def test_a_computation_that_is_wrong_or_of_numbers_from_nowhere_is_flagged(text: str, number: str) -> None:
    assert number in [finding.subject for finding in check(text, *COMMENTS) if finding.kind == "number"]


def test_a_factor_may_be_a_percentage_that_is_printed_without_its_sign() -> None:
    assert check("1,225 × 0.37 = 453.25", "n = 1,225", "toxic (in percent) | 37") == ()
    assert check("It is 0.37.", "toxic (in percent) | 37")


TASKS = "It is tested on SST, MNLI, QQP, RTE, CoLA, MRPC, WNLI and STS."
BULLETS = "SST MNLI QQP RTE CoLA MRPC WNLI STS".split()


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("There are 8.", "How many tasks?"),
        ("It has 8 tasks: SST, MNLI, QQP, RTE, CoLA, MRPC, WNLI, and STS.", ""),
        ("The 8 tasks (SST; MNLI; QQP; RTE; CoLA; MRPC; WNLI; STS) are small.", ""),
        ("The 8 tasks are SST (small), MNLI, QQP, RTE, CoLA, MRPC, WNLI and STS.", ""),
        ("There are 8 tasks:\n- " + "\n- ".join(BULLETS), ""),
        ("The 8 tasks:\n\n" + "\n".join(f"{number}. {task}" for number, task in enumerate(BULLETS, 1)), ""),
        ("They are (1) SST, (2) MNLI and (3) QQP.", ""),
    ],
)
def test_a_count_of_listed_items_is_supported(text: str, question: str) -> None:
    assert check(text, TASKS, question=question) == ()


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("There are 9.", "How many tasks?"),
        ("It has 8.", ""),
        ("It has 7 tasks: SST, MNLI, QQP, RTE, CoLA, MRPC, WNLI, and STS.", "How many tasks?"),
        ("There are 7 tasks:\n- " + "\n- ".join(BULLETS), "How many tasks?"),
        ("It is tested 3 times on SST, MNLI, and QQP.", "Which tasks?"),
    ],
)
def test_any_other_count_is_flagged(text: str, question: str) -> None:
    assert len(check(text, TASKS, question=question)) == 1


# Deviations, intervals and standard errors in brackets.

TRIAL = table_of(
    ("Outcome", "Placebo", "Active", "Odds ratio (95% CI)", "p"),
    ("Age, years", "54.1 (8.2)", "53.7 (7.9)", "", ""),
    ("HbA1c, %", "7.9 ± 0.4", "7.1 ± 0.3", "", "<0.001"),
    ("Death", "31 (12.4%)", "24 (9.6%)", "0.75 (0.43–1.31)", "0.31"),
    ("Stroke", "12 (4.8%)", "22 (8.8%)", "1.45 (1.10–1.91)", "0.009"),
)
WAGES = table_of(
    ("", "(1)", "(2)", "(3)"),
    ("Schooling", "0.081", "0.074", "0.069"),
    ("", "(0.012)", "(0.013)", "(0.015)"),
    ("Tenure", "0.034", "0.031", "-0.029"),
    ("", "(0.005)", "(0.006)", "(0.007)"),
    ("Observations", "1,204", "1,204", "986"),
)
CATALYSTS = table_of(
    ("Catalyst", "T (°C)", "Yield (%)", "TOF (h−1)", "Ea (kJ mol−1)"),
    ("Pd/CeO2", "250", "91.5 ± 0.8", "1.2 × 103", "54.2"),
    ("Pt/TiO2", "275", "88.0 ± 1.1", "9.4 × 102", "61.7"),
)
CAPITALS = table_of(
    ("Method", "M MLU P HYSICS", "T IME QA"),
    ("P A LM-2L", "66.4", "41.5"),
    ("P A LM-2L + S TEP -B ACK", "73.2", "66.0"),
    ("P A LM-2L + RAG", "70.1", "57.4"),
)
SITES = table_of(
    ("Site", "Cases", "Controls", "Lost"),
    ("North", "120", "240", "6"),
    ("South", "95", "190", "4"),
    ("East", "61", "130", "9"),
)


def whole(table: Table, text: str) -> tuple[Finding, ...]:
    """The findings for a text that cites a table as a whole."""
    return said_of(table, text, (HERE, "a table")).findings


@pytest.mark.parametrize(
    ("table", "text"),
    [
        (TRIAL, "The mean age was 54.1 (8.2) years with placebo and 53.7 (7.9) with active treatment."),
        (TRIAL, "The age was 54.1 years (SD 8.2) on placebo and 53.7 ± 7.9 years on active treatment."),
        (TRIAL, "HbA1c was 7.9 (0.4) on placebo and 7.1 ± 0.3 % on active treatment (p < 0.001)."),
        (TRIAL, "For stroke the odds ratio was 1.45 (95% CI 1.10–1.91; p = 0.009)."),
        (TRIAL, "For stroke the OR was 1.45, 95% CI [1.10, 1.91]."),
        (TRIAL, "22 (8.8%) patients on active treatment had a stroke, against 12 (4.8%) on placebo."),
        (TRIAL, "The lower bound of the interval for stroke is 1.10 and the upper one 1.91."),
        (WAGES, "In column (1), the coefficient of schooling is 0.081 (0.012)."),
        (WAGES, "Schooling falls from 0.081 (SE 0.012) in column 1 to 0.069 (SE 0.015) in column 3."),
        (WAGES, "Tenure has the coefficients 0.034, 0.031 and −0.029 in models (1) to (3)."),
        (WAGES, "The t statistic of schooling in column (1) is 0.081 / 0.012 = 6.75."),
        (CATALYSTS, "Pd/CeO$_2$ yields $91.5 \\pm 0.8$ % at 250 °C."),
        (CATALYSTS, "Pd/CeO2 has a TOF of $1.2 \\times 10^{3}$ h$^{-1}$."),
        (CATALYSTS, "The TOF of Pt/TiO₂ is 9.4 × 10² h⁻¹, and its $E_a$ 61.7 kJ mol$^{-1}$."),
        (CAPITALS, "PaLM-2L + Step-Back has 73.2 on MMLU Physics and 66.0 on TimeQA."),
        (CAPITALS, "Step-Back has 66.0 on TimeQA, 8.6 above PaLM-2L + RAG (57.4)."),
        (SITES, "Cases sum to 276 and controls to 560, so the total is 836."),
        (SITES, "In total 836 people: 276 cases and 560 controls."),
        (SITES, "Cases: 120 + 95 + 61 = 276. Controls: 240 + 190 + 130 = 560. In all 276 + 560 = 836."),
        (SITES, "North lost 2.5% of its controls (6 of 240)."),
    ],
)
def test_right_claims_about_tables_of_several_fields_are_not_flagged(table: Table, text: str) -> None:
    assert whole(table, text) == ()


@pytest.mark.parametrize(
    ("table", "text", "number"),
    [
        (TRIAL, "The mean age was 54.1 (7.9) years with placebo.", "7.9"),
        (TRIAL, "HbA1c was 7.1 ± 0.4 on active treatment.", "0.4"),
        (TRIAL, "For stroke the odds ratio was 1.45 (95% CI 0.43–1.31).", "0.43"),
        (TRIAL, "For stroke the odds ratio was 0.75 (95% CI 1.10–1.91).", "0.75"),
        (TRIAL, "22 (9.6%) patients on active treatment had a stroke.", "9.6%"),
        (WAGES, "In column (1), the coefficient of schooling is 0.081 (0.005).", "0.005"),
        (WAGES, "In column (1), the coefficient of schooling is 0.074 (0.013).", "0.074"),
        (WAGES, "In column (3), tenure has 0.029 (0.007).", "0.029"),
        (WAGES, "Observations in column (3) are 1,204.", "1,204"),
        (CATALYSTS, "The yield of Pt/TiO$_2$ is $88.0 \\pm 0.8$ %.", "0.8 %"),
        (CAPITALS, "PaLM-2L + Step-Back has 70.1 on MMLU Physics.", "70.1"),
        (CAPITALS, "On MMLU Physics, PaLM-2L + RAG reaches 57.4.", "57.4"),
        (SITES, "Cases sum to 286 and controls to 560.", "286"),
        (SITES, "The share of East is 50%.", "50%"),
        (SITES, "North lost 5%.", "5%"),
        (SITES, "North has 22 more lost than South.", "22"),
        (SITES, "The total is 25.", "25"),
    ],
)
def test_wrong_claims_about_tables_of_several_fields_are_flagged(table: Table, text: str, number: str) -> None:
    assert number in [finding.subject for finding in whole(table, text) if finding.kind == "number"]


def test_values_that_were_read_as_headers_name_nothing() -> None:
    table = table_of(
        ("", "2.36*** (0.65)", "0.08 (1.54)"), ("Landlocked", "0.95 (0.21)", "0.51 (0.30)"), ("Energy", "0.09", "0.12")
    )
    assert whole(table, "Landlocked has 0.51 (0.30), beside 2.36*** (0.65).") == ()


def test_a_number_with_a_note_is_a_header() -> None:
    table = table_of(("Site", "2019 (n = 45)", "2020 (n = 50)"), ("North", "12", "13"), ("South", "14", "15"))
    assert whole(table, "In 2019 (n = 45), North had 12.") == ()
    assert whole(table, "In 2019 (n = 45), North had 13.")


def test_a_grid_that_is_in_doubt_contradicts_nothing() -> None:
    assert whole(TRIAL, "Stroke on placebo: 22.")
    assert whole(replace(TRIAL, confidence=0.3), "Stroke on placebo: 22.") == ()


@pytest.mark.parametrize(
    ("text", "quote", "flagged"),
    [
        ("In 4 trials it was 97%, 98%, 99% and 99%, 98.25% on average.", "4 trials: 97%, 98%, 99% and 99%", False),
        ("In 4 trials it was 97%, 98%, 99% and 99%, 98.75% on average.", "4 trials: 97%, 98%, 99% and 99%", True),
        ("GPUs need 12 percent of the hours.", "It takes 3.0 hours on GPUs and 25 hours on CPUs.", False),
        ("By 3 years, 32 percent had it.", "The half-life was 4.00 years [95% CI: 3.81 to 4.20] after 3 years.", True),
        ("A saves 12% of the hours.", "Method A needs 3.0 hours (25). It has 40 members.", True),
        ("A saves 12% of the hours.", "Method A needs 3.0 hours [25].", True),
        ("A saves 12% of the hours.", "Method A needs 3.0 hours. Others have 25 layers.", True),
        ("The accuracy rises by 12%.", "Training takes 3.0 hours. The batch size is 25.", True),
        ("$\\alpha = 0.01$.", "With α = 0.05 and β = 5 it works.", True),
    ],
)
def test_a_computation_counts_only_with_numbers_of_sentences_that_the_claim_names(
    text: str, quote: str, *, flagged: bool
) -> None:
    assert any(finding.kind == "number" for finding in check(text, quote)) == flagged


# Parts of the paper, LaTeX and small capitals.

PASSAGE = (
    "We call it S TEP -B ACK P ROMPTING , and compare with ROBERTA. The particles are 5 μm wide; α = 0.05 and R0 is "
    "2.4, λ ≤ 10−3, σ2 = 0.12 ± 0.03. The cost is $1,225 and the batch 32."
)


@pytest.mark.parametrize(
    "text",
    [
        "It is cited on page 1, 2, 5.",
        "Cited on pages: 1, 2, and 5, in Sections 3.1, 3.2 and 4.",
        "Reference 29 is discussed on p. 7, in footnote 3 and Theorem 4.",
        "See Fig. 3(a), Figs. 4a and 4b, Supplementary Table S3 and Appendix B.2.",
        "The batch is 32 (pages 3, 5, and 8; Eqs. (13)–(15)).",
        "The particles are $5\\,\\mu\\mathrm{m}$ wide.",
        "$\\alpha = 0.05$, $R_0 = 2.4$ and $\\lambda \\leq 10^{-3}$.",
        "\\(\\sigma^2 = 0.12 \\pm 0.03\\), and the cost is \\$1{,}225.",
        "The paper says “the particles are 5 $\\mu$m wide”.",
        "The method is Step-Back Prompting, compared with RoBERTa.",
        "It says “we call it Step-Back Prompting, and compare with RoBERTa”.",
    ],
)
def test_what_is_only_spelled_otherwise_is_not_flagged(text: str) -> None:
    assert check(text, PASSAGE) == ()


@pytest.mark.parametrize(
    ("text", "quote", "flagged"),
    [
        ("Der Anteil ist 12,5 %.", "Der Anteil lag bei 12,5 %.", False),
        ("The share is 12.5%.", "Der Anteil lag bei 12,5 %.", False),
        ("Der Anteil ist 12,6 %.", "Der Anteil lag bei 12,5 %.", True),
        ("The share is 12.6%.", "Der Anteil lag bei 12,5 %.", True),
        ("Der Anteil ist 12,5 %.", "The share was 12.5%.", True),
        ("The share is 12.5%.", "The shares were 3.1% and 12,5 in some.", True),
    ],
)
def test_a_decimal_comma_is_read_where_the_paper_prints_it(text: str, quote: str, *, flagged: bool) -> None:
    assert any(finding.kind == "number" for finding in check(text, quote)) == flagged


@pytest.mark.parametrize(
    ("text", "subject"),
    [
        ("On page 7, 64 is the batch.", "64"),
        ("The batch on pages 1, 2 and 5 is 64.", "64"),
        ("Table 3, 64.5 is best.", "64.5"),
        ("The particles are 6 $\\mu$m wide.", "6"),
        ("$\\sigma^2 = 0.12 \\pm 0.04$", "0.04"),
        ("The method is Step-Forward Prompting.", "Step-Forward"),
        ("It says “we call it Step-Forward Prompting”.", "we call it Step-Forward Prompting"),
    ],
)
def test_another_number_or_name_is_flagged_however_it_is_spelled(text: str, subject: str) -> None:
    assert subject in [finding.subject for finding in check(text, PASSAGE)]


# Quotations and names.


@pytest.mark.parametrize(
    ("text", "flagged"),
    [
        ("It says “the ‘loss’ is not well-defined here”.", False),
        ("It says \"the 'loss' is not well\u2011defined here.\"", False),
        ("It says “the 'loss' … well-defined here”.", False),
        ("It says “the loss is well-defined here”.", True),
        ("It says “the 'loss' is … ill-defined in here”.", True),
        ("It is “well-defined”.", False),
    ],
)
def test_a_quotation_must_stand_in_the_evidence_word_for_word(text: str, *, flagged: bool) -> None:
    findings = check(text, "So the 'loss' is not\nwell-defined here, we think.")
    assert any(finding.kind == "quotation" and finding.subject in text for finding in findings) == flagged


def test_a_row_of_a_table_is_quoted_by_its_headers() -> None:
    rows = [("enc-layers", "dec-layers", "Language", "Time"), ("4", "4", "HTML", "3.77"), ("4", "2", "HTML", "2")]
    table = table_of(*rows, stubs=3)
    for text, right in (("It is the row “4 4 HTML”, 3.77.", True), ("It is the row “4 5 HTML”, 3.77.", False)):
        findings = said_of(table, text, (HERE, "3.77")).findings
        assert any(finding.kind == "quotation" for finding in findings) != right


def test_the_rows_of_a_table_are_read_only_for_a_quotation(monkeypatch: pytest.MonkeyPatch) -> None:
    read = list[Table]()

    def rows_of(table: Table) -> Iterator[TableRow]:
        read.append(table)
        return table_rows(table)

    monkeypatch.setattr(import_module("query.verification.verify"), "table_rows", rows_of)
    verified("BERT+DSC reaches 95.43 on WSJ with Dice.")
    assert read == []
    verified("BERT+DSC reaches “95.43 or so, one would say” on WSJ.")
    assert read


@pytest.mark.parametrize(
    ("text", "unknown"),
    [
        ("The model is BERT's tagger with Dice.", []),
        ("The model is trained with Adam on the SQuAD set.", ["Adam", "SQuAD"]),
        ("Das Modell lernt mit XLNet viele Aufgaben.", ["XLNet"]),
        ("According to Table 3, the F1 of BERT+Dice is best.", []),
    ],
)
def test_a_name_that_stands_nowhere_is_flagged(text: str, unknown: list[str]) -> None:
    findings = check(text, "The BERT model with the Dice loss has the best F1.")
    assert [finding.subject for finding in findings if finding.kind == "name"] == unknown


@pytest.mark.parametrize("printed", ["9" * 50, "9" * 5000, f"0.{'0' * 50}1"])
def test_numbers_of_many_digits_are_checked(printed: str) -> None:
    check("The sum is about 7, and the ratio is 3.", f"It has {printed} and 5.")
    check(f"The sum is about {printed}, and the ratio is 3.", "It has 4 and 5.")


def test_an_honest_answer_of_many_claims_is_checked_in_part_and_says_so() -> None:
    claims = [claim(f"It is {number}.5.", f"It is {number}.5.") for number in range(300)]
    verified = verify(question="", text=" ".join(one.text for one in claims), claims=claims, cited=Cited())
    message = "only the first 200 claims were checked, and not the text of the whole answer"
    assert verified.findings == (Finding(kind="unchecked", message=message),)
    assert [check.finding for check in verified.checks] == ["printed"] * 200


def test_a_long_answer_is_not_cut_within_a_number() -> None:
    element = Passage(id="p/table-1", place=HERE, order=1, text="It is 123.")
    text = "so " * 6662 + "It is thus, 123."
    cited = Cited(elements={element.id: element})
    verified = verify(question="", text=text, claims=[claim("It is 123.", "It is 123.")], cited=cited)
    message = "only the first 20000 characters of each text were checked"
    assert verified.findings == (Finding(kind="unchecked", message=message),)


HEADED = """
# Report on Two Encoders

It compares them.

## 1. SloBERTa 7B (v5/Reproducible)

On the test set, 3,684 sentences:

| Type | Precision | Recall | F1 |
|---|---|---|---|
| PER | 0.92 | 0.93 | 0.93 |
| LOC | 0.9663 | 0.9373 | 0.9515 |

```
               precision    recall
   cell line      0.0327    0.0853
```
"""


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Paper:
    file = tmp_path_factory.mktemp("report") / "report.md"
    file.write_text(HEADED, encoding="utf-8")
    return markup_parsers()["markdown"].parse(PaperFile(file)).paper


@pytest.mark.parametrize(
    ("text", "quotes"),
    [
        ("In the Report on Two Encoders, PER has an F1 of 0.93 with SloBERTa.", ["0.93"]),
        ("The recall of PER is 0.93 for the 7B model, v5/Reproducible.", ["0.93"]),
        ("PER has an F1 of 0.93, with precision 0.92 and recall 0.93.", ["0.92", "0.93"]),
        ("For LOC, precision is above recall by 0.0290, that is 2.90 points.", ["0.9663", "0.9373"]),
        ("Cell line has a precision of 0.0327.", ["cell line      0.0327    0.0853"]),
        ("The recall of cell line is 0.0853, which rounds to 0.085.", ["cell line      0.0327    0.0853"]),
    ],
)
def test_what_a_report_prints_in_headings_equal_cells_and_code_is_supported(
    report: Paper, text: str, quotes: list[str]
) -> None:
    assert said_of_report(report, text, *quotes) == ()


@pytest.mark.parametrize(
    ("text", "quotes", "subject"),
    [
        ("PER has a precision of 0.93.", ["0.92", "0.93"], "0.93"),
        ("SloBERTa 8B has an F1 of 0.93 for PER.", ["0.93"], "8B"),
        ("For LOC, precision is above recall by 2.80 points.", ["0.9663", "0.9373"], "2.80"),
        ("For LOC, precision is above recall by 2.90.", ["0.9663", "0.9373"], "2.90"),
        ("Cell line has a precision of 0.0372.", ["cell line      0.0327    0.0853"], "0.0372"),
        ("In the Reply on Two Encoders, PER has an F1 of 0.93.", ["0.93"], "Reply"),
    ],
)
def test_what_a_report_does_not_print_is_flagged(report: Paper, text: str, quotes: list[str], subject: str) -> None:
    assert subject in [finding.subject for finding in said_of_report(report, text, *quotes)]


def test_a_number_that_was_retrieved_but_is_not_cited_is_told_so(report: Paper) -> None:
    around = [element_text(element) for element in report.elements]
    [uncited] = said_of_report(report, "Of 3,684 sentences, PER has an F1 of 0.93.", "0.93", around=around)
    [unknown] = said_of_report(report, "Of 3,685 sentences, PER has an F1 of 0.93.", "0.93", around=around)
    assert uncited.subject == "3,684"
    assert "printed in what was retrieved, but not in what is cited" in uncited.message
    assert "not in the cited evidence" in unknown.message


def test_a_range_of_integers_names_all_of_them() -> None:
    table = table_of(("Seed", "F1"), *((str(seed), f"93.{seed}5") for seed in range(1, 7)))
    text = "The F1 is {} (seeds 2 to 5)."
    assert whole(table, text.format("93.25, 93.35, 93.45 and 93.55")) == ()
    assert [one.subject for one in whole(table, text.format("93.25, 93.65, 93.45 and 93.55"))] == ["93.65"]


def test_what_a_paper_is_called_and_a_heading_may_be_quoted() -> None:
    element = Passage(id="p/passage-1", place=HERE, order=1, text="The study has no control village.")
    evidence = Evidence(element=element.id, place=element.place, quote=element.text)
    text = "“Reduced transmission after… (2015)” says under “Limits of this field study” that “the village was large”."
    cited = Cited(
        elements={element.id: element},
        headings={element.id: "Reduced transmission after dams > Limits of this field study"},
        papers=frozenset({"Reduced transmission after… (2015)"}),
    )
    found = verify(question="", text=text, claims=[Claim(text=text, evidence=(evidence,))], cited=cited).findings
    assert [one.subject for one in found if one.kind == "quotation"] == ["the village was large"]


def said_of_report(paper: Paper, text: str, *quotes: str, around: Sequence[str] = ()) -> tuple[Finding, ...]:
    """Check a text that cites these quotations of a paper, each wherever it is printed."""
    evidence = tuple(
        Evidence(element=element.id, place=place, quote=quote)
        for quote in quotes
        for element in paper.elements
        if quote in element_text(element)
        for place in _places(element, quote)
    )
    elements = {one.id: one for one in paper.elements}
    headings = {one.id: paper.headings(one) for one in paper.elements}
    cited = Cited(elements=elements, headings=headings, around=around)
    return verify(question="", text=text, claims=[Claim(text=text, evidence=evidence)], cited=cited).findings


def _places(element: Element, quote: str) -> set[Place]:
    cells = element.cells if isinstance(element, Table) else ()
    return {cell.place for cell in cells if cell.text == quote} or {element.place}
