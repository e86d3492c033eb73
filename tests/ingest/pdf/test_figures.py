"""Figures on generated pages: where they are, their text, their panels and their crops."""

import io
import itertools
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

import pymupdf
import pytest
from PIL import Image

from ingest.document.crops import trim_white
from ingest.document.geometry import overlap
from ingest.pdf import PdfParser
from paperscope_core.types import Box, Figure, PaperFile

TEXT = "The quick brown fox jumps over the lazy dog and never comes back to the yard again on a day like this one."
LEFT, RIGHT, WIDTH = 60.0, 320.0, 220.0

Draw = Callable[[pymupdf.Page], None]
SHEETS: dict[int, list[Draw]] = {1: [], 2: []}


def prose(page: pymupdf.Page, x: float, y0: float, y1: float, *, wide: bool = False) -> None:
    """Lines of text from one height to another; each as wide as a column of two, or as both."""
    y = y0
    while y < y1:
        page.insert_text((x, y), TEXT if wide else TEXT[:48], fontsize=10, fontname="tiro")
        y += 12


def plot(page: pymupdf.Page, x0: float, y0: float, x1: float, y1: float) -> None:
    """Two axes, a curve and a label at each axis, the one of y turned."""
    page.draw_line((x0 + 20, y1 - 16), (x1, y1 - 16))
    page.draw_line((x0 + 20, y0), (x0 + 20, y1 - 16))
    page.draw_bezier((x0 + 20, y1 - 16), (x0 + 40, y0), (x1 - 40, y0), (x1, y0 + 5), color=(0, 0, 1))
    page.insert_text(((x0 + x1) / 2, y1 - 4), "Epoch", fontsize=8, fontname="helv")
    page.insert_text((x0 + 10, (y0 + y1) / 2 + 20), "Accuracy", fontsize=8, fontname="helv", rotate=90)


def blob(page: pymupdf.Page, x0: float, y0: float, x1: float, y1: float) -> None:
    """A picture with a white border, a tenth of its size wide."""
    image = Image.new("RGB", (100, 100), "white")
    image.paste((200, 80, 0), (10, 10, 90, 90))
    out = io.BytesIO()
    image.save(out, "PNG")
    page.insert_image(pymupdf.Rect(x0, y0, x1, y1), stream=out.getvalue(), keep_proportion=False)


def caption(page: pymupdf.Page, x: float, y: float, text: str) -> None:
    page.insert_text((x, y), text, fontsize=10, fontname="tiro")


def sheet(columns: int) -> Callable[[Draw], Draw]:
    """Adds what a function draws to the document whose text has so many columns, as a page of its own."""

    def add(draw: Draw) -> Draw:
        SHEETS[columns].append(draw)
        return draw

    return add


class Drawn:
    """The figures of each drawn page by their labels, and the crops of all."""

    def __init__(self, folder: Path) -> None:
        self.figures: dict[Draw, dict[str, Figure]] = defaultdict(dict)
        self.crops: dict[str, bytes] = {}
        for columns, sheets in SHEETS.items():
            document = pymupdf.open()
            first = document.new_page(width=600, height=800)
            for x in (LEFT, RIGHT)[:columns]:
                prose(first, x, 100, 700, wide=columns == 1)
            for draw in sheets:
                draw(document.new_page(width=600, height=800))
            file = folder / f"{columns}.pdf"
            file.write_bytes(document.tobytes())
            parsed = PdfParser(dpi=72).parse(PaperFile(file))
            self.crops.update(parsed.crops)
            for item in parsed.paper.elements:
                if isinstance(item, Figure):
                    self.figures[sheets[item.place.page - 2]][item.label] = item


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> Drawn:
    return Drawn(tmp_path_factory.mktemp("drawn"))


@sheet(2)
def plain_plot(page: pymupdf.Page) -> None:
    prose(page, LEFT, 100, 195)
    plot(page, LEFT + 10, 210, LEFT + 200, 340)
    caption(page, LEFT, 360, "Figure 1: A plot.")
    prose(page, LEFT, 390, 700)
    prose(page, RIGHT, 100, 700)


