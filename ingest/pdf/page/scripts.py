"""The text of words side by side, with superscripts and subscripts kept legible."""

from collections.abc import Sequence

from ingest.pdf.page.words import Word

__all__ = ["joined_text", "script_text"]

_RAISED = str.maketrans("0123456789+-−=()ni", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁼⁽⁾ⁿⁱ")
_LOWERED = str.maketrans("0123456789+-−=()", "₀₁₂₃₄₅₆₇₈₉₊₋₋₌₍₎")
_RAISABLE = frozenset("0123456789+-−=()ni")
_LOWERABLE = frozenset("0123456789+-−=()")


def joined_text(words: Sequence[Word], *, baseline: float, size: float) -> str:
    """The words from left to right; `baseline` and `size` are those of the full-sized ones."""
    parts: list[str] = []
    previous: Word | None = None
    for word in words:
        if previous is not None and _apart(previous, word):
            parts.append(" ")
        shift = baseline - word.baseline
        small = word.size < 0.85 * size
        if small and abs(shift) > 0.1 * size:
            parts.append(script_text(word.text, raised=shift > 0))
        else:
            parts.append(word.text)
        previous = word
    return "".join(parts)


def script_text(text: str, *, raised: bool) -> str:
    """`²` and `₁` where Unicode has the letters, else `^k`, `_ij`, `^(k,l)`; marks such as † stand as they are."""
    if all(letter in (_RAISABLE if raised else _LOWERABLE) for letter in text):
        return text.translate(_RAISED if raised else _LOWERED)
    if not any(letter.isalnum() for letter in text) or text[0] in "±(":
        return text
    sign = "^" if raised else "_"
    return f"{sign}{text}" if text.isalnum() else f"{sign}({text})"


def _apart(left: Word, right: Word) -> bool:
    """Whether a space stands between two words; a change of size marks one at a smaller gap."""
    gap = right.x0 - left.x1
    size = max(left.size, right.size)
    if gap > 0.14 * size:
        return True
    resized = abs(right.size - left.size) > 0.35 * left.size
    level = abs(right.baseline - left.baseline) < 0.6 * left.size
    return level and gap > (0.06 if resized else 0.1) * size
