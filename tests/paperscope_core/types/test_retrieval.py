"""Parsing filters, and what they allow."""

from typing import Any

import pytest

from paperscope_core.errors import InputError
from paperscope_core.types import Box, Chunk, Filters, Place, kind_of

PATH = "A Dataset Details > A.2 Named Entity Recognition"


@pytest.mark.parametrize("section", ["A", "appendix A", "A.2", "Appendix A.2", "named entity", "A.2 Named", "Dataset"])
def test_a_section_is_named_by_its_number_or_the_start_of_its_title(section: str) -> None:
    assert Filters(sections=(section,)).allows_section(PATH)


@pytest.mark.parametrize("section", ["B", "A.1", "A.22", "2", "entity recognition", "5.1", "Appendix"])
def test_other_sections_are_not_allowed(section: str) -> None:
    assert not Filters(sections=(section,)).allows_section(PATH)


def test_a_number_is_no_part_of_another_number() -> None:
    filters = Filters(sections=("5.1",))
    assert [filters.allows_section(path) for path in ("5.1 Setup", "5 Work > 5.1 Setup", "5.12 More", "15.1 No")] == [
        True,
        True,
        False,
        False,
    ]


@pytest.mark.parametrize(
    ("years", "bounds"),
    [
        ("2020", (2020, 2020)),
        ("2018-2020", (2018, 2020)),
        ("2018–2020", (2018, 2020)),
        ("2018-", (2018, None)),
        ("-2020", (None, 2020)),
    ],
)
def test_years(years: str, bounds: tuple[int | None, int | None]) -> None:
    filters = Filters.of(years=years)
    assert (filters.first_year, filters.last_year) == bounds
    assert filters.allows_year(2020) is (bounds != (2018, 2019))
    assert not filters.allows_year(None)


def test_without_years_any_paper_is_allowed() -> None:
    assert Filters().allows_year(None)


def test_kinds_are_read_in_any_case_and_number() -> None:
    assert Filters.of(kinds=["Tables", "figure"]).kinds == ("table", "figure")


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"kinds": ["chart"]}, "'chart' is no kind of element; take some of text, table"),
        ({"sections": ["  "]}, "'  ' names no section"),
        ({"years": "20"}, "'20' is no range of years"),
        ({"years": "-"}, "'-' is no range of years"),
        ({"years": "2021-2019"}, "no year is from 2021 to 2019"),
    ],
)
def test_what_makes_no_sense_is_one_clear_message(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Filters.of(**wrong)


@pytest.mark.parametrize(
    ("elements", "kind"),
    [
        (["p/passage-1", "p/equation-2"], "equation"),
        (["p/table-1"], "table"),
        (["p/figure-12"], "figure"),
        (["p/passage-1", "p/passage-2"], "text"),
        (["p/passage-9", "p/reference-2"], "text"),
        (["p/reference-1", "p/reference-2"], "reference"),
    ],
)
def test_what_a_chunk_is_there_for(elements: list[str], kind: str) -> None:
    place = Place(paper="p", page=1, box=Box(0, 0, 1, 1))
    chunk = Chunk(id="p/chunk-1", paper="p", text="", elements=tuple(elements), section="", place=place)
    assert kind_of(chunk) == kind
    assert Filters.of(kinds=[kind]).allows(chunk)
