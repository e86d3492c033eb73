"""Terms whose definition a question asks for, and the passages and sentences that define them by their form."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from paperscope_core.text.acronyms import find_definitions
from paperscope_core.text.sentences import split_sentences
from paperscope_core.text.words import fold_spelling, plain_form
from paperscope_core.types import Element, Evidence, Paper, Passage, places_of

__all__ = ["Definition", "asked_term", "defining_passages", "entity_definitions", "find_definition"]

_PAPER = r"(?: (?:in|by|according to) (?:the|this) (?:paper|document|article|authors?|study))?"
_SUBJECT = r"(?:the (?:paper|authors?|document|article|study)|they)"
_TERM = re.compile(
    rf"(?:what (?:is|are|was|were)(?: meant by)?|how (?:is|are)|how (?:does|do) {_SUBJECT} define|define"
    rf"|what is the definition of|what does {_SUBJECT} mean by) (?:an? |the )?(?:term )?"
    rf"[“\"']?(?P<term>[^?“”\"]+?)[”\"']?(?: defined)?{_PAPER}\W*",
    re.IGNORECASE,
)
_MAX_TERM_WORDS = 6
_SHORT = r"(?=\w*[A-Z]\w*[A-Z])[\w&/+-]{2,10}"
_EXPANDS = re.compile(
    rf"(?i:what (?:does|do|is) (?:the )?(?:abbreviation |acronym |term )?)[“\"']?(?P<short>{_SHORT})[”\"']?"
    rf"(?i: (?:stands?|short) for{_PAPER})\W*"
)
# A remark between a term and what follows it: "the mass ratio (q) is defined as".
_REMARK = r"(?: ?\([^()]{1,60}\))?"
_FORMS = (
    r"\bwe (?:formally )?define (?:an? |the )?{term}{aside} (?:as|to be)\b",
    r"{lead}{term}{aside}(?: is| are| was| were|,)(?: here| formally| then)? defined (?:as|to be)\b",
    r"\b{term},? (?:\()?short for\b",
    r"\bthe term [“\"']?{term}[”\"']? (?:refers to|means|denotes|describes)\b",
    r"\bby [“\"']?{term}[”\"']?,? we mean\b",
    r"^(?:An? |The )?{term}{aside} (?:refers? to|denotes?)\b",
)
# What begins a clause: "the loss of the CRF is defined as" defines no CRF.
_CLAUSE = r"(?:^|[,;:(] |\b(?:where|then|that|and) )(?:an? |the |our |each )?"
# "X is a …" with what tells it from others of its kind: "X is a natural choice because …" defines nothing. Of 37 such
# sentences about a named term in the texts of four public sets, 34 define it, by eye.
_IS_A = (
    r"^(?:An? |The )?{term}{aside} (?:is|are) an? (?:(?!because|but|if|since|when|while)[\w-]+,? ){{1,8}}?"
    r"(?:that|which|who|whose|where|\w+ed (?:as|by|for|from|in|on|to))\b"
)
# "X, sometimes called Y, is a …", "X: …", "X consists of …", "X, a …", "X We apply …" (a run-in heading), "called X",
# "we propose … X".
_WEAKER_FORMS = (
    r"^(?:An? |The |Each |Our )?{term}{aside}(?:,? [^.;:]{{1,50}}?,?)? (?:is|are|was|were) (?:an?|the|one|not)\b",
    r"^(?:[^\w\s]+ ?|\(?\w{{1,2}}[.)] )?{term}{aside}(?::| ?[\u2013\u2014] |,? (?:which|that) )",
    r"^(?:An? |The |Each |Our )?{term}{aside} (?:consists?|contains?|comprises?|aims?|measures?|describes?)\b",
    r"\b{term}{aside}, (?:an?|one of|which (?:is|are)) ",
    r"^{term}{aside} (?-i:[A-Z])\w",
    r"\b(?:called|termed|named|known as|call (?:it|this|them)) (?:the |an? )?{term}\b",
    r"\b(?:introduce|present|propose|develop|construct(?:ed)?|contribute)s? [^.;:()]{{0,60}}\(?{term}\b",
)
# How far a passage is raised by the form in which it states the definition, as a share of the best score; likewise the
# first passage with the term. Chosen on 37 questions on six papers of 31 in a library: a place that defines the term is
# among the first three sources for 35, without this for 23; on 28 questions on nine other papers for 22 and 17.
_STATED = 1.0
_WEAKLY_STATED = 0.8
_FIRST = 0.4
_ROLES = ("paragraph", "abstract", "list", "footnote")


def asked_term(question: str) -> str:
    """Return the term of a question such as "What is X?" or "How do the authors define X?"; "" for any other
    question."""
    match = _TERM.fullmatch(question.strip())
    term = match["term"] if match is not None else ""
    return term if 0 < len(term.split()) <= _MAX_TERM_WORDS else ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Definition:
    """A sentence that defines a term, and its passage; `expansion` is the long form of a short one, else ""."""

    term: str
    passage: Passage
    sentence: str
    expansion: str = ""


def find_definition(question: str, papers: Sequence[Paper]) -> Definition | None:
    """Return the definition of the term that a question asks about ("What is X?", "What does X stand for?").

    Args:
        question: The question, with single spaces.
        papers: The papers that are asked, the most relevant first.

    Returns:
        None if the question asks for no definition, no paper states one in a fixed form, or the papers expand a short
        form differently.
    """
    match = _EXPANDS.fullmatch(question.strip())
    if match is not None:
        return _expansion(match["short"], papers)
    term = asked_term(question)
    if not term:
        return None
    stated = (
        Definition(term=term, passage=passage, sentence=sentence)
        for paper in papers
        for passage, sentence in _mentions(term, paper.elements)
        if _matches(_FORMS, term, sentence, lead=_CLAUSE)
    )
    return next(stated, None) or _expansion(term, papers)


def _expansion(short: str, papers: Sequence[Paper]) -> Definition | None:
    """Return the long form of a short form, if all papers that define it agree."""
    if not re.fullmatch(_SHORT, short):
        return None
    found = [
        Definition(term=short, passage=passage, sentence=sentence, expansion=one.long)
        for paper in papers
        for passage, sentence in _mentions(short, paper.elements)
        for one in find_definitions(sentence)
        if one.short in (short, f"{short}s")
    ]
    return found[0] if len({_folded(one.expansion) for one in found}) == 1 else None


def entity_definitions(names: Sequence[str], elements: Sequence[Element]) -> Mapping[str, Evidence]:
    """Return the words that define an entity in each paper that does so in a certain form, by the paper's id.

    Args:
        names: The entity's names.
        elements: The elements that name it.

    Returns:
        The sentence that says what it is, if a paper has one, else its short and its long form as first printed.
    """
    found: dict[str, Evidence] = {}
    ordered = sorted(elements, key=lambda one: one.order)
    mentions = [(name, *one) for name in names for one in _mentions(name, ordered)]
    for quote in (_statement, _long_form):
        for name, passage, sentence in mentions:
            if passage.place.paper not in found and (text := quote(name, sentence, names)):
                place, *more = places_of(passage, text)
                one = Evidence(element=passage.id, place=place, quote=text, more_places=tuple(more))
                found[place.paper] = one
    return found


def _statement(name: str, sentence: str, _: Sequence[str]) -> str:
    """Return the sentence if it says what the name is, else ""."""
    return sentence if _matches((*_FORMS, _IS_A), name, sentence, lead=_CLAUSE) else ""


def _long_form(name: str, sentence: str, names: Sequence[str]) -> str:
    """Return a short name with its long form as printed, else "". The long form is one of the names if there are
    others."""
    if not re.fullmatch(_SHORT, name):
        return ""
    known = {_folded(one) for one in names}
    for one in find_definitions(sentence):
        if one.short in (name, f"{name}s") and (_folded(one.long) in known or known == {_folded(name)}):
            ends = [re.escape(one.long), re.escape(one.short)]
            both = "|".join(
                rf"\b{first}\b.{{1,30}}?\b{last}\b(?: for short)?[)\]]?" for first, last in (ends, ends[::-1])
            )
            match = re.search(both, sentence)
            return match[0] if match is not None else sentence
    return ""


def defining_passages(term: str, papers: Sequence[Paper]) -> dict[str, float]:
    """Return the ids of the passages that define a term, as far as their form tells, and how far that raises them."""
    found: dict[str, float] = {}
    for paper in papers:
        expanded = False
        for number, (passage, sentence) in enumerate(_mentions(term, paper.elements)):
            # An abbreviation is introduced once, and repeated for readers of a later section.
            expands = not expanded and _expands(term, sentence)
            expanded = expanded or expands
            gain = _STATED if expands or _matches(_FORMS, term, sentence) else 0.0
            gain = gain or (_WEAKLY_STATED if _matches(_WEAKER_FORMS, term, sentence) else 0.0)
            found[passage.id] = max(gain, _FIRST if number == 0 else 0.0, found.get(passage.id, 0.0))
    return {passage: gain for passage, gain in found.items() if gain}


def _mentions(term: str, elements: Iterable[Element]) -> Iterator[tuple[Passage, str]]:
    """Yield the sentences with a term, each with its passage, in reading order."""
    pattern = re.compile(rf"(?<!\w){_flexible(term)}(?!\w)", re.IGNORECASE)
    for passage in elements:
        if isinstance(passage, Passage) and passage.role in _ROLES and pattern.search(fold_spelling(passage.text)):
            sentences = split_sentences(passage.text)
            yield from ((passage, one) for one in sentences if pattern.search(fold_spelling(one)))


def _expands(term: str, sentence: str) -> bool:
    """Return whether a sentence has the long form of a short one, or the short form of a long one."""
    folded = _folded(term)
    return any(folded in (_folded(one.short), _folded(one.long)) for one in find_definitions(sentence))


def _folded(text: str) -> str:
    return plain_form(text).removesuffix("s")


def _matches(forms: Sequence[str], term: str, sentence: str, *, lead: str = r"\b") -> bool:
    folded = fold_spelling(sentence)
    parts = {"term": _flexible(term), "aside": _REMARK, "lead": lead}
    return any(re.search(form.format(**parts), folded, re.IGNORECASE) is not None for form in forms)


def _flexible(term: str) -> str:
    """Return a pattern for folded texts of a term with its words apart by spaces or hyphens, and of its plural."""
    return r"[\s-]+".join(map(re.escape, re.split(r"[\s-]+", fold_spelling(term)))) + "(?:e?s)?"
