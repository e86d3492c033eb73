"""The examples in the OpenAPI document are what the service returns for the example paper."""

from collections.abc import Mapping
from typing import Any

import httpx2
import pytest
from jsonschema_rs import Draft202012Validator

PAPER = "/v1/papers/b1810c2e3f4a"
REQUESTS = {
    "/v1/papers": "/v1/papers",
    "/v1/papers/{paper}": PAPER,
    "/v1/papers/{paper}/elements": f"{PAPER}/elements?kind=equation&limit=1",
    "/v1/papers/{paper}/elements/{element}": f"{PAPER}/elements/equation-2",
    "/v1/graph": "/v1/graph?entity=Entity%20F1&limit=1",
    "/v1/graph/search": "/v1/graph/search?query=f1&limit=2",
    "/v1/settings": "/v1/settings",
    "/v1/tools/{tool}": "/v1/tools/element?argument=Table%201&paper=b1810c2e3f4a",
    "/v1/graph/entities": "/v1/graph/entities?paper=b1810c2e3f4a&limit=3",
}


@pytest.fixture(scope="module")
def document(address: str) -> Mapping[str, Any]:
    found: Mapping[str, Any] = httpx2.get(f"{address}/openapi.json").json()
    return found


def is_part(example: object, whole: object) -> bool:
    """Whether the example equals the whole, apart from lists that end earlier."""
    if isinstance(example, dict) and isinstance(whole, dict):
        # FastAPI omits null in its document.
        given = {name: value for name, value in whole.items() if value is not None}
        return example.keys() == given.keys() and all(is_part(example[name], given[name]) for name in example)
    if isinstance(example, list) and isinstance(whole, list):
        return len(example) <= len(whole) and all(map(is_part, example, whole))
    return example == whole


@pytest.mark.parametrize("path", REQUESTS)
def test_an_example_and_the_response_obey_the_schema(path: str, address: str, document: Mapping[str, Any]) -> None:
    content = document["paths"][path]["get"]["responses"]["200"]["content"]["application/json"]
    schema = {**content["schema"], "components": document["components"]}
    validator = Draft202012Validator(schema)
    for value in (content["example"], httpx2.get(address + REQUESTS[path]).json()):
        assert [error.message for error in validator.iter_errors(value)] == []


@pytest.mark.parametrize("path", REQUESTS)
def test_an_example_is_what_the_service_gives(path: str, address: str, document: Mapping[str, Any]) -> None:
    example = document["paths"][path]["get"]["responses"]["200"]["content"]["application/json"]["example"]
    whole = httpx2.get(address + REQUESTS[path]).json()
    assert is_part(example, whole), whole


@pytest.mark.slow
def test_the_examples_of_parameters_lead_to_a_response(address: str, document: Mapping[str, Any]) -> None:
    tried = 0
    for path, operations in document["paths"].items():
        parameters = operations.get("get", {}).get("parameters", ())
        needed = [one for one in parameters if one["required"]]
        if not path.startswith(("/v1/papers", "/v1/graph", "/v1/crops", "/v1/tools")) or not needed:
            continue
        values = {one["name"]: one["schema"]["examples"][0] for one in needed}
        query = {one["name"]: values[one["name"]] for one in needed if one["in"] == "query"}
        assert httpx2.get(address + path.format(**values), params=query).status_code == 200, path
        tried += 1
    assert tried >= 10
