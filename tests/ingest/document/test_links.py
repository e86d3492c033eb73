"""Links: what a text names, and the elements that it refers to."""

import pytest

from ingest.document.links import expand_numbers, find_links, find_mentions
from ingest.document.references import entry_label
from paperscope_core.types import Box, Element, Passage, Place, Reference, Section, Table

PLACE = Place(paper="p", page=1, box=Box(0, 0, 1, 1))


@pytest.mark.parametrize(
    ("text", "labels", "printed"),
    [
        ("see Table 6, and", ["Table 6"], "Table 6"),
        ("(Table 6)", ["Table 6"], "Table 6"),
        ("Tables 2 and 3 show", ["Table 2", "Table 3"], "Tables 2 and 3"),
        ("Tables 1, 2, and 4", ["Table 1", "Table 2", "Table 4"], "Tables 1, 2, and 4"),
        ("Table II shows", ["Table II"], "Table II"),
        ("in Tab. 4", ["Table 4"], "Tab. 4"),
        ("Figs. 2–4 and", ["Figure 2", "Figure 3", "Figure 4"], "Figs. 2–4"),
        ("Figure 3(b) shows", ["Figure 3"], "Figure 3(b)"),
        ("Fig. 3a–c", ["Figure 3"], "Fig. 3a–c"),
        ("in Fig. S1", ["Figure S1"], "Fig. S1"),
        ("by Eq. (3), we", ["Equation 3"], "Eq. (3)"),
        ("Eqs. (3)–(5)", ["Equation 3", "Equation 4", "Equation 5"], "Eqs. (3)–(5)"),
        ("Eqs. (1), (2) and (4)", ["Equation 1", "Equation 2", "Equation 4"], "Eqs. (1), (2) and (4)"),
        ("Equation 2 is", ["Equation 2"], "Equation 2"),
        ("as in (3).", ["Equation 3"], "(3)"),
        ("Section 5.2. The", ["Section 5.2"], "Section 5.2"),
        ("§§3–4", ["Section 3", "Section 4"], "§§3–4"),
        ("Sec. III-B and", ["Section III-B"], "Sec. III-B"),
        ("Appendices B and C", ["Section B", "Section C"], "Appendices B and C"),
        ("Algorithm 1", ["Algorithm 1"], "Algorithm 1"),
        ("Listing 2", ["Listing 2"], "Listing 2"),
        ("In Table 2, 5 models", ["Table 2"], "Table 2"),
        ("Table 2 and 5 models", ["Table 2"], "Table 2"),
        ("Fig. 3 and 4.", ["Figure 3", "Figure 4"], "Fig. 3 and 4"),
    ],
)
def test_mentions(text: str, labels: list[str], printed: str) -> None:
    found = list(find_mentions(text))
    assert [mention.label for mention in found] == labels
    assert {mention.text for mention in found} == {printed}


@pytest.mark.parametrize(
    "text",
    [
        "Figure 2 of Li et al. (2020)",
        "Fig. 3 in [12]",
        "Supplementary Fig. 3",
        "they differ in (1) the model and (2) the data",
        "In this section A is a matrix",
        "a table 5% larger",
    ],
)
def test_no_mention(text: str) -> None:
    assert list(find_mentions(text)) == []


def test_ranges_are_filled_in() -> None:
    assert expand_numbers("2, 4-6") == ["2", "4", "5", "6"]
    assert expand_numbers("A.1–A.3") == ["A.1", "A.2", "A.3"]
    assert expand_numbers("3.2–3.4 and 5") == ["3.2", "3.3", "3.4", "5"]


AUTHORS = (
    "Xiaoya Li, Fei Wu, and Bo Sun. 2020. A title.",
    "Fei Wu and Bo Xu. 2019a. Some title.",
    "Fei Wu and Bo Xu. 2019b. Other words.",
    "Erik F Sang and Fien De Meulder. 2003. A task.",
    "Judea Pearl. 2009. Causality.",
    "Bo Li. 2020. More.",
    "Ada Chen. 2021. One thing entirely.",
    "Eve Chen. 2021. Another matter altogether.",
)
NUMBERED = tuple(f"[{number}] A. Li. A title. 2001." for number in range(1, 9))
KEYED = ("[LCS20] Xiaoya Li. 2020. A title.", "[Wu+21] Fei Wu. 2021. A title.")


