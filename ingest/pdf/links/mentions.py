"""What a text names by word and number: tables, figures, listings, equations and sections."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from ingest.pdf.captions import normal_label

__all__ = ["Mention", "expanded", "mentions_of"]

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
    r"(?P<head>(?:[A-Z]\.?|\d+\.)?)(?P<first>\d+)\)?\s*(?:[-–—]|to)\s*\(?(?P=head)(?P<last>\d+)(?![.\d])"
)
_FOREIGN = re.compile(
    r"\)?,?\s+(?:of|in|from)\s+(?:\[\d|\(?[A-Z][\w’'-]+\s+(?:et\s+al|\(?(?:19|20)\d{2}|(?:and|&)\s+[A-Z][\w’'-]+,?\s+\(?\d{4}))"
)
_OTHER_NUMBERING = re.compile(r"(?:Supplementary|Supplemental|Supp\.|Suppl\.|Extended Data)\s+$", re.IGNORECASE)
_MOST_IN_RANGE = 30


@dataclass(frozen=True, kw_only=True, slots=True)
class Mention:
    """Words of a text that name something by its label (`Table 6`, `Section 5.2`, `[12]`, `li et al, 2020`)."""

    label: str
    text: str


def mentions_of(text: str) -> Iterator[Mention]:
    """Everything named by word and number, save what is said to stand in another paper; `in (3)` is an equation."""
    for match in _MENTION.finditer(text):
        if _FOREIGN.match(text, match.end()) or _OTHER_NUMBERING.search(text[: match.start()]):
            continue
        word = match["many"] or match["one"]
        printed = match[0].removesuffix(")") if match[0].count(")") > match[0].count("(") else match[0]
        for number in expanded(match["list"] or match["item"]):
            if not (word.islower() and number.isalpha()):
                yield Mention(label=_label(word, number), text=printed)
    for match in _BARE.finditer(text):
        for number in expanded(match["item"]):
            yield Mention(label=f"Equation {number}", text=match["item"])


def _label(word: str, number: str) -> str:
    kind = word[:3].lower()
    if kind in ("tab", "fig", "sch", "alg", "lis"):
        return normal_label(word, number)
    return f"Equation {number}" if kind.startswith("eq") else f"Section {number.replace(' ', '-')}"


def expanded(text: str) -> list[str]:
    """The numbers of a list in order, ranges filled in: `2, 4-6` -> 2, 4, 5, 6; `A.1–A.3` -> A.1, A.2, A.3."""
    numbers: list[str] = []
    end = 0
    for match in _RANGE.finditer(text):
        first, last = int(match["first"]), int(match["last"])
        if first < last <= first + _MOST_IN_RANGE:
            numbers += _ONE.findall(text[end : match.start()])
            numbers += [f"{match['head']}{number}" for number in range(first, last + 1)]
            end = match.end()
    return numbers + _ONE.findall(text[end:])