def test_a_plot_is_tight_and_keeps_its_labels(drawn: Drawn) -> None:
    figure = drawn.figures[plain_plot]["Figure 1"]
    assert figure.place.box == pytest.approx((LEFT + 10, 210, LEFT + 200, 340), abs=9)
    assert figure.text == "Epoch"


@sheet(2)
def bordered_blob(page: pymupdf.Page) -> None:
    blob(page, 100, 100, 300, 300)
    caption(page, 100, 330, "Fig. 2. A blob.")


def test_the_white_border_of_a_picture_is_cut_off(drawn: Drawn) -> None:
    figure = drawn.figures[bordered_blob]["Figure 2"]
    assert figure.place.box == pytest.approx((120, 120, 280, 280), abs=2)
    assert figure.crop
    with Image.open(io.BytesIO(drawn.crops[figure.crop])) as crop:
        assert crop.size == pytest.approx((168, 168), abs=3)


@sheet(1)
def plot_beside_blob(page: pymupdf.Page) -> None:
    plot(page, 60, 100, 280, 240)
    blob(page, 330, 100, 530, 240)
    caption(page, 100, 260, "Figure 1: A plot.")
    caption(page, 380, 260, "Figure 2: A blob.")
    prose(page, LEFT, 300, 700, wide=True)


def test_two_figures_side_by_side(drawn: Drawn) -> None:
    found = drawn.figures[plot_beside_blob]
    assert found["Figure 1"].place.box.x1 < 300 < found["Figure 2"].place.box.x0


@sheet(2)
def one_plot_over_two_captions(page: pymupdf.Page) -> None:
    plot(page, 60, 100, 540, 250)
    caption(page, 60, 265, "Figure 23: The first one.")
    caption(page, 320, 265, "Figure 24: The second one.")
    prose(page, LEFT, 300, 700)
    prose(page, RIGHT, 300, 700)


def test_what_one_figure_has_no_other_figure_takes(drawn: Drawn) -> None:
    boxes = [figure.place.box for figure in drawn.figures[one_plot_over_two_captions].values()]
    assert boxes
    assert not any(overlap(box, other) for box, other in itertools.combinations(boxes, 2))


@sheet(2)
def plots_across_columns(page: pymupdf.Page) -> None:
    plot(page, 70, 100, 270, 240)
    plot(page, 330, 100, 530, 240)
    caption(page, LEFT, 260, "Fig. 1. Short.")
    prose(page, LEFT, 300, 700)
    prose(page, RIGHT, 300, 700)


def test_a_figure_across_both_columns_with_a_short_caption_in_one(drawn: Drawn) -> None:
    box = drawn.figures[plots_across_columns]["Figure 1"].place.box
    assert (box.x0, box.x1) == pytest.approx((70, 530), abs=9)


@sheet(1)
def captions_above(page: pymupdf.Page) -> None:
    caption(page, LEFT, 110, "Figure 1: A plot.")
    plot(page, 100, 125, 280, 220)
    prose(page, LEFT, 250, 340, wide=True)
    caption(page, LEFT, 370, "Figure 2: A blob.")
    blob(page, 100, 380, 280, 500)
    prose(page, LEFT, 540, 700, wide=True)


def test_captions_above_their_figures(drawn: Drawn) -> None:
    found = drawn.figures[captions_above]
    assert found["Figure 1"].place.box.y1 < 240
    assert found["Figure 2"].place.box.y0 > 370


@pytest.mark.slow
@sheet(1)
def caption_beside(page: pymupdf.Page) -> None:
    prose(page, LEFT, 60, 180, wide=True)
    plot(page, 60, 200, 280, 330)
    caption(page, 320, 250, "Figure 1: A caption that goes")
    caption(page, 320, 262, "on beside the plot that it names.")
    prose(page, LEFT, 370, 700, wide=True)


