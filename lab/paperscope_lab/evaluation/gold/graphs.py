"""Gold graphs: entities, relations and acronyms of SciERC, SciER, SciREX and SDU."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Literal

from paperscope_core.text.words import entity_key
from paperscope_lab.errors import GoldFileError
from paperscope_lab.evaluation.gold.files import read_lines, separate_errors
from paperscope_lab.evaluation.gold.text_papers import TextSection

__all__ = [
    "Cluster",
    "GoldAcronyms",
    "GoldEntity",
    "GoldExpansion",
    "GoldGraph",
    "GoldRelation",
    "GraphGold",
    "JoinedTokens",
    "Mention",
    "entities_of",
    "join_tokens",
    "read_graph_gold",
]


_Span = tuple[int, int]


@dataclass(frozen=True, kw_only=True, slots=True)
class GoldEntity:
    """One entity and its distinct spellings, folded by `entity_key`.

    A `generic` entity has no name; its `forms` are the words that refer to it. `salient` says that the document's
    results are about it.
    """

    forms: tuple[str, ...]
    type: str
    generic: bool = False
    salient: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class GoldRelation:
    """Two entities, by their positions, and the gold's kind of relation."""

    source: int
    target: int
    kind: str


@dataclass(frozen=True, kw_only=True, slots=True)
class GoldGraph:
    """A document with its graph; `name` is SET/DOCUMENT.

    `relations` is None if the set has none.
    """

    name: str
    sections: tuple[TextSection, ...]
    entities: tuple[GoldEntity, ...]
    relations: tuple[GoldRelation, ...] | None = None

    @property
    def scheme(self) -> str:
        """The set, whose guidelines define what is annotated."""
        return self.name.partition("/")[0]


@dataclass(frozen=True, kw_only=True, slots=True)
class GoldAcronyms:
    """A sentence with the short and long forms that it contains; `name` is SET/ID."""

    name: str
    text: str
    shorts: tuple[str, ...]
    longs: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class GoldExpansion:
    """A sentence, a short form in it, and its meaning there; `name` is SET/ID."""

    name: str
    text: str
    short: str
    long: str


GraphGold = GoldGraph | GoldAcronyms | GoldExpansion


def read_graph_gold(data: Path) -> Iterator[GraphGold | GoldFileError]:
    """Yield the documents and sentences of all sets that are present, and the errors of unusable lines."""
    gold = data / "eval"
    yield from read_lines(gold / "kg_scierc.jsonl", _SciERCLine, _scierc_graph, key=lambda line: line.doc_key)
    yield from _scier_graphs(gold / "kg_scier.jsonl")
    yield from read_lines(gold / "kg_scirex.jsonl", _SciREXLine, _scirex_graph, key=lambda line: line.doc_id)
    identification, disambiguation = gold / "acronym_identification.jsonl", gold / "acronym_disambiguation.jsonl"
    yield from read_lines(identification, _IdentificationLine, _acronyms, key=lambda line: line.id)
    yield from read_lines(disambiguation, _DisambiguationLine, _expansion, key=lambda line: line.id)


# Running text from tokens.

_BRACKETS = {"-LRB-": "(", "-RRB-": ")", "-LSB-": "[", "-RSB-": "]", "-LCB-": "{", "-RCB-": "}"}
_OPENS = re.compile(r"(?:[(\[{\u201c\u2018\u00ab]|``)$")
_CLOSES = re.compile(r"(?:[)\]},;:!?%\u201d\u2019\u00bb]|''|\.(?!\d)|'(?:s|re|ve|ll|d|m|t)?$|n't$)", re.IGNORECASE)
_JOINS = frozenset("-/\u2010\u2011")
_QUOTE = '"'


