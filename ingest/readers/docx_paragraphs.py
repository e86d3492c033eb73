"""Paragraphs of a Word document: their text, notes, formulas and images, their style and list number."""

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass

from ingest.readers.formula_text import omml_formula
from ingest.readers.inline_text import collapse_spaces, numeral
from ingest.readers.markup_tree import Node
from ingest.readers.symbol_fonts import symbol_character, unicode_text
from paperscope_core.text.formulas import Formula, plain_formula, script_text

__all__ = ["DocxImage", "Numbering", "Paragraph", "Style", "Styles", "attribute", "integer_attribute", "read_paragraph"]

_CHARACTERS = {"tab": " ", "br": "\n", "cr": "\n", "nobreakhyphen": "-", "softhyphen": "", "ptab": " "}
_SKIPPED = frozenset("del movefrom instrtext rpr ppr fldchar deltext sdtpr sdtendpr txbxcontent rt fallback".split())
_NOT_TEXT = frozenset("drawing pict object".split())
_HEXADECIMAL = re.compile(r"[0-9A-Fa-f]{1,6}")
_OFF = ("0", "false", "off", "none")
_KNOWN_STYLES = frozenset(("title", "caption", "author", "abstract", "source code", "image caption", "table caption"))
_NUMBER_STYLES = {"lowerRoman": "i", "upperRoman": "I", "lowerLetter": "a", "upperLetter": "A"}
# Limits cyclic style inheritance.
_MAX_STYLE_DEPTH = 20
_MAX_LEVEL = 9


def attribute(node: Node | None, *path: str) -> str:
    """Return the attribute `val` of the element on a path below a node, "" if there is none."""
    found = node.find(*path) if node is not None else None
    return found.get("val") if found is not None else ""


def integer_attribute(node: Node | None, *path: str, default: int = 0) -> int:
    """Return the number in the attribute `val` of the element on a path below a node, `default` if there is none."""
    found = node.find(*path) if node is not None else None
    return found.integer("val", default=default) if found is not None else default


@dataclass(frozen=True, kw_only=True, slots=True)
class DocxImage:
    """An image's relation id and its description."""

    relation: str
    description: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Paragraph:
    """A paragraph.

    Attributes:
        text: Its text in one line, with its formulas.
        rest: The text without `formulas`.
        raw: The text with its spaces and line breaks.
        bold: Whether all of it is bold.
        notes: Kind and id of each note, in the order of the marks.
        formulas: Its formulas, the display formulas only if there are any.
        displayed: Whether there are display formulas.
        images: Its images.
        boxes: Its text boxes.
    """

    text: str
    rest: str
    raw: str
    bold: bool
    notes: tuple[tuple[str, str], ...]
    formulas: tuple[Formula, ...]
    displayed: bool
    images: tuple[DocxImage, ...]
    boxes: tuple[Node, ...]


def read_paragraph(paragraph: Node, *, note_number: Callable[[str, str], int]) -> Paragraph:
    """Read a paragraph; `note_number` returns a note's number by its kind and id."""
    parts = list(_parts(paragraph))
    displayed = [node for node in parts if node.tag == "omathpara"]
    formulas = displayed or [node for node in parts if node.tag == "omath"]
    raw = "".join(_text(paragraph, note_number))
    without = _NOT_TEXT | {"omathpara"} if displayed else _NOT_TEXT | {"omath", "omathpara"}
    runs = [run for run in parts if run.tag == "r" and any(part.plain_text() for part in run.findall("t"))]
    # A drawing and its fallback have the same text box; the drawing's is used.
    boxes = paragraph.outermost(lambda node: node.tag in ("txbxcontent", "fallback"))
    return Paragraph(
        text=collapse_spaces(raw),
        rest=collapse_spaces("".join(_text(paragraph, note_number, without=without))),
        raw=raw.strip("\n"),
        bold=bool(runs) and all(_is_on(run, "b") for run in runs),
        notes=tuple(
            (node.tag.removesuffix("reference"), node.get("id"))
            for node in parts
            if node.tag in ("footnotereference", "endnotereference")
        ),
        formulas=tuple(formula for formula in map(omml_formula, formulas) if plain_formula(formula)),
        displayed=bool(displayed),
        images=tuple(_images(parts)),
        boxes=tuple(box for box in boxes if box.tag == "txbxcontent"),
    )


def _parts(node: Node) -> Iterator[Node]:
    """Yield all parts of a paragraph except what is deleted, hidden, in a text box or in a formula."""
    for child in node.nodes:
        if child.tag not in _SKIPPED and not _is_hidden(child):
            yield child
            if child.tag == "omathpara":
                yield from child.findall("omath")
            elif child.tag != "omath":
                yield from _parts(child)


