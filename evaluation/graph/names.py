"""When two names are plainly one: a careful fold, made apart from the one that extraction resolves names with.

Two names are the same where they differ in nothing but case, accents' composition, hyphens, blanks and other signs
that stand between words, the plural of the last word, an article before it, or a bracket behind one of them that holds
nothing but signs ("LI (%)") or its initials ("word error rate (WER)"); other brackets tell things apart.
So is a short form where the text itself sets it in brackets behind a long form whose words' initials it is. What a
name's meaning would tell (synonyms, abbreviations that the text never defines) is left out on purpose.
"""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set

__all__ = ["acronym_pairs", "duplicates", "plain_keys"]

_BETWEEN = re.compile(r"[\s\-_/'\u2019\u2010-\u2015\u2212.,:;]+")
_BRACKET = re.compile(r"\s*[(\[]([^()\[\]]*)[)\]]\s*$")
_ARTICLE = re.compile(r"^(?:the|an?)\s+", re.IGNORECASE)
_PLURAL = re.compile(r"(?<=[A-Z]{2})s$")
_DEFINED = re.compile(r"((?:[^\W_][\w\u2019'-]*[\s,]+){1,10})\((?:or |i\.e\. )?([^\W_][\w-]{1,11})\)")


def plain_keys(name: str) -> frozenset[str]:
    """The keys of a name. Names that share a key are the same."""
    found = _BRACKET.search(name)
    inside = _letters(found[1]) if found else ""
    if not found or not found.start():
        return frozenset(filter(None, {_key(name)}))
    bare = name[: found.start()]
    if not inside:
        return frozenset(filter(None, {_key(bare)}))
    spelt = {_key(bare), _key(found[1])} if _initials(_words(bare)) == inside else set[str]()
    return frozenset(filter(None, {_key(name), *spelt}))


def _key(name: str) -> str:
    text = _PLURAL.sub("", _ARTICLE.sub("", unicodedata.normalize("NFKC", name).strip())).casefold()
    words = [word for word in _BETWEEN.split(text) if word]
    return "".join([*words[:-1], *map(_singular, words[-1:])])


def _singular(word: str) -> str:
    """Without the regular plural's ending; what may be no plural stays."""
    if len(word) < 4 or not word.endswith("s") or word.endswith(("ss", "us", "is", "as", "os")):
        return word
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    return word[:-2] if word.endswith(("sses", "xes", "zes", "ches", "shes")) else word[:-1]


def acronym_pairs(texts: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Keys of (long form, short form) for each "long form (SF)" whose words' initials spell SF.

    Each word gives one letter, the parts of a hyphenated word one each; a plural's "s" behind the short form is none.
    """
    for text in texts:
        for match in _DEFINED.finditer(" ".join(text.split())):
            letters, words = _letters(match[2]), _words(match[1])
            tail = words[-len(letters) :]
            if 1 < len(letters) <= len(words) and _initials(tail) == letters:
                yield _key(" ".join(tail)), _key(match[2])


def _letters(short: str) -> str:
    return re.sub(r"[\W_]", "", _PLURAL.sub("", short)).casefold()


def _words(long: str) -> list[str]:
    """The words, those of a hyphenated one apart."""
    return [part for word in long.split() for part in re.split(r"[-\u2010-\u2015]", word.strip(",")) if part]


def _initials(words: Sequence[str]) -> str:
    return "".join(word[0] for word in words).casefold()


def duplicates(names: Mapping[str, Sequence[str]], pairs: Iterable[tuple[str, str]]) -> list[tuple[str, ...]]:
    """The groups of ids, two at least and sorted, that are the same; `names` are an id's name, then its aliases.

    What several have as an alias only ("CE" of cross-entropy and of community edition), or `pairs` give several long
    forms for, is ambiguous and joins nothing.
    """
    meanings: dict[str, set[str]] = defaultdict(set)
    for long, short in pairs:
        meanings[short].add(long)
    called: dict[str, set[str]] = defaultdict(set)
    known: dict[str, set[str]] = defaultdict(set)
    for id_, (name, *aliases) in names.items():
        for key in plain_keys(name):
            called[key].add(id_)
        for key in frozenset().union(*map(plain_keys, aliases)) - plain_keys(name):
            known[key].add(id_)
    holders = {key: called[key] | (known[key] if len(known[key]) == 1 else set()) for key in {*called, *known}}
    links: list[Set[str]] = [*holders.values()]
    links += [
        holders.get(short, set()) | holders.get(long, set())
        for short, (long, *others) in meanings.items()
        if not others and len(known[short]) < 2
    ]
    return _joined(links)


def _joined(links: Iterable[Set[str]]) -> list[tuple[str, ...]]:
    """The sets that hang together, as one each."""
    home: dict[str, set[str]] = {}
    for link in links:
        group: set[str] = set().union(*(home.get(name, {name}) for name in link))
        home.update(dict.fromkeys(group, group))
    return sorted({tuple(sorted(group)) for group in home.values() if len(group) > 1})
