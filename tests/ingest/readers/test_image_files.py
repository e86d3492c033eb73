"""Papers that are pictures: frames are pages, text is recognised, a page of little text is a figure."""

import re
import struct
import zlib
from collections.abc import Sequence
from pathlib import Path

import pytest
from PIL import Image

from ingest.ocr import Recognition, RecognizedWord
from ingest.pdf.parser import read_document
from ingest.readers.image_files import ImageParser, is_image
from paperscope_core.errors import PaperFileError
from paperscope_core.types import Box, Figure, Page, PaperFile, ParsedPaper, Passage
from tests.ingest.ocr.fake_recognizer import FakeRecognizer


def parse(file: Path, recognizer: FakeRecognizer | None = None, *, max_pages: int | None = None) -> ParsedPaper:
    recognition = Recognition(recognizer=recognizer, remedy="install it")
    return ImageParser(read_document, recognition=recognition, dpi=72, max_pages=max_pages).parse(PaperFile(file))


def save(folder: Path, name: str, *, size: tuple[int, int] = (400, 300), mode: str = "RGB", **options: object) -> Path:
    file = folder / name
    Image.new(mode, size).save(file, **options)  # type: ignore[arg-type]
    return file


def figures(parsed: ParsedPaper) -> list[Figure]:
    return [element for element in parsed.paper.elements if isinstance(element, Figure)]


@pytest.mark.parametrize("name", ["a.png", "a.jpg", "a.tif", "a.webp", "a.bmp"])
def test_without_recognition_a_picture_is_a_figure_and_a_note(tmp_path: Path, name: str) -> None:
    file = save(tmp_path, name)
    assert is_image(file.read_bytes()[:16])
    parsed = parse(file)
    paper = parsed.paper
    assert (paper.format, paper.title, paper.pages) == ("image", "a", (Page(number=1, width=300, height=225),))
    (figure,) = figures(parsed)
    assert figure.crop is not None
    assert parsed.crops[figure.crop].startswith(b"\x89PNG")
    assert [problem.reason for problem in paper.problems] == ["the page has no text layer; install it"]


def test_frames_of_a_tiff_are_pages_in_order(tmp_path: Path) -> None:
    file = tmp_path / "a.tiff"
    frames = [Image.new("L", (200 + 40 * number, 300)) for number in range(3)]
    frames[0].save(file, save_all=True, append_images=frames[1:])
    parsed = parse(file)
    assert [page.width for page in parsed.paper.pages] == [150, 180, 210]
    assert [(figure.place.page, figure.order) for figure in figures(parsed)] == [(1, 0), (2, 1), (3, 2)]
    with pytest.raises(PaperFileError, match="over the limit of 2"):
        parse(file, max_pages=2)


LINE = "Foxes jump over dogs"


class Lines(FakeRecognizer):
    """Gives as many lines as it is asked for, whatever the picture."""

    def __init__(self, count: int) -> None:
        super().__init__()
        self._count = count

    def recognize(self, picture: Image.Image) -> Sequence[RecognizedWord]:
        super().recognize(picture)
        height = picture.height / (self._count + 1)
        unit = picture.width / 40
        return [
            RecognizedWord(
                text=word,
                box=Box(unit * (1 + 7 * at), height * (row + 0.2), unit * (6 + 7 * at), height * (row + 0.9)),
                line=row,
                confidence=1.0,
            )
            for row in range(self._count)
            for at, word in enumerate(LINE.split())
        ]


def test_a_page_of_much_text_is_no_figure(tmp_path: Path) -> None:
    parsed = parse(save(tmp_path, "a.png"), Lines(20))
    assert figures(parsed) == []
    assert LINE in " ".join(element.text for element in parsed.paper.elements if isinstance(element, Passage))


def test_a_page_of_little_text_is_a_figure_beside_its_text(tmp_path: Path) -> None:
    parsed = parse(save(tmp_path, "a.png"), Lines(2))
    assert [element.kind for element in parsed.paper.elements][-1] == "figure"
    assert [element.order for element in parsed.paper.elements] == list(range(len(parsed.paper.elements)))
    assert any(LINE in element.text for element in parsed.paper.elements if isinstance(element, Passage))


@pytest.mark.parametrize(
    ("size", "dpi", "page"),
    [
        ((1654, 2339), (200, 200), (595.4, 842.0)),
        ((400, 300), (72, 72), (400.0, 300.0)),
        ((1654, 2339), (72, 72), (595.3, 841.9)),
        ((400, 300), (30000, 30000), (300.0, 225.0)),
    ],
)
def test_a_page_is_as_large_as_a_sane_resolution_says(
    tmp_path: Path, size: tuple[int, int], dpi: tuple[int, int], page: tuple[float, float]
) -> None:
    (found,) = parse(save(tmp_path, "a.png", size=size, mode="1", dpi=dpi)).paper.pages
    assert (found.width, found.height) == pytest.approx(page, abs=0.2)


def test_a_picture_on_its_side_is_turned_upright(tmp_path: Path) -> None:
    exif = Image.Exif()
    exif[0x0112] = 6
    (page,) = parse(save(tmp_path, "a.jpg", exif=exif)).paper.pages
    assert page.width < page.height


@pytest.mark.parametrize("mode", ["RGBA", "LA", "P", "1", "I;16", "F", "CMYK"])
def test_every_kind_of_pixel_is_read(tmp_path: Path, mode: str) -> None:
    name = "a.tif" if mode in ("F", "CMYK") else "a.png"
    assert len(figures(parse(save(tmp_path, name, mode=mode)))) == 1


def test_transparent_parts_are_white(tmp_path: Path) -> None:
    parsed = parse(save(tmp_path, "a.png", mode="RGBA"))
    (crop,) = parsed.crops.values()
    (tmp_path / "crop.png").write_bytes(crop)
    with Image.open(tmp_path / "crop.png") as shown:
        assert shown.getpixel((5, 5)) == (255, 255, 255)


@pytest.mark.parametrize("name", ["a.png", "a.jpg", "a.tif", "a.bmp"])
def test_a_truncated_picture_is_one_clear_error(tmp_path: Path, name: str) -> None:
    file = save(tmp_path, name, size=(600, 600))
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
    with pytest.raises(PaperFileError, match=re.escape(name)):
        parse(file)


def test_what_is_no_picture_is_one_clear_error(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(b"no picture at all")
    with pytest.raises(PaperFileError, match="no picture that can be read"):
        parse(tmp_path / "a.png")


def test_a_bomb_of_pixels_is_refused_before_it_is_unpacked(tmp_path: Path) -> None:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", 60_000, 60_000, 1, 0, 0, 0, 0)
    file = tmp_path / "bomb.png"
    file.write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(b"\0" * 1000)))
    with pytest.raises(PaperFileError, match=r"bomb\.png"):
        parse(file)
