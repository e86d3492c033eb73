"""Paragraphs of a Word document: their text, notes, formulas and images, their style and list number."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from ingest.document.line_text import script_text
from ingest.readers.inline_text import collapse_spaces, roman
from ingest.readers.markup_tree import Node
from ingest.readers.mathml import omml_text

__all__ = ["Numbering", "Paragraph", "Picture", "Style", "Styles", "list_numeral", "read_paragraph"]


_SIGNS = {"tab": " ", "br": "\n", "cr": "\n", "sym": "•", "nobreakhyphen": "-", "softhyphen": "", "ptab": " "}
_SKIPPED = frozenset("del movefrom instrtext rpr ppr fldchar deltext sdtpr sdtendpr txbxcontent rt fallback".split())
_APART = frozenset("omathpara drawing pict object".split())
_OFF = ("0", "false", "off", "none")


@dataclass(frozen=True, kw_only=True, slots=True)
class Picture:
    """A picture's relation id and its description."""

    relation: str
    description: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Paragraph:
    """A paragraph: its text in a line, whether all of it is bold, its parts apart from running text."""

    text: str
    raw: str
    bold: bool
    notes: tuple[tuple[str, str], ...]
    formulas: tuple[str, ...]
    displayed: bool
    pictures: tuple[Picture, ...]
    boxes: tuple[Node, ...]


def read_paragraph(paragraph: Node, *, number_of: Callable[[str, str], int]) -> Paragraph:
    """Read a paragraph. `raw` keeps spaces and line breaks; `notes` are (kind, id) in the order of their marks, which
    `number_of` numbers; the text leaves out formulas that are displayed."""
    displayed = [node for node in _parts(paragraph) if node.tag == "omathpara"]
    formulas = [node for node in _parts(paragraph) if node.tag == "omath"]
    notes = [
        (node.tag.removesuffix("reference"), node.get("id"))
        for node in _parts(paragraph)
        if node.tag in ("footnotereference", "endnotereference")
    ]
    raw = "".join(_said(paragraph, number_of))
    return Paragraph(
        text=collapse_spaces(raw),
        raw=raw.strip("\n"),
        bold=_all_bold(paragraph),
        notes=tuple(notes),
        formulas=tuple(filter(None, map(omml_text, displayed or formulas))),
        displayed=bool(displayed),
        pictures=tuple(_pictures(paragraph)),
        boxes=tuple(node for node in _boxes(paragraph)),
    )


def _parts(node: Node) -> Iterator[Node]:
    """What stands in a paragraph, without what is deleted, hidden or in a text box."""
    for child in node.nodes:
        if child.tag not in _SKIPPED and not _is_hidden(child):
            yield child
            if child.tag not in ("omath", "omathpara"):
                yield from _parts(child)
            elif child.tag == "omathpara":
                yield from (part for part in child.findall("omath"))


def _said(node: Node, number_of: Callable[[str, str], int]) -> Iterator[str]:
    for child in node.nodes:
        if child.tag in _SKIPPED or child.tag in _APART or _is_hidden(child):
            continue
        match child.tag:
            case "t":
                yield child.text()
            case "omath":
                yield omml_text(child)
            case "footnotereference" | "endnotereference":
                number = number_of(child.tag.removesuffix("reference"), child.get("id"))
                yield script_text(str(number), raised=True)
            case "r":
                yield _run("".join(_said(child, number_of)), child)
            case tag if tag in _SIGNS:
                yield _SIGNS[tag]
            case _:
                yield from _said(child, number_of)


def _run(text: str, run: Node) -> str:
    shift = run.find("rpr", "vertalign")
    if (
        shift is None
        or not text.strip()
        or text.strip()[0] in "⁰¹²³⁴⁵⁶⁷⁸⁹"
        or shift.get("val") not in ("superscript", "subscript")
    ):
        return text
    return script_text(text.strip(), raised=shift.get("val") == "superscript")


def _is_hidden(node: Node) -> bool:
    return node.tag == "r" and _is_on(node, "vanish")


def _is_on(run: Node, flag: str) -> bool:
    mark = run.find("rpr", flag)
    return mark is not None and mark.get("val").lower() not in _OFF


def _all_bold(paragraph: Node) -> bool:
    runs = [run for run in _parts(paragraph) if run.tag == "r" and any(part.plain_text() for part in run.findall("t"))]
    return bool(runs) and all(_is_on(run, "b") for run in runs)


def _pictures(paragraph: Node) -> Iterator[Picture]:
    for node in _parts(paragraph):
        if node.tag in ("blip", "imagedata"):
            relation = node.get("embed") or node.get("id")
            properties = next(paragraph.iter("docpr"), None)
            description = properties.get("descr") or properties.get("title") if properties is not None else ""
            if relation:
                yield Picture(relation=relation, description=description)


