"""Converts LaTeX and MathML formulas to a line of plain text: `a/(b+c)`, `x²`, `p_ij`, `√x`."""

import re
import unicodedata
from collections import deque
from collections.abc import Callable, Mapping
from itertools import islice

from ingest.document.line_text import script_text
from ingest.readers.markup_tree import Node

__all__ = ["latex_text", "mathml_text", "omml_text", "split_tag"]

_TOKEN = re.compile(r"\\[A-Za-z]+\*?|\\.|\s+|.", re.DOTALL)
_TAG = re.compile(r"\\(?:tag\*?|eqno)\s*(?:\{([^{}]*)\}|\(([^()]*)\))")
_LABEL = re.compile(r"\\(?:label|nonumber|notag)\b\s*(?:\{[^{}]*\})?")
_ENVIRONMENT = re.compile(r"\\(?:begin|end)\s*\{([A-Za-z]+\*?)\}(?:\s*\[[^\]]*\])?")
_COLUMNS = re.compile(r"(\\begin\s*\{(?:array|tabular)\}(?:\s*\[[^\]]*\])?)\s*\{[^{}]*\}")
# Spaces inside brackets and before commas.
_LOOSE_SPACE = re.compile(r"(?<=[(\[]) | (?=[)\],])")
_MAX_DEPTH = 30
_MAX_LENGTH = 20_000
_MAX_OPTION_TOKENS = 12
# A longer script keeps its spaces.
_SHORT_SCRIPT = 12

