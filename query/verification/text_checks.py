"""Checks superlatives, quotations and names against the evidence."""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence, Set
from decimal import Decimal
from functools import cached_property

from paperscope_core.text.latex import without_latex
from paperscope_core.text.sentences import split_sentences
from paperscope_core.text.words import STOP_WORDS, plain_words, singular, word_key, words
from paperscope_core.types import Cell, Check, Finding
from query.cells import Statement
from query.content_words import LEAST_QUOTED, quotations
from query.numbers import numbers_in, without_labels
from query.verification.cited import CitedEvidence, PrintedNumber

__all__ = ["KnownWords", "check_extremes", "normalize_typography", "unknown_names", "unsupported_quotations"]

_HIGHEST = re.compile(r"(?i)\b(?:highest|largest|greatest|maximum|maximal|biggest)\b")
_LOWEST = re.compile(r"(?i)\b(?:lowest|smallest|minimum|minimal|fewest)\b")
# Ranks, changes and bounds are not extreme values.
_OTHER = re.compile(
    r"(?i)\b(?:second|third|fourth|fifth|\dnd|\drd|\dth|next|one of|not|no|nor|among|except|apart|improv\w*|gain\w*|"
    r"increas\w*|decreas\w*|drop\w*|boost\w*|differ\w*|chang\w*|gap|at (?:most|least))\b"
)
_SAME = str.maketrans(
    dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "-")
    | dict.fromkeys("\u2018\u2019\u201a\u201b\u2032`\u00b4", "'")
    | dict.fromkeys("\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb", '"')
    | {"\u00ad": None, "\u200b": None, "\u2026": "..."}
)
_CUT = re.compile(r"(?<!\s)\s*+(?:\[\s*(?:\.\.\.|\u2026)\s*\]|\.\.\.|\u2026)\s*")
# A text that gives more cells is not checked, because each is compared with its row and its column.
_MOST_COMPARED = 20
_TOKEN = re.compile(r"(?<!\w)[^\W\d_][^\W_]*(?:[.'\u2019+&/\u2010-\u2015\-][^\W_]+)*")
# A single letter is a symbol of a formula.
_SYMBOL = re.compile(r"(?<![\w'\u2019])[^\W\d_](?!\w)")
_PART = re.compile(r"[^\W_]+")
_INNER = re.compile(r"(?<=.)[A-Z]|^[A-Z].*\d")
# Pieces in which a name may be printed: small capitals are read in two pieces a word.
_MOST_PIECES = 6
# Words for parts of a paper, and abbreviations of statistics that need no explanation (T. Lang and D. Altman, "Basic
# Statistical Reporting for Articles Published in Biomedical Journals", 2013).
_PARTS = frozenset(
    "table figure fig section sec equation eq appendix page reference theorem lemma supplementary yes no i in "
    "sd se sem ci iqr or rr hr".split()
)
# Share of stop words above which a text is taken to be English, whose running text has about 40 %.
_MIN_ENGLISH_SHARE = 0.15


def check_extremes(text: str, scope: CitedEvidence, *, statement: Statement) -> tuple[Check | None, Finding | None]:
    """Check a value that the text calls the highest or lowest.

    The value is compared with those of its column, and of its row, that share all names the text gives it.

    Returns:
        A check if a value is the extreme one, and a finding if none is.
    """
    high, low = _HIGHEST.search(text), _LOWEST.search(text)
    given = {number.value for number in numbers_in(text)}
    cells = [one for one in scope.cells if one.names is not None and one.number.value in given]
    if bool(high) == bool(low) or _OTHER.search(text) or not 0 < len(cells) <= _MOST_COMPARED:
        return None, None
    word, pick = ("highest", max) if high else ("lowest", min)
    compared = [(one, *_compared(one, statement)) for one in cells]
    for one, column, row in compared:
        for others in (column, row):
            if len(others) > 1 and one.number.signed == pick(others):
                formula = f"{one.number.text} = {word} of {len(others)} values"
                return Check(number=one.number.text, finding="computed", formula=formula, support=(one.evidence,)), None
    one, column, row = compared[0]
    if any(len(others) < 2 for _, others, _ in compared):
        return None, None
    message = f"{one.number.text} is called the {word}, but {pick(column)} is in the same column"
    return None, Finding(kind="extreme", subject=one.number.text, place=one.evidence.place, message=message)


