"""Reads LaTeX formulas: as trees, and as lines of plain text."""

import re
import unicodedata
from collections import deque
from collections.abc import Callable, Collection, Mapping
from itertools import accumulate, islice

from paperscope_core.text.formulas import (
    ACCENT_MARKS,
    SYMBOLS,
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
    letters,
    plain_formula,
    row,
    scripted,
    tokens,
)

__all__ = ["latex_formula", "latex_text", "split_tag", "without_latex"]

# A number keeps the separators of its thousands (`1{,}225`) and its decimals.
_TOKEN = re.compile(
    r"\\\\\*?(?:\s*\[[^\[\]\n]{0,12}(?:pt|em|ex|mm|cm|in)\])?|\\[A-Za-z]+\*?|\\.|\s+|\d+(?:\{,\}\d{3})*(?:\.\d+)?|.",
    re.DOTALL,
)
_TAG = re.compile(r"\\(?:tag\*?|eqno)\s*(?:\{([^{}]*)\}|\(([^()]*)\))")
_LABEL = re.compile(r"\\(?:label|nonumber|notag)\b\s*(?:\{[^{}]*\})?")
# Formulas between dollars (by Pandoc's rule, which "$5 and $6" does not fit) or brackets, and what running text has of
# LaTeX: commands with their arguments, escaped signs, scripts in braces.
_IN_TEXT = re.compile(
    r"(?<!\\)\$(?=\S)(?P<dollars>[^$\n]{1,300})(?<=[^\s\\])\$(?!\d)|\\\((?P<round>[^\n]{1,300}?)\\\)"
    r"|\\\[(?P<square>[^\n]{1,300}?)\\\]|\\[A-Za-z]+(?:\{[^{}\n]{0,100}\})*|\\[%$&#_]|[_^]\{[^{}\n]{1,100}\}|\{,\}"
)
_MAX_DEPTH = 30
_MAX_LENGTH = 20_000
_MAX_OPTION_TOKENS = 1000

_ACCENTS = {name: name for name in ACCENT_MARKS} | {
    "widehat": "hat", "widetilde": "tilde", "overline": "bar", "overrightarrow": "vec", "widecheck": "check",
}  # fmt: skip
_FRACTIONS = frozenset("frac dfrac tfrac cfrac nicefrac sfrac".split())
_BINOMIALS = frozenset("binom dbinom tbinom".split())
_INFIX = frozenset("over choose atop brack brace".split())
_DROPPED_WITH_ARGUMENT = frozenset("hspace vspace phantom hphantom vphantom color textcolor mspace kern".split())
_IGNORED = frozenset(
    "big Big bigg Bigg bigl bigr Bigl Bigr biggl biggr Biggl Biggr bigm Bigm middle displaystyle textstyle "
    "scriptstyle scriptscriptstyle limits nolimits boxed fbox ensuremath mathop mathbin mathrel mathord mathopen "
    "mathclose mathpunct underbrace overbrace rm bf it sf tt cal boldmath unboldmath small footnotesize normalsize "
    "centering hline toprule midrule bottomrule nonumber notag".split()
)
# Their argument is a name, or words.
_NAMING = frozenset(
    "mathrm mathbf mathit mathcal mathbb mathfrak mathsf mathtt mathscr operatorname text textbf textit textrm textsf "
    "texttt textsc textnormal emph mbox hbox bm boldsymbol pmb".split()
)
_PLAIN_COMMANDS = {
    **SYMBOLS,
    "|": "‖",
    **dict.fromkeys(_IGNORED, ""),
    **dict.fromkeys((",", ";", ":", ">", " ", "quad", "qquad", "\n"), " "),
    **dict.fromkeys(("!", "-", "/"), ""),
}
_FENCES = {"pmatrix": "()", "bmatrix": "[]", "Bmatrix": "{}", "vmatrix": "||", "Vmatrix": "‖‖"}
_MATRICES = frozenset((*_FENCES, "matrix", "smallmatrix", "array", "tabular", "cases", "dcases"))
_EMPTY = Row(())
_SPACE = Symbol(" ", "space")
_COMMA = Symbol(",", "sign")


