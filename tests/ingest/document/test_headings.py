"""The wording of headings: numbers and fixed titles."""

import pytest

from ingest.document.headings import is_references_title, split_number


@pytest.mark.parametrize(
    ("text", "number", "title"),
    [
        ("4.2 Results", "4.2", "Results"),
        ("1. Introduction", "1", "Introduction"),
        ("A.1 Data", "A.1", "Data"),
        ("IV. METHOD", "IV", "METHOD"),
        ("Conclusion", "", "Conclusion"),
    ],
)
def test_heading_numbers(text: str, number: str, title: str) -> None:
    assert split_number(text) == (number, title)


def test_the_bibliography_is_known_by_its_title() -> None:
    assert is_references_title("7 References")
    assert is_references_title("Bibliography")
    assert is_references_title("REFERENCES AND NOTES")
    assert is_references_title("Notes and references")
    assert not is_references_title("Results")
