"""LaTeX formulas as a line of text: `a/(b+c)`, `x²`, `p_ij`, `√x`."""

import re
import unicodedata

from ingest.document.line_text import script_text

__all__ = [
    "SYMBOLS",
    "fraction",
    "latex_text",
    "root",
    "split_tag",
    "subscript",
    "superscript",
    "tidy_spaces",
    "with_accent",
]


_ACCENT_MARKS = {
    "hat": "\u0302", "widehat": "\u0302", "tilde": "\u0303", "widetilde": "\u0303", "bar": "\u0304",
    "overline": "\u0304", "vec": "\u20d7", "dot": "\u0307", "ddot": "\u0308", "^": "\u0302", "~": "\u0303",
    "¯": "\u0304", "→": "\u20d7", "˙": "\u0307", "ˆ": "\u0302", "˜": "\u0303", "‾": "\u0304",
}  # fmt: skip


def tidy_spaces(text: str) -> str:
    """Single spaces, none inside brackets."""
    text = " ".join(text.split())
    for wide, narrow in (("( ", "("), (" )", ")"), ("[ ", "["), (" ]", "]"), (" ,", ",")):
        text = text.replace(wide, narrow)
    return text


def fraction(over: str, under: str) -> str:
    """`a/(b+c)`."""
    return f"{_bracketed(over)}/{_bracketed(under)}"


def root(text: str, degree: str = "") -> str:
    """`√x`, `∛`-like roots as `³√x`."""
    return f"{superscript(degree)}√{_bracketed(text)}"


def superscript(text: str) -> str:
    """A superscript."""
    text = tidy_spaces(text)
    return script_text(text.replace(" ", "") if len(text) < 12 else text, raised=True) if text else ""


def subscript(text: str) -> str:
    """A subscript."""
    text = tidy_spaces(text)
    return script_text(text.replace(" ", "") if len(text) < 12 else text, raised=False) if text else ""


def with_accent(text: str, accent: str) -> str:
    """A letter with its accent; accents over several letters are left out."""
    text = tidy_spaces(text)
    return text + _ACCENT_MARKS.get(accent, "") if len(text) == 1 else text


def _bracketed(text: str) -> str:
    text = tidy_spaces(text)
    whole = text.startswith("(") and text.endswith(")") and "(" not in text[1:]
    return text if whole or not any(sign in text for sign in " +-−/·×=∗*") else f"({text})"


_GREEK = (
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho sigma tau upsilon phi "
    "chi psi omega"
).split()
_COMMANDS = """
varepsilon ε|vartheta ϑ|varphi φ|varrho ϱ|varsigma ς|varpi ϖ|times ×|cdot ·|cdots ⋯|ldots …|dots …|dotsc …|dotsb ⋯
vdots ⋮|ddots ⋱|pm ±|mp ∓|div ÷|ast *|star ⋆|circ ∘|bullet •|oplus ⊕|otimes ⊗|odot ⊙|leq ≤|le ≤|geq ≥|ge ≥|neq ≠
ne ≠|approx ≈|sim ∼|simeq ≃|equiv ≡|propto ∝|ll ≪|gg ≫|in ∈|notin ∉|ni ∋|subset ⊂|subseteq ⊆|supset ⊃|supseteq ⊇
cup ∪|cap ∩|bigcup ⋃|bigcap ⋂|setminus ∖|emptyset ∅|varnothing ∅|forall ∀|exists ∃|neg ¬|lnot ¬|land ∧|wedge ∧
lor ∨|vee ∨|rightarrow →|to →|leftarrow ←|gets ←|Rightarrow ⇒|Leftarrow ⇐|leftrightarrow ↔|Leftrightarrow ⇔|mapsto ↦
longrightarrow →|implies ⇒|iff ⇔|uparrow ↑|downarrow ↓|nearrow ↗|searrow ↘|infty ∞|partial ∂|nabla ∇|sum ∑|prod ∏
int ∫|oint ∮|ell ℓ|hbar ℏ|Re ℜ|Im ℑ|aleph ℵ|prime ′|dagger †|ddagger ‡|S §|P ¶|copyright ©|langle ⟨|rangle ⟩|lfloor ⌊
rfloor ⌋|lceil ⌈|rceil ⌉|mid ||vert ||lvert ||rvert ||Vert ‖|lVert ‖|rVert ‖|parallel ‖|perp ⊥|angle ∠|triangle △
square □|checkmark ✓|top ⊤|bot ⊥|vdash ⊢|models ⊨|colon :|degree °|percent %|euro €|pounds £|dag †|ddag ‡|lbrace {
rbrace }|lbrack [|rbrack ]|backslash \\|textbackslash \\|textasciitilde ~|ss ß|ae æ|AE Æ|o ø|O Ø|l ł|L Ł|i ı|j ȷ
blacktriangle ▲|triangledown ▽|diamond ⋄|clubsuit ♣|spadesuit ♠|heartsuit ♥|diamondsuit ♦|cong ≅|coloneqq ≔|triangleq ≜
"""


def _symbols() -> dict[str, str]:
    table = {}
    for line in _COMMANDS.strip().splitlines():
        for pair in line.replace("||", "|\0|").split("|"):
            name, _, sign = pair.partition(" ")
            table[name] = sign.replace("\0", "|") or "|"
    table.pop("\0", None)
    for name in _GREEK:
        spelled = "lamda" if name == "lambda" else name
        table[name] = unicodedata.lookup(f"GREEK SMALL LETTER {spelled.upper()}")
        table[name.capitalize()] = unicodedata.lookup(f"GREEK CAPITAL LETTER {spelled.upper()}")
    return table


