"""Where an answer's evidence is seen: pictures of pages with its boxes, and the viewer of the web page."""

from collections.abc import Sequence
from dataclasses import replace

from paperscope_core.types import Answer, Evidence, Place

__all__ = ["viewer_path", "with_pictures"]


def with_pictures(answer: Answer) -> Answer:
    """The answer with the `pictures` of its evidence: a path for each page, none for a paper without pages."""
    return replace(
        answer,
        claims=tuple(replace(claim, evidence=_drawn(claim.evidence)) for claim in answer.claims),
        checks=tuple(replace(check, support=_drawn(check.support)) for check in answer.checks),
    )


def viewer_path(evidence: Evidence) -> str:
    """The path of the web page that shows the paper with all places of the evidence lit."""
    places = (f"{one.page},{','.join(f'{value:g}' for value in one.box)}" for one in evidence.places)
    return f"/#/papers/{evidence.place.paper}?at={';'.join(places)}"


def _drawn(evidence: Sequence[Evidence]) -> tuple[Evidence, ...]:
    return tuple(replace(one, pictures=tuple(_paths(one.places))) for one in evidence)


def _paths(places: Sequence[Place]) -> list[str]:
    boxes: dict[tuple[str, int], list[str]] = {}
    for place in places:
        if not place.by_line:
            # A box may begin a little outside its page.
            box = ",".join(f"{max(value, 0.0):g}" for value in place.box)
            boxes.setdefault((place.paper, place.page), []).append(f"box={box}")
    return [f"/v1/papers/{paper}/pages/{page}.png?{'&'.join(marked)}" for (paper, page), marked in boxes.items()]
