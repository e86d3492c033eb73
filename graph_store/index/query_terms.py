"""The search terms of a question, and the names of entities in it."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from paperscope_core.text.words import STOP_WORDS, fold_spelling

__all__ = ["Window", "longest_first", "match_terms", "name_key", "windows"]


_TEXT_LIMIT = 20_000
_TERM_LIMIT = 64
_PHRASE_LIMIT = 8
_WINDOW_ATOMS = 10
_ATOM_LIMIT = 200

_RUN = re.compile(r"[^\W_]+")
_ATOM = re.compile(r"[^\W_]+|[+*#]")
_PIECE = re.compile(r"\d+|[^\W\d_]+|[+*#]")


@dataclass(frozen=True, kw_only=True, slots=True)
class Window:
    """A sequence of words that may be a name: its key and its span in characters."""

    key: str
    start: int
    end: int


def match_terms(text: str) -> list[str]:
    """FTS5 expressions, one for each word of the text.

    A word such as `BERT+DSC`, `SST-5` or `OntoNotes4.0` is searched for as a phrase and by its parts. Expressions
    contain quoted letters and digits only, so no text can break the syntax.
    """
    words = [_RUN.findall(word) for word in fold_spelling(text[:_TEXT_LIMIT]).casefold().split()]
    phrases = [" ".join(runs) for runs in words if 1 < len(runs) <= _PHRASE_LIMIT]
    singles = [run for runs in words for run in runs]
    telling = [run for run in singles if run not in STOP_WORDS]
    terms = list(dict.fromkeys([*phrases, *(telling or singles)]))[:_TERM_LIMIT]
    return [f'"{term}"' for term in terms]


def name_key(name: str) -> str:
    """Return the key under which a name is indexed: its letters, digits and the signs +, * and #. `OntoNotes4.0` and
    `OntoNotes 4.0` have the same key, and so have `F1-score` and `F1 score`; `BERT` and `BERT+` have different keys."""
    return " ".join(_PIECE.findall(fold_spelling(name).casefold()))


def windows(text: str) -> list[Window]:
    """Return all sequences of up to ten words of the text, except those of function words only."""
    prepared = fold_spelling(text[:_TEXT_LIMIT]).casefold()
    atoms = list(_ATOM.finditer(prepared))[:_ATOM_LIMIT]
    found = []
    for first, atom in enumerate(atoms):
        run = atoms[first : first + _WINDOW_ATOMS]
        keys = [" ".join(_PIECE.findall(one.group())) for one in run]
        telling = [one.group() not in STOP_WORDS and one.group().isalnum() for one in run]
        for length in range(1, len(run) + 1):
            if any(telling[:length]):
                key = " ".join(keys[:length])
                found.append(Window(key=key, start=atom.start(), end=run[length - 1].end()))
    return found


def longest_first(found: Iterable[Window], entities: Mapping[str, Iterable[str]]) -> dict[str, int]:
    """Return the entities that occur in a text, with the length of the name in characters, longest first.

    `entities` maps name keys to entity ids. A name inside a longer name is ignored.
    """
    lengths: dict[str, int] = {}
    taken: set[int] = set()
    for window in sorted(found, key=lambda window: (window.start - window.end, window.start)):
        span = range(window.start, window.end)
        named = entities.get(window.key)
        if named and taken.isdisjoint(span):
            taken.update(span)
            for entity in sorted(named):
                lengths.setdefault(entity, len(span))
    return lengths
