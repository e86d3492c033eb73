"""Searches the tables of the index in PostgreSQL: BM25 over postings, names, and vectors in pgvector."""
# ruff: noqa: S608 # statements consist of the constants here, the names of tables and numbers of ours

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy import float32, float64, int64
from numpy.typing import NDArray
from sqlalchemy import Connection, Result, Row, text

from graph_store.index.bm25 import POSTING, RANKED, Postings, count_texts, max_score, phrase_postings, rarest, scored
from graph_store.index.finding import NameHits
from graph_store.index.postgresql_tables import State, Vectors, WordTable, as_halfvec
from graph_store.index.query_terms import longest_first, match_terms, windows
from graph_store.index.text_terms import Tokenizer, bounded
from paperscope_core.types import Filters, Hit

__all__ = ["COMPARED", "Scope", "build_graph", "nearest_chunks", "search_chunks", "search_names"]

COMPARED = 20_000
"""With more vectors than this, a question is compared with those that it reaches in the HNSW graph, else with all:
comparing it with 20,000 takes as long as searching a graph."""

# How many candidates are kept while the graph is searched. On 100,000 vectors that are mixtures of those of two chunks,
# the graph has 99.6 % of the ten nearest, and 98.4 % of the ten nearest of a third of the papers; with 200 candidates
# 96.8 %, in half of the time.
_CONSIDERED = 400
_NO_POSTINGS = np.empty(0, dtype=POSTING)

