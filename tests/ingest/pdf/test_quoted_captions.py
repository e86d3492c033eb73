"""Lines that look like captions: in running text, in frames, inside figures."""

from dataclasses import replace

from ingest.document.pages import PageContent
from ingest.pdf.captions import find_captions
from ingest.pdf.frames import find_framed_floats, find_frames
from ingest.pdf.layout import BodyStyle, PageLayout
from ingest.pdf.lines import Line
from ingest.pdf.quoted_captions import without_captions_in_text, without_quoted_captions
from paperscope_core.types import Box
from tests.ingest.pdf.words import printed_line


def line(x: float, y: float, text: str, *, size: float = 10.0) -> Line:
    return printed_line(text, y, x0=x, size=size)


def layout(*lines: Line, drawings: tuple[Box, ...] = ()) -> PageLayout:
    ordered = sorted(lines, key=lambda line: line.baseline)
    return PageLayout(
        content=PageContent(number=1, width=600, height=800, drawings=drawings),
        lines=tuple(ordered),
        words=tuple(word for line in ordered for word in line.words),
        captions=tuple(find_captions(ordered, gutter=None)),
        body=BodyStyle(size=10.0, font="Times"),
    )


def labels(page: PageLayout) -> list[str]:
    [page] = without_captions_in_text([page])
    frames = [find_frames(page)]
    [page] = without_quoted_captions([page], frames, find_framed_floats([page], frames))
    return [caption.label for caption in page.captions]


PROSE = "the quick brown fox jumps over the lazy dog and runs away again"


def prose(*ys: float) -> list[Line]:
    return [line(60, y, PROSE) for y in ys]


def test_a_line_of_a_paragraph_is_no_caption() -> None:
    assert labels(layout(*prose(100, 112), line(60, 124, "Figure 1: shows that the fox"), *prose(136, 148))) == []


def test_a_caption_below_a_rule_or_a_wider_space_is_one() -> None:
    assert labels(layout(*prose(100, 112), line(60, 130, "Figure 1: A fox."), *prose(160))) == ["Figure 1"]
    rule = Box(60, 115, 400, 115.5)
    page = layout(*prose(100, 112), line(60, 125, "Table 1: Foxes."), *prose(160), drawings=(rule,))
    assert labels(page) == ["Table 1"]


def test_a_paragraph_that_begins_with_the_label_of_another_caption_is_none() -> None:
    plot = Box(60, 300, 300, 400)
    page = layout(
        *prose(100, 112),
        line(60, 140, "Figure 1: is a plot."),
        *prose(168, 180),
        line(60, 420, "Figure 1: A plot."),
        drawings=(plot,),
    )
    [kept] = without_quoted_captions([page], [[]], [])[0].captions
    assert kept.first.baseline == 420


def framed(*drawings: Box, caption: str) -> PageLayout:
    inside = [line(70, y, text) for y, text in ((120, PROSE), (138, "Table 3: as printed in the prompt"), (156, PROSE))]
    return layout(*inside, line(60, 188, caption), drawings=(Box(60, 105, 400, 166), *drawings))


def test_a_frame_with_a_caption_quotes_the_captions_inside() -> None:
    assert labels(framed(caption="Figure 2: A prompt.")) == ["Figure 2"]
    assert labels(framed(caption="Box 2: A prompt.")) == ["Box 2"]


def test_a_caption_amid_the_text_of_a_frame_needs_something_drawn_there() -> None:
    assert labels(framed(caption="This is text.")) == []
    assert labels(framed(Box(70, 142, 300, 142), caption="This is text.")) == ["Table 3"]


def test_small_captions_between_a_figures_caption_and_the_text_are_its_labels() -> None:
    page = layout(
        *prose(60, 72),
        line(80, 120, "Table 9: cells.", size=8),
        line(80, 135, "a 1", size=8),
        line(80, 150, "b 2", size=8),
        line(60, 190, "Figure 1: A table and an arrow."),
        *prose(230, 242),
        line(60, 300, "Figure 2: Another one."),
    )
    assert labels(page) == ["Figure 1", "Figure 2"]
    in_text = replace(page, lines=tuple(sorted((*page.lines, *prose(165)), key=lambda line: line.baseline)))
    assert labels(in_text) == ["Table 9", "Figure 1", "Figure 2"]
