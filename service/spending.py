"""What the service spends on models, told call by call: for which work, and by which role."""

from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass

from paperscope.models import OnRoleCall
from paperscope.types import ModelCall

__all__ = ["OnSpent", "Spent", "current_work", "spending"]

current_work: ContextVar[str] = ContextVar("current_work", default="answer")
"""What is being done: a question's "answer", or a job of this kind ("add", "batch")."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Spent:
    """A model's call that has ended; nothing in it names a library, a paper, or who asked."""

    work: str
    role: str
    call: ModelCall


OnSpent = Callable[[Spent], None]


def spending(on_spent: OnSpent) -> OnRoleCall:
    """For `Libraries`: passes their calls on, each with the work that caused it."""

    def on_call(role: str, call: ModelCall) -> None:
        on_spent(Spent(work=current_work.get(), role=role, call=call))

    return on_call
