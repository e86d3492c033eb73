"""Calls of the reading tools, and their results."""

from dataclasses import dataclass
from typing import Literal, get_args

from paperscope_core.errors import InputError
from paperscope_core.text.escaping import terminal_text
from paperscope_core.types.displayable import Displayable
from paperscope_core.types.place import Place, where

__all__ = ["TOOLS", "ToolCall", "ToolItem", "ToolItemKind", "ToolName", "ToolResult"]

ToolName = Literal["search", "section", "element", "page", "reference", "outline", "papers"]
ToolItemKind = Literal[
    "text", "table", "figure", "equation", "listing", "page", "reference", "citation", "outline", "paper"
]
TOOLS: tuple[ToolName, ...] = get_args(ToolName)
"""The names of the reading tools."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ToolCall:
    """A call of a reading tool.

    Attributes:
        argument: What to look up: a text (search), the number or title of a section, the label of an element, the
            number of a page, the mark or the authors and year of a reference, words of papers. An outline needs none.
        paper: The paper to read, by id, file name or title; "" for the papers asked about.
        part: Which part of a large result to return, from 1.

    Raises:
        InputError: There is no such tool or part.

    Example:
        >>> print(ToolCall(tool="section", argument="4.2"))
        section '4.2'
    """

    tool: ToolName
    argument: str = ""
    paper: str = ""
    part: int = 1

    def __post_init__(self) -> None:
        if self.tool not in TOOLS:
            raise InputError(f"{self.tool!r} is no reading tool; take one of {', '.join(TOOLS)}")
        if self.part < 1:
            raise InputError(f"there is no part {self.part}; parts count from 1")

    def __str__(self) -> str:
        part = f", part {self.part}" if self.part > 1 else ""
        return f"{self.tool} {self.argument!r}" + (f" of {self.paper!r}" if self.paper else "") + part


@dataclass(frozen=True, kw_only=True, slots=True)
class ToolItem:
    """One thing that a reading tool found.

    Attributes:
        kind: "text" is running text of one section; "listing" is also an algorithm; "citation" is a place that cites a
            reference.
        paper: The id of its paper.
        title: The title of its paper.
        section: The path of its section ("4 Results > 4.2 KLUE"), "" if it is in none.
        label: As printed ("Table 3", "[29]"), or what names the item ("page 6"); "" if nothing does.
        text: Its text; a table is its title, its column headers, and a line for each row.
        elements: The ids of the elements that the text is from.
        places: Where they are.
        crop: The content hash of its picture, "" if it has none.
        page: The number of a page whose picture shows it, 0 if the paper's file has no pages.
        left: The number of tokens of its text in further parts of the result.
        pictures: In results of a service: the paths of its crop and of the pages with its places marked.
    """

    kind: ToolItemKind
    paper: str
    title: str
    section: str = ""
    label: str = ""
    text: str = ""
    elements: tuple[str, ...] = ()
    places: tuple[Place, ...] = ()
    crop: str = ""
    page: int = 0
    left: int = 0
    pictures: tuple[str, ...] = ()

    @property
    def cut(self) -> bool:
        """Whether the text continues in a further part of the result."""
        return self.left > 0

    @property
    def heading(self) -> str:
        """What the item is and where: paper, section, label, page."""
        at = where(self.places) if self.places else ""
        parts = (
            self.title or self.paper,
            self.section,
            self.label,
            "" if f"{self.label},".startswith(f"{at},") else at,
        )
        return ", ".join(filter(None, parts))

    def __str__(self) -> str:
        return terminal_text(f"[{self.heading}]\n{self.text}")


@dataclass(frozen=True, kw_only=True, slots=True)
class ToolResult(Displayable):
    """What a reading tool found.

    Attributes:
        items: What was found, in reading order or, if searched, best first.
        message: Why nothing was found, with what can be asked for instead; "" if something was.
        parts: The number of parts of the result; `call` says which this is.

    Example:
        >>> item = ToolItem(kind="page", paper="3f2a9c1b7d10", title="Four Reports", label="page 6", text="Plate I")
        >>> print(ToolResult(call=ToolCall(tool="page", argument="6"), items=(item,)))
        [Four Reports, page 6]
        Plate I
    """

    call: ToolCall
    items: tuple[ToolItem, ...] = ()
    message: str = ""
    parts: int = 1

    def __str__(self) -> str:
        if not self.items:
            return terminal_text(self.message)
        more = f"… part {self.call.part} of {self.parts}" if self.parts > 1 else ""
        return "\n\n".join((*map(str, self.items), *filter(None, [more])))
