"""Splits a paper's text into sentences, finds names in it, and makes sentences the evidence of relations."""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Self, TypeVar

from ingest.document.authors import authors_of
from ingest.document.element_text import element_text
from paperscope_core.text.sentences import split_sentences
from paperscope_core.text.words import NAME_SEPARATOR, entity_key, singular_key
from paperscope_core.types import Element, Figure, Paper, Passage, Reference, Relation, Table

__all__ = [
    "FoldedText",
    "PaperText",
    "Sentence",
    "SentenceEntities",
    "TermFinder",
    "contains_name",
    "excerpt",
    "is_coined",
    "read_paper",
    "sentence_relation",
    "strip_footnote_marks",
    "variant_key",
]

Key = TypeVar("Key")
# The mark of a footnote after a word; powers and indices follow one or two letters.
_MARK = re.compile(r"(?<=[^\W\d_]{3})[\u00b9\u00b2\u00b3\u2070\u2074-\u2079]+(?!\w)")
# Longer sentences are cut, because patterns and taggers take more than linear time on a sentence.
_LONGEST_SENTENCE = 1500
_ENTRY_MARK = re.compile(r"^(?:\[\S{0,40}\]|\d{1,3}[.)]?)\s")
_ABSTRACT_WORDS = 400
_PROSE = frozenset({"abstract", "paragraph", "list", "footnote"})


@dataclass(frozen=True, kw_only=True, slots=True)
class FoldedText:
    """A text folded by `entity_key`: character i of `folded` comes from the characters `starts[i]` up to `ends[i]` of
    the text."""

    folded: str
    starts: tuple[int, ...]
    ends: tuple[int, ...]

    @classmethod
    def of(cls, text: str) -> Self:
        """Fold `text`."""
        folded: list[str] = []
        starts: list[int] = []
        ends: list[int] = []
        text = _MARK.sub(lambda mark: " " * len(mark[0]), text)
        for start, cluster in _clusters(text):
            for key in _folded(cluster):
                if key == " " and folded[-1:] == [" "]:
                    ends[-1] = start + len(cluster)
                    continue
                folded.append(key)
                starts.append(start)
                ends.append(start + len(cluster))
        return cls(folded="".join(folded), starts=tuple(starts), ends=tuple(ends))

    def find(self, words: str) -> tuple[int, int] | None:
        """Return the first occurrence of `words` as whole words in any spelling that `entity_key` folds: its start and
        end in the text. None if there is none."""
        key = entity_key(strip_footnote_marks(words))
        at = _find(key, self.folded)
        return None if at < 0 else (self.starts[at], self.ends[at + len(key) - 1])


def strip_footnote_marks(text: str) -> str:
    """Return the text without the marks of footnotes."""
    return _MARK.sub("", text)


def contains_name(key: str, folded: str) -> bool:
    """Return whether `key` occurs in the text as whole words; both are folded in the same way."""
    return _find(key, folded) >= 0


def _find(key: str, folded: str) -> int:
    at = folded.find(key) if key else -1
    while at >= 0:
        before, after = folded[at - 1 : at] if at else "", folded[at + len(key) : at + len(key) + 1]
        # "ran" does not occur in "random".
        if not (before.isalnum() and key[0].isalnum()) and not (after.isalnum() and key[-1].isalnum()):
            return at
        at = folded.find(key, at + 1)
    return -1


@lru_cache(maxsize=4096)
def _folded(cluster: str) -> str:
    """Return the characters of a cluster as `entity_key` folds them, with a space for each separator."""
    characters = unicodedata.normalize("NFKC", cluster).casefold()
    return "".join(" " if NAME_SEPARATOR.fullmatch(character) else character for character in characters)


def _clusters(text: str) -> Iterator[tuple[int, str]]:
    """Yield each character with its combining marks, which are normalised together, and its position."""
    if text.isascii():
        yield from enumerate(text)
        return
    start = 0
    for position in range(1, len(text) + 1):
        if position == len(text) or not unicodedata.combining(text[position]):
            yield start, text[start:position]
            start = position


