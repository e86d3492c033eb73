"""The boxes of sources and citations against gold regions, made by hand."""

from typing import TYPE_CHECKING

import pytest
from paperscope_lab.evaluation.metrics.regions import covered_share, meets
from paperscope_lab.evaluation.regions import score_regions

from paperscope_core.types import Answer, Box, Claim, Context, ContextSource, Evidence, Place

if TYPE_CHECKING:
    from paperscope_lab.evaluation.score import Score

REGION = Place(paper="p", page=2, box=Box(100, 100, 200, 200))


def at(x0: float, y0: float, x1: float, y1: float, *, page: int = 2) -> Place:
    return Place(paper="p", page=page, box=Box(x0, y0, x1, y1))


@pytest.mark.parametrize(
    ("place", "expected"),
    [
        (at(110, 110, 120, 120), True),
        (at(0, 0, 600, 800), True),
        (at(150, 100, 260, 200), True),
        (at(151, 100, 260, 200), False),
        (at(110, 110, 120, 120, page=1), False),
        (at(200, 200, 300, 300), False),
        (at(110, 110, 110, 110), False),
    ],
)
def test_a_place_meets_a_region_with_half_of_the_smaller_one(place: Place, *, expected: bool) -> None:
    assert meets(place, REGION) is expected


@pytest.mark.parametrize(
    ("places", "share"),
    [
        ([], 0),
        ([at(0, 0, 150, 150)], 0.25),
        ([at(0, 0, 150, 150), at(100, 100, 150, 150), at(0, 0, 150, 150, page=1)], 0.25),
        ([at(100, 100, 200, 160), at(150, 140, 200, 200)], 0.8),
        ([at(100, 100, 120, 200), at(180, 100, 200, 200)], 0.4),
    ],
)
def test_overlapping_places_are_counted_once(places: list[Place], share: float) -> None:
    assert covered_share(REGION, places) == pytest.approx(share)


def score(
    *sources: tuple[Place, ...], cited: tuple[Place, ...] = (), regions: tuple[Place, ...] = (REGION,)
) -> "Score":
    rows = (
        ContextSource(id=number, content="", element="p/passage-1", place=first, more_places=tuple(more))
        for number, (first, *more) in enumerate(sources)
    )
    evidence = (Evidence(element="p/passage-1", place=cited[0], more_places=cited[1:]),) if cited else ()
    claims = (Claim(text="It is so.", evidence=evidence),)
    answer = Answer(question="Q", status="answered", text="A", claims=claims, context=Context(sources=tuple(rows)))
    return score_regions(answer, regions)


def test_every_box_of_a_source_counts_for_its_rank() -> None:
    elsewhere, inside = at(0, 0, 50, 50), at(100, 100, 200, 150)
    found = score((elsewhere,), (elsewhere, inside), cited=(elsewhere, inside))
    shares = {name: tally.share for name, tally in found.tallies.items()}
    assert shares == {
        "hit@1": 0,
        "hit@3": 1,
        "hit@8": 1,
        "recall": 1,
        "complete": 1,
        "covered": 0.5,
        "cited": 1,
        "cited.precise": 0.5,
    }


def test_a_region_that_no_box_meets_is_reported() -> None:
    other = at(300, 300, 400, 400)
    found = score((at(100, 100, 200, 200),), regions=(REGION, other))
    assert (found.tallies["recall"].share, found.tallies["complete"].right) == (0.5, 0)
    assert "cited" not in found.tallies
    assert [miss.metric for miss in score((other,), cited=(other,)).misses] == ["hit@8", "cited"]
