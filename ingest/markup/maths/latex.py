"""LaTeX's formulas as a line of text. What no rule knows keeps its name: `\\softmax(x)` reads `softmax(x)`."""

import re

from ingest.markup.maths.linear import accented, fraction, lowered, raised, root, squeezed
from ingest.markup.maths.symbols import SYMBOLS

__all__ = ["latex_text", "split_tag"]

_TOKEN = re.compile(r"\\[A-Za-z]+\*?|\\.|\s+|.", re.DOTALL)
_TAG = re.compile(r"\\(?:tag\*?|eqno)\s*(?:\{([^{}]*)\}|\(([^()]*)\))")
_LABEL = re.compile(r"\\(?:label|nonumber|notag)\b\s*(?:\{[^{}]*\})?")
_ENVIRONMENT = re.compile(r"\\(?:begin|end)\s*\{([A-Za-z]+\*?)\}(?:\s*\[[^\]]*\])?")
_COLUMNS = re.compile(r"(\\begin\s*\{(?:array|tabular)\}(?:\s*\[[^\]]*\])?)\s*\{[^{}]*\}")
_DEEPEST = 30
_LONGEST = 20_000
_LONGEST_OPTION = 12
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
    """A formula without its `\\tag{3}` or `\\label{}`, and the number that stands in the tag ("" without one)."""
    match = _TAG.search(source)
    number = (match[1] or match[2] or "").strip("() ") if match else ""
    return _LABEL.sub(" ", _TAG.sub(" ", source)), number


def latex_text(source: str) -> str:
    """The formula in a line; one that is too long to be a formula comes back as it is."""
    if len(source) > _LONGEST:
        return source
    plain = _ENVIRONMENT.sub(" ", _COLUMNS.sub(r"\1", split_tag(source)[0]))
    return squeezed(_Reader(plain).until_end(depth=0)).removesuffix(" ;")


class _Reader:
    """Reads tokens from left to right."""

    def __init__(self, source: str) -> None:
        self._tokens = _TOKEN.findall(source)
        self._at = 0

    def until_end(self, *, depth: int) -> str:
        """Everything up to the closing brace of this group."""
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
            return self.until_end(depth=depth + 1) if depth < _DEEPEST else ""
        if sign in ("^", "_"):
            argument = self._argument(depth=depth)
            return raised(argument) if sign == "^" else lowered(argument)
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
            said = accented(self._argument(depth=depth), name)
        elif name in _DROPPED:
            self._argument(depth=depth)
            said = " "
        return said

    def _argument(self, *, depth: int) -> str:
        """The next group, or the next token that is no space."""
        while self._at < len(self._tokens) and self._tokens[self._at].isspace():
            self._at += 1
        if self._at == len(self._tokens) or depth >= _DEEPEST or self._tokens[self._at] == "}":
            return ""
        sign = self._tokens[self._at]
        self._at += 1
        return self._said(sign, depth=depth + 1)

    def _option(self) -> str:
        """`[3]` behind `\\sqrt`."""
        if self._at < len(self._tokens) and self._tokens[self._at] == "[":
            near = self._tokens[self._at : self._at + _LONGEST_OPTION]
            if "]" in near:
                end = near.index("]")
                self._at += end + 1
                return "".join(near[1:end])
        return ""
