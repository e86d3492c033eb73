"""Scores a graph without gold: duplicates, isolated entities, grounding, links of tables and figures."""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set

from evaluation.graph.scoring import folded_names, is_float
from evaluation.score import Miss, Score, Tally
from ingest.document.element_text import element_text
from paperscope_core.text.words import entity_key
from paperscope_core.types import (
    WORK,
    Entity,
    Extraction,
    Figure,
    IndexedPaper,
    Paper,
    Passage,
    Reference,
    Relation,
    Table,
)

__all__ = [
    "acronym_pairs",
    "find_duplicates",
    "name_keys",
    "score_floats",
    "score_graph",
    "score_grounding",
    "score_library",
]


_SEPARATORS = re.compile(r"[\s\-_/'\u2019\u2010-\u2015\u2212.,:;]+")
_BRACKET = re.compile(r"\s*[(\[]([^()\[\]]*)[)\]]\s*$")
_ARTICLE = re.compile(r"^(?:the|an?)\s+", re.IGNORECASE)
_PLURAL = re.compile(r"(?<=[A-Z]{2})s$")
_DEFINED = re.compile(r"((?:[^\W_][\w\u2019'-]*[\s,]+){1,10})\((?:or |i\.e\. )?([^\W_][\w-]{1,11})\)")


_WORDS = {"table": r"tab(?:le)?s?", "figure": r"fig(?:ure)?s?"}
_NUMBER = r"\(?[A-Z]{0,2}\.?\d{1,3}(?:\.\d{1,3})*"
_NAMED = re.compile(
    rf"\b(?:(?P<table>{_WORDS['table']})|(?P<figure>{_WORDS['figure']}))\b\.?\s*"
    rf"(?P<numbers>{_NUMBER}(?:[a-z]?\)?(?:,\s*(?:and\s+)?|\s*(?:and|&|or|to|[-–])\s*){_NUMBER})*)",
    re.IGNORECASE,
)


def name_keys(name: str) -> frozenset[str]:
    """The keys of a name. Names that share a key are equal."""
    found = _BRACKET.search(name)
    inside = _letters(found[1]) if found else ""
    if not found or not found.start():
        return frozenset(filter(None, {_key(name)}))
    bare = name[: found.start()]
    if not inside:
        return frozenset(filter(None, {_key(bare)}))
    spelt = {_key(bare), _key(found[1])} if _initials(_split_words(bare)) == inside else set[str]()
    return frozenset(filter(None, {_key(name), *spelt}))


def _key(name: str) -> str:
    text = _PLURAL.sub("", _ARTICLE.sub("", unicodedata.normalize("NFKC", name).strip())).casefold()
    words = [word for word in _SEPARATORS.split(text) if word]
    return "".join([*words[:-1], *map(_singular, words[-1:])])


def _singular(word: str) -> str:
    """The word without its regular plural ending; unchanged if it may not be a plural."""
    if len(word) < 4 or not word.endswith("s") or word.endswith(("ss", "us", "is", "as", "os")):
        return word
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    return word[:-2] if word.endswith(("sses", "xes", "zes", "ches", "shes")) else word[:-1]


