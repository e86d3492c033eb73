"""Where a piece of evidence stands: gold quotes whole units, parts of them, or nearly so."""

from collections.abc import Sequence

from evaluation.matching import fold, similarity

__all__ = ["UnitTexts"]

# On the development data all that gold quotes stands in its units as it is, blanks and quotes aside. Where it does not,
# the units nearest to a quotation reach 0.7 at the most unless they are what is meant.
_SAME = 0.75


class UnitTexts:
    """The units of a corpus, to look quotations up in."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._texts = texts
        self._folded = [_folded(text) for text in texts]

    def holding(self, quotation: str) -> list[int]:
        """The places of the units that are the quotation; or else hold it; or else are parts of it; or else of the one
        that is most similar, if it is so at all. Case and blanks don't count."""
        wanted = _folded(quotation)
        for holds in (str.__eq__, str.__contains__, _is_part_of):
            if found := [place for place, text in enumerate(self._folded) if holds(text, wanted)]:
                return found
        nearest = max(
            range(len(self._texts)), key=lambda place: similarity(self._texts[place], quotation), default=None
        )
        if nearest is None or similarity(self._texts[nearest], quotation) < _SAME:
            return []
        return [nearest]


def _folded(text: str) -> str:
    return fold(text).casefold()


def _is_part_of(text: str, wanted: str) -> bool:
    return text in wanted
