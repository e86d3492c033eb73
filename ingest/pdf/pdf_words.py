"""Groups characters into words; a drop cap joins the word that it begins."""

import re
import unicodedata
from bisect import bisect
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import pairwise
from operator import attrgetter
from statistics import median

from ingest.document.geometry import runs_of
from ingest.document.pages import Char
from paperscope_core.types import Box

__all__ = ["Word", "em_box", "fold_initials", "split_row", "words_of"]

_MATH_FONT = re.compile(
    r"CMMI|CMSY|CMEX|MSBM|MSAM|LMMath|Math|Symbol|EUFM|EUSM|RSFS|(?:tx|px|MT|TXB)(?:mi|sy|ex)\b", re.IGNORECASE
)
_ROMAN = re.compile(r"CMR\d|SFRM\d|LMRoman", re.IGNORECASE)
_SINGLE_GLYPHS = frozenset("√⎷⎸∑∏∫⋃⋂⎛⎜⎝⎞⎟⎠⎡⎢⎣⎤⎥⎦⎧⎨⎩⎪⎫⎬⎭")  # Each is a word by itself.

# Gaps are in letter sizes; chosen on the development papers unless said otherwise.
_SAME_BASELINE = 0.6  # Points.
_WORD_GAP = 0.14  # TeX shrinks a word space of 0.33 to 0.22 at most; kerning stays below 0.1.
_OVERLAP = 0.6  # The largest overlap of kerned and overprinted letters.
_ACCENT_OVERLAP = 1.0  # The largest overlap of an accent with its letter.
_SIZE_CHANGE = 0.35  # The largest difference in size between letters of one word.
# Words in a run without a word gap: some journals set spaces of 0.10 to 0.14 where letters abut.
_NARROW_GAP = 0.1  # A wider gap may be a narrow space,
_ABUTTING_GAP = 0.05  # The largest gap between abutting letters.
_MIN_SPLIT = 8  # Letters; in a shorter run, a gap may be kerning.
# Points: the tail of a ligature has no width and begins where its head ends.
_NO_WIDTH = 0.01
_ROUNDING = 0.05
_ACCENT_RISE = 0.4  # An accent over a capital is higher than over a small letter by less.
_ACCENT_SHARE = 0.3  # The least overlap of an accent and its letter, as a share of the accent's width.

# Letters reach from 0.75 sizes above the baseline to 0.25 below it in most fonts.
_ASCENT = 0.75
_DESCENT = 0.25
_MIDDLE = 0.3  # The height of the middle of average letters above the baseline.

# Initials, in sizes of the body: two lines high or more, next to a line whose capitals reach as high.
_INITIAL_SIZE = 1.7  # An initial of two lines is about 2.7 times as large.
_CAP_HEIGHT = 0.68  # The height of capitals in most text fonts, in letter sizes.
_MAX_BESIDE_SIZE = 1.3  # A larger word beside an initial is a title.
_INITIAL_GAP = (-0.3, 1.2)  # The word overlaps the initial, or follows after a gap.
_TOP_SHIFT = 0.5  # The largest difference between the tops of both.
_MIN_DROP = 0.6  # The least distance of the initial's baseline below the word's.
# The combining accent of each accent that is printed on its own.
_COMBINING = "\u0301\u0300\u0308\u0302\u0303\u030c\u0327\u0306\u0304\u0307\u030a\u030b\u0328"
_SPACING_ACCENTS = dict(zip("´`¨ˆ˜ˇ¸˘¯˙˚˝˛", _COMBINING, strict=True))


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Word:
    """Adjacent characters on one baseline; `math` is the share in a mathematical font (0 to 1).

    Words compare by identity, since the same word may be printed twice in one place.
    """

    text: str
    x0: float
    x1: float
    baseline: float
    size: float
    font: str
    bold: bool
    italic: bool
    math: float

    @property
    def box(self) -> Box:
        """The word's em box."""
        return em_box(self.x0, self.x1, baseline=self.baseline, size=self.size)

    @property
    def middle(self) -> float:
        """The y of the middle of its letters."""
        return self.baseline - _MIDDLE * self.size

    @property
    def center(self) -> float:
        """The x of the middle."""
        return (self.x0 + self.x1) / 2


