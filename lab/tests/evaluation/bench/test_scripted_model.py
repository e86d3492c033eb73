"""The scripted model: each system gets a reply in its own form, and its calls are counted."""

import json
from collections import Counter
from typing import Any

import httpx2
from paperscope_lab.evaluation.bench.scripted_model import reply_to, scripted_model, traffic_of

TEXT = "The Lagoon feeds Herons. No names here."
PICTURE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}


def body(*texts: str, pictures: int = 0, schema: tuple[str, ...] = ()) -> dict[str, Any]:
    contents: list[object] = [*texts[:-1], [{"type": "text", "text": texts[-1]}, *[PICTURE] * pictures]]
    found = {"model": "any", "messages": [{"role": "user", "content": content} for content in contents]}
    form = {
        "type": "json_schema",
        "json_schema": {"name": "any", "schema": {"properties": {name: {} for name in schema}}},
    }
    return {**found, "response_format": form} if schema else found


def test_a_schema_gets_its_properties() -> None:
    found = json.loads(reply_to(body(f"<<<C1 0f\n{TEXT}\nC1 0f>>>", schema=("entities", "relations"))))
    assert [entity["mention"] for entity in found["entities"]] == ["Lagoon", "Herons"]
    assert json.loads(reply_to(body("P1 []\nP2 []", schema=("pairs",))))["pairs"][1]["pair"] == "P2"
    assert len(json.loads(reply_to(body("Read.", pictures=2, schema=("pictures",))))["pictures"]) == 2


def test_a_passage_has_as_many_names_for_every_system() -> None:
    passage = f"{TEXT} {'The Delta feeds Otters. ' * 40}"
    ours = json.loads(reply_to(body(f"<<<C1 0f\n{passage}\nC1 0f>>>", schema=("entities", "relations"))))
    rows = reply_to(body("Extract.", f"---Input Text---\n```\n{passage}\n```\n")).splitlines()
    assert rows[-1] == "<|COMPLETE|>"
    names = [row.split("<|#|>")[1] for row in rows if row.startswith("entity")]
    assert names == [entity["mention"] for entity in ours["entities"]]
    assert sum(row.startswith("relation") for row in rows) == len(ours["relations"]) > 0


def test_lightrag_gets_keywords_and_paperqa_scores_and_keys() -> None:
    keywords = json.loads(reply_to(body("two lists, `high_level_keywords`\nUser Query: Where do herons breed?")))
    assert keywords == {"high_level_keywords": ["Where", "herons"], "low_level_keywords": ["breed"]}
    assert json.loads(reply_to(body('{"relevance_score": 0-10}', TEXT)))["summary"] == TEXT
    assert "(pqac-0123abcd)" in reply_to(body("Valid Keys: pqac-0123abcd, pqac-4567abcd\n"))


def test_characters_and_pictures_are_counted() -> None:
    assert traffic_of(body("abc", "de", pictures=1)) == Counter(calls=1, characters=len('abcde""'), pictures=1)
    assert traffic_of(body("abc", schema=("answer",)))["characters"] > len("abc")
    assert traffic_of({"input": ["abc"]}) == Counter(embeddings=1)


def test_the_server_answers_and_counts() -> None:
    traffic: Counter[str] = Counter()
    with scripted_model(traffic, seconds=0.0) as url:
        sent = (body("Why?"), {"model": "any", "input": ["A heron", "a heron!"]})
        replies = [httpx2.post(url, json=one).json() for one in sent]
    assert replies[0]["choices"][0]["message"]["content"]
    assert replies[1]["data"][0]["embedding"] == replies[1]["data"][1]["embedding"]
    assert (traffic["calls"], traffic["embeddings"]) == (1, 1)