@dataclass(frozen=True, kw_only=True, slots=True)
class Sentence:
    """A sentence of running text or of a caption, and the element that holds it."""

    element: str
    text: str
    caption: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class PaperText:
    """The text that extraction reads: sentences in reading order, and each element's text as it is (`texts`), folded by
    `entity_key` (`folded`), and folded with its case kept (`spaced`). References, authors and furniture are left out.
    `prominent` are the elements that say what the paper is about; `short` says that these are all elements. `headings`
    include the title; `references` are the entries of the bibliography, `persons` the words of all authors' names."""

    sentences: tuple[Sentence, ...]
    texts: Mapping[str, str]
    folded: Mapping[str, str]
    spaced: Mapping[str, str]
    prominent: frozenset[str]
    short: bool = False
    headings: tuple[str, ...] = ()
    references: tuple[str, ...] = ()
    persons: frozenset[str] = frozenset()

    def holding(self, names: Iterable[str], elements: Iterable[str]) -> tuple[str, ...]:
        """Return the `elements`, without repeats, in which one of `names` occurs as whole words.

        Names are folded by `entity_key`; a short coined name ("MAP") must occur in its own spelling.
        """
        strict, folded = set[str](), set[str]()
        for name in names:
            strict.add(_spaced(name)) if _is_strict(name) else folded.add(entity_key(name))
        return tuple(
            element
            for element in dict.fromkeys(elements)
            if element in self.texts
            and (
                any(contains_name(key, self.folded[element]) for key in folded)
                or any(contains_name(form, self.spaced[element]) for form in strict)
            )
        )


def read_paper(paper: Paper) -> PaperText:
    """Read a paper's text."""
    elements = [
        element
        for element in paper.elements
        if not isinstance(element, Reference)
        and not (isinstance(element, Passage) and element.role in ("furniture", "authors"))
    ]
    texts = {element.id: element_text(element) for element in elements}
    prominent = _prominent(paper, elements)
    return PaperText(
        sentences=tuple(sentence for element in elements for sentence in _sentences(element)),
        texts=texts,
        folded={element: entity_key(text) for element, text in texts.items()},
        spaced={element: _spaced(text) for element, text in texts.items()},
        prominent=prominent,
        short=prominent >= texts.keys(),
        headings=tuple(e.text for e in elements if isinstance(e, Passage) and e.role in ("title", "heading")),
        references=tuple(element.text for element in paper.elements if isinstance(element, Reference)),
        persons=frozenset(word for name in _authors(paper) for word in name.split()),
    )


def _authors(paper: Paper) -> Iterator[str]:
    """Yield the names of the paper's authors, and of the authors that it cites."""
    yield from paper.authors
    for element in paper.elements:
        if isinstance(element, Reference):
            yield from authors_of(_ENTRY_MARK.sub("", element.text, count=1)).names


def _prominent(paper: Paper, elements: Sequence[Element]) -> frozenset[str]:
    """Return the elements of the abstract; all elements of a text that is no longer than an abstract."""
    words = sum(len(element.text.split()) for element in elements if isinstance(element, Passage))
    abstracts = {section.id for section in paper.sections if section.title.strip(" .:").casefold() == "abstract"}
    return frozenset(
        element.id
        for element in elements
        if words <= _ABSTRACT_WORDS
        or (isinstance(element, Passage) and (element.role == "abstract" or element.section in abstracts))
    )


def _sentences(element: Element) -> Iterator[Sentence]:
    if isinstance(element, Table | Figure):
        text = element.caption
    elif isinstance(element, Passage) and element.role in _PROSE:
        text = element.text
    else:
        return
    for sentence in split_sentences(text):
        spaced = " ".join(sentence.split())
        for start in range(0, len(spaced), _LONGEST_SENTENCE):
            part = spaced[start : start + _LONGEST_SENTENCE].strip()
            yield Sentence(element=element.id, text=part, caption=not isinstance(element, Passage))


def variant_key(name: str) -> str:
    """`singular_key` without spaces: "GPT-4", "GPT 4" and "GPT4" are variants of one name."""
    return singular_key(name).replace(" ", "")


def is_coined(form: str) -> bool:
    """Return whether capitals or digits make a word a name in this spelling only ("CE", "mAP", "IT")."""
    if len(form.split()) != 1 or not any(character.isalpha() for character in form):
        return False
    return form[1:] != form[1:].lower() or any(character.isdigit() for character in form)


