"""Completes follow-up questions from the conversation, without a model.

For 63 follow-ups on six papers (fitting) and 31 on seven others, worded later, the place that retrieval ranks first for
the complete question is among the first three for 54 and 23 of the completed ones.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType

from paperscope_core.text.words import singular
from paperscope_core.types import Turn
from query.words import content_words

__all__ = ["complete_follow_up", "depends_on_history", "names_in", "parallels"]

_LEAD = re.compile(r"(?i)^\s*(?:(?:and|but|or|so|ok(?:ay)?|then|also)\b[\s,]*)*(?:(?:what|how)\s+about\s+)?")
_PRONOUN = re.compile(
    r"(?i)\b(?P<owned>its)\b|\b(?P<many>they|them|their|these|those)\b(?!\s+(?!is\b|are\b|was\b|were\b|do\b)\w+s\b)"
    r"|\bit\b(?!\s+(?:is\s+)?(?:possible|true|clear|known|likely|better(?!\s+than\b)|worth)\b)"
    r"|\bthe (?:same|former|latter)\b"
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
# Up to three words that begin with a question word ("For how long?"), but for "What is X?", are no whole question.
_SHORT = re.compile(
    rf"(?i)^\s*(?:{_PREPOSITION}\s+)?(?!(?:what|who)\s+(?:is|are|was|were)\b)(?:how|which|what|whom?|whose|when|where|why)\b"
    r"\s*+[?.!]*\s*(?:[\w'’\-]+\W*){,2}$"
)
_ONE_OF = re.compile(r"(?i)\b(?:which|what|the\s+\w+)\s+ones?\b|\bones\b")
_STARTS_WITH_ONE = re.compile(rf"(?i)^({_PREPOSITION})\s+\S")
_BEFORE_A_NAME = re.compile(rf"(?i)^(?:{_PREPOSITION}\s+)?(?:(?:the|a|an|its|their)\s+)?")
_LABEL = re.compile(r"(?i)\b(table|figure|fig\.?|equation|eq\.?|section|appendix)s?\s*\(?[A-Z]?\.?\d[\w.]*\)?")
# A name is a sequence of words that contain a capital letter, or a digit among letters; the first word of a sentence
# and question words do not count.
_WORD = r"[^\W_]*(?:[^\W\d_a-z]|\d[^\W\d_]|[^\W\d_]\d)[^\W_]*(?:[+&/.\-][^\W_]+)*"
_NAME = re.compile(rf"(?<![\w+-]){_WORD}(?:\s+{_WORD})*")
_TOKEN = re.compile(r"[^\W_]+(?:[.'’+&/\-][^\W_]+)*")
_ASKED_FOR = re.compile(r"(?i)^\s*(?:which|who|whose)\b")

# A phrase of the last question is replaced if it is as near to a fragment as this (cosine), before any name of the same
# type if it is nearer. All chosen on 63 follow-ups on six papers.
_PARALLEL = 0.25
_CLEARLY_PARALLEL = 0.5
# The phrase around the nearest one is as near as it but for this: "the dice loss", not "loss".
_AS_NEAR = 0.15
_LONGEST_PHRASE = 4
# A message without a question word of up to so many words is a fragment.
_SHORTEST = 3
_NOTHING_NEAR: Mapping[str, float] = MappingProxyType({})
_MOST_NAMES = 2

TypeOf = Callable[[str], str]
"""The type of the entity with a name ("dataset"), "" where there is none."""


def depends_on_history(question: str) -> bool:
    """Whether a question needs the conversation: it begins with "and", is a fragment, has up to three words, asks for
    "one" of something, or has a pronoun before any name."""
    if _BARE.match(question) or _SHORT.match(question) or _ONE_OF.search(question) or _fragment(question) is not None:
        return True
    if _LEAD.sub("", question, count=1) != question.lstrip() and not any(_name_spans(question)):
        return True
    pronoun = _PRONOUN.search(question)
    return pronoun is not None and not any(end <= pronoun.start() for _, end in _name_spans(question))


def parallels(question: str, last: Turn) -> tuple[str, list[str]]:
    """The fragment that a question is ("the best recall" of "And the best recall?"; "" if it is none), and the phrases
    of the last question that it may replace ("the best precision")."""
    fragment = _fragment(question) or ""
    return fragment, [last.question[slice(*span)] for span in _phrases(last.question)] if fragment else []


def complete_follow_up(
    question: str, history: Sequence[Turn], type_of: TypeOf, near: Mapping[str, float] = _NOTHING_NEAR
) -> str:
    """The question completed from the last turn; unchanged if nothing is missing.

    Args:
        near: The cosines of the phrases of `parallels` and the fragment.
    """
    if not history or not depends_on_history(question):
        return question
    last = history[-1]
    fragment = _fragment(question)
    bare = _BARE.match(question) or _ONE_OF.search(question)
    if fragment is not None and not bare:
        return _replaced(last.question, fragment, type_of, near)
    whole = f"{question.strip().rstrip('?.! ')}: {last.question}"
    if bare or _SHORT.match(question):
        return whole
    about = _about(last, type_of)
    asked = _LEAD.sub("", question, count=1)
    pronoun = _PRONOUN.search(asked)
    if pronoun is None:
        named = names_in(last.question)
        things = [name for name in named if type_of(name) not in ("metric", "quantity") and not _LABEL.match(name)]
        return _with_remark(asked, things[:_MOST_NAMES]) if things else whole
    if pronoun["many"]:
        several = _plural(last.question)
        things = [several, about] if several and about not in several else [several or about]
        return _with_remark(asked, [one for one in things if one]) if any(things) else whole
    return _PRONOUN.sub(lambda match: f"{about}’s" if match["owned"] else about, asked, count=1) if about else whole


def _with_remark(question: str, things: Sequence[str]) -> str:
    return f"{question.strip().rstrip('?.! ')} ({', '.join(things)})?"


def _phrases(question: str) -> Iterator[tuple[int, int]]:
    """Yields the spans of the runs of up to four words without stop words."""
    tokens = list(_TOKEN.finditer(question))
    for start in range(len(tokens)):
        for end in range(start, min(start + _LONGEST_PHRASE, len(tokens))):
            if not content_words(tokens[end][0]):
                break
            if not question[tokens[end - 1].end() : tokens[end].start()].strip() or end == start:
                yield tokens[start].start(), tokens[end].end()


def _plural(question: str) -> str:
    """The first phrase whose last word is a plural; "" if there is none."""
    spans = sorted(_phrases(question), key=lambda span: (span[0], -span[1]))
    phrases = (question[slice(*span)] for span in spans)
    return next((one for one in phrases if (last := one.split()[-1].casefold()) != singular(last)), "")


def _fragment(question: str) -> str | None:
    """The subject of a question without question words ("on CoNLL" of "and on CoNLL?", "Table 5" of "Table 5?"); None
    for a complete one."""
    rest = _LEAD.sub("", question, count=1)
    led = rest != question.lstrip()
    rest = rest.strip().rstrip("?.! ")
    short = len(rest.split()) <= _SHORTEST
    whole = _ASKS.search(rest) is not None or not (led or short or _STARTS_WITH_ONE.match(rest))
    return rest if rest and not whole and not _PRONOUN.search(rest) else None


def _replaced(question: str, fragment: str, type_of: TypeOf, near: Mapping[str, float]) -> str:
    """The question with its counterpart of the fragment replaced: the phrase with the same preposition, the label of
    the same kind, a name of the same type, the nearest phrase, or the last name; appended if there is none."""
    thing = _BEFORE_A_NAME.sub("", fragment)
    for (start, end), new in _counterparts(question, fragment, thing, type_of, near):
        return f"{question[:start]}{new}{question[end:]}"
    return f"{question.strip().rstrip('?.! ')}, {fragment}?"


def _counterparts(
    question: str, fragment: str, thing: str, type_of: TypeOf, near: Mapping[str, float]
) -> Iterator[tuple[tuple[int, int], str]]:
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
    if lead is None:
        yield from ((span, thing) for span in _nearest(question, near, least=_CLEARLY_PARALLEL))
    wanted = type_of(thing)
    if wanted:
        yield from ((span, thing) for span in spans if type_of(question[slice(*span)]) == wanted)
    named = any(_name_spans(thing, first=True))
    if lead is None and named:
        yield from ((span, thing) for span in reversed(spans))
    if lead is None:
        yield from ((span, thing) for span in _nearest(question, near, least=_PARALLEL))


def _nearest(question: str, near: Mapping[str, float], *, least: float) -> list[tuple[int, int]]:
    """The phrase that is nearest to the fragment, with the words around it that leave it as near; none if it is not
    near enough."""
    scores = {span: near.get(question[slice(*span)], 0.0) for span in _phrases(question)}
    best = max(scores, key=lambda span: scores[span], default=None)
    if best is None or scores[best] < least:
        return []
    around = (span for span in scores if span[0] <= best[0] and best[1] <= span[1])
    as_near = (span for span in around if scores[span] >= scores[best] - _AS_NEAR)
    return [max(as_near, key=lambda span: (span[1] - span[0], scores[span]))]


def _about(turn: Turn, type_of: TypeOf) -> str:
    """The subject of a turn: the name in the answer if the question asked for one, else the first name in the question
    that is not a metric; "" if there is none."""
    asked = names_in(turn.question)
    # The further lines of an answer without a model quote places, which conclude nothing.
    line = turn.answer.partition("\n")[0]
    answered = [line[slice(*span)] for span in _name_spans(line, first=True)]
    if _ASKED_FOR.match(turn.question):
        given = [name for name in answered if not content_words(name) <= content_words(turn.question)]
        asked = given[:1] or asked
    things = [name for name in asked if type_of(name) not in ("metric", "quantity") and not _LABEL.match(name)]
    return (things or asked or [""])[0]


def names_in(text: str) -> list[str]:
    """The names in a text; a capital at its start does not count."""
    return [text[slice(*span)] for span in _name_spans(text)]


def _name_spans(text: str, *, first: bool = False) -> Iterator[tuple[int, int]]:
    """Yields the spans of names; a capital at the start of the text counts only if `first`."""
    for match in _NAME.finditer(text):
        start, end = match.span()
        head = match[0].split()[0]
        if _ASKS.fullmatch(head) or (start == 0 and not first and head[1:].islower()):
            start = start + len(head) + 1
        if start < end and content_words(text[start:end]):
            yield start, end
