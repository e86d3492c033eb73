"""Longer names that mean no more than a shorter one of the same paper: "NER task", "F1 score", "English OntoNotes"."""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence

from ingest.extraction.kinds import type_of_name
from ingest.extraction.mentions import is_coined, variant_key

__all__ = ["plainer_names"]

# Words behind a name that only say what it is; others make it another thing ("DSC loss", "BERT embedding").
_CLASSES = frozenset(
    "benchmark benchmarks corpora corpus dataset datasets metric metrics model models score scores task tasks".split()
)
_LANGUAGE = re.compile(
    r"(?:Arabic|Bengali|Chinese|Czech|Danish|Dutch|English|Finnish|French|German|Greek|Hebrew|Hindi|Indonesian|Italian"
    r"|Japanese|Korean|Norwegian|Persian|Polish|Portuguese|Romanian|Russian|Spanish|Swedish|Thai|Turkish|Vietnamese) "
)


def plainer_names(names: Sequence[Sequence[str]], types: Sequence[str]) -> Mapping[int, int]:
    """For names (given with all their forms, by position), the position of the one that each only says more of.

    A coined name may have its class behind it, where its own type is that or untold, and, if it is no task, a language
    before it, where the paper names it with one language only.
    """
    place = {variant_key(form): number for number, forms in enumerate(names) for form in forms}
    found: dict[int, int] = {}
    spoken: dict[int, set[int]] = defaultdict(set)
    for number, forms in enumerate(names):
        head, _, last = forms[0].rpartition(" ")
        home = place.get(variant_key(head))
        is_classed = last.casefold() in _CLASSES and is_coined(head) and home not in (None, number)
        if home is not None and is_classed and types[home] in (type_of_name(last), "concept"):
            found[number] = home
        language = _LANGUAGE.match(forms[0])
        name = forms[0][language.end() :] if language else ""
        bare = place.get(variant_key(name))
        if bare is not None and bare != number and types[bare] != "task" and any(map(is_coined, name.split())):
            spoken[bare].add(number)
    found.update({min(numbers): bare for bare, numbers in spoken.items() if len(numbers) == 1})
    return {number: home for number, home in found.items() if home not in found}
