"""Whether printed words hold a quote, the numbers of a claim, and its words. Pure functions on texts."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from itertools import permutations

from evaluation.matching import spaced
from evaluation.metrics.numbers import same_number, stated_numbers, without_labels
from evaluation.metrics.quantities import Number, numbers_in
from query.words import content_words

__all__ = ["holds_numbers", "holds_quote", "word_share"]

# Formulas and characters that fonts don't name are read in more than one way.
_LEAST = 0.8
# Among more numbers than these, some pair gives almost any result.
_MOST_OPERANDS = 12
_TOKEN = re.compile(r"[^\W_]+")
_SAID: Mapping[str, re.Pattern[str]] = {
    operation: re.compile(rf"\b(?:{words})\b", re.IGNORECASE)
    for operation, words in {
        "difference": r"differ\w*|more|less|fewer|gap|margin|gain\w*|improve\w*|increas\w*|decreas\w*|drop\w*|reduc\w*"
        r"|higher|lower|larger|smaller|faster|slower|minus|chang\w*|from",
        "sum": r"sum|totals?|together|altogether|plus|combined|in all",
        "mean": r"means?|averag\w*",
        "ratio": r"ratio|times|fold|share|per cent|percent\w*|of",
    }.items()
}
_RANKED = re.compile("highest|lowest|largest|smallest|greatest|best|worst|values?")


def holds_quote(printed: Sequence[str], quote: str) -> bool:
    """Whether at least 0.8 of the quote's tokens are printed, each as often; ligatures and case are folded.

    `printed` holds a word that is divided at the end of a line both whole and in its parts, as `words_in` does.
    """
    wanted, there = Counter(_tokens([quote])), Counter(_tokens(printed))
    return (wanted & there).total() >= _LEAST * wanted.total()


def holds_numbers(printed: Sequence[str], claim: str, *, question: str = "", names: Sequence[str] = ()) -> bool:
    """Whether each number that the claim adds to the question is printed, as rounded as the claim has it, or follows.

    `names` are words that name what is printed there, such as headers: a number may stand in them ("α = 0.6").

    It follows where the claim says so ("0.97 more", "the sum", "on average", "twice the …") from two numbers that are
    printed: by all of the printed ones if these are few, else by those that the claim states. Signs may differ, and
    labels such as "Table 5" are no numbers.
    """
    free = without_labels(claim)
    claimed = stated_numbers(free, question) if numbers_in(free) else ()
    there = numbers_in(" ".join(printed))
    operands = there if len(there) <= _MOST_OPERANDS else tuple(it for it in numbers_in(free) if _is_in(it, there))
    known = (*there, *numbers_in(" ".join(names)))
    return all(_is_in(number, known) or _follows(number, operands, claim) for number in claimed)


def word_share(printed: Sequence[str], claim: str) -> float:
    """The share of the claim's content words that are printed; 1 where it has none.

    Numbers and labels aside, and words that tell what was made of numbers ("highest", "lower"): no page prints those.
    """
    wanted = {word for word in content_words(spaced(without_labels(claim))) if not (numbers_in(word) or _is_made(word))}
    there = content_words(spaced(" ".join(printed)))
    return len(wanted & there) / len(wanted) if wanted else 1.0


def _is_made(word: str) -> bool:
    return any(words.fullmatch(word) for words in (_RANKED, *_SAID.values()))


def _tokens(texts: Sequence[str]) -> Iterator[str]:
    for text in texts:
        yield from _TOKEN.findall(spaced(text).casefold())


def _is_in(number: Number, others: Sequence[Number]) -> bool:
    amount = replace(number, value=abs(number.value))
    return any(same_number(amount, replace(other, value=abs(other.value))) for other in others)


def _follows(number: Number, operands: Sequence[Number], claim: str) -> bool:
    said = {operation for operation, words in _SAID.items() if words.search(claim)}
    values = list(dict.fromkeys(abs(operand.value) for operand in operands))
    return any(
        operation in said and abs(result - abs(number.value)) <= number.step / 2
        for one, other in permutations(values, 2)
        for operation, result in _results(one, other, percent=number.kind == "share")
    )


def _results(one: Decimal, other: Decimal, *, percent: bool) -> Iterator[tuple[str, Decimal]]:
    yield "difference", abs(one - other)
    yield "sum", one + other
    yield "mean", (one + other) / 2
    if other:
        yield "ratio", one / other
    if other and percent:
        yield "ratio", 100 * one / other
        yield "difference", 100 * abs(one - other) / other
