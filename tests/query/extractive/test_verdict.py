"""Whether a sentence affirms or denies what is asked."""

import pytest

from paperscope_core.types import Box, Paper, Passage, Place
from query.extractive.question import read_question
from query.extractive.quotes import Scorer
from query.extractive.verdict import settled
from query.extractive.weights import Weights, vocabulary

PLACE = Place(paper="eeee00000001", page=1, box=Box(0.0, 0.0, 10.0, 10.0))


def answered(question: str, text: str) -> bool | None:
    passage = Passage(id="eeee00000001/passage-1", place=PLACE, order=1, text=text)
    paper = Paper(
        id="eeee00000001",
        title="Birds",
        authors=(),
        sha256="",
        file="b.pdf",
        pages=(),
        sections=(),
        elements=(passage,),
    )
    weights = Weights([vocabulary(paper)])
    asked = read_question(question, common=weights.common)
    scorer = Scorer(asked, weights)
    quotes = sorted(scorer.quotes(passage, ""), key=lambda quote: -quote.coverage)
    found = settled(asked, quotes, scorer, [paper])
    return found[0] if found is not None else None


@pytest.mark.parametrize(
    ("question", "text", "affirms"),
    [
        ("Does the tagger read nested brackets?", "The tagger reads nested brackets.", True),
        ("Does the tagger read nested brackets?", "The tagger does not read nested brackets.", False),
        ("Does the tagger read nested brackets?", "The tagger can't read nested brackets yet.", False),
        ("Does the tagger need nested brackets?", "The tagger works without nested brackets and needs little.", False),
        ("Does the tagger not read nested brackets?", "The tagger does not read nested brackets.", True),
        ("Is the tagger not only fast but small?", "The tagger is not only fast but small.", True),
        ("Is the shallow tagger sufficient for speech?", "The shallow tagger is insufficient for speech.", False),
        ("Does decoding increase with longer tags?", "Decoding decreases with longer tags.", False),
        ("Is the tagger faster than the parser?", "The tagger is slower than the parser.", False),
        ("Is the tagger faster than the parser?", "The tagger and the parser were both trained.", None),
        ("Does the tagger read nested brackets?", "A future tagger may read nested brackets.", None),
        ("Does the tagger read nested brackets?", "The tagger was trained on radio news.", None),
        ("Does the tagger read 40 nested brackets?", "The tagger reads 20 nested brackets.", None),
        ("Does Alpha read nested brackets?", "The tagger reads nested brackets.", None),
        ("Is the lead of the tagger over the parser large?", "The lead of the tagger over the parser grew.", None),
        ("Does the tagger name its parser?", "The parser of the tagger reads brackets.", None),
        ("Does the tagger allow nested brackets?", "The tagger supports nested brackets.", True),
        ("Does the parser read nested brackets?", "The tagger reads nested brackets. The parser does not.", False),
        ("Does the tagger read nested brackets?", "The tagger reads nested brackets. The parser does not.", True),
        ("Does the tagger use brackets?", "The tagger, eschewing brackets, reads words alone.", False),
        ("Is the tagger applied to news?", "We apply the tagger to news and not to speech.", True),
        ("Did any tagger read all brackets?", "No tagger (i.e. of ten) read all brackets of news.", False),
        ("Is the tagger robust on news?", "The parser does not read speech; the tagger is robust on news.", True),
        ("Is the tagger faster than the parser?", "The parser is much faster than the tagger.", False),
        ("Is the tagger faster than the parser?", "The parser is slower than the tagger.", True),
        ("Is the tagger faster in practice than the parser?", "In practice the parser, not the tagger, is fast.", None),
        ("Does the tagger outperform the parser?", "The tagger is outperformed by the parser.", False),
        ("Does the tagger outperform the parser?", "The tagger outperforms the parser on news.", True),
        ("Is the tagger more robust than the parser?", "The tagger and the parser are robust.", None),
        ("Is the lead of the tagger significant?", "The lead of the tagger is 0.2 points (p = 0.3).", False),
        ("Is the lead of the tagger significant?", "The lead of the tagger is 0.2 points (p = 0.01).", True),
        ("Is the lead of the tagger not significant?", "The lead of the tagger is 0.2 points (p = 0.3).", True),
        ("Is the lead of the tagger significant?", "The lead of the tagger is 0.2 points.", None),
        (
            "Is the lead of the tagger significant?",
            "The lead of the tagger has p = 0.3 here, and p = 0.01 there.",
            None,
        ),
        ("Is the tagger significantly faster than the parser?", "The tagger is faster than the parser.", None),
    ],
)
def test_affirmed_denied_or_neither(question: str, text: str, affirms: bool | None) -> None:
    assert answered(question, text) is affirms
