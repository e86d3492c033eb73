"""Parts of speech of an English sentence's words."""

import threading
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from HanTa.HanoverTagger import HanoverTagger

__all__ = ["tag_words"]

# The tagger tries every division of a word into morphemes, so its time grows fast with the word's length. The ending of
# a longer word identifies its part of speech equally well.
_LONGEST_WORD = 30
_lock = threading.Lock()


def tag_words(tokens: Sequence[str]) -> list[str]:
    """The part of speech of each token of one sentence, by the Hanover Tagger (C. Wartena, KONVENS 2019).

    Args:
        tokens: Words and punctuation marks in order, none of them empty.

    Returns:
        A tag of the BNC's C5 set for each token: `NN1` and `NN2` are common nouns, `NP0` proper nouns, `AJ0` adjectives
        in the base form, `VVZ` and others verbs, `UNC` words that can't be classified.
    """
    if not tokens:
        return []
    with _lock:
        return list(_tagger().tag_sent([token[-_LONGEST_WORD:] for token in tokens], taglevel=0))


@cache
def _tagger() -> "HanoverTagger":
    """The tagger with its bundled English model; loading it takes 0.5 s."""
    from HanTa.HanoverTagger import HanoverTagger

    return HanoverTagger("morphmodel_en.pgz")
