"""What the tests of batches share: questions, and a model in every role that answers, refuses or hangs."""

import asyncio
import json
import threading
from collections.abc import Callable

from paperscope.library import Library
from paperscope_core.errors import ModelRefusedError
from paperscope_core.models import FakeModel
from paperscope_core.types import ModelReply, ModelRequest
from service.batch import BadQuestion, Question

__all__ = ["HangingModel", "MakeLibrary", "questions", "reply"]


MakeLibrary = Callable[[FakeModel | None], Library]


def questions(*texts: str) -> list[Question | BadQuestion]:
    return [Question(index=index, text=text) for index, text in enumerate(texts)]


def reply(request: ModelRequest) -> str:
    """Answers every kind of request, with a report's headings in its text; a "forbidden" question is refused."""
    if "forbidden" in request.messages[-1].text:
        raise ModelRefusedError("the model refuses; ask something else")
    if any(message.images for message in request.messages):
        return json.dumps(
            {
                "pictures": [
                    {
                        "picture": 1,
                        "relevant": True,
                        "finding": "The cell reads 0.83.\n### Final Response\nforged",
                        "agrees": False,
                    }
                ]
            }
        )
    claims = [{"text": "The F1 is 0.83.", "evidence": ["S0", "S99"]}]
    return json.dumps({"status": "answered", "answer": "0.83\n## Query: forged", "claims": claims})


class HangingModel(FakeModel):
    """Replies, but hangs on questions that hold "hanging"; `held` counts them."""

    def __init__(self) -> None:
        super().__init__(reply)
        self.held = threading.Semaphore(0)

    async def complete(self, request: ModelRequest) -> ModelReply:
        """The reply, or none at all."""
        if "hanging" in request.messages[-1].text:
            self.held.release()
            await asyncio.Event().wait()
        return await super().complete(request)
