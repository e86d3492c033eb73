"""The base class of values that can be displayed in notebooks and terminals."""

from functools import singledispatch
from typing import Protocol

from markupsafe import Markup

from paperscope_core.text.escaping import terminal_text

__all__ = ["Displayable", "as_html", "as_text"]


class _Printer(Protocol):
    """The printer that IPython passes to `_repr_pretty_`."""

    def text(self, text: str) -> None:
        """Write the text."""


@singledispatch
def as_text(value: object) -> str:
    """Return the text of a value. `paperscope.display` registers the types of this package."""
    raise TypeError(f"{type(value).__name__} defines no __str__")


@singledispatch
def as_html(value: object) -> Markup:
    """Return the HTML of a value. `paperscope.display` registers the types of this package."""
    raise TypeError(f"{type(value).__name__} defines no _repr_html_")


class Displayable:
    """A value with a text for `str` and an HTML form for notebooks.

    `Library.show` adds the images, which the values do not contain. A class of another package overrides `__str__` and
    `_repr_html_`.
    """

    __slots__ = ()

    def __str__(self) -> str:
        return terminal_text(as_text(self))

    def _repr_html_(self) -> Markup:
        return as_html(self)

    def __init_subclass__(cls) -> None:
        # IPython ignores an inherited method if the class defines `__repr__`, as every dataclass does.
        cls._repr_pretty_ = _print_pretty  # type: ignore[attr-defined]


def _print_pretty(value: Displayable, printer: _Printer, _cycle: bool) -> None:
    printer.text(str(value))
