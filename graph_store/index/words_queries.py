"""What the text index asks its SQLite file."""

__all__ = ["CHUNKS", "ENTITIES", "FREQUENCIES", "NAMED", "NUMBERS", "SECTIONS"]

# Lists travel as JSON: the queries stay constant, whatever their length. An empty one (NULL) means all.
NUMBERS = """
SELECT number FROM chunks
WHERE (:papers IS NULL OR paper IN (SELECT value FROM json_each(:papers)))
AND (:sections IS NULL OR section IN (SELECT value FROM json_each(:sections)))
AND (:kinds IS NULL OR kind IN (SELECT value FROM json_each(:kinds)))
ORDER BY number
"""
SECTIONS = """
SELECT DISTINCT section FROM chunks
WHERE :papers IS NULL OR chunks.paper IN (SELECT value FROM json_each(:papers))
"""
CHUNKS = """
SELECT chunks.id, bm25(chunk_words) AS rank
FROM chunk_words JOIN chunks ON chunks.number = chunk_words.rowid
WHERE chunk_words MATCH :expression
AND (:papers IS NULL OR chunks.paper IN (SELECT value FROM json_each(:papers)))
AND (:sections IS NULL OR chunks.section IN (SELECT value FROM json_each(:sections)))
AND (:kinds IS NULL OR chunks.kind IN (SELECT value FROM json_each(:kinds)))
ORDER BY rank, chunks.id LIMIT :limit
"""
ENTITIES = """
SELECT entities.id, bm25(entity_words) AS rank
FROM entity_words JOIN entities ON entities.number = entity_words.rowid
WHERE entity_words MATCH :expression
AND (:papers IS NULL OR EXISTS (
    SELECT 1 FROM names
    WHERE names.entity = entities.id AND names.paper IN (SELECT value FROM json_each(:papers))
))
ORDER BY rank, entities.id LIMIT :limit
"""
FREQUENCIES = """
SELECT wanted.value, (SELECT count(*) FROM (SELECT 1 FROM {table} WHERE {table} MATCH wanted.value LIMIT :most))
FROM json_each(:terms) AS wanted
"""
NAMED = """
SELECT DISTINCT names.key, names.entity
FROM json_each(:keys) AS wanted CROSS JOIN names ON names.key = wanted.value
WHERE :papers IS NULL OR names.paper IN (SELECT value FROM json_each(:papers))
"""
