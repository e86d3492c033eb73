"""Question files: JSON lines with at least the key `question` (DocBench's form); other keys are the gold answer's."""

from dataclasses import dataclass
from pathlib import Path

from pydantic_core import from_json

from paperscope.errors import QuestionFileError

__all__ = ["BadQuestion", "Question", "load_questions"]

_SHOWN = 80


@dataclass(frozen=True, kw_only=True, slots=True)
class Question:
    """A question with its position in the file (from 0); `gold` is the expected answer where the file gives one."""

    index: int
    text: str
    gold: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class BadQuestion:
    """A line that can't be read as a question, kept so that its row stands in its place in the results."""

    index: int
    text: str
    reason: str


def load_questions(file: Path) -> list[Question | BadQuestion]:
    """Read a question file; raise QuestionFileError when there is no question in it to ask.

    A malformed line becomes a `BadQuestion`; blank lines are passed over.
    """
    try:
        lines = file.read_text(encoding="utf-8-sig").splitlines()
    except UnicodeDecodeError as error:
        raise QuestionFileError(f"{file}: not UTF-8 text ({error.reason} at byte {error.start})") from error
    except OSError as error:
        raise QuestionFileError(
            f"{file}: {error.strerror}; name a file of JSON lines with the key 'question'"
        ) from error
    rows: list[Question | BadQuestion] = []
    for number, line in enumerate(lines, start=1):
        if line.strip():
            rows.append(_read(line, index=len(rows), where=f"{file}:{number}"))
    if not rows:
        raise QuestionFileError(f'{file}: no question in it; each line must be like {{"question": "…"}}')
    return rows


def _read(line: str, *, index: int, where: str) -> Question | BadQuestion:
    shown = line if len(line) <= _SHOWN else line[: _SHOWN - 1] + "…"

    def bad(reason: str) -> BadQuestion:
        return BadQuestion(index=index, text=shown, reason=f"{where}: {reason}: {shown!r}")

    try:
        record = from_json(line)
    except ValueError as error:
        return bad(f"not JSON ({error})")
    if not isinstance(record, dict):
        return bad("not a JSON object")
    question = record.get("question")
    if not isinstance(question, str) or not question.strip():
        return bad("no text under the key 'question'")
    gold = record.get("answer")
    return Question(index=index, text=question.strip(), gold=None if gold is None else str(gold))
