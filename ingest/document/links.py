"""Links from passages to the tables, figures, equations, sections and references that they name.

References are cited by number, by key, or by author and year.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ingest.document.authors import PARTICLES, authors_of
from ingest.document.caption_wording import normalized_label
from paperscope_core.types import Element, Figure, Link, Passage, Reference, Section, Table

__all__ = ["Mention", "expand_numbers", "find_links", "find_mentions"]

_NOT_SEARCHED = ("furniture", "title", "authors")

_NUMBER = r"(?:[A-Z]{1,2}\.?)?\d+(?:\.\d+)*|[IVXL]+(?:[- ][A-Z])?(?!\w)|[A-Z](?:\.\d+)*(?!\w)"
_PANEL = r"(?:[a-z](?:\s?[-–,]\s?[a-z])?(?!\w)|\s?\([a-z](?:\s?[-–,]\s?[a-z])*\))?"
_ITEM = rf"\(?(?:{_NUMBER})(?:[a-z](?=\)))?\)?{_PANEL}(?![\w%])(?!\.\d)"
_LIST = r"\s*(?:,\s*and|,\s*&|,|and|&|or|to|[-–—])\s*"
_RANGE_OR_AND = r"(?:\s*[-–—]\s*|\s+(?:and|&)\s+(?=\(|[^\s.,;:)]+(?:\.?$|[.,;:)]\s|\)?[.,;:])))"
_SINGLE = r"Table|Tab\.|Figure|Fig\.?|Scheme|Algorithm|Alg\.|Listing|Equation|Eqn?\.?|Section|Sect?\.|Appendix|App\.|§"
_PLURAL = (
    r"Tables|Tabs\.|Figures|Figs\.?|Schemes|Algorithms|Algs\.|Listings|Equations|Eqn?s\.?|Sections|Sect?s\.|"
    r"Appendices|Apps\.|§§"
)
_MENTION = re.compile(
    rf"(?<![\w-])(?:(?P<many>(?i:{_PLURAL}))[\s~]*(?P<list>{_ITEM}(?:{_LIST}{_ITEM})*)"
    rf"|(?P<one>(?i:{_SINGLE}))[\s~]*(?P<item>{_ITEM}(?:{_RANGE_OR_AND}{_ITEM})?))"
)
_BARE = re.compile(
    r"\b(?:in|by|from|of|using|with|to|into|solving|see|via|substituting|minimi[sz]ing|maximi[sz]ing)\s+"
    r"(?P<item>\(\d+(?:\.\d+)*\)(?:\s*(?:[-–]|and)\s*\(\d+(?:\.\d+)*\))?)"
    r"(?=[.,;:)]|$|\s(?:is|are|can|becomes?|yields?|gives?|reduces?|holds?)\b)"
)
_ONE = re.compile(_NUMBER)
_RANGE = re.compile(
    r"(?<!\d)(?P<head>(?:[A-Z]\.?|\d++\.)?)(?P<first>\d++)\)?\s*(?:[-–—]|to)\s*\(?(?P=head)(?P<last>\d+)(?![.\d])"
)
_FOREIGN = re.compile(
    r"\)?,?\s+(?:of|in|from)\s+(?:\[\d|\(?[A-Z][\w’'-]+\s+(?:et\s+al|\(?(?:19|20)\d{2}|(?:and|&)\s+[A-Z][\w’'-]+,?\s+\(?\d{4}))"
)
_OTHER_NUMBERING = re.compile(r"(?:Supplementary|Supplemental|Supp\.|Suppl\.|Extended Data)\s+$", re.IGNORECASE)
_LONGEST_PREFIX = 40  # Letters before a mention in which a word that belongs to it is looked for.
_MAX_RANGE = 30  # A longer range ("Tables 2-200") does not number floats.

_BRACKETED = re.compile(r"\[[^\[\]]{1,120}\](?:\s?[-–]\s?\[\d{1,3}\])?")
_NUMBERS = re.compile(r"[\[\]\s\d,;–-]+")
_PLACE = re.compile(
    r",\s*(?:pp?\.|Sec|Ch|Fig|Tab|Thm|Theorem|Lemma|Prop|Alg|Eq|App|§|inter alia|among others)[^,;\]]*\]$",
    re.IGNORECASE,
)
_INTERVAL = re.compile(r"(?:∈|\brange|\binterval)\s*$")
_RAISED = re.compile(
    r"(?:(?<=[^\W\d_]{3})|(?<=[.,;:)”’\"\]]))\s?(?:\^\(\d[\d,;–\s-]*\)|[⁰¹²³⁴⁵⁶⁷⁸⁹](?:[⁰¹²³⁴⁵⁶⁷⁸⁹]|[,–⁻-](?=[⁰¹²³⁴⁵⁶⁷⁸⁹]))*)"
)
_ROUND = re.compile(r"\((?:\d{1,3})(?:\s*[,;–-]\s*\d{1,3})*\)")
_FLAT = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺", "0123456789-+")
_YEAR = r"(?:(?:19|20)\d{2}[a-z]?|n\.\s?d\.)"
_YEARS = re.compile(rf"(?<![\w.])(?P<first>{_YEAR})(?P<more>(?:\s*(?:,|;|and|&)\s*(?:{_YEAR}|[a-z](?![\w.])))*)(?!\w)")
_WORD = re.compile(r"[^\s(\[]+")
# The most letters and words of names before a year; chosen on the development papers.
_MAX_NAMES_LENGTH = 120
_MAX_NAMES_WORDS = 10
_MAX_SPELLED_OUT = 6  # No citation style spells out more authors in the text.
# Raised or parenthesized numbers may be exponents or items; as citations, they must name this share of the references.
_MIN_CITED_SHARE = 0.5
_SAME_WORK = 0.6  # The least share of common words in two entries of one work.


@dataclass(frozen=True, kw_only=True, slots=True)
class Mention:
    """Words of a text that name something by its label (`Table 6`, `Section 5.2`, `[12]`, `li et al, 2020`)."""

    label: str
    text: str


def find_links(elements: Sequence[Element], sections: Sequence[Section]) -> tuple[Link, ...]:
    """Find the links of a paper's elements, in reading order: one for each element, target and words that name it."""
    targets = _targets(elements, sections)
    texts = {element.id: _searched_text(element) for element in elements}
    citations = _CitationFinder([element for element in elements if isinstance(element, Reference)], texts.values())
    links: dict[Link, None] = {}
    for source, text in texts.items():
        for mention in (*find_mentions(text), *citations.find(text)):
            target = targets.get(mention.label)
            if target is not None and target != source:
                links.setdefault(Link(source=source, target=target, text=mention.text))
    return tuple(links)