@dataclass(frozen=True, kw_only=True, slots=True)
class JoinedTokens:
    """Running text, and the start and end of each of its tokens."""

    text: str
    spans: tuple[_Span, ...]

    def of(self, first: int, end: int) -> str:
        """Return the words from token `first` to before token `end`. Raises GoldFileError if there are no such
        tokens."""
        if not 0 <= first < end <= len(self.spans):
            raise GoldFileError(f"there are no tokens from {first} to before {end} among {len(self.spans)}")
        return self.text[self.spans[first][0] : self.spans[end - 1][1]]


def join_tokens(tokens: Sequence[str]) -> JoinedTokens:
    """Join tokens with spaces only where print has them: "state - of - the - art ( SOTA ) ." is one word and brackets.

    Brackets in the Penn Treebank's spelling ("-LRB-") become characters. Straight quotes open and close alternately.
    """
    text = ""
    spans = []
    opened = quoted = False
    for raw in tokens:
        token = _BRACKETS.get(raw, raw)
        closes = quoted if token == _QUOTE else bool(_CLOSES.match(token))
        if text and not (opened or closes or token in _JOINS):
            text += " "
        spans.append((len(text), len(text) + len(token)))
        text += token
        if token == _QUOTE:
            quoted = opened = not quoted
        else:
            opened = token in _JOINS or bool(_OPENS.search(token))
    return JoinedTokens(text=text, spans=tuple(spans))


# Entities from mentions.

