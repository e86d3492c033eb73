"""The parts of a formula written in a line, as the PDF rules write them: `2pre/(pre+rec)`, `x²`, `p_ij`, `√(a+b)`."""

from ingest.pdf.page.scripts import script_text

__all__ = ["accented", "fraction", "lowered", "raised", "root", "squeezed"]

_ACCENTS = {
    "hat": "\u0302", "widehat": "\u0302", "tilde": "\u0303", "widetilde": "\u0303", "bar": "\u0304",
    "overline": "\u0304", "vec": "\u20d7", "dot": "\u0307", "ddot": "\u0308", "^": "\u0302", "~": "\u0303",
    "¯": "\u0304", "→": "\u20d7", "˙": "\u0307", "ˆ": "\u0302", "˜": "\u0303", "‾": "\u0304",
}  # fmt: skip


def squeezed(text: str) -> str:
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
    return f"{raised(degree)}√{_bracketed(text)}"


def raised(text: str) -> str:
    """A superscript."""
    text = squeezed(text)
    return script_text(text.replace(" ", "") if len(text) < 12 else text, raised=True) if text else ""


def lowered(text: str) -> str:
    """A subscript."""
    text = squeezed(text)
    return script_text(text.replace(" ", "") if len(text) < 12 else text, raised=False) if text else ""


def accented(text: str, accent: str) -> str:
    """A letter under its accent; over several letters the accent is left out."""
    text = squeezed(text)
    return text + _ACCENTS.get(accent, "") if len(text) == 1 else text


def _bracketed(text: str) -> str:
    text = squeezed(text)
    whole = text.startswith("(") and text.endswith(")") and "(" not in text[1:]
    return text if whole or not any(sign in text for sign in " +-−/·×=∗*") else f"({text})"