def _searched_text(element: Element) -> str:
    match element:
        case Passage(role="code") | Table() | Figure():
            return element.caption
        case Passage() if element.role not in _NOT_SEARCHED:
            return element.text
        case _:
            return ""


def _targets(elements: Sequence[Element], sections: Sequence[Section]) -> Mapping[str, str]:
    """Return element ids by their names in texts, sections by their headings; the first of equal names wins."""
    headings = {
        element.section: element.id
        for element in reversed(elements)
        if isinstance(element, Passage) and element.role == "heading"
    }
    targets: dict[str, str] = {}
    for name, section in _section_names(sections):
        if section in headings:
            targets.setdefault(f"Section {name}", headings[section])
    for element in elements:
        if element.label:
            targets.setdefault(element.label, element.id)
    return targets


def _section_names(sections: Sequence[Section]) -> Iterator[tuple[str, str]]:
    """Yield the number and id of each section; `A` below `III` is `III-A`, since a letter alone names an appendix."""
    parents: list[Section] = []
    for section in sections:
        while parents and parents[-1].level >= section.level:
            parents.pop()
        lettered = len(section.number) == 1 and section.number.isalpha()
        if parents and lettered:
            yield f"{parents[-1].number}-{section.number}", section.id
        elif section.number:
            yield section.number, section.id
        parents.append(section)


def find_mentions(text: str) -> Iterator[Mention]:
    """Yield everything named by a word and a number, except in other papers; `in (3)` is an equation."""
    for match in _MENTION.finditer(text):
        if _FOREIGN.match(text, match.end()) or _OTHER_NUMBERING.search(_before(text, match)):
            continue
        word = match["many"] or match["one"]
        printed = match[0].removesuffix(")") if match[0].count(")") > match[0].count("(") else match[0]
        for number in expand_numbers(match["list"] or match["item"]):
            if not (word.islower() and number.isalpha()):
                yield Mention(label=_label(word, number), text=printed)
    for match in _BARE.finditer(text):
        for number in expand_numbers(match["item"]):
            yield Mention(label=f"Equation {number}", text=match["item"])


def _before(text: str, match: re.Match[str]) -> str:
    """Return the end of the text before a match; reading all of it for each match would take quadratic time."""
    return text[max(0, match.start() - _LONGEST_PREFIX) : match.start()]


def _label(word: str, number: str) -> str:
    kind = word[:3].lower()
    if kind in ("tab", "fig", "sch", "alg", "lis"):
        return normalized_label(word, number)
    return f"Equation {number}" if kind.startswith("eq") else f"Section {number.replace(' ', '-')}"


def expand_numbers(text: str) -> list[str]:
    """Return the numbers of a list in order, ranges filled in: `2, 4-6` -> 2, 4, 5, 6; `A.1–A.3` -> A.1, A.2, A.3."""
    numbers: list[str] = []
    end = 0
    for match in _RANGE.finditer(text):
        first, last = int(match["first"]), int(match["last"])
        if first < last <= first + _MAX_RANGE:
            numbers += _ONE.findall(text[end : match.start()])
            numbers += [f"{match['head']}{number}" for number in range(first, last + 1)]
            end = match.end()
    return numbers + _ONE.findall(text[end:])


