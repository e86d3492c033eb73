"""Formulas keep their meaning in plain text, whatever format they come from: the plain form can be parsed back."""

import re
import unicodedata
from collections.abc import Sequence
from html import escape
from typing import TypeAlias

from hypothesis import example, given, settings
from hypothesis import strategies as st

from ingest.readers.formula_text import mathml_text, omml_formula
from ingest.readers.markup_tree import parse_xml
from paperscope_core.text.formulas import (
    ACCENT_MARKS,
    ACCENT_NAMES,
    BIG_OPERATORS,
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
)
from paperscope_core.text.latex import latex_formula, latex_text

Value: TypeAlias = tuple["Value", ...] | str

MARKS = ("hat", "tilde", "bar", "vec", "dot")
WIDE = {"widehat": "hat", "widetilde": "tilde", "overline": "bar", "overrightarrow": "vec", "widedot": "dot"}
PAIRS = {"(": ")", "[": "]", "{": "}", "|": "|"}
RAISED = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ⁿⁱ", "0123456789+-=()ni", strict=True))
LOWERED = dict(zip("₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎", "0123456789+-=()", strict=True))
MARK_CHARACTERS = "".join(ACCENT_MARKS.values())
SMALL = "".join((*RAISED, *LOWERED))
TOKEN = re.compile(
    rf"[{''.join(RAISED)}]+|[{''.join(LOWERED)}]+|[^\W_{SMALL}][{MARK_CHARACTERS}]+"
    rf"|\d+(?:\.\d+)*|(?:[^\W\d_{SMALL}](?![{MARK_CHARACTERS}]))+|\s+|."
)

LETTERS = st.sampled_from(("a", "b", "x", "n", "ab")).map(lambda text: Symbol(text, "letters"))
NAMES = st.sampled_from(("TP", "loss", "max")).map(letters)
NUMBERS = st.sampled_from(("2", "10", "3.5")).map(lambda text: Symbol(text, "number"))
SIGNS = st.sampled_from(("+", "-", "=", "<", "·", ",", "∞")).map(lambda text: Symbol(text, "sign"))
BIG = st.sampled_from(("∑", "∏", "∫")).map(lambda text: Symbol(text, "sign"))
ATOMS = LETTERS | NAMES | NUMBERS


def compound(inner: st.SearchStrategy[Formula]) -> st.SearchStrategy[Formula]:
    scripts = st.tuples(inner, inner, inner, st.sampled_from(("lower", "upper", "both"))).map(
        lambda parts: Scripts(
            letters("x") if is_kind(parts[0], "sign", "number") else parts[0],
            None if parts[3] == "upper" else parts[1],
            None if parts[3] == "lower" else parts[2],
        )
    )
    limits = st.tuples(BIG, inner, inner).map(lambda parts: Scripts(*parts))
    body = st.tuples(limits, inner, inner).map(
        lambda parts: row((parts[0], row((parts[1], Symbol("+", "sign"), parts[2]))))
    )
    return st.one_of(
        st.builds(Fraction, inner, inner),
        st.builds(Binomial, inner, inner),
        st.builds(Root, inner, st.none() | inner),
        scripts,
        limits,
        body,
        st.builds(Accent, inner, st.sampled_from(MARKS)),
        st.tuples(st.integers(1, 2), st.lists(inner, min_size=2, max_size=4)).map(matrix),
        st.tuples(st.sampled_from("([{"), inner).map(lambda parts: Fence(parts[0], parts[1], PAIRS[parts[0]])),
        st.lists(inner | SIGNS, min_size=2, max_size=4).map(row),
    )


def matrix(parts: tuple[int, list[Formula]]) -> Formula:
    columns, cells = parts
    columns = columns if len(cells) % columns == 0 else 1
    return Matrix(tuple(tuple(cells[at : at + columns]) for at in range(0, len(cells), columns)))


FORMULAS = st.recursive(ATOMS, compound, max_leaves=12)


