"""Names of authors in entries of a bibliography."""

import pytest

from ingest.document.references import entry_label


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