class _CitationFinder:
    """Finds citations of a paper's references in its texts.

    Raised numbers and numbers in parentheses are citations only if no numbers in brackets are, and if the texts name
    at least half of the references with them.
    """

    def __init__(self, references: Sequence[Reference], texts: Iterable[str]) -> None:
        self._dated = _dated_forms(references)
        self._keys = {element.label[1:-1]: element.label for element in references if element.label.startswith("[")}
        self._style = self._style_of(list(texts))

    def find(self, text: str) -> Iterator[Mention]:
        """Yield the citations in a text, with the labels of the references."""
        if self._style is not None:
            yield from self._numbered(text, self._style)
        if self._dated:
            yield from self._by_year(text)

    def _style_of(self, texts: Sequence[str]) -> re.Pattern[str] | None:
        if not self._keys:
            return None
        if any(True for text in texts for _ in self._numbered(text, _BRACKETED)):
            return _BRACKETED
        for style in (_RAISED, _ROUND):
            named = {mention.label for text in texts for mention in self._numbered(text, style)}
            if len(named) >= _MIN_CITED_SHARE * len(self._keys):
                return style
        return None

    def _numbered(self, text: str, style: re.Pattern[str]) -> Iterator[Mention]:
        """Yield the citations in a style; a group that contains anything but references is not a citation."""
        for match in style.finditer(text):
            keys = _keys(match[0].strip().translate(_FLAT))
            if _INTERVAL.search(_before(text, match)) and len(keys) == 2 and "," in match[0]:
                continue
            if all(key in self._keys for key in keys):
                yield from (Mention(label=self._keys[key], text=match[0].strip()) for key in keys)

    def _by_year(self, text: str) -> Iterator[Mention]:
        for match in _YEARS.finditer(text):
            start = max(0, match.start() - _MAX_NAMES_LENGTH)
            words = list(_WORD.finditer(text, start, match.start()))[-_MAX_NAMES_WORDS:]
            years = _years(match)
            for index, word in enumerate(words):
                names = _folded(text[word.start() : match.start()])
                label = self._dated.get((names, years[0]))
                joined = index > 0 and words[index - 1][0] in ("and", "&")
                if label and not (joined and " " not in names):
                    printed = _printed(text, word.start(), match.end())
                    known = (self._dated.get((names, year)) for year in years)
                    yield from (Mention(label=label, text=printed) for label in known if label)
                    break


def _dated_forms(references: Sequence[Reference]) -> Mapping[tuple[str, str], str]:
    """Return labels by names and year as texts write them, without ambiguous ones."""
    named: dict[tuple[str, str], Reference] = {}
    ambiguous: set[tuple[str, str]] = set()
    for element in references:
        names, comma, year = element.label.rpartition(", ")
        for spelling in _spellings(names, element) if comma else ():
            first = named.setdefault((spelling, year), element)
            if not _same_work(first, element):
                ambiguous.add((spelling, year))
    return {key: element.label for key, element in named.items() if key not in ambiguous}


def _spellings(names: str, element: Reference) -> set[str]:
    """Return the spellings to name the authors: as the label does, without particles, or each of up to six."""
    spellings = {_folded(names)}
    spellings.add(" ".join(word for word in _folded(names).split() if word not in PARTICLES) or _folded(names))
    authors = authors_of(element.text)
    if 2 < len(authors.names) <= _MAX_SPELLED_OUT and not authors.more:
        spellings.add(_folded(f"{', '.join(authors.names[:-1])} and {authors.names[-1]}"))
    return spellings


def _same_work(first: Reference, second: Reference) -> bool:
    """Return whether two entries are of one work: most words of the shorter one are in the longer one."""
    words = [set(re.findall(r"\w{3,}", element.text.casefold())) for element in (first, second)]
    return len(words[0] & words[1]) >= _SAME_WORK * min(map(len, words))


def _folded(names: str) -> str:
    """Return names without the marks around and between them: `(Li & Wu,` -> `li and wu`, `Li et al.’s` -> `li et
    al`."""
    bare = re.sub(r"['’]s(?=[\s,.(]|$)", "", names).replace("&", " and ").replace("’", "'")
    return " ".join(re.sub(r"[,.]", " ", bare.strip(" ([,.;")).casefold().split())


def _years(match: re.Match[str]) -> list[str]:
    """`2019a, b and 2020` -> 2019a, 2019b, 2020."""
    years = ["n.d." if match["first"].startswith("n") else match["first"]]
    for more in re.findall(rf"{_YEAR}|[a-z]\b(?!\w)", match["more"].replace("and", "&")):
        years.append(years[-1][:4] + more if len(more) == 1 else more)
    return years


def _printed(text: str, start: int, end: int) -> str:
    """Return the words from the names to the year, with the bracket that closes after the year."""
    words = text[start:end].lstrip("([")
    return words + text[end] if words.count("(") > words.count(")") and text[end : end + 1] == ")" else words


def _keys(group: str) -> list[str]:
    """Return the numbers or keys of a group: `[3, 5–7]`, `[12, p. 5]`, `^(1;2)`, `[LCS20, Wu21]`."""
    inner = _PLACE.sub("]", group).lstrip("^")
    if _NUMBERS.fullmatch(inner.strip("()")):
        return expand_numbers(inner.replace("[", "").replace("]", ""))
    return [part.strip() for part in re.split(r"[,;]", inner.strip("[]()"))]
