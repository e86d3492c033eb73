"""`paperscope ask`: one question, its answer printed."""

from collections.abc import Sequence
from pathlib import Path

import typer

from paperscope.cli.display import answer_view, element_name, stderr, stdout
from paperscope.codec import from_json, to_json
from paperscope.errors import InputError
from paperscope.library import Library
from paperscope.types import Answer, Filters, Turn

__all__ = ["ask_one", "read_history"]


def ask_one(
    library: Library, question: str, *, filters: Filters, history: Sequence[Turn] = (), as_json: bool = False
) -> None:
    """Ask, tell what is being done, and print the answer."""
    with stderr().status("") as status:
        answer = library.ask(
            question, filters=filters, history=history, on_stage=lambda stage: status.update(f"{stage} …")
        )
    if as_json:
        typer.echo(to_json(answer, indent=2))
    else:
        stdout().print(answer_view(answer, name_of=lambda element: element_name(library.element(element))))


def read_history(files: Sequence[Path]) -> list[Turn]:
    """The turns that answers in files end. Raises InputError."""
    turns = []
    for file in files:
        try:
            turns.append(Turn.of(from_json(Answer, file.read_text(encoding="utf-8"))))
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else "it holds no answer"
            raise InputError(f"--after {file}: {reason}; name a file that `paperscope ask --json` wrote") from error
    return turns
