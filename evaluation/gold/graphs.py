"""Gold graphs: entities, relations and acronyms of SciERC, SciER, SciREX and SDU."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from pydantic import TypeAdapter

from evaluation.gold.files import json_lines, line_error, named_lines, parse_lines
from paperscope_core.errors import GoldFileError
from paperscope_core.text.words import entity_key

__all__ = [
    "Cluster",
    "GoldAcronyms",
    "GoldEntity",
    "GoldExpansion",
    "GoldGraph",
    "GoldRelation",
    "GoldResult",
    "GoldSection",
    "JoinedTokens",
    "Mention",
    "entities_of",
    "gold_acronyms",
    "gold_expansions",
    "join_tokens",
    "scier_graphs",
    "scierc_graphs",
    "scirex_graphs",
]


_BRACKETS = {"-LRB-": "(", "-RRB-": ")", "-LSB-": "[", "-RSB-": "]", "-LCB-": "{", "-RCB-": "}"}
_OPENS = re.compile(r"(?:[(\[{\u201c\u2018\u00ab]|``)$")
_CLOSES = re.compile(r"(?:[)\]},;:!?%\u201d\u2019\u00bb]|''|\.(?!\d)|'(?:s|re|ve|ll|d|m|t)?$|n't$)", re.IGNORECASE)
_JOINS = frozenset("-/\u2010\u2011")
_QUOTE = '"'


# Types of mentions that name nothing: "the method", "this approach", "it".
_GENERIC = frozenset({"Generic"})
_PRONOUNS = frozenset(
    "it its itself they them their theirs this that these those which who whom whose we us our ours he she him her "
    "one ones both each such former latter".split()
)
_DIGITS = re.compile(r"(?<=\b\d) (?=\d\b)")
_Span = tuple[int, int]
_MEMBERS = ("Method", "Task", "Material", "Metric")
# Remains of the source's markup before headings: "section : Introduction".
_MARK = re.compile(r"^(?:document|(?:sub)*section|(?:sub)?paragraph|appendix|bibliography): ?")
# Remains of citations and cross-references.
_CITATION = re.compile(r" ?\[reference\]")
_LABELS = frozenset({"O", "B-short", "I-short", "B-long", "I-long"})


@dataclass(frozen=True, kw_only=True, slots=True)
class JoinedTokens:
    """Running text, and the start and end of each of its tokens."""

    text: str
    starts: tuple[int, ...]
    ends: tuple[int, ...]

    def of(self, first: int, end: int) -> str:
        """The words from token `first` to before token `end`. Raises IndexError if there are no such tokens."""
        if not 0 <= first < end <= len(self.ends):
            raise IndexError(f"there are no tokens from {first} to before {end} among {len(self.ends)}")
        return self.text[self.starts[first] : self.ends[end - 1]]


def join_tokens(tokens: Sequence[str]) -> JoinedTokens:
    """Joins tokens with spaces only where print has them: "state - of - the - art ( SOTA ) ." is one word and brackets.

    Brackets in the Penn Treebank's spelling ("-LRB-") become characters. Straight quotes open and close alternately.
    """
    text = ""
    starts, ends = [], []
    for token, spaced in _spaced(tokens):
        text += " " if spaced and text else ""
        starts.append(len(text))
        text += token
        ends.append(len(text))
    return JoinedTokens(text=text, starts=tuple(starts), ends=tuple(ends))


def _spaced(tokens: Sequence[str]) -> Iterator[tuple[str, bool]]:
    """Each token, and whether a space precedes it."""
    glued = True
    quoted = False
    for raw in tokens:
        token = _BRACKETS.get(raw, raw)
        closing = quoted if token == _QUOTE else bool(_CLOSES.match(token))
        yield token, not (glued or closing or token in _JOINS)
        if token == _QUOTE:
            quoted = not quoted
        glued = token in _JOINS or bool(_OPENS.search(token)) or (token == _QUOTE and quoted)


@dataclass(frozen=True, kw_only=True, slots=True)
class GoldSection:
    """A heading ("" for none) and the running text below it."""

    heading: str
    text: str


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
class GoldResult:
    """An n-ary relation: the positions of its members, and the score as printed ("" if there is none)."""

    members: tuple[int, ...]
    score: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class GoldGraph:
    """A document with its graph; `name` is SET/DOCUMENT.

    `relations` and `results` are None if the set has none; `coreferent` says that the set annotates coreference.
    """

    name: str
    sections: tuple[GoldSection, ...]
    entities: tuple[GoldEntity, ...]
    relations: tuple[GoldRelation, ...] | None = None
    results: tuple[GoldResult, ...] | None = None
    coreferent: bool = False

    @property
    def scheme(self) -> str:
        """The set, whose guidelines define what is annotated."""
        return self.name.partition("/")[0]


@dataclass(frozen=True, kw_only=True, slots=True)
class Mention:
    """A mention of an entity: its span of tokens, its words and its type."""

    span: tuple[int, int]
    words: str
    type: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Cluster:
    """Spans that refer to the same entity."""

    spans: tuple[tuple[int, int], ...]
    salient: bool = False


def entities_of(
    mentions: Sequence[Mention], clusters: Sequence[Cluster]
) -> tuple[tuple[GoldEntity, ...], dict[tuple[int, int], int]]:
    """Returns one entity per cluster and one per remaining spelling, and the entity of each mention by its span.

    Clusters without mentions are ignored. A cluster's type is that of most of its mentions; generic mentions give
    neither type nor spelling if there are others. A mention outside all clusters joins the first cluster that has its
    spelling.
    """
    by_span = {mention.span: mention for mention in mentions}
    entities: list[GoldEntity] = []
    place: dict[tuple[int, int], int] = {}
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
    naming = [mention for mention in mentions if _is_naming(mention)]
    types = Counter(mention.type for mention in naming or mentions)
    forms = dict.fromkeys(entity_key(mention.words) for mention in naming or mentions)
    return GoldEntity(forms=tuple(forms), type=types.most_common(1)[0][0], generic=not naming, salient=salient)


def _is_naming(mention: Mention) -> bool:
    return mention.type not in _GENERIC and entity_key(mention.words) not in _PRONOUNS


@dataclass(frozen=True, kw_only=True, slots=True)
class _SciERCLine:
    """Token positions count from 0 over all sentences; the end of a span is inclusive."""

    doc_key: str
    sentences: tuple[tuple[str, ...], ...]
    ner: tuple[tuple[tuple[int, int, str], ...], ...]
    relations: tuple[tuple[tuple[int, int, int, int, str], ...], ...]
    clusters: tuple[tuple[tuple[int, int], ...], ...]


_SCIERC_LINE = TypeAdapter(_SciERCLine)


def scierc_graphs(data: Path) -> Iterator[GoldGraph | GoldFileError]:
    """Yields one graph per line, and the errors of unusable lines."""
    file = data / "eval" / "kg_scierc.jsonl"
    yield from parse_lines(file, _SCIERC_LINE, name=lambda line: line.doc_key, make=_scierc_graph)


def _scierc_graph(line: _SciERCLine) -> GoldGraph:
    text = join_tokens([*chain.from_iterable(line.sentences)])
    mentions = [_mention(text, *entry) for entry in chain.from_iterable(line.ner)]
    clusters = [Cluster(spans=spans) for spans in line.clusters]
    entities, place = entities_of(mentions, clusters)
    relations = []
    for first, last, other_first, other_last, kind in chain.from_iterable(line.relations):
        ends = [(first, last), (other_first, other_last)]
        for end in ends:
            if end not in place:
                raise KeyError(f"a relation's end {list(end)} is no entity")
        relations.append(GoldRelation(source=place[ends[0]], target=place[ends[1]], kind=kind))
    return GoldGraph(
        name=f"scierc/{line.doc_key}",
        sections=(GoldSection(heading="", text=text.text),),
        entities=entities,
        relations=tuple(dict.fromkeys(relations)),
        coreferent=True,
    )


def _mention(text: JoinedTokens, first: int, last: int, kind: str) -> Mention:
    return Mention(span=(first, last), words=text.of(first, last + 1), type=kind)


@dataclass(frozen=True, kw_only=True, slots=True)
class _SciERLine:
    """A sentence, its tokens separated by spaces; entities are (words, type), relations (words, kind, words)."""

    doc_id: str
    sentence: str
    ner: tuple[tuple[str, str], ...]
    rel: tuple[tuple[str, str, str], ...]


_SCIER_LINE = TypeAdapter(_SciERLine)


def scier_graphs(data: Path) -> Iterator[GoldGraph | GoldFileError]:
    """Yields one graph per document, all its sentences as one text, then the errors of unusable lines."""
    file = data / "eval" / "kg_scier.jsonl"
    bad: list[GoldFileError] = []
    documents: dict[str, list[_SciERLine]] = {}
    for number, line in json_lines(file, _SCIER_LINE, bad=bad):
        if reason := _scier_error(line):
            bad.append(line_error(file, number, reason))
        else:
            documents.setdefault(line.doc_id, []).append(line)
    for document, lines in documents.items():
        yield _scier_graph(document, lines)
    yield from bad


def _scier_error(line: _SciERLine) -> str:
    """Why a line is unusable, or ""."""
    named = {words for words, _ in line.ner}
    for words in named:
        if words not in line.sentence:
            return f"the entity {words!r} is not in its sentence"
    for source, _, target in line.rel:
        for words in (source, target):
            if words not in named:
                return f"a relation's end {words!r} is no entity of its sentence"
    return ""


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
    return GoldGraph(
        name=f"scier/{document}",
        sections=(GoldSection(heading="", text=" ".join(_scier_words(line.sentence) for line in lines)),),
        entities=entities,
        relations=tuple(dict.fromkeys(relations)),
    )


def _scier_words(text: str) -> str:
    """Rejoins numbers, which the set splits into digits ("UCF 1 0 1")."""
    return _DIGITS.sub("", join_tokens(text.split()).text)


@dataclass(frozen=True, kw_only=True, slots=True)
class _SciREXLine:
    """Word positions count from 0; the end of a span is exclusive.

    `coref` has an entry for each entity of `n_ary_relations`, without spans if the paper never names it.
    """

    doc_id: str
    words: tuple[str, ...]
    sentences: tuple[_Span, ...]
    sections: tuple[_Span, ...]
    ner: tuple[tuple[int, int, str], ...]
    coref: Mapping[str, tuple[_Span, ...]]
    coref_non_salient: Mapping[str, tuple[_Span, ...]]
    n_ary_relations: tuple[Mapping[str, str | float | None], ...]


_SCIREX_LINE = TypeAdapter(_SciREXLine)


def scirex_graphs(data: Path) -> Iterator[GoldGraph | GoldFileError]:
    """Yields one graph per line, and the errors of unusable lines."""
    file = data / "eval" / "kg_scirex.jsonl"
    yield from parse_lines(file, _SCIREX_LINE, name=lambda line: line.doc_id, make=_scirex_graph)


def _scirex_graph(line: _SciREXLine) -> GoldGraph:
    text = join_tokens(line.words)
    mentions = [Mention(span=(first, end), words=text.of(first, end), type=kind) for first, end, kind in line.ner]
    clusters = [
        *(Cluster(spans=spans, salient=True) for spans in line.coref.values()),
        *(Cluster(spans=spans) for spans in line.coref_non_salient.values()),
    ]
    entities, place = entities_of(mentions, clusters)
    return GoldGraph(
        name=f"scirex/{line.doc_id}",
        sections=tuple(_scirex_sections(line, text)),
        entities=entities,
        results=tuple(_scirex_results(line, place)),
        coreferent=True,
    )


def _scirex_results(line: _SciREXLine, place: Mapping[_Span, int]) -> Iterator[GoldResult]:
    """The results whose members the paper names; the benchmark leaves out the others, too."""
    for relation in line.n_ary_relations:
        named = [str(relation[member]) for member in _MEMBERS if member in relation]
        for name in named:
            if name not in line.coref:
                raise KeyError(f"a relation's member {name!r} has no entry in 'coref'")
        members = [next((place[span] for span in line.coref[name] if span in place), None) for name in named]
        known = tuple(dict.fromkeys(member for member in members if member is not None))
        if len(members) > 1 and None not in members:
            yield GoldResult(members=known, score=str(relation.get("score") or ""))


def _scirex_sections(line: _SciREXLine, text: JoinedTokens) -> Iterator[GoldSection]:
    """The sections; a section's first sentence is its heading if the source's markup says so."""
    ends: Mapping[int, int] = dict(line.sentences)
    for first, end in line.sections:
        words = text.of(first, end)
        mark = _MARK.match(words)
        cut = min(ends.get(first, first), end) if mark else first
        heading = text.of(first, cut)[mark.end() :] if mark and cut > first else ""
        yield GoldSection(heading=_CITATION.sub("", heading), text=_CITATION.sub("", _rest(text, cut, end)))


def _rest(text: JoinedTokens, first: int, end: int) -> str:
    return text.of(first, end) if first < end else ""


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


@dataclass(frozen=True, kw_only=True, slots=True)
class _Identification:
    """One label per token: "O", or "B-" or "I-" with "short" or "long"."""

    id: str
    tokens: tuple[str, ...]
    labels: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class _Disambiguation:
    """`acronym` is the position of the short form, from 0."""

    id: str
    tokens: tuple[str, ...]
    acronym: int
    expansion: str


_IDENTIFICATION = TypeAdapter(_Identification)
_DISAMBIGUATION = TypeAdapter(_Disambiguation)


def gold_acronyms(data: Path) -> Iterator[GoldAcronyms | GoldFileError]:
    """Yields one value per line, and the errors of unusable lines."""
    file = data / "eval" / "acronym_identification.jsonl"
    bad: list[GoldFileError] = []
    for number, line in named_lines(file, _IDENTIFICATION, name=lambda line: line.id, bad=bad):
        unknown = sorted(set(line.labels) - _LABELS)
        if unknown:
            yield line_error(file, number, f"unknown label {unknown[0]!r}")
        elif len(line.tokens) != len(line.labels):
            yield line_error(file, number, f"{len(line.labels)} labels for {len(line.tokens)} tokens")
        else:
            text = join_tokens(line.tokens)
            spans = list(_labelled_spans(line.labels))
            yield GoldAcronyms(
                name=f"acronym_identification/{line.id}",
                text=text.text,
                shorts=tuple(text.of(first, end) for kind, first, end in spans if kind == "short"),
                longs=tuple(text.of(first, end) for kind, first, end in spans if kind == "long"),
            )
    yield from bad


def gold_expansions(data: Path) -> Iterator[GoldExpansion | GoldFileError]:
    """Yields one value per line, and the errors of unusable lines."""
    file = data / "eval" / "acronym_disambiguation.jsonl"
    bad: list[GoldFileError] = []
    for number, line in named_lines(file, _DISAMBIGUATION, name=lambda line: line.id, bad=bad):
        if not 0 <= line.acronym < len(line.tokens):
            yield line_error(file, number, f"'acronym' is {line.acronym}, but there are {len(line.tokens)} tokens")
        else:
            yield GoldExpansion(
                name=f"acronym_disambiguation/{line.id}",
                text=join_tokens(line.tokens).text,
                short=line.tokens[line.acronym],
                long=line.expansion,
            )
    yield from bad


def _labelled_spans(labels: Sequence[str]) -> Iterator[tuple[str, int, int]]:
    """The kind, first token and end (exclusive) of each span; an "I-" without its "B-" begins a span, too (as in
    CoNLL-2000)."""
    kind, first = "", 0
    for number, label in enumerate((*labels, "O")):
        mark, _, following = label.partition("-")
        if kind and (mark != "I" or following != kind):
            yield kind, first, number
            kind = ""
        if following and not kind:
            kind, first = following, number