# Conditions that restrict nothing are left out: the planner would take them for rare.
_CONDITIONS = {
    "papers": "paper = ANY(CAST(:papers AS int[]))",
    "sections": "section = ANY(CAST(:sections AS text[]))",
    "kinds": "kind = ANY(CAST(:kinds AS text[]))",
}
_SECTIONS = "SELECT DISTINCT section FROM search_chunks WHERE {scope}"
_POSTINGS = "SELECT term, postings FROM search_{table}_words WHERE term = ANY(:terms)"
_OWNERS = " AND owner = ANY(CAST(:owners AS int[]))"
# The rarest word of a phrase determines which owners may have it.
_PHRASE = """
SELECT others.term, others.owner, others.postings
FROM search_{table}_words AS first JOIN search_{table}_words AS others ON others.owner = first.owner
WHERE first.term = :first AND others.term = ANY(:terms)
"""
_CHUNKS = "SELECT number, id FROM search_chunks WHERE number = ANY(:numbers) AND {scope}"
_ENTITIES = """
SELECT number, id FROM search_entities
WHERE number = ANY(:numbers)
AND EXISTS (SELECT FROM search_names WHERE entity = search_entities.number AND {scope})
"""
_NAMED = """
SELECT DISTINCT search_names.key, search_entities.id
FROM search_names JOIN search_entities ON search_entities.number = search_names.entity
WHERE search_names.key = ANY(:keys) AND {scope}
"""
_OWNED = "SELECT DISTINCT entity FROM search_names WHERE {scope}"
_ALLOWED = "SELECT count(*) FROM (SELECT FROM search_chunks WHERE {scope} LIMIT :most) AS allowed"
_EXACT = """
SELECT id, vector OPERATOR({schema}.<#>) CAST(:vector AS {schema}.halfvec) AS distance
FROM search_chunks WHERE embedder = :embedder AND {scope}
ORDER BY distance, id LIMIT :limit
"""
# The expression and the condition are those of the graph, and so are not parameters.
_BY_GRAPH = """
SELECT id, CAST(vector AS {schema}.halfvec({dimension}))
    OPERATOR({schema}.<#>) CAST(:vector AS {schema}.halfvec({dimension})) AS distance
FROM search_chunks WHERE embedder = {embedder} AND {scope}
ORDER BY distance LIMIT :limit
"""
# A scan goes on until enough chunks pass the filters. The planner must not sort all chunks instead.
_GRAPH_SETTINGS = f"""
SELECT set_config('hnsw.ef_search', '{_CONSIDERED}', true), set_config('hnsw.iterative_scan', 'strict_order', true),
    set_config('hnsw.max_scan_tuples', '2147483647', true), set_config('hnsw.scan_mem_multiplier', '8', true),
    set_config('enable_sort', 'off', true),
    set_config('enable_seqscan', 'off', true), set_config('enable_bitmapscan', 'off', true)
"""
# A graph that does not fit into memory while it is built takes many times as long.
_BUILD_MEMORY = """
SELECT set_config('maintenance_work_mem', greatest(
    least(CAST(:needed AS bigint), 2000000), pg_size_bytes(current_setting('maintenance_work_mem')) / 1024
) || 'kB', true)
"""
_NODE_BYTES = 600
_BUILD_GRAPH = """
CREATE INDEX search_graph_{embedder} ON search_chunks
USING hnsw ((CAST(vector AS {schema}.halfvec({dimension}))) {schema}.halfvec_ip_ops) WHERE embedder = {embedder}
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class Scope:
    """What a search is restricted to; None for no restriction."""

    papers: list[int] | None = None
    sections: list[str] | None = None
    kinds: list[str] | None = None

    @classmethod
    def of(cls, connection: Connection, filters: Filters) -> "Scope":
        """Return the scope of filters."""
        papers, sections = None, None
        if filters.papers:
            query = "SELECT number FROM search_papers WHERE id = ANY(:ids)"
            papers = list(connection.execute(text(query), {"ids": list(filters.papers)}).scalars())
        if filters.sections:
            paths = cls(papers=papers).run(connection, _SECTIONS).scalars()
            sections = [path for path in paths if filters.allows_section(path)]
        return cls(papers=papers, sections=sections, kinds=list(filters.kinds) or None)

    @property
    def of_papers(self) -> "Scope":
        """Its papers alone."""
        return Scope(papers=self.papers)

    @property
    def restricted(self) -> bool:
        """Whether anything is restricted."""
        return bool(self._restrictions)

    @property
    def _restrictions(self) -> dict[str, object]:
        found = {"papers": self.papers, "sections": self.sections, "kinds": self.kinds}
        return {name: values for name, values in found.items() if values is not None}

    def run(
        self,
        connection: Connection,
        query: str,
        *,
        names: Mapping[str, object] = MappingProxyType({}),
        **values: object,
    ) -> Result[Any]:
        """Run a query within the scope, with these names in its text and these values as its parameters."""
        restrictions = self._restrictions
        condition = " AND ".join(_CONDITIONS[name] for name in restrictions) or "true"
        return connection.execute(text(query.format(scope=condition, **names)), {**restrictions, **values})


@dataclass(frozen=True, kw_only=True, slots=True)
class _Ranked:
    """Texts with their scores, and the terms searched for with the number of texts that contain each."""

    numbers: NDArray[int64]
    scores: NDArray[float64]
    holding: Mapping[str, int]


class _Words:
    """A table of words at one state."""

    def __init__(self, connection: Connection, table: WordTable, state: State, tokenizer: Tokenizer) -> None:
        self._connection = connection
        self._table = table
        self._size, self._words = state.texts[table], state.words[table]
        self._most = RANKED[f"{table}_words"]
        self._tokenizer = tokenizer

    def search(self, question: str, *, owners: Sequence[int] | None, all_of_them: bool) -> _Ranked:
        """Return the texts of these owners that contain words of the question: all words if `all_of_them`, else the
        rarest."""
        expressions = match_terms(question)
        terms = dict(zip(expressions, self._tokenizer.terms(expressions), strict=True))
        known = self._counts({term for words in terms.values() for term in words})
        phrases = {
            key: self._phrase(words, known)
            for key, words in terms.items()
            if len(words) > 1 and min(known.get(word, 0) for word in words) <= self._most
        }
        found = {key: known.get(words[0], 0) for key, words in terms.items() if len(words) == 1}
        found |= {key: count_texts(_joined_phrase(terms[key], rows)) for key, rows in phrases.items()}
        # In the order of the question, in which scores are added up.
        holding = {key: found[key] for key in terms if key in found}
        if not all_of_them and sum(holding.values()) > self._most:
            holding = rarest(holding, most=self._most)
        single = self._postings({terms[key][0] for key in holding if key not in phrases}, owners)
        owned = None if owners is None else set(owners)
        postings = [
            _joined_phrase(terms[key], phrases[key], owners=owned)
            if key in phrases
            else single.get(terms[key][0], _NO_POSTINGS)
            for key in holding
        ]
        numbers, scores = scored(
            list(zip(postings, holding.values(), strict=True)),
            size=self._size,
            mean_length=self._words / max(self._size, 1),
        )
        return _Ranked(numbers=numbers, scores=scores, holding=holding)

    def _counts(self, terms: set[str]) -> dict[str, int]:
        """Return the number of texts that contain each term; unknown ones are left out."""
        query = f"SELECT term, texts FROM search_{self._table}_terms WHERE term = ANY(:terms)"
        return {row.term: row.texts for row in self._connection.execute(text(query), {"terms": sorted(terms)})}

    def _postings(self, terms: set[str], owners: Sequence[int] | None) -> dict[str, Postings]:
        query: str = _POSTINGS.format(table=self._table)
        values: dict[str, object] = {"terms": sorted(terms)}
        if owners is not None:
            query, values = query + _OWNERS, {**values, "owners": owners}
        return _by_term(self._connection.execute(text(query), values).all())

    def _phrase(self, words: Sequence[str], known: Mapping[str, int]) -> Sequence[Row[Any]]:
        """Return the postings of a phrase's words, of all owners that have its rarest word, because they are
        counted."""
        first = min(words, key=lambda word: known.get(word, 0))
        if not known.get(first):
            return ()
        values = {"first": first, "terms": sorted(set(words))}
        return self._connection.execute(text(_PHRASE.format(table=self._table)), values).all()


def _joined_phrase(words: Sequence[str], rows: Sequence[Row[Any]], *, owners: set[int] | None = None) -> Postings:
    """Return the postings of a phrase, of these owners."""
    found = _by_term([row for row in rows if owners is None or row.owner in owners])
    return phrase_postings([found.get(word, _NO_POSTINGS) for word in words])


def _by_term(rows: Sequence[Row[Any]]) -> dict[str, Postings]:
    parts: dict[str, list[bytes]] = defaultdict(list)
    for row in rows:
        parts[row.term].append(row.postings)
    return {term: np.frombuffer(b"".join(found), dtype=POSTING) for term, found in parts.items()}


def search_chunks(
    connection: Connection, state: State, question: str, *, scope: Scope, limit: int, tokenizer: Tokenizer
) -> list[Hit]:
    """Return the allowed chunks that contain words of a question; see `find_candidates`."""
    words = _Words(connection, "chunk", state, tokenizer)
    ranked = words.search(question, owners=scope.papers, all_of_them=scope.restricted)
    best = _best(connection, ranked, _CHUNKS, scope, limit=limit)
    most = max_score(ranked.holding.values(), size=state.texts["chunk"])
    return [Hit(id=hit.id, score=hit.score / most) for hit in best]


def search_names(
    connection: Connection, state: State, question: str, *, scope: Scope, limit: int, tokenizer: Tokenizer
) -> NameHits:
    """Return the entities that a question names in the scope's papers; at most `limit` by their words."""
    papers = scope.of_papers
    found = windows(question)
    keys = {bounded(window.key): window.key for window in found}
    entities: dict[str, set[str]] = defaultdict(set)
    for row in papers.run(connection, _NAMED, keys=sorted(keys)):
        entities[keys[row.key]].add(row.id)
    owners = list(papers.run(connection, _OWNED).scalars()) if papers.restricted else None
    words = _Words(connection, "entity", state, tokenizer)
    ranked = words.search(question, owners=owners, all_of_them=papers.restricted)
    guessed = _best(connection, ranked, _ENTITIES, papers, limit=limit)
    return NameHits(exact=longest_first(found, entities), guessed=guessed)


