"""Tests for bibliographies: where entries begin and end, and what each says of itself."""

import pytest

from ingest.document.references import entry_label, entry_mark, entry_year
from ingest.pdf.bibliography import bibliography_start, find_entries
from ingest.pdf.layout import Edges
from ingest.pdf.lines import line_of
from ingest.pdf.paragraphs import FlowLine
from tests.ingest.pdf.words import word


@pytest.mark.parametrize(
    ("text", "label", "year"),
    [
        ("[12] A. Smith. Title. 2019.", "[12]", 2019),
        ("12. Smith, A.: Title. Journal 3, 1–9 (2019)", "[12]", 2019),
        ("(12) Smith, A.; Wu, B. Title. J. Chem. 2019, 3, 1–9.", "[12]", 2019),
        ("12 Smith A. Title. Journal. 2019;3:1–9.", "[12]", 2019),
        ("¹²A. Smith, J. Appl. Phys. 39, 788 (2019).", "[12]", 2019),
        ("[LCS20] Xiaoya Li, Ada Chen, and Bo Sun. Title. 2020.", "[LCS20]", 2020),
        ("[Li et al., 2020a] Li, X., Chen, A., and Sun, B. (2020a). Title.", "Li et al., 2020a", 2020),
        ("Xiaoya Li, Fei Wu, and Jiwei Li. 2019. A title.", "Li et al., 2019", 2019),
        ("Xiaoya Li and Fei Wu. Learning to parse. arXiv preprint arXiv:2009.12345, 2021.", "Li and Wu, 2021", 2021),
        ("William B. Dolan and Chris Brockett. 2005. Automatically.", "Dolan and Brockett, 2005", 2005),
        ("Smith, J. (n.d.). A page.", "Smith, n.d.", None),
        ("No year and no marks", "", None),
    ],
)
def test_an_entry_is_labelled_as_a_text_cites_it(text: str, label: str, year: int | None) -> None:
    assert entry_label(text) == label
    assert entry_year(text) == year


@pytest.mark.parametrize(
    ("head", "cited"),
    [
        ("Wu, A.", "Wu"),
        ("Wu, E. and Li, B.", "Wu and Li"),
        ("Dana Xu and D. Li", "Xu and Li"),
        ("Björk, F.-F., van der Maaten, A., and Li, A.", "Björk et al."),
        ("van der Maaten, A. and Hinton, G.", "van der Maaten and Hinton"),
        ("Erik F Sang and Fien De Meulder", "Sang and De Meulder"),
        ("Kingma, Diederik P. and Ba, Jimmy", "Kingma and Ba"),
        ("Bengio, Yoshua, Louradour, Jérôme, and Weston, Jason", "Bengio et al."),
        ("Li, Xiaoya, and Yu Wu", "Li and Wu"),
        ("Smith, Mary Ann", "Smith"),
        ("Li X, Wu Y, Zhou J", "Li et al."),
        ("Th. Sorensen", "Sorensen"),
        ("B. Zoph and Q. V. Le", "Zoph and Le"),
        ("Mausam and Oren Etzioni", "Mausam and Etzioni"),
        ("Martin, J., Jr., & Li, Y.", "Martin and Li"),
        ("Robert L Logan IV and Sameer Singh", "Logan and Singh"),
        ("Smith, J., et al.", "Smith et al."),
        ("World Health Organization.", "World Health Organization"),
    ],
)
def test_authors_are_read_in_every_order_of_names(head: str, cited: str) -> None:
    assert entry_label(f"{head} (2019). On the parsing of tables.") == f"{cited}, 2019"


def test_a_title_in_quotation_marks_ends_the_authors() -> None:
    assert entry_label("A. Zoph and Q. V. Le, “Neural search,” in Proc. ICML, 2017.") == "Zoph and Le, 2017"


def test_a_bare_number_is_no_mark_outside_a_bibliography() -> None:
    assert entry_mark("12 Smith A. Title.") == ""
    assert entry_mark("(12) Smith, A. Title.") == "12"


def test_larger_print_and_what_a_gap_parts_belong_to_no_entry() -> None:
    texts = ["[1] A. Li. A title,", "J. Tests 3, 2001.", "[2] B. Wu. Another,", "J. Tests 4, 2002.", "[3] C. Xu, 2003."]
    listed = [_line(text, y=100 + 12 * index) for index, text in enumerate(texts)]
    address = _line("Department of Tests", y=100 + 12 * 8)
    title = _line("A Large Title", y=100 + 12 * 9, size=14)
    entries, rest = find_entries([*listed, address, title])
    assert [entry.text for entry in entries] == [f"{texts[0]} {texts[1]}", f"{texts[2]} {texts[3]}", texts[4]]
    assert rest == [address, title]


def test_a_bibliography_without_a_title_begins_at_its_first_entry() -> None:
    texts = ["as was shown above.", *(f"[{number}] A. Li, J. Tests {number}, 7 (2001)." for number in range(1, 7))]
    lines = [_line(text, y=100 + 12 * index) for index, text in enumerate(texts)]
    assert bibliography_start(lines) == 1
    assert bibliography_start(lines[:4]) is None
    assert bibliography_start(lines[4:], after=3) == 0


def test_a_bibliography_of_raised_numbers_needs_no_title() -> None:
    texts = [
        "as was shown above.",
        *(f"{mark}A. Li, J. Tests {index}, 7 (2001)." for index, mark in enumerate("³⁴⁵⁶⁷")),
    ]
    lines = [_line(text, y=100 + 12 * index) for index, text in enumerate(texts)]
    assert bibliography_start(lines) == 1


def _line(text: str, *, y: float, size: float = 10) -> FlowLine:
    line = line_of([word(text, 50, y, size=size)])
    return FlowLine(page=0, column=0, edges=Edges(left=50, right=300), line=line)
