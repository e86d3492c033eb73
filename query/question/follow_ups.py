"""Completes follow-up questions from the conversation, without a model."""

import re
from collections.abc import Callable, Iterator, Sequence

from paperscope_core.types import Turn
from query.words import content_words

__all__ = ["complete_follow_up", "depends_on_history"]

_LEAD = re.compile(r"(?i)^\s*(?:(?:and|but|or|so|ok(?:ay)?|then|also)\b[\s,]*)*(?:(?:what|how)\s+about\s+)?")
_PRONOUN = re.compile(
    r"(?i)\b(?P<owned>its)\b|\b(?P<many>they|them|their|these|those)\b(?!\s+(?!is\b|are\b|was\b|were\b|do\b)\w+s\b)"
    r"|\bit\b(?!\s+(?:is\s+)?(?:possible|true|clear|known|likely|better|worth)\b)|\bthe (?:same|former|latter)\b"
    r"|\b(?:this|that)\b(?=\s*(?:[?.!,]|$|(?:is|was|does|did|has|mean|help|work|happen|hold|matter|apply|differ)\b))"
)
_ASKS = re.compile(
    r"(?i)\b(?:what|which|who|whom|whose|when|where|why|how|is|are|was|were|do|does|did|can|could|has|have|list|name|give"
    r"|show|compare|explain|describe)\b"
)
_BARE = re.compile(
    r"(?i)^\s*(?:why|how(?: so| come| many| much)?|when|where|who|which(?: one)?s?|really)\s*+[?.!]*\s*$"
)
_PREPOSITION = r"(?:on|in|for|with|without|at|by|of|from|to|against|under|over|using|between)"
_STARTS_WITH_ONE = re.compile(rf"(?i)^({_PREPOSITION})\s+\S")
_BEFORE_A_NAME = re.compile(rf"(?i)^(?:{_PREPOSITION}\s+)?(?:(?:the|a|an|its|their)\s+)?")
_LABEL = re.compile(r"(?i)\b(table|figure|fig\.?|equation|eq\.?|section|appendix)s?\s*\(?[A-Z]?\.?\d[\w.]*\)?")
# A name is a sequence of words that contain a capital letter, or a digit among letters; the first word of a sentence
# and question words do not count.
_WORD = r"[^\W_]*(?:[^\W\d_a-z]|\d[^\W\d_]|[^\W\d_]\d)[^\W_]*(?:[+&/.\-][^\W_]+)*"
_NAME = re.compile(rf"(?<![\w+-]){_WORD}(?:\s+{_WORD})*")
_ASKED_FOR = re.compile(r"(?i)^\s*(?:which|who|whose)\b")

TypeOf = Callable[[str], str]
"""The type of the entity with a name ("dataset"), "" where there is none."""


def depends_on_history(question: str) -> bool:
    """Whether a question needs the conversation: it is a fragment, or has a pronoun before any name."""
    if _BARE.match(question) or _fragment(question) is not None:
        return True
    pronoun = _PRONOUN.search(question)
    return pronoun is not None and not any(end <= pronoun.start() for _, end in _name_spans(question))


def complete_follow_up(question: str, history: Sequence[Turn], type_of: TypeOf) -> str:
    """The question completed from the last turn; unchanged if nothing is missing."""
    if not history or not depends_on_history(question):
        return question
    last = history[-1]
    if _BARE.match(question):
        return f"{question.strip().rstrip('?.! ')}: {last.question}"
    fragment = _fragment(question)
    if fragment is not None:
        return _replaced(last.question, fragment, type_of)
    about = _about(last, type_of)
    asked = _LEAD.sub("", question, count=1)
    pronoun = _PRONOUN.search(asked)
    if not about or pronoun is None:
        return question
    if pronoun["many"]:
        return f"{asked.strip().rstrip('?.! ')} ({about})?"
    return _PRONOUN.sub(lambda match: f"{about}’s" if match["owned"] else about, asked, count=1)


def _fragment(question: str) -> str | None:
    """The subject of a question without question words ("on CoNLL" of "and on CoNLL?"); None for a complete one."""
    rest = _LEAD.sub("", question, count=1)
    led = rest != question.lstrip()
    rest = rest.strip().rstrip("?.! ")
    whole = _ASKS.search(rest) is not None or not (led or _STARTS_WITH_ONE.match(rest))
    return rest if rest and not whole and not _PRONOUN.search(rest) else None


def _replaced(question: str, fragment: str, type_of: TypeOf) -> str:
    """The question with its counterpart of the fragment replaced: the phrase with the same preposition, the label of
    the same kind, a name of the same type, or the last name; appended if there is none."""
    thing = _BEFORE_A_NAME.sub("", fragment)
    for (start, end), new in _counterparts(question, fragment, thing, type_of):
        return f"{question[:start]}{new}{question[end:]}"
    return f"{question.strip().rstrip('?.! ')}, {fragment}?"


def _counterparts(question: str, fragment: str, thing: str, type_of: TypeOf) -> Iterator[tuple[tuple[int, int], str]]:
    """Yields the spans that the fragment may replace, most likely first, with their replacements; `thing` is the name
    in the fragment."""
    lead = _STARTS_WITH_ONE.match(fragment)
    if lead is not None:
        found = list(re.finditer(rf"(?i)\b{lead[1]}\s+.+?(?=\s+{_PREPOSITION}\b|\s*[?.,;]|$)", question))
        yield from ((match.span(), fragment) for match in reversed(found))
    labels = list(_LABEL.finditer(question))
    label = _LABEL.fullmatch(thing)
    if label is not None:
        kind = label[1][:3].casefold()
        yield from ((match.span(), thing) for match in labels if match[1][:3].casefold() == kind)
        return
    spans = [span for span in _name_spans(question) if not any(one.start() < span[1] <= one.end() for one in labels)]
    wanted = type_of(thing)
    if wanted:
        yield from ((span, thing) for span in spans if type_of(question[slice(*span)]) == wanted)
    if lead is None and any(_name_spans(thing, first=True)):
        yield from ((span, thing) for span in reversed(spans))


def _about(turn: Turn, type_of: TypeOf) -> str:
    """The subject of a turn: the name in the answer if the question asked for one, else the first name in the question
    that is not a metric; "" if there is none."""
    asked = [turn.question[slice(*span)] for span in _name_spans(turn.question)]
    answered = [turn.answer[slice(*span)] for span in _name_spans(turn.answer, first=True)]
    if _ASKED_FOR.match(turn.question):
        given = [name for name in answered if not content_words(name) <= content_words(turn.question)]
        asked = given[:1] or asked
    things = [name for name in asked if type_of(name) not in ("metric", "quantity") and not _LABEL.match(name)]
    return (things or asked or [""])[0]


def _name_spans(text: str, *, first: bool = False) -> Iterator[tuple[int, int]]:
    """Yields the spans of names; a capital at the start of the text counts only if `first`."""
    for match in _NAME.finditer(text):
        start, end = match.span()
        head = match[0].split()[0]
        if _ASKS.fullmatch(head) or (start == 0 and not first and head[1:].islower()):
            start = start + len(head) + 1
        if start < end and content_words(text[start:end]):
            yield start, end
