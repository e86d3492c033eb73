"""Reads the formulas of markup (MathML, Office's OMML) as trees."""

import re
from collections.abc import Callable, Iterable, Mapping
from itertools import chain

from ingest.readers.markup_tree import Node
from paperscope_core.text.formulas import (
    ACCENT_NAMES,
    Accent,
    Binomial,
    Fence,
    Formula,
    Fraction,
    Matrix,
    Root,
    Row,
    Scripts,
    Symbol,
    formula_latex,
    letters,
    plain_formula,
    row,
    scripted,
    tokens,
)
from paperscope_core.text.latex import latex_text, split_tag

__all__ = ["mathml_latex", "mathml_text", "omml_formula"]

_INVISIBLE_OPERATORS = ("\u2061", "\u2062", "\u2063", "\u2064", "\u200b")
_SPACED_OPERATORS = ("=", "<", ">", "≤", "≥", "≈", "∈", "→", "≠", ":=")
_HIDDEN = frozenset("annotation annotation-xml mphantom mspace none malignmark maligngroup".split())
_NO_SIZE = ("0", "0pt", "0px", "0em", "0%")
_SCRIPTS: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(("msup", "mover"), ("upper",)),
    **dict.fromkeys(("msub", "munder"), ("lower",)),
    **dict.fromkeys(("msubsup", "munderover"), ("lower", "upper")),
}
# LaTeXML breaks its lines by comments.
_LINE_END = re.compile(r"(?<!\\)%[ \t]*\n\s*")
_EMPTY = Row(())
_SPACE = Symbol(" ", "space")


def mathml_text(math: Node) -> str:
    """Return a `math` element as text: from the LaTeX that it carries, else from its own elements."""
    latex = _carried_latex(math)
    return latex_text(latex) if latex else plain_formula(_mathml_formula(math))


def mathml_latex(math: Node) -> str:
    """Return a `math` element as LaTeX without its number: as it carries it, else from its own elements."""
    latex = _carried_latex(math)
    return split_tag(latex)[0].strip() if latex else formula_latex(_mathml_formula(math))


def _mathml_formula(math: Node) -> Formula:
    return row(map(_mathml, _parts(math)))


def _carried_latex(math: Node) -> str:
    for note in math.iter("annotation"):
        if "tex" in note.get("encoding").lower() and note.plain_text():
            return _LINE_END.sub("", note.text()).strip()
    return _LINE_END.sub("", math.get("alttext")).strip()


def _parts(node: Node) -> list[Node]:
    return [child for child in node.nodes if child.tag not in ("annotation", "annotation-xml")]


def _mathml(node: Node) -> Formula:
    if node.tag in _HIDDEN:
        return _SPACE if node.tag == "mspace" else _EMPTY
    builder = _MATHML_BUILDERS.get(node.tag)
    if builder is not None:
        return builder(node)
    parts = _parts(node)
    if not parts and node.plain_text():
        return row(tokens(node.plain_text()))
    inner = [_mathml(part) for part in parts]
    return _mathml_built(node, inner) or row(inner)


def _mathml_built(node: Node, parts: list[Formula]) -> Formula | None:
    """Return the formula that an element with these parts writes, None if it only groups them."""
    match node.tag, parts:
        case "mfrac", [over, under]:
            return Binomial(over, under) if node.get("linethickness") in _NO_SIZE else Fraction(over, under)
        case "mroot", [base, degree]:
            return Root(base, degree)
        case "msqrt", _:
            return Root(row(parts))
        case (("mover" | "munder"), [base, script]) if name := _accent_of(node, script):
            return Accent(base, name)
        case tag, [base, *scripts] if len(sides := _SCRIPTS.get(tag, ())) == len(scripts) > 0:
            at = dict(zip(sides, scripts, strict=True))
            return _scripts(base, at.get("lower"), at.get("upper"))
    return None


def _scripts(base: Formula, lower: Formula | None, upper: Formula | None) -> Formula:
    lower, upper = (None if script == _EMPTY else script for script in (lower, upper))
    return scripted(_unspaced(base), lower=lower, upper=upper)


