"""TEI: affiliations apart from the authors."""

from pathlib import Path

import pytest

from ingest.parsers import parser_for
from paperscope_core.settings import LimitSettings, ParserSettings
from paperscope_core.types import PaperFile, Passage

AFFILIATION = (
    '<affiliation><orgName type="institution">University of Owls</orgName><address><settlement>London</settlement>'
    "</address></affiliation>"
)
NAME = "<persName><forename>Ada</forename><surname>Lovelace</surname></persName>"


@pytest.mark.parametrize("name", [NAME, "Ada Lovelace"])
def test_affiliations_are_apart(tmp_path: Path, name: str) -> None:
    author = f"<author>{name}<email>ada@owls.org</email>{AFFILIATION}</author>"
    (tmp_path / "a.tei").write_text(
        "<TEI><teiHeader><fileDesc><titleStmt><title>Owl Nets</title></titleStmt><sourceDesc><biblStruct><analytic>"
        f"{author}</analytic></biblStruct></sourceDesc></fileDesc></teiHeader><text><body><p>A text.</p></body>"
        "</text></TEI>"
    )
    paper = parser_for(ParserSettings(), limits=LimitSettings()).parse(PaperFile(tmp_path / "a.tei")).paper
    assert paper.authors == ("Ada Lovelace",)
    assert [one.text for one in paper.elements if isinstance(one, Passage) and one.role == "authors"] == [
        "Ada Lovelace",
        "University of Owls, London",
    ]
