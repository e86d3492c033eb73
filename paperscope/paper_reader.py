"""`PaperReader`: the reading tools of a library, for notebooks and programs."""

from collections.abc import Callable

from paperscope_core.types import ToolCall, ToolResult

__all__ = ["PaperReader"]


class PaperReader:
    """Looks up parts of papers by what names them, whole and with their places.

    A result has typed items with text, places and the names of pictures, and prints as text. A large result has several
    parts; `part` says which to return. `paper` is an id, a file name or a title; without it, all papers are read, of
    which there may be at most 20.

    Every method raises NotFoundError if there is no such paper, section, element, page or reference, with similar names
    in the message, and InputError if the argument has another form.

    Example:
        >>> from pathlib import Path
        >>> from tempfile import TemporaryDirectory
        >>> from paperscope import Library, Settings
        >>> with TemporaryDirectory() as folder:
        ...     note = Path(folder, "note.md")
        ...     _ = note.write_text("# Owls at Night\\n\\n## 1 Results\\n\\nThe owl finds nine of ten mice.\\n")
        ...     with Library.open(f"{folder}/library", settings=Settings()) as library:
        ...         _ = library.add(note)
        ...         print(library.read.section("results"))
        [Owls at Night, 1 Results, line 3, line 5]
        # 1 Results
        <BLANKLINE>
        The owl finds nine of ten mice.
    """

    def __init__(self, look_up: Callable[[ToolCall], ToolResult]) -> None:
        self._look_up = look_up

    def search(self, text: str, *, paper: str = "", part: int = 1) -> ToolResult:
        """Find the texts, tables, figures and equations about a text, best first. It calls no language model."""
        return self._look_up(ToolCall(tool="search", argument=text, paper=paper, part=part))

    def section(self, name: str, *, paper: str = "", part: int = 1) -> ToolResult:
        """Return a section with its subsections, by its number ("4.2", "Appendix B") or title."""
        return self._look_up(ToolCall(tool="section", argument=name, paper=paper, part=part))

    def element(self, label: str, *, paper: str = "", part: int = 1) -> ToolResult:
        """Return a table, figure, equation, algorithm or listing, by its label ("Table 3"), id or caption."""
        return self._look_up(ToolCall(tool="element", argument=label, paper=paper, part=part))

    def page(self, number: int | str, *, paper: str = "", part: int = 1) -> ToolResult:
        """Return the text of a page, then its tables and figures."""
        return self._look_up(ToolCall(tool="page", argument=str(number), paper=paper, part=part))

    def reference(self, key: str, *, paper: str = "", part: int = 1) -> ToolResult:
        """Return an entry of the bibliography, by its mark ("[29]"), authors and year, or title, and what cites it."""
        return self._look_up(ToolCall(tool="reference", argument=key, paper=paper, part=part))

    def outline(self, paper: str = "", *, part: int = 1) -> ToolResult:
        """Return the record of a paper, its sections, and its tables, figures and listings with their captions."""
        return self._look_up(ToolCall(tool="outline", paper=paper, part=part))

    def papers(self, query: str = "", *, part: int = 1) -> ToolResult:
        """List the papers with all words of the query in title, authors, file, venue or ids, else those with most."""
        return self._look_up(ToolCall(tool="papers", argument=query, part=part))