def split_tag(source: str) -> tuple[str, str]:
    """Return the formula without `\\tag{3}` and `\\label{}`, and the number in the tag ("" without one)."""
    match = _TAG.search(source)
    number = (match[1] or match[2] or "").strip("() ") if match else ""
    return _LABEL.sub(" ", _TAG.sub(" ", source)), number


def without_latex(text: str) -> str:
    """Return running text with its LaTeX formulas, commands and escaped signs as plain text: "5 $\\mu$m" is "5 μm"."""
    if not any(sign in text for sign in ("\\", "$", "_{", "^{", "{,}")):
        return text
    return _IN_TEXT.sub(_plain_match, text)


def _plain_match(match: re.Match[str]) -> str:
    formula = match["dollars"] or match["round"] or match["square"]
    if formula is None and match[0][1] in "%$&#_":
        return match[0][1:]
    return latex_text(formula or match[0])


def latex_text(source: str) -> str:
    """Return a formula in LaTeX as a line of text; a source too long for a formula is returned unchanged.

    Unknown commands keep their names: `\\softmax(x)` becomes `softmax(x)`.
    """
    return source if len(source) > _MAX_LENGTH else plain_formula(latex_formula(source))


def latex_formula(source: str) -> Formula:
    """Return the tree of a formula in LaTeX, of its first 20,000 characters."""
    reader = _FormulaReader(split_tag(source[:_MAX_LENGTH])[0])
    return reader.formula()


