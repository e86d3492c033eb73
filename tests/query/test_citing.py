"""What is cited is named by its paper, its label and its pages."""

from dataclasses import replace

import pytest

from paperscope_core.types import Check, Claim, Evidence
from query.citing import EvidenceNamer, short_title
from tests.query.conftest import PAPER, TREE, MemoryLibrary, place

TITLE = "Dice Losses for Imbalanced Tagging"


@pytest.mark.parametrize(
    ("title", "short"),
    [
        ("SCITAB: A Challenging Benchmark", "SCITAB"),
        (TITLE, TITLE),
        ("Ratio 3:1 and Others", "Ratio 3:1 and Others"),
        ("word " * 20, "word word word word word word word word word word word…"),
        ("x" * 70, "x" * 59 + "…"),
        ("", ""),
    ],
)
def test_a_short_title_has_no_subtitle(title: str, short: str) -> None:
    assert short_title(title) == short


@pytest.mark.parametrize(
    ("element", "pages", "name"),
    [
        ("table-2", (2,), f"{TITLE}, Table 2, page 2"),
        ("table-2", (2, 3), f"{TITLE}, Table 2, pages 2, 3"),
        ("reference-1", (3,), f"{TITLE}, [1], page 3"),
        ("passage-1", (1,), f"{TITLE}, page 1"),
    ],
)
def test_evidence_is_named_by_paper_label_and_pages(element: str, pages: tuple[int, ...], name: str) -> None:
    first, *more = (place(page, 30.0) for page in pages)
    evidence = Evidence(element=f"{PAPER}/{element}", place=first, more_places=tuple(more))
    namer = EvidenceNamer(MemoryLibrary(TREE))
    [claim] = namer.claims([Claim(text="", evidence=(evidence,))])
    [check] = namer.checks([Check(number="1", finding="printed", support=(evidence,))])
    assert claim.evidence == check.support
    assert str(claim.evidence[0]) == name
    assert str(evidence).startswith(f"{PAPER}/{element}, page")


def test_a_passage_is_named_by_its_section() -> None:
    elements = tuple(replace(one, section=f"{PAPER}/section-4") for one in TREE.elements)
    namer = EvidenceNamer(MemoryLibrary(replace(TREE, elements=elements, title=f"{TITLE}: A Study")))
    evidence = Evidence(element=f"{PAPER}/passage-1", place=place(1, 30.0))
    [claim] = namer.claims([Claim(text="", evidence=(evidence,))])
    assert claim.evidence[0].name == f"{TITLE}, Section 3.1, page 1"


def test_papers_of_one_name_are_told_apart() -> None:
    other = replace(TREE, id="bbbb00000002", elements=(), links=())
    namer = EvidenceNamer(MemoryLibrary(TREE, other))
    [claim] = namer.claims([Claim(text="", evidence=(Evidence(element=f"{PAPER}/table-1", place=place(1, 0)),))])
    assert claim.evidence[0].name == f"{TITLE} [{PAPER}], Table 1, page 1"
