"""Captions: where they begin and end."""

from dataclasses import replace

from ingest.pdf.captions import find_captions
from ingest.pdf.lines import line_of
from ingest.pdf.pdf_words import Word
from tests.ingest.pdf.words import sentence, word


def centred(words: list[Word], middle: float) -> list[Word]:
    shift = middle - (words[0].x0 + words[-1].x1) / 2
    return [replace(word, x0=word.x0 + shift, x1=word.x1 + shift) for word in words]


def test_caption_continues_at_one_pitch() -> None:
    lines = [
        line_of(sentence("Fig. 3. A very long caption that", 0, 100)),
        line_of(sentence("goes on here.", 0, 111)),
        line_of(sentence("Running text after a gap.", 0, 140)),
    ]
    [caption] = find_captions(lines, gutter=None)
    assert (caption.kind, caption.label) == ("figure", "Figure 3")
    assert caption.text == "A very long caption that goes on here."
    assert len(caption.lines) == 2


def test_caption_in_small_capitals_centred_below_its_label() -> None:
    wide = sentence("THE SPARSE MODEL HELPS BEYOND THE TASK", 330, 109, size=6.4)
    below = sentence("IT WAS MADE FOR", 0, 118, size=6.4)
    middle = (wide[0].x0 + wide[-1].x1) / 2
    lines = [line_of(centred(words, middle)) for words in (sentence("TABLE IV", 0, 100, size=8), wide, below)]
    for gutter in (None, middle - 10):
        [caption] = find_captions(lines, gutter=gutter)
        assert caption.label == "Table IV"
        assert caption.text == "THE SPARSE MODEL HELPS BEYOND THE TASK IT WAS MADE FOR"


def test_sentence_about_a_table_is_not_a_caption() -> None:
    lines = [line_of(sentence("Table 4 shows that it works", 0, 100)), line_of(sentence("As in Table 3: no", 0, 112))]
    assert find_captions(lines, gutter=None) == []


def test_words_of_a_label_may_touch() -> None:
    first = line_of([word("Table", 50, 100), word("1:", 75, 100), *sentence("The accuracy", 90, 100)])
    assert first.text == "Table1: The accuracy"
    [caption] = find_captions([first, line_of(sentence("of owls.", 90, 111))], gutter=None)
    assert (caption.label, caption.text) == ("Table 1", "The accuracy of owls.")