def _best(connection: Connection, ranked: _Ranked, query: str, scope: Scope, *, limit: int) -> list[Hit]:
    """Return the best texts with their ids, by which ties are broken."""
    numbers, scores = ranked.numbers, ranked.scores
    if limit < len(numbers) and scope == scope.of_papers:
        # Nothing else can be among the best, because only texts of these papers were searched.
        least = np.partition(scores, len(scores) - limit)[len(scores) - limit] if limit else np.inf
        numbers, scores = numbers[scores >= least], scores[scores >= least]
    if not len(numbers):
        return []
    rows = scope.run(connection, query, numbers=numbers.tolist())
    ids = {row.number: row.id for row in rows}
    hits = [
        Hit(id=ids[number], score=score)
        for number, score in zip(numbers.tolist(), scores.tolist(), strict=True)
        if number in ids
    ]
    return sorted(hits, key=lambda hit: (-hit.score, hit.id))[:limit]


def nearest_chunks(
    connection: Connection,
    vectors: Vectors,
    vector: NDArray[float32],
    *,
    scope: Scope,
    limit: int,
    vector_schema: str,
) -> list[Hit]:
    """Return the allowed chunks nearest to a vector, with inner products.

    A question is compared with all allowed vectors, if they are few or have no graph.
    """
    names = {"schema": vector_schema, "dimension": vectors.dimension, "embedder": vectors.embedder}
    values = {"vector": as_halfvec(vector), "limit": limit}
    rows: Sequence[Row[Any]] = ()
    if vectors.graph and _allowed(connection, scope) > COMPARED:
        connection.execute(text(_GRAPH_SETTINGS))
        rows = scope.run(connection, _BY_GRAPH, names=names, **values).all()
    if len(rows) < limit:
        # Or the walk over the graph has ended early, for lack of memory.
        rows = scope.run(connection, _EXACT, names=names, embedder=vectors.embedder, **values).all()
    return [Hit(id=row.id, score=-row.distance) for row in rows]


def _allowed(connection: Connection, scope: Scope) -> int:
    """Return the number of chunks that a scope allows, counted up to one more than are compared."""
    if not scope.restricted:
        return COMPARED + 1
    return int(scope.run(connection, _ALLOWED, most=COMPARED + 1).scalar_one())


def build_graph(connection: Connection, vectors: Vectors, *, vector_schema: str, parallel: bool) -> None:
    """Build the HNSW graph of an embedder's vectors, by several processes if `parallel`. Each later vector is added to
    it."""
    names = {"schema": vector_schema, "dimension": vectors.dimension, "embedder": vectors.embedder}
    needed = int(vectors.chunks * (2 * vectors.dimension + _NODE_BYTES) / 1024)
    connection.execute(text(_BUILD_MEMORY), {"needed": needed})
    if not parallel:
        connection.execute(text("SELECT set_config('max_parallel_maintenance_workers', '0', true)"))
    connection.execute(text(_BUILD_GRAPH.format(**names)))
    query = "UPDATE search_embedders SET graph = true WHERE number = :embedder"
    connection.execute(text(query), {"embedder": vectors.embedder})
