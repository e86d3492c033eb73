"""OpenAI's client gets vectors from the service, and OpenAI's errors."""

import json
from collections.abc import Iterator

import httpx2
import numpy as np
import openai
import pytest

TEXTS = ["Owls see at night.", "Owls have good night vision.", "The recall is 0.97."]


@pytest.fixture(scope="module")
def client(address: str) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=f"{address}/v1", api_key="none", max_retries=0, timeout=120) as client:
        yield client


def test_texts_are_embedded_in_order(client: openai.OpenAI) -> None:
    # The client asks for Base64 unless it is told otherwise.
    coded = client.embeddings.create(model="paperscope", input=TEXTS)
    plain = client.embeddings.create(model="paperscope", input=TEXTS, encoding_format="float", dimensions=384)
    assert [one.index for one in coded.data] == [0, 1, 2]
    vectors = np.array([one.embedding for one in coded.data])
    assert np.allclose(vectors, [one.embedding for one in plain.data])
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-5)
    assert vectors[0] @ vectors[1] > 0.5 > vectors[0] @ vectors[2]
    assert (coded.model, coded.usage.prompt_tokens == coded.usage.total_tokens > 10) == ("paperscope", True)
    (one,) = client.embeddings.create(model="paperscope", input=TEXTS[0]).data
    assert np.allclose(one.embedding, vectors[0], atol=1e-5)


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({"input": []}, 400, "invalid_request"),
        ({"input": ""}, 400, "invalid_request"),
        ({"input": [1, 2, 3]}, 400, "invalid_request"),
        ({"input": ["\ud800"]}, 400, "invalid_request"),
        ({"input": ["a"] * 2049}, 400, "invalid_request"),
        ({"input": "a", "encoding_format": "int8"}, 400, "invalid_request"),
        ({"input": "a", "dimensions": 12}, 400, "unsupported"),
        ({"input": "a", "model": "text-embedding-3-small"}, 404, "model_not_found"),
    ],
)
def test_what_cannot_be_embedded_is_refused_as_openai_does(
    address: str, body: dict[str, object], status: int, code: str
) -> None:
    # httpx can't encode half of a character.
    content, kind = json.dumps({"model": "paperscope", **body}), {"Content-Type": "application/json"}
    refused = httpx2.post(f"{address}/v1/embeddings", content=content, headers=kind)
    error = refused.json()["error"]
    assert (refused.status_code, error["code"]) == (status, code)
    assert error["type"] == ("not_found_error" if status == 404 else "invalid_request_error")
    assert error["message"]
