"""Parts of a formula side by side and one above the other, as one line."""

from collections.abc import Sequence
from dataclasses import replace

from ingest.pdf.formulas.parts import Part
from ingest.pdf.page.scripts import script_text

__all__ = ["linear"]

_SMALL = 0.85
_OPENING = frozenset("([{|‖⌊⌈⟨")
_CLOSING = frozenset(")]}|‖⌋⌉⟩")


def linear(parts: Sequence[Part]) -> str:
    """Rows from top to bottom, scripts behind what they belong to, the rows of a matrix between its delimiters."""
    if not parts:
        return ""
    size = _full_size(parts)
    rows = _rows(parts, size=size)
    if len(rows) > 1:
        rows = _nested(rows, size=size)
    return " ".join(_row_text(row, size=size) for row in rows)


def _full_size(parts: Sequence[Part]) -> float:
    """The size of the largest letters; a sign may come from a larger font."""
    letters = [part.size for part in parts if any(letter.isalnum() for letter in part.text)]
    return max(letters or [part.size for part in parts])


def _rows(parts: Sequence[Part], *, size: float) -> list[list[Part]]:
    """Rows by baseline; scripts go to the row of the part before them."""
    rows: list[list[Part]] = []
    for part in sorted((part for part in parts if part.size >= _SMALL * size), key=lambda part: part.baseline):
        if rows and part.baseline - rows[-1][0].baseline < 0.45 * size:
            rows[-1].append(part)
        else:
            rows.append([part])
    for part in parts:
        if part.size < _SMALL * size:
            min(rows, key=lambda row: _distance(part, row)).append(part)
    return rows


def _distance(script: Part, row: Sequence[Part]) -> float:
    """How far a script stands from a row, most of all from the part just before it."""
    before = [part for part in row if part.size > script.size and part.x0 <= script.x0 + 0.5]
    host = max(before, key=lambda part: part.x0, default=row[0])
    gap = max(0.0, script.x0 - host.x1 - 4 * script.size)
    if host.top <= script.baseline <= host.bottom + script.size:
        return 0.1 * abs(host.baseline - script.baseline) + gap
    return abs(host.baseline - script.baseline) + gap


def _nested(rows: Sequence[Sequence[Part]], *, size: float) -> list[list[Part]]:
    """Fold what stands in several rows between two delimiters, or behind a brace, into the row of the delimiters."""
    left = [list(row) for row in rows]
    for index, row in enumerate(rows):
        for opening in sorted(row, key=lambda part: -part.x0):
            if opening not in left[index] or opening.text[-1] not in _OPENING:
                continue
            closing = _match(opening, left[index])
            if closing is None and opening.text[-1] != "{":
                continue
            inside = [[part for part in other if _within(part, opening, closing)] for other in left]
            filled = [
                number for number, cells in enumerate(inside) if any(part.size >= _SMALL * size for part in cells)
            ]
            if not filled or not filled[0] < index < filled[-1]:
                continue
            matrix = _matrix(opening, closing, [inside[number] for number in filled], size=size)
            gone = {part for cells in inside for part in cells} | {opening, closing}
            left = [[part for part in other if part not in gone] for other in left]
            left[index].append(matrix)
    return [row for row in left if row]


def _match(opening: Part, row: Sequence[Part]) -> Part | None:
    """The part that closes what a part opens."""
    depth = 0
    for part in sorted((part for part in row if part.x0 > opening.x0), key=lambda part: part.x0):
        if part.text[0] in _CLOSING and depth == 0:
            return part
        depth += part.text[-1] in _OPENING
        depth -= part.text[0] in _CLOSING
    return None


def _within(part: Part, opening: Part, closing: Part | None) -> bool:
    inside = opening.x1 - 1 <= part.x0 and (closing is None or part.x1 <= closing.x0 + 1)
    return inside and part is not opening and part is not closing


def _matrix(opening: Part, closing: Part | None, rows: Sequence[Sequence[Part]], *, size: float) -> Part:
    cells = [part for row in rows for part in row]
    text = "; ".join(_row_text(row, size=size) for row in rows)
    return replace(
        opening,
        text=f"{opening.text}{text}{closing.text if closing else ''}",
        x1=closing.x1 if closing else max(part.x1 for part in cells),
        size=size,
        top=min(part.top for part in cells),
        bottom=max(part.bottom for part in cells),
    )


def _script(host: Part | None, parts: Sequence[Part]) -> str:
    """What stands lower than its host, then what stands higher."""
    if not parts:
        return ""
    size = max(part.size for part in parts)
    level = host.baseline if host else max(part.baseline for part in parts) + 0.1
    first = [part for part in parts if part.size >= _SMALL * size]
    sides: tuple[list[Part], list[Part]] = ([], [])
    for part in parts:
        # The script of a script goes with the one before it, however high it stands.
        before = [other for other in first if other.x0 <= part.x0 + 0.5 and part not in first]
        near = min(before, key=lambda other: abs(other.baseline - part.baseline) + part.x0 - other.x1, default=part)
        sides[near.baseline <= level].append(part)
    return _marked(linear(sides[0]), raised=False) + _marked(linear(sides[1]), raised=True)


def _marked(text: str, *, raised: bool) -> str:
    """`²`, `_i1`, `^{i+1}`; a prime or a star stands as it is."""
    shown = script_text(text, raised=raised)
    sign = "^" if raised else "_"
    if shown.startswith(f"{sign}(") or text.startswith(("(", "±")):
        return f"{sign}{{{text}}}"
    return shown


def _row_text(row: Sequence[Part], *, size: float) -> str:
    full = sorted((part for part in row if part.size >= _SMALL * size), key=lambda part: part.x0)
    scripts: dict[Part | None, list[Part]] = {}
    for part in row:
        if part.size < _SMALL * size:
            before = [host for host in full if host.x0 <= part.x0 + 0.5]
            scripts.setdefault(before[-1] if before else None, []).append(part)
    text = _script(None, scripts.get(None, []))
    right: float | None = None
    composed = False
    for host in full:
        own = scripts.get(host, [])
        runs_on = (
            (text[-1:].isalnum() or text[-1:] == "}") and host.text[0].isalnum() and (composed or _is_composed(host))
        )
        if runs_on or (right is not None and host.x0 - right > 0.12 * size):
            text += " "
        composed = bool(own) or _is_composed(host)
        text += host.text + _script(host, own)
        right = max([host.x1, *(part.x1 for part in own)])
    return text


def _is_composed(part: Part) -> bool:
    """Whether a part was read from several, so that a letter beside it would seem to belong to it."""
    return "/" in part.text or part.text.startswith("sqrt(")
