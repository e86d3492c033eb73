"""Unreadable files are refused with a typed error; unreadable parts are problems of the paper."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType

import pymupdf
import pytest

from ingest.document.pages import Char, OutlineEntry, PageGrid
from ingest.pdf import PageContent, PageReadError, PdfParser
from ingest.pdf.parser import read_document
from paperscope_core.errors import PaperFileError
from paperscope_core.types import Box, PaperFile


def pdf(pages: int = 1, *, text: str = "Some text on the page", **options: object) -> bytes:
    document = pymupdf.open()
    for _ in range(pages):
        document.new_page().insert_text((72, 100), text)
    return bytes(document.tobytes(**options))


def refused(file: Path, *, password: str | None = None) -> str:
    with pytest.raises(PaperFileError) as caught:
        PdfParser().parse(PaperFile(file, password=password))
    return str(caught.value)


def test_a_missing_file(tmp_path: Path) -> None:
    assert "nowhere.pdf" in refused(tmp_path / "nowhere.pdf")


def test_a_folder(tmp_path: Path) -> None:
    assert "folder" in refused(tmp_path)


@pytest.mark.parametrize(
    ("data", "reason"), [(b"", "empty"), (b"hello" * 400, "not a PDF"), (b"%PDF-1.7 and nothing", "damaged")]
)
def test_no_paper(tmp_path: Path, data: bytes, reason: str, capfd: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "odd.pdf"
    file.write_bytes(data)
    message = refused(file)
    assert "odd.pdf" in message
    assert reason in message
    assert capfd.readouterr().err == ""


def test_an_encrypted_file_opens_with_its_password_only(tmp_path: Path) -> None:
    file = tmp_path / "secret.pdf"
    file.write_bytes(pdf(encryption=pymupdf.PDF_ENCRYPT_AES_256, user_pw="open", owner_pw="own"))
    assert "encrypted" in refused(file)
    assert "password given" in refused(file, password="wrong")  # noqa: S106
    assert PdfParser().parse(PaperFile(file, password="open")).paper.elements  # noqa: S106


def test_a_truncated_file_is_read_as_far_as_it_goes_or_refused(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    whole = pdf(3)
    outcomes = set()
    for share in (5, 30, 60, 95):
        file = tmp_path / f"cut-{share}.pdf"
        file.write_bytes(whole[: len(whole) * share // 100])
        try:
            outcomes.add(len(PdfParser().parse(PaperFile(file)).paper.pages) > 0)
        except PaperFileError as error:
            assert file.name in str(error)  # noqa: PT017
            outcomes.add(False)
    assert False in outcomes
    assert capfd.readouterr().err == ""


def test_a_file_that_was_repaired_says_so(tmp_path: Path) -> None:
    whole = pdf(3)
    file = tmp_path / "cut.pdf"
    for data, repaired in ((whole, False), (whole[: whole.rindex(b"xref")], True)):
        file.write_bytes(data)
        problems = PdfParser().parse(PaperFile(file)).paper.problems
        assert [problem.reason for problem in problems if "repaired" in problem.reason] == (
            ["the file is damaged and was repaired; pages or parts of them may be missing"] if repaired else []
        )


def test_a_page_without_text_is_a_problem(tmp_path: Path) -> None:
    document = pymupdf.open()
    document.new_page().insert_text((72, 100), "Text")
    picture = pymupdf.Pixmap(pymupdf.csRGB, (0, 0, 40, 40), False)
    picture.clear_with(90)
    document.new_page().insert_image(pymupdf.Rect(50, 50, 500, 700), pixmap=picture)
    file = tmp_path / "scan.pdf"
    file.write_bytes(document.tobytes())
    paper = PdfParser().parse(PaperFile(file)).paper
    [problem] = paper.problems
    assert problem.page == 2
    assert "scanned" in problem.reason
    assert len(paper.pages) == 2


class _Broken:
    """A document whose second page fails."""

    title = ""
    authors = ""
    metadata: Mapping[str, str] = MappingProxyType({})
    page_count = 3
    repaired = False
    outline: Sequence[OutlineEntry] = ()

    def read(self, number: int) -> PageContent:
        if number == 2:
            raise PageReadError("bad stream")
        letters = tuple(Char("x", 50 + 6 * i, 56 + 6 * i, 100, 10, "Times", False, False) for i in range(9))
        return PageContent(number=number, width=600, height=800, chars=letters)

    def render(self, number: int, boxes: Sequence[Box], *, dpi: int, turns: int = 0) -> list[bytes]:
        raise PageReadError("not rendered")

    def grids(self, number: int, *, turns: int = 0) -> Sequence[PageGrid]:
        raise PageReadError("not sought")

    def regions(self, number: int) -> Sequence[Box]:
        raise PageReadError("not sought")


class _Bitmaps(_Broken):
    """A document with letters of a font whose unit is a hundredth of an em."""

    page_count = 1

    def read(self, number: int) -> PageContent:
        letters = tuple(Char("x", 50 + 6 * i, 56 + 6 * i, 100, 0.12, "Type3", False, False) for i in range(9))
        return PageContent(number=number, width=600, height=800, chars=letters)


def test_letters_of_a_font_with_another_unit_are_no_hidden_ones() -> None:
    read = read_document(_Bitmaps(), sha256="0" * 64, file="a.pdf", format="pdf")
    assert [char.size for char in read.views[0].chars] == [12.0] * 9


class _Faint(_Broken):
    """A document with letters of no size and glyphs of no text among the others."""

    def read(self, number: int) -> PageContent:
        letters = [
            Char(text, 50 + 6 * at, 50 + 6 * at + 0.6 * size, 100 + 14 * line, size, "Times", False, False)
            for line, (text, size) in enumerate((("x", 10.0), ("y", 0.0), ("", 10.0), ("z", 0.1), ("x", 10.0)))
            for at in range(9)
        ]
        return PageContent(number=number, width=600, height=800, chars=letters)


class _BrokenBackend:
    def __init__(self, document: _Broken | None = None) -> None:
        self._document = document or _Broken()

    @contextmanager
    def open(self, data: bytes, *, name: str, password: str | None) -> Iterator[_Broken]:
        yield self._document


def test_hidden_letters_are_left_out(tmp_path: Path) -> None:
    file = tmp_path / "faint.pdf"
    file.write_bytes(pdf())
    paper = PdfParser(backend=_BrokenBackend(_Faint())).parse(PaperFile(file)).paper
    texts = [element.text for element in paper.elements if element.kind == "passage"]
    assert set("".join(texts)) <= {"x", " "}
    assert sum(text.count("x") for text in texts) == 3 * 18


def test_failing_page_does_not_affect_the_others(tmp_path: Path) -> None:
    file = tmp_path / "half.pdf"
    file.write_bytes(pdf())
    seen: list[tuple[int, int]] = []
    paper = (
        PdfParser(backend=_BrokenBackend())
        .parse(PaperFile(file), on_page=lambda done, total: seen.append((done, total)))
        .paper
    )
    assert [page.number for page in paper.pages] == [1, 3]
    assert [(problem.page, "bad stream" in problem.reason) for problem in paper.problems] == [(2, True)]
    assert {element.place.page for element in paper.elements} == {1, 3}
    assert seen == [(1, 3), (2, 3), (3, 3)]


def test_missing_page_does_not_affect_the_others(tmp_path: Path) -> None:
    document = pymupdf.open(stream=pdf(3))
    first, _, third = (page.xref for page in document)
    tree = int(document.xref_get_key(first, "Parent")[1].split()[0])
    document.xref_set_key(tree, "Kids", f"[{first} 0 R 99 0 R {third} 0 R]")
    file = tmp_path / "odd.pdf"
    file.write_bytes(document.tobytes())
    paper = PdfParser().parse(PaperFile(file)).paper
    assert {element.place.page for element in paper.elements} == {1, 3}
    assert any(problem.page == 2 and "can't be read" in problem.reason for problem in paper.problems)


def test_a_file_with_too_many_pages_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "long.pdf"
    file.write_bytes(pdf(3))
    with pytest.raises(PaperFileError, match=r"long\.pdf' has 3 pages, over the limit of 2; raise limits\.max_pages"):
        PdfParser(max_pages=2).parse(PaperFile(file))
    assert len(PdfParser(max_pages=3).parse(PaperFile(file)).paper.pages) == 3
