"""Papers are searched and sorted by what they say about themselves."""

import pytest

from paperscope_core.types import PaperEntry
from service.http.paper_search import PaperOrder, search_papers


def entry(id_: str, revision: int, title: str, *authors: str, year: int | None = None, **more: str) -> PaperEntry:
    given = {"file": f"{id_}.pdf", "source": "", "sha256": "", "embedder": "", **more}
    return PaperEntry(id=id_, revision=revision, title=title, authors=authors, year=year, **given)


ENTRIES = [
    entry("aa", 1, "Zebras in the Wild", "Zoë Ångström", year=2021, venue="Nature"),
    entry("bb", 2, "", file="attention.pdf"),
    entry("cc", 3, "Big Models", "Anna Lee", "Bo Chen", year=2019, doi="10.1/abc"),
]


def ids(query: str = "", years: str | None = None, order: PaperOrder | None = None) -> str:
    return " ".join(one.id for one in search_papers(ENTRIES, query=query, years=years, order=order))


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("", "aa bb cc"),
        ("angstrom", "aa"),
        ("ÅNGSTRÖM wild", "aa"),
        ("nature", "aa"),
        ("attention", "bb"),
        ("chen 10.1", "cc"),
        ("lee zebras", ""),
        ("  ", "aa bb cc"),
        ("cc", "cc"),
    ],
)
def test_every_word_must_occur(query: str, found: str) -> None:
    assert ids(query) == found


def test_papers_of_unknown_year_are_left_out_if_a_year_is_asked_for() -> None:
    assert (ids(years="2020-"), ids(years="2019"), ids(years="2019-2021")) == ("aa", "cc", "aa cc")


def test_papers_are_sorted() -> None:
    assert ids(order="added") == "cc bb aa"
    assert ids(order="title") == "bb cc aa"
    assert ids(order="year") == "aa cc bb"
    assert ids(order="author") == "aa cc bb"
