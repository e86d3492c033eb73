"""Which paper a person means."""

from collections.abc import Callable, Sequence
from difflib import get_close_matches
from pathlib import PurePath

from paperscope.errors import UnknownPaperError
from paperscope.types import PaperEntry

__all__ = ["find_entry"]

_SHOWN = 5


def find_entry(entries: Sequence[PaperEntry], text: str) -> PaperEntry:
    """The paper with this id, source, id prefix, file name or (part of a) title; the first of these that fits.

    Raises UnknownPaperError, naming the papers that may be meant, if none or several fit.
    """
    wanted = text.strip().casefold()
    rules: tuple[Callable[[PaperEntry], bool], ...] = (
        lambda entry: wanted == entry.id.casefold(),
        lambda entry: text == entry.source,
        lambda entry: entry.id.casefold().startswith(wanted),
        lambda entry: wanted == entry.file.casefold(),
        lambda entry: wanted == PurePath(entry.file).stem.casefold(),
        lambda entry: wanted == entry.title.casefold(),
        lambda entry: wanted in entry.title.casefold(),
    )
    for rule in rules if wanted else ():
        found = [entry for entry in entries if rule(entry)]
        if len(found) == 1:
            return found[0]
        if found:
            raise UnknownPaperError(f"{text!r} may be any of: {_listed(found)}; give more of its title, or its id")
    raise UnknownPaperError(f"no paper {text!r} in the library; {_hint(entries, wanted)}")


def _hint(entries: Sequence[PaperEntry], wanted: str) -> str:
    if not entries:
        return "it is empty: add a paper first"
    names = {name.casefold(): entry for entry in entries for name in (entry.id, entry.file, entry.title)}
    close = [names[name] for name in get_close_matches(wanted, names, n=_SHOWN, cutoff=0.5)]
    close += [entry for entry in entries if _shares_word(entry.title, wanted)]
    return f"did you mean {_listed(close)}?" if close else f"it holds: {_listed(entries)}"


def _shares_word(title: str, wanted: str) -> bool:
    return any(len(word) > 3 for word in set(title.casefold().split()) & set(wanted.split()))


def _listed(entries: Sequence[PaperEntry]) -> str:
    distinct = list({entry.id: entry for entry in entries}.values())
    shown = ", ".join(f"{entry.id} ({entry.title or entry.file})" for entry in distinct[:_SHOWN])
    rest = len(distinct) - _SHOWN
    return f"{shown} and {rest} more" if rest > 0 else shown
