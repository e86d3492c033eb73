"""Formulas as trees, and their two written forms: an unambiguous line of plain text, and LaTeX.

The plain form has brackets wherever the tree needs them, so that two formulas with a different meaning never read the
same: `(a/b)²` and `a/b²`, `(1/2)x` and `1/(2x)`, `e^((-x)/2)`, `binom(n, k)`, `√(x+1)`, `∛x`, `√[5]x`, `x_i^(n-k)`,
`[1, 2; 3, 4]` for a matrix, `ŷ` and `overline(AB)`. Spaces only separate what would be one word.
"""

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias, TypeGuard

__all__ = [
    "ACCENT_MARKS",
    "ACCENT_NAMES",
    "BIG_OPERATORS",
    "SYMBOLS",
    "Accent",
    "Binomial",
    "Fence",
    "Formula",
    "Fraction",
    "Matrix",
    "Root",
    "Row",
    "Scripts",
    "Symbol",
    "formula_latex",
    "letters",
    "plain_formula",
    "row",
    "script_text",
    "scripted",
    "tidy_spaces",
    "tokens",
]

SymbolKind = Literal["letters", "name", "number", "sign", "space"]


@dataclass(frozen=True, slots=True)
class Symbol:
    """Letters of variables, a name of several letters (`max`, `TP`), a number, a sign, or a space."""

    text: str
    kind: SymbolKind


@dataclass(frozen=True, slots=True)
class Row:
    """What is written one after the other; inside another row, a group without visible brackets."""

    items: "tuple[Formula, ...]"


@dataclass(frozen=True, slots=True)
class Fraction:
    """A fraction."""

    over: "Formula"
    under: "Formula"


@dataclass(frozen=True, slots=True)
class Binomial:
    """A binomial coefficient, `upper` over `lower`."""

    upper: "Formula"
    lower: "Formula"


@dataclass(frozen=True, slots=True)
class Root:
    """A root; `degree` is None for a square root."""

    of: "Formula"
    degree: "Formula | None" = None


@dataclass(frozen=True, slots=True)
class Scripts:
    """A base with what is below and above it: indices, powers, limits."""

    base: "Formula"
    lower: "Formula | None" = None
    upper: "Formula | None" = None


@dataclass(frozen=True, slots=True)
class Accent:
    """An accent (a key of `ACCENT_MARKS`) over or under a formula."""

    base: "Formula"
    accent: str


@dataclass(frozen=True, slots=True)
class Matrix:
    """Rows of cells; `lines` are the aligned lines of a derivation, one cell each."""

    rows: "tuple[tuple[Formula, ...], ...]"
    lines: bool = False


@dataclass(frozen=True, slots=True)
class Fence:
    """Brackets around a formula; "" for one that is missing."""

    opening: str
    inner: "Formula"
    closing: str


Formula: TypeAlias = Symbol | Row | Fraction | Binomial | Root | Scripts | Accent | Matrix | Fence

ACCENT_MARKS: Mapping[str, str] = {
    "hat": "\u0302", "tilde": "\u0303", "bar": "\u0304", "vec": "\u20d7", "dot": "\u0307", "ddot": "\u0308",
    "breve": "\u0306", "check": "\u030c", "acute": "\u0301", "grave": "\u0300", "mathring": "\u030a",
    "underline": "\u0332",
}  # fmt: skip
"""The combining character of each accent, by the name of its LaTeX command."""

ACCENT_NAMES: Mapping[str, str] = {
    **{mark: name for name, mark in ACCENT_MARKS.items()},
    **dict.fromkeys("^ˆ", "hat"), **dict.fromkeys("~˜∼", "tilde"), **dict.fromkeys("¯‾―-−\u0305\u033f", "bar"),
    **dict.fromkeys("→⟶", "vec"), **dict.fromkeys("˙.", "dot"), "¨": "ddot", "˘": "breve", "ˇ": "check", "´": "acute",
    "`": "grave", "˚": "mathring", "_": "underline",
}  # fmt: skip
"""The accent that a character stands for over a formula."""

