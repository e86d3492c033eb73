"""Whether a sentence affirms or denies what is asked."""

import pytest

from paperscope.types import Box, Paper, Passage, Place
from query.embedded.question import read_question
from query.embedded.quotes import Scorer
from query.embedded.verdict import verdict
from query.embedded.weights import Weights, vocabulary

PLACE = Place(paper="eeee00000001", page=1, box=Box(0.0, 0.0, 10.0, 10.0))


def settle(question: str, text: str) -> bool | None:
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
    return verdict(asked, scorer.quotes(passage, "")[0], scorer)


@pytest.mark.parametrize(
    ("question", "text", "settled"),
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
    ],
)
def test_affirmed_denied_or_neither(question: str, text: str, settled: bool | None) -> None:
    assert settle(question, text) is settled
