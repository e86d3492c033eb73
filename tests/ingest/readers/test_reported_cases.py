"""Files on which other products were reported to fail, in `shared/cases`, are read as their README says."""

from itertools import chain
from pathlib import Path

import pytest

from ingest.parsers import parser_for
from paperscope_core.settings import LimitSettings, ParserSettings
from paperscope_core.types import Element, Equation, Paper, PaperFile, Passage, Table


@pytest.fixture(scope="module")
def cases(shared: Path) -> Path:
    folder = shared / "cases"
    if not folder.is_dir():
        pytest.skip("the reported cases are missing (a folder 'cases' in 'shared')")
    return folder


def parse(file: Path) -> Paper:
    return parser_for(ParserSettings(), limits=LimitSettings()).parse(PaperFile(file)).paper


def texts(elements: tuple[Element, ...]) -> str:
    return "\n".join(one.text for one in elements if isinstance(one, Passage | Equation))


def table(paper: Paper) -> list[list[str]]:
    (found,) = (element for element in paper.elements if isinstance(element, Table))
    return found.grid()


FORMULAS = {
    "math.docx": (
        ["(a/b)²", "(√(x+1))²", "(x+1)²", "binom(n, k)", "a/(b/c)", "(a/b)/c", "(1/2)x", "1/(2x)", "∑_(i=1)^∞ i"],
        ["x^k a^(n-k)", "∛x", "x_i²", "[1, 2; 3, 4]", "x̄", "ŷ", "e^((-x)/2)"],
    ),
    "math.html": (["(a/b)²", "binom(n, k)", "(√(x+1))²", "(x+1)²", "a/(b/c)", "1/(2x)", "(1/2)x", "∑_(i=1)^∞", "∛x"],),
    "math.md": (
        ["(a/b)² and (a/b)² and (a/b)²", "binom(n, k) and binom(n, k) and binom(n, k)", "(√(x+1))²", "(x+1)²"],
        ["a/(b/c)", "(1/2)x and 1/(2x) and (1/2) x", "e^(-x/2)", "price is $5 and $10 in total, and 50% of $3."],
    ),
}


@pytest.mark.parametrize("name", FORMULAS)
def test_formulas(cases: Path, name: str) -> None:
    paper = parse(cases / "maths" / name)
    found = texts(paper.elements)
    assert [formula for formula in chain(*FORMULAS[name]) if formula not in found] == []
    assert ["F1", "(2PR)/(P+R)"] in [row[:2] for row in table(paper)]


def test_a_fraction_to_a_power(cases: Path) -> None:
    paper = parse(cases / "maths" / "omml_frac_superscript.docx")
    (equation,) = (element for element in paper.elements if isinstance(element, Equation))
    assert equation.text == "((x-c)/v)²"


def test_equations_in_a_table(cases: Path) -> None:
    rows = table(parse(cases / "maths" / "table_with_equations.docx"))
    assert [row[1] for row in rows] == ["A=π r²", "x=(-b±√(b²-4ac))/(2a)"]


def test_symbols_of_word(cases: Path) -> None:
    paper = parse(cases / "docx-symbols" / "sym.docx")
    found = texts(paper.elements)
    assert "The learning rate α = 0.01 and β = 0.9; error ± 2; size ≤ 5 and ≥ 3; 10 μm; Δx." in found
    assert "Wingdings: ✓ yes and ✗ no and → arrow." in found
    assert table(paper) == [["Model", "Size (μm)", "Has"], ["A", "3.1 ± 0.2", "✓"], ["B", "2.9 ± 0.4", "✗"]]


@pytest.mark.parametrize(("name", "cell"), [("pre", "x=1"), ("h4", "Head text"), ("nested", "1 2"), ("ul", "a b")])
def test_cells_that_hold_blocks(cases: Path, name: str, cell: str) -> None:
    paper = parse(cases / "html-table-cells" / f"{name}.html")
    assert table(paper) == [["Name", "Value"], ["alpha", cell], ["beta", "0.5"]]
    assert {one.label for one in paper.elements if isinstance(one, Table)} == {"Table 1"}


@pytest.mark.parametrize(
    ("name", "words", "charset"),
    [("gbk.md", "本文研究了二十三块样地的土壤湿度。", "GB 18030"), ("sjis.txt", "土壌水分と大麦の収量", "Shift JIS")],
)
def test_character_sets(cases: Path, name: str, words: str, charset: str) -> None:
    paper = parse(cases / "encodings" / name)
    assert words in texts(paper.elements)
    (problem,) = paper.problems
    assert f"read as {charset}, confidence " in problem.reason


def test_separated_values_are_a_table(cases: Path) -> None:
    paper = parse(cases / "encodings" / "stanley-cups.csv")
    assert table(paper)[:2] == [["Team", "Location", "Stanley Cups"], ["Blues", "STL", "1"]]
    assert [one.caption for one in paper.elements if isinstance(one, Table)] == ["Stanley Cups"]


def test_latex_is_read(cases: Path) -> None:
    paper = parse(cases / "encodings" / "main.tex")
    assert (paper.format, paper.title) == ("latex", "Hello")
    assert texts(paper.elements) == "Hello\n1 One\nAccuracy is 91.2% [x]."