class _FormulaReader:
    """Reads the tokens of a formula from left to right."""

    def __init__(self, source: str) -> None:
        self._tokens = deque(_TOKEN.findall(source))

    def formula(self) -> Formula:
        """Return the whole formula; what closes nothing is skipped."""
        found: list[Formula] = []
        while self._tokens:
            found.append(self._lines(depth=0, ends=()))
        return row(found)

    def _lines(self, *, depth: int, ends: Collection[str]) -> Formula:
        """Read up to one of these tokens, which is taken; lines of a derivation become its lines."""
        rows = self._rows(depth=depth, ends=ends)
        lines = tuple((line,) for cells in rows if (line := row(cells)) != _EMPTY)
        return lines[0][0] if len(lines) == 1 else Matrix(lines, lines=True) if lines else _EMPTY

    def _rows(self, *, depth: int, ends: Collection[str]) -> list[tuple[Formula, ...]]:
        """Read rows of cells, between `\\\\` and `&`, up to one of these tokens, which is taken."""
        rows: list[list[Formula]] = [[]]
        parts: list[Formula] = []
        while self._tokens:
            symbol = self._tokens.popleft()
            if symbol in ends:
                break
            if symbol == "&" or symbol.startswith("\\\\"):
                rows[-1].append(row(parts))
                parts = []
                if symbol != "&":
                    rows.append([])
            elif symbol[1:] in _INFIX and symbol[0] == "\\" and depth < _MAX_DEPTH:
                over = row(_trimmed(parts))
                return [(self._infix(symbol[1:], over, depth=depth + 1, ends=ends),)]
            elif symbol != "}":
                self._read(symbol, parts, depth=depth)
        rows[-1].append(row(parts))
        return [tuple(cells) for cells in rows if any(cell not in (_EMPTY, _SPACE) for cell in cells)]

    def _infix(self, command: str, over: Formula, *, depth: int, ends: Collection[str]) -> Formula:
        under = row(_trimmed([self._lines(depth=depth, ends=ends)]))
        return Fraction(over, under) if command == "over" else Binomial(over, under)

    def _read(self, symbol: str, parts: list[Formula], *, depth: int) -> None:
        """Add what a symbol begins to the parts."""
        if symbol in ("^", "_"):
            # A script belongs to what precedes it, spaces aside.
            while parts and parts[-1] == _SPACE:
                parts.pop()
            base = parts.pop() if parts and not _is_deep(parts[-1]) else _EMPTY
            parts.append(scripted(base, **self._scripts(symbol, depth=depth)))
        elif symbol.startswith("\\") and len(symbol) > 1:
            parts.extend(self._command(symbol[1:].removesuffix("*"), depth=depth))
        elif symbol == "{":
            group = self._lines(depth=depth + 1, ends=("}",)) if depth < _MAX_DEPTH else _EMPTY
            parts.append(group)
        elif symbol == "~":
            parts.append(_SPACE)
        elif symbol == "'":
            parts.append(Symbol("′", "sign"))
        elif symbol[0].isdecimal():
            parts.append(Symbol(symbol.replace("{,}", ","), "number"))
        elif symbol != "$":
            parts.extend(tokens(symbol))

    def _scripts(self, sign: str, *, depth: int) -> dict[str, Formula]:
        """Return the script behind `^` or `_`, and that behind the other sign if it follows."""
        found: dict[str, Formula] = {}
        while True:
            found["upper" if sign == "^" else "lower"] = self._argument(depth=depth)
            self._skip_spaces(before=("^", "_"))
            sign = self._tokens[0] if self._tokens else ""
            if sign not in ("^", "_") or ("upper" if sign == "^" else "lower") in found:
                return found
            self._tokens.popleft()

    def _command(self, name: str, *, depth: int) -> list[Formula]:
        """Return what a command writes, without its backslash."""
        if (plain := _PLAIN_COMMANDS.get(name)) is not None:
            return tokens(plain)
        if name in ("right", "end"):
            # It closes nothing.
            self._delimiter() if name == "right" else self._name()
            return []
        if name in ("left", "begin"):
            return [self._fence(depth=depth) if name == "left" else self._environment(depth=depth)]
        if name in _COMMANDS_OF_TWO:
            first = self._argument(depth=depth)
            return [_COMMANDS_OF_TWO[name](first, self._argument(depth=depth))]
        if name in _COMMANDS_OF_ONE:
            degree = self._option() if name == "sqrt" else None
            of = self._argument(depth=depth)
            return [_COMMANDS_OF_ONE[name](of) if degree is None else Root(of, degree)]
        return [letters(name)] if name.isalpha() else tokens(name)

    def _argument(self, *, depth: int) -> Formula:
        """Return the next group, or the next symbol that is not a space; of a number, its first digit."""
        self._skip_spaces()
        if not self._tokens or depth >= _MAX_DEPTH or self._tokens[0] == "}":
            return _EMPTY
        symbol = self._tokens.popleft()
        if symbol[0].isdecimal() and len(symbol) > 1:
            self._tokens.appendleft(symbol[1:])
            symbol = symbol[0]
        parts: list[Formula] = []
        self._read(symbol, parts, depth=depth + 1)
        return row(parts)

    def _skip_spaces(self, *, before: Collection[str] = ()) -> None:
        """Skip spaces; if tokens are given, only before one of these."""
        if before and (len(self._tokens) < 2 or self._tokens[1] not in before):
            return
        while self._tokens and self._tokens[0].isspace():
            self._tokens.popleft()

    def _option(self) -> Formula | None:
        """Return the optional argument of `\\sqrt` (`3` of `[3]`), None without one."""
        self._skip_spaces()
        near = list(islice(self._tokens, _MAX_OPTION_TOKENS))
        if near[:1] != ["["]:
            return None
        braces = list(accumulate((symbol == "{") - (symbol == "}") for symbol in near))
        end = next((at for at, symbol in enumerate(near) if symbol == "]" and not braces[at]), 0)
        if not end:
            return None
        option = near[1:end]
        for _ in range(len(option) + 2):
            self._tokens.popleft()
        return _FormulaReader("".join(option)).formula()

    def _fence(self, *, depth: int) -> Formula:
        opening = self._delimiter()
        if depth >= _MAX_DEPTH:
            return Symbol(opening, "sign")
        inner = self._lines(depth=depth + 1, ends=("\\right",))
        return Fence(opening, inner, self._delimiter())

    def _delimiter(self) -> str:
        self._skip_spaces()
        symbol = self._tokens.popleft() if self._tokens else "."
        if symbol.startswith("\\"):
            name = symbol[1:]
            return "‖" if name == "|" else SYMBOLS.get(name, name[:1])
        return "" if symbol == "." else symbol[:1]

    def _environment(self, *, depth: int) -> Formula:
        """Read an environment up to its end."""
        name = self._name().removesuffix("*")
        if depth >= _MAX_DEPTH:
            return _EMPTY
        if name not in _MATRICES:
            self._option()
            return self._until_end(self._lines(depth=depth + 1, ends=("\\end",)))
        if name in ("array", "tabular"):
            self._option()
            self._name()
        rows = self._rows(depth=depth + 1, ends=("\\end",))
        # In a definition by cases, the comma before the condition separates the cells.
        more = (_COMMA,) if name in ("cases", "dcases") else ()
        cells = tuple(tuple(row(_trimmed([cell], *more)) for cell in line) for line in rows)
        matrix = self._until_end(Matrix(cells) if cells else _EMPTY)
        if name in ("cases", "dcases"):
            return Fence("{", matrix, "")
        fence = _FENCES.get(name, "")
        return Fence(fence[0], matrix, fence[1]) if fence else matrix

    def _until_end(self, found: Formula) -> Formula:
        self._name()
        return found

    def _name(self) -> str:
        """Take a group of plain text, "" without one."""
        self._skip_spaces()
        if not self._tokens or self._tokens[0] != "{":
            return ""
        self._tokens.popleft()
        parts: list[str] = []
        while self._tokens and (symbol := self._tokens.popleft()) != "}":
            parts.append(symbol)
        return "".join(parts)


