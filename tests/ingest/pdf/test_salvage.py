"""A truncated file gives its remaining pages and says what is lost; a complete file is unchanged."""

import zlib
from pathlib import Path

import pytest

from ingest.pdf import PdfParser
from ingest.pdf.salvage import salvaged
from paperscope_core.types import Paper, PaperFile

PAGES = 4
REPAIRED = "the file is damaged and was repaired; pages or parts of them may be missing"
EMPTY = "the page is empty; its contents may be lost"


def written(number: int, text: str, stream: bytes | None = None) -> bytes:
    if stream is None:
        return b"%d 0 obj\n%b\nendobj\n" % (number, text.encode())
    head = text.replace("<<", f"<</Length {len(stream)}", 1).encode()
    return b"%d 0 obj\n%b\nstream\n%b\nendstream\nendobj\n" % (number, head, stream)


def content(number: int) -> bytes:
    """What a page prints, compressed."""
    lines = [f"Sentence {line} of page {number} tells what was done." for line in range(1, 6)]
    return zlib.compress(
        " ".join(f"BT /F1 10 Tf 72 {720 - 12 * n} Td ({t}) Tj ET" for n, t in enumerate(lines)).encode()
    )


def page(number: int) -> str:
    return f"<</Type /Page/Parent 90 0 R/MediaBox[0 0 595 842]/Contents {10 + number} 0 R/Resources 80 0 R>>"


def document(*, packed: bool, list_first: bool = False) -> bytes:
    """Four pages as TeX writes them: contents and pages in turn, or pages in a stream; fonts and the list last."""
    pages = {number: page(number) for number in range(1, PAGES + 1)}
    kids = " ".join(f"{number} 0 R" for number in pages)
    ending = [
        written(90, f"<</Type/Pages/Count {PAGES}/Kids[{kids}]>>"),
        written(91, "<</Type/Catalog/Pages 90 0 R>>"),
    ]
    parts = [*ending] if list_first else []
    for number, text in pages.items():
        parts.append(written(10 + number, "<</Filter/FlateDecode>>", content(number)))
        if not packed:
            parts.append(written(number, text))
        elif number == 2:
            table = f"1 0 2 {len(page(1)) + 1} "
            body = zlib.compress(f"{table}{page(1)} {page(2)}".encode())
            parts.append(written(70, f"<</Type/ObjStm/N 2/First {len(table)}/Filter/FlateDecode>>", body))
    fonts = [written(80, "<</Font<</F1 81 0 R>>>>"), written(81, "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>")]
    tail = b"trailer\n<</Root 91 0 R/Size 92>>\nstartxref\n0\n%%EOF\n"
    return b"".join([b"%PDF-1.5\n", *parts, *fonts, *([] if list_first else ending), tail])


def parse(data: bytes, folder: Path) -> Paper:
    file = folder / "cut.pdf"
    file.write_bytes(data)
    return PdfParser(dpi=36).parse(PaperFile(file)).paper


def problems(paper: Paper) -> list[tuple[int, str]]:
    return [(problem.page, problem.reason) for problem in paper.problems]


def pages_with_text(paper: Paper) -> set[int]:
    passages = [element for element in paper.elements if element.kind == "passage"]
    return {passage.place.page for passage in passages if f"page {passage.place.page} tells" in passage.text}


@pytest.mark.parametrize("packed", [False, True])
def test_pages_whose_list_is_lost(packed: bool, tmp_path: Path) -> None:
    data = document(packed=packed)
    paper = parse(data[: data.index(b"13 0 obj")], tmp_path)
    assert len(paper.pages) == 2
    assert pages_with_text(paper) == {1, 2}
    assert problems(paper) == [(1, REPAIRED)]


def test_pages_whose_list_remains(tmp_path: Path) -> None:
    data = document(packed=False, list_first=True)
    paper = parse(data[: data.index(b"13 0 obj") + 30], tmp_path)
    assert pages_with_text(paper) == {1, 2}
    assert (1, REPAIRED) in problems(paper)


def test_a_page_whose_content_is_lost_says_so(tmp_path: Path) -> None:
    data = document(packed=False)
    cut = data[: data.index(b"13 0 obj")] + written(3, page(3))
    paper = parse(cut, tmp_path)
    assert pages_with_text(paper) == {1, 2}
    assert problems(paper) == [(1, REPAIRED), (3, EMPTY)]


def test_other_files_are_unchanged() -> None:
    whole = document(packed=False)
    for data in (whole, b"%PDF-1.5 " + b"1 0 obj <</A 1>> endobj " * 200, whole[:-60] + b"/Encrypt 5 0 R", b""):
        assert salvaged(data) is data


@pytest.mark.parametrize("text", ["<</Type/ObjStm/N 2/First 4>>", "<</Type/ObjStm/N 9999999/First 999999999>>"])
def test_broken_object_streams_are_skipped(text: str, tmp_path: Path) -> None:
    data = document(packed=False)
    cut = data[: data.index(b"12 0 obj")] + written(70, text, b"no numbers at all")
    assert pages_with_text(parse(cut, tmp_path)) == {1}


@pytest.mark.slow
def test_half_a_real_paper(shared: Path, tmp_path: Path) -> None:
    whole = (shared / "papers/acl-2020-45/paper.pdf").read_bytes()
    paper = parse(whole[: len(whole) // 2], tmp_path)
    read = {element.place.page for element in paper.elements}
    empty = {number for number, reason in problems(paper) if reason == EMPTY}
    assert len(read) == 6
    assert read | empty == {page.number for page in paper.pages} == set(range(1, 13))
    assert not read & empty