def em_box(x0: float, x1: float, *, baseline: float, size: float) -> Box:
    """Return the box of letters of a size on a baseline."""
    return Box(x0, baseline - _ASCENT * size, x1, baseline + _DESCENT * size)


def words_of(chars: Iterable[Char], *, body_font: str) -> list[Word]:
    """Return the words of a page, from top to bottom and left to right."""
    math = cache(partial(_is_math_font, body_font=body_font))
    rows = runs_of(
        sorted(_lowered_accents(_whole_ligatures(chars)), key=attrgetter("baseline")),
        joins=lambda row, char: char.baseline - row[0].baseline <= _SAME_BASELINE,
    )
    words: list[Word] = []
    for row in rows:
        row.sort(key=lambda char: (char.x0, char.x1))
        for run in runs_of(row, joins=lambda run, char: _belongs(char, run[-1])):
            words.extend(_word(part, math=math) for part in _parts(run))
    return words


def _is_math_font(font: str, *, body_font: str) -> bool:
    """Return whether a font sets formulas; TeX's roman font does in a paper whose body uses another family."""
    return bool(_MATH_FONT.search(font)) or bool(_ROMAN.search(font) and not _ROMAN.search(body_font))


def _whole_ligatures(chars: Iterable[Char]) -> list[Char]:
    """Return the letters, each ligature as one: a letter without width is the end of the one before it."""
    whole: list[Char] = []
    for char in chars:
        if whole and char.x1 - char.x0 < _NO_WIDTH and abs(char.x0 - whole[-1].x1) < _ROUNDING:
            whole[-1] = whole[-1]._replace(text=whole[-1].text + char.text)
        else:
            whole.append(char)
    return whole


def _lowered_accents(chars: Sequence[Char]) -> list[Char]:
    """Return the letters, each accent that is printed higher than others on the baseline of the letter under it."""
    accents = [char for char in chars if char.text in _SPACING_ACCENTS]
    if not accents:
        return list(chars)
    ordered = sorted(chars, key=attrgetter("baseline"))
    baselines = [char.baseline for char in ordered]
    lowered = {}
    for accent in accents:
        low, high = accent.baseline - _SAME_BASELINE, accent.baseline + _ACCENT_RISE * accent.size
        near = ordered[bisect(baselines, low) : bisect(baselines, high)]
        under = [char for char in near if char.text.isalpha() and _covers(accent, char)]
        if under:
            lowered[accent] = accent._replace(baseline=min(char.baseline for char in under))
    return [lowered.get(char, char) for char in chars]


def _covers(accent: Char, letter: Char) -> bool:
    return min(accent.x1, letter.x1) - max(accent.x0, letter.x0) > _ACCENT_SHARE * (accent.x1 - accent.x0)


def _belongs(char: Char, last: Char) -> bool:
    if char.text in _SINGLE_GLYPHS or last.text in _SINGLE_GLYPHS:
        return False
    gap = char.x0 - last.x1
    size = max(char.size, last.size)
    back = _ACCENT_OVERLAP if char.text in _SPACING_ACCENTS else _OVERLAP
    return -back * char.size < gap < _WORD_GAP * size and abs(char.size - last.size) < _SIZE_CHANGE * char.size


def _parts(run: list[Char]) -> list[list[Char]]:
    """Return a run split at its narrow spaces: gaps between letters of one font where all other letters abut."""
    gaps = [(second.x0 - first.x1) / second.size for first, second in pairwise(run)]
    wide = [index for index, gap in enumerate(gaps, start=1) if gap > _NARROW_GAP]
    if not wide or len(run) < _MIN_SPLIT or any(_ABUTTING_GAP < gap <= _NARROW_GAP for gap in gaps):
        return [run]
    if not all(_is_between_words(run[index - 1], run[index]) for index in wide):
        return [run]
    return [run[start:end] for start, end in pairwise([0, *wide, len(run)])]