def _boxes(paragraph: Node) -> Iterator[Node]:
    """Text boxes; of a drawing and its fallback, the drawing's."""
    for choice in paragraph.outermost(lambda node: node.tag in ("txbxcontent", "fallback")):
        if choice.tag == "txbxcontent":
            yield choice


def list_numeral(number: int, form: str) -> str:
    """`iv`, `d`, `4`."""
    match form:
        case "lowerRoman":
            return roman(number)
        case "upperRoman":
            return roman(number).upper()
        case "lowerLetter":
            return _letter(number)
        case "upperLetter":
            return _letter(number).upper()
        case _:
            return str(number)


def _letter(number: int) -> str:
    """`c` for 3, `cc` for 29."""
    return "abcdefghijklmnopqrstuvwxyz"[(number - 1) % 26] * min((number - 1) // 26 + 1, 5)


_LONGEST_CHAIN = 20
_DEEPEST = 9


@dataclass(frozen=True, kw_only=True, slots=True)
class Style:
    """A paragraph style: its name in lower case, the level of its headings (0: none), its list and level there."""

    name: str = ""
    level: int = 0
    list_id: str = ""
    list_level: int = 0


class Styles:
    """The styles by their ids, what they inherit included."""

    def __init__(self, root: Node | None) -> None:
        self._nodes = {node.get("styleId"): node for node in root.findall("style")} if root is not None else {}

    def of(self, style_id: str) -> Style:
        """The style with this id; an empty one if there is none."""
        node = self._nodes.get(style_id)
        if node is None:
            return Style(name=style_id.lower())
        chain = self._chain(style_id)
        name = _value(node, "name").lower()
        outline = next((value for part in chain if (value := _value(part, "ppr", "outlinelvl"))), "")
        numbered = next((part for part in chain if part.find("ppr", "numpr") is not None), None)
        names = [_value(part, "name").lower() for part in chain]
        heading = next((found for found in names if found.startswith("heading ")), "")
        level = integer(heading.removeprefix("heading ")) or (integer(outline) + 1 if outline else 0)
        return Style(
            name=name if name in _KNOWN else next((found for found in names if found in _KNOWN), name),
            level=level if level <= _DEEPEST else 0,
            list_id=_value(numbered, "ppr", "numpr", "numid") if numbered is not None else "",
            list_level=integer(_value(numbered, "ppr", "numpr", "ilvl")) if numbered is not None else 0,
        )

    def _chain(self, style_id: str) -> list[Node]:
        chain: list[Node] = []
        while style_id in self._nodes and len(chain) < _LONGEST_CHAIN:
            chain.append(self._nodes[style_id])
            style_id = _value(chain[-1], "basedon")
        return chain


_KNOWN = frozenset(("title", "caption", "author", "abstract", "source code", "image caption", "table caption"))


@dataclass(kw_only=True, slots=True)
class _List:
    """The counters of one list."""

    counts: list[int] = field(default_factory=lambda: [0] * (_DEEPEST + 1))


class Numbering:
    """Counts list items (and numbered headings) as Word does."""

    def __init__(self, root: Node | None) -> None:
        abstract = {node.get("abstractNumId"): node for node in root.findall("abstractnum")} if root is not None else {}
        numbers = root.findall("num") if root is not None else []
        self._levels: dict[str, Mapping[int, Node]] = {}
        self._shared: dict[str, str] = {}
        self._counters: dict[str, _List] = {}
        for number in numbers:
            shared = _value(number, "abstractnumid")
            node = abstract.get(shared)
            self._shared[number.get("numId")] = shared
            if node is not None:
                self._levels[number.get("numId")] = {integer(level.get("ilvl")): level for level in node.findall("lvl")}

    def mark(self, list_id: str, level: int) -> str:
        """The mark of the next item with its space: `• `, `2. `, `1.2 `; "" for what is in no list."""
        if list_id in ("", "0"):
            return ""
        levels = self._levels.get(list_id, {})
        level = min(level, _DEEPEST)
        node = levels.get(level)
        kind = _value(node, "numfmt") if node is not None else "bullet"
        if kind == "none":
            return ""
        counts = self._counters.setdefault(self._shared.get(list_id, list_id), _List()).counts
        counts[level] = counts[level] + 1 if counts[level] else max(1, _start(node))
        counts[level + 1 :] = [0] * (_DEEPEST - level)
        if kind == "bullet" or node is None:
            return "• "
        text = _value(node, "lvltext")
        for place in range(level + 1):
            form = _value(levels[place], "numfmt") if place in levels else "decimal"
            text = text.replace(f"%{place + 1}", list_numeral(max(counts[place], 1), form))
        return f"{text.strip()} " if text.strip() else ""


def integer(text: str) -> int:
    """A number of Word's attributes, 0 for anything else."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 9 else 0


def _start(node: Node | None) -> int:
    return integer(_value(node, "start")) if node is not None and node.find("start") is not None else 1


def _value(node: Node, *path: str) -> str:
    found = node.find(*path)
    return found.get("val") if found is not None else ""