def acronym_pairs(texts: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Keys of (long form, short form) for each "long form (SF)" whose words' initials spell SF.

    Each word gives one letter, and so does each part of a hyphenated word; the plural "s" of a short form is ignored.
    """
    for text in texts:
        for match in _DEFINED.finditer(" ".join(text.split())):
            letters, words = _letters(match[2]), _split_words(match[1])
            tail = words[-len(letters) :]
            if 1 < len(letters) <= len(words) and _initials(tail) == letters:
                yield _key(" ".join(tail)), _key(match[2])


def _letters(short: str) -> str:
    return re.sub(r"[\W_]", "", _PLURAL.sub("", short)).casefold()


def _split_words(long: str) -> list[str]:
    """The words; a hyphenated word is split."""
    return [part for word in long.split() for part in re.split(r"[-\u2010-\u2015]", word.strip(",")) if part]


def _initials(words: Sequence[str]) -> str:
    return "".join(word[0] for word in words).casefold()


def find_duplicates(names: Mapping[str, Sequence[str]], pairs: Iterable[tuple[str, str]]) -> list[tuple[str, ...]]:
    """The groups of at least two ids, sorted, that name the same thing; `names` are an id's name, then its aliases.

    An alias that several ids share without having it as a name ("CE" of cross-entropy and of community edition), or for
    which `pairs` give several long forms, is ambiguous and joins nothing.
    """
    meanings: dict[str, set[str]] = defaultdict(set)
    for long, short in pairs:
        meanings[short].add(long)
    called: dict[str, set[str]] = defaultdict(set)
    known: dict[str, set[str]] = defaultdict(set)
    for id_, (name, *aliases) in names.items():
        for key in name_keys(name):
            called[key].add(id_)
        for key in frozenset().union(*map(name_keys, aliases)) - name_keys(name):
            known[key].add(id_)
    holders = {key: called[key] | (known[key] if len(known[key]) == 1 else set()) for key in {*called, *known}}
    links: list[Set[str]] = [*holders.values()]
    links += [
        holders.get(short, set()) | holders.get(long, set())
        for short, (long, *others) in meanings.items()
        if not others and len(known[short]) < 2
    ]
    return _connected_components(links)


def _connected_components(links: Iterable[Set[str]]) -> list[tuple[str, ...]]:
    """The connected components of overlapping sets."""
    home: dict[str, set[str]] = {}
    for link in links:
        group: set[str] = set().union(*(home.get(name, {name}) for name in link))
        home.update(dict.fromkeys(group, group))
    return sorted({tuple(sorted(group)) for group in home.values() if len(group) > 1})


def score_graph(indexed: IndexedPaper) -> Score:
    """graph.duplicates: terms that equal another (see `find_duplicates`), of all terms; graph.isolated: entities
    without a relation, of all; graph.entities and graph.relations: how many there are. Fewer duplicates and isolated
    ones are better."""
    extraction = indexed.extraction
    ends = {end for relation in extraction.relations for end in (relation.source, relation.target)}
    isolated = [entity for entity in extraction.entities if entity.id not in ends]
    terms = {entity.id: entity for entity in extraction.entities if not is_float(entity)}
    groups = _groups(terms, [indexed])
    return Score(
        tallies={
            "graph.duplicates": Tally(right=sum(map(len, groups)), total=len(terms)),
            "graph.isolated": Tally(right=len(isolated), total=len(extraction.entities)),
            "graph.entities": Tally(right=len(extraction.entities), total=1),
            "graph.relations": Tally(right=len(extraction.relations), total=1),
        },
        misses=(
            *_duplicate_misses("graph.duplicates", groups, terms),
            *(Miss(metric="graph.isolated", what=entity.type, gold="", got=entity.name) for entity in isolated),
        ),
    )


def score_library(merged: Mapping[str, Entity], papers_of: Mapping[str, int], papers: Sequence[IndexedPaper]) -> Score:
    """library.shared: terms that more than one paper names, of all; library.duplicates: terms that are the same as
    another; library.across: those whose double comes from another paper only, which adding one paper can't show.

    `merged` are the library's entities, `papers_of` counts the papers of each.
    """
    terms = {name: entity for name, entity in merged.items() if not is_float(entity)}
    groups = _groups(terms, papers)
    within = {id_ for indexed in papers for group in _groups_within(indexed, terms) for id_ in group}
    across = [group for group in groups if not within.issuperset(group)]
    return Score(
        tallies={
            "library.shared": Tally(right=sum(papers_of[name] > 1 for name in terms), total=len(terms)),
            "library.duplicates": Tally(right=sum(map(len, groups)), total=len(terms)),
            "library.across": Tally(right=sum(len(set(group) - within) for group in across), total=len(terms)),
            "library.entities": Tally(right=len(terms), total=1),
        },
        misses=tuple(_duplicate_misses("library.duplicates", groups, terms)),
    )


def _groups_within(indexed: IndexedPaper, terms: Mapping[str, Entity]) -> list[tuple[str, ...]]:
    own = {entity.id: entity for entity in indexed.extraction.entities if entity.id in terms}
    return _groups(own, [indexed])


def _groups(terms: Mapping[str, Entity], papers: Sequence[IndexedPaper]) -> list[tuple[str, ...]]:
    names = {id_: (entity.name, *entity.aliases) for id_, entity in terms.items()}
    return find_duplicates(names, acronym_pairs(_texts(papers)))


def _texts(papers: Sequence[IndexedPaper]) -> Iterator[str]:
    for indexed in papers:
        yield from (element_text(element) for element in indexed.paper.elements if not isinstance(element, Reference))


def _duplicate_misses(metric: str, groups: Sequence[Sequence[str]], terms: Mapping[str, Entity]) -> Iterator[Miss]:
    for group in groups:
        yield Miss(metric=metric, what="one thing", gold="", got=" | ".join(terms[name].name for name in group))


def score_grounding(paper: Paper, extraction: Extraction) -> Score:
    """grounded.entities: each of an entity's elements contains its name or an alias; grounded.relations: one of a
    relation's elements (with captions and labels) contains both ends, or one end if the other is that table or
    figure.

    Matches whole words, ignoring case, hyphens and spaces. A citation of a work counts as its name, and every element
    of the paper itself as the paper's.
    """
    folded = {element.id: entity_key(element_text(element)) for element in paper.elements}
    entities = {entity.id: entity for entity in extraction.entities}
    loose = [entity for entity in extraction.entities if not _is_entity_grounded(entity, folded)]
    works = {
        (source, entity.id)
        for entity in extraction.entities
        if entity.type == WORK
        for source in (folded if entity.name == paper.title else _citing(paper, entity))
    }
    unfounded = [one for one in extraction.relations if not _is_relation_grounded(one, entities, folded, works)]
    return Score(
        tallies={
            "grounded.entities": _all_but(len(loose), len(extraction.entities)),
            "grounded.relations": _all_but(len(unfounded), len(extraction.relations)),
        },
        misses=(*map(_entity_miss, loose), *(_relation_miss(relation, entities) for relation in unfounded)),
    )


def _all_but(wrong: int, total: int) -> Tally:
    return Tally(right=total - wrong, total=total)


def _is_entity_grounded(entity: Entity, folded: Mapping[str, str]) -> bool:
    forms = folded_names(entity)
    return bool(entity.sources) and all(_contains_any(forms, folded.get(source, "")) for source in entity.sources)


def _citing(paper: Paper, work: Entity) -> Iterator[str]:
    return (link.source for link in paper.links if link.target in work.sources)


def _is_relation_grounded(
    relation: Relation, entities: Mapping[str, Entity], folded: Mapping[str, str], works: Set[tuple[str, str]]
) -> bool:
    ends = [entities.get(end) for end in (relation.source, relation.target)]
    known = [entity for entity in ends if entity]
    return len(known) == 2 and any(
        all(
            entity.id == source
            or (source, entity.id) in works
            or _contains_any(folded_names(entity), folded.get(source, ""))
            for entity in known
        )
        for source in relation.sources
    )


def _contains_any(forms: Iterable[str], text: str) -> bool:
    return any(_is_word(text, form, start) for form in forms for start in _starts(text, form))


def _starts(text: str, form: str) -> Iterator[int]:
    start = text.find(form)
    while start >= 0:
        yield start
        start = text.find(form, start + 1)


def _is_word(text: str, form: str, start: int) -> bool:
    before, after = text[max(start - 1, 0) : start], text[start + len(form) : start + len(form) + 1]
    return not (before.isalnum() and form[0].isalnum()) and not (after.isalnum() and form[-1].isalnum())


def _entity_miss(entity: Entity) -> Miss:
    return Miss(metric="grounded.entities", what=entity.type, gold=entity.name, got=", ".join(entity.sources))


def _relation_miss(relation: Relation, entities: Mapping[str, Entity]) -> Miss:
    ends = [entities[end].name if end in entities else end for end in (relation.source, relation.target)]
    return Miss(metric="grounded.relations", what=relation.kind, gold=" -- ".join(ends), got=relation.description)


def score_floats(indexed: IndexedPaper) -> Score:
    """floats.linked: captioned tables and figures that are entities standing on a passage that names them, or in a
    relation that does, of those that a passage names at all ("Tables 2 and 3", "Fig. A.1"); read anew from the text."""
    floats = [one for one in indexed.paper.elements if isinstance(one, Table | Figure) and one.caption]
    naming = {one.id: _mentioning_passages(indexed, one) for one in floats}
    grounds: dict[str, set[str]] = {entity.id: set(entity.sources) for entity in indexed.extraction.entities}
    for relation in indexed.extraction.relations:
        for end in (relation.source, relation.target):
            grounds.setdefault(end, set()).update(relation.sources)
    named = [one for one in floats if naming[one.id]]
    loose = [one for one in named if not naming[one.id] & grounds.get(one.id, set())]
    return Score(
        tallies={"floats.linked": Tally(right=len(named) - len(loose), total=len(named))},
        misses=tuple(Miss(metric="floats.linked", what=one.kind, gold=one.label, got=one.caption) for one in loose),
    )


def _mentioning_passages(indexed: IndexedPaper, one: Table | Figure) -> set[str]:
    """The passages that mention the float by its label."""
    wanted = {name for _, name in _named_floats(one.label)}
    return {
        passage.id
        for passage in indexed.paper.elements
        if isinstance(passage, Passage)
        and passage.role != "furniture"
        and any(kind == one.kind and number in wanted for kind, number in _named_floats(passage.text))
    }


def _named_floats(text: str) -> Iterator[tuple[str, str]]:
    """The kind and number of each table and figure that the text names."""
    for match in _NAMED.finditer(text):
        kind = "table" if match["table"] else "figure"
        for number in re.findall(_NUMBER, match["numbers"], re.IGNORECASE):
            yield kind, number.strip("(").upper()
