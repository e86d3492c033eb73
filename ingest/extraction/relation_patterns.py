"""Relations that a sentence states between two terms, found by patterns."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise, product

from ingest.extraction.entity_types import PatternKind
from ingest.extraction.mentions import Sentence, TermFinder
from ingest.extraction.sentences import sentence_relation
from paperscope_core.text.words import STOP_WORDS
from paperscope_core.types import Relation

__all__ = ["pattern_relations"]

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
class _Group:
    """Terms of one list, the words before it, and the text after its first term."""

    before: str
    members: list[str]
    rest: str


@dataclass(frozen=True, slots=True)
class _Pattern:
    """The words between two terms that state a relation, and its kind; `turned` if the second term is the source.

    `left` and `right` list the types that the terms may have; empty means any. Articles and two other words may precede
    the second term, unless the pattern is `closed`. If `ending`, no noun may follow the second term, which it would
    only qualify ("is an English dataset").
    """

    words: str
    kind: PatternKind
    turned: bool = False
    left: str = ""
    right: str = ""
    closed: bool = False
    ending: bool = False

    def fits(self, words: str, left: str, right: str, rest: str) -> bool:
        return (
            (not self.left or left in self.left.split())
            and (not self.right or right in self.right.split())
            and not (self.ending and _qualifies(rest))
            and _between(self.words, closed=self.closed).fullmatch(words) is not None
        )


def _qualifies(rest: str) -> bool:
    following = _FOLLOWING.match(rest)
    return following is not None and following[1] not in STOP_WORDS


@cache
def _between(words: str, *, closed: bool) -> re.Pattern[str]:
    return re.compile(rf" ?(?:{words}){'(?: the| an?)? ' if closed else _BEFORE}", re.IGNORECASE)


_PATTERNS = (
    _Pattern(
        r",? such as|,? including|,? like|,? e\.g\.,?|,? especially|,? called|,? namely",
        "kind of",
        turned=True,
        closed=True,
    ),
    _Pattern(rf"{_BE} (?:an?|one of the|another)|, (?:an?|another)", "kind of", ending=True),
    _Pattern(r",? (?:and|or) other", "kind of"),
    _Pattern(
        r",? (?:\w+ ){0,2}(?:outperforms?|surpass(?:es)?|exceeds?|beats?|compared (?:to|with|against)|versus|vs\.?"
        r"|(?:better|worse|higher|lower|faster|slower|larger|smaller|(?:more|less) \w+) than)",
        "compared with",
    ),
    _Pattern(r" (?:of|on|for|in)", "measured by", turned=True, left="metric"),
    _Pattern(
        r"(?: \w+){0,3} (?:evaluated|tested|validated|assessed|benchmarked)(?: \w+)? on| on",
        "evaluated on",
        right="dataset",
    ),
    _Pattern(
        rf"{_BE}? (?:pre ?)?(?:trained|fine ?tuned|learned|initiali[sz]ed) (?:on|with|from|using)", "uses", right=_NAMES
    ),
    _Pattern(
        r" (?:in terms of|measured (?:by|in|with)|achieves?|reaches|obtains|with regards? to|yields)",
        "measured by",
        right="metric",
    ),
    _Pattern(r" for", "evaluated on", turned=True, left="dataset", right="task"),
    _Pattern(r" for(?: \w+ing)?", "uses", turned=True, left="method concept", right="task"),
    _Pattern(r" for", "uses", turned=True, left="method", right="concept"),
    _Pattern(
        rf"{_BE}(?: \w+)? (?:used|suited|suitable|useful|designed|applied|employed|proposed|developed)(?: \w+)?"
        r" (?:for|to|in)(?: \w+ing)?| applied to",
        "uses",
        turned=True,
        right="task method concept",
    ),
    _Pattern(
        r"(?: that| which)?,? (?:using|via|utili[sz](?:es?|ing)|uses?|employ(?:s|ing)?|by means of|adopts?"
        rf"|leverag(?:es?|ing)|relies on|builds on|{_BE}? ?(?:based|built) (?:up)?on)",
        "uses",
    ),
    _Pattern(r" with", "uses", left="method", right="method"),
    _Pattern(
        r"(?: that| which)?,? (?:consists? of|includes?|compris(?:es|ing|ed)|contains?|(?:is|are) composed of"
        r"|integrat(?:es|ing)|incorporat(?:es|ing)|combin(?:es|ing))",
        "part of",
        turned=True,
    ),
    _Pattern(r" (?:in|of|within)", "part of", left="method", right="method"),
)


def pattern_relations(
    sentences: Sequence[Sentence], finder: TermFinder, types: Mapping[str, str]
) -> Iterator[Relation]:
    """Relations that sentences state between neighbouring terms, whose types are given by id.

    The weight is the number of sentences, the description the shortest of them. Terms of one list ("on A, B and C")
    share their relations.
    """
    found: Mapping[tuple[str, str, PatternKind], list[Sentence]] = defaultdict(list)
    for sentence in sentences:
        for key in dict.fromkeys(_matches(*finder.places(sentence.text), types)):
            found[key].append(sentence)
    for key in sorted(found):
        yield sentence_relation(*key, found[key])


def _matches(
    text: str, places: Sequence[tuple[str, int, int]], types: Mapping[str, str]
) -> Iterator[tuple[str, str, PatternKind]]:
    groups: list[_Group] = []
    end = 0
    for term, start, stop in places:
        between = _BRACKET.sub("", text[end:start])
        if groups and between.strip() and _LIST.fullmatch(between):
            groups[-1].members.append(term)
        else:
            groups.append(_Group(before=between, members=[term], rest=text[stop:]))
        end = stop
    for left, right in pairwise(groups):
        yield from _between_groups(left, right, types)


def _between_groups(left: _Group, right: _Group, types: Mapping[str, str]) -> Iterator[tuple[str, str, PatternKind]]:
    if len(right.before) > _MAX_BETWEEN:
        return
    ends = types[left.members[-1]], types[right.members[0]]
    pattern = next((one for one in _PATTERNS if one.fits(right.before, *ends, right.rest)), None)
    if pattern is None:
        return
    for one, other in product(left.members[-_MOST:], right.members[:_MOST]):
        if one != other:
            yield (other, one, pattern.kind) if pattern.turned else (one, other, pattern.kind)
