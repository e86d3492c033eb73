"""The links of an answer's evidence lead to page pictures with its boxes."""

from paperscope_core.types import Answer, Box, Check, Claim, Context, Evidence, Place
from service.http.pictures import with_pictures

PAPER = "aaaa00000001"


def at(page: int, *box: float) -> Place:
    return Place(paper=PAPER, page=page, box=Box(*box))


def test_evidence_has_a_picture_for_each_page_with_all_boxes() -> None:
    places = (at(3, 1, 2.5, 30, 40), at(3, 50, -0.1, 60, 40), at(4, 1, 2, 3, 4))
    evidence = Evidence(element=f"{PAPER}/passage-1", place=places[0], more_places=places[1:])
    line = Evidence(element=f"{PAPER}/passage-2", place=at(1, 0, 12, 0, 14))
    answer = with_pictures(
        Answer(
            question="?",
            status="answered",
            text="3",
            claims=(Claim(text="3", evidence=(evidence, line)),),
            context=Context(),
            checks=(Check(number="3", finding="printed", support=(evidence,)),),
        )
    )
    path = f"/v1/papers/{PAPER}/pages"
    assert answer.evidence[0].pictures == (f"{path}/3.png?box=1,2.5,30,40&box=50,0,60,40", f"{path}/4.png?box=1,2,3,4")
    assert answer.evidence[1].pictures == ()
    assert answer.checks[0].support[0].pictures == answer.evidence[0].pictures
