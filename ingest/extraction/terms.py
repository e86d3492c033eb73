"""The terms of a paper: acronyms, table headers and phrases, with variants of one name merged."""

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from ingest.extraction.entity_types import TermType, TypeSystem, type_of_class
from ingest.extraction.mentions import PaperText, Sentence, is_coined, variant_key
from ingest.extraction.name_types import type_of_name
from ingest.extraction.phrases import PhraseCount, technical_phrases
from ingest.extraction.table_facts import table_names
from paperscope_core.text.acronyms import find_definitions
from paperscope_core.text.words import entity_key, singular_key
from paperscope_core.types import Table

__all__ = ["Meaning", "Term", "gather_terms", "plainer_names"]

# The most noun phrases of a paper that occur twice or more, and that occur once.
_MAX_PHRASES = 240
_MAX_SINGLES = 120
# Class words that may follow a name; other words change its meaning ("DSC loss", "BERT embedding").
_CLASSES = frozenset(
    "benchmark benchmarks corpora corpus dataset datasets metric metrics model models score scores task tasks".split()
)
_LANGUAGE = re.compile(
    r"(?:Arabic|Bengali|Chinese|Czech|Danish|Dutch|English|Finnish|French|German|Greek|Hebrew|Hindi|Indonesian|Italian"
    r"|Japanese|Korean|Norwegian|Persian|Polish|Portuguese|Romanian|Russian|Spanish|Swedish|Thai|Turkish|Vietnamese) "
)
_FLOAT_NAME = re.compile(r"(?:table|figure|fig|equation|eq|section|algorithm|appendix)s?\.? ?\(?[\da-z]{1,3}\)?")


def plainer_names(names: Sequence[Sequence[str]], types: Sequence[str]) -> Mapping[int, int]:
    """Return longer names that mean the same as a shorter one: "NER task", "F1 score", "English OntoNotes".

    A coined name may be followed by its class, if its type is that class or unknown; a name other than a task's may be
    preceded by a language, if the paper uses it with only one.

    Args:
        names: The forms of each name.

    Returns:
        For the position of each longer name the position of the shorter one.
    """
    place = {variant_key(form): number for number, forms in enumerate(names) for form in forms}
    found: dict[int, int] = {}
    specific: dict[int, set[int]] = defaultdict(set)
    for number, forms in enumerate(names):
        head, _, last = forms[0].rpartition(" ")
        home = place.get(variant_key(head))
        is_classed = last.casefold() in _CLASSES and is_coined(head) and home not in (None, number)
        if home is not None and is_classed and types[home] in (type_of_class(last), "concept"):
            found[number] = home
        language = _LANGUAGE.match(forms[0])
        name = forms[0][language.end() :] if language else ""
        bare = place.get(variant_key(name))
        if bare is not None and bare != number and types[bare] != "task" and any(map(is_coined, name.split())):
            specific[bare].add(number)
    found.update({min(numbers): bare for bare, numbers in specific.items() if len(numbers) == 1})
    return {number: home for number, home in found.items() if home not in found}


@dataclass(frozen=True, kw_only=True, slots=True)
class Term:
    """A name with its spellings. `score` ranks it; `tables` are the tables that name it in a header.

    A `searched` term is searched for in the text; a header that is an ordinary word or a letter is not. A `kept` term
    stays an entity even without relations. A `single` phrase occurs once, and terms within it are found, too.
    """

    forms: tuple[str, ...]
    type: str
    score: float
    tables: tuple[str, ...] = ()
    definition: str = ""
    searched: bool = True
    kept: bool = False
    single: bool = False

    @property
    def name(self) -> str:
        """The first form."""
        return self.forms[0]

    @property
    def id(self) -> str:
        """The entity's id."""
        return singular_key(self.name)


@dataclass(frozen=True, kw_only=True, slots=True)
class Meaning:
    """One of several long forms of an ambiguous short form, and the sentence that defines it."""

    short: str
    long: str
    sentence: Sentence


def gather_terms(
    text: PaperText, tables: Sequence[Table], counts: Mapping[str, PhraseCount], recognized: Sequence[Term] = ()
) -> tuple[tuple[Term, ...], tuple[Meaning, ...]]:
    """Return the paper's terms, no two with the same `entity_key`, and the meanings of its ambiguous short forms."""
    acronyms, meanings = _acronyms(text)
    phrases = technical_phrases(
        counts, text.sentences, limit=_MAX_PHRASES, singles=_MAX_SINGLES, prominent=text.prominent
    )
    candidates = [
        *acronyms,
        *(
            Term(forms=(name,), type=type_, score=2.0, tables=(table.id,))
            for table in tables
            for name, type_ in table_names(table)
        ),
        *(Term(forms=p.forms, type=type_of_name(p.forms[0]), score=p.score, single=p.single) for p in phrases),
        *recognized,
    ]
    named = [candidate for candidate in candidates if not _FLOAT_NAME.fullmatch(entity_key(candidate.name))]
    terms = _plainest(_grouped(named))
    keys = {variant_key(form) for term in terms for form in term.forms}
    return tuple(term for term in terms if not (term.single and _is_headed(term.name, keys))), meanings


