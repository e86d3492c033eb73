"""JATS: affiliations apart from the authors, and the files of figures beside the XML."""

from pathlib import Path

from PIL import Image

from ingest.parsers import parser_for
from paperscope_core.settings import LimitSettings, ParserSettings
from paperscope_core.types import Figure, PaperFile, Passage

ARTICLE = """<article xmlns:xlink="http://www.w3.org/1999/xlink"><front><article-meta><title-group>
<article-title>Owl Nets</article-title></title-group><contrib-group>
<contrib contrib-type="author"><name><surname>Lovelace</surname>
<given-names>Ada</given-names></name><xref ref-type="aff" rid="a1"><sup>1</sup></xref></contrib>
<aff id="a1"><label>1</label><institution>University of Owls</institution>, <city>London</city></aff></contrib-group>
<aff id="a2"><label>2</label>Institute of Night</aff></article-meta></front><body>
<fig><label>Figure 1</label><caption><p>An owl.</p></caption><graphic xlink:href="owl-g001"/></fig>
<fig><label>Figure 2</label><caption><p>An owl.</p></caption><graphic xlink:href="owl-g002.tif"/></fig>
<fig><label>Figure 3</label><caption><p>An owl.</p></caption><graphic xlink:href="../owl-g003.tif"/></fig>
</body></article>"""


def test_affiliations_are_apart_and_figures_are_found_beside_the_file_only(tmp_path: Path) -> None:
    folder = tmp_path / "paper"
    folder.mkdir()
    (folder / "a.xml").write_text(ARTICLE)
    for name in ("paper/owl-g001.jpg", "paper/owl-g002.png", "owl-g003.png"):
        Image.new("RGB", (60, 40), "navy").save(tmp_path / name)
    parser = parser_for(ParserSettings(), limits=LimitSettings())
    paper = parser.parse(PaperFile(folder / "a.xml")).paper
    assert paper.authors == ("Ada Lovelace",)
    assert [one.text for one in paper.elements if isinstance(one, Passage) and one.role == "authors"] == [
        "Ada Lovelace",
        "1 University of Owls, London",
        "2 Institute of Night",
    ]
    assert [bool(one.crop) for one in paper.elements if isinstance(one, Figure)] == [True, True, False]
    assert [one.reason for one in paper.problems] == [
        "pictures that are not in the file's folder are left out: ../owl-g003.tif"
    ]