def _text(node: Node, note_number: Callable[[str, str], int], *, without: Collection[str] = _NOT_TEXT) -> Iterator[str]:
    for child in node.nodes:
        if child.tag in _SKIPPED or child.tag in without or _is_hidden(child):
            continue
        match child.tag:
            case "t":
                yield child.text()
            case "sym":
                yield _symbol(child)
            case "omath":
                yield plain_formula(omml_formula(child))
            case "omathpara":
                yield from (f" {part} " for part in _text(child, note_number))
            case "footnotereference" | "endnotereference":
                number = note_number(child.tag.removesuffix("reference"), child.get("id"))
                yield script_text(str(number), raised=True)
            case "r":
                yield _run_text("".join(_text(child, note_number, without=without)), child)
            case tag if tag in _CHARACTERS:
                yield _CHARACTERS[tag]
            case _:
                yield from _text(child, note_number, without=without)


def _symbol(node: Node) -> str:
    code = node.get("char")
    return symbol_character(node.get("font"), int(code, 16)) if _HEXADECIMAL.fullmatch(code) else ""


def _run_text(text: str, run: Node) -> str:
    fonts = run.find("rpr", "rfonts")
    text = unicode_text(text, font=fonts.get("ascii") if fonts is not None else "")
    shift = attribute(run, "rpr", "vertalign")
    if shift not in ("superscript", "subscript") or not text.strip() or text.strip()[0] in "⁰¹²³⁴⁵⁶⁷⁸⁹":
        return text
    return script_text(text.strip(), raised=shift == "superscript")


def _is_hidden(node: Node) -> bool:
    return node.tag == "r" and _is_on(node, "vanish")


def _is_on(run: Node, flag: str) -> bool:
    return run.find("rpr", flag) is not None and attribute(run, "rpr", flag).lower() not in _OFF


def _images(parts: list[Node]) -> Iterator[DocxImage]:
    description = ""
    for node in parts:
        relation = node.get("embed") or node.get("id")
        if node.tag == "docpr":
            description = node.get("descr") or node.get("title")
        elif node.tag in ("blip", "imagedata") and relation:
            yield DocxImage(relation=relation, description=description)


@dataclass(frozen=True, kw_only=True, slots=True)
class Style:
    """A paragraph style: its name in lower case, its heading level (0: none), its list and its level in that."""

    name: str = ""
    level: int = 0
    list_id: str = ""
    list_level: int = 0


class Styles:
    """The styles by their ids, including inherited properties."""

    def __init__(self, root: Node) -> None:
        self._nodes = {node.get("styleId"): node for node in root.findall("style")}

    def of(self, style_id: str) -> Style:
        """Return the style with this id; one without properties if it is unknown."""
        chain = self._chain(style_id)
        if not chain:
            return Style(name=style_id.lower())
        names = [attribute(node, "name").lower() for node in chain]
        outline = next((value for node in chain if (value := attribute(node, "ppr", "outlinelvl"))), "")
        heading = next((name.removeprefix("heading ") for name in names if name.startswith("heading ")), "")
        level = int(heading) if heading.isdecimal() else int(outline) + 1 if outline.isdecimal() else 0
        numbers = next((found for node in chain if (found := node.find("ppr", "numpr")) is not None), None)
        return Style(
            name=next((name for name in names if name in _KNOWN_STYLES), names[0]),
            level=level if level <= _MAX_LEVEL else 0,
            list_id=attribute(numbers, "numid"),
            list_level=integer_attribute(numbers, "ilvl"),
        )

    def _chain(self, style_id: str) -> list[Node]:
        """Return a style and those that it is based on."""
        chain: list[Node] = []
        while style_id in self._nodes and len(chain) < _MAX_STYLE_DEPTH:
            chain.append(self._nodes[style_id])
            style_id = attribute(chain[-1], "basedon")
        return chain


class Numbering:
    """Counts list items and numbered headings as Word does."""

    def __init__(self, root: Node) -> None:
        definitions = {node.get("abstractNumId"): node for node in root.findall("abstractnum")}
        self._definitions = {node.get("numId"): attribute(node, "abstractnumid") for node in root.findall("num")}
        self._levels: Mapping[str, Mapping[int, Node]] = {
            list_id: {level.integer("ilvl"): level for level in definitions[definition].findall("lvl")}
            for list_id, definition in self._definitions.items()
            if definition in definitions
        }
        self._counts: dict[str, list[int]] = {}

    def marker(self, list_id: str, level: int) -> str:
        """Return the marker of the next item with a space: `• `, `2. `, `1.2 `; "" outside lists."""
        if list_id in ("", "0"):
            return ""
        levels = self._levels.get(list_id, {})
        level = min(level, _MAX_LEVEL)
        node = levels.get(level)
        format_ = attribute(node, "numfmt") if node else "bullet"
        if format_ == "none":
            return ""
        # Lists with one definition share their counters.
        counts = self._counts.setdefault(self._definitions.get(list_id, list_id), [0] * (_MAX_LEVEL + 1))
        start = integer_attribute(node, "start", default=1)
        counts[level] = counts[level] + 1 if counts[level] else max(1, start)
        counts[level + 1 :] = [0] * (_MAX_LEVEL - level)
        if format_ == "bullet" or node is None:
            return "• "
        text = attribute(node, "lvltext")
        for place in range(level + 1):
            style = _NUMBER_STYLES.get(attribute(levels.get(place), "numfmt"), "1")
            text = text.replace(f"%{place + 1}", numeral(max(counts[place], 1), style))
        return f"{text.strip()} " if text.strip() else ""