class TermFinder:
    """Finds terms in text: the longest form at each place, word by word.

    Case, hyphens and spaces are folded; a short coined form ("MAP") is found in its own spelling only.

    Args:
        forms: The forms of each term by its id.
        holding: The ids of terms within whose forms others are found, too.
    """

    def __init__(self, forms: Mapping[str, Iterable[str]], *, holding: Collection[str] = ()) -> None:
        self._terms: dict[str, str] = {}
        self._spellings: dict[str, set[str]] = defaultdict(set)
        self._holding = frozenset(holding)
        for term, names in forms.items():
            for name in names:
                key = entity_key(name)
                self._terms.setdefault(key, term)
                self._spellings[key].add(_spaced(name))
        self._pattern = _any_of(self._terms)
        self._inner = _any_of(key for key, term in self._terms.items() if term not in self._holding)

    def find(self, text: str) -> tuple[str, ...]:
        """Return the ids of the terms in `text`, in order of their first occurrence."""
        spaced, places = self.places(text)
        found: list[str | None] = []
        for term, start, end in places:
            found.append(term)
            if term in self._holding:
                found += map(self._term, self._inner.finditer(spaced, start, end))
        return tuple(dict.fromkeys(term for term in found if term is not None))

    def holders(self, texts: Mapping[Key, str]) -> Mapping[str, list[Key]]:
        """Return the keys of the texts that name each term, in order."""
        holders: dict[str, list[Key]] = defaultdict(list)
        for key, text in texts.items():
            for term in self.find(text):
                holders[term].append(key)
        return holders

    def places(self, text: str) -> tuple[str, list[tuple[str, int, int]]]:
        """Return the text with hyphens and spaces folded, and the outermost terms in it, each with its start and
        end."""
        spaced = _spaced(text)
        matches = [(self._term(match), match) for match in self._pattern.finditer(spaced)]
        return spaced, [(term, *match.span()) for term, match in matches if term is not None]

    def _term(self, match: re.Match[str]) -> str | None:
        key = entity_key(match[0])
        spellings = self._spellings.get(key, set())
        return self._terms[key] if match[0] in spellings or not all(map(_is_strict, spellings)) else None


def _any_of(keys: Iterable[str]) -> re.Pattern[str]:
    ordered = sorted(filter(None, keys), key=lambda key: (-len(key), key))
    alternatives = "|".join(map(re.escape, ordered)) or r"(?!)"
    return re.compile(rf"(?<!\w)(?:{alternatives})(?!\w)", re.IGNORECASE)


def _is_strict(form: str) -> bool:
    return len(form) <= 5 and is_coined(form)


def _spaced(text: str) -> str:
    """`text` folded as by `entity_key`, with its case kept."""
    return NAME_SEPARATOR.sub(" ", unicodedata.normalize("NFKC", text)).strip(" .,;:")


def excerpt(text: str, *, limit: int = 600) -> str:
    """Return the text, cut to whole words within `limit` characters."""
    text = " ".join(text.split())
    return text if len(text) <= limit else text[:limit].rpartition(" ")[0]


@dataclass(frozen=True, kw_only=True, slots=True)
class SentenceEntities:
    """The entities of each sentence of a paper, by id, and the score of each entity."""

    sentences: Sequence[Sentence]
    ids: Sequence[Sequence[str]]
    scores: Mapping[str, float]

    @classmethod
    def find(cls, text: PaperText, finder: TermFinder, scores: Mapping[str, float]) -> Self:
        """Return the entities that `finder` finds in the sentences of a paper."""
        ids = [finder.find(sentence.text) for sentence in text.sentences]
        return cls(sentences=text.sentences, ids=ids, scores=scores)

    def best(self, entities: Iterable[str], limit: int) -> list[str]:
        """Return the entities of the highest scores, at most `limit`."""
        return sorted(entities, key=lambda entity: (-self.scores[entity], entity))[:limit]


def sentence_relation(
    source: str, target: str, kind: str, sentences: Sequence[Sentence], *, weight: float | None = None
) -> Relation:
    """Return a relation with sentences as its evidence.

    Its description is the shortest sentence, preferably of running text, not of a caption; its weight defaults to their
    number.
    """
    shortest = min(sentences, key=lambda sentence: (sentence.caption, len(sentence.text)))
    return Relation(
        source=source,
        target=target,
        kind=kind,
        description=excerpt(shortest.text),
        sources=tuple(dict.fromkeys(sentence.element for sentence in sentences)),
        weight=float(len(sentences)) if weight is None else weight,
    )
