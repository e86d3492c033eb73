"""Finds papers by what names them, and by words."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import get_close_matches
from pathlib import PurePath
from types import MappingProxyType

from paperscope_core.errors import UnknownPaperError
from paperscope_core.text.words import fold_spelling
from paperscope_core.types import PaperEntry

__all__ = ["entries_of_work", "find_entries", "find_entry", "is_tag", "matching_entries"]

_MAX_SUGGESTIONS = 5
# Most words of up to three letters are articles and prepositions.
_SHORT_WORD = 3


def find_entry(entries: Sequence[PaperEntry], text: str) -> PaperEntry:
    """Return the paper that matches by id, source, id prefix, file name or (part of a) title; an earlier criterion
    takes precedence.

    Raises UnknownPaperError, naming the candidates, if none or several match.
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


def is_tag(name: str) -> bool:
    """Return whether the name of papers is that of a tag: `#reading-list`."""
    return len(name) > 1 and name.startswith("#")


def find_entries(
    entries: Sequence[PaperEntry], names: Iterable[str], tags: Callable[[], Mapping[str, Sequence[str]]]
) -> list[PaperEntry]:
    """Return the papers that these names identify (see `find_entry`), and those with the tags among them.

    Args:
        tags: Returns the ids of the papers with each tag; only called if a name is a tag.

    Raises:
        UnknownPaperError: None or several match a name, or no paper has a tag.
    """
    found: dict[str, PaperEntry] = {}
    for name in names:
        tagged = _tagged(entries, name, tags()) if is_tag(name) else [find_entry(entries, name)]
        found |= {entry.id: entry for entry in tagged}
    return list(found.values())


def _tagged(entries: Iterable[PaperEntry], name: str, tags: Mapping[str, Sequence[str]]) -> list[PaperEntry]:
    wanted = name[1:].casefold()
    ids = {paper for tag, papers in tags.items() if tag.casefold() == wanted for paper in papers}
    found = [entry for entry in entries if entry.id in ids]
    if not found:
        known = ", ".join(f"#{tag}" for tag in list(tags)[:_MAX_SUGGESTIONS]) or "none"
        raise UnknownPaperError(f"no paper has the tag {name!r}; tags of the library: {known}")
    return found


def _hint(entries: Sequence[PaperEntry], wanted: str) -> str:
    if not entries:
        return "it is empty: add a paper first"
    names = {name.casefold(): entry for entry in entries for name in (entry.id, entry.file, entry.title)}
    close = [names[name] for name in get_close_matches(wanted, names, n=_MAX_SUGGESTIONS, cutoff=0.5)]
    words = {word for word in wanted.split() if len(word) > _SHORT_WORD}
    close += [entry for entry in entries if words & set(entry.title.casefold().split())]
    return f"did you mean {_listed(close)}?" if close else f"it holds: {_listed(entries)}"


def _listed(entries: Sequence[PaperEntry]) -> str:
    distinct = list({entry.id: entry for entry in entries}.values())
    shown = ", ".join(f"{entry.id} ({entry.title or entry.file})" for entry in distinct[:_MAX_SUGGESTIONS])
    rest = len(distinct) - _MAX_SUGGESTIONS
    return f"{shown} and {rest} more" if rest > 0 else shown


def entries_of_work(entries: Iterable[PaperEntry], *, doi: str, arxiv: str) -> list[PaperEntry]:
    """Return the papers that have this DOI or this arXiv id, each "" if it is not known."""
    ids = {one.casefold() for one in (doi, arxiv) if one}
    return [entry for entry in entries if ids & {entry.doi.casefold(), entry.arxiv.casefold()}]


def matching_entries(
    entries: Iterable[PaperEntry], query: str, *, tags: Mapping[str, Sequence[str]] = MappingProxyType({})
) -> list[PaperEntry]:
    """Return the papers that have every word of the query in title, authors, file name, venue, DOI, arXiv id or id.

    Case and accents make no difference. A word such as `#reading-list` is a tag that the papers have.

    Args:
        tags: The ids of the papers with each tag.
    """
    folded = {tag.casefold(): set(papers) for tag, papers in tags.items()}
    asked = [word[1:].casefold() for word in query.split() if is_tag(word)]
    words = fold_spelling(" ".join(word for word in query.split() if not is_tag(word))).casefold().split()
    within = [entry for entry in entries if all(entry.id in folded.get(tag, ()) for tag in asked)]
    return [entry for entry in within if not words or _has(entry, words)]


def _has(entry: PaperEntry, words: Iterable[str]) -> bool:
    record = (entry.title, *entry.authors, entry.file, entry.venue, entry.doi, entry.arxiv, entry.id)
    text = fold_spelling(" ".join(record)).casefold()
    return all(word in text for word in words)
