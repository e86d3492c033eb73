"""What a paragraph of Word holds: text, notes, formulas, pictures."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from ingest.markup.inline import collapsed
from ingest.markup.maths import omml_text
from ingest.markup.nodes import Node
from ingest.pdf.page.scripts import script_text

__all__ = ["Content", "Picture", "content_of"]

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
class Content:
    """A paragraph: its text in a line, whether all of it is bold, its parts apart from running text."""

    text: str
    raw: str
    bold: bool
    notes: tuple[tuple[str, str], ...]
    formulas: tuple[str, ...]
    displayed: bool
    pictures: tuple[Picture, ...]
    boxes: tuple[Node, ...]


def content_of(paragraph: Node, *, number_of: Callable[[str, str], int]) -> Content:
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
    return Content(
        text=collapsed(raw),
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
                yield from (part for part in child.many("omath"))


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
    shift = run.one("rpr", "vertalign")
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
    mark = run.one("rpr", flag)
    return mark is not None and mark.get("val").lower() not in _OFF


def _all_bold(paragraph: Node) -> bool:
    runs = [run for run in _parts(paragraph) if run.tag == "r" and any(part.plain() for part in run.many("t"))]
    return bool(runs) and all(_is_on(run, "b") for run in runs)


def _pictures(paragraph: Node) -> Iterator[Picture]:
    for node in _parts(paragraph):
        if node.tag in ("blip", "imagedata"):
            relation = node.get("embed") or node.get("id")
            properties = next(paragraph.all("docpr"), None)
            description = properties.get("descr") or properties.get("title") if properties is not None else ""
            if relation:
                yield Picture(relation=relation, description=description)


def _boxes(paragraph: Node) -> Iterator[Node]:
    """Text boxes; of a drawing and its fallback, the drawing's."""
    for choice in paragraph.where(lambda node: node.tag in ("txbxcontent", "fallback")):
        if choice.tag == "txbxcontent":
            yield choice
