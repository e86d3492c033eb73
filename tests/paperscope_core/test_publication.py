"""Year, venue, DOI and arXiv id of a paper are those that it states about itself, and no others."""

from dataclasses import replace
from typing import Any

import pytest

from paperscope_core.publication import arxiv_in, complete_publication, doi_in, is_same_work, looked_up, with_record
from paperscope_core.types import PRINTED, BibRecord, Box, Page, Paper, Passage, PassageRole, Place, Publication


def paper(
    *lines: tuple[PassageRole, str], file: str = "paper.pdf", page: int = 1, section: str = "", gap: float = 5
) -> Paper:
    passages = [
        Passage(
            id=f"p/passage-{number}",
            place=Place(paper="p", page=page, box=Box(0, (10 + gap) * number, 10, (10 + gap) * number + 10)),
            order=number,
            text=text,
            role=role,
            section=section,
        )
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


def year(paper: Paper) -> int | None:
    return complete_publication(paper).year


@pytest.mark.parametrize(
    ("role", "text", "expected"),
    [
        ("furniture", "Proceedings of the 58th Meeting, pages 465-476, July 5 - 10, 2020. ⃝c 2020 Association", 2020),
        ("paragraph", "Submitted: 01 June 2024 Published: 04 July 2025", 2025),
        ("furniture", "31st Conference on Neural Information Processing Systems (NIPS 2017), Long Beach, CA.", 2017),
        ("authors", "Emerging Technology for Space (NETS)\nFebruary 23-26, 2015", 2015),
        ("furniture", "arXiv:2303.05039v2 [cs.CL] 9 Mar 2023", 2023),
        ("furniture", "Download date: 28 Dec 2018", None),
        ("paragraph", "August 2010, Volume 36, Issue 3.", 2010),
        ("authors", "A. Author\nA University\n27 November, 2022", 2022),
        ("authors", "A. Author\nMar 25, 2016", 2016),
        ("authors", "A. Author\nmade with version 4.2.1 (2022-06-23) on October 11, 2022", None),
        ("abstract", "We use the proceedings of 2014.", None),
        ("paragraph", "As Meng et al. (2019) show, losses differ.", None),
        ("paragraph", "Long " * 60 + "published in 2019.", None),
        ("footnote", "Permission to copy is granted. " * 10 + "© 2023 Association", 2023),
    ],
)
def test_the_year_is_that_of_the_imprint(role: PassageRole, text: str, expected: int | None) -> None:
    assert year(paper((role, text))) == expected


def test_another_page_is_not_asked() -> None:
    assert year(paper(("furniture", "© 2019 The Authors"), page=2)) is None


@pytest.mark.parametrize(
    ("file", "expected"),
    [
        ("2310.07609v1.pdf", 2023),
        ("2023.acl-long.386.pdf", 2023),
        ("jose.00267.pdf", None),
        ("2399.07609.pdf", None),
        ("paper.pdf", None),
    ],
)
def test_the_year_of_the_file_name_is_the_fallback(file: str, expected: int | None) -> None:
    assert year(paper(file=file)) == expected
    assert year(paper(("furniture", "© 2011 The Authors"), file=file)) == 2011


def test_a_stamp_of_arxiv_states_the_year_of_the_first_version_if_there_is_no_imprint() -> None:
    stamp: tuple[PassageRole, str] = ("furniture", "arXiv:2312.04350v3 [cs.CL] 17 Jan 2024")
    assert year(paper(stamp)) == 2023
    assert year(paper(stamp, ("furniture", "Proceedings of a meeting, 2025"))) == 2025


@pytest.mark.parametrize(
    ("text", "venue"),
    [
        (
            "Proceedings of the 4th Meeting on Maps, Atlases, and Globes, pages 17–28",
            "Proceedings of the 4th Meeting on Maps, Atlases, and Globes",
        ),
        ("Findings of the Society for Maps: MAP 2022, pages 1–9", "Findings of the Society for Maps: MAP 2022"),
        (
            "35th Conference on Map Processing Systems (MapIPS 2021), Oslo, Norway.",
            "35th Conference on Map Processing Systems (MapIPS 2021)",
        ),
        ("Published as a conference paper at ICMR 2024", "ICMR 2024"),
        ("Published in Transactions on Maps Research (08/2023)", "Transactions on Maps Research"),
        ("M. Mapper et al. (Eds.): ICMA 2023, LNCS 14188, pp. 37–50, 2023.", "ICMA 2023"),
        ("MAPS ’23, July 3–7, 2023, Oslo, Norway", "MAPS ’23"),
        ("A. Author et al. / Map-Based Systems 260 (2023) 110163", "Map-Based Systems"),
        ("Author et al. BMC Cartography (2019) 20:123", "BMC Cartography"),
        ("NATURE MAPS | (2021) 12:345 | https://doi.org/10.1038/s41467-021-1", "NATURE MAPS"),
        ("Maps 2020, 20, 1234; doi:10.3390/m20041234", "Maps"),
        ("Journal of Map Software 2016;70(10):1–35.", "Journal of Map Software"),
        ("Author. (2023). A title of it. Journal of Open Maps, 6(66), 206.", "Journal of Open Maps"),
        ("MAP REVIEW LETTERS 116, 061102 (2016)", "MAP REVIEW LETTERS"),
        ("IEEE TRANSACTIONS ON MAPS, VOL. 12, NO. 3, MARCH 2020", "IEEE TRANSACTIONS ON MAPS"),
        ("PLOS MAPS | https://doi.org/10.1371/journal.pmap.0239474 September 18, 2020 1 / 21", "PLOS MAPS"),
        ("mapRxiv preprint doi: https://doi.org/10.1101/2020.01.02.1; this version posted", ""),
        ("bioMaps preprint", ""),
        ("Under review as a conference paper at ICMR 2024", ""),
        ("Submitted to 37th Conference on Map Processing Systems (MapIPS 2023). Do not distribute.", ""),
        ("August 2010, Volume 36, Issue 3.", ""),
        ("A Running Head of a Paper in 2020", ""),
        ("Author et al. 12", ""),
        ("Conference acronym ’XX, June 03–05, 2018, Woodstock, NY", ""),
    ],
)
def test_the_venue_is_that_of_a_running_head_or_an_imprint(text: str, venue: str) -> None:
    assert complete_publication(paper(("furniture", text))).venue == venue
    assert (
        complete_publication(paper(("paragraph", f"As in {text}, maps are maps."), section="p/section-1")).venue == ""
    )


def test_lines_of_a_running_foot_are_one_text() -> None:
    lines: list[tuple[PassageRole, str]] = [
        ("furniture", "Author. (2024). A title. Journal of Open 1"),
        ("furniture", "Source Maps, 7(75), 90. https://doi.org/10.5555/josm.90."),
    ]
    assert complete_publication(paper(*lines)) == Publication(
        year=2024, venue="Journal of Open Source Maps", doi="10.5555/josm.90"
    )
    numbered: tuple[PassageRole, str] = ("furniture", "465")
    imprint: tuple[PassageRole, str] = ("furniture", "Proceedings of a Meeting on Maps, pages 465–476")
    assert complete_publication(paper(numbered, imprint)).venue == "Proceedings of a Meeting on Maps"


def test_a_paper_cites_itself_with_its_year_and_its_doi_on_the_line_below() -> None:
    cited: tuple[PassageRole, str] = ("paragraph", "Cite this article: Bee A. 2013 Foxes at Large. Maps 3: 5.")
    address: tuple[PassageRole, str] = ("paragraph", "http://dx.doi.org/10.5555/m.2013")
    own = replace(paper(cited, address, section="p/section-1"), title="Foxes at Large")
    assert (complete_publication(own).year, complete_publication(own).doi) == (2013, "10.5555/m.2013")
    other = complete_publication(replace(own, title="Hares at Large"))
    assert (other.year, other.doi) == (None, "")


def test_a_cover_sheet_at_the_end_has_title_and_doi() -> None:
    sheet: tuple[PassageRole, str] = ("paragraph", "Foxes at Large in Deep Snow. Maps 3. DOI: 10.5555/m.2013")
    two = (Page(number=1, width=600, height=800), Page(number=2, width=600, height=800))
    own = replace(paper(sheet, page=2, section="p/section-9"), title="Foxes at Large in Deep Snow", pages=two)
    assert complete_publication(own).doi == "10.5555/m.2013"
    assert complete_publication(replace(own, title="Hares at Large in Deep Snow")).doi == ""


@pytest.mark.parametrize(
    ("lines", "doi"),
    [
        ([("furniture", "https://doi.org/10.5555/m.2020.1")], "10.5555/m.2020.1"),
        ([("paragraph", "DOI: 10.5555/m.2020.1")], "10.5555/m.2020.1"),
        ([("paragraph", "This note corresponds to an article (doi:10.5555/m(20)1).")], "10.5555/m(20)1"),
        (
            [("footnote", "© 2023 A Society. ISBN 978-1"), ("footnote", "https://doi.org/10.5555/12.34")],
            "10.5555/12.34",
        ),
        ([("footnote", "¹Our data are at"), ("footnote", "https://doi.org/10.5555/zenodo.1")], ""),
        (
            [("furniture", "doi:10.5555/a"), ("furniture", "arXiv:2310.07609v1"), ("paragraph", "DOI: 10.5555/b")],
            "10.5555/a",
        ),
        ([("paragraph", "DOI: 10.5555/a"), ("paragraph", "data DOI: 10.5555/b")], ""),
        ([("abstract", "See doi:10.5555/a")], ""),
        ([("footnote", "© 2018 A Society. https://doi.org/10.1145/nnnnnnn.nnnnnnn")], ""),
    ],
)
def test_the_doi_is_the_papers_own(lines: list[tuple[PassageRole, str]], doi: str) -> None:
    assert complete_publication(paper(*lines, gap=30)).doi == doi


def test_a_doi_in_the_text_or_on_another_page_is_another_works() -> None:
    line: tuple[PassageRole, str] = ("paragraph", "DOI: 10.5555/m.2020.1")
    assert complete_publication(paper(line, section="p/section-1")).doi == ""
    assert complete_publication(paper(line, page=2)).doi == ""


@pytest.mark.parametrize(
    ("stated", "file", "arxiv"),
    [
        ("arXiv:2310.07609v1 [cs.CL] 11 Oct 2023", "a.pdf", "2310.07609"),
        ("arXiv:hep-th/9901001v3 1 Jan 1999", "a.pdf", "hep-th/9901001"),
        ("https://doi.org/10.48550/arXiv.2310.07609", "a.pdf", "2310.07609"),
        ("a foot", "2310.07609v2.pdf", "2310.07609"),
        ("a foot", "report-2310.07609.pdf", ""),
        ("see arXiv:2310.07609", "a.pdf", ""),
    ],
)
def test_the_id_at_arxiv_is_that_of_the_stamp_the_doi_or_the_file(stated: str, file: str, arxiv: str) -> None:
    assert complete_publication(paper(("furniture", stated), file=file)).arxiv == arxiv


def test_what_the_metadata_state_comes_first() -> None:
    stated = Publication(year=1999, venue="Maps", doi="10.5555/1", arxiv="9901.00001")
    printed: tuple[PassageRole, str] = ("furniture", "Journal of Map Software 2016;70(10):1–35. doi:10.5555/2")
    assert complete_publication(paper(printed), stated=stated) == stated


def test_the_ids_of_other_forms_are_none() -> None:
    assert doi_in("DOI 10.5555/x.1.") == "10.5555/x.1"
    assert doi_in("XXXXXXX.XXXXXXX") == doi_in("version 10.5/3") == ""
    assert arxiv_in("https://arxiv.org/abs/2310.07609v2") == "2310.07609"
    assert arxiv_in("arXiv:") == arxiv_in("") == ""


def record(title: str = "", *, authors: tuple[str, ...] = (), **published: Any) -> BibRecord:
    return BibRecord(origin="Crossref", title=title, authors=authors, publication=Publication(**published))


def test_a_record_completes_a_paper_and_says_which_fields_are_its_own() -> None:
    printed = replace(
        paper(), title="Owl nets", authors=("A. L.",), publication=Publication(year=2020, doi="10.5555/1")
    )
    told = record("OWL NETS", authors=("Ada Lovelace",), venue="Owls", year=2021, families=("Lovelace",))
    found = with_record(printed, told)
    assert (found.title, found.authors, found.publication.doi) == ("Owl nets", ("Ada Lovelace",), "10.5555/1")
    origins = {field: found.publication.origin(field) for field in ("title", "authors", "year", "venue", "doi")}
    assert origins == dict.fromkeys(("authors", "year", "venue"), "Crossref") | dict.fromkeys(("title", "doi"), PRINTED)
    (kept,) = looked_up(found)
    assert with_record(printed, kept) == found
    assert looked_up(printed) == []
    other = with_record(found, record(authors=("Grace Hopper", "Ada Lovelace")))
    assert other.publication.families == ()


@pytest.mark.parametrize(
    ("printed", "told", "same"),
    [
        ("Owl nets see at night", "Owl Nets See at Night", True),
        ("Owl nets", "Owl nets: a survey of seeing", True),
        ("Owl-nets see at n1ght*", "Owl nets see at night", True),
        ("", "Owl nets", True),
        ("Measuring the weight of a mouse", "Measuring the wings of an owl at night", False),
        ("视觉模型的综述", "语言模型的推理", False),
    ],
)
def test_a_record_of_another_work_is_told_by_its_title(printed: str, told: str, *, same: bool) -> None:
    assert is_same_work(replace(paper(), title=printed), record(told)) is same
