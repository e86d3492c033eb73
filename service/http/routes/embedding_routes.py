"""`POST /v1/embeddings`, in OpenAI's form: vectors of texts by the library's own embedder.

https://platform.openai.com/docs/api-reference/embeddings
"""

import base64
from typing import Annotated, Literal

from fastapi import APIRouter, Request, Response
from numpy import float32
from numpy.typing import NDArray
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StrictInt

from paperscope_core.models.token_counting import count_tokens
from paperscope_core.types import Usage
from service.http.answering import QuestionRunnerOf, cancel_on_disconnect
from service.http.chat_protocol import ALL_PAPERS, TokenUsage
from service.http.problems import OPENAI_ERRORS, ProblemError

__all__ = ["router"]

router = APIRouter(prefix="/v1", tags=["openai"], responses=OPENAI_ERRORS)

# As OpenAI's; the body has its own limit of size.
_MOST_TEXTS = 2048
_Texts = Annotated[
    list[Annotated[str, Field(min_length=1)]],
    BeforeValidator(lambda texts: [texts] if isinstance(texts, str) else texts, json_schema_input_type=str | list[str]),
    Field(min_length=1, max_length=_MOST_TEXTS),
]


class EmbeddingBody(BaseModel):
    """Texts to embed; other fields are ignored."""

    model_config = ConfigDict(json_schema_extra={"example": {"model": ALL_PAPERS, "input": ["Owls see at night."]}})

    model: str = Field(default=ALL_PAPERS, min_length=1, max_length=1000)
    input: _Texts
    encoding_format: Literal["float", "base64"] | None = None
    dimensions: StrictInt | None = None


class Embedding(BaseModel):
    """The vector of a text, as numbers or as little-endian 32-bit floats in Base64."""

    object: Literal["embedding"] = "embedding"
    index: int
    embedding: list[float] | str


class EmbeddingList(BaseModel):
    """The vectors in the order of the texts, and the estimated tokens of these."""

    object: Literal["list"] = "list"
    data: list[Embedding]
    model: str
    usage: TokenUsage


@router.post("/embeddings", summary="Embed texts in OpenAI's form", response_model=EmbeddingList)
async def embed(request: Request, body: EmbeddingBody, runner: QuestionRunnerOf) -> Response:
    """Return a unit-length vector of each text, by the embedder with which the library is searched; the model is
    `paperscope`. Token ids are refused, and so is another number of `dimensions`."""
    if body.model != ALL_PAPERS:
        raise ProblemError(404, "model-not-found", f"There is no embedder {body.model!r}; take {ALL_PAPERS!r}.")

    async def work() -> NDArray[float32]:
        async with runner.lend() as library:
            return await library.embed_async(body.input)

    vectors = await cancel_on_disconnect(request, work())
    if body.dimensions not in (None, vectors.shape[1]):
        raise ProblemError(400, "unsupported", f"The vectors have {vectors.shape[1]} dimensions; leave dimensions out.")
    written = [Embedding(index=at, embedding=_written(one, body.encoding_format)) for at, one in enumerate(vectors)]
    usage = TokenUsage.of(Usage(prompt_tokens=sum(map(count_tokens, body.input))))
    reply = EmbeddingList(data=written, model=body.model, usage=usage)
    return Response(reply.model_dump_json(), media_type="application/json")


def _written(vector: NDArray[float32], form: str | None) -> list[float] | str:
    if form == "base64":
        return base64.b64encode(vector.astype("<f4").tobytes()).decode()
    return [float(value) for value in vector]
