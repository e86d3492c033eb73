"""A scripted OpenAI-compatible server that counts what it is sent and answers each call after the same time."""

import asyncio
import json
import re
import socket
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from threading import Thread
from typing import Any
from zlib import crc32

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from uvicorn import Config, Server

__all__ = ["reply_to", "scripted_model", "traffic_of"]

_ANSWER = "The papers describe what was asked, with its values."
_DIMENSION = 1536  # of text-embedding-3-small, the default of both peers
_CHARACTERS_PER_NAME = 400
_USAGE = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}


def _parts(body: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    contents = [message.get("content") or "" for message in body["messages"]]
    return [part for one in contents for part in ([{"text": one}] if isinstance(one, str) else one)]


def traffic_of(body: Mapping[str, Any]) -> Counter[str]:
    """Count a request: its calls, characters (with those of its schema), pictures and calls for embeddings."""
    if "input" in body:
        return Counter(embeddings=1)
    parts = _parts(body)
    characters = len(json.dumps(body.get("response_format", ""))) + sum(len(part.get("text", "")) for part in parts)
    return Counter(calls=1, characters=characters, pictures=sum("image_url" in part for part in parts))


def reply_to(body: Mapping[str, Any]) -> str:
    """Return what the asking system expects: JSON of its schema, its own format, or an answer."""
    texts = [part["text"] for part in _parts(body) if "text" in part]
    text, last = "\n".join(texts), texts[-1]
    if form := body.get("response_format", {}).get("json_schema"):
        values = _values(text, pictures=traffic_of(body)["pictures"])
        return json.dumps({name: values[name] for name in form["schema"]["properties"]})
    # LightRAG's prompts: passages, and passages once more.
    found = re.search(r"---Input Text---\n```\n(.*)\n```", last, re.DOTALL)
    if found or "Based on the last extraction task" in last:
        entities, relations = _graph(found[1] if found else "")
        rows = [["entity", name, "Concept", said] for name, said in entities]
        rows += [["relation", *pair, "related to", said] for *pair, said in relations]
        return "\n".join([*map("<|#|>".join, rows), "<|COMPLETE|>"])
    if "high_level_keywords" in text:
        words = re.findall(r"\w{5,}", last.rpartition("User Query:")[2])[:8]
        return json.dumps({"high_level_keywords": words[:2], "low_level_keywords": words[2:]})
    # PaperQA's prompts: evidence, pictures, and the answer, which cites a key.
    if '"relevance_score"' in text:
        return json.dumps({"summary": last[:400], "relevance_score": 8, "used_images": False})
    keys = re.findall(r"pqac-[0-9a-f]{8}", last.rpartition("Valid Keys:")[2].partition("\n")[0])
    return " ".join(["RELEVANT:" * ("'IRRELEVANT:'" in last), _ANSWER, *(f"({key})" for key in keys[:1])]).strip()


def _values(text: str, *, pictures: int) -> Mapping[str, object]:
    """Return the values of all properties of Paperscope's schemas."""
    passages = [block.partition("\n") for block in text.split("<<<") if re.match(r"C\d+ [0-9a-f]+\n", block)]
    graphs = [(mark.split()[0], *_graph(passage.partition(f"\n{mark}>>>")[0])) for mark, _, passage in passages]
    named = [
        {"chunk": chunk, "mention": name, "description": said} for chunk, names, _ in graphs for name, said in names
    ]
    related = [(chunk, *relation) for chunk, _, relations in graphs for relation in relations]
    relation = ("chunk", "source", "target", "evidence")
    pairs, terms = (re.findall(rf"^({form})", text, re.MULTILINE) for form in (r"P\d+(?= \[)", r"T\d+(?= \{)"))
    read = {"finding": _ANSWER, "relevant": True, "agrees": True}
    empty: Mapping[str, object] = {name: [] for name in ("visible_text", "data_points", "look_up")}
    return {**empty, "kind": "other", "description": _ANSWER, "latex": "", "status": "answered", "answer": _ANSWER} | {
        "entities": [{**one, "type": "concept"} for one in named],
        "relations": [dict(zip(relation, one, strict=True), kind="related to") for one in related],
        "pairs": [{"pair": pair, "reason": _ANSWER, "same": False} for pair in pairs],
        "terms": [{"term": term, "summary": _ANSWER} for term in terms],
        "pictures": [{"picture": number, **read} for number in range(1, pictures + 1)],
        "claims": [{"text": _ANSWER, "evidence": ["S0"]}],
    }


def _graph(text: str) -> tuple[list[tuple[str, str]], list[tuple[str, str, str]]]:
    """Return names and pairs of names, each with its sentence: as many per character for every system."""
    entities: dict[str, str] = {}
    relations = []
    for sentence in map(" ".join, map(str.split, re.split(r"(?<=[.!?])\s+", text))):
        names = list(dict.fromkeys(re.findall(r"\b[A-Z][A-Za-z-]{3,}\b", sentence)))[:2]
        if len(entities.keys() | names) <= 2 + len(text) // _CHARACTERS_PER_NAME:
            entities = dict.fromkeys(names, sentence) | entities
            relations += [(names[0], name, sentence) for name in names[1:]]
    return list(entities.items()), relations


def _response(body: Mapping[str, Any]) -> Mapping[str, object]:
    if "input" not in body:
        choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": reply_to(body)}}
        return {"id": "1", "object": "chat.completion", "created": 1, "choices": [choice], "usage": _USAGE}
    data = []
    for index, text in enumerate([body["input"]] if isinstance(body["input"], str) else body["input"]):
        # Hashed words, so that texts of the same words are near each other.
        words = Counter(crc32(word.encode()) % _DIMENSION for word in ["", *re.findall(r"\w+", text.lower())])
        data.append({"index": index, "embedding": [float(words[place]) for place in range(_DIMENSION)]})
    return {"object": "list", "model": body["model"], "data": data, "usage": _USAGE}


@contextmanager
def scripted_model(traffic: Counter[str], *, seconds: float) -> Iterator[str]:
    """Yield the address of a server that adds to `traffic`; it answers each call after `seconds`."""

    async def answer(request: Request) -> Response:
        body = await request.json()
        traffic.update(traffic_of(body))
        await asyncio.sleep(seconds)
        return JSONResponse(_response(body))

    app = Starlette(routes=[Route("/{path:path}", answer, methods=["POST"])])
    server = Server(Config(app, log_config=None))
    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = Thread(target=server.run, args=([listening],))
        thread.start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/v1"
        server.should_exit = True
        thread.join()
