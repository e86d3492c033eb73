"""Relations that a sentence states between two terms, found by patterns."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, product

from ingest.extraction.entity_types import PatternKind
from ingest.extraction.float_entities import excerpt
from ingest.extraction.mentions import Sentence, TermFinder
from paperscope_core.text.words import STOP_WORDS
from paperscope_core.types import Relation

__all__ = ["TypedTerm", "pattern_relations"]


_MOST = 4
_MAX_BETWEEN = 80
_BRACKET = re.compile(r"\s?(?:\([^()]*\)|\[[^\[\]]*\])")
_FOLLOWING = re.compile(r" ([^\W\d_]+)")
_LIST = re.compile(r" ?,? ?(?:and|or|as well as|&)?(?: the| an?| our)? ?")
_BEFORE = (
    r"(?: the| an?| our| its| their| both| each| all| some| other| any)?"
    r"(?: (?!(?:of|for|in|to|on|with|than|by)\b)[^\W\d_]+){0,2} "
)


_BE = "(?: is| are| was| were| can be| has been| have been)"
_NAMES = "method dataset"


@dataclass(frozen=True, kw_only=True, slots=True)
class TypedTerm:
    """A term as the patterns see it: the entity's id and type."""

    id: str
    type: str


@dataclass(frozen=True, kw_only=True, slots=True)
class _Group:
    """Terms of one list, the words before it, and the text after its first term."""

    before: str
    members: list[TypedTerm]
    rest: str


@dataclass(frozen=True, kw_only=True, slots=True)
class _Pattern:
    """The words between two terms that state a relation, and its kind; `turned` if the second term is the source.

    `left` and `right` are the types that the terms may have; empty means any. If `ending`, no noun may follow the
    second term, which it would only qualify ("is an English dataset").
    """

    between: re.Pattern[str]
    kind: PatternKind
    turned: bool = False
    left: frozenset[str] = frozenset()
    right: frozenset[str] = frozenset()
    ending: bool = False

    def fits(self, words: str, left: TypedTerm, right: TypedTerm, rest: str) -> bool:
        typed = (not self.left or left.type in self.left) and (not self.right or right.type in self.right)
        return typed and not (self.ending and _qualifies(rest)) and self.between.fullmatch(words) is not None


def _qualifies(rest: str) -> bool:
    following = _FOLLOWING.match(rest)
    return following is not None and following[1] not in STOP_WORDS


def _pattern(
    words: str,
    kind: PatternKind,
    *,
    turned: bool = False,
    left: str = "",
    right: str = "",
    closed: bool = False,
    ending: bool = False,
) -> _Pattern:
    between = rf" ?(?:{words}){'(?: the| an?)? ' if closed else _BEFORE}"
    return _Pattern(
        between=re.compile(between, re.IGNORECASE),
        kind=kind,
        turned=turned,
        left=frozenset(left.split()),
        right=frozenset(right.split()),
        ending=ending,
    )


