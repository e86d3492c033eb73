"""What MuPDF reads of a file: characters, rules, pictures, metadata, and errors."""

import io

import pymupdf
import pytest
from PIL import Image

from ingest.document.geometry import turned_box, turned_size
from ingest.document.pages import LOADING_TIMES
from ingest.document.source import publication_in
from ingest.pdf import Document, PageContent, PdfBackend, mupdf
from paperscope_core.cancellation import handle_time_requests
from paperscope_core.errors import PaperFileError
from paperscope_core.types import UNPUBLISHED, Box, Publication

BACKEND = PdfBackend()
BOXES = {
    "plain": {},
    "cropped": {"CropBox": "[50 100 290 450]"},
    "negative origin": {"MediaBox": "[-100 -50 300 500]"},
    "both": {"MediaBox": "[-100 -50 300 500]", "CropBox": "[-20 10 280 480]"},
    "crop box beyond the page": {"CropBox": "[-50 -50 290 450]"},
    "corners the wrong way round": {"MediaBox": "[300 500 0 0]"},
}


def read(data: bytes, number: int = 1) -> PageContent:
    with BACKEND.open(data, name="file.pdf", password=None) as document:
        return document.read(number)


def text_of(content: PageContent) -> str:
    return "".join(char.text for char in content.chars)


def picture(document: Document, box: Box, *, turns: int = 0, dpi: int = 72) -> Image.Image:
    [data] = document.render(1, [box], dpi=dpi, turns=turns)
    return Image.open(io.BytesIO(data)).convert("L")


def inked(image: Image.Image) -> tuple[int, int, int, int]:
    box = image.point(lambda value: 255 if value < 128 else 0).getbbox()
    assert box is not None
    return box


def seen(content: PageContent) -> Box:
    """The box of the characters as the reader sees the page, from baseline to cap height."""
    boxes = []
    for char in content.chars:
        width, height = turned_size(content.width, content.height, turns=char.direction)
        box = Box(char.x0, char.baseline - 0.72 * char.size, char.x1, char.baseline)
        boxes.append(turned_box(box, width, height, turns=-char.direction))
    x0s, y0s, x1s, y1s = zip(*boxes, strict=True)
    return Box(min(x0s), min(y0s), max(x1s), max(y1s))


def one_page(**keys: str) -> bytes:
    document = pymupdf.open()
    page = document.new_page(width=300, height=500)
    page.insert_text((120, 200), "HHHH", fontsize=30)
    for key, value in keys.items():
        document.xref_set_key(page.xref, key, value)
    return bytes(document.tobytes())


@pytest.mark.parametrize("rotation", [0, 90, 180, 270, -90])
@pytest.mark.parametrize("boxes", BOXES)
def test_characters_have_the_places_that_the_page_shows(boxes: str, rotation: int) -> None:
    data = one_page(Rotate=str(rotation), **BOXES[boxes])
    expected = pymupdf.open(stream=data)[0].rect
    with BACKEND.open(data, name="file.pdf", password=None) as document:
        content = document.read(1)
        whole = picture(document, Box(0, 0, content.width, content.height))
    assert (content.width, content.height) == pytest.approx((expected.width, expected.height))
    assert whole.size == (round(content.width), round(content.height))
    if not content.chars:
        assert whole.getextrema() == (255, 255)
        return
    assert text_of(content) == "HHHH"
    assert seen(content) == pytest.approx(inked(whole), abs=4)


@pytest.mark.parametrize("rotation", [0, 90])
@pytest.mark.parametrize("turns", [0, 1, 2, 3])
def test_crop_of_a_rotated_page(rotation: int, turns: int) -> None:
    with BACKEND.open(one_page(Rotate=str(rotation)), name="file.pdf", password=None) as document:
        content = document.read(1)
        whole = picture(document, Box(0, 0, content.width, content.height), dpi=144)
        box = Box(*(round(value) for value in seen(content)))
        wide = Box(box.x0 - 20, box.y0 - 10, box.x1 + 30, box.y1 + 5)
        crop = picture(document, wide, turns=turns, dpi=144)
    expected = whole.crop(Box(*(2 * value for value in wide))).rotate(90 * turns, expand=True)
    assert crop.size == expected.size
    assert inked(crop) == pytest.approx(inked(expected), abs=2)


def test_a_tiny_and_a_huge_page() -> None:
    for width, height in ((20, 10), (14400, 14400)):
        document = pymupdf.open()
        document.new_page(width=width, height=height).insert_text((2, 8), "ab", fontsize=6)
        content = read(document.tobytes())
        assert (content.width, content.height) == (width, height)
        assert text_of(content) == "ab"


def test_shapes_and_pictures_inside_form_objects() -> None:
    inner = pymupdf.open()
    page = inner.new_page(width=200, height=200)
    page.draw_rect((20, 20, 120, 60), color=None, fill=(0.8, 0.1, 0.1))
    page.draw_rect((20, 80, 120, 120), color=None, fill=(1, 1, 1))
    page.draw_line((20, 150), (180, 150), width=1)
    page.draw_line((160, 20), (160, 180), width=1)
    pixels = pymupdf.Pixmap(pymupdf.csRGB, (0, 0, 10, 10), False)
    pixels.clear_with(90)
    page.insert_image((40, 160, 80, 190), pixmap=pixels)
    page.insert_text((20, 140), "in a form", fontsize=12)
    outer = pymupdf.open()
    outer.new_page(width=600, height=800).show_pdf_page(pymupdf.Rect(100, 300, 500, 700), inner, 0)
    content = read(outer.tobytes())
    assert text_of(content) == "inaform"
    assert content.chars[0].size == pytest.approx(24)
    assert (content.chars[0].x0, content.chars[0].baseline) == pytest.approx((140, 580), abs=0.1)
    assert [tuple(rule) for rule in content.horizontal] == [pytest.approx((140, 460, 600), abs=0.1)]
    assert [tuple(rule) for rule in content.vertical] == [pytest.approx((420, 340, 660), abs=0.1)]
    assert [tuple(box) for box in content.fills] == [pytest.approx((140, 340, 340, 420), abs=0.1)]
    assert [tuple(box) for box in content.images] == [pytest.approx((185, 620, 255, 680), abs=8)]
    assert len(content.drawings) == 4


