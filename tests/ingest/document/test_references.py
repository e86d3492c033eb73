"""Entries of a bibliography: labels, years and titles, in every style that papers use."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.document.references import entry_label, entry_mark, entry_year, title_of


@pytest.mark.parametrize(
    ("entry", "title"),
    [
        (
            "Ada King and Bo Li. 2016. Machine comprehension by pointer networks. arXiv preprint arXiv:1608.00001.",
            "Machine comprehension by pointer networks",
        ),
        (
            "King, A., & Li, B. C. (2018a). An economist's guide to weather. Journal of Weather, 32(4), 3–32.",
            "An economist's guide to weather",
        ),
        (
            "[25] Ada B King, Bo Li, and Cy Wu. A large corpus: The oak treebank. Linguistics, 19(2):313–330, 1993.",
            "A large corpus: The oak treebank",
        ),
        (
            "13. King, A.B., Li, C.: Deep tables: reading of tables. In: Document Analysis. pp. 1403–1409 (2019)",
            "Deep tables: reading of tables",
        ),
        (
            "King, A., Li, B., 2020. Electra: Reading of trees, in: Proceedings of the Conference, pp. 3-4.",
            "Electra: Reading of trees",
        ),
        (
            '[7] A. King and B. Li, "Reading tables without rules," IEEE Trans. Tables, vol. 3, 2020.',
            "Reading tables without rules",
        ),
        (
            "A. King, B. Li. 2020. “It wouldn't happen to me”: Privacy after the event. Int. J. Stud. 143 (2020).",
            "“It wouldn't happen to me”: Privacy after the event",
        ),
        (
            "King, A. (2022). Manim: an animation framework (Version v0.17.2). https://example.org",
            "Manim: an animation framework",
        ),
        ("King, A., & Li, B. (2010). What makes practice work? Psychology, 61(3), 228.", "What makes practice work"),
        (
            "Ada King. 2021. Get your vitamin C! robust checks with evidence. In Findings.",
            "Get your vitamin C! robust checks with evidence",
        ),
        (
            "IPCC. (2019). Climate change and land: A special report. https://example.org",
            "Climate change and land: A special report",
        ),
    ],
)
def test_the_title_follows_authors_and_year_or_stands_in_quotation_marks(entry: str, title: str) -> None:
    assert title_of(entry) == title


@pytest.mark.parametrize(
    "entry",
    [
        "",
        "[1]",
        "Rare tags. 2019.",
        "King, A. (2022). Quarto (Version 1.2). https://example.org",  # one word is any software's name
        "King, A. (2022). https://example.org/a/b See the page.",
        "see the text of the law of the land",
    ],
)
def test_entry_without_a_certain_title(entry: str) -> None:
    assert title_of(entry) == ""


@given(st.text(max_size=300))
def test_any_text_gives_a_part_of_itself(text: str) -> None:
    assert title_of(text) in " ".join(text.split())


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


def test_a_title_in_quotation_marks_ends_the_authors() -> None:
    assert entry_label("A. Zoph and Q. V. Le, “Neural search,” in Proc. ICML, 2017.") == "Zoph and Le, 2017"


def test_bare_number_is_not_a_mark_outside_a_bibliography() -> None:
    assert entry_mark("12 Smith A. Title.") == ""
    assert entry_mark("(12) Smith, A. Title.") == "12"
