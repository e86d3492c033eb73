"""Which phrases that stand only once in a paper are terms nevertheless, by their own words.

What stands twice is a term by its frequency; what stands once must be built like one: a coined name, a name in
capitals, or a phrase whose head says what it is ("region proposal network"). In an abstract, which names nothing twice,
any phrase of two content words will do.
"""

import re

from ingest.extraction.kinds import type_of_name
from ingest.extraction.mentions import is_coined
from ingest.extraction.words import GENERAL, STOP, ends_phrase, is_adjective

__all__ = ["is_fragment", "is_named", "is_single_term"]

_MIN_NAME = 3
# Words in -ing that are the first word of terms; others are verbs there ("improving models").
_NOUNS = frozenset(
    "bootstrapping clustering coding computing decoding embedding encoding engineering gating imaging indexing "
    "learning linking machine masking matching mining modeling modelling parsing pooling processing prompting "
    "pruning ranking reasoning routing sampling scoring searching sequencing smoothing spelling tagging testing "
    "tracking training tuning understanding voting".split()
)
_SINGULAR = ("ss", "us", "is", "as", "os", "ics")
_SPLIT = re.compile(r"[\s\-\u2010\u2011\u2013]+")


def is_single_term(form: str, *, first: bool, headed: bool, prominent: bool) -> bool:
    """Whether a whole run of words that stands once names something.

    `first` says that it begins its sentence, where a capital tells nothing; `headed` that a word such as "dataset"
    follows; `prominent` that it stands where a paper says what it is about.
    """
    words = _SPLIT.split(form)
    named = all(map(is_named, words[first:]))
    if len(words) == 1 or headed:
        return (is_coined(form) and _is_name(form)) or (headed and named and not first)
    if is_fragment(form) or any(len(token) < 2 for token in form.split()):
        return False
    return (named and any(map(is_coined, words))) or (" " in form and _is_telling(form, prominent=prominent))


def _is_telling(form: str, *, prominent: bool) -> bool:
    """Not general words only, and where it is not prominent with a head that says what it is."""
    keys = [word.casefold() for word in _SPLIT.split(form)]
    if all(key in GENERAL or key in STOP for key in keys):
        return False
    return prominent or (type_of_name(form) in ("method", "task") and keys[0] not in GENERAL)


def is_named(word: str) -> bool:
    """Whether a word is spelt as a name is, or is a name's number."""
    return word[:1].isupper() or word.isdigit() or is_coined(word)


def _is_name(form: str) -> bool:
    """Three letters at the least, most of the characters, and nothing of an address or a unit."""
    letters = sum(character.isalpha() for character in form)
    return letters >= _MIN_NAME and letters * 2 > len(form) and form[0].isalpha() and not re.search(r"[./_@&^]", form)


def is_fragment(form: str) -> bool:
    """Whether a phrase of several words holds a verb or ends before its head: "constrains flow", "model trained",
    "arrows pointing", "preserving resolution"."""
    tokens = form.split()
    words = [word.casefold() for word in _SPLIT.split(form)]
    first, last = words[0], words[-1]
    if is_adjective(last) or ends_phrase(last) or (first.endswith("ing") and first not in _NOUNS):
        return True
    if last.endswith("ing") and len(words) > 1 and _is_plural(words[-2]):
        return True
    return any(_is_plural(token) for token in tokens[:-1] if token.islower() and "-" not in token)


def _is_plural(word: str) -> bool:
    """Which is a verb where another noun follows."""
    return len(word) > 3 and word.endswith("s") and not word.endswith(_SINGULAR)