def _is_between_words(left: Char, right: Char) -> bool:
    written = left.text[-1:].isalnum() and right.text[:1].isalnum()
    return written and left.font == right.font and not _MATH_FONT.search(left.font)


def _word(run: Sequence[Char], *, math: Callable[[str], bool]) -> Word:
    _, lefts, rights, baselines, sizes, fonts, bolds, italics, _ = zip(*run, strict=True)
    count = len(run)
    return Word(
        text=_compose(run),
        x0=min(lefts),
        x1=max(rights),
        baseline=median(baselines),
        size=max(sizes),
        font=Counter(fonts).most_common(1)[0][0],
        bold=2 * sum(bolds) > count,
        italic=2 * sum(italics) > count,
        math=sum(map(math, fonts)) / count,
    )


def _compose(run: Sequence[Char]) -> str:
    """Join the letters; an accent that TeX printed over its letter is composed with it."""
    parts: list[str] = []
    pending = ""
    for index, char in enumerate(run):
        mark = _SPACING_ACCENTS.get(char.text, "")
        base = _accented(run, index) if mark else None
        if base is not None and base > index:
            pending = mark
        elif base is not None and parts[-1].isalpha():
            parts[-1] += mark
        else:
            letter = {"ı": "i", "ȷ": "j"}.get(char.text, char.text) if pending else char.text
            parts.append(letter + pending)
            pending = ""
    return unicodedata.normalize("NFC", "".join(parts) + pending)


def _accented(run: Sequence[Char], index: int) -> int | None:
    """Return the index of the letter under an accent, if any: the neighbour whose middle is nearer."""
    accent = run[index]
    near: list[tuple[float, int]] = []
    for other in (index - 1, index + 1):
        letter = run[other] if 0 <= other < len(run) else None
        if letter is None or not letter.text.isalpha():
            continue
        if _covers(accent, letter):
            near.append((abs(letter.x0 + letter.x1 - accent.x0 - accent.x1), other))
    return min(near)[1] if near else None


def fold_initials(words: Sequence[Word]) -> list[Word]:
    """Return the words of a page, each drop cap joined to the word beside its top; "A" and "I" may stay separate."""
    if not words:
        return []
    body = median(word.size for word in words for _ in word.text)
    folded = list(words)
    for initial in words:
        if len(initial.text) == 1 and initial.text.isupper() and initial.size > _INITIAL_SIZE * body:
            beside = [word for word in words if _is_beside(word, initial, body=body)]
            if beside:
                word = min(beside, key=lambda word: (round(word.baseline), word.x0))
                again = any(other is not word and other.text.lower() == word.text.lower() for other in words)
                alone = initial.text in "AI" and len(word.text) > 2 and again
                text = f"{initial.text} {word.text}" if alone else initial.text + word.text
                folded[folded.index(word)] = replace(word, text=text, x0=initial.x0)
                folded.remove(initial)
    return folded


def _is_beside(word: Word, initial: Word, *, body: float) -> bool:
    """Return whether a word of body size is to the right of a drop cap, with capitals as high as the drop cap's top."""
    top = initial.baseline - _CAP_HEIGHT * initial.size
    low, high = _INITIAL_GAP
    return (
        word.size < _MAX_BESIDE_SIZE * body
        and low * body < word.x0 - initial.x1 < high * body
        and abs(word.baseline - _CAP_HEIGHT * word.size - top) < _TOP_SHIFT * body
        and initial.baseline - word.baseline > _MIN_DROP * body
    )


def split_row(row: Iterable[Word], *, joins: Callable[[float, Word], bool]) -> list[list[Word]]:
    """Split the words of a row into runs from left to right, in linear time.

    `joins` says whether a word belongs to the run before it, whose right end is given.
    """
    runs: list[list[Word]] = []
    right = 0.0
    for word in sorted(row, key=lambda word: word.x0):
        if runs and joins(right, word):
            runs[-1].append(word)
            right = max(right, word.x1)
        else:
            runs.append([word])
            right = word.x1
    return runs