def _unspaced(formula: Formula) -> Formula:
    """Return a formula without the spaces around a relation."""
    return row(item for item in formula.items if item != _SPACE) if isinstance(formula, Row) else formula


def _accent_of(node: Node, script: Formula) -> str:
    """Return the accent that is over or under a formula, "" if that is a limit or a script."""
    script = _unspaced(script)
    if not isinstance(script, Symbol):
        return ""
    name = ACCENT_NAMES.get(script.text, "")
    if node.tag == "munder":
        return "underline" if name in ("underline", "bar") else ""
    return name


def _operator(node: Node) -> Formula:
    sign = node.plain_text()
    if sign in _INVISIBLE_OPERATORS:
        return _EMPTY
    if sign in _SPACED_OPERATORS:
        return Row((_SPACE, Symbol(sign, "sign"), _SPACE))
    return row(tokens(sign, words=True))


def _identifier(node: Node) -> Formula:
    return row(tokens(node.plain_text(), words=True))


def _words(node: Node) -> Formula:
    return Row(tuple(tokens(" ".join(node.text().split()), words=True)))


def _number(node: Node) -> Formula:
    text = node.plain_text()
    return Symbol(text, "number") if text[:1].isdecimal() else row(tokens(text))


def _multiscripts(node: Node) -> Formula:
    """Return a base with its scripts; those before it follow `mprescripts`."""
    parts = [_mathml(part) for part in node.nodes if part.tag != "mprescripts"]
    behind = next((at for at, part in enumerate(node.nodes) if part.tag == "mprescripts"), len(parts))
    base = parts[0] if parts else _EMPTY
    for lower, upper in zip(parts[1:behind:2], parts[2:behind:2], strict=False):
        base = _scripts(base, lower, upper)
    before = [_scripts(_EMPTY, *pair) for pair in zip(parts[behind::2], parts[behind + 1 :: 2], strict=False)]
    return row((*before, base))


def _mathml_table(table: Node) -> Formula:
    rows = tuple(
        tuple(_stripped(row(map(_mathml, _parts(cell)))) for cell in line.findall("mtd"))
        for line in table.outermost(lambda node: node.tag in ("mtr", "mlabeledtr"))
    )
    aligned = "right left" in " ".join(table.get("columnalign").split())
    return _matrix(rows, lines=aligned)


def _matrix(rows: Iterable[tuple[Formula, ...]], *, lines: bool) -> Formula:
    kept = tuple(cells for cells in rows if any(cell != _EMPTY for cell in cells))
    if lines:
        kept = tuple((row(cells),) for cells in kept)
    return Matrix(kept, lines=lines) if kept else _EMPTY


def _stripped(formula: Formula) -> Formula:
    items = list(formula.items) if isinstance(formula, Row) else [formula]
    while items and items[0] == _SPACE:
        del items[0]
    while items and items[-1] == _SPACE:
        del items[-1]
    return row(items)


def _mathml_fence(node: Node) -> Formula:
    separator = Symbol((node.get("separators") or ",")[0], "sign")
    inner = _separated(map(_mathml, _parts(node)), separator)
    opening, closing = (node.attributes.get(key, default) for key, default in (("open", "("), ("close", ")")))
    return Fence(opening.strip(), inner, closing.strip())


def _separated(parts: Iterable[Formula], separator: Formula) -> Formula:
    return row([*chain.from_iterable((separator, _SPACE, part) for part in parts)][2:])


_MATHML_BUILDERS: Mapping[str, Callable[[Node], Formula]] = {
    "mo": _operator,
    "mi": _identifier,
    "mn": _number,
    **dict.fromkeys(("mtext", "ms"), _words),
    "mtable": _mathml_table,
    "mfenced": _mathml_fence,
    "mmultiscripts": _multiscripts,
    "semantics": lambda node: row(map(_mathml, _parts(node)[:1])),
}


def omml_formula(node: Node) -> Formula:
    """Return the tree of an `oMath` element, or of a part of one."""
    if node.tag.endswith("pr") or node.tag == "del":
        return _EMPTY
    builder = _BUILDERS.get(node.tag)
    return builder(node) if builder else _omml_row(node)


