"""Relations between entities of a sentence or an element: those that a pattern finds stated, and co-occurrence."""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import combinations, pairwise, product

from ingest.extraction.entity_types import FLOATS, PatternKind, TypeSystem
from ingest.extraction.mentions import (
    PaperText,
    Sentence,
    SentenceEntities,
    TermFinder,
    excerpt,
    read_paper,
    sentence_relation,
)
from ingest.extraction.merge import combine
from paperscope_core.text.words import STOP_WORDS
from paperscope_core.types import WORK, Entity, Extraction, Paper, Relation

__all__ = ["cooccurrences", "link_isolated_entities", "neighbour_relations", "pattern_relations"]

_MAX_PER_SENTENCE = 8
_LINKS = 4
Pair = tuple[str, str]

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


def cooccurrences(named: SentenceEntities) -> Iterator[Relation]:
    """Yield relations `co-occurs` between entities of one sentence.

    The weight is the number of common sentences, the description the shortest one. A pair is kept if it is among
    the four closest of one of its entities, by count times pointwise mutual information (K. Church, P. Hanks, "Word
    association norms, mutual information, and lexicography", Computational Linguistics 16(1), 1990).
    """
    common: dict[Pair, list[Sentence]] = defaultdict(list)
    single: Counter[str] = Counter()
    for sentence, entities in zip(named.sentences, named.ids, strict=True):
        best = named.best(entities, _MAX_PER_SENTENCE)
        single.update(best)
        for pair in combinations(sorted(best), 2):
            common[pair].append(sentence)
    closeness = {
        (a, b): len(sentences) * math.log1p(len(sentences) * len(named.sentences) / (single[a] * single[b]))
        for (a, b), sentences in common.items()
    }
    for source, target in sorted(_closest(closeness)):
        yield sentence_relation(source, target, "co-occurs", common[source, target])


def _closest(closeness: Mapping[Pair, float]) -> set[Pair]:
    of_entity: dict[str, list[Pair]] = defaultdict(list)
    for pair in closeness:
        for entity in pair:
            of_entity[entity].append(pair)
    return {
        pair
        for pairs in of_entity.values()
        for pair in sorted(pairs, key=lambda pair: (-closeness[pair], pair))[:_LINKS]
    }


def neighbour_relations(named: SentenceEntities, isolated: Collection[str]) -> Iterator[Relation]:
    """Link each isolated entity to another one in the nearest sentence of its element that has one, at half weight."""
    left = set(isolated)
    for number, (sentence, entities) in enumerate(zip(named.sentences, named.ids, strict=True)):
        for entity in sorted(left.intersection(entities)):
            near = [
                other
                for other, beside in enumerate(named.sentences)
                if beside.element == sentence.element and set(named.ids[other]) - {entity}
            ]
            if not near:
                continue
            nearest = min(near, key=lambda other: (abs(other - number), other))
            text = " ".join(named.sentences[one].text for one in sorted((number, nearest)))
            target = min(set(named.ids[nearest]) - {entity})
            evidence = Sentence(element=sentence.element, text=text)
            yield sentence_relation(entity, target, "co-occurs", [evidence], weight=0.5)
            left.discard(entity)


def link_isolated_entities(paper: Paper, extraction: Extraction, *, types: TypeSystem = TypeSystem()) -> Extraction:
    """Add a relation for each isolated entity, if the paper's text suggests one.

    The first of these that exists is linked to it: the best connected entity of a sentence that names both
    (`co-occurs`); an entity of the nearest sentence of the same element, at half weight; a float among its sources
    (`shows`); the best connected entity of an element that names both, at half weight.
    """
    degrees = Counter(end for one in extraction.relations for end in (one.source, one.target))
    terms = {entity.id: entity for entity in extraction.entities if entity.type not in (*FLOATS, WORK)}
    isolated = {key for key in terms if not degrees[key]}
    if not isolated:
        return extraction
    text = read_paper(paper)
    finder = TermFinder({key: (term.name, *term.aliases) for key, term in terms.items()})
    named = SentenceEntities.find(text, finder, degrees)
    relations = list(_within_sentences(named, isolated))
    relations.extend(neighbour_relations(named, _still_isolated(isolated, relations)))
    floats = {entity.id for entity in extraction.entities if entity.type in FLOATS}
    left = [terms[key] for key in sorted(_still_isolated(isolated, relations))]
    relations.extend(_within_elements(text, floats, named, finder, left))
    return combine(replace(extraction, relations=(*extraction.relations, *relations)), types=types)


def _still_isolated(isolated: Collection[str], relations: Sequence[Relation]) -> set[str]:
    return set(isolated) - {end for one in relations for end in (one.source, one.target)}


def _within_sentences(named: SentenceEntities, isolated: Collection[str]) -> Iterator[Relation]:
    left = set(isolated)
    for sentence, entities in zip(named.sentences, named.ids, strict=True):
        for entity in sorted(left.intersection(entities)):
            others = named.best(set(entities) - {entity}, 1)
            if entity in left and others:
                yield sentence_relation(entity, others[0], "co-occurs", [sentence])
                left -= {entity, others[0]}


def _within_elements(
    text: PaperText,
    floats: Collection[str],
    named: SentenceEntities,
    finder: TermFinder,
    isolated: Sequence[Entity],
) -> Iterator[Relation]:
    linked = set[str]()
    for entity in isolated:
        if entity.id in linked:
            continue
        shown = next((source for source in entity.sources if source in floats), None)
        if shown is not None:
            description = excerpt(entity.description)
            yield Relation(source=shown, target=entity.id, kind="shows", description=description, sources=(shown,))
            continue
        for source in entity.sources:
            words = text.texts.get(source, "")
            if others := named.best(set(finder.find(words)) - {entity.id}, 1):
                evidence = Sentence(element=source, text=words)
                yield sentence_relation(entity.id, others[0], "co-occurs", [evidence], weight=0.5)
                linked.add(others[0])
                break


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
    """Yield relations that sentences state between neighbouring terms, whose types are given by id.

    The weight is the number of sentences, the description the shortest one. Terms of one list ("on A, B and C")
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