def test_hidden_and_white_text_is_read_but_not_text_outside_the_page() -> None:
    """The text layer of a scanned page is hidden; a reader who marks the page gets all of it."""
    document = pymupdf.open()
    page = document.new_page(width=300, height=300)
    page.insert_text((50, 50), "hidden", render_mode=3)
    page.insert_text((50, 80), "white", color=(1, 1, 1))
    page.insert_text((400, 80), "beyond")
    assert text_of(read(document.tobytes())) == "hiddenwhite"


def test_a_page_whose_text_is_mostly_hidden_is_noted() -> None:
    document = pymupdf.open()
    page = document.new_page(width=300, height=300)
    page.insert_text((50, 50), "recognised", render_mode=3)
    page.insert_text((50, 80), "stamp")
    assert read(document.tobytes()).notes == (
        "its text layer is invisible, as on a scan, and may differ from what is printed",
    )
    page.insert_text((50, 110), "and printed text")
    assert read(document.tobytes()).notes == ()


def test_what_the_metadata_state_about_the_publication() -> None:
    document = pymupdf.open()
    document.new_page()
    document.set_metadata({"subject": "Maps 2020, 20, 1234. doi:10.5555/maps.1"})
    document.set_xml_metadata(
        '<x:xmpmeta><prism:doi>10.5555/maps.1</prism:doi><prism:publicationName xml:lang="en">Maps'
        "</prism:publicationName>"
        "<prism:coverDate>2020-04-01</prism:coverDate></x:xmpmeta>"
    )
    with BACKEND.open(document.tobytes(), name="file.pdf", password=None) as opened:
        stated = publication_in(opened.metadata)
    assert stated == Publication(doi="10.5555/maps.1", year=2020, venue="Maps")


@pytest.mark.parametrize("placeholder", ["XXXXXXX.XXXXXXX", "10.1145/nnnnnnn.nnnnnnn", "10.1145/1122445.1122456"])
def test_the_venue_of_a_template_is_none(placeholder: str) -> None:
    xmp = f'<a prism:doi="{placeholder}" prism:publicationName="Proceedings of the conference title"/>'
    assert publication_in({"xmp": xmp}) == UNPUBLISHED
    assert publication_in({"xmp": xmp.replace(placeholder, "10.5555/1")}).venue == "Proceedings of the conference title"


def test_title_authors_and_outline() -> None:
    document = pymupdf.open()
    for _ in range(3):
        document.new_page()
    document.set_metadata({"title": "Über Dinge", "author": "A. Müller; B. Sørensen"})
    document.set_toc([[1, "One", 1], [2, "One and a half", 2], [1, "Two", 3]])
    with BACKEND.open(document.tobytes(), name="file.pdf", password=None) as opened:
        assert (opened.title, opened.authors, opened.page_count) == ("Über Dinge", "A. Müller; B. Sørensen", 3)
        assert [(entry.level, entry.title, entry.page) for entry in opened.outline] == [
            (1, "One", 1),
            (2, "One and a half", 2),
            (1, "Two", 3),
        ]


@pytest.mark.parametrize("method", ["RC4_40", "RC4_128", "AES_128", "AES_256"])
def test_passwords(method: str) -> None:
    document = pymupdf.open()
    document.new_page().insert_text((72, 100), "secret")
    data = document.tobytes(
        encryption=getattr(pymupdf, f"PDF_ENCRYPT_{method}"),
        user_pw="öffnen" if method == "AES_256" else "open",
        owner_pw="own",
    )
    right = "öffnen" if method == "AES_256" else "open"
    for good in (right, "own"):
        with BACKEND.open(data, name="file.pdf", password=good) as opened:
            assert text_of(opened.read(1)) == "secret"
    refusals: tuple[tuple[str | None, str], ...] = (
        (None, "is encrypted. Send its password along"),
        ("wrong", "password given does not open"),
    )
    for password, reason in refusals:
        with pytest.raises(PaperFileError, match=reason), BACKEND.open(data, name="file.pdf", password=password):
            pass


def test_file_with_an_owner_password_only() -> None:
    document = pymupdf.open()
    document.new_page().insert_text((72, 100), "printed")
    data = document.tobytes(encryption=pymupdf.PDF_ENCRYPT_AES_256, owner_pw="own", permissions=0)
    assert text_of(read(data)) == "printed"


def test_a_damaged_file_is_refused_by_name() -> None:
    refused = pytest.raises(PaperFileError, match=r"'file\.pdf' is damaged")
    with refused, BACKEND.open(b"%PDF-1.7 and nothing", name="file.pdf", password=None):
        pass


def test_loading_the_layout_analysis_does_not_count_as_time_of_the_paper(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mupdf, "import_module", lambda _name: None)
    mupdf._load_layout_analysis.cache_clear()
    factors: list[float] = []
    with handle_time_requests(factors.append):
        mupdf._load_layout_analysis()
        mupdf._load_layout_analysis()
    mupdf._load_layout_analysis.cache_clear()
    assert factors == [LOADING_TIMES, 1.0]
