"""Names in an answer that none of what was retrieved for it holds."""

import re
from collections.abc import Iterator, Sequence, Set

from paperscope.sentences import sentences
from query.words import words

__all__ = ["unknown_names"]

_TOKEN = re.compile(r"(?<!\w)[^\W\d_][^\W_]*(?:[.'\u2019+&/\u2010-\u2015\-][^\W_]+)*")
# A letter by itself is a symbol of a formula.
_SYMBOL = re.compile(r"(?<![\w'\u2019])[^\W\d_](?!\w)")
_INNER = re.compile(r".+[A-Z]|[A-Z].*\d")
# Words that name parts of a paper, not things that it speaks of.
_PARTS = frozenset("table figure fig section sec equation eq appendix page yes no i in".split())
_ENGLISH = frozenset("the of is and in to a for on that are as with by has it".split())
_LEAST_ENGLISH = 0.1


def unknown_names(text: str, known: Sequence[str]) -> list[str]:
    """The names that stand in none of the known texts, neither whole nor in all their parts.

    A name has a capital letter that no beginning of a sentence explains; in a language that writes common nouns so,
    only names with a capital inside or with digits count.
    """
    held = {word for one in known for word in words(one)}
    return [name for name in dict.fromkeys(_names(text)) if not _is_held(words(name), held)]


def _is_held(forms: Sequence[str], held: Set[str]) -> bool:
    """Of a compound, `words` gives the whole first, then the parts."""
    return forms[0] in held or (len(forms) > 1 and all(form in held for form in forms[1:]))


def _names(text: str) -> Iterator[str]:
    tokens = _TOKEN.findall(text)
    english = sum(token in _ENGLISH for token in tokens) >= _LEAST_ENGLISH * len(tokens)
    for sentence in sentences(text):
        for position, token in enumerate(_TOKEN.findall(sentence)):
            capital = english and position > 0 and token[0].isupper()
            if (
                len(token) > 1
                and not _SYMBOL.search(token)
                and (capital or _INNER.search(token))
                and token.casefold() not in _PARTS
            ):
                yield token.removesuffix("'s").removesuffix("\u2019s")
