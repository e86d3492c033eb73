"""Half of a character (a lone surrogate), which JSON can write and nothing else can hold, is never an error of the
service, wherever it stands in a body.

What is sent is made from the OpenAPI document, so that a field that is new there is tried as well.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any

import httpx2
import pytest

from tests.model_server import serve
from tests.service.conftest import settings_in
from tests.service.http.requests import post
from tests.service.servers import embedder_settings, job_of, serve_app, upload

HALF = "What is \ud800 here?"
# As a client sends it that encodes without checking.
RAW = HALF.encode("utf-8", "surrogatepass")
FIELDS = ["question", "answer", "type", "answer_format", "papers", "sections", "kinds", "years", HALF]

Json = Any


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("half")
    with (
        serve() as model,
        serve_app(settings_in(folder, **embedder_settings(model.url), **{"service.folders": [str(folder)]})) as address,
    ):
        assert job_of(upload(address, b"# Who?\n\nNobody knows who is here."), address)["state"] == "succeeded"
        yield address


@pytest.fixture(scope="module")
def bodies(address: str) -> dict[str, dict[str, Json]]:
    """The schemas of request bodies in the OpenAPI document, by path and media type."""
    document = httpx2.get(f"{address}/openapi.json").json()
    parts = document["components"]["schemas"]
    return {
        path: {kind: _resolved(given["schema"], parts) for kind, given in one["post"]["requestBody"]["content"].items()}
        for path, one in document["paths"].items()
        if "requestBody" in one.get("post", {})
    }


def _resolved(schema: Json, parts: Mapping[str, Json]) -> Json:
    """A schema with its references resolved."""
    if isinstance(schema, list):
        return [_resolved(one, parts) for one in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        return _resolved(parts[schema["$ref"].rpartition("/")[2]], parts)
    return {name: _resolved(one, parts) for name, one in schema.items()}


def sound(schema: Json) -> Json:
    """A valid value of a schema."""
    if "anyOf" in schema:
        return sound(schema["anyOf"][0])
    if "const" in schema or "enum" in schema:
        options = [schema["const"]] if "const" in schema else schema["enum"]
        # A chat without a question is refused for that reason.
        return "user" if "user" in options else options[0]
    if schema.get("type") == "array":
        return [sound(one) for one in schema.get("prefixItems") or [schema["items"]]]
    if schema.get("type") == "object":
        return {name: sound(schema["properties"][name]) for name in schema.get("required", ())}
    return {"string": "Who?", "integer": 1, "number": 1.0, "boolean": False}.get(schema.get("type", ""))


def spoiled(schema: Json) -> Iterator[Json]:
    """Values with a lone surrogate in one place: each string, each key of an object, and each untyped value."""
    for one in schema.get("anyOf", ()):
        yield from spoiled(one)
    kind = schema.get("type")
    if kind == "string":
        yield HALF
    elif kind == "array" and "items" in schema:
        yield from ([one] for one in spoiled(schema["items"]))
    elif kind == "object":
        whole = sound(schema)
        for name, one in schema.get("properties", {}).items():
            yield from ({**whole, name: value} for value in spoiled(one))
        yield {**whole, HALF: HALF}
        if "properties" not in schema:
            yield from ({"question": "Who?", name: value} for name in FIELDS for value in (HALF, [HALF], {HALF: HALF}))
            yield from ({"question": "Who?", "filters": {name: [HALF]}} for name in FIELDS)
    elif not schema:
        yield from (HALF, {HALF: HALF})


def part(disposition: bytes, content: bytes) -> bytes:
    return b"--x\r\nContent-Disposition: form-data; " + disposition + b"\r\n\r\n" + content + b"\r\n"


def multipart(fields: Mapping[str, bytes], *, name: bytes, content: bytes) -> bytes:
    """A form with a file of this name and further fields."""
    texts = b"".join(part(b'name="' + field.encode() + b'"', value) for field, value in fields.items())
    return texts + part(b'name="file"; filename="' + name + b'"', content) + b"--x--\r\n"


def forms(schema: Json) -> Iterator[bytes]:
    """Forms with such bytes in a field, in the file's name, in its content, and in a field's name."""
    texts = [name for name, one in schema["properties"].items() if one.get("format") != "binary"]
    for text in texts:
        yield multipart({text: RAW}, name=b"a.md", content=b"Who?")
    yield multipart({}, name=RAW + b".md", content=b"Who?")
    yield multipart({}, name=b"a.md", content=RAW)
    yield part(b'name="' + RAW + b'"', RAW) + multipart({}, name=b"a.md", content=b"Who?")


def question_files() -> Iterator[bytes]:
    """Forms with question files that have a lone surrogate in each field."""
    values = (HALF, [HALF], {"papers": [HALF]})
    lines = [json.dumps({"question": "Who?", name: value}) for name in FIELDS for value in values]
    yield multipart({}, name=b"a.jsonl", content="\n".join(lines).encode())
    raw = b'{"question": "Who?", "answer": "' + RAW + b'"}'
    yield multipart({}, name=b"a.jsonl", content=raw)
    columns = ",".join(FIELDS).encode("utf-8", "surrogatepass")
    yield multipart({}, name=b"a.csv", content=columns + b"\n" + b",".join([RAW] * len(FIELDS)))


def follow(address: str, response: httpx2.Response) -> None:
    """Check that an accepted job ends and that its results can be read."""
    assert job_of(response, address)["state"] in ("succeeded", "failed")
    for file in ("", "/results/answers.jsonl", "/results/answers.csv", "/results/report.md"):
        assert httpx2.get(f"{address}{response.headers['location']}{file}", timeout=60).status_code in (200, 404)


@pytest.mark.slow
def test_no_half_character_in_a_json_body_is_an_error_of_the_service(
    address: str, bodies: Mapping[str, Mapping[str, Json]]
) -> None:
    assert len(bodies) >= 5
    for path, kinds in bodies.items():
        values = list(spoiled(kinds["application/json"]))
        assert len(values) >= 2, path
        accepted = []
        for value in values:
            response = post(address, path, value)
            assert response.status_code < 500, (path, value, response.text)
            accepted += [response] if response.status_code == 202 else []
        for response in accepted:
            follow(address, response)
    assert httpx2.get(f"{address}/v1/jobs").status_code == 200


@pytest.mark.slow
def test_no_half_character_in_a_form_is_an_error_of_the_service(
    address: str, bodies: Mapping[str, Mapping[str, Json]]
) -> None:
    kind = "multipart/form-data"
    with_forms = {path: kinds[kind] for path, kinds in bodies.items() if kind in kinds}
    assert len(with_forms) >= 2
    for path, schema in with_forms.items():
        taken, accepted = 0, []
        for body in (*forms(schema), *(question_files() if path == "/v1/batch" else ())):
            headers = {"Content-Type": f"{kind}; boundary=x"}
            response = httpx2.post(address + path, content=body, headers=headers, timeout=60)
            assert response.status_code < 500, (path, body, response.text)
            taken += response.is_success
            accepted += [response] if response.status_code == 202 else []
        assert taken, path
        for response in accepted:
            follow(address, response)
    assert httpx2.get(f"{address}/v1/jobs").status_code == 200
    assert httpx2.get(f"{address}/v1/papers").status_code == 200
