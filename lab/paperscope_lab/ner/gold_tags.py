"""The tags that training should predict for annotated texts."""

from collections.abc import Iterable, Sequence

from ingest.extraction.recognizer.examples import Span
from ingest.extraction.recognizer.tagging import TagSet

__all__ = ["flat_spans", "gold_tags"]


def flat_spans(spans: Iterable[Span]) -> list[Span]:
    """Return spans that don't overlap, in their order: of those that do, the longest, then the first."""
    kept: list[Span] = []
    for span in sorted(spans, key=lambda span: (span.start - span.end, span.start, span.label)):
        if all(span.end <= other.start or other.end <= span.start for other in kept):
            kept.append(span)
    return sorted(kept, key=lambda span: span.start)


def gold_tags(tags: TagSet, spans: Iterable[Span], units: Sequence[tuple[int, int]]) -> list[int]:
    """Return the tags of units of text, each the characters [start, end); of spans that overlap, see `flat_spans`.

    A unit belongs to a span that covers its first character.
    """
    found = [0] * len(units)
    for span in flat_spans(spans):
        inside = [unit for unit, (start, _) in enumerate(units) if span.start <= start < span.end]
        for unit in inside:
            found[unit] = 2 + 2 * tags.labels.index(span.label)
        if inside:
            found[inside[0]] -= 1
    return found