_ACCENT_MARKS = {
    "hat": "\u0302", "widehat": "\u0302", "tilde": "\u0303", "widetilde": "\u0303", "bar": "\u0304",
    "overline": "\u0304", "vec": "\u20d7", "dot": "\u0307", "ddot": "\u0308", "^": "\u0302", "~": "\u0303",
    "¯": "\u0304", "→": "\u20d7", "˙": "\u0307", "ˆ": "\u0302", "˜": "\u0303", "‾": "\u0304",
}  # fmt: skip
_ACCENT_COMMANDS = frozenset(filter(str.isalpha, _ACCENT_MARKS))
_FRACTION_COMMANDS = frozenset("frac dfrac tfrac cfrac nicefrac sfrac".split())
_COMMANDS_DROPPED_WITH_ARGUMENT = frozenset("hspace vspace phantom hphantom vphantom color textcolor".split())
_IGNORED_COMMANDS = frozenset(
    "left right big Big bigg Bigg bigl bigr Bigl Bigr biggl biggr Biggl Biggr middle displaystyle textstyle "
    "scriptstyle limits nolimits mathrm mathbf mathit mathcal mathbb mathfrak mathsf mathtt mathscr operatorname "
    "text textbf textit textrm textsf texttt textsc textnormal emph mbox hbox fbox boxed bm boldsymbol pmb ensuremath "
    "mathop mathbin mathrel rm bf it sf tt cal boldmath unboldmath small footnotesize normalsize centering "
    "hline toprule midrule bottomrule".split()
)
_SPACING_COMMANDS = {
    **dict.fromkeys((",", ";", ":", " ", "quad", "qquad"), " "),
    **dict.fromkeys(("!", "-", "/"), ""),
    "\\": " ; ",
    "|": "‖",
}
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
nearrow ↗  searrow ↘  infty ∞  partial ∂  nabla ∇  sum ∑  prod ∏  int ∫  oint ∮  ell ℓ  hbar ℏ  Re ℜ  Im ℑ  aleph ℵ
prime ′  dagger †  ddagger ‡  S §  P ¶  copyright ©  langle ⟨  rangle ⟩  lfloor ⌊  rfloor ⌋  lceil ⌈  rceil ⌉  mid |
vert |  lvert |  rvert |  Vert ‖  lVert ‖  rVert ‖  parallel ‖  perp ⊥  angle ∠  triangle △  square □  checkmark ✓
top ⊤  bot ⊥  vdash ⊢  models ⊨  colon :  degree °  percent %  euro €  pounds £  dag †  ddag ‡  lbrace {  rbrace }
lbrack [  rbrack ]  backslash \\  textbackslash \\  textasciitilde ~  ss ß  ae æ  AE Æ  o ø  O Ø  l ł  L Ł  i ı  j ȷ
blacktriangle ▲  triangledown ▽  diamond ⋄  clubsuit ♣  spadesuit ♠  heartsuit ♥  diamondsuit ♦  cong ≅  coloneqq ≔
triangleq ≜
"""

_BIG = frozenset("∑∏∫⋃⋂") | {"max", "min", "lim", "sup", "inf", "argmax", "argmin"}
_INVISIBLE_OPERATORS = ("\u2061", "\u2062", "\u2063", "\u2064")
_SPACED_OPERATORS = ("=", "<", ">", "≤", "≥", "≈", "∈", "→", "≠", ":=")


def _symbols() -> dict[str, str]:
    """Return the text of each LaTeX symbol command."""
    words = _SYMBOLS.split()
    symbols = dict(zip(words[::2], words[1::2], strict=True))
    for name in _GREEK_LETTERS:
        spelled = "lamda" if name == "lambda" else name
        symbols[name] = unicodedata.lookup(f"GREEK SMALL LETTER {spelled.upper()}")
        symbols[name.capitalize()] = unicodedata.lookup(f"GREEK CAPITAL LETTER {spelled.upper()}")
    return symbols


_COMMAND_TEXTS = {**_SPACING_COMMANDS, **dict.fromkeys(_IGNORED_COMMANDS, ""), **_symbols()}


def split_tag(source: str) -> tuple[str, str]:
    """Return the formula without `\\tag{3}` and `\\label{}`, and the number in the tag ("" without one)."""
    match = _TAG.search(source)
    number = (match[1] or match[2] or "").strip("() ") if match else ""
    return _LABEL.sub(" ", _TAG.sub(" ", source)), number


def latex_text(source: str) -> str:
    """Return the formula as a line of text; a source too long for a formula is returned unchanged.

    Unknown commands keep their names: `\\softmax(x)` becomes `softmax(x)`.
    """
    if len(source) > _MAX_LENGTH:
        return source
    plain = _ENVIRONMENT.sub(" ", _COLUMNS.sub(r"\1", split_tag(source)[0]))
    return tidy_spaces(_TokenReader(plain).until_end(depth=0)).removesuffix(" ;")


class _TokenReader:
    """Converts the tokens of a formula to text from left to right."""

    def __init__(self, source: str) -> None:
        self._tokens = deque(_TOKEN.findall(source))

    def until_end(self, *, depth: int) -> str:
        """Return the text up to the closing brace of the current group."""
        parts: list[str] = []
        while self._tokens:
            symbol = self._tokens.popleft()
            if symbol == "}" and depth:
                break
            if symbol != "}":
                parts.append(self._token_text(symbol, depth=depth))
        return "".join(parts)

    def _token_text(self, symbol: str, *, depth: int) -> str:
        if symbol == "{":
            return self.until_end(depth=depth + 1) if depth < _MAX_DEPTH else ""
        if symbol in ("^", "_"):
            argument = self._argument(depth=depth)
            return superscript(argument) if symbol == "^" else subscript(argument)
        if symbol.startswith("\\") and len(symbol) > 1:
            return self._command(symbol[1:].removesuffix("*"), depth=depth)
        return {"&": " ", "~": " ", "$": "", "'": "′"}.get(symbol, symbol)

    def _command(self, name: str, *, depth: int) -> str:
        text = _COMMAND_TEXTS.get(name, f" {name} " if len(name) > 1 else name)
        if name in _FRACTION_COMMANDS:
            over = self._argument(depth=depth)
            text = fraction(over, self._argument(depth=depth))
        elif name == "sqrt":
            degree = self._option()
            text = root(self._argument(depth=depth), degree)
        elif name in _ACCENT_COMMANDS:
            text = with_accent(self._argument(depth=depth), name)
        elif name in _COMMANDS_DROPPED_WITH_ARGUMENT:
            self._argument(depth=depth)
            text = " "
        return text

    def _argument(self, *, depth: int) -> str:
        """Return the text of the next group, or of the next token that is not a space."""
        while self._tokens and self._tokens[0].isspace():
            self._tokens.popleft()
        if not self._tokens or depth >= _MAX_DEPTH or self._tokens[0] == "}":
            return ""
        return self._token_text(self._tokens.popleft(), depth=depth + 1)

    def _option(self) -> str:
        """Return the optional argument of `\\sqrt` (`3` of `[3]`), "" without one."""
        near = list(islice(self._tokens, _MAX_OPTION_TOKENS))
        if near[:1] != ["["] or "]" not in near:
            return ""
        option = near[1 : near.index("]")]
        for _ in range(len(option) + 2):
            self._tokens.popleft()
        return "".join(option)


def fraction(over: str, under: str) -> str:
    """Return a fraction as `a/(b+c)`."""
    return f"{_parenthesized(over)}/{_parenthesized(under)}"


def root(text: str, degree: str = "") -> str:
    """Return a root as `√x`, or with its degree as `³√x`."""
    return f"{superscript(degree)}√{_parenthesized(text)}"


def superscript(text: str) -> str:
    """Return the text as a superscript."""
    return _script(text, raised=True)


def subscript(text: str) -> str:
    """Return the text as a subscript."""
    return _script(text, raised=False)


def _script(text: str, *, raised: bool) -> str:
    text = tidy_spaces(text)
    return script_text(text.replace(" ", "") if len(text) < _SHORT_SCRIPT else text, raised=raised) if text else ""


def with_accent(text: str, accent: str) -> str:
    """Return a letter with its accent; an accent over several letters is dropped."""
    text = tidy_spaces(text)
    return text + _ACCENT_MARKS.get(accent, "") if len(text) == 1 else text


def _parenthesized(text: str) -> str:
    """Return the text in parentheses if it contains an operator and has no parentheses yet."""
    text = tidy_spaces(text)
    whole = text.startswith("(") and text.endswith(")") and "(" not in text[1:]
    return text if whole or not any(sign in text for sign in " +-−/·×=∗*") else f"({text})"


def tidy_spaces(text: str) -> str:
    """Return the text with single spaces, and none inside brackets or before commas."""
    return _LOOSE_SPACE.sub("", " ".join(text.split()))


def mathml_text(math: Node) -> str:
    """Return a `math` element as text: from the LaTeX that it carries, else from the tree."""
    for note in math.iter("annotation"):
        if "tex" in note.get("encoding").lower() and note.plain_text():
            return latex_text(note.text())
    alternative = math.get("alttext").strip()
    return latex_text(alternative) if alternative else tidy_spaces(_mathml(math))


def _mathml(node: Node | str) -> str:
    if isinstance(node, str):
        return node.strip()
    match node.tag:
        case "annotation" | "annotation-xml" | "mphantom":
            text = ""
        case "mo":
            text = _operator(node.plain_text())
        case "mtext" | "mi" | "mn" | "ms":
            text = node.plain_text()
        case "mtr":
            text = " ".join(map(_mathml, node.nodes)) + " ; "
        case "mfenced":
            text = f"{node.get('open') or '('}{', '.join(map(_mathml, node.nodes))}{node.get('close') or ')'}"
        case _:
            parts = [_mathml(child) for child in node.children if not isinstance(child, str) or child.strip()]
            text = _built(node.tag, parts)
    return text


def _built(tag: str, parts: list[str]) -> str:
    """Combine the texts of an element's parts."""
    match tag, parts:
        case "mfrac", [over, under]:
            text = fraction(over, under)
        case "msup", [base, upper]:
            text = base + superscript(upper)
        case (("msub" | "munder"), [base, lower]):
            text = base + subscript(lower)
        case (("msubsup" | "munderover"), [base, lower, upper]):
            text = base + subscript(lower) + superscript(upper)
        case "mover", [base, upper]:
            text = base + superscript(upper) if base in _BIG else with_accent(base, upper.strip())
        case "mroot", [base, degree]:
            text = root(base, degree)
        case "msqrt", _:
            text = root("".join(parts))
        case _:
            text = "".join(parts)
    return text