def _omml_row(node: Node) -> Formula:
    """Return what is in a node; the text of a run is no group."""
    parts = ((_run(part).items if part.tag == "r" else (omml_formula(part),)) for part in node.nodes)
    return row(chain.from_iterable(parts))


def _part(node: Node, tag: str) -> Formula:
    part = node.find(tag)
    return _omml_row(part) if part is not None else _EMPTY


def _option(node: Node, group: str, name: str, *, default: str) -> str:
    option = node.find(group, name)
    return default if option is None else option.get("val")


def _run(node: Node) -> Row:
    """Return the text of a run: names if it is upright, otherwise letters."""
    upright = node.find("rpr", "nor") is not None or _option(node, "rpr", "sty", default="") == "p"
    return Row(tuple(chain.from_iterable(tokens(part.text(), words=upright) for part in node.findall("t"))))


def _omml_fraction(node: Node) -> Formula:
    over, under = _part(node, "num"), _part(node, "den")
    return Binomial(over, under) if _option(node, "fpr", "type", default="") == "noBar" else Fraction(over, under)


def _omml_scripts(node: Node) -> Formula:
    return _scripts(_part(node, "e"), _part(node, "sub"), _part(node, "sup"))


def _limit(node: Node) -> Formula:
    base, limit = _part(node, "e"), _part(node, "lim")
    return _scripts(base, limit, None) if node.tag == "limlow" else _scripts(base, None, limit)


def _prescripts(node: Node) -> Formula:
    return row((_scripts(_EMPTY, _part(node, "sub"), _part(node, "sup")), _part(node, "e")))


def _root(node: Node) -> Formula:
    degree = _part(node, "deg")
    return Root(_part(node, "e"), None if degree == _EMPTY else degree)


def _summed(node: Node) -> Formula:
    sign = Symbol(_option(node, "narypr", "chr", default="∫") or "∫", "sign")
    body = _part(node, "e")
    return Row((_scripts(sign, _part(node, "sub"), _part(node, "sup")), _SPACE, body))


def _enclosed(node: Node) -> Formula:
    separator = Symbol(_option(node, "dpr", "sepchr", default="|") or "|", "sign")
    parts = [_omml_row(part) for part in node.findall("e")]
    opening, closing = _option(node, "dpr", "begchr", default="("), _option(node, "dpr", "endchr", default=")")
    return Fence(opening, _separated(parts, separator), closing)


def _function(node: Node) -> Formula:
    name = _named(_part(node, "fname"))
    return row((name, _part(node, "e")))


def _named(formula: Formula) -> Formula:
    match formula:
        case Symbol(text=text, kind="letters"):
            return letters(text)
        case Scripts(base=base, lower=lower, upper=upper):
            return Scripts(_named(base), lower, upper)
    return formula


def _accented(node: Node) -> Formula:
    mark = _option(node, "accpr", "chr", default="\u0302") or "\u0302"
    base = _part(node, "e")
    return Accent(base, name) if (name := ACCENT_NAMES.get(mark)) else _scripts(base, None, row(tokens(mark)))


def _barred(node: Node) -> Formula:
    return Accent(_part(node, "e"), "bar" if _option(node, "barpr", "pos", default="bot") == "top" else "underline")


def _omml_rows(node: Node) -> Formula:
    if node.tag == "eqarr":
        return _matrix(((_omml_row(line),) for line in node.findall("e")), lines=True)
    rows = (tuple(_omml_row(cell) for cell in line.findall("e")) for line in node.findall("mr"))
    return _matrix(rows, lines=False)


_BUILDERS: Mapping[str, Callable[[Node], Formula]] = {
    "f": _omml_fraction,
    **dict.fromkeys(("ssup", "ssub", "ssubsup"), _omml_scripts),
    **dict.fromkeys(("limlow", "limupp"), _limit),
    "spre": _prescripts,
    "rad": _root,
    "nary": _summed,
    "d": _enclosed,
    "func": _function,
    "acc": _accented,
    "bar": _barred,
    **dict.fromkeys(("m", "eqarr"), _omml_rows),
}
