"""A language model's verdict on an answer. It decides no figure of ours: its verdicts are reported apart."""

from collections.abc import Sequence

from pydantic import BaseModel, ConfigDict

import prompts
from paperscope_core.models import ask_json
from paperscope_core.protocols import LanguageModel
from paperscope_core.types import Message, ModelRequest
from prompts import as_data

__all__ = ["Judge", "Verdict"]


class Verdict(BaseModel):
    """Whether the answer agrees with the gold, and what decided."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    reason: str
    right: bool


class Judge:
    """Asks `model` with a prompt of the project: the report names the model, and its code hash covers the prompt."""

    def __init__(self, model: LanguageModel) -> None:
        self._model = model
        self._prompt = prompts.load("judge_answer", placeholders=frozenset({"question", "gold", "answer"}))

    async def judge(self, question: str, references: Sequence[str], answer: str) -> Verdict:
        """The verdict on an answer that was given. Raises ModelError."""
        system, user = self._prompt.fill(question=question, gold=as_data("\n".join(references)), answer=as_data(answer))
        messages = (Message(role="system", text=system), Message(role="user", text=user))
        verdict, _ = await ask_json(self._model, ModelRequest(messages=messages, schema_name="verdict"), Verdict)
        return verdict
