"""What a service adds to an answer: pictures of the pages of its evidence, and where its claims are marked."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from paperscope_core.text.citation_marks import place_marks
from paperscope_core.types import Answer, Evidence, Place, ToolItem, ToolResult

__all__ = ["with_pictures", "with_tool_pictures"]

# The route of page images takes no more.
_MOST_BOXES = 100


def with_pictures(answer: Answer) -> Answer:
    """Return the answer with the `pictures` of its evidence (a path for each page) and the `mark` of each claim."""
    marks = place_marks(answer.text, [claim.text for claim in answer.claims])
    return replace(
        answer,
        claims=tuple(
            replace(claim, evidence=_drawn(claim.evidence), mark=mark)
            for claim, mark in zip(answer.claims, marks, strict=True)
        ),
        checks=tuple(replace(check, support=_drawn(check.support)) for check in answer.checks),
    )


def with_tool_pictures(result: ToolResult) -> ToolResult:
    """Return the result with the `pictures` of its items."""
    return replace(result, items=tuple(replace(item, pictures=tuple(_pictures(item))) for item in result.items))


def _pictures(item: ToolItem) -> Iterator[str]:
    if item.crop:
        yield f"/v1/crops/{item.crop}"
    if item.kind == "page" and item.page:
        yield f"/v1/papers/{item.paper}/pages/{item.page}.png"
    elif item.page:
        yield from _paths(item.places)


def _drawn(evidence: Sequence[Evidence]) -> tuple[Evidence, ...]:
    return tuple(replace(one, pictures=tuple(_paths(one.places))) for one in evidence)


def _paths(places: Sequence[Place]) -> list[str]:
    boxes: dict[tuple[str, int], list[str]] = {}
    for place in places:
        if not place.by_line:
            # A box may begin a little outside its page.
            box = ",".join(f"{max(value, 0.0):g}" for value in place.box)
            boxes.setdefault((place.paper, place.page), []).append(f"box={box}")
    return [
        f"/v1/papers/{paper}/pages/{page}.png?{'&'.join(marked[:_MOST_BOXES])}"
        for (paper, page), marked in boxes.items()
    ]
