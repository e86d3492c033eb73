"""A paper's year is read off what it prints about itself, and off nothing else."""

import pytest

from graph_store.publication_year import year_of
from paperscope_core.types import Box, Page, Paper, Passage, PassageRole, Place


def paper(*lines: tuple[PassageRole, str], file: str = "paper.pdf", page: int = 1) -> Paper:
    place = Place(paper="p", page=page, box=Box(0, 0, 10, 10))
    passages = [
        Passage(id=f"p/passage-{number}", place=place, order=number, text=text, role=role)
        for number, (role, text) in enumerate(lines, start=1)
    ]
    return Paper(
        id="p",
        title="",
        authors=(),
        sha256="",
        file=file,
        pages=(Page(number=1, width=600, height=800),),
        sections=(),
        elements=tuple(passages),
    )


@pytest.mark.parametrize(
    ("role", "text", "year"),
    [
        ("furniture", "Proceedings of the 58th Meeting, pages 465-476, July 5 - 10, 2020. ⃝c 2020 Association", 2020),
        ("paragraph", "Submitted: 01 June 2024 Published: 04 July 2025", 2025),
        ("furniture", "31st Conference on Neural Information Processing Systems (NIPS 2017), Long Beach, CA.", 2017),
        ("authors", "Emerging Technology for Space (NETS)\nFebruary 23-26, 2015", 2015),
        ("furniture", "arXiv:2303.05039v2 [cs.CL] 9 Mar 2023", 2023),
        ("furniture", "Download date: 28 Dec 2018", None),
        ("abstract", "We use the proceedings of 2014.", None),
        ("paragraph", "As Meng et al. (2019) show, losses differ.", None),
        ("paragraph", "Long " * 60 + "published in 2019.", None),
        ("footnote", "Permission to copy is granted. " * 10 + "© 2023 Association", 2023),
    ],
)
def test_the_year_is_that_of_the_imprint(role: PassageRole, text: str, year: int | None) -> None:
    assert year_of(paper((role, text))) == year


def test_another_page_is_not_asked() -> None:
    assert year_of(paper(("furniture", "© 2019 The Authors"), page=2)) is None


@pytest.mark.parametrize(
    ("file", "year"),
    [
        ("2310.07609v1.pdf", 2023),
        ("2023.acl-long.386.pdf", 2023),
        ("jose.00267.pdf", None),
        ("2399.07609.pdf", None),
        ("paper.pdf", None),
    ],
)
def test_the_year_of_the_file_name_is_the_fallback(file: str, year: int | None) -> None:
    assert year_of(paper(file=file)) == year
    assert year_of(paper(("furniture", "© 2011 The Authors"), file=file)) == 2011


def test_a_stamp_of_arxiv_states_the_year_of_the_first_version_if_there_is_no_imprint() -> None:
    stamp: tuple[PassageRole, str] = ("furniture", "arXiv:2312.04350v3 [cs.CL] 17 Jan 2024")
    assert year_of(paper(stamp)) == 2023
    assert year_of(paper(stamp, ("furniture", "Proceedings of a meeting, 2025"))) == 2025
