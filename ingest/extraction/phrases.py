"""Technical noun phrases of one paper, ranked by their C-value.

Candidates are runs of nouns, adjectives and names (J. Justeson, S. Katz, "Technical terminology: some linguistic
properties and an algorithm for identification in text", Natural Language Engineering 1(1), 1995). They are ranked by
K. Frantzi, S. Ananiadou, H. Mima, "Automatic recognition of multi-word terms: the C-value/NC-value method", Int. J. on
Digital Libraries 3(2), 2000, with log2(length + 1) in place of log2(length), so that single words that are spelled like
names count.
"""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from ingest.extraction.mentions import Sentence, is_coined
from ingest.extraction.name_types import probability_of_type, split_name
from ingest.extraction.part_of_speech import tag_words
from paperscope_core.text.words import STOP_WORDS, singular_key

__all__ = ["Phrase", "PhraseCount", "count_phrases", "is_term_by_form", "technical_phrases"]

_MAX_WORDS = 5
_SINGLE_SCORE = 0.5
# Half of what a type takes: the terms are chosen again, by more than their names (see `termhood`).
_LIKE_A_TYPE = 0.3
# Fewer letters are usually a symbol, a unit or initials.
_LEAST_LETTERS = 3
# Nouns, names and adjectives, without comparatives and superlatives; UNC are words that the tagger can't classify.
_NOMINAL_TAGS = ("NN", "NP", "AJ0", "UNC", "ZZ")
# Adjectives that evaluate or compare, and so belong to no term ("novel method", "proposed approach"). They were chosen
# by reading false positives on SciER's training set, and variants of the list by the figures on the training sets of
# SciERC and SciER. Without the list, entities.f1 falls from 0.560 to 0.508 on SciERC's training set and from 0.547 to
# 0.517 on SciER's; these are figures of the fitting data.
_QUALIFIERS = frozenset(
    """
    able accurate actual additional aforementioned alternative art available average capable certain challenging clear
    close common comparable competitive complete comprehensive considerable contemporary conventional corresponding
    countless current desirable detailed different difficult distinct diverse dominant due early easy effective
    efficient enormous entire equal essential evident exact exceptional existing extensive extra fair fast final fine
    following former full fully further general given good great hard high huge identical important individual initial
    interesting key known large last late latter likely limited little long low main major many minor modern multiple
    natural near necessary new next notable novel numerous obvious original other overall own particular poor popular
    possible potential powerful practical precise preliminary present previous primary prior promising proper proposed
    published reasonable recent related relative relevant remarkable respective rest resulting robust separate several
    severe short significant similar simple single slight small sole sophisticated sota special specific standard
    state-of-the-art straightforward strong subsequent substantial successful such sufficient suitable superior sure
    thorough traditional typical unique unknown unseen useful usual valuable vanilla varied various weak whole wide
    """.split()
)
# Words about the paper itself, and abbreviations of running text, that the tagger takes for nouns.
_NO_TERMS = frozenset(
    """
    al appendix cf e.g eg eq eqs equation equations et etc fig figs figure figures i.e ie resp sec section sections
    tab table tables use uses vs way ways w.r.t
    """.split()
)
# Words that follow a dataset's name and are not part of it.
_DATASETS = frozenset("benchmark benchmarks corpora corpus dataset datasets".split())
_HEADED = re.compile(rf" (?:{'|'.join(sorted(_DATASETS))})\b", re.IGNORECASE)
_SMALL_DIGITS = frozenset("₀₁₂₃₄₅₆₇₈₉⁰¹²³⁴⁵⁶⁷⁸⁹")
_WORD = r"[^\W_]+(?:['\u2019.&/_^][^\W_]+)*[+#]*"
_TOKEN = re.compile(rf"(?P<word>{_WORD})|[^\w\s]")
_JOINT = re.compile(r"\s+|[\-\u2010\u2011\u2013]\s?")
_POSSESSIVE = re.compile(r"(?<=\w)['\u2019]s$")
_HYPHEN = re.compile(r"[\-\u2010\u2011\u2013]")
_CAPITAL_BEFORE = re.compile(r"(?<!\w)([A-Z][\w'\u2019]{0,30})[\s\-](?:(?:of|for|in|on|by|&)\s)?(?:the\s)?$")
_CAPITAL_AFTER = re.compile(r"[\s\-](?:(?:of|for|in|on|by|&)\s)?(?:the\s)?[A-Z]")
_NEAR = 40
_MASKED = re.compile(
    r"""\b[A-Z][\w'\u2019-]++(?:\s(?:and|&)\s[^\W\d_][\w'\u2019-]+|\set\sal\.?)?,?\s\(?(?:19|20)\d\d[a-z]?\)? # Lin
      | [(\[][^()\[\]]*\b(?:19|20)\d\d[a-z]?[^()\[\]]*[)\]]          # (see Lin et al., 2018; Devlin, 2019)
      | \[[\d,;\s\u2013-]+\]                                           # [3, 12]
      | \b[^\W\d_][\w'\u2019-]++\set\sal\.?
      | \bstate[\s-]?of[\s-]the[\s-]art\b
      | (?:https?://|www\.)\S+ | (?<!\S)[^\s@]++@\S+
      | \b(?:Tables?|Tab\.|Figures?|Figs?\.|Equations?|Eqs?\.|Sections?|Sec\.|Appendix)\s?\(?[\dA-Z][\d.a-z]*\)?
    """,
    re.VERBOSE,
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Phrase:
    """A phrase's spellings, the commonest first, with its C-value; `single` if it occurs once."""

    forms: tuple[str, ...]
    score: float
    single: bool = False


@dataclass(slots=True)
class PhraseCount:
    """The occurrences of a phrase.

    Of all occurrences, `closing` end a run, `opening` begin one, `tied` have a hyphen at an end, `continued` are a part
    of a longer name in capitals, and `before` counts the parts of speech of the preceding words. `first`, `headed`,
    `whole` and `tags` describe the last occurrence: it begins its sentence, a word such as "dataset" follows, it is a
    whole run, and the parts of speech of its first and last word.
    """

    words: int
    forms: Counter[str] = field(default_factory=Counter)
    sentences: set[int] = field(default_factory=set)
    closing: int = 0
    opening: int = 0
    tied: int = 0
    continued: int = 0
    before: Counter[str] = field(default_factory=Counter)
    whole: bool = False
    first: bool = False
    headed: bool = False
    tags: tuple[str, str] = ("", "")

    @property
    def frequency(self) -> int:
        """How often it occurs."""
        return self.forms.total()


@dataclass(frozen=True, slots=True)
class _Word:
    """A word, its part of speech and the one of the word or sign `before` it, whether it begins its sentence, and
    whether hyphens tie it to its neighbours ("few-shot")."""

    text: str
    start: int
    end: int
    tag: str
    before: str
    first: bool
    tied_left: bool
    tied_right: bool

    @property
    def key(self) -> str:
        return self.text.casefold().replace("\u2019", "'")


def count_phrases(sentences: Sequence[Sentence]) -> dict[str, PhraseCount]:
    """Return the occurrences of all runs of nouns, adjectives and names, and of their parts, by `singular_key`."""
    counts: dict[str, PhraseCount] = {}
    for number, sentence in enumerate(sentences):
        text = _MASKED.sub(" ; ", sentence.text)
        for run in _runs(text):
            _count(counts, text, run, number)
    return counts


def technical_phrases(
    counts: Mapping[str, PhraseCount],
    sentences: Sequence[Sentence],
    *,
    limit: int,
    singles: int,
    prominent: Collection[str],
) -> list[Phrase]:
    """Return the technical noun phrases of a paper.

    Args:
        counts: The result of `count_phrases`.
        limit: The largest number of phrases that occur in two sentences or more; phrases of the highest C-value come
            first.
        singles: The largest number of phrases that occur once; phrases of `prominent` elements come first, then the
            others in the order of the text.
        prominent: The ids of the elements that say what the paper is about.
    """
    frequent = {key: count for key, count in counts.items() if count.frequency > 1}
    scores = _c_values(frequent)
    chosen = [key for key in scores if scores[key] > 0 and _is_term(frequent[key])]
    chosen.sort(key=lambda key: (-scores[key], key))
    once = _single_occurrences(counts, [sentence.element in prominent for sentence in sentences])
    return [
        *(Phrase(forms=_forms(frequent[key].forms), score=scores[key]) for key in chosen[:limit]),
        *(Phrase(forms=_forms(counts[key].forms), score=_SINGLE_SCORE, single=True) for key in once[:singles]),
    ]


def _runs(text: str) -> Iterator[list[_Word]]:
    """Run of nominal words with nothing but spaces or hyphens between them."""
    run: list[_Word] = []
    for word in _words(text):
        called = any(text.startswith("()", one.end) for one in (word, *run[-1:]))  # a function, behind what it is
        if run and (called or not _JOINT.fullmatch(text[run[-1].end : word.start])):
            yield _up_to_noun(run)
            run = []
        if _breaks(word, after_name=bool(run) and _is_capitalized(run[-1].text)) or (
            word.key in _DATASETS and run and all(_is_named(one.text) for one in run)
        ):
            yield _up_to_noun(run)
            run = []
        else:
            run.append(word)
    yield _up_to_noun(run)


def _words(text: str) -> Iterator[_Word]:
    tokens = list(_TOKEN.finditer(text))
    tags = tag_words([token[0] for token in tokens])
    for match, tag, before in zip(tokens, tags, ["", *tags], strict=False):
        if match["word"]:
            yield _Word(
                text=match[0],
                start=match.start(),
                end=match.end(),
                tag=tag,
                before=before,
                first=not text[: match.start()].strip("\"'\u201c( "),
                tied_left=_HYPHEN.match(text, match.start() - 1) is not None if match.start() else False,
                tied_right=_HYPHEN.match(text, match.end()) is not None,
            )


def _breaks(word: _Word, *, after_name: bool) -> bool:
    """Return whether a word ends a phrase: function words, verbs, qualifiers and symbols do; in a compound ("few-shot",
    "GPT-2") no word does, and behind a name no number ("CoNLL 2003")."""
    if "_" in word.text or "^" in word.text:
        return True
    if word.tied_left or word.tied_right:
        return False
    in_name = word.text.istitle() and not word.first  # "New York"
    if word.key in STOP_WORDS or word.key in _NO_TERMS or (word.key in _QUALIFIERS and not in_name):
        return True
    if not any(character.isalpha() for character in word.text):
        return not after_name
    if len(word.text) == 1:
        return not word.text.isupper()
    return not word.tag.startswith(_NOMINAL_TAGS) and not is_coined(word.text)


def _up_to_noun(run: list[_Word]) -> list[_Word]:
    """Return the run without the adjectives at its end."""
    while run and run[-1].tag == "AJ0" and not run[-1].tied_left and not is_coined(run[-1].text):
        run = run[:-1]
    return run


def _is_capitalized(text: str) -> bool:
    return text[:1].isupper() or is_coined(text)


def _is_named(word: str) -> bool:
    """Return whether a word is spelled as a name is, or is a name's number."""
    return word.isdigit() or _is_capitalized(word)


def _count(counts: dict[str, PhraseCount], text: str, run: Sequence[_Word], number: int) -> None:
    for start in range(len(run)):
        for end in range(start + 1, min(start + _MAX_WORDS, len(run)) + 1):
            words = run[start:end]
            if (start and words[0].tied_left) or (end < len(run) and words[-1].tied_right):
                continue  # half of a compound
            form = _POSSESSIVE.sub("", text[words[0].start : words[-1].end])
            if len(words) == 1 and words[0].first and not is_coined(form):
                form = form.lower()  # a capital at the beginning of a sentence is no evidence
            count = counts.setdefault(singular_key(form), PhraseCount(len(words)))
            count.forms[form] += 1
            count.sentences.add(number)
            count.closing += end == len(run)
            count.opening += not start
            count.tied += words[0].tied_left or words[-1].tied_right
            count.continued += _is_continued(text, words)
            count.before[words[0].before] += 1
            count.tags = words[0].tag, words[-1].tag
            count.whole = not start and end == len(run)
            count.first = words[0].first
            count.headed = _HEADED.match(text, words[-1].end) is not None


def _is_continued(text: str, words: Sequence[_Word]) -> bool:
    """Return whether words in capitals are preceded or followed by others, directly or by "of" and the like."""
    if not (words[0].text[0].isupper() and words[-1].text[0].isupper()):
        return False
    start, end = words[0].start, words[-1].end
    before = _CAPITAL_BEFORE.search(text, max(start - _NEAR, 0), start)
    return _CAPITAL_AFTER.match(text, end) is not None or (
        before is not None and before[1].casefold() not in STOP_WORDS
    )


def _c_values(counts: dict[str, PhraseCount]) -> dict[str, float]:
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


def _is_term(count: PhraseCount) -> bool:
    form = count.forms.most_common(1)[0][0]
    words = split_name(form)
    if len(count.sentences) < 2 or len(form) < 2:
        return False
    if len(words) == 1:
        return _is_mostly_a_name(count)
    if " " not in form and count.closing * 2 < count.frequency and not _is_mostly_a_name(count):
        return False  # a compound that qualifies what follows ("few-shot")
    return len(words[-1]) > 1 and not words[0].isdigit()


def _is_mostly_a_name(count: PhraseCount) -> bool:
    """Return whether a single word is mostly spelled as a name; symbols ("x₁") and amounts ("40K") are not."""
    if any(form[0].isdigit() or form[-1] in _SMALL_DIGITS for form in count.forms):
        return False
    named = sum(times for form, times in count.forms.items() if _is_capitalized(form))
    return named * 3 >= count.frequency * 2


def _single_occurrences(counts: Mapping[str, PhraseCount], prominent: Sequence[bool]) -> list[str]:
    found: dict[str, bool] = {}
    for key, count in counts.items():
        if count.frequency == 1 and count.whole:
            [form], [sentence] = count.forms, count.sentences
            if is_term_by_form(form, first=count.first, headed=count.headed, prominent=prominent[sentence]):
                found[key] = prominent[sentence]
    return sorted(found, key=lambda key: not found[key])


def is_term_by_form(form: str, *, first: bool, headed: bool, prominent: bool) -> bool:
    """Return whether a run of words that occurs once is a term.

    A phrase that occurs twice is a term by its frequency. One that occurs once must have the form of a term: a coined
    name, a name in capitals, or a phrase that is like names with a type ("region proposal network"). In an
    abstract, which hardly repeats terms, any phrase of two words is accepted.

    Args:
        form: The run as the text spells it.
        first: Whether it begins its sentence, where a capital is no evidence.
        headed: Whether a word such as "dataset" follows.
        prominent: Whether it occurs in the abstract or another element that summarises the paper.
    """
    words = split_name(form)
    named = all(map(_is_named, words[first:]))
    if len(words) == 1 or headed:
        return (is_coined(form) and _is_long_name(form)) or (headed and named and not first)
    if any(len(token) < 2 for token in form.split()):
        return False
    if named and any(map(is_coined, words)):
        return True
    return " " in form and (prominent or probability_of_type(form) >= _LIKE_A_TYPE)


def _is_long_name(form: str) -> bool:
    """Return whether a word has enough letters, consists mostly of them, and has no part of an address or a unit."""
    letters = sum(character.isalpha() for character in form)
    return (
        letters >= _LEAST_LETTERS and letters * 2 > len(form) and form[0].isalpha() and not re.search(r"[./_@&^]", form)
    )


def _forms(forms: Counter[str]) -> tuple[str, ...]:
    return tuple(form for form, _ in sorted(forms.items(), key=lambda item: (-item[1], item[0])))