def test_a_caption_beside_its_figure(drawn: Drawn) -> None:
    box = drawn.figures[caption_beside]["Figure 1"].place.box
    assert box == pytest.approx((60, 200, 280, 330), abs=9)


@sheet(2)
def program(page: pymupdf.Page) -> None:
    for row, text in enumerate(("def program():", "    fact = Verify('It is so.')", "    return Predict(fact)")):
        page.insert_text((LEFT, 200 + 11 * row), text, fontsize=8, fontname="cour")
    caption(page, LEFT, 250, "Figure 1: A program.")
    prose(page, LEFT, 280, 700)
    prose(page, LEFT, 100, 170)
    prose(page, RIGHT, 100, 700)


def test_a_figure_of_text_alone(drawn: Drawn) -> None:
    figure = drawn.figures[program]["Figure 1"]
    assert figure.text.startswith("def program():")
    assert figure.place.box.y0 == pytest.approx(194, abs=2)


@sheet(2)
def plot_below_heading(page: pymupdf.Page) -> None:
    page.insert_text((LEFT, 98), "Attention Plots", fontsize=12, fontname="tibo")
    plot(page, 80, 106, 280, 240)
    caption(page, LEFT, 262, "Figure 1: A plot.")


def test_heading_above_a_figure_is_not_part_of_it(drawn: Drawn) -> None:
    figure = drawn.figures[plot_below_heading]["Figure 1"]
    assert figure.place.box.y0 == pytest.approx(106, abs=1)
    assert "Attention" not in figure.text


@sheet(1)
def titled_panels(page: pymupdf.Page) -> None:
    plot(page, 60, 100, 280, 240)
    plot(page, 320, 100, 540, 240)
    caption(page, 120, 255, "(a) Training loss over many long epochs.")
    caption(page, 400, 255, "(b) Test loss.")
    caption(page, 200, 280, "Figure 1: Two losses.")
    prose(page, LEFT, 320, 700, wide=True)


def test_panels_with_captions_below_them(drawn: Drawn) -> None:
    figure = drawn.figures[titled_panels]["Figure 1"]
    told = [(panel.mark, panel.caption) for panel in figure.panels]
    assert told == [("a", "Training loss over many long epochs."), ("b", "Test loss.")]
    left, right = (panel.place.box for panel in figure.panels)
    assert left == pytest.approx((60, 100, 280, 258), abs=9)
    assert right == pytest.approx((320, 100, 540, 258), abs=9)


@sheet(1)
def untitled_panels(page: pymupdf.Page) -> None:
    for x, y, mark in ((60, 100, "a"), (320, 100, "b"), (60, 270, "c"), (320, 270, "d")):
        blob(page, x, y, x + 200, y + 120)
        caption(page, x + 95, y + 140, f"({mark})")
    caption(page, 150, 440, "Figure 1: (a) A cat, (b) a dog, (c) a cow and (d) a fox.")


def test_panels_without_titles_get_them_from_the_caption(drawn: Drawn) -> None:
    figure = drawn.figures[untitled_panels]["Figure 1"]
    assert [panel.caption for panel in figure.panels] == ["A cat", "a dog", "a cow", "a fox."]
    boxes = [panel.place.box for panel in figure.panels]
    assert boxes[0].x1 <= boxes[1].x0
    assert boxes[0].y1 <= boxes[2].y0


@sheet(1)
def marks_above_panels(page: pymupdf.Page) -> None:
    for x, mark in ((60, "a"), (320, "b")):
        page.insert_text((x, 108), f"({mark})", fontsize=8, fontname="hebo")
        plot(page, x, 115, x + 200, 250)
    caption(page, LEFT, 280, "Figure 1: Two plots.")
    prose(page, LEFT, 320, 700, wide=True)


def test_marks_at_the_head_of_the_panels(drawn: Drawn) -> None:
    figure = drawn.figures[marks_above_panels]["Figure 1"]
    assert [panel.mark for panel in figure.panels] == ["a", "b"]
    assert figure.panels[0].place.box.x1 < 300 < figure.panels[1].place.box.x0


