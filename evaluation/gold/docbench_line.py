"""A line of a question file in DocBench's format, and what it says of the right answer."""

from dataclasses import dataclass

__all__ = ["DocBenchLine"]

_Scalar = str | bool | int | float


@dataclass(frozen=True, kw_only=True, slots=True)
class DocBenchLine:
    """See `docbench_questions`; what is not wanted is left out."""

    question: str
    answer: _Scalar | tuple[_Scalar, ...]
    type: str = ""
    answer_format: str = ""
    evidence_pages: tuple[int, ...] = ()
    answerable: bool | None = None

    @property
    def reference(self) -> str:
        """The answer as text: a list as Python writes it, true and false as yes and no."""
        if isinstance(self.answer, tuple):
            return str(list(self.answer))
        if isinstance(self.answer, bool):
            return "yes" if self.answer else "no"
        return str(self.answer)

    @property
    def form(self) -> str:
        """The `answer_format` that is stated, or that several answers have."""
        return self.answer_format or ("List" if isinstance(self.answer, tuple) else "")

    @property
    def can_be_answered(self) -> bool:
        """Whether the paper says."""
        if self.answerable is not None:
            return self.answerable
        # DocBench calls such a type "una", "una-web" and the like.
        return self.answer_format != "None" and not self.type.casefold().startswith("una")