@given(FORMULAS)
@example(row((Scripts(letters("b"), upper=Binomial(letters("a"), letters("n"))), letters("a"))))
@example(row((Root(Symbol("2", "number"), None), Symbol("2", "number"))))
@example(row((Root(letters("x"), None), letters("x"))))
@example(row((Fraction(letters("a"), letters("b")), letters("x"))))
@settings(max_examples=max(300, settings().max_examples))
def test_plain_text_parses_back_to_the_formula(formula: Formula) -> None:
    meant = value(formula)
    assert parsed(plain_formula(formula)) == meant, plain_formula(formula)
    latex = formula_latex(formula)
    assert value(latex_formula(latex)) == meant, latex
    assert parsed(latex_text(latex)) == meant, latex
    mathml, _ = parse_xml(f"<math>{mathml_of(formula)}</math>", name="formula")
    assert parsed(mathml_text(mathml)) == meant, mathml_of(formula)
    omml, _ = parse_xml(f"<m:oMath>{omml_of(formula)}</m:oMath>", name="formula")
    assert value(omml_formula(omml)) == meant, omml_of(formula)


def is_kind(formula: Formula, *kinds: str) -> bool:
    return isinstance(formula, Symbol) and formula.kind in kinds


def value(formula: Formula) -> Value:  # noqa: C901, PLR0911 - a case for each kind of formula
    """Return what a formula means: without spaces, and without the round brackets that change nothing."""
    match formula:
        case Symbol(text=text):
            return text
        case Row(items=items):
            parts = [value(Fence("(", one, ")") if isinstance(one, Row) else one) for one in items]
            parts = [inside(one) if is_fraction(one) else one for one in parts if one != " "]
            return parts[0] if len(parts) == 1 else ("row", *parts)
        case Fraction(over=over, under=under):
            return ("/", operand(over), operand(under))
        case Binomial(upper=upper, lower=lower):
            return ("binom", operand(upper), operand(lower))
        case Root(of=of, degree=degree):
            number = "2" if degree is None else value(degree)
            return ("root", number, operand(of))
        case Scripts(base=base, lower=lower, upper=upper):
            return scripted(operand(base), operand(lower) if lower else "", operand(upper) if upper else "")
        case Accent(base=base, accent=accent):
            return ("accent", accent, operand(base))
        case Matrix(rows=rows):
            return ("matrix", *(("cells", *map(operand, cells)) for cells in rows))
        case Fence(opening=opening, inner=inner, closing=closing):
            content = value(inner)
            if content[0] == "binom" and opening == "(":
                return content
            if content[0] == "matrix":
                return ("cases", content) if opening == "{" else content
            return ("fence", opening, content, closing)


def operand(formula: Formula) -> Value:
    return inside(value(formula))


def inside(one: Value) -> Value:
    while one[0] == "fence" and one[1] == "(":
        one = one[2]
    return one


def is_fraction(one: Value) -> bool:
    return inside(one)[0] == "/"


def scripted(base: Value, lower: Value, upper: Value) -> Value:
    """Return a base with scripts; those of a base with only the other script are its own."""
    if base[0] == "scripts" and not (lower and base[2]) and not (upper and base[3]):
        return ("scripts", base[1], lower or base[2], upper or base[3])
    return ("scripts", base, lower, upper)


