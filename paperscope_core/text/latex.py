"""Converts LaTeX formulas to a line of plain text: `a/(b+c)`, `x²`, `p_ij`, `√x`."""

import re
import unicodedata
from collections import deque
from itertools import islice

__all__ = [
    "fraction",
    "latex_text",
    "root",
    "script_text",
    "split_tag",
    "subscript",
    "superscript",
    "tidy_spaces",
    "with_accent",
    "without_latex",
]

_TOKEN = re.compile(r"\\[A-Za-z]+\*?|\\.|\s+|.", re.DOTALL)
_TAG = re.compile(r"\\(?:tag\*?|eqno)\s*(?:\{([^{}]*)\}|\(([^()]*)\))")
_LABEL = re.compile(r"\\(?:label|nonumber|notag)\b\s*(?:\{[^{}]*\})?")
_ENVIRONMENT = re.compile(r"\\(?:begin|end)\s*\{([A-Za-z]+\*?)\}(?:\s*\[[^\]]*\])?")
_COLUMNS = re.compile(r"(\\begin\s*\{(?:array|tabular)\}(?:\s*\[[^\]]*\])?)\s*\{[^{}]*\}")
# Formulas between dollars (by Pandoc's rule, which "$5 and $6" does not fit) or brackets, and what running text has of
# LaTeX: commands with their arguments, escaped signs, scripts in braces.
_IN_TEXT = re.compile(
    r"(?<!\\)\$(?=\S)(?P<dollars>[^$\n]{1,300})(?<=[^\s\\])\$(?!\d)|\\\((?P<round>[^\n]{1,300}?)\\\)"
    r"|\\\[(?P<square>[^\n]{1,300}?)\\\]|\\[A-Za-z]+(?:\{[^{}\n]{0,100}\})*|\\[%$&#_]|[_^]\{[^{}\n]{1,100}\}|\{,\}"
)
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


def _symbols() -> dict[str, str]:
    """Return the text of each LaTeX symbol command."""
    words = _SYMBOLS.split()
    symbols = dict(zip(words[::2], words[1::2], strict=True))
    for name in _GREEK_LETTERS:
        spelled = "lamda" if name == "lambda" else name
        symbols[name] = unicodedata.lookup(f"GREEK SMALL LETTER {spelled.upper()}")
        symbols[name.capitalize()] = unicodedata.lookup(f"GREEK CAPITAL LETTER {spelled.upper()}")
    return symbols


_RAISED = str.maketrans("0123456789+-−=()ni", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁼⁽⁾ⁿⁱ")
_LOWERED = str.maketrans("0123456789+-−=()", "₀₁₂₃₄₅₆₇₈₉₊₋₋₌₍₎")

_COMMAND_TEXTS = {**_SPACING_COMMANDS, **dict.fromkeys(_IGNORED_COMMANDS, ""), **_symbols()}


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
