"""The form of a gold answer, and the rules that extract a short answer from a whole one."""

import json
import re
from typing import Literal

from paperscope_lab.evaluation.metrics.numbers import as_number, numbers_in, stated_numbers
from paperscope_lab.evaluation.metrics.text import contains_answer, normalise, read_list
from service.batch.question_files import abstains

__all__ = ["Form", "form_of", "polarity", "short_answer"]

Form = Literal["none", "polar", "number", "list", "text", "free"]

# A longer answer is a statement, not a name or phrase.
_MAX_PHRASE_TOKENS = 5
_POLAR = re.compile(r"\W*(yes|no)\b(?:\W*$|\s*[.,;:!(\u2013\u2014]|\s+-)", re.IGNORECASE)
_Wanted = Literal["polar", "number", "list", "text"]
_NUMERIC = ("int", "float", "numeric")
_FORMATS: dict[str, _Wanted] = {**dict.fromkeys(_NUMERIC, "number"), "list": "list", "yes/no": "polar", "str": "text"}
_ASKS_NUMBER = re.compile(
    r"\bhow (?:many|much)\b|\bwhat (?:is|was|are|were)?\s*(?:the )?(?:\w+[ -]){0,3}"
    r"(?:number|score|value|percentage|accuracy|ratio|rate|f1|recall|precision|difference|sum|average|total|boost|gain|increase|improvement|drop)\b",
    re.IGNORECASE,
)
_ASKS_POLAR = re.compile(
    r"\W*(?:is|are|was|were|do|does|did|can|could|has|have|had|will|would|should)\b", re.IGNORECASE
)
_ASKS_YEAR = re.compile(r"\b(?:which|what) year\b", re.IGNORECASE)
_YEAR = re.compile(r"(?<![\d-])(?:19|20)\d\d(?![\d-])")
_NUMBER = r"[+\-]?\d[\d,]*(?:\.\d+)?\s?%?"
_COMPUTED = re.compile(rf"(?<=[\d%)])\s*=\s*({_NUMBER})")
_AFTER_COLON = re.compile(rf":\s*({_NUMBER})(?=\s|[.;,)]|$)")
# "(page 3)", "(Equation 3, page 2)" after a quotation
_PLACE = re.compile(r"(?<!\s)\s*+\((?:[^()]*,\s*)?(?:pages?|lines?) [\d\u2013-]++[^()]*\)")
_QUOTED = re.compile(r"“([^“”]{0,500})”")
_BEFORE_QUOTE = re.compile(r"([^:“”]{1,120}?):\s*“")
_LONG_FORM = re.compile(r"(\S+) stands for (.+)", re.IGNORECASE)
_LABEL_PREFIX = re.compile(r"(?:In|According to) (?:the )?(?:Table|Figure|Section|table|figure|section)\s[^,]*,\s*")
_PREDICATE = re.compile(r"\s(?:has|have|is|are|was|were|achieves?|reaches|reached|uses?|used)\s")
_PHRASE_END = re.compile(r"\s(?:under|in|for|on|at|with)\s|[:;]|,\s|\.\s|\.?$")
_MAX_ITEM_WORDS = 8
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z“])")


def form_of(gold: str, *, answer_format: str = "") -> Form:
    """Return the form that the benchmark states if the gold has it, else the apparent form of the gold.

    The forms are "none" (an abstention), "polar" (yes or no), "number", "list", "text" (a name or a phrase) and "free"
    (anything longer).
    """
    stated = answer_format.casefold()
    if abstains(gold, answer_format=answer_format):
        return "none"
    if polarity(gold):
        return "polar"
    if as_number(gold) or (stated in _NUMERIC and stated_numbers(gold)):
        return "number"
    if stated == "list" or (gold.lstrip().startswith("[") and len(read_list(gold)) > 1):
        return "list"
    short = len(normalise(gold).split()) <= _MAX_PHRASE_TOKENS and not numbers_in(gold)
    return "text" if stated == "str" or short else "free"


def polarity(text: str) -> str:
    """`yes` or `no` if the text begins with that word, set off by punctuation; else ""."""
    match = _POLAR.match(text)
    return match[1].casefold() if match else ""


def short_answer(answer: str, question: str, answer_format: str = "") -> str:
    """Return the short answer; the whole answer without quotation marks if no rule applies.

    Yes or no: the first word. A year: the first one. Another number: the result of a computation in the answer, else
    what follows a colon, else the first number that the question doesn't give. A list: a JSON list of the enumerated
    items. Otherwise: what precedes a quotation ("Chinese: “…”"), or the side of "X has Y" that the question doesn't
    give.
    """
    wanted = _wanted(question, answer_format)
    if wanted == "polar":
        return polarity(answer).capitalize() or _unquoted(answer)
    if wanted == "number":
        return _short_number(answer, question) or _unquoted(answer)
    if wanted == "list":
        return json.dumps(_short_list(answer, question), ensure_ascii=False)
    return _phrase(answer, question)


def _wanted(question: str, answer_format: str) -> _Wanted:
    stated = _FORMATS.get(answer_format.casefold())
    if stated:
        return stated
    if _ASKS_POLAR.match(question) and not re.search(r"\bor\b", question):
        return "polar"
    return "number" if _ASKS_NUMBER.search(question) or _ASKS_YEAR.search(question) else "text"


def _short_number(answer: str, question: str) -> str:
    if _ASKS_YEAR.search(question) and (year := _YEAR.search(answer)):
        return year[0]
    if found := _COMPUTED.search(answer) or _AFTER_COLON.search(answer):
        return found[1].strip()
    numbers = stated_numbers(_PLACE.sub("", answer), question)
    return numbers[0].text if numbers else ""


def _short_list(answer: str, question: str) -> list[str]:
    if answer.lstrip().startswith("["):
        return list(read_list(answer))
    sentence = _LABEL_PREFIX.sub("", _first_sentence(_unquoted(answer)))
    _, colon, listed = sentence.rpartition(": ")
    numbers = [number.text for number in stated_numbers(_unquoted(answer), question)]
    if not colon and len(numbers) > 1:
        return numbers
    items = read_list(listed.rstrip("."))
    if len(items) > 1 and all(len(item.split()) <= _MAX_ITEM_WORDS for item in items):
        return list(items)
    return numbers or [_phrase(answer, question)]


def _phrase(answer: str, question: str) -> str:
    if told := _BEFORE_QUOTE.match(answer):
        long = _LONG_FORM.fullmatch(told[1])
        return long[2] if long else told[1]
    if answer.lstrip().startswith("“"):
        return _unquoted(answer)
    sentence = _LABEL_PREFIX.sub("", _first_sentence(answer))
    if says := _PREDICATE.search(sentence):
        subject = sentence[: says.start()].strip()
        value = _PHRASE_END.split(sentence[says.end() :], maxsplit=1)[0].strip()
        return value if contains_answer(subject, question) else subject
    return _PHRASE_END.split(sentence, maxsplit=1)[0] if len(sentence.split()) > 8 else sentence.rstrip(".")


def _first_sentence(answer: str) -> str:
    return _SENTENCE_END.split(answer.strip(), maxsplit=1)[0]


def _unquoted(answer: str) -> str:
    """Return the text without quotation marks and the page numbers after them."""
    return _QUOTED.sub(r"\1", _PLACE.sub("", answer)).strip()