class Parser:
    """Parses the plain form."""

    def __init__(self, text: str) -> None:
        found: list[str] = TOKEN.findall(unicodedata.normalize("NFD", text))
        self.tokens: list[str] = [symbol for symbol in found if not symbol.isspace()] + [""]
        self.spaced = [
            bool(after.isspace()) for symbol, after in zip(found, [*found[1:], ""], strict=True) if not symbol.isspace()
        ]
        self.at = 0

    def take(self) -> str:
        self.at += 1
        return self.tokens[self.at - 1]

    @property
    def next(self) -> str:
        return self.tokens[self.at]

    def row(self, ends: Sequence[str]) -> Formula:
        items: list[Formula] = []
        while self.next and self.next not in ends:
            items.append(self.fraction())
        return items[0] if len(items) == 1 else Row(tuple(items))

    def fraction(self) -> Formula:
        over = self.power()
        if self.next != "/":
            return over
        self.take()
        return Fraction(over, self.power())

    def power(self) -> Formula:
        base = self.primary()
        lower = self.script(LOWERED, "_")
        upper = self.script(RAISED, "^")
        return base if lower is None and upper is None else Scripts(base, lower, upper)

    def script(self, small: dict[str, str], sign: str) -> Formula | None:
        if self.next[:1] in small:
            return Parser("".join(small[one] for one in self.take())).row(())
        if self.next != sign:
            return None
        self.take()
        if self.next[0].isalnum():
            run: list[Formula] = []
            while self.next and self.next[0].isalnum() and self.next[0] not in RAISED and self.next[0] not in LOWERED:
                spaced = self.spaced[self.at]
                run.append(self.primary())
                if spaced:
                    break
            return run[0] if len(run) == 1 else Row(tuple(run))
        return self.primary()

    def primary(self) -> Formula:  # noqa: PLR0911
        symbol = self.take()
        if symbol in ("√", "∛", "∜"):
            degree = {"∛": Symbol("3", "number"), "∜": Symbol("4", "number")}.get(symbol)
            if symbol == "√" and self.next == "[":
                self.take()
                degree_row = self.row(("]",))
                self.take()
                return Root(self.primary(), degree_row)
            return Root(self.primary(), degree)
        if symbol in PAIRS:
            return self.fence(symbol)
        if symbol == "binom" and self.next == "(":
            upper, lower = self.cells(")")[0]
            return Binomial(upper, lower)
        if symbol in WIDE and self.next == "(":
            return Accent(self.primary(), WIDE[symbol])
        if len(symbol) > 1 and unicodedata.combining(symbol[-1]):
            marks = iter(symbol[1:])
            accented: Formula = Symbol(symbol[0], "letters" if symbol[0].isalpha() else "number")
            for mark in marks:
                accented = Accent(accented, ACCENT_NAMES[mark])
            return accented
        kind = "number" if symbol[0].isdecimal() else "letters" if symbol[0].isalpha() else "sign"
        return Symbol(symbol, kind)  # type: ignore[arg-type]

    def cells(self, closing: str) -> list[list[Formula]]:
        self.take()
        rows: list[list[Formula]] = [[self.row((",", ";", closing))]]
        while self.next != closing:
            if self.take() == ";":
                if self.next == closing:
                    break
                rows.append([])
            rows[-1].append(self.row((",", ";", closing)))
        self.take()
        return rows

    def fence(self, opening: str) -> Formula:
        closing = PAIRS[opening]
        start = self.at
        if opening in ("[", "{") and self.has_semicolon(opening, closing):
            self.at = start - 1
            found = Matrix(tuple(map(tuple, self.cells(closing))))
            return Fence("{", found, "}") if opening == "{" else found
        inner = self.row((closing,))
        self.take()
        return Fence(opening, inner, closing)

    def has_semicolon(self, opening: str, closing: str) -> bool:
        depth = 0
        for symbol in self.tokens[self.at :]:
            if not depth and symbol == closing:
                return False
            depth += (symbol in "([{") - (symbol in ")]}") if symbol else 0
            if not depth and symbol == ";":
                return True
        return False


def parsed(text: str) -> Value:
    parser = Parser(text)
    formula = parser.row(())
    assert parser.next == "", text
    return value(formula)