def _compared(one: PrintedNumber, statement: Statement) -> tuple[list[Decimal], list[Decimal]]:
    """Return the values of the same column, and of the same row, that share the names that the statement gives this
    one."""
    if one.cell is None or one.names is None:
        return [], []
    shared = one.names.words(one.cell) & (statement.said_words | statement.asked_words)
    alike = [cell for cell in one.names.cells if shared <= one.names.words(cell)]
    fixed = one.names.names_row(one.cell, statement)
    column = [cell for cell in alike if cell.column == one.cell.column and not fixed]
    row = [cell for cell in alike if cell.row == one.cell.row]
    return _numbers(column), _numbers(row)


def _numbers(cells: Sequence[Cell]) -> list[Decimal]:
    """Return the first number of each cell that has one."""
    found = (next(numbers_in(cell.text), None) for cell in cells)
    return [number.signed for number in found if number is not None]


def normalize_typography(text: str) -> str:
    """Return the text in NFKC with one kind of dash, quotation mark and space, and without soft hyphens and LaTeX."""
    plain = unicodedata.normalize("NFKC", without_latex(text).translate(_SAME)).translate(_SAME)
    return " ".join(plain.replace("''", '"').split())


def unsupported_quotations(text: str, printed: Iterable[str]) -> list[str]:
    """Return the quotations of a text that none of the printed texts contains.

    Parts around an ellipsis are compared separately. Differences in typography (with the capitals and spaces of small
    capitals: "S TEP -B ACK"), and the punctuation before the closing mark, are ignored.
    """
    said = list(dict.fromkeys(quotations(text)))
    known = [_letters(one) for one in printed] if said else []
    return [
        quotation
        for quotation in said
        if not any(_letters(quotation) in one for one in known)
        for part in _CUT.split(quotation)
        if len(part.split()) >= LEAST_QUOTED and not any(_letters(part).rstrip(".,;:!?") in one for one in known)
    ]


def _letters(text: str) -> str:
    return normalize_typography(text).replace(" ", "").casefold()


class KnownWords:
    """The words of a text in which names may occur."""

    def __init__(self, text: str) -> None:
        self._text = unicodedata.normalize("NFKC", text)
        self.words = frozenset(words(self._text))

    @cached_property
    def joined(self) -> Set[str]:
        """The runs of a few words, without spaces and hyphens."""
        known = plain_words(self._text)
        ends = range(1, _MOST_PIECES + 1)
        return frozenset("".join(known[start : start + size]) for start in range(len(known)) for size in ends)


def unknown_names(text: str, known: Iterable[KnownWords]) -> list[str]:
    """Return the names of a text that are not among the known words, neither whole nor in all their parts.

    A name has a capital letter that does not begin a sentence. In a language that capitalizes nouns, only names with an
    inner capital or with digits count. A known name may be printed in several pieces ("S TEP -B ACK").

    Args:
        known: The words of each known text, in order.
    """
    found = [(name, words(name)[0], _named_parts(name)) for name in dict.fromkeys(_names(without_labels(text)))]
    sets = list(known) if found else []

    def is_known(form: str) -> bool:
        return any(form in one.words for one in sets)

    unknown = [
        name
        for name, whole, parts in found
        if not (is_known(whole) or (parts and all(is_known(part) for part in parts)))
    ]
    return [name for name in unknown if not any("".join(plain_words(name)) in one.joined for one in sets)]


def _named_parts(name: str) -> list[str]:
    """Return the words of a compound, without those in lower case: the "positive" of "HIV-positive" is no name."""
    parts = [part for part in _PART.findall(name) if not part.islower()]
    return [word_key(part) for part in parts] if len(parts) > 1 or parts != [name] else []


def _names(text: str) -> Iterator[str]:
    tokens = _TOKEN.findall(text)
    english = sum(token in STOP_WORDS for token in tokens) >= _MIN_ENGLISH_SHARE * len(tokens)
    for sentence in split_sentences(text):
        for position, token in enumerate(_TOKEN.findall(sentence)):
            capital = english and position > 0 and token[0].isupper()
            if (
                sum(map(str.isalpha, token)) > 1
                and not _SYMBOL.search(token)
                and (capital or _INNER.search(token))
                and singular(token.casefold()) not in _PARTS
            ):
                yield token.removesuffix("'s").removesuffix("\u2019s")
