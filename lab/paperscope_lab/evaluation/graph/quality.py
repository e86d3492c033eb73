"""Scores a graph without gold: duplicates, isolated entities, grounding, links of tables and figures."""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set

from ingest.document.element_text import element_text
from paperscope_core.text.words import entity_key, singular
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
from paperscope_lab.evaluation.graph.scoring import folded_names, is_float
from paperscope_lab.evaluation.score import Miss, Score, Tally

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
_BRACKET = re.compile(r"(?<!\s)\s*+[(\[]([^()\[\]]*)[)\]]\s*$")
_ARTICLE = re.compile(r"^(?:the|an?)\s+", re.IGNORECASE)
_PLURAL = re.compile(r"(?<=[A-Z]{2})s$")
_DEFINED = re.compile(r"(?<![^\W_])((?:[^\W_][\w\u2019'-]{0,60}[\s,]+){1,10})\((?:or |i\.e\. )?([^\W_][\w-]{1,11})\)")

_NUMBER = r"\(?[A-Z]{0,2}\.?\d{1,3}(?:\.\d{1,3})*"
_NAMED = re.compile(
    r"\b(?:(?P<table>tab(?:le)?s?)|fig(?:ure)?s?)\b\.?\s*"
    rf"(?P<numbers>{_NUMBER}(?:[a-z]?\)?(?:,\s*(?:and\s+)?|\s*(?:and|&|or|to|[-–])\s*){_NUMBER})*)",
    re.IGNORECASE,
)


def name_keys(name: str) -> frozenset[str]:
    """Return the keys of a name. Names that share a key are equal."""
    found = _BRACKET.search(name)
    keys = {_key(name)}
    if found and found.start():
        bare, inside = name[: found.start()], _letters(found[1])
        if not inside:
            keys = {_key(bare)}
        elif _initials(_split_words(bare)) == inside:
            keys |= {_key(bare), _key(found[1])}
    return frozenset(filter(None, keys))


def _key(name: str) -> str:
    text = _PLURAL.sub("", _ARTICLE.sub("", unicodedata.normalize("NFKC", name).strip())).casefold()
    words = [word for word in _SEPARATORS.split(text) if word]
    return "".join([*words[:-1], *map(singular, words[-1:])])