_WIDE_ACCENTS = {
    "hat": "widehat", "tilde": "widetilde", "bar": "overline", "vec": "overrightarrow", "underline": "underline",
}  # fmt: skip
BIG_OPERATORS = frozenset("∑∏∐∫∬∭∮⋃⋂⨁⨂⋁⋀")
_GREEK_LETTERS = (
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho sigma tau upsilon phi "
    "chi psi omega"
).split()
_SYMBOLS = """
varepsilon ε  vartheta ϑ  varphi φ  varrho ϱ  varsigma ς  varpi ϖ  times ×  cdot ·  cdots ⋯  ldots …  dots …  dotsc …
dotsb ⋯  vdots ⋮  ddots ⋱  pm ±  mp ∓  div ÷  ast *  star ⋆  circ ∘  bullet •  oplus ⊕  otimes ⊗  odot ⊙  leq ≤  le ≤
geq ≥  ge ≥  neq ≠  ne ≠  approx ≈  sim ∼  simeq ≃  equiv ≡  propto ∝  ll ≪  gg ≫  in ∈  notin ∉  ni ∋  subset ⊂
subseteq ⊆  supset ⊃  supseteq ⊇  cup ∪  cap ∩  bigcup ⋃  bigcap ⋂  setminus ∖  emptyset ∅  varnothing ∅  forall ∀
exists ∃  neg ¬  lnot ¬  land ∧  wedge ∧  lor ∨  vee ∨  rightarrow →  to →  leftarrow ←  gets ←  Rightarrow ⇒
Leftarrow ⇐  leftrightarrow ↔  Leftrightarrow ⇔  mapsto ↦  longrightarrow →  implies ⇒  iff ⇔  uparrow ↑  downarrow ↓
nearrow ↗  searrow ↘  infty ∞  partial ∂  nabla ∇  sum ∑  prod ∏  coprod ∐  int ∫  iint ∬  iiint ∭  oint ∮
bigoplus ⨁  bigotimes ⨂  bigvee ⋁  bigwedge ⋀  ell ℓ  hbar ℏ  Re ℜ  Im ℑ  aleph ℵ
prime ′  dagger †  ddagger ‡  S §  P ¶  copyright ©  langle ⟨  rangle ⟩  lfloor ⌊  rfloor ⌋  lceil ⌈  rceil ⌉  mid |
vert |  lvert |  rvert |  Vert ‖  lVert ‖  rVert ‖  parallel ‖  perp ⊥  angle ∠  triangle △  square □  checkmark ✓
top ⊤  bot ⊥  vdash ⊢  models ⊨  colon :  degree °  percent %  euro €  pounds £  dag †  ddag ‡  lbrace {  rbrace }
lbrack [  rbrack ]  backslash \\  textbackslash \\  textasciitilde ~  ss ß  ae æ  AE Æ  o ø  O Ø  l ł  L Ł  i ı  j ȷ
blacktriangle ▲  triangledown ▽  diamond ⋄  clubsuit ♣  spadesuit ♠  heartsuit ♥  diamondsuit ♦  cong ≅  coloneqq ≔
triangleq ≜
"""


def _symbols() -> dict[str, str]:
    """Return the text of each LaTeX symbol command."""
    words = _SYMBOLS.split()
    symbols = dict(zip(words[::2], words[1::2], strict=True))
    for name in _GREEK_LETTERS:
        spelled = "lamda" if name == "lambda" else name
        symbols[name] = unicodedata.lookup(f"GREEK SMALL LETTER {spelled.upper()}")
        symbols[name.capitalize()] = unicodedata.lookup(f"GREEK CAPITAL LETTER {spelled.upper()}")
    return symbols


SYMBOLS: Mapping[str, str] = _symbols()
"""The character of each LaTeX command that stands for one."""

_NO_COMMANDS = frozenset("lbrace rbrace lbrack rbrack colon percent euro pounds square checkmark i j o l".split())
_COMMANDS = {
    text: f"\\{name}"
    for name, text in reversed(list(SYMBOLS.items()))
    if not text.isascii() and name not in _NO_COMMANDS and not name.startswith("text")
}
_FUNCTIONS = frozenset(
    "arccos arcsin arctan arg cos cosh cot coth csc deg det dim exp gcd hom inf ker lg lim liminf limsup ln log max "
    "min Pr sec sin sinh sup tan tanh".split()
)
_ESCAPED = {**dict.fromkeys("{}%$&#_", None), "\\": "\\backslash ", "~": "\\sim ", "^": "\\hat{}"}
_MINUS_SIGNS = str.maketrans({"−": "-"})