@pytest.mark.parametrize(
    ("references", "text", "cited"),
    [
        (AUTHORS, "(Li et al., 2020; Wu and Xu, 2019a)", {"Li et al., 2020": [0], "Wu and Xu, 2019a": [1]}),
        (AUTHORS, "as Li et al. (2020) show", {"Li et al. (2020)": [0]}),
        (AUTHORS, "BERT(Li et al., 2020)", {"Li et al., 2020": [0]}),
        (AUTHORS, "by Li, Wu, and Sun (2020)", {"Li, Wu, and Sun (2020)": [0]}),
        (AUTHORS, "(Wu & Xu, 2019a,b)", {"Wu & Xu, 2019a,b": [1, 2]}),
        (AUTHORS, "(Sang and De Meulder, 2003)", {"Sang and De Meulder, 2003": [3]}),
        (AUTHORS, "(Sang and Meulder, 2003)", {"Sang and Meulder, 2003": [3]}),
        (AUTHORS, "Pearl’s (2009) book", {"Pearl’s (2009)": [4]}),
        (AUTHORS, "(see Pearl 2009, p. 3)", {"Pearl 2009": [4]}),
        (AUTHORS, "Zhu and Li (2020), Wu and Xu (2019), Chen (2021)", {}),
        (NUMBERED, "as in [3, 5–7]", {"[3, 5–7]": [2, 4, 5, 6]}),
        (NUMBERED, "[1]–[3] and [8, p. 5]", {"[1]–[3]": [0, 1, 2], "[8, p. 5]": [7]}),
        (NUMBERED, "x ∈ [1, 5], y in [0, 1], [9]", {}),
        (NUMBERED, "known^(1;2) words³⁻⁵, and m² said.⁶", {"^(1;2)": [0, 1], "³⁻⁵": [2, 3, 4], "⁶": [5]}),
        (NUMBERED, "known² once", {}),
        (NUMBERED, "known (1, 2) and (3–6)", {"(1, 2)": [0, 1], "(3–6)": [2, 3, 4, 5]}),
        (NUMBERED, "known [7], not (1, 2) or (3–6)", {"[7]": [6]}),
        (KEYED, "as in [LCS20, Wu⁺21] but not [LCS20, ABC]", {"[LCS20, Wu⁺21]": [0, 1]}),
    ],
)
def test_citations(references: tuple[str, ...], text: str, cited: dict[str, list[int]]) -> None:
    entries = [
        Reference(id=f"r{index}", place=PLACE, order=0, text=entry, label=entry_label(entry))
        for index, entry in enumerate(references)
    ]
    links = find_links([Passage(id="s", place=PLACE, order=0, text=text), *entries], ())
    found: dict[str, list[int]] = {}
    for link in links:
        found.setdefault(link.text, []).append(int(link.target[1:]))
    assert found == cited


def test_two_entries_of_one_work_lead_to_the_first() -> None:
    entries = [
        Reference(id=f"r{index}", place=PLACE, order=0, text=text, label=entry_label(text))
        for index, text in enumerate(
            ["Ada Chen. 2021. A survey of parsing. arXiv.", "A. Chen. 2021. A survey of parsing."]
        )
    ]
    links = find_links([Passage(id="s", place=PLACE, order=0, text="(Chen, 2021)"), *entries], ())
    assert [link.target for link in links] == ["r0"]


def test_sections_are_found_by_number_and_letters_by_their_parent() -> None:
    names = [("III", "Methods", 1), ("A", "Data", 2), ("IV", "Results", 1), ("A", "Setup", 2), ("A", "Proofs", 1)]
    sections = [
        Section(id=f"section-{index}", number=number, title=title, level=level, path=title)
        for index, (number, title, level) in enumerate(names)
    ]
    headings: list[Element] = [
        Passage(id=f"h{index}", place=PLACE, order=0, text=section.title, role="heading", section=section.id)
        for index, section in enumerate(sections)
    ]
    text = Passage(id="s", place=PLACE, order=0, text="See Sections III and IV-A, and Appendix A.")
    links = find_links([*headings, text], sections)
    assert [link.target for link in links] == ["h0", "h3", "h4"]


def test_listing_is_a_target_but_not_a_source() -> None:
    listing = Passage(id="l", place=PLACE, order=0, text="see Table 1", role="code", label="Algorithm 1", caption="A")
    table = Table(id="t", place=PLACE, order=0, cells=(), label="Table 1")
    text = Passage(id="s", place=PLACE, order=0, text="Algorithm 1 fills Table 1.")
    links = find_links([listing, table, text], ())
    assert [(link.source, link.target) for link in links] == [("s", "l"), ("s", "t")]