def mathml_of(formula: Formula) -> str:  # noqa: C901, PLR0911 - a case for each kind of formula
    one = mathml_group
    match formula:
        case Symbol(text=text, kind=kind):
            if kind == "letters":
                return "".join(f"<mi>{letter}</mi>" for letter in text)
            return {"number": f"<mn>{text}</mn>", "name": f"<mi>{text}</mi>"}.get(kind, f"<mo>{escape(text)}</mo>")
        case Row(items=items):
            # Of a sum's terms, MathML states none; brackets do.
            return "".join(mathml_of(Fence("(", part, ")") if isinstance(part, Row) else part) for part in items)
        case Fraction(over=over, under=under):
            return f"<mfrac>{one(over)}{one(under)}</mfrac>"
        case Binomial(upper=upper, lower=lower):
            return f'<mo>(</mo><mfrac linethickness="0">{one(upper)}{one(lower)}</mfrac><mo>)</mo>'
        case Root(of=of, degree=degree):
            return f"<mroot>{one(of)}{one(degree)}</mroot>" if degree else f"<msqrt>{mathml_of(of)}</msqrt>"
        case Scripts(base=base, lower=lower, upper=upper):
            big = isinstance(base, Symbol) and base.text in BIG_OPERATORS
            tag = {True: "munderover", False: "msubsup"}[big]
            if lower and upper:
                return f"<{tag}>{one(base)}{one(lower)}{one(upper)}</{tag}>"
            return f"<msub>{one(base)}{one(lower)}</msub>" if lower else f"<msup>{one(base)}{one(upper)}</msup>"
        case Accent(base=base, accent=accent):
            return f"<mover>{one(base)}<mo>{ACCENT_MARKS[accent]}</mo></mover>"
        case Matrix(rows=rows):
            lines = "".join(
                f"<mtr>{''.join(f'<mtd>{mathml_of(cell)}</mtd>' for cell in cells)}</mtr>" for cells in rows
            )
            return f"<mo>[</mo><mtable>{lines}</mtable><mo>]</mo>"
        case Fence(opening=opening, inner=inner, closing=closing):
            return f"<mrow><mo>{opening}</mo>{mathml_of(inner)}<mo>{closing}</mo></mrow>"


def mathml_group(formula: Formula | None) -> str:
    return f"<mrow>{mathml_of(formula)}</mrow>" if formula else ""


def omml_of(formula: Formula | None) -> str:  # noqa: C901, PLR0911 - a case for each kind of formula
    match formula:
        case None:
            return ""
        case Symbol(text=text, kind=kind):
            return f"<m:r>{'<m:rPr><m:nor/></m:rPr>' if kind == 'name' else ''}<m:t>{escape(text)}</m:t></m:r>"
        case Row(items=(Scripts(base=Symbol(text=sign), lower=lower, upper=upper), Row() as body)):
            return (
                f'<m:nary><m:naryPr><m:chr m:val="{sign}"/></m:naryPr>{part("sub", lower)}{part("sup", upper)}'
                f"{part('e', body)}</m:nary>"
            )
        case Row(items=items):
            return "".join(omml_of(Fence("(", one, ")") if isinstance(one, Row) else one) for one in items)
        case Fraction(over=over, under=under):
            return f"<m:f>{part('num', over)}{part('den', under)}</m:f>"
        case Binomial(upper=upper, lower=lower):
            bare = '<m:fPr><m:type m:val="noBar"/></m:fPr>'
            return f"<m:f>{bare}{part('num', upper)}{part('den', lower)}</m:f>"
        case Root(of=of, degree=degree):
            return f"<m:rad>{part('deg', degree)}{part('e', of)}</m:rad>"
        case Scripts(base=base, lower=lower, upper=upper):
            return f"<m:sSubSup>{part('e', base)}{part('sub', lower)}{part('sup', upper)}</m:sSubSup>"
        case Accent(base=base, accent=accent):
            return f'<m:acc><m:accPr><m:chr m:val="{ACCENT_MARKS[accent]}"/></m:accPr>{part("e", base)}</m:acc>'
        case Matrix(rows=rows):
            lines = ("".join(part("e", cell) for cell in cells) for cells in rows)
            return f"<m:m>{''.join(f'<m:mr>{line}</m:mr>' for line in lines)}</m:m>"
        case Fence(opening=opening, inner=inner, closing=closing):
            marks = f'<m:dPr><m:begChr m:val="{opening}"/><m:endChr m:val="{closing}"/></m:dPr>'
            return f"<m:d>{marks}{part('e', inner)}</m:d>"


def part(tag: str, formula: Formula | None) -> str:
    return f"<m:{tag}>{omml_of(formula)}</m:{tag}>"
