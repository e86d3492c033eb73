"""Books: chapters in the order of the spine, their pictures, titles, authors; damaged and protected ones."""

import zipfile
from io import BytesIO
from pathlib import Path

import pytest
from PIL import Image

from ingest.parsers import parser_for
from paperscope_core.errors import PaperFileError
from paperscope_core.settings import LimitSettings, ParserSettings
from paperscope_core.types import Equation, Figure, Paper, PaperFile, ParsedPaper, Passage, Table

CONTAINER = '<container><rootfiles><rootfile full-path="OEBPS/book.opf"/></rootfiles></container>'
PACKAGE = """<?xml version="1.0"?><package xmlns="http://www.idpf.org/2007/opf"
 xmlns:dc="http://purl.org/dc/elements/1.1/"><metadata><dc:title>Owl Nets</dc:title>
<dc:creator>Ada Lovelace</dc:creator>
<dc:creator>Mary Somerville</dc:creator><dc:identifier>doi:10.5555/owl.1</dc:identifier><dc:date>2021-07-04</dc:date>
</metadata><manifest><item id="n" href="nav.xhtml" media-type="application/xhtml+xml" properties="nav"/>
<item id="b" href="text/two%20b.xhtml" media-type="application/xhtml+xml"/>
<item id="a" href="text/one.xhtml" media-type="application/xhtml+xml"/>
<item id="p" href="images/owl.png" media-type="image/png"/></manifest>
<spine><itemref idref="n"/><itemref idref="a"/><itemref idref="b"/><itemref idref="a"/></spine></package>"""
ONE = """<html xmlns="http://www.w3.org/1999/xhtml"><body><h1>1 Eyes</h1>
<p>Owls see at night&#160;well.</p>
<figure><img src="../images/owl.png"/><figcaption>Figure 1: An owl.</figcaption></figure>
<img src="../../../../etc/passwd"/></body></html>"""
TWO = """<html xmlns="http://www.w3.org/1999/xhtml"><body><h1>2 Results</h1>
<math xmlns="http://www.w3.org/1998/Math/MathML" display="block"><msup><mi>x</mi><mn>2</mn></msup></math>
<table><caption>Table 1: Accuracy.</caption><tr><th>Model</th><th>Score</th></tr><tr><td>Owl</td><td>91.5</td></tr>
</table></body></html>"""

PROTECTED = "".join(
    ["<encryption>"]
    + [f'<CipherReference URI="OEBPS/text/{name}.xhtml"/>' for name in ("one", "two b")]
    + ["</encryption>"]
)


def picture() -> bytes:
    out = BytesIO()
    Image.new("RGB", (40, 30), "navy").save(out, "PNG")
    return out.getvalue()


def book(**changed: str | bytes) -> bytes:
    parts: dict[str, str | bytes] = {
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": CONTAINER,
        "OEBPS/book.opf": PACKAGE,
        "OEBPS/nav.xhtml": "<html><body><h1>Contents</h1></body></html>",
        "OEBPS/text/one.xhtml": ONE,
        "OEBPS/text/two b.xhtml": TWO,
        "OEBPS/images/owl.png": picture(),
    }
    out = BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, data in (parts | changed).items():
            archive.writestr(name, data)
    return out.getvalue()


def parse(folder: Path, data: bytes) -> ParsedPaper:
    file = folder / "a.dat"
    file.write_bytes(data)
    return parser_for(ParserSettings(), limits=LimitSettings()).parse(PaperFile(file))


@pytest.fixture(scope="module")
def parsed(tmp_path_factory: pytest.TempPathFactory) -> ParsedPaper:
    return parse(tmp_path_factory.mktemp("book"), book())


@pytest.fixture(scope="module")
def paper(parsed: ParsedPaper) -> Paper:
    return parsed.paper


def test_the_record_comes_from_the_package(paper: Paper) -> None:
    assert (paper.format, paper.title, paper.authors) == ("epub", "Owl Nets", ("Ada Lovelace", "Mary Somerville"))
    assert (paper.publication.doi, paper.publication.year) == ("10.5555/owl.1", 2021)


def test_chapters_follow_the_spine_and_lines_count_on(paper: Paper) -> None:
    assert [section.path for section in paper.sections] == ["1 Eyes", "2 Results"]
    where = {element.text: element.place.where for element in paper.elements if isinstance(element, Passage)}
    assert (where["Owls see at night well."], where["2 Results"]) == ("line 2", "line 5")
    assert "Contents" not in where


def test_pictures_formulas_and_tables_are_kept(parsed: ParsedPaper, paper: Paper) -> None:
    (figure,) = (element for element in paper.elements if isinstance(element, Figure))
    assert (figure.label, figure.caption) == ("Figure 1", "An owl.")
    assert figure.crop in parsed.crops
    (equation,) = (element for element in paper.elements if isinstance(element, Equation))
    assert equation.text == "x²"
    (table,) = (element for element in paper.elements if isinstance(element, Table))
    assert table.grid() == [["Model", "Score"], ["Owl", "91.5"]]
    assert [problem.reason for problem in paper.problems] == [
        "pictures that are not in the file are left out: ../../../../etc/passwd"
    ]


@pytest.mark.parametrize(
    ("part", "data", "said"),
    [
        ("META-INF/container.xml", CONTAINER.replace("OEBPS", "../.."), "holds no EPUB book that can be read"),
        ("META-INF/container.xml", "<container>", "holds no"),
        ("META-INF/encryption.xml", PROTECTED, "is protected against copying"),
    ],
)
def test_a_book_that_cannot_be_read_is_refused(tmp_path: Path, part: str, data: str, said: str) -> None:
    with pytest.raises(PaperFileError, match=said):
        parse(tmp_path, book(**{part: data}))