@sheet(2)
def lone_picture(page: pymupdf.Page) -> None:
    blob(page, 110, 110, 310, 310)
    blob(page, 400, 100, 440, 140)
    prose(page, LEFT, 400, 700)


def test_a_picture_without_a_caption_is_a_figure(drawn: Drawn) -> None:
    [figure] = drawn.figures[lone_picture].values()
    assert (figure.label, figure.caption_place) == ("", None)
    assert figure.place.box == pytest.approx((130, 130, 290, 290), abs=2)


def ticked_plot(page: pymupdf.Page, x0: float, y0: float, x1: float, y1: float) -> None:
    """A plot in a frame with ticks and numbers at its axes, and the name of the lower one further away."""
    page.draw_rect((x0, y0, x1, y1))
    page.draw_bezier((x0, y1), (x0 + 40, y0), (x1 - 40, y0), (x1, y0 + 5))
    for part in range(1, 5):
        x, y = x0 + part * (x1 - x0) / 5, y0 + part * (y1 - y0) / 5
        page.draw_line((x, y1), (x, y1 + 6))
        page.draw_line((x0 - 6, y), (x0, y))
        page.insert_text((x - 3, y1 + 16), str(part), fontsize=9, fontname="helv")
        page.insert_text((x0 - 14, y + 3), str(part), fontsize=9, fontname="helv")
    page.insert_text(((x0 + x1) / 2 - 15, y1 + 40), "Dose", fontsize=9, fontname="helv")


@sheet(1)
def lone_plots(page: pymupdf.Page) -> None:
    prose(page, LEFT, 100, 195, wide=True)
    ticked_plot(page, 90, 210, 270, 340)
    ticked_plot(page, 330, 210, 510, 340)
    prose(page, LEFT, 420, 700, wide=True)


def test_plots_without_a_caption_are_one_figure_with_its_labels(drawn: Drawn) -> None:
    [figure] = drawn.figures[lone_plots].values()
    assert (figure.label, figure.caption) == ("", "")
    assert figure.place.box == pytest.approx((76, 210, 510, 383), abs=9)
    assert figure.text.split("\n")[-1] == "Dose"


@sheet(1)
def boxes_of_text(page: pymupdf.Page) -> None:
    for row in range(4):
        for column in range(3):
            x, y = 100 + 120 * column, 200 + 40 * row
            page.draw_rect((x, y, x + 120, y + 40), fill=(0.9, 0.9, 1))
            page.insert_text((x + 20, y + 24), f"cell {row} {column}", fontsize=10, fontname="tiro")
    prose(page, LEFT, 420, 700, wide=True)


def test_boxes_of_text_are_no_plot(drawn: Drawn) -> None:
    assert not drawn.figures[boxes_of_text]


def repeated_picture(page: pymupdf.Page) -> None:
    blob(page, 100, 500, 300, 690)
    prose(page, LEFT, 100, 400)


SHEETS[2] += 2 * [repeated_picture]


def test_a_picture_that_repeats_is_decoration(drawn: Drawn) -> None:
    assert not drawn.figures[repeated_picture]


def test_a_blank_picture_is_not_trimmed() -> None:
    out = io.BytesIO()
    Image.new("RGB", (50, 50), "white").save(out, "PNG")
    box = Box(0, 0, 50, 50)
    assert trim_white(out.getvalue(), box, margin=4) == (out.getvalue(), box)


def test_other_content_in_the_margin_does_not_keep_a_white_border() -> None:
    image = Image.new("RGB", (200, 200), "white")
    image.paste("black", (60, 60, 140, 140))
    image.paste("black", (0, 0, 200, 3))
    out = io.BytesIO()
    image.save(out, "PNG")
    _, cut = trim_white(out.getvalue(), Box(0, 0, 100, 100), margin=4)
    assert cut == Box(26, 26, 74, 74)
