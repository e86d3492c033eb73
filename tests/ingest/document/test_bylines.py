"""Names of authors below a title."""

import pytest

from ingest.document.bylines import author_names, is_byline


@pytest.mark.parametrize(
    ("lines", "names"),
    [
        (["Ann Bee♣, Carl Doe♠♣ and Eve Fox^(1,2)", "♣", "Shannon.AI"], ("Ann Bee", "Carl Doe", "Eve Fox")),
        (["Ann Bee^([0000−0002]), Carl Doe^([0000−0003])"], ("Ann Bee", "Carl Doe")),
        (["Ann Bee  Carl D. Doe", "Eve Fox"], ("Ann Bee", "Carl D. Doe", "Eve Fox")),
        (["Ann Bee ¹, Carl", "1", "Doe ²", "1 Town Hall, Great", "Road House"], ("Ann Bee", "Carl Doe")),
        (["Ann Bee¹", "¹Town Hall", "Carl Doe² Eve Fox¹"], ("Ann Bee", "Carl Doe", "Eve Fox")),
        (["Ann Bee,¹ Carl J.", "Doe², Susanne Roe²", "²Town Hall"], ("Ann Bee", "Carl J. Doe", "Susanne Roe")),
        (["A. Bee and Doe, C.", "M.³", "³Town Hall"], ("A. Bee", "C. M. Doe")),
        (["By: Ann Bee (Town Hall,", "Great) & Carl Doe Jr., PhD (Hall) © 2010 Town"], ("Ann Bee", "Carl Doe Jr.")),
        (["Ann Bee^a, Carl Doe^b,", "and the SNOW Study Group"], ("Ann Bee", "Carl Doe", "the SNOW Study Group")),
        (["May 22, 2019", "Ann Bee¹  Carl Doe²", "Town University¹"], ("Ann Bee", "Carl Doe")),
        (["Ann Bee, Carl Doe, und weitere, Eve Fox"], ()),
    ],
)
def test_names_of_authors(lines: list[str], names: tuple[str, ...]) -> None:
    assert author_names(lines, metadata="") == names


@pytest.mark.parametrize(
    ("metadata", "names"),
    [
        ("Ann Bee", ("Ann Bee", "Carl Doe")),
        ("Ann Bee, Carl Doe, and Eve Fox", ("Ann Bee", "Carl Doe", "Eve Fox")),
        ("Fox, Eve; Bee, Ann; Doe, Carl", ("Eve Fox", "Ann Bee", "Carl Doe")),
        ("LaTeX with hyperref 7", ("Ann Bee", "Carl Doe")),
    ],
)
def test_the_longer_list_of_authors_is_complete(metadata: str, names: tuple[str, ...]) -> None:
    assert author_names(["Ann Bee, Carl Doe"], metadata=metadata) == names


def test_a_part_of_the_authors_is_none() -> None:
    assert author_names(["Ann Bee, carl d'oe?, Eve Fox"], metadata="Ann Bee") == ()
    assert author_names([], metadata="Bee, A.J.") == ("A.J. Bee",)


@pytest.mark.parametrize(
    ("line", "named"),
    [
        ("Dye, Kevin M. De Cock, Richard J. Hayes, and Gavin J. Churchyard", True),
        ("Robert F. Garry,⁸§ S. Humarr Khan,³‡§ Pardis C. Sabeti^(1,2)†§", True),
        ("We hypothesized that rapid presentation, as in Harare, is rare", False),
        ("Harare, Zimbabwe", False),
        ("Department of Zoology, London School of Hygiene", False),
    ],
)
def test_lines_of_names(line: str, named: bool) -> None:
    assert is_byline(line) == named