# Types of mentions that name nothing: "the method", "this approach", "it".
_GENERIC = frozenset({"Generic"})
_PRONOUNS = frozenset(
    "it its itself they them their theirs this that these those which who whom whose we us our ours he she him her "
    "one ones both each such former latter".split()
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Mention:
    """A mention of an entity: its span of tokens, its words and its type."""

    span: _Span
    words: str
    type: str

    @property
    def names(self) -> bool:
        """Whether the words are a name, not a pronoun or a general term."""
        return self.type not in _GENERIC and entity_key(self.words) not in _PRONOUNS


@dataclass(frozen=True, kw_only=True, slots=True)
class Cluster:
    """Spans that refer to the same entity."""

    spans: tuple[_Span, ...]
    salient: bool = False


def entities_of(
    mentions: Sequence[Mention], clusters: Sequence[Cluster]
) -> tuple[tuple[GoldEntity, ...], dict[_Span, int]]:
    """Return one entity per cluster and one per remaining spelling, and the entity of each mention by its span.

    Clusters without mentions are ignored. A cluster's type is that of most of its mentions; generic mentions give
    neither type nor spelling if there are others. A mention outside all clusters joins the first cluster that has its
    spelling.
    """
    by_span = {mention.span: mention for mention in mentions}
    entities: list[GoldEntity] = []
    place: dict[_Span, int] = {}
    for cluster in clusters:
        members = [by_span[span] for span in cluster.spans if span in by_span and span not in place]
        if members:
            place.update((mention.span, len(entities)) for mention in members)
            entities.append(_entity(members, salient=cluster.salient))
    spelt = {form: number for number, entity in reversed(list(enumerate(entities))) for form in entity.forms}
    for mention in mentions:
        if mention.span not in place:
            form = entity_key(mention.words)
            if form not in spelt:
                spelt[form] = len(entities)
                entities.append(_entity([mention], salient=False))
            place[mention.span] = spelt[form]
    return tuple(entities), place


def _entity(mentions: Sequence[Mention], *, salient: bool) -> GoldEntity:
    naming = [mention for mention in mentions if mention.names]
    types = Counter(mention.type for mention in naming or mentions)
    forms = dict.fromkeys(entity_key(mention.words) for mention in naming or mentions)
    return GoldEntity(forms=tuple(forms), type=types.most_common(1)[0][0], generic=not naming, salient=salient)


# SciERC (Luan et al., 2018).


@dataclass(frozen=True, kw_only=True, slots=True)
class _SciERCLine:
    """Token positions count from 0 over all sentences; the end of a span is inclusive."""

    doc_key: str
    sentences: tuple[tuple[str, ...], ...]
    ner: tuple[tuple[tuple[int, int, str], ...], ...]
    relations: tuple[tuple[tuple[int, int, int, int, str], ...], ...]
    clusters: tuple[tuple[_Span, ...], ...]


def _scierc_graph(_number: int, line: _SciERCLine) -> GoldGraph:
    text = join_tokens([*chain.from_iterable(line.sentences)])
    mentions = [
        Mention(span=(first, last), words=text.of(first, last + 1), type=kind)
        for first, last, kind in chain.from_iterable(line.ner)
    ]
    entities, place = entities_of(mentions, [Cluster(spans=spans) for spans in line.clusters])
    relations = []
    for *ends, kind in chain.from_iterable(line.relations):
        source, target = (ends[0], ends[1]), (ends[2], ends[3])
        for end in (source, target):
            if end not in place:
                raise GoldFileError(f"a relation's end {list(end)} is no entity")
        relations.append(GoldRelation(source=place[source], target=place[target], kind=kind))
    return GoldGraph(
        name=f"scierc/{line.doc_key}",
        sections=(TextSection(path=(), paragraphs=(text.text,)),),
        entities=entities,
        relations=tuple(dict.fromkeys(relations)),
    )


# SciER (Zhang et al., 2024).

# The set splits numbers into digits: "UCF 1 0 1".
_SPLIT_DIGITS = re.compile(r"(?<=\b\d) (?=\d\b)")


@dataclass(frozen=True, kw_only=True, slots=True)
class _SciERLine:
    """A sentence, its tokens separated by spaces; entities are (words, type), relations (words, kind, words)."""

    doc_id: str
    sentence: str
    ner: tuple[tuple[str, str], ...]
    rel: tuple[tuple[str, str, str], ...]


def _scier_graphs(file: Path) -> Iterator[GoldGraph | GoldFileError]:
    """Yield one graph per document, all its sentences as one text."""
    lines, bad = separate_errors(read_lines(file, _SciERLine, _checked))
    yield from bad
    documents: dict[str, list[_SciERLine]] = {}
    for line in lines:
        documents.setdefault(line.doc_id, []).append(line)
    for document, sentences in documents.items():
        yield _scier_graph(document, sentences)


def _checked(_number: int, line: _SciERLine) -> _SciERLine:
    named = dict(line.ner)
    for words in named:
        if words not in line.sentence:
            raise GoldFileError(f"the entity {words!r} is not in its sentence")
    for source, _, target in line.rel:
        for words in (source, target):
            if words not in named:
                raise GoldFileError(f"a relation's end {words!r} is no entity of its sentence")
    return line


def _scier_graph(document: str, lines: Sequence[_SciERLine]) -> GoldGraph:
    found = dict.fromkeys((_scier_words(words), kind) for line in lines for words, kind in line.ner)
    mentions = [Mention(span=(n, n), words=words, type=kind) for n, (words, kind) in enumerate(found)]
    entities, place = entities_of(mentions, ())
    number = {entity_key(mention.words): place[mention.span] for mention in mentions}
    relations = [
        GoldRelation(source=number[entity_key(_scier_words(a))], target=number[entity_key(_scier_words(b))], kind=kind)
        for line in lines
        for a, kind, b in line.rel
    ]
    text = " ".join(_scier_words(line.sentence) for line in lines)
    return GoldGraph(
        name=f"scier/{document}",
        sections=(TextSection(path=(), paragraphs=(text,)),),
        entities=entities,
        relations=tuple(dict.fromkeys(relations)),
    )


def _scier_words(text: str) -> str:
    return _SPLIT_DIGITS.sub("", join_tokens(text.split()).text)


# SciREX (Jain et al., 2020).

# Remains of the source's markup before headings: "section : Introduction".
_MARKUP = re.compile(r"^(?:document|(?:sub)*section|(?:sub)?paragraph|appendix|bibliography): ?")
# Remains of citations and cross-references.
_CITATION = re.compile(r" ?\[reference\]")


@dataclass(frozen=True, kw_only=True, slots=True)
class _SciREXLine:
    """Word positions count from 0; the end of a span is exclusive.

    `coref` has the entities that the paper's results are about, without spans if the paper never names one.
    """

    doc_id: str
    words: tuple[str, ...]
    sentences: tuple[_Span, ...]
    sections: tuple[_Span, ...]
    ner: tuple[tuple[int, int, str], ...]
    coref: Mapping[str, tuple[_Span, ...]]
    coref_non_salient: Mapping[str, tuple[_Span, ...]]


def _scirex_graph(_number: int, line: _SciREXLine) -> GoldGraph:
    text = join_tokens(line.words)
    mentions = [Mention(span=(first, end), words=text.of(first, end), type=kind) for first, end, kind in line.ner]
    salient = [Cluster(spans=spans, salient=True) for spans in line.coref.values()]
    others = [Cluster(spans=spans) for spans in line.coref_non_salient.values()]
    entities, _ = entities_of(mentions, [*salient, *others])
    return GoldGraph(
        name=f"scirex/{line.doc_id}",
        sections=tuple(_scirex_sections(line, text)),
        entities=entities,
    )


def _scirex_sections(line: _SciREXLine, text: JoinedTokens) -> Iterator[TextSection]:
    """Yield the sections; a section's first sentence is its heading if the source's markup says so."""
    ends: Mapping[int, int] = dict(line.sentences)
    for first, end in line.sections:
        start, path = first, tuple[str, ...]()
        if markup := _MARKUP.match(text.of(first, end)):
            start = min(ends.get(first, first), end)
            heading = text.of(first, start)[markup.end() :] if start > first else ""
            path = (_CITATION.sub("", heading),)
        body = text.of(start, end) if start < end else ""
        yield TextSection(path=path, paragraphs=(_CITATION.sub("", body),))


# Acronyms of the SDU workshop (Veyseh et al., 2020).


@dataclass(frozen=True, kw_only=True, slots=True)
class _IdentificationLine:
    """One label per token."""

    id: str
    tokens: tuple[str, ...]
    labels: tuple[Literal["O", "B-short", "I-short", "B-long", "I-long"], ...]


def _acronyms(_number: int, line: _IdentificationLine) -> GoldAcronyms:
    if len(line.tokens) != len(line.labels):
        raise GoldFileError(f"{len(line.labels)} labels for {len(line.tokens)} tokens")
    text = join_tokens(line.tokens)
    spans = list(_labelled_spans(line.labels))
    return GoldAcronyms(
        name=f"acronym_identification/{line.id}",
        text=text.text,
        shorts=tuple(text.of(first, end) for kind, first, end in spans if kind == "short"),
        longs=tuple(text.of(first, end) for kind, first, end in spans if kind == "long"),
    )


def _labelled_spans(labels: Sequence[str]) -> Iterator[tuple[str, int, int]]:
    """Yield the kind, first token and end (exclusive) of each span; an "I-" without its "B-" begins a span, too (as in
    CoNLL-2000)."""
    kind, first = "", 0
    for number, label in enumerate((*labels, "O")):
        prefix, _, following = label.partition("-")
        if kind and (prefix != "I" or following != kind):
            yield kind, first, number
            kind = ""
        if following and not kind:
            kind, first = following, number


@dataclass(frozen=True, kw_only=True, slots=True)
class _DisambiguationLine:
    """`acronym` is the position of the short form, from 0."""

    id: str
    tokens: tuple[str, ...]
    acronym: int
    expansion: str


def _expansion(_number: int, line: _DisambiguationLine) -> GoldExpansion:
    if not 0 <= line.acronym < len(line.tokens):
        raise GoldFileError(f"'acronym' is {line.acronym}, but there are {len(line.tokens)} tokens")
    return GoldExpansion(
        name=f"acronym_disambiguation/{line.id}",
        text=join_tokens(line.tokens).text,
        short=line.tokens[line.acronym],
        long=line.expansion,
    )