SYMBOLS = _symbols()


_TOKEN = re.compile(r"\\[A-Za-z]+\*?|\\.|\s+|.", re.DOTALL)
_TAG = re.compile(r"\\(?:tag\*?|eqno)\s*(?:\{([^{}]*)\}|\(([^()]*)\))")
_LABEL = re.compile(r"\\(?:label|nonumber|notag)\b\s*(?:\{[^{}]*\})?")
_ENVIRONMENT = re.compile(r"\\(?:begin|end)\s*\{([A-Za-z]+\*?)\}(?:\s*\[[^\]]*\])?")
_COLUMNS = re.compile(r"(\\begin\s*\{(?:array|tabular)\}(?:\s*\[[^\]]*\])?)\s*\{[^{}]*\}")
_MAX_DEPTH = 30
_MAX_LENGTH = 20_000
_MAX_OPTION_TOKENS = 12
_FRACTIONS = frozenset("frac dfrac tfrac cfrac nicefrac sfrac".split())
_ACCENTS = frozenset("hat widehat tilde widetilde bar overline vec dot ddot".split())
_SILENT = frozenset(
    "left right big Big bigg Bigg bigl bigr Bigl Bigr biggl biggr Biggl Biggr middle displaystyle textstyle "
    "scriptstyle limits nolimits mathrm mathbf mathit mathcal mathbb mathfrak mathsf mathtt mathscr operatorname "
    "text textbf textit textrm textsf texttt textsc textnormal emph mbox hbox fbox boxed bm boldsymbol pmb ensuremath "
    "mathop mathbin mathrel rm bf it sf tt cal boldmath unboldmath small footnotesize normalsize centering "
    "hline toprule midrule bottomrule".split()
)
_SPACES = {
    ",": " ",
    ";": " ",
    ":": " ",
    " ": " ",
    "!": "",
    "quad": " ",
    "qquad": " ",
    "\\": " ; ",
    "-": "",
    "/": "",
    "|": "‖",
}
_PRINTED = {**_SPACES, **dict.fromkeys(_SILENT, ""), **SYMBOLS}
_DROPPED = frozenset("hspace vspace phantom hphantom vphantom color textcolor".split())


def split_tag(source: str) -> tuple[str, str]:
    """A formula without its `\\tag{3}` and `\\label{}`, and the number in the tag, "" without one."""
    match = _TAG.search(source)
    number = (match[1] or match[2] or "").strip("() ") if match else ""
    return _LABEL.sub(" ", _TAG.sub(" ", source)), number


def latex_text(source: str) -> str:
    """The formula as a line of text; a source too long for a formula is returned unchanged.

    Unknown commands keep their names: `\\softmax(x)` becomes `softmax(x)`.
    """
    if len(source) > _MAX_LENGTH:
        return source
    plain = _ENVIRONMENT.sub(" ", _COLUMNS.sub(r"\1", split_tag(source)[0]))
    return tidy_spaces(_Reader(plain).until_end(depth=0)).removesuffix(" ;")


class _Reader:
    """Reads tokens from left to right."""

    def __init__(self, source: str) -> None:
        self._tokens = _TOKEN.findall(source)
        self._at = 0

    def until_end(self, *, depth: int) -> str:
        """The text up to the closing brace of this group."""
        parts: list[str] = []
        while self._at < len(self._tokens):
            sign = self._tokens[self._at]
            self._at += 1
            if sign == "}":
                if depth:
                    break
                continue
            parts.append(self._said(sign, depth=depth))
        return "".join(parts)

    def _said(self, sign: str, *, depth: int) -> str:
        if sign == "{":
            return self.until_end(depth=depth + 1) if depth < _MAX_DEPTH else ""
        if sign in ("^", "_"):
            argument = self._argument(depth=depth)
            return superscript(argument) if sign == "^" else subscript(argument)
        if sign.startswith("\\") and len(sign) > 1:
            return self._command(sign[1:].removesuffix("*"), depth=depth)
        return {"&": " ", "~": " ", "$": "", "'": "′"}.get(sign, sign)

    def _command(self, name: str, *, depth: int) -> str:
        said = _PRINTED.get(name, f" {name} " if len(name) > 1 else name)
        if name in _FRACTIONS:
            over = self._argument(depth=depth)
            said = fraction(over, self._argument(depth=depth))
        elif name == "sqrt":
            degree = self._option()
            said = root(self._argument(depth=depth), degree)
        elif name in _ACCENTS:
            said = with_accent(self._argument(depth=depth), name)
        elif name in _DROPPED:
            self._argument(depth=depth)
            said = " "
        return said

    def _argument(self, *, depth: int) -> str:
        """The text of the next group, or of the next token that is no space."""
        while self._at < len(self._tokens) and self._tokens[self._at].isspace():
            self._at += 1
        if self._at == len(self._tokens) or depth >= _MAX_DEPTH or self._tokens[self._at] == "}":
            return ""
        sign = self._tokens[self._at]
        self._at += 1
        return self._said(sign, depth=depth + 1)

    def _option(self) -> str:
        """`[3]` behind `\\sqrt`."""
        if self._at < len(self._tokens) and self._tokens[self._at] == "[":
            near = self._tokens[self._at : self._at + _MAX_OPTION_TOKENS]
            if "]" in near:
                end = near.index("]")
                self._at += end + 1
                return "".join(near[1:end])
        return ""
