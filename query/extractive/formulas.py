"""Display equations as quotations: each with the sentence that introduces it."""

import re
from collections.abc import Mapping, Sequence

from paperscope_core.text.sentences import split_sentences
from paperscope_core.types import Element, Equation, Evidence, Paper
from query.extractive.quotes import Quote, Scorer

__all__ = ["formulas"]


_NEAREST = 3
_EXPLAINS = re.compile(r"(?:where|here|with|for|in which)\b", re.IGNORECASE)


def formulas(scorer: Scorer, papers: Sequence[Paper], titles: Mapping[str, str]) -> list[Quote]:
    """A quotation for every display equation of the papers, scored by the words before, in and behind it."""
    found = []
    for paper in papers:
        for index, element in enumerate(paper.elements):
            if element.kind == "equation":
                before = _beside(paper.elements[:index][::-1])
                behind = _beside(paper.elements[index + 1 :])
                found.append(_formula(scorer, element, before, behind, titles.get(element.section, element.section)))
    return [quote for quote in found if quote.held or quote.around]


def _formula(scorer: Scorer, equation: Equation, before: Element | None, behind: Element | None, section: str) -> Quote:
    leading = split_sentences(before.text) if before is not None and before.kind == "passage" else []
    following = split_sentences(behind.text) if behind is not None and behind.kind == "passage" else []
    said = leading[-1] if leading else ""
    held = scorer.held(f"{said}\n{equation.text}")
    near = scorer.held("\n".join((section, *leading, *following[:1])))
    return Quote(
        sentences=(said or equation.text,),
        said=said,
        element=before if said and before is not None else equation,
        held=held,
        around=near - held,
        coverage=scorer.coverage(held, near, frozenset()),
        equation=equation,
        symbols=_symbols(behind, following),
    )


def _symbols(behind: Element | None, following: Sequence[str]) -> Evidence | None:
    """The end of the sentence that an equation stands in, and the sentence behind it that says what its symbols are
    or what it gives for some of them."""
    told = list(following[:1]) if following and following[0][0].islower() else []
    told += [text for text in following[len(told) : len(told) + 1] if _EXPLAINS.match(text)]
    if behind is None or not told:
        return None
    return Evidence(element=behind.id, place=behind.place, quote=" ".join(told))


def _beside(elements: Sequence[Element]) -> Element | None:
    """The nearest passage of running text with no heading between; floats may stand between."""
    for element in elements[:_NEAREST]:
        if element.kind == "passage":
            return element if element.role != "heading" else None
    return None
