"""Whether an answer is right, with one measure per form of gold answer."""

import re

from paperscope_core.text.words import STOP_WORDS
from paperscope_lab.evaluation.answers.forms import Form, polarity
from paperscope_lab.evaluation.matching import nearest_distance, normalise_spaces, remove_spaces
from paperscope_lab.evaluation.metrics.numbers import as_number, numbers_recall, stated_numbers
from paperscope_lab.evaluation.metrics.text import anls, contains_answer, list_f1, read_list
from paperscope_lab.evaluation.score import Tally

__all__ = ["correctness", "formulas_in", "is_free_text_right", "stated_share", "states_formula"]

_MAX_FORMULA_DISTANCE = 0.25
_TEX = re.compile(r"\$([^$]+)\$")
_MARKUP = re.compile(r"[_^]\{|\\[a-zA-Z]{2,}")
_PROSE = re.compile(r"(?<![\\\w{])[^\W\d_]{2,} [^\W\d_]{2,}")
_RELATION = re.compile(r"[=+*/<>^]|\\(?:frac|sum|prod|times|cdot|leq|geq)|-")
# In JSON with one level of escaping too few, "\frac", "\times", "\right" and "\beta" begin with control characters.
_LOST_ESCAPES = str.maketrans({"\f": r"\f", "\t": r"\t", "\r": r"\r", "\b": r"\b"})
_FRACTION = re.compile(r"\\[dt]?frac\s*\{([^{}]*)\}\s*\{([^{}]*)\}")
_COMMAND = re.compile(r"\\(?:left|right|mathcal|mathbf|mathrm|mathbb|operatorname|text|quad|qquad)\b|\\(?=[a-zA-Z{}|])")
_MARKUP_CHARACTERS = re.compile(r"[{}\s$^_\\,;!]")
_MIN_ANLS = 0.5
_MIN_RECALL = 0.5
_MAX_NUMBERS = 16
_MAX_NUMBERS_RATIO = 4
# Words are compared by their first letters, so that "averaged" matches "averaging": truncation is an adequate stemmer
# for English (McNamee, Nicholas & Mayfield, 2009).
_STEM_LENGTH = 6
_WORD = re.compile(r"(?<!\w)\w*[^\W\d_]\w*(?:\+\w+)*")
# A word with a capital or a digit within a sentence, or with more than one capital.
_NAME = re.compile(r"(?<=[^.!?:]\s)[A-Z][\w+-]*|\b\w*[A-Z]\w*[A-Z][\w+-]*|\b[^\W\d_][\w+-]{0,60}\d[\w+-]*")
# Footnote marks, as in "types;⁶" and "① first". A power follows a digit or a bracket.
_MARKS = re.compile(r"(?<=[^\d\s)⁺⁻⁰¹²³⁴⁵⁶⁷⁸⁹])[⁰¹²³⁴⁵⁶⁷⁸⁹]+|[\u2460-\u2473]")
# Function words, and words that accompany a number without adding content.
_IGNORED_WORDS = STOP_WORDS | frozenset(
    "approximately around compared faster greater higher increase less lower percent percentage point points reach "
    "reaches respectively score scores slower time times value values yes".split()
)


def formulas_in(text: str) -> list[str]:
    """Return the formulas between dollar signs, or the whole text if it is a bare formula.

    A lone symbol or number is not a formula.
    """
    bare = [text] if "$" not in text and _MARKUP.search(text) and not _PROSE.search(text) else []
    found = [formula.translate(_LOST_ESCAPES) for formula in _TEX.findall(text) or bare]
    return [formula for formula in found if _RELATION.search(formula) and as_number(formula) is None]


def states_formula(formula: str, answer: str) -> bool:
    """Return whether a part of the answer differs from the formula in at most a quarter of its characters, ignoring
    markup."""
    wanted = _plain_formula(formula)
    return nearest_distance(wanted, _plain_formula(answer)) <= _MAX_FORMULA_DISTANCE * len(wanted)


def _plain_formula(text: str) -> str:
    text = _COMMAND.sub("", _FRACTION.sub(r"\1/\2", text.translate(_LOST_ESCAPES)))
    return _MARKUP_CHARACTERS.sub("", remove_spaces(text)).casefold()


def correctness(gold: str, form: Form, *, text: str, short: str, question: str) -> float:
    """Return the correctness of an answer, 0 to 1; only lists can be partly right.

    "polar": the short answer is the same word. "number": the answer states every number of the gold that the question
    doesn't give, to the precision of the gold. "list": F1 of its items. "text": ANLS of the short answer is at least
    0.5, or the answer contains the gold as whole tokens (the short answer must, if the question itself names the gold).
    "free": see `is_free_text_right`. Any answer to an unanswerable question is wrong.
    """
    if form == "none":
        return 0.0
    if form == "polar":
        return float(polarity(short) == polarity(gold))
    if form == "number":
        numbers = stated_share(gold, text, question)
        numbers = numbers if numbers.total else stated_share(gold, text)
        return float(numbers.total > 0 and numbers.right == numbers.total)
    if form == "list":
        return list_f1(read_list(gold), read_list(short))
    if form == "text":
        within = short if contains_answer(gold, question) else f"{short} {text}"
        return float(anls(gold, short) >= _MIN_ANLS or contains_answer(gold, within))
    return float(is_free_text_right(gold, text, question))


def is_free_text_right(gold: str, answer: str, question: str) -> bool:
    """Return whether the answer states all numbers of the gold and at least half of its content words.

    Numbers and words in the question don't count, unless that excludes everything; function words never count. If the
    gold has numbers, only names count beside them. A gold with formulas in TeX requires these and nothing else.
    """
    formulas = formulas_in(gold)
    if formulas:
        return all(states_formula(formula, answer) for formula in formulas)
    numbers, words = stated_share(gold, answer, question), _content_stems(gold) - _content_stems(question)
    if not numbers.total and not words:
        numbers, words = stated_share(gold, answer), _content_stems(gold)
        if not numbers.total and not words:
            return contains_answer(gold, answer)
    elif numbers.total:
        words &= _content_stems(" ".join(_NAME.findall(gold)))
    return numbers.right == numbers.total and len(words & _content_stems(answer)) >= _MIN_RECALL * len(words)


def stated_share(gold: str, answer: str, question: str = "") -> Tally:
    """Return the share of the gold's numbers, except those in the question, that the answer states.

    Numbers of tables, pages, citations, footnotes and steps in the answer don't count. Nor does any number of an answer
    that prints a whole table: more than sixteen numbers, and more than four times as many as the gold.
    """
    stated = [number.text for number in stated_numbers(_MARKS.sub(" ", answer))]
    share = numbers_recall(gold, "; ".join(stated), question)
    printed = len(stated) > max(_MAX_NUMBERS, _MAX_NUMBERS_RATIO * share.total)
    return Tally(right=0, total=share.total) if printed else share


def _content_stems(text: str) -> frozenset[str]:
    found = (word.casefold() for word in _WORD.findall(normalise_spaces(text)))
    telling = (word for word in found if len(word) > 1 and word not in _IGNORED_WORDS)
    return frozenset(word[:_STEM_LENGTH] if word.isalpha() else word for word in telling)
