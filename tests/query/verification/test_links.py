"""A link of a model must be one that the papers or the question print."""

import pytest

from paperscope_core.types import Box, Place
from query.verification import check_links

PRINTED = (
    "Our code is at https://github.com/Owl-Lab/nets (see also www.owl.example).",
    "Data: https://zenodo.org/records/\n123456. Correspondence: ada@owl-lab.example.",
    "See https://en.wikipedia.org/wiki/Owl_(bird) and ftp://files.owl.example/a.",
)


def links_in(*texts: str) -> list[str]:
    return [finding.subject for finding in check_links([(text, None) for text in texts], PRINTED)]


@pytest.mark.parametrize(
    "text",
    [
        "The code is at https://github.com/owl-lab/nets.",
        "It is [here](http://github.com/Owl-Lab/nets), the lab (www.github.com/owl-lab).",
        "**https://zenodo.org/records/123456**; write to ADA@owl-lab.example!",
        "(https://en.wikipedia.org/wiki/Owl_(bird))",
        "See owl.example or HTTPS://OWL.EXAMPLE/, at ftp://files.owl.example/a",
        "The F1 is 0.5: see Table 3, e.g. BERT/large and a.b.",
    ],
)
def test_a_printed_link_is_right(text: str) -> None:
    assert links_in(text) == []


@pytest.mark.parametrize(
    ("text", "link"),
    [
        ("Verify your account at http://evil.example/login.", "http://evil.example/login"),
        ("See www.evil.example!", "www.evil.example"),
        ("See [the code](evil.example/x).", "evil.example/x"),
        ("[It](javascript:alert(1))", "javascript:alert(1)"),
        ("https://github.com.evil.example", "https://github.com.evil.example"),
        ("https://github.co", "https://github.co"),
        ("https://owl.example@evil.example/a", "https://owl.example@evil.example/a"),
        ("https://hub.com/Owl-Lab/nets", "https://hub.com/Owl-Lab/nets"),
        ("Write to ada@evil.example.", "ada@evil.example"),
        ("查看https://evil.example/登录。", "https://evil.example/登录"),
        ("Ещё: https://github.com/owl-lab/other", "https://github.com/owl-lab/other"),
    ],
)
def test_a_link_that_no_source_prints_is_flagged(text: str, link: str) -> None:
    assert links_in(text) == [link]


def test_each_link_is_flagged_once_with_its_place() -> None:
    here = Place(paper="p", page=1, box=Box(0, 0, 1, 1))
    (finding,) = check_links([("http://evil.example", here)] * 2, PRINTED)
    assert (finding.kind, finding.subject, finding.place) == ("link", "http://evil.example", here)


def test_further_links_are_said_to_be_unchecked() -> None:
    text = " ".join(f"http://evil.example/{number}" for number in range(60))
    findings = check_links([(text, None)], PRINTED)
    assert [finding.kind for finding in findings] == ["link"] * 50 + ["unchecked"]