_RAISED = str.maketrans("0123456789+-−=()ni∘◦", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁼⁽⁾ⁿⁱ°°")
_LOWERED = str.maketrans("0123456789+-−=()", "₀₁₂₃₄₅₆₇₈₉₊₋₋₌₍₎")
_SMALL_CHARACTERS = frozenset("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ⁿⁱ₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎")
# Spaces inside brackets and before commas.
_LOOSE_SPACE = re.compile(r"(?<=[(\[]) | (?=[)\],])")
# A script without brackets at the end of a text, which a letter or a digit would continue.
_OPEN_SCRIPT = re.compile(r"[_^][^\W_]+\Z")
# Signs beside which a fraction needs no brackets.
_WEAK_SIGNS = frozenset("+-−±∓×·⋅∗*=<>≤≥≪≫≈∼≃≅≡≠∝≔≜→←↔⇒⇐⇔↦∈∉∋⊂⊆⊃⊇∪∩∖∧∨⊕⊗⊙,;:|‖([{⟨⌈⌊)]}⟩⌉⌋…⋯") | {":="}
# Signs that a sum's terms or the sides of a relation are separated by.
_TERM_SIGNS = frozenset("+-−±∓=<>≤≥≪≫≈∼≃≅≡≠∝≔≜→←↔⇒⇐⇔∈∉⊂⊆") | {":="}
_OPENING, _CLOSING = "([{⟨⌈⌊", ")]}⟩⌉⌋"
_PAIRS = {**dict(zip(_OPENING, _CLOSING, strict=True)), "|": "|", "‖": "‖"}
# A half-open interval.
_MIXED = frozenset(("[)", "(]"))
_ROUND = ("(", ")")
_TOKEN = re.compile(r"\d+(?:\.\d+)*|[^\W\d_]|\s+|:=|.", re.DOTALL)
_WORD = re.compile(r"\d+(?:\.\d+)*|[^\W\d_]+|\s+|.", re.DOTALL)


def letters(text: str) -> Symbol:
    """Return one letter or a name of several."""
    return Symbol(text, "letters" if len(text) == 1 else "name")


def tokens(text: str, *, words: bool = False) -> list[Formula]:
    """Return the symbols of a text: letters one by one or, with `words`, its words."""
    found: list[Formula] = []
    for part in (_WORD if words else _TOKEN).findall(text):
        if part.isspace():
            found.append(Symbol(" ", "space"))
        elif part[0].isdecimal():
            found.append(Symbol(part, "number"))
        elif part[0].isalpha():
            found.append(letters(part))
        elif unicodedata.combining(part) and found and isinstance(found[-1], Symbol | Accent):
            found[-1] = _combined(found[-1], part)
        else:
            found.append(Symbol(part, "sign"))
    return found


def _combined(base: Symbol | Accent, mark: str) -> Formula:
    accent = ACCENT_NAMES.get(mark)
    if accent is None and isinstance(base, Symbol):
        return Symbol(unicodedata.normalize("NFC", base.text + mark), base.kind)
    return Accent(base, accent) if accent else base


def row(items: Iterable[Formula]) -> Formula:
    """Return the items as one formula: groups are opened, adjacent letters are joined, and matching brackets become
    fences."""
    flat: list[Formula] = []
    for item in items:
        if isinstance(item, Row) and not (flat and _is_big(_last(flat)) and _has_terms(item)):
            flat.extend(item.items)
        else:
            flat.append(item)
    fenced = _fenced(flat)
    joined: list[Formula] = []
    for item in fenced:
        last = joined[-1] if joined else None
        if _is_letters(item) and last is not None and _is_letters(last):
            joined[-1] = Symbol(last.text + item.text, "letters")
        else:
            joined.append(item)
    return joined[0] if len(joined) == 1 else Row(tuple(joined))


def scripted(base: Formula, *, lower: Formula | None = None, upper: Formula | None = None) -> Formula:
    """Return a base with scripts; one that it lacks becomes its own: `x_i` with the power 2 is `x_i²`."""
    if lower is None and upper is None:
        return base
    if isinstance(base, Scripts) and not (base.lower and lower) and not (base.upper and upper):
        return Scripts(base.base, base.lower or lower, base.upper or upper)
    return Scripts(base, lower, upper)


def _is_letters(item: Formula) -> TypeGuard[Symbol]:
    return isinstance(item, Symbol) and item.kind == "letters"


def _last(items: Sequence[Formula]) -> Formula | None:
    return next((item for item in reversed(items) if not _is_space(item)), None)


def _is_space(item: Formula) -> bool:
    return isinstance(item, Symbol) and item.kind == "space"


def _is_big(item: Formula | None) -> bool:
    base = item.base if isinstance(item, Scripts) else item
    return isinstance(base, Symbol) and base.text in BIG_OPERATORS


def _has_terms(item: Row) -> bool:
    """Return whether a group has several terms or sides."""
    parts = [one for one in item.items if not _is_space(one)]
    return len(parts) > 1 and any(isinstance(one, Symbol) and one.text in _TERM_SIGNS for one in parts)


def _fenced(items: Sequence[Formula]) -> list[Formula]:
    """Return the items with a fence for each pair of brackets; a closing one may have scripts."""
    stack: list[tuple[str, list[Formula]]] = [("", [])]
    for item in items:
        sign = _sign_of(item)
        if sign and sign in _OPENING and isinstance(item, Symbol):
            stack.append((sign, []))
        elif sign and sign in _CLOSING and (_PAIRS.get(stack[-1][0]) == sign or stack[-1][0] + sign in _MIXED):
            opening, inner = stack.pop()
            fence = Fence(opening, row(inner), sign)
            stack[-1][1].append(Scripts(fence, item.lower, item.upper) if isinstance(item, Scripts) else fence)
        else:
            stack[-1][1].append(item)
    flat = stack[0][1]
    for opening, inner in stack[1:]:
        flat += [Symbol(opening, "sign"), *inner]
    return flat


def _sign_of(item: Formula) -> str:
    base = item.base if isinstance(item, Scripts) else item
    return base.text if isinstance(base, Symbol) and base.kind == "sign" else ""


def plain_formula(formula: Formula) -> str:
    """Return a formula as an unambiguous line of plain text."""
    if isinstance(formula, Matrix) and formula.lines:
        return " ; ".join(tidy_spaces(_plain(line)) for cells in formula.rows for line in cells)
    return tidy_spaces(_plain(formula))


def _plain(formula: Formula) -> str:
    match formula:
        case Symbol() | Row():
            text = formula.text if isinstance(formula, Symbol) else _plain_row(formula.items)
        case Fraction(over=over, under=under):
            text = f"{_operand(over)}/{_operand(under)}"
        case Binomial(upper=upper, lower=lower):
            text = f"binom({_cell(upper)}, {_cell(lower)})"
        case Root(of=of, degree=degree):
            text = _plain_root(of, degree)
        case Scripts():
            text = _plain_scripts(formula)
        case Accent(base=base, accent=accent):
            text = _plain_accent(base, accent)
        case Matrix(rows=rows, lines=lines):
            text = f"{{{_cells(rows)}}}" if lines else f"[{_cells(rows)}]"
        case Fence():
            text = _plain_fence(formula)
    return text


def _plain_row(items: Sequence[Formula]) -> str:
    seen = [at for at, item in enumerate(items) if not _is_space(item)]
    beside: dict[int, tuple[Formula | None, Formula | None]] = {
        at: (items[before] if before is not None else None, items[after] if after is not None else None)
        for before, at, after in zip([None, *seen], seen, [*seen[1:], None], strict=False)
    }
    parts: list[str] = []
    for at, item in enumerate(items):
        part = _plain(item)
        before, after = beside.get(at, (None, None))
        if isinstance(item, Row) or (isinstance(item, Fraction) and (_binds(before) or _binds(after, behind=True))):
            part = f"({part})"
        if parts and _would_join(parts[-1], part, items[at - 1], item):
            parts.append(" ")
        parts.append(part)
    return "".join(parts)


def _binds(item: Formula | None, *, behind: bool = False) -> bool:
    """Return whether a fraction beside this item would be read as a part of a product or an argument."""
    if item is None or (_is_big(item) and not behind):
        return False
    return not (isinstance(item, Symbol) and item.text in _WEAK_SIGNS)


def _would_join(text: str, part: str, before: Formula, item: Formula) -> bool:
    """Return whether text and the part behind it would be read as one word, number, script or root."""
    if not text or not part or not _is_word_character(part[0]):
        return False
    if _OPEN_SCRIPT.search(text) or (isinstance(before, Root) and _is_word_character(text[-1])):
        return True
    if not _is_word_character(text[-1]):
        return False
    number = isinstance(item, Symbol) and item.kind == "number"
    return part[0].isdecimal() == text[-1].isdecimal() or (
        number and isinstance(before, Symbol) and before.kind == "name"
    )


def _is_word_character(character: str) -> bool:
    return (character.isalnum() or unicodedata.combining(character) > 0) and character not in _SMALL_CHARACTERS


def _operand(formula: Formula) -> str:
    """Return a formula as the side of a fraction."""
    text = _plain(formula)
    simple = isinstance(formula, Scripts | Accent | Binomial | Root) or _is_enclosed(formula)
    return text if simple or (isinstance(formula, Symbol) and formula.kind != "space") else f"({tidy_spaces(text)})"


def _is_enclosed(formula: Formula) -> bool:
    if isinstance(formula, Fence):
        return bool(formula.opening and formula.closing)
    return isinstance(formula, Matrix)


def _plain_root(of: Formula, degree: Formula | None) -> str:
    text = _plain(of)
    single = isinstance(of, Symbol) and (of.kind in ("number", "name") or len(text) == 1)
    if not (single or _is_round(of)):
        text = f"({tidy_spaces(text)})"
    number = _plain(degree) if degree is not None else ""
    sign = {"": "√", "2": "√", "3": "∛", "4": "∜"}.get(number, f"√[{tidy_spaces(number)}]")
    return sign + text


def _plain_scripts(formula: Scripts) -> str:
    lower, upper = _script_source(formula.lower), _script_source(formula.upper)
    base = _base(formula.base)
    if isinstance(formula.base, Symbol) and formula.base.kind == "number" and not (lower and upper):
        # An uncertainty or a mark of significance beside a value, set as a script.
        text = lower or upper
        if text not in ("+", "-", "−") and (text.startswith(("±", "(")) or not any(map(str.isalnum, text))):
            return base + text.replace("∘", "°")
    below = _script(lower, raised=False, enclosed=_is_round(formula.lower))
    return base + below + _script(upper, raised=True, enclosed=_is_round(formula.upper))


def _is_round(formula: Formula | None) -> bool:
    """Return whether a formula is written in round brackets of its own."""
    if not isinstance(formula, Fence) or isinstance(formula.inner, Binomial | Matrix):
        return False
    return (formula.opening, formula.closing) == _ROUND


def _base(formula: Formula) -> str:
    text = _plain(formula)
    match formula:
        case Symbol(kind=kind):
            bare = kind != "letters" or len(text) == 1
        case Accent():
            bare = True
        case Fence():
            bare = bool(formula.closing)
        case Matrix():
            bare = True
        case _:
            bare = isinstance(formula, Binomial) or not text
    return text if bare else f"({tidy_spaces(text)})"


def _script_source(formula: Formula | None) -> str:
    if isinstance(formula, Row):
        formula = Row(tuple(item for item in formula.items if not _is_space(item)))
    return tidy_spaces(_plain(formula)) if formula is not None else ""


def _script(text: str, *, raised: bool, enclosed: bool) -> str:
    if not text or (raised and text in ("′", "″", "‴", "°", "†", "‡", "∘")):
        return text.replace("∘", "°")
    table = _RAISED if raised else _LOWERED
    sign = "^" if raised else "_"
    if all(ord(letter) in table for letter in text) and not (enclosed and any(map(str.isalpha, text))):
        return text.translate(table)
    single = len(text) == 1 and text not in "()[]{}|^_/,;"
    return sign + text if enclosed or single or all(map(_is_word_character, text)) else f"{sign}({text})"


def _plain_accent(base: Formula, accent: str) -> str:
    text = _plain(base)
    if _is_letter(unicodedata.normalize("NFD", text)):
        return unicodedata.normalize("NFC", text + ACCENT_MARKS[accent])
    return f"{_WIDE_ACCENTS.get(accent, f'wide{accent}')}({tidy_spaces(text)})"


def _is_letter(text: str) -> bool:
    """Return whether a text is one letter or digit with any accents."""
    return text[:1].isalnum() and all(map(unicodedata.combining, text[1:]))


def _cells(rows: Sequence[Sequence[Formula]]) -> str:
    """Return the cells of a matrix; a single row of several cells ends with a semicolon, as no list does."""
    text = "; ".join(", ".join(map(_cell, cells)) for cells in rows)
    return text if len(rows) > 1 else f"{text};"


def _cell(formula: Formula) -> str:
    text = tidy_spaces(_plain(formula))
    items = formula.items if isinstance(formula, Row) else (formula,)
    separated = any(isinstance(item, Symbol) and item.text in (",", ";") for item in items)
    return f"({text})" if separated else text


def _plain_fence(fence: Fence) -> str:
    inner = fence.inner
    if (fence.opening, fence.closing) == _ROUND and isinstance(inner, Binomial):
        return _plain(inner)
    if isinstance(inner, Matrix):
        if fence.opening == "{":
            return f"{{{_cells(inner.rows)}}}"
        if fence.opening + fence.closing in ("()", "[]"):
            return f"[{_cells(inner.rows)}]"
    return f"{fence.opening}{tidy_spaces(_plain(inner))}{fence.closing}"


def tidy_spaces(text: str) -> str:
    """Return the text with single spaces, and none inside brackets or before commas."""
    return _LOOSE_SPACE.sub("", " ".join(text.split()))


def script_text(text: str, *, raised: bool) -> str:
    """Return a superscript or subscript as text: `²` and `₁` if Unicode has the letters, otherwise `^k`, `_ij`,
    `^(k,l)`.

    Marks such as † stay as they are.
    """
    table = _RAISED if raised else _LOWERED
    if all(ord(letter) in table for letter in text):
        return text.translate(table)
    if not any(letter.isalnum() for letter in text) or text[0] in "±(":
        return text
    sign = "^" if raised else "_"
    return f"{sign}{text}" if text.isalnum() else f"{sign}({text})"


def formula_latex(formula: Formula) -> str:
    """Return a formula as LaTeX that KaTeX draws."""
    return " ".join(_latex(formula).split())


def _latex(formula: Formula) -> str:
    match formula:
        case Symbol():
            text = _latex_symbol(formula)
        case Row(items=items):
            text = _latex_row(items)
        case Fraction(over=over, under=under):
            text = f"\\frac{_group(over)}{_group(under)}"
        case Binomial(upper=upper, lower=lower):
            text = f"\\binom{_group(upper)}{_group(lower)}"
        case Root(of=of, degree=degree):
            text = f"\\sqrt{_group(of)}" if degree is None else f"\\sqrt[{_group(degree)}]{_group(of)}"
        case Scripts():
            text = _latex_scripts(formula)
        case Accent(base=base, accent=accent):
            command = accent if isinstance(base, Symbol) and len(base.text) == 1 else _WIDE_ACCENTS.get(accent, accent)
            text = f"\\{command}{_group(base)}"
        case Matrix(rows=rows, lines=lines):
            text = _latex_matrix(rows, "aligned" if lines else "matrix")
        case Fence():
            text = _latex_fence(formula)
    return text


def _latex_row(items: Sequence[Formula]) -> str:
    text = ""
    for item in items:
        part = _group(item) if isinstance(item, Row) else _latex(item)
        # Two numbers beside each other are not one.
        text += f"\\,{part}" if text[-1:].isdecimal() and part[:1].isdecimal() else part
    return text


def _group(formula: Formula) -> str:
    return f"{{{_latex(formula)}}}"


def _latex_scripts(formula: Scripts) -> str:
    base = formula.base
    bare = isinstance(base, Fence) or (isinstance(base, Symbol) and (base.kind != "letters" or len(base.text) == 1))
    below = "" if formula.lower is None else f"_{_group(formula.lower)}"
    above = "" if formula.upper is None else f"^{_group(formula.upper)}"
    return (_latex(base) if bare else _group(base)) + below + above


def _latex_fence(fence: Fence) -> str:
    if isinstance(fence.inner, Binomial) and (fence.opening, fence.closing) == _ROUND:
        return _latex(fence.inner)
    return f"\\left{_delimiter(fence.opening)}{_latex(fence.inner)}\\right{_delimiter(fence.closing)}"


def _latex_symbol(symbol: Symbol) -> str:
    text = symbol.text
    if symbol.kind == "space":
        return " "
    if symbol.kind == "name":
        if text in _FUNCTIONS:
            return f"\\{text} "
        return f"\\operatorname{{{text}}}" if text.isascii() else f"\\text{{{text}}}"
    return "".join(map(_latex_character, unicodedata.normalize("NFC", text)))


def _latex_character(character: str) -> str:
    if character in _ESCAPED:
        return _ESCAPED[character] or f"\\{character}"
    command = _COMMANDS.get(character)
    return f"{command} " if command else character.translate(_MINUS_SIGNS)


def _latex_matrix(rows: Sequence[Sequence[Formula]], environment: str) -> str:
    lines = " \\\\ ".join(" & ".join(map(_latex, cells)) for cells in rows)
    return f"\\begin{{{environment}}} {lines} \\end{{{environment}}}"


def _delimiter(sign: str) -> str:
    return _latex_character(sign) if sign else "."
