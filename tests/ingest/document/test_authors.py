"""Names of authors below a title and in entries of a bibliography."""

import pytest

from ingest.document.authors import author_names
from ingest.document.references import entry_label


@pytest.mark.parametrize(
    ("lines", "names"),
    [
        (["Ann Bee♣, Carl Doe♠♣ and Eve Fox^(1,2)", "♣", "Shannon.AI"], ("Ann Bee", "Carl Doe", "Eve Fox")),
        (["Ann Bee^([0000−0002]), Carl Doe^([0000−0003])"], ("Ann Bee", "Carl Doe")),
        (["Ann Bee  Carl D. Doe", "Eve Fox"], ("Ann Bee", "Carl D. Doe", "Eve Fox")),
        (["Ann Bee ¹, Carl", "1", "Doe ²", "1 Town Hall, Great", "Road House"], ("Ann Bee", "Carl Doe")),
        (["Ann Bee¹", "¹Town Hall", "Carl Doe² Eve Fox¹"], ("Ann Bee", "Carl Doe", "Eve Fox")),
    ],
)
def test_names_of_authors(lines: list[str], names: tuple[str, ...]) -> None:
    assert author_names(lines, metadata="") == names


@pytest.mark.parametrize(
    ("head", "cited"),
    [
        ("Wu, A.", "Wu"),
        ("Wu, E. and Li, B.", "Wu and Li"),
        ("Dana Xu and D. Li", "Xu and Li"),
        ("Björk, F.-F., van der Maaten, A., and Li, A.", "Björk et al."),
        ("van der Maaten, A. and Hinton, G.", "van der Maaten and Hinton"),
        ("Erik F Sang and Fien De Meulder", "Sang and De Meulder"),
        ("Kingma, Diederik P. and Ba, Jimmy", "Kingma and Ba"),
        ("Bengio, Yoshua, Louradour, Jérôme, and Weston, Jason", "Bengio et al."),
        ("Li, Xiaoya, and Yu Wu", "Li and Wu"),
        ("Smith, Mary Ann", "Smith"),
        ("Li X, Wu Y, Zhou J", "Li et al."),
        ("Th. Sorensen", "Sorensen"),
        ("B. Zoph and Q. V. Le", "Zoph and Le"),
        ("Mausam and Oren Etzioni", "Mausam and Etzioni"),
        ("Martin, J., Jr., & Li, Y.", "Martin and Li"),
        ("Robert L Logan IV and Sameer Singh", "Logan and Singh"),
        ("Smith, J., et al.", "Smith et al."),
        ("World Health Organization.", "World Health Organization"),
    ],
)
def test_authors_are_read_in_every_order_of_names(head: str, cited: str) -> None:
    assert entry_label(f"{head} (2019). On the parsing of tables.") == f"{cited}, 2019"