_PATTERNS = (
    _pattern(
        r",? such as|,? including|,? like|,? e\.g\.,?|,? especially|,? called|,? namely",
        "kind of",
        turned=True,
        closed=True,
    ),
    _pattern(rf"{_BE} (?:an?|one of the|another)|, (?:an?|another)", "kind of", ending=True),
    _pattern(r",? (?:and|or) other", "kind of"),
    _pattern(
        r",? (?:\w+ ){0,2}(?:outperforms?|surpass(?:es)?|exceeds?|beats?|compared (?:to|with|against)|versus|vs\.?"
        r"|(?:better|worse|higher|lower|faster|slower|larger|smaller|(?:more|less) \w+) than)",
        "compared with",
    ),
    _pattern(r" (?:of|on|for|in)", "measured by", turned=True, left="metric"),
    _pattern(
        r"(?: \w+){0,3} (?:evaluated|tested|validated|assessed|benchmarked)(?: \w+)? on| on",
        "evaluated on",
        right="dataset",
    ),
    _pattern(
        rf"{_BE}? (?:pre ?)?(?:trained|fine ?tuned|learned|initiali[sz]ed) (?:on|with|from|using)", "uses", right=_NAMES
    ),
    _pattern(
        r" (?:in terms of|measured (?:by|in|with)|achieves?|reaches|obtains|with regards? to|yields)",
        "measured by",
        right="metric",
    ),
    _pattern(r" for", "evaluated on", turned=True, left="dataset", right="task"),
    _pattern(r" for(?: \w+ing)?", "uses", turned=True, left="method concept", right="task"),
    _pattern(r" for", "uses", turned=True, left="method", right="concept"),
    _pattern(
        rf"{_BE}(?: \w+)? (?:used|suited|suitable|useful|designed|applied|employed|proposed|developed)(?: \w+)?"
        r" (?:for|to|in)(?: \w+ing)?| applied to",
        "uses",
        turned=True,
        right="task method concept",
    ),
    _pattern(
        r"(?: that| which)?,? (?:using|via|utili[sz](?:es?|ing)|uses?|employ(?:s|ing)?|by means of|adopts?"
        rf"|leverag(?:es?|ing)|relies on|builds on|{_BE}? ?(?:based|built) (?:up)?on)",
        "uses",
    ),
    _pattern(r" with", "uses", left="method", right="method"),
    _pattern(
        r"(?: that| which)?,? (?:consists? of|includes?|compris(?:es|ing|ed)|contains?|(?:is|are) composed of"
        r"|integrat(?:es|ing)|incorporat(?:es|ing)|combin(?:es|ing))",
        "part of",
        turned=True,
    ),
    _pattern(r" (?:in|of|within)", "part of", left="method", right="method"),
)


def pattern_relations(
    sentences: Sequence[Sentence], finder: TermFinder, named: Callable[[int], TypedTerm]
) -> Iterator[Relation]:
    """Relations that sentences state between neighbouring terms. The weight is the number of sentences, the description
    the shortest of them. Terms of one list ("on A, B and C") share their relations."""
    found: Mapping[tuple[str, str, PatternKind], list[Sentence]] = defaultdict(list)
    for sentence in sentences:
        text, places = finder.places(sentence.text)
        for key in dict.fromkeys(_matches(text, places, named)):
            found[key].append(sentence)
    for (source, target, kind), holding in sorted(found.items(), key=lambda item: item[0]):
        yield Relation(
            source=source,
            target=target,
            kind=kind,
            description=excerpt(min(holding, key=lambda sentence: (sentence.caption, len(sentence.text))).text),
            sources=tuple(dict.fromkeys(sentence.element for sentence in holding)),
            weight=float(len(holding)),
        )


def _matches(
    text: str, places: Sequence[tuple[int, int, int]], named: Callable[[int], TypedTerm]
) -> Iterator[tuple[str, str, PatternKind]]:
    groups: list[_Group] = []
    end = 0
    for term, start, stop in places:
        between = _BRACKET.sub("", text[end:start])
        if groups and between.strip() and _LIST.fullmatch(between):
            groups[-1].members.append(named(term))
        else:
            groups.append(_Group(before=between, members=[named(term)], rest=text[stop:]))
        end = stop
    for left, right in pairwise(groups):
        yield from _between(left, right)


def _between(left: _Group, right: _Group) -> Iterator[tuple[str, str, PatternKind]]:
    ends = left.members[-1], right.members[0]
    if len(right.before) > _MAX_BETWEEN:
        return
    pattern = next((one for one in _PATTERNS if one.fits(right.before, *ends, right.rest)), None)
    if pattern is None:
        return
    for one, other in product(left.members[-_MOST:], right.members[:_MOST]):
        source, target = (other.id, one.id) if pattern.turned else (one.id, other.id)
        if source != target:
            yield source, target, pattern.kind
