"""Converts a LaTeX source to HTML as LaTeXML writes it, with its numbers, citations and cross-references."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from typing import Any

from ingest.readers.inline_text import inline_text
from ingest.readers.latex_macros import ExpandedSource
from ingest.readers.latex_nodes import (
    COMMANDS,
    ENVIRONMENTS,
    LEVELS,
    arguments_of,
    flattened,
    inside,
    is_bold,
    is_starred,
    last_argument,
    name_of,
    nodes_of,
    parse_latex,
    plain_text,
    split_at,
)
from ingest.readers.latex_references import Citation, cite
from ingest.readers.latex_tables import read_latex_table
from ingest.readers.markup_tree import Node, element

__all__ = ["LatexConverter", "latex_rows"]

Part = Node | str
_FLOATS = ("Figure", "Table", "Algorithm")
_TAGS = ("b", "span", "sup", "sub")
_UNPRINTED = re.compile(r"\\(?:nonumber|notag)\b|\\label\s*\{([^{}]*)\}|\\tag\*?\s*\{([^{}]*)\}")
_NOT_COUNTED = re.compile(r"\\(?:nonumber|notag|tag)\b")
_LABEL = re.compile(r"\\label\s*\{([^{}]*)\}")
_TAG = re.compile(r"\\tag\*?\s*\{\(?([^{}]*?)\)?\}")
_MATH_SIGNS = re.compile(r"^(?:\$\$?|\\[(\[])|(?:\$\$?|\\[)\]])$")
_ROW = re.compile(r"\\\\\*?(?:\s*\[[^\]\n]{0,12}\])?|\\begin\s*\{|\\end\s*\{|\\.|[{}]", re.DOTALL)
# What a text has that is more than its letters.
_SIGNS = re.compile(r"[\\{}$~%^_#&`']|--|\n\n")
_NOTE = re.compile(r"\s*\[([^\[\]]*)\]")
_PARAGRAPH = re.compile(r"\n\s*\n")


class LatexConverter:
    """Converts the nodes of a source; a single-use object.

    Args:
        source: The source that the nodes were parsed from.
        citations: How its entries are cited.
        labels: The kinds and numbers that its labels refer to, as far as they are known.

    Attributes:
        found: The kinds and numbers of its labels.
        not_drawn: The drawings in TeX that are left out.
    """

    def __init__(
        self, source: ExpandedSource, *, citations: Mapping[str, Citation], labels: Mapping[str, tuple[str, str]]
    ) -> None:
        self.found: dict[str, tuple[str, str]] = {}
        self.not_drawn: dict[str, None] = {}
        self._source = source
        self._citations = citations
        self._labels = labels
        self._counts: Counter[str] = Counter()
        self._section = ""
        self._current = ("Section", "")
        self._appendix = False
        self._line = 0

    def blocks(self, nodes: Iterable[Any]) -> list[Part]:
        """Return paragraphs and blocks."""
        found: list[Part] = []
        items: list[Part] = []
        first = last = 1
        for node in [*flattened(nodes), None]:
            block = [] if node is None else self._block(node)
            for piece in [None] if block is not None else self._pieces(node):
                if piece is not None:
                    first = first if items else self._lines(node)[0]
                    items.append(piece)
                    last = self._lines(node)[1]
                elif items:
                    found.append(element("p", *items, lines=(first, last)))
                    items = []
            found.extend(block or ())
        return found

    def fragment(self, source: str, line: int) -> list[Part]:
        """Return the inline content of a source, all of it in one line."""
        if not _SIGNS.search(source):
            return [source]
        before, self._line = self._line, self._line or line
        found = self._inline(parse_latex(source))
        self._line = before
        return found

    def entries(self, nodes: Iterable[Any], line: int = 0) -> list[Part]:
        """Return the entries of a bibliography below a heading; with `line`, they are all in this line."""
        self._line, found = line, list[Part]()
        for opening, following in split_at("bibitem", nodes):
            if opening is not None and (text := self._inline(following)):
                lines = self._lines(following[0])[0], self._lines(following[-1])[1]
                mark = self._citations.get(last_argument(opening), Citation()).mark
                found.append(element("div", f"[{mark}] " if mark else "", *text, lines=lines, class_="ltx_bibitem"))
        self._line = 0
        level = LEVELS["chapter" if self._counts["chapter"] else "section"]
        heading = (
            element(f"h{level}", "References", lines=(one.first, one.last))
            for one in found[:1]
            if isinstance(one, Node)
        )
        return [*heading, *found]

    def _lines(self, node: Any) -> tuple[int, int]:  # noqa: ANN401
        if self._line:
            return self._line, self._line
        return self._source.line(node.pos), self._source.line(max(node.pos, node.pos + node.len - 1))

    def _pieces(self, node: Any) -> Sequence[Part | None]:  # noqa: ANN401
        """Return inline content, with None between paragraphs."""
        if name_of(node) == "par" or getattr(node, "specials_chars", "") == "\n\n":
            return [None]
        first, *more = _PARAGRAPH.split(getattr(node, "chars", ""))
        if not more:
            return self._inline([node])
        return [first, *(piece for text in more for piece in (None, text))]

    def _block(self, node: Any) -> list[Part] | None:  # noqa: ANN401
        """Return what a node adds outside paragraphs, None if it is inline."""
        name = name_of(node)
        if getattr(node, "displaytype", "") == "display":
            return self._equation(_MATH_SIGNS.sub("", node.latex_verbatim()), "", node)
        if hasattr(node, "environmentname"):
            return self._environment(name, node)
        kind = COMMANDS.get(name, ("", ""))[0]
        if kind == "heading":
            return [self._heading(name, node)]
        if kind == "abstract":
            return self._abstract(nodes_of(arguments_of(node)[-1]), node)
        if kind == "appendix":
            self._appendix, self._counts["section"], self._counts["chapter"] = True, 0, 0
            return []
        return None

    def _environment(self, name: str, node: Any) -> list[Part]:  # noqa: ANN401
        kind, lines = ENVIRONMENTS.get(name, name), self._lines(node)
        if kind in _FLOATS:
            return self._float(kind, node)
        if kind in ("equation", "aligned", "gathered"):
            return self._equation(inside(node), kind, node)
        if kind in ("ul", "ol"):
            return [self._list(kind, node)]
        if kind == "tabular":
            return [self._table(node)]
        if kind == "listing":
            return [element("pre", inside(node).strip("\n"), lines=lines)]
        return self._text(kind, node)

    def _text(self, name: str, node: Any) -> list[Part]:  # noqa: ANN401
        if name in ("drawing", ""):
            self.not_drawn |= {name_of(node): None} if name else {}
            return []
        if name == "thebibliography":
            return self.entries(node.nodelist)
        if name in self._source.theorems or name == "proof":
            return self._theorem(name, node)
        return self._abstract(node.nodelist, node) if name == "abstract" else self.blocks(node.nodelist)

    def _abstract(self, nodes: Iterable[Any], node: Any) -> list[Part]:  # noqa: ANN401
        return [element("div", "Abstract", lines=self._lines(node), class_="abstract-title"), *self.blocks(nodes)]

    def _heading(self, name: str, node: Any) -> Node:  # noqa: ANN401
        number = ""
        if not is_starred(node) and LEVELS["part"] < LEVELS[name] < LEVELS["paragraph"]:
            self._counts[name] += 1
            self._counts |= {other: 0 for other, level in LEVELS.items() if level > LEVELS[name]}
            levels = [one for one, level in LEVELS.items() if LEVELS["part"] < level <= LEVELS[name]]
            numbers = [str(self._counts[one]) for one in levels if one != "chapter" or self._counts[one]]
            if self._appendix:
                numbers[0] = chr(ord("A") + min(int(numbers[0]), 26) - 1)
            number, self._section = ".".join(numbers), numbers[0]
            self._current = ("Section", number)
        text = [f"{number} "] if number else []
        return element(f"h{LEVELS[name]}", *text, *self._argument(node), lines=self._lines(node))

    def _float(self, kind: str, node: Any) -> list[Part]:  # noqa: ANN401
        """Return a figure for each caption, which ends a figure and begins a table, with what is beside it as text."""
        found: list[Part] = []
        parts: list[Part] = [self._table(node)] if name_of(node) == "longtable" else []
        texts: list[Any] = []
        keys: list[str] = []
        captioned = ended = False
        for part in [*flattened(node.nodelist), None]:
            name = name_of(part)
            role = ENVIRONMENTS.get(name, "") if hasattr(part, "environmentname") else COMMANDS.get(name, ("",))[0]
            if part is None or (captioned and role == "caption") or (ended and role in ("img", "panel", "tabular")):
                self.found |= dict.fromkeys(keys, self._current)
                class_ = "ltx_table" if kind == "Table" else "ltx_figure"
                found.append(element("figure", *parts, lines=self._lines(node), class_=class_))
                parts, keys, ended = [], [], False
            if role == "caption":
                captioned, ended = True, bool(parts) and kind != "Table"
                parts.append(self._caption(kind, part))
            elif role == "label":
                keys.append(last_argument(part))
            elif role == "panel":
                parts.append(self._panel(part, len(parts)))
            elif role in ("tabular", "listing", "img", "drawing"):
                parts.extend(self._block(part) or self._inline([part]))
            elif part is not None:
                texts.append(part)
        shown = any(isinstance(one, Node) and one.first_of("img", "table", "pre", "figcaption") for one in found)
        return found if shown and not captioned else [*found, *(self.blocks(texts) if kind != "Table" else ())]

    def _caption(self, kind: str, node: Any) -> Node:  # noqa: ANN401
        text = self._argument(node)
        if not is_starred(node):
            self._counts[kind] += 1
            self._current = (kind, str(self._counts[kind]))
            text = [f"{kind} {self._counts[kind]}: ", *text]
        return element("figcaption", *text, lines=self._lines(node))

    def _panel(self, node: Any, count: int) -> Node:  # noqa: ANN401
        """Return a part of a figure with its own caption: an environment, or a command such as `\\subfloat`."""
        *options, body = [one for one in arguments_of(node) if one is not None] or [None]
        is_command = hasattr(node, "macroname")
        captions = [self._inline(nodes_of(one)) for one in options[:1]] if is_command else []
        letter, lines, parts = chr(ord("a") + min(count, 25)), self._lines(node), list[Part]()
        for part in flattened(nodes_of(body) if is_command else node.nodelist):
            if name_of(part) == "caption":
                captions.append(self._argument(part))
            elif name_of(part) == "label":
                # The caption of the whole follows.
                self.found[last_argument(part)] = ("Figure", f"{self._counts['Figure'] + 1}{letter}")
            elif name_of(part) == "includegraphics" or ENVIRONMENTS.get(name_of(part)) == "tabular":
                parts.extend(self._block(part) or self._inline([part]))
        caption = [element("figcaption", f"({letter}) ", *captions[0], lines=lines)] if captions else []
        return element("figure", *parts, *caption, lines=lines)

    def _table(self, node: Any) -> Node:  # noqa: ANN401
        first, last = self._lines(node)
        table = read_latex_table(node.latex_verbatim(), as_latex=True)
        rows = []
        for row in table.rows:
            line = min(first + row.line, last)
            lines = line, line
            cells = (
                element(
                    "td", *self.fragment(one.text, line), lines=lines, rowspan=str(one.rows), colspan=str(one.columns)
                )
                for one in row.cells
            )
            rows.append(element("tr", *cells, lines=lines))
        head = element("thead", *rows[: table.head], lines=(first, first))
        return element("table", head, *rows[table.head :], lines=(first, last))

    def _equation(self, source: str, kind: str, node: Any) -> list[Part]:  # noqa: ANN401
        """Return the equations of an environment: several if several of its rows have labels."""
        numbered = bool(kind) and not node.environmentname.endswith("*") and "displaymath" not in node.environmentname
        found: list[Part] = []
        rows = latex_rows(source) if kind in ("aligned", "gathered") else [source]
        labelled = [at for at, row in enumerate(rows, 1) if _LABEL.search(row)]
        ends = [*labelled[:-1], len(rows)]
        for start, end in zip([0, *ends], ends, strict=False):
            number = ""
            for row in rows[start:end]:
                tag, label = _TAG.search(row), _LABEL.search(row)
                if numbered and not _NOT_COUNTED.search(row):
                    self._counts["Equation"] += 1
                    number = str(self._counts["Equation"]) if label or not number else number
                number = tag[1] if tag else number
                self.found |= {label[1]: ("Equation", number)} if label else {}
            formula = "\\\\".join(_UNPRINTED.sub("", row) for row in rows[start:end]).strip()
            if kind in ("aligned", "gathered") and ("&" in formula or "\\\\" in formula):
                formula = f"\\begin{{{kind}}}{formula}\\end{{{kind}}}"
            formula += f"\\tag{{{number}}}" if number else ""
            found.append(element("div", formula, lines=self._lines(node), class_="math display"))
        return found

    def _list(self, tag: str, node: Any) -> Node:  # noqa: ANN401
        items: list[Part] = []
        named = False
        for opening, following in split_at("item", node.nodelist):
            if opening is None:
                continue
            option = next(iter(arguments_of(opening)), None)
            lines = self._lines(opening)[0], self._lines((following or [opening])[-1])[1]
            if option is not None:
                items.append(element("dt", *self._inline(nodes_of(option)), lines=lines))
                named = True
            items.append(element("li" if option is None else "dd", *self.blocks(following), lines=lines))
        return element("dl" if named else tag, *items, lines=self._lines(node))

    def _theorem(self, name: str, node: Any) -> list[Part]:  # noqa: ANN401
        title, counter, within = self._source.theorems.get(name, ("Proof", "", ""))
        if counter:
            self._counts[counter] += 1
            number = f"{self._section}.{self._counts[counter]}" if within else str(self._counts[counter])
            self._current = (title, number)
            title = f"{title} {number}"
        line, nodes = self._lines(node)[0], list(node.nodelist)
        note = inline_text(self._argument(node))
        if nodes and (named := _NOTE.match(getattr(nodes[0], "chars", ""))):
            note, nodes[0] = named[1], copy(nodes[0])
            nodes[0].chars = nodes[0].chars[named.end() :]
        opening = element("b", f"{title} ({note}). " if note else f"{title}. ", lines=(line, line))
        first, *more = self.blocks(nodes) or [""]
        if isinstance(first, Node) and first.tag == "p":
            return [replace(first, children=(opening, *first.children)), *more]
        return [element("p", opening, lines=(line, line)), first, *more]

    def _argument(self, node: Any) -> list[Part]:  # noqa: ANN401
        last = next((one for one in reversed(arguments_of(node)) if one is not None), None)
        return self._inline(nodes_of(last))

    def _inline(self, nodes: Iterable[Any]) -> list[Part]:
        found: list[Part] = []
        for node in nodes:
            if hasattr(node, "displaytype"):
                formula = _MATH_SIGNS.sub("", node.latex_verbatim())
                found.append(element("tex-math", formula, lines=self._lines(node)))
            elif hasattr(node, "chars"):
                found.append(node.chars)
            elif hasattr(node, "environmentname"):
                found.extend(self._block(node) or ())
            elif hasattr(node, "macroname") or hasattr(node, "specials_chars"):
                found.extend(self._command(node))
            elif hasattr(node, "nodelist"):
                parts = self._inline(node.nodelist)
                found.extend([element("b", *parts, lines=self._lines(node))] if is_bold(node) else parts)
        return found

    def _command(self, node: Any) -> list[Part]:  # noqa: ANN401
        name, lines = name_of(node), self._lines(node)
        kind, form = COMMANDS.get(name, ("unknown", ""))
        found: list[Part] = []
        match kind:
            case "unknown":
                found = [plain_text(node)]
            case "cite":
                options = [
                    inline_text(self._inline(nodes_of(one))) for one in arguments_of(node)[1:-1] if one is not None
                ]
                notes = options if len(options) == 2 else ["", *(options or [""])]
                found = [cite(name, last_argument(node).split(","), self._citations, notes=notes)]
            case "ref":
                found = [self._reference(name, last_argument(node).split(","))]
            case "label":
                self.found[last_argument(node)] = self._current
            case "footnote":
                self._counts["footnote"] += 1
                mark = element("sup", str(self._counts["footnote"]), lines=lines, class_="ltx_note_mark")
                found = [element("span", mark, *self._argument(node), lines=lines, class_="ltx_role_footnote")]
            case "img":
                found = [element("img", lines=lines, src=last_argument(node))]
            case "br":
                found = [element("br", lines=lines)]
            case _ if kind in _TAGS and form:
                found = [element(kind, *self._argument(node), lines=lines)]
            case "printed" | "caption":
                found = self._argument(node)
        return found

    def _reference(self, command: str, keys: list[str]) -> str:
        found = [self._labels.get(key.strip(), ("", "")) for key in keys]
        numbers = " and ".join(f"({number})" if command == "eqref" and number else number for _, number in found)
        named = command in ("cref", "Cref", "autoref", "vref", "Vref")
        return f"{found[0][0]}{'s' if len(found) > 1 else ''} {numbers}".strip() if named else numbers


def latex_rows(source: str) -> list[str]:
    """Return what is between the line breaks of a source, without those in braces and inner environments."""
    rows = [""]
    depth = at = 0
    for match in _ROW.finditer(source):
        symbol = match[0]
        if symbol.startswith(("\\begin", "\\end")):
            # The brace behind the name is closed, too.
            depth += 2 if symbol.startswith("\\begin") else 0
        elif symbol.startswith("\\\\") and depth <= 0:
            rows[-1] += source[at : match.start()]
            rows.append("")
            at = match.end()
        else:
            depth += (symbol == "{") - (symbol == "}")
    rows[-1] += source[at:]
    return [row for row in rows if row.strip()]