def acronym_pairs(texts: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield keys of (long form, short form) for each "long form (SF)" whose words' initials spell SF.

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
    """Return the words; a hyphenated word is split."""
    return [part for word in long.split() for part in re.split(r"[-\u2010-\u2015]", word.strip(",")) if part]


def _initials(words: Sequence[str]) -> str:
    return "".join(word[0] for word in words).casefold()


def find_duplicates(names: Mapping[str, Sequence[str]], pairs: Iterable[tuple[str, str]]) -> list[tuple[str, ...]]:
    """Return the groups of at least two ids, sorted, that name the same thing; `names` are an id's name, then its
    aliases.

    An alias that several ids share without having it as a name ("CE" of cross-entropy and of community edition), or for
    which `pairs` give several long forms, is ambiguous and joins nothing.
    """
    import networkx

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
    graph = networkx.Graph()
    for link in links:
        networkx.add_path(graph, link)
    return sorted(tuple(sorted(group)) for group in networkx.connected_components(graph) if len(group) > 1)


def score_graph(indexed: IndexedPaper) -> Score:
    """graph.duplicates: terms that equal another (see `find_duplicates`), of all terms; graph.isolated: entities
    without a relation, of all; graph.entities and graph.relations: how many there are. Fewer duplicates and isolated
    ones are better."""
    entities, relations = indexed.extraction.entities, indexed.extraction.relations
    ends = {end for relation in relations for end in (relation.source, relation.target)}
    isolated = [entity for entity in entities if entity.id not in ends]
    terms = {entity.id: entity for entity in entities if not is_float(entity)}
    groups = _groups(terms, [indexed])
    misses = [Miss(metric="graph.isolated", what=entity.type, gold="", got=entity.name) for entity in isolated]
    return Score(
        tallies={
            "graph.duplicates": Tally(right=sum(map(len, groups)), total=len(terms)),
            "graph.isolated": Tally(right=len(isolated), total=len(entities)),
            "graph.entities": Tally(right=len(entities), total=1),
            "graph.relations": Tally(right=len(relations), total=1),
        },
        misses=(*_duplicate_misses("graph.duplicates", groups, terms), *misses),
    )


def score_library(merged: Mapping[str, Entity], papers_of: Mapping[str, int], papers: Sequence[IndexedPaper]) -> Score:
    """library.shared: terms that more than one paper names, of all; library.duplicates: terms that are the same as
    another; library.across: those whose double comes from another paper only, which adding one paper can't show.

    `merged` are the library's entities, `papers_of` counts the papers of each.
    """
    terms = {name: entity for name, entity in merged.items() if not is_float(entity)}
    groups = _groups(terms, papers)
    within: set[str] = set()
    for indexed in papers:
        own = {entity.id: entity for entity in indexed.extraction.entities if entity.id in terms}
        within.update(*_groups(own, [indexed]))
    return Score(
        tallies={
            "library.shared": Tally(right=sum(papers_of[name] > 1 for name in terms), total=len(terms)),
            "library.duplicates": Tally(right=sum(map(len, groups)), total=len(terms)),
            "library.across": Tally(right=sum(len(set(group) - within) for group in groups), total=len(terms)),
            "library.entities": Tally(right=len(terms), total=1),
        },
        misses=tuple(_duplicate_misses("library.duplicates", groups, terms)),
    )


def _groups(terms: Mapping[str, Entity], papers: Sequence[IndexedPaper]) -> list[tuple[str, ...]]:
    elements = (element for indexed in papers for element in indexed.paper.elements)
    texts = (element_text(element) for element in elements if not isinstance(element, Reference))
    return find_duplicates({id_: (it.name, *it.aliases) for id_, it in terms.items()}, acronym_pairs(texts))


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
    works = {
        (source, entity.id)
        for entity in extraction.entities
        if entity.type == WORK
        for source in (folded if entity.name == paper.title else _citing(paper, entity))
    }

    def contains(source: str, entity: Entity) -> bool:
        text = folded.get(source, "")
        return any(_contains_words(text, form) for form in folded_names(entity))

    def is_grounded(relation: Relation) -> bool:
        ends = [entities[end] for end in (relation.source, relation.target) if end in entities]
        return len(ends) == 2 and any(
            all(end.id == source or (source, end.id) in works or contains(source, end) for end in ends)
            for source in relation.sources
        )

    loose = [
        entity
        for entity in extraction.entities
        if not entity.sources or not all(contains(source, entity) for source in entity.sources)
    ]
    unfounded = [relation for relation in extraction.relations if not is_grounded(relation)]
    return Score(
        tallies={
            "grounded.entities": _all_but(loose, extraction.entities),
            "grounded.relations": _all_but(unfounded, extraction.relations),
        },
        misses=(
            *(
                Miss(metric="grounded.entities", what=entity.type, gold=entity.name, got=", ".join(entity.sources))
                for entity in loose
            ),
            *(_relation_miss(relation, entities) for relation in unfounded),
        ),
    )


def _all_but(wrong: Sequence[object], items: Sequence[object]) -> Tally:
    return Tally(right=len(items) - len(wrong), total=len(items))


def _citing(paper: Paper, work: Entity) -> Iterator[str]:
    return (link.source for link in paper.links if link.target in work.sources)


def _contains_words(text: str, form: str) -> bool:
    """Return whether a text contains a form, and not as a part of a longer word."""
    start = text.find(form)
    while start >= 0:
        before, after = text[max(start - 1, 0) : start], text[start + len(form) : start + len(form) + 1]
        if not (before.isalnum() and form[0].isalnum()) and not (after.isalnum() and form[-1].isalnum()):
            return True
        start = text.find(form, start + 1)
    return False


def _relation_miss(relation: Relation, entities: Mapping[str, Entity]) -> Miss:
    ends = [entities[end].name if end in entities else end for end in (relation.source, relation.target)]
    return Miss(metric="grounded.relations", what=relation.kind, gold=" -- ".join(ends), got=relation.description)


def score_floats(indexed: IndexedPaper) -> Score:
    """floats.linked: captioned tables and figures that are entities standing on a passage that names them, or in a
    relation that does, of those that a passage names at all ("Tables 2 and 3", "Fig. A.1"); read anew from the text."""
    naming: dict[tuple[str, str], set[str]] = defaultdict(set)
    for passage in indexed.paper.elements:
        if isinstance(passage, Passage) and passage.role != "furniture":
            for named in _named_floats(passage.text):
                naming[named].add(passage.id)
    grounds: dict[str, set[str]] = {entity.id: set(entity.sources) for entity in indexed.extraction.entities}
    for relation in indexed.extraction.relations:
        for end in (relation.source, relation.target):
            grounds.setdefault(end, set()).update(relation.sources)
    total = 0
    misses = []
    for element in indexed.paper.elements:
        if isinstance(element, Table | Figure) and element.caption:
            passages = {id_ for _, number in _named_floats(element.label) for id_ in naming[element.kind, number]}
            total += bool(passages)
            if passages and not passages & grounds.get(element.id, set()):
                misses.append(Miss(metric="floats.linked", what=element.kind, gold=element.label, got=element.caption))
    return Score(tallies={"floats.linked": Tally(right=total - len(misses), total=total)}, misses=tuple(misses))


def _named_floats(text: str) -> Iterator[tuple[str, str]]:
    """Yield the kind and number of each table and figure that the text names."""
    for match in _NAMED.finditer(text):
        kind = "table" if match["table"] else "figure"
        for number in re.findall(_NUMBER, match["numbers"], re.IGNORECASE):
            yield kind, number.strip("(").upper()