def _plainest(groups: Sequence[Sequence[Term]]) -> list[Term]:
    """Merge each group of candidates, and groups that `plainer_names` unites."""
    terms = [_merged(group) for group in groups]
    homes = plainer_names([term.forms for term in terms], [term.type for term in terms])
    members = {number: [*group] for number, group in enumerate(groups) if number not in homes}
    for number, home in homes.items():
        members[home].extend(groups[number])
    return [_merged(group) for group in members.values()]


def _is_headed(name: str, keys: Collection[str]) -> bool:
    """Return whether a name is a known name followed by its class ("BERT model")."""
    head, _, last = name.rpartition(" ")
    return type_of_class(last) != "concept" and variant_key(head) in keys and is_coined(head)


def _acronyms(text: PaperText) -> tuple[list[Term], tuple[Meaning, ...]]:
    """Return defined acronyms as candidates; a short form with several meanings stays apart from each."""
    by_short: dict[str, list[list[Meaning]]] = {}
    for sentence in text.sentences:
        for found in find_definitions(sentence.text):
            meaning = Meaning(short=found.short, long=found.long, sentence=sentence)
            known = by_short.setdefault(variant_key(found.short), [])
            same = next((group for group in known if _mean_the_same(group[0].long, found.long)), None)
            known.append([meaning]) if same is None else same.append(meaning)
    candidates = []
    ambiguous: list[Meaning] = []
    for groups in by_short.values():
        if len(groups) > 1:
            ambiguous.extend(group[0] for group in groups)
            shorts = tuple(group[0].short for group in groups)
            candidates.append(Term(forms=shorts, type="concept", score=3.0))
        for group in groups:
            shorts = tuple(meaning.short for meaning in group) if len(groups) == 1 else ()
            longs = sorted((meaning.long for meaning in group), key=len)
            definition = next(meaning.sentence.text for meaning in group if meaning.long == longs[0])
            candidates.append(
                Term(forms=(*longs, *shorts), type=type_of_name(longs[0]), score=4.0, definition=definition)
            )
    return candidates, tuple(ambiguous)


def _mean_the_same(one: str, other: str) -> bool:
    """Return whether one long form begins with the other, spaces and plurals aside ("cross-entropy objective")."""
    a, b = ("".join(map(singular_key, entity_key(long).split())) for long in (one, other))
    return a.startswith(b) or b.startswith(a)


def _grouped(candidates: Iterable[Term]) -> list[list[Term]]:
    """Group candidates that share a form in any spelling."""
    groups: list[list[Term]] = []
    place: dict[str, list[Term]] = {}
    for candidate in candidates:
        keys = [variant_key(form) for form in candidate.forms]
        homes = [place[key] for key in keys if key in place]
        home = homes[0] if homes else []
        if not homes:
            groups.append(home)
        home.append(candidate)
        for other in homes[1:]:
            if other is not home:
                home.extend(other)
                groups = [group for group in groups if group is not other]
        for member in home:
            place.update((variant_key(form), home) for form in member.forms)
    return groups


def _merged(group: Sequence[Term]) -> Term:
    forms = tuple(dict.fromkeys(form for candidate in group for form in candidate.forms))
    types: set[str] = {candidate.type for candidate in group}
    indicated: set[TermType] = {type_of_name(form) for form in forms} - {"concept"}
    return Term(
        forms=forms,
        type=TypeSystem().first(indicated or types),
        score=sum(candidate.score for candidate in group),
        tables=tuple(dict.fromkeys(table for candidate in group for table in candidate.tables)),
        definition=next((candidate.definition for candidate in group if candidate.definition), ""),
        searched=any(not candidate.tables for candidate in group) or any(map(_is_telling, forms)),
        kept=any(candidate.tables or candidate.definition for candidate in group),
        single=all(candidate.single for candidate in group),
    )


def _is_telling(header: str) -> bool:
    """Return whether a header's occurrences in the text have the same meaning: it has several words, or a coined
    one."""
    words = entity_key(header).split()
    letters = sum(character.isalpha() for character in header)
    return letters > 1 and (sum(len(word) > 1 for word in words) > 1 or is_coined(header))