def _is_deep(formula: Formula) -> bool:
    """Return whether a formula has scripts of scripts of scripts, as `x_x_x` (an error in TeX) would have."""
    depth = 0
    while isinstance(formula, Scripts) and depth < _MAX_DEPTH:
        formula = formula.base
        depth += 1
    return depth == _MAX_DEPTH


def _trimmed(parts: list[Formula], *more: Formula) -> list[Formula]:
    """Return the parts without spaces at both ends, and without these at the last."""
    items = [item for part in parts for item in (part.items if isinstance(part, Row) else (part,))]
    while items and items[0] == _SPACE:
        del items[0]
    while items and items[-1] in (_SPACE, *more):
        del items[-1]
    return items


def _named(formula: Formula) -> Formula:
    """Return a formula with its runs of letters as names."""
    if isinstance(formula, Symbol) and formula.kind == "letters":
        return letters(formula.text)
    return Row(tuple(map(_named, formula.items))) if isinstance(formula, Row) else formula


def _negated(formula: Formula) -> Formula:
    return Symbol(unicodedata.normalize("NFC", f"{plain_formula(formula)}\u0338"), "sign")


def _accented(accent: str) -> Callable[[Formula], Formula]:
    return lambda base: Accent(base, accent)


_COMMANDS_OF_ONE: Mapping[str, Callable[[Formula], Formula]] = {
    "sqrt": Root,
    "not": _negated,
    "substack": lambda lines: lines,
    **dict.fromkeys(_NAMING, _named),
    **dict.fromkeys(_DROPPED_WITH_ARGUMENT, lambda _: _SPACE),
    **{command: _accented(accent) for command, accent in _ACCENTS.items()},
}
_COMMANDS_OF_TWO: Mapping[str, Callable[[Formula, Formula], Formula]] = {
    **dict.fromkeys(_FRACTIONS, Fraction),
    **dict.fromkeys(_BINOMIALS, Binomial),
    "underset": lambda script, base: scripted(base, lower=script),
    **dict.fromkeys(("overset", "stackrel"), lambda script, base: scripted(base, upper=script)),
}
