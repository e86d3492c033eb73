"""The base class of values that notebooks and terminals show."""

from typing import Protocol

__all__ = ["Displayable"]


class _Printer(Protocol):
    """What IPython hands to `_repr_pretty_`."""

    def text(self, text: str) -> None:
        """Write the text."""


class Displayable:
    """A value that `paperscope.types.display` can show; `str` gives its text, and a notebook finds both.

    `Library.show` adds the pictures, which values don't hold. A value of another room says itself, in `__str__` and
    `_repr_html_`, how it is shown.
    """

    __slots__ = ()

    def __str__(self) -> str:
        from paperscope_core.types.display import to_text

        return to_text(self)

    def _repr_html_(self) -> str:
        from paperscope_core.types.display import to_html

        return to_html(self)

    def __init_subclass__(cls) -> None:
        # IPython takes this from the class that has a `__repr__`, which a dataclass makes of its own.
        cls._repr_pretty_ = _print_pretty  # type: ignore[attr-defined]


def _print_pretty(value: Displayable, printer: _Printer, cycle: bool) -> None:  # noqa: ARG001 # IPython's form
    printer.text(str(value))
