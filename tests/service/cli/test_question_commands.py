"""`paperscope ask` in a terminal: the draft is shown while it is written."""

import io
from collections.abc import Callable
from typing import cast

import pytest
from rich.console import Console
from rich.status import Status
from rich.text import Text

from paperscope.library import Library
from paperscope_core.types import Answer, AskRequest, Context, TextEvent
from service.cli.question_commands import _ask_visibly

ANSWER = Answer(question="How many?", status="answered", text="Two.", claims=(), context=Context())


class Asked:
    """A library whose answer is merged after its first draft."""

    async def answer(
        self, _request: AskRequest, *, on_stage: Callable[[str], None], on_text: Callable[[TextEvent], None] | None
    ) -> Answer:
        on_stage("answering")
        for event in (TextEvent(text="Thr"), TextEvent(text="ee."), TextEvent(text="Two.", anew=True)):
            if on_text is not None:
                on_text(event)
        on_stage("verifying")
        return ANSWER


class Line:
    """What a status line showed."""

    def __init__(self) -> None:
        self.shown: list[str] = []

    def update(self, text: Text) -> None:
        self.shown.append(text.plain)


@pytest.mark.parametrize("terminal", [True, False])
async def test_a_draft_is_shown_and_replaced_in_a_terminal(monkeypatch: pytest.MonkeyPatch, *, terminal: bool) -> None:
    screen = Console(file=io.StringIO(), force_terminal=terminal)
    monkeypatch.setattr("service.cli.question_commands.stderr", lambda: screen)
    line = Line()
    answer = await _ask_visibly(cast("Library", Asked()), AskRequest(question="How many?"), cast("Status", line))
    assert answer is ANSWER
    drafts = ["answering …\nThr", "answering …\nThree.", "answering …\nTwo."] if terminal else []
    last = "verifying …\nTwo." if terminal else "verifying …"
    assert line.shown == ["answering …", *drafts, last]