def _operator(sign: str) -> str:
    if sign in _INVISIBLE_OPERATORS:
        return ""
    return f" {sign} " if sign in _SPACED_OPERATORS else sign


def omml_text(math: Node) -> str:
    """Return an `oMath` element as text."""
    return tidy_spaces(_omml(math)).removesuffix(" ;")


def _omml(node: Node | str) -> str:
    if isinstance(node, str) or (node.tag.endswith("pr") and node.tag != "pr"):
        return ""
    builder = _BUILDERS.get(node.tag)
    return builder(node) if builder else "".join(map(_omml, node.children))


def _scripted(node: Node) -> str:
    lower = _part(node, "sub") or (_part(node, "lim") if node.tag == "limlow" else "")
    upper = _part(node, "sup") or (_part(node, "lim") if node.tag == "limupp" else "")
    return _part(node, "e") + subscript(lower) + superscript(upper)


def _summed(node: Node) -> str:
    sign = _option(node, "narypr", "chr", default="∫")
    return f"{sign}{subscript(_part(node, 'sub'))}{superscript(_part(node, 'sup'))} {_part(node, 'e')}"


def _enclosed(node: Node) -> str:
    inner = ", ".join(map(_omml, node.findall("e")))
    return f"{_option(node, 'dpr', 'begchr', default='(')}{inner}{_option(node, 'dpr', 'endchr', default=')')}"


def _part(node: Node, tag: str) -> str:
    part = node.find(tag) if tag else None
    return "".join(map(_omml, part.children)) if part else ""


def _option(node: Node, group: str, name: str, *, default: str) -> str:
    option = node.find(group, name)
    return default if option is None else option.get("val")


_BUILDERS: Mapping[str, Callable[[Node], str]] = {
    "t": Node.text,
    "f": lambda node: fraction(_part(node, "num"), _part(node, "den")),
    **dict.fromkeys(("ssup", "ssub", "ssubsup", "limlow", "limupp"), _scripted),
    "rad": lambda node: root(_part(node, "e"), _part(node, "deg")),
    "nary": _summed,
    "d": _enclosed,
    "acc": lambda node: with_accent(_part(node, "e"), _option(node, "accpr", "chr", default="^")),
    "bar": lambda node: with_accent(_part(node, "e"), "¯"),
    "mr": lambda node: " ".join(map(_omml, node.findall("e"))) + " ; ",
    "eqarr": lambda node: " ; ".join(map(_omml, node.findall("e"))),
}
