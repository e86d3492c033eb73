"""What a notebook shows of a value, with the pictures that only the library holds."""

from collections.abc import Sequence
from dataclasses import dataclass

from paperscope.types import Shown
from paperscope.types.display import Holder, several_html, to_html

__all__ = ["View", "view"]


@dataclass(frozen=True, kw_only=True, slots=True)
class View(Shown):
    """A value as HTML, one page fragment without scripts or addresses, pictures included, and as a text."""

    html: str
    text: str

    def __str__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        return self.html


def view(value: Shown | Sequence[Shown], holder: Holder) -> View:
    """Show a value, or several one after another (papers: as a table). What `holder` lacks is told in words."""
    if isinstance(value, Shown):
        return View(html=to_html(value, holder), text=str(value))
    return View(html=several_html(value, holder), text="\n".join(map(str, value)))
