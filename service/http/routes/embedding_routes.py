"""`POST /v1/embeddings`, in OpenAI's form: vectors of texts by the library's own embedder.

https://platform.openai.com/docs/api-reference/embeddings
"""

import base64
import json
from typing import Annotated, Literal

from fastapi import APIRouter, Request, Response
from numpy import float32
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, StrictInt, field_validator

from paperscope_core.models.token_counting import count_tokens
from paperscope_core.text.escaping import is_encodable
from service.http.answering import QuestionRunnerOf, cancel_on_disconnect
from service.http.chat_protocol import ALL_PAPERS
from service.http.problems import OPENAI_ERRORS, ProblemError

__all__ = ["router"]

router = APIRouter(prefix="/v1", tags=["openai"], responses=OPENAI_ERRORS)

# As OpenAI's; the body has its own limit of size.
_MOST_TEXTS = 2048
_Text = Annotated[str, Field(min_length=1)]


class EmbeddingBody(BaseModel):
    """Texts to embed; other fields are ignored."""

    model_config = ConfigDict(json_schema_extra={"example": {"model": ALL_PAPERS, "input": ["Owls see at night."]}})

    model: str = Field(default=ALL_PAPERS, min_length=1, max_length=1000)
    input: _Text | Annotated[list[_Text], Field(min_length=1, max_length=_MOST_TEXTS)]
    encoding_format: Literal["float", "base64"] | None = None
    dimensions: StrictInt | None = None

    @field_validator("input")
    @classmethod
    def _refuse_surrogates(cls, texts: str | list[str]) -> str | list[str]:
        # Within a union, Pydantic admits lone surrogates, which can't be encoded.
        if not all(map(is_encodable, [texts] if isinstance(texts, str) else texts)):
            raise ValueError("holds half of a character (a lone surrogate)")
        return texts


class Embedding(BaseModel):
    """The vector of a text, as numbers or as little-endian 32-bit floats in Base64."""

    object: Literal["embedding"] = "embedding"
    index: int
    embedding: list[float] | str


class EmbeddingUsage(BaseModel):
    """The estimated tokens of the texts."""

    prompt_tokens: int
    total_tokens: int


class EmbeddingList(BaseModel):
    """The vectors in the order of the texts."""

    object: Literal["list"] = "list"
    data: list[Embedding]
    model: str
    usage: EmbeddingUsage


@router.post("/embeddings", summary="Embed texts in OpenAI's form", response_model=EmbeddingList)
async def embed(request: Request, body: EmbeddingBody, runner: QuestionRunnerOf) -> Response:
    """Return a unit-length vector of each text, by the embedder with which the library is searched; the model is
    `paperscope`. Token ids are refused, and so is another number of `dimensions`."""
    if body.model != ALL_PAPERS:
        raise ProblemError(404, "model-not-found", f"There is no embedder {body.model!r}; take {ALL_PAPERS!r}.")
    texts = [body.input] if isinstance(body.input, str) else body.input

    async def work() -> NDArray[float32]:
        async with runner.lend() as library:
            return await library.embed_async(texts)

    vectors = await cancel_on_disconnect(request, work())
    if body.dimensions not in (None, vectors.shape[1]):
        raise ProblemError(400, "unsupported", f"The vectors have {vectors.shape[1]} dimensions; leave dimensions out.")
    tokens = sum(map(count_tokens, texts))
    data = [
        {"object": "embedding", "index": index, "embedding": _written(vector, body.encoding_format)}
        for index, vector in enumerate(vectors)
    ]
    usage = {"prompt_tokens": tokens, "total_tokens": tokens}
    reply = {"object": "list", "data": data, "model": body.model, "usage": usage}
    return Response(json.dumps(reply), media_type="application/json")


def _written(vector: NDArray[float32], form: str | None) -> list[float] | str:
    if form == "base64":
        return base64.b64encode(vector.astype("<f4").tobytes()).decode()
    return [float(value) for value in vector]
