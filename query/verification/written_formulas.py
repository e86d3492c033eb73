"""Computations that a text writes out: "1,225 × 0.37", "20 % of 1,225", "245 of 1,225", "the sum of 3, 4 and 5"."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal, DecimalException
from operator import add, mul, sub, truediv

from paperscope_core.text.sentences import split_sentences
from query.numbers import Number, placed_numbers, without_labels

__all__ = ["Formula", "Formulas", "find_formulas"]

# What may stand between two numbers of a formula: what the first counts, brackets, an operator, brackets. A hyphen
# without spaces is a range ("93-94"), an x without spaces a size ("3x3").
_WORD = r"\s+(?!(?:plus|minus|times|multiplied|divided|of|and|x)\b)[^\W\d_][\w-]{0,30}"
_BETWEEN = re.compile(
    rf"(?i)(?:{_WORD}){{0,3}}(?P<close>(?:\s*\))*)(?:\s*(?P<sign>[+*×·∙⋅/÷]|\\times|\\cdot)\s*"
    rf"|\s+(?P<word>-|x|plus|minus|times|multiplied by|divided by)\s+)(?P<open>(?:\(\s*)*)"
)
# "20% of the comments (5 / 25)" gives a formula of its own in brackets.
_OF = re.compile(r"(?i)\s+(?:out\s+)?of\s+(?:(?:[a-z]{1,30}\s+){0,3}|(?:the\s+)?(?P<open>(?:\(\s*)+))")
_LISTED = re.compile(r"(?i)(?:\s*\([^()\d]*\))?(?:\s+[^\W\d_][\w-]*){0,3}?(?:\s*,|\s*;)?\s+(?:(?:and|plus)\s+)?")
_OVER_LIST = re.compile(r"(?i)\b(?:(?P<sum>sum|total)|mean|average)\s+of\s+(?:(?:the|both|all)\s+)?$")
_CLOSES = re.compile(r"(?:\s*\))+")
_EQUALS = re.compile(r"(?:\s+[^\W\d_][\w-]*){0,3}[\s)]*(?:=|≈|\\approx|~|∼)\s*(?P<open>)")
_OPERATORS: dict[str, str] = {
    **dict.fromkeys(("+", "plus"), "+"),
    **dict.fromkeys(("-", "minus"), "-"),
    **dict.fromkeys(("/", "÷", "divided by"), "/"),
}
_APPLY: dict[str, Callable[[Decimal, Decimal], Decimal]] = {"+": add, "-": sub, "×": mul, "/": truediv}
_SHOWN = {"-": " − ", "×": " × ", "+": " + ", "/": " / "}
# A longer run of numbers is a list or noise.
_MOST_NUMBERS = 12
# How much of the text before a number is read for "the sum of" or brackets, and between two numbers for an operator.
_LONGEST_GAP = 80
# How many formulas may build on one another.
_MOST_STEPS = 3
_HUNDRED = Decimal(100)

_OPEN, _CLOSE, _LOOSE = "(", ")", ("+", "-")

_Token = Number | str


@dataclass(frozen=True, slots=True)
class Formula:
    """A computation that is written out.

    `operands` are its numbers without `constants`: the 100 of a percentage, the 1 of "1 − 0.37", the number of terms
    that a sum is divided by. `result` is the number after an equals sign.
    """

    text: str
    operands: tuple[Number, ...]
    constants: tuple[Number, ...]
    values: tuple[Decimal, ...]
    """The value with percentages as fractions, and with percentages as their number."""
    result: Number | None = None


class Formulas:
    """The formulas of a text, and the numbers that follow from them.

    A formula counts if its operands are known, follow from another formula, or were learnt; a known sum may be divided
    by the number of its terms. `given` has the formula of each stated number that is the value of one, rounded to the
    number's digits, and of the constants of such a formula; `wrong` are the numbers after an equals sign that are not
    the value.
    """

    def __init__(self, text: str, *, stated: Iterable[Number], is_known: Callable[[Number], bool]) -> None:
        self.given: dict[Number, Formula] = {}
        self.wrong: set[Number] = set()
        self._is_known = is_known
        self._stated: dict[Decimal, dict[Decimal, list[Number]]] = {}
        for number in dict.fromkeys(stated):
            self._stated.setdefault(number.unit, {}).setdefault(number.value, []).append(number)
        # How many terms the sums have.
        self._terms: dict[Number, int] = {}
        self._unused = list(find_formulas(text))
        self._follow_all()

    def learn(self, number: Number, *, terms: int = 0) -> None:
        """Use the formulas with a number that follows from others without a formula, as a sum of so many terms."""
        if self._unused:
            self._terms[number] = terms
            self._follow_all()

    def _follow_all(self) -> None:
        for _ in range(_MOST_STEPS):
            self._unused = [formula for formula in self._unused if not self._follow(formula)]

    def _follow(self, formula: Formula) -> bool:
        """Use a formula if its operands are known."""
        unknown = [
            number
            for number in formula.operands
            if not (number in self.given or number in self._terms or self._is_known(number))
        ]
        if not all(self._is_fraction(number, formula) or self._is_divisor(number, formula) for number in unknown):
            return False
        given = list(self._given(formula))
        if formula.text.count(_SHOWN["+"]) == len(formula.operands) - 1:
            self._terms.update(dict.fromkeys(given, len(formula.operands)))
        supported = (*given, *formula.constants, *unknown) if given else ()
        for number in supported:
            self.given.setdefault(number, formula)
        if formula.result is not None and formula.result not in given:
            self.wrong.add(formula.result)
        return True

    def _is_fraction(self, number: Number, formula: Formula) -> bool:
        """Return whether a factor is the fraction of a percentage that is printed without its sign, as tables do."""
        if "×" not in formula.text or number.percent or not 0 < number.value < 1:
            return False
        digits = (number.value * _HUNDRED).normalize()
        return self._is_known(Number(f"{digits:f}", digits, number.unit * _HUNDRED))

    def _is_divisor(self, number: Number, formula: Formula) -> bool:
        """Return whether a formula divides a sum by the number of its terms."""
        total, *divisors = formula.operands
        return divisors == [number] and "/" in formula.text and self._terms.get(total) == number.signed

    def _given(self, formula: Formula) -> Iterator[Number]:
        for value in formula.values:
            for unit, stated in self._stated.items():
                for scale in (1, 100):
                    rounded = (abs(value) * scale / unit).to_integral_value(ROUND_HALF_UP) * unit
                    yield from (
                        number
                        for number in stated.get(rounded, ())
                        if (scale == 1 or number.percent) and (not number.sign or (value < 0) == (number.sign == "-"))
                    )


def find_formulas(text: str) -> Iterator[Formula]:
    """Yield the formulas of a text in order."""
    for sentence in split_sentences(text):
        plain = without_labels(sentence)
        placed = list(placed_numbers(plain))
        at = 0
        while at < len(placed):
            tokens, end = _written(plain, placed, at)
            if end == at:
                tokens, end = _over_list(plain, placed, at)
            if end > at:
                formula = _formula(tokens, _result(plain, placed, end))
                if formula is not None:
                    yield formula
            at = max(end, at + 1)


_Placed = tuple[Number, int, int]


def _gap(plain: str, placed: Sequence[_Placed], at: int) -> str:
    """Return the text between a number and the next; empty if that is long or there is none."""
    if at + 1 >= len(placed) or placed[at + 1][1] - placed[at][2] > _LONGEST_GAP:
        return ""
    # The sign of a number is a part of it.
    return plain[placed[at][2] : placed[at + 1][1]]


def _written(plain: str, placed: Sequence[_Placed], start: int) -> tuple[list[_Token], int]:
    """Return the tokens of numbers joined by operators from one number on, and the position of the last one."""
    before = plain[max(0, placed[start][1] - _LONGEST_GAP) : placed[start][1]]
    opens = before[len(before.rstrip("( \n")) :].count("(")
    tokens: list[_Token] = [*("(" * opens), placed[start][0]]
    at = start
    while gap := _gap(plain, placed, at):
        match, operator = _BETWEEN.fullmatch(gap), "×"
        if match is not None:
            sign = (match["sign"] or match["word"]).casefold()
            operator = _OPERATORS.get(sign, "×")
            tokens.extend(")" * match["close"].count(")"))
        else:
            # "20% of 1,225" is a number, "245 of 1,225" a share.
            match, operator = _OF.fullmatch(gap), "×" if placed[at][0].percent else "/"
        if match is None:
            break
        at += 1
        tokens.extend((operator, *("(" * (match["open"] or "").count("(")), placed[at][0]))
    after = _CLOSES.match(plain, placed[at][2])
    tokens.extend(")" * after[0].count(")") if after else "")
    return tokens, at


def _over_list(plain: str, placed: Sequence[_Placed], start: int) -> tuple[list[_Token], int]:
    """Return the tokens of "the sum of 3, 4 and 5" or "the mean of 3 and 4" and the position of the last number."""
    said = _OVER_LIST.search(plain, max(0, placed[start][1] - _LONGEST_GAP), placed[start][1])
    terms: list[_Token] = [placed[start][0]]
    at = start
    while said is not None and (gap := _gap(plain, placed, at)) and _LISTED.fullmatch(gap):
        at += 1
        terms.extend(("+", placed[at][0]))
        if "and " in gap:
            break
    if said is None or said["sum"]:
        return terms, at
    count = Number(str(at - start + 1), Decimal(at - start + 1))
    return ["(", *terms, ")", "/", count], at


def _result(plain: str, placed: Sequence[_Placed], at: int) -> Number | None:
    gap = _gap(plain, placed, at)
    return placed[at + 1][0] if gap and _EQUALS.fullmatch(gap) else None


def _formula(tokens: Sequence[_Token], result: Number | None) -> Formula | None:
    if not 1 < sum(isinstance(token, Number) for token in tokens) <= _MOST_NUMBERS:
        return None
    balanced = _balanced(tokens)
    try:
        values = {_value(balanced, fractions=fractions) for fractions in (True, False)}
    except (DecimalException, ValueError):
        return None
    numbers = [(token, _is_constant(balanced, at)) for at, token in enumerate(balanced) if isinstance(token, Number)]
    operands = tuple(number for number, constant in numbers if not constant)
    constants = tuple(number for number, constant in numbers if constant)
    text = "".join(_SHOWN.get(token, token) if isinstance(token, str) else token.text for token in balanced)
    return Formula(text, operands, constants, tuple(sorted(values)), result) if operands else None


def _balanced(tokens: Sequence[_Token]) -> list[_Token]:
    """Return the tokens without the brackets at their ends that have no partner: those of the sentence around them."""
    kept: list[_Token] = []
    opened: list[int] = []
    for token in tokens:
        if token == _CLOSE:
            if not opened:
                continue
            opened.pop()
        elif token == _OPEN:
            opened.append(len(kept))
        kept.append(token)
    return [token for at, token in enumerate(kept) if at not in opened]


def _is_constant(tokens: Sequence[_Token], at: int) -> bool:
    number = tokens[at]
    if not isinstance(number, Number):
        return False
    before, behind = tokens[at - 1] if at else "", tokens[at + 1] if at + 1 < len(tokens) else ""
    whole = number.value in (1, _HUNDRED) and behind == "-" and before in ("", "(")
    increase = number.value == 1 and behind == "+" and before == "("
    percentage = number.value == _HUNDRED and not number.percent and bool({before, behind} & {"×", "/"})
    terms = before == "/" and "+" in tokens and number.value == tokens.count("+") + 1
    return whole or increase or percentage or terms


def _value(tokens: Sequence[_Token], *, fractions: bool) -> Decimal:
    """Return the value by the usual precedence. Raises ValueError for a wrong formula, DecimalException for a value out
    of range."""
    values: list[Decimal] = []
    operators: list[str] = []

    def reduce(ends: tuple[str, ...]) -> None:
        while operators and operators[-1] not in ends:
            if len(values) < 2 or operators[-1] == _OPEN:
                raise ValueError("not a formula")
            second, first = values.pop(), values.pop()
            values.append(_APPLY[operators.pop()](first, second))

    for token in tokens:
        if isinstance(token, Number):
            values.append(token.signed / _HUNDRED if fractions and token.percent else token.signed)
        elif token == _OPEN:
            operators.append(token)
        elif token == _CLOSE:
            reduce((_OPEN,))
            operators.pop()
        else:
            ends = (_OPEN,) if token in _LOOSE else (_OPEN, *_LOOSE)
            reduce(ends)
            operators.append(token)
    reduce(())
    if len(values) != 1:
        raise ValueError("not a formula")
    return values[0]
