"""The bibliography, cut into its entries."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from ingest.pdf.paragraphs import FlowLine

__all__ = ["Entry", "entries_of", "entry_label", "entry_mark", "entry_year"]

_MARK = re.compile(r"^(?:\[\s*(?P<bracket>[^\]\s]{1,12})\s*\]|(?P<number>\d{1,3})\.\s)")
_YEAR = re.compile(r"(?<![\d–:-])((?:19|20)\d{2})[a-z]?(?![\d–-])")
_BY_NUMBER = 0.5
_SPLIT = re.compile(r",\s+and\s+|\s+and\s+|,\s+&\s+|\s+&\s+|,\s+")


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Entry:
    """The lines of one entry."""

    lines: tuple[FlowLine, ...]


def entries_of(lines: Sequence[FlowLine]) -> list[Entry]:
    """Entries begin at their marks (`[12]`, `12.`) where they have such, else at the left edge of a hanging indent,
    else after a gap or a line that ends early."""
    if not lines:
        return []
    marked = [bool(_MARK.match(line.line.text)) for line in lines]
    lefts = _lefts(lines)
    hanging = [line.line.box.x0 < lefts[line.page, line.column] + 3 for line in lines]
    if sum(marked) >= 3 or sum(marked) > _BY_NUMBER * len(lines):
        starts = marked
    elif sum(hanging) < 0.75 * len(lines):
        starts = hanging
    else:
        gaps = sum(_has_gap(last, line) for last, line in pairwise(lines)) >= 3
        starts = [_after_gap(lines, index, gaps=gaps) for index in range(len(lines))]
    groups: list[list[FlowLine]] = []
    for line, start in zip(lines, starts, strict=True):
        if start or not groups:
            groups.append([line])
        else:
            groups[-1].append(line)
    return [Entry(lines=tuple(group)) for group in groups]


def _lefts(lines: Sequence[FlowLine]) -> dict[tuple[int, int], float]:
    """The leftmost x in each column at which several lines begin."""
    xs: dict[tuple[int, int], Counter[float]] = {}
    for line in lines:
        xs.setdefault((line.page, line.column), Counter())[round(line.line.box.x0)] += 1
    return {
        key: min((x for x, count in counts.items() if count >= 2), default=min(counts)) for key, counts in xs.items()
    }


def _after_gap(lines: Sequence[FlowLine], index: int, *, gaps: bool) -> bool:
    """Whether a line opens an entry: with `gaps` after extra space, else after a line that ends early at a stop."""
    if index == 0:
        return True
    last, line = lines[index - 1], lines[index]
    if (last.page, last.column) != (line.page, line.column):
        return last.line.text.endswith(".")
    short = last.line.box.x1 < last.edges.right - 3 * last.line.size
    ended = short and last.line.text.endswith((".", "/")) and line.line.text[:1].isupper()
    return _has_gap(last, line) if gaps else ended


def _has_gap(last: FlowLine, line: FlowLine) -> bool:
    return (line.line.baseline - last.line.baseline) / last.line.size > 1.45


def entry_year(text: str) -> int | None:
    """The year of publication: the first one in parentheses or between stops, else the last one named."""
    framed = re.search(r"(?:\(|[.,]\s)((?:19|20)\d{2})[a-z]?[).,]", text)
    if framed:
        return int(framed[1])
    years = _YEAR.findall(text)
    return int(years[-1]) if years else None


def entry_mark(text: str) -> str:
    """The mark with which a numbered entry begins (`12` of `[12]` or `12.`), "" if none."""
    match = _MARK.match(text)
    return (match["bracket"] or match["number"]) if match else ""


def entry_label(text: str) -> str:
    """`[12]` where the entry is numbered, else the author-year form (`Li et al., 2020`), "" if it can't be read."""
    match = _MARK.match(text)
    if match:
        return f"[{match['bracket'] or match['number']}]"
    year = entry_year(text)
    names = _surnames(text)
    if year is None or not names:
        return ""
    suffix = re.search(rf"{year}([a-z])\b", text)
    dated = f"{year}{suffix[1] if suffix else ''}"
    if len(names) == 1:
        return f"{names[0]}, {dated}"
    if len(names) == 2:
        return f"{names[0]} and {names[1]}, {dated}"
    return f"{names[0]} et al., {dated}"


def _surnames(text: str) -> list[str]:
    """The surnames of the authors before the first year or full stop that ends a word of two letters or more."""
    head = re.split(r"\(?\b(?:19|20)\d{2}|(?<=[a-z]{2})\.\s|\bet al\b", text, maxsplit=1)[0].strip(" .,(")
    parts = [part for part in _SPLIT.split(head) if part.strip()]
    inverted = len(parts) > 1 and bool(re.fullmatch(r"(?:[A-Z]\.?[\s-]?){1,4}", parts[1].strip()))
    if inverted:
        parts = parts[::2] if all(_initials(part) for part in parts[1::2]) else parts[:1]
        return [part.strip(" .") for part in parts]
    return [name for part in parts if (name := part.strip(" .").split(" ")[-1]) and name[0].isupper()][:8]


def _initials(part: str) -> bool:
    return bool(re.fullmatch(r"(?:[A-Z]\.?[\s-]?){1,4}", part.strip()))
