"""Technical noun phrases of one paper, found without a model.

Runs of words between stop words are candidates; they are ranked by their C-value (K. Frantzi, S. Ananiadou, H. Mima,
"Automatic recognition of multi-word terms: the C-value/NC-value method", Int. J. on Digital Libraries 3(2), 2000,
pp. 115-130), with log2(length + 1) in place of log2(length), so that single words that are spelled like names count.
"""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from ingest.extraction.mentions import Sentence, is_coined
from ingest.extraction.singles import is_fragment, is_named, is_single_term
from ingest.extraction.words import GENERAL, MODALS, STOP, ends_phrase
from paperscope.types import singular_key

__all__ = ["Phrase", "technical_phrases"]

_MAX_WORDS = 5
_SINGLE = 0.5
# What follows a dataset's name and is no part of it.
_DATASETS = frozenset("benchmark benchmarks corpora corpus dataset datasets".split())
_HEADED = re.compile(rf" (?:{'|'.join(sorted(_DATASETS))})\b", re.IGNORECASE)
_SMALL_DIGITS = frozenset("₀₁₂₃₄₅₆₇₈₉⁰¹²³⁴⁵⁶⁷⁸⁹")
_TOKEN = re.compile(r"[^\W_]+(?:['\u2019.&/_^][^\W_]+)*[+#]*")
_JOINT = re.compile(r"\s+|[\-\u2010\u2011\u2013]\s?")
_HYPHEN = re.compile(r"[\-\u2010\u2011\u2013]")
_MASKED = re.compile(
    r"""[A-Z][\w'\u2019-]+(?:\s(?:and|&)\s[^\W\d_][\w'\u2019-]+|\set\sal\.?)?,?\s\(?(?:19|20)\d\d[a-z]?\)?  # Lin (2018)
      | [(\[][^()\[\]]*\b(?:19|20)\d\d[a-z]?[^()\[\]]*[)\]]          # (see Lin et al., 2018; Devlin, 2019)
      | \[[\d,;\s\u2013-]+\]                                           # [3, 12]
      | [^\W\d_][\w'\u2019-]+\set\sal\.?
      | \bstate[\s-]?of[\s-]the[\s-]art\b
      | (?:https?://|www\.)\S+ | \S+@\S+
      | \b(?:Tables?|Tab\.|Figures?|Figs?\.|Equations?|Eqs?\.|Sections?|Sec\.|Appendix)\s?\(?[\dA-Z][\d.a-z]*\)?
    """,
    re.VERBOSE,
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Phrase:
    """A phrase's spellings, the commonest first, with its C-value; `single` if it stands once."""

    forms: tuple[str, ...]
    score: float
    single: bool = False


@dataclass(slots=True)
class _Count:
    words: int
    forms: Counter[str] = field(default_factory=Counter)
    sentences: set[int] = field(default_factory=set)
    closing: int = 0
    whole: int = 0
    first: bool = False
    headed: bool = False

    @property
    def frequency(self) -> int:
        return self.forms.total()


@dataclass(frozen=True, slots=True)
class _Word:
    """A word, whether it begins its sentence, and whether hyphens tie it to its neighbours ("few-shot")."""

    text: str
    start: int
    end: int
    first: bool
    tied_left: bool
    tied_right: bool

    @property
    def key(self) -> str:
        return self.text.casefold().replace("\u2019", "'")


def technical_phrases(
    sentences: Sequence[Sentence], *, limit: int, singles: int, prominent: Collection[str]
) -> list[Phrase]:
    """At most `limit` phrases that occur in two sentences or more, the best first, and at most `singles` that occur
    once: those of `prominent` elements first, then as they come."""
    masked = [_MASKED.sub(" ; ", sentence.text) for sentence in sentences]
    verbs = _verbs(masked)
    counts: dict[str, _Count] = {}
    for number, text in enumerate(masked):
        for run in _runs(text, verbs):
            _count(counts, text, run, number)
    frequent = {key: count for key, count in counts.items() if count.frequency > 1}
    scores = _c_values(frequent)
    chosen = [key for key in scores if scores[key] > 0 and _is_term(frequent[key])]
    chosen.sort(key=lambda key: (-scores[key], key))
    once = _singles(counts, [sentence.element in prominent for sentence in sentences])
    return [
        *(Phrase(forms=_forms(frequent[key].forms), score=scores[key]) for key in chosen[:limit]),
        *(Phrase(forms=_forms(counts[key].forms), score=_SINGLE, single=True) for key in once[:singles]),
    ]


def _singles(counts: Mapping[str, _Count], prominent: Sequence[bool]) -> list[str]:
    found: dict[str, bool] = {}
    for key, count in counts.items():
        if count.frequency == 1 and count.whole:
            [form], [sentence] = count.forms, count.sentences
            if is_single_term(form, first=count.first, headed=count.headed, prominent=prominent[sentence]):
                found[key] = prominent[sentence]
    return sorted(found, key=lambda key: not found[key])


def _verbs(texts: Iterable[str]) -> frozenset[str]:
    """Words of this paper that stand after a pronoun or modal verb a third of the time or more."""
    seen: Counter[str] = Counter()
    after: Counter[str] = Counter()
    for text in texts:
        words = [match.group().casefold() for match in _TOKEN.finditer(text)]
        seen.update(words)
        after.update(word for previous, word in pairwise(words) if previous in MODALS)
    return frozenset(word for word, count in after.items() if count * 3 >= seen[word])


def _runs(text: str, verbs: frozenset[str]) -> Iterator[list[_Word]]:
    """Words that follow each other with nothing but spaces or hyphens between, stop words left out."""
    run: list[_Word] = []
    for word in _words(text):
        if run and not _JOINT.fullmatch(text[run[-1].end : word.start]):
            yield run
            run = []
        if _breaks(word, verbs, after_name=bool(run) and _is_capitalized(run[-1].text)) or (
            word.key in _DATASETS and run and all(is_named(one.text) for one in run)
        ):
            yield run
            run = []
        else:
            run.append(word)
    yield run


def _words(text: str) -> Iterator[_Word]:
    for match in _TOKEN.finditer(text):
        yield _Word(
            text=match.group(),
            start=match.start(),
            end=match.end(),
            first=not text[: match.start()].strip("\"'\u201c( "),
            tied_left=_HYPHEN.match(text, match.start() - 1) is not None if match.start() else False,
            tied_right=_HYPHEN.match(text, match.end()) is not None,
        )


def _breaks(word: _Word, verbs: frozenset[str], *, after_name: bool) -> bool:
    """Stop words, verbs and symbols end a phrase; in a compound ("few-shot", "GPT-2") or a name ("CoNLL 2003") less."""
    if "_" in word.text or "^" in word.text:
        return True
    if word.tied_left or word.tied_right:
        return False
    if word.key in STOP or word.key in verbs or ends_phrase(word.key):
        return True
    has_letter = any(character.isalpha() for character in word.text)
    return not after_name if not has_letter else len(word.text) == 1 and not word.text.isupper()


def _is_capitalized(text: str) -> bool:
    return text[:1].isupper() or is_coined(text)


def _count(counts: dict[str, _Count], text: str, run: Sequence[_Word], number: int) -> None:
    for start in range(len(run)):
        for end in range(start + 1, min(start + _MAX_WORDS, len(run)) + 1):
            words = run[start:end]
            if (start and words[0].tied_left) or (end < len(run) and words[-1].tied_right):
                continue  # half of a compound
            form = text[words[0].start : words[-1].end]
            if len(words) == 1 and words[0].first and not is_coined(form):
                form = form.lower()  # a capital at the beginning of a sentence tells nothing
            count = counts.setdefault(singular_key(form), _Count(len(words)))
            count.forms[form] += 1
            count.sentences.add(number)
            count.closing += end == len(run)
            count.whole += not start and end == len(run)
            count.first = words[0].first
            count.headed = _HEADED.match(text, words[-1].end) is not None


def _c_values(counts: dict[str, _Count]) -> dict[str, float]:
    """C-value(a) = log2(|a| + 1) * (f(a) - mean of f(b) over the longer candidates b that hold a)."""
    within: dict[str, list[int]] = defaultdict(list)
    for key, count in counts.items():
        words = key.split()
        for start in range(len(words)):
            for end in range(start + 1, len(words) + 1):
                part = singular_key(" ".join(words[start:end]))
                if part != key and part in counts:
                    within[part].append(count.frequency)
    return {
        key: math.log2(count.words + 1)
        * (count.frequency - (sum(within[key]) / len(within[key]) if within[key] else 0.0))
        for key, count in counts.items()
    }


def _is_term(count: _Count) -> bool:
    form = count.forms.most_common(1)[0][0]
    words = [word.casefold() for word in re.split(r"[\s\-]+", form)]
    if len(count.sentences) < 2 or len(form) < 2 or all(word in GENERAL or word in STOP for word in words):
        return False
    if len(words) == 1:
        return _is_name(count)
    if " " not in form and count.closing * 2 < count.frequency and not _is_name(count):
        return False  # a compound that qualifies what follows ("few-shot")
    return not is_fragment(form) and len(words[-1]) > 1 and not words[0].isdigit()


def _is_name(count: _Count) -> bool:
    """A single word counts when it is mostly spelled as a name; symbols ("x₁") and amounts ("40K") are none."""
    if any(form[0].isdigit() or form[-1] in _SMALL_DIGITS for form in count.forms):
        return False
    named = sum(times for form, times in count.forms.items() if is_coined(form) or form[:1].isupper())
    return named * 3 >= count.frequency * 2


def _forms(forms: Counter[str]) -> tuple[str, ...]:
    return tuple(form for form, _ in sorted(forms.items(), key=lambda item: (-item[1], item[0])))
