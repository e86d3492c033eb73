"""When two names are plainly one: a careful fold, made apart from the one that extraction resolves names with.

Two names are the same where they differ in nothing but case, accents' composition, hyphens, blanks and other signs
that stand between words, the plural of the last word, an article before it, or a bracket behind one of them. So is a
short form where the text itself sets it in brackets behind a long form whose words' initials it is. What a name's
meaning would tell (synonyms, abbreviations that the text never defines) is left out on purpose.
"""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Set

__all__ = ["acronym_pairs", "duplicates", "plain_keys"]

_BETWEEN = re.compile(r"[\s\-_/'\u2019\u2010-\u2015\u2212.,:;]+")
_BRACKET = re.compile(r"\s*[(\[]([^()\[\]]*)[)\]]\s*$")
_ARTICLE = re.compile(r"^(?:the|an?)\s+", re.IGNORECASE)
_DEFINED = re.compile(r"((?:[^\W_][\w\u2019'-]*[\s,]+){1,10})\((?:or |i\.e\. )?([^\W_][\w-]{1,11})\)")


def plain_keys(name: str) -> frozenset[str]:
    """The keys of a name: its own, and without a bracket at its end. Names that share a key are the same."""
    bare = _BRACKET.sub("", name)
    return frozenset(filter(None, map(_key, {name, bare} if bare else {name})))


def _key(name: str) -> str:
    text = _ARTICLE.sub("", unicodedata.normalize("NFKC", name).strip()).casefold()
    words = [word for word in _BETWEEN.split(text) if word]
    return "".join([*words[:-1], *map(_singular, words[-1:])])


def _singular(word: str) -> str:
    """Without the regular plural's ending; what may be no plural stays."""
    if len(word) < 4 or not word.endswith("s") or word.endswith(("ss", "us", "is", "as", "os")):
        return word[:-1] if len(word) == 3 and word.endswith("s") and not re.search("[aeiou]", word) else word
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    return word[:-2] if word.endswith(("sses", "xes", "zes", "ches", "shes")) else word[:-1]


def acronym_pairs(texts: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Keys of (long form, short form) for each "long form (SF)" whose words' initials spell SF.

    Each word gives one letter, the parts of a hyphenated word one each; a plural's "s" behind the short form is none.
    """
    for text in texts:
        for match in _DEFINED.finditer(" ".join(text.split())):
            letters = re.sub(r"[\W_]", "", re.sub(r"(?<=[A-Z0-9])s$", "", match[2])).casefold()
            words = [
                part for word in match[1].split() for part in re.split(r"[-\u2010-\u2015]", word.strip(",")) if part
            ]
            tail = words[-len(letters) :]
            if 1 < len(letters) <= len(words) and "".join(word[0] for word in tail).casefold() == letters:
                yield _key(" ".join(tail)), _key(match[2])


def duplicates(names: Mapping[str, Iterable[str]], pairs: Iterable[tuple[str, str]]) -> list[tuple[str, ...]]:
    """The groups of ids, two at least and sorted, whose names say that they are the same; `names` are those of an id.

    A short form with several long forms in `pairs` joins nothing.
    """
    meanings: dict[str, set[str]] = defaultdict(set)
    for long, short in pairs:
        meanings[short].add(long)
    holders: dict[str, set[str]] = defaultdict(set)
    for name, spellings in names.items():
        for key in frozenset().union(*map(plain_keys, spellings)):
            holders[key].add(name)
    links: list[Set[str]] = [*holders.values()]
    links += [holders[s] | holders[next(iter(longs))] for s, longs in meanings.items() if len(longs) == 1]
    return _joined(links)


def _joined(links: Iterable[Set[str]]) -> list[tuple[str, ...]]:
    """The sets that hang together, as one each."""
    home: dict[str, set[str]] = {}
    for link in links:
        group: set[str] = set().union(*(home.get(name, {name}) for name in link))
        home.update(dict.fromkeys(group, group))
    return sorted({tuple(sorted(group)) for group in home.values() if len(group) > 1})
