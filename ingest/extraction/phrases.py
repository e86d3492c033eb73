"""Technical noun phrases of one paper, ranked by their C-value."""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from ingest.extraction.entity_types import type_of_name
from ingest.extraction.mentions import Sentence, is_coined
from paperscope_core.text.words import singular_key

__all__ = [
    "GENERAL",
    "MODALS",
    "STOP",
    "Phrase",
    "ends_phrase",
    "is_adjective",
    "is_fragment",
    "is_named",
    "is_term_by_form",
    "technical_phrases",
]


_FUNCTION = """
a about above according across actually after again against ago al all almost along already also although always am
amid among amongst an and another any anyone anything anyway appendix are aren't around as aside at away back be
became because become becomes been before behind being below beside besides between beyond both but by can can't
cannot cf could couldn't despite did didn't do does doesn't doing don't done down due during e.g each eg eight either
else elsewhere enough eq eqs equation equations especially et etc even ever every everyone everything except far few
fewer fifth fig figs figure figures first five for former four fourth from further furthermore had half has have
having he hence her here hers herself him himself his how however i i.e ie if in indeed inside instead into is isn't
it its itself just kept know known last later latter least less lest let like likely likewise little lot lots made
make makes making many may maybe me meanwhile mere might mine more moreover most mostly much must my myself namely
near nearly neither never nevertheless next nine no nobody none nor not nothing now nowhere of off often oh on once
one ones only onto or other others otherwise ought our ours ourselves out over own per perhaps please plus quite
rather really regarding regardless resp s same say says sec second section sections seem seemed seems seen seven
several shall she should since six so some somehow someone something sometimes soon still such t tab table tables ten
than that the their theirs them themselves then there thereby therefore therein these they thing things third this
those though three through throughout thus till to together too toward towards twice two under unless unlike until up
upon us use used uses using usually v various versus very via vs w.r.t was wasn't way ways we well were weren't what
whatever when whenever where whereas whereby wherein wherever whether which while who whoever whole whom whose why
will with within without won't would wouldn't yes yet you your yours yourself zero
"""
_VERBS = """
accelerate accelerates calculate calculates classify constrain constrains discard discards encode encodes learn
outnumber outnumbers predefined stabilize stabilizes subsume subsumes
achieve achieved achieves achieving acquire acquires add added adding adds adopt adopted adopting adopts aim aimed
aims alleviate alleviates allow allowed allowing allows analyse analysed analyze analyzed appear appears applied
applies apply applying argue argued argues arise arises arising ask asked asking asks assess assign assigned assist
assists assume assumed assumes assuming attach attaches attain attempt attempts attend attends attract attracts avoid
avoiding avoids await awaits based began begin behave behaves belong belongs bring brought brings build building
builds built call called calls came capture captured captures capturing carried carry cause caused causes causing
check checked checks choose chooses chosen cite cited classifies classify collect collects combine combines come comes
coming compare compared compares comparing compute computed computes computing concentrate concentrates concern
concerns conclude concludes conduct conducted conducts confirm confirmed confirms consider considered considering
considers consist consisting consists constitute constitutes construct constructed constructs contain contained
containing contains contribute contributed contributes convert converted convey conveys cope copes correspond
corresponds covered covers create created creates creating cut cuts deal deals decide decompose decomposes decrease
decreased decreases decreasing deem deems define defined defines defining delve delves demonstrate demonstrated
demonstrates demonstrating denote denoted denotes denoting depend depends derive derived describe described describes
describing design designed designs detect detected determine determined determines develop developed developing
develops differ differs discover discovers discuss discussed discusses dominate dominates draw drawn draws drew drop
dropped drops eat effect embrace embraces emerge emerges emphasize emphasizes employ employed employing employs enable
enabled enables enabling encounter encounters encourage encouraged encourages enhance enhances ensure ensures ensuring
entail entails establish established estimates evaluate evaluated evaluates evaluating evolve evolves examine examined
exceed exceeds exclude excludes exhibit exhibits exist existed exists expect expected explain explained explains
exploit exploits explore explored explores exploring extend extended extends extract extracts faced facilitate
facilitates fail failed fails fall falls fed feed feel feels fill filled find finding finds fits fitting fix fixed
fixes fixing focus focused focuses focusing follow followed following follows forget forgets foster fosters found gave
generate generated generates get gets getting give given gives giving go goes going gone got grow grows guess guesses
handle handled handles handling happen happens help helped helping helps highlight highlights hinder hinders hit hold
holds hypothesize hypothesizes identified identifies identify ignore ignores illustrate illustrated illustrates
imitate imitates implement implemented implements implies imply impose imposes improve improved improves improving
include included includes including incorporate incorporated incorporates increase increased increases increasing
indicate indicated indicates indicating infer infers inherit inherits initialize initializes inspire inspired inspires
integrate integrates interact interacts interpret interprets introduce introduced introduces introducing investigate
investigated invoke invokes involve involved involves involving keep keeps kept lack lacks lead leading leads learned
learns leave leaves led left lend lends let lets leverage leveraged leverages leveraging lie lies live lives look
looks lose loses lost love maintain maintains matter maximize maximizes mean means measured meet meets mention
mentioned merge merges met mimic mimics minimize minimizes mitigate mitigates modifies modify motivate motivated move
moved moves need needed needs normalize normalizes note noted notes observe observed observes obtain obtained
obtaining obtains occur occurred occurs offer offers open opens opt optimize optimizes opts outperform outperformed
outperforming outperforms overcome overcomes overlook overlooks overwhelm overwhelms own pass passed passes pay
penalize penalizes perceive perceives perform performed performing performs permit permits pick picks place placed
play plays point points pose posed poses predict predicts prefer prepare present presented presenting presents prevent
prevents proceed proceeds produce produced produces producing promote promotes propose proposed proposes proposing
prove proved proven proves provide provided provides providing pull push pushes put puts quantifies quantify quote
quotes raise raised raises reach reached reaches read reads realize realizes receive receives recognize recognizes
recommend recommends reduce reduced reduces reducing refer referred refers reflect reflects regard regarded relate
related relies rely relying remain remained remains remind reminds remove removed removes removing render renders
replace replaced replaces replacing report reported reports require required requires requiring resemble resembles
resolve resolves resort restrict restricts resulted resulting retain reuse reuses reveal revealed reveals rise rises
rose run running runs saw see seek seeks select selected selects send sends sent separate separates serve served
serves set sets share shared shares sharing show showed showing shown shows simulate simulates sit sits solve solved
solves solving specified specify speculate speculates spend spent stand stands start started starts state stated
states stop stops strengthen strengthens strive strives studied studies study suffer suffers suggest suggested
suggesting suggests summarize summarized summarizes support supported supports suppose surpass surpasses surround
surrounds tackle tackles tailor tailors take taken takes taking talk talked talks taught teach teaches teaching tell
tells tend tends test tested tests think thought took trains transform transforms translate translates treat treated
treats tried trigger triggers try trying turn turned turns undergo undergos understand undertake undertakes unifies
unify utilize utilized utilizes utilizing validate validated vanish vanishes varied varies vary varying verified
verify visit visualize visualized wait walk want wanted wants weaken weakens wear went win winning wins wish won
wonder work worked works worry write written wrote yield yielded yielding yields
"""
_QUALIFIERS = """
accurate alternative contemporary conventional countless dominant earlier enormous exceptional existing popular precise
published reasonable sophisticated special thorough traditional
able actual additional aforementioned art available average best better big bigger capable certain challenging clear
clearer close closer common comparable competitive complete comprehensive considerable corresponding current deeper
desirable detailed different difficult distinct diverse early easier easy effective efficient entire equal essential
evident exact exactly extensive extra fair fast faster final fine full fully general good great greater greatest hard
harder high higher highest huge identical important individual initial interesting key known large larger largest
latest limited long longer low lower lowest main major minor modern multiple natural necessary new newer notable novel
numerous obvious original overall particular poor possible potential powerful practical preliminary present previous
primary prior promising proper recent relative relevant remarkable respective rest robust separate severe short
shorter significant similar simple simpler single slight small smaller smallest sole sota specific standard
state-of-the-art straightforward strong stronger strongest subsequent substantial successful sufficient suitable
superior sure typical unique unknown unseen useful usual valuable vanilla varied weak weaker whole wide wider worse
worst
"""
_GENERAL = """
ability acknowledgement addition advantage analysis annual answer approach area argument arxiv aspect association
assumption attempt author base baseline basis behavior behaviour benefit case category challenge change choice city
class code college combination comparison component computational concept conclusion condition conference
configuration context contribution copyright count country criterion data dataset day definition degree department
detail difference difficulty direction discussion distribution document effect effectiveness element email entry
equation error evaluation evidence example experiment experimental explanation extent fact factor faculty feature
field figure finding form formula framework function future gain gap goal group hand idea impact implementation
importance improvement information input insight instance institute international intuition issue item kind knowledge
lab laboratory language learning level license limitation line linguistics list literature loss material mechanism
meeting method metric mind model name nature notation number object observation operation option order other ours
output page pair paper parameter part pattern percent percentage performance period person perspective point position
practice preprint press problem procedure proceeding proceedings process property purpose quality quantity question
range rate ratio reader reason related relation relationship research researcher respect response result review role
sample scenario scheme school score set setting shape side sign signal situation size solution source space speed
stage standard step story strategy street structure study subject success summary supplementary system target task
team technique term text theory time title token tool top total trend trial type unit university usage use user
validity value variable variant variation variety version view volume whole word work workshop world year
"""

STOP: frozenset[str] = frozenset((_FUNCTION + _VERBS + _QUALIFIERS).split())
GENERAL: frozenset[str] = frozenset(_GENERAL.split()) | {word + "s" for word in _GENERAL.split()}
# A word that mostly follows one of these is a verb.
MODALS: frozenset[str] = frozenset(
    "we can could will would may might must should shall cannot they not don't doesn't didn't".split()
)

_NO_ADVERBS = frozenset({"assembly", "anomaly", "family", "supply", "reply"})
_ADJECTIVE_ENDS = ("ous", "ful", "less", "ible", "able", "ical", "ional", "ive", "ed")
_ADJECTIVE_LIKE_NOUNS = frozenset(
    "objective derivative incentive narrative initiative alternative perspective adjective archive additive hive drive "
    "variable table timetable interval proposal seed speed feed need embed bed imagenet breed nous radical vertical "
    "principal potential differential trial tutorial syllable negative positive false-positive primitive motive "
    "functional octave captive".split()
)


def ends_phrase(word: str) -> bool:
    """Whether a lower-case word looks like an adverb or a verb ("significantly", "generalizes")."""
    is_adverb = len(word) > 4 and word.endswith("ly") and word not in _NO_ADVERBS
    return is_adverb or word.endswith(("izes", "ifies"))


def is_adjective(word: str) -> bool:
    """Whether a lower-case word looks like an adjective or participle, and so can't end a noun phrase."""
    return word.endswith(_ADJECTIVE_ENDS) and word not in _ADJECTIVE_LIKE_NOUNS


_MIN_NAME = 3
# Words in -ing that are the first word of terms; others are verbs there ("improving models").
_GERUND_NOUNS = frozenset(
    "bootstrapping clustering coding computing decoding embedding encoding engineering gating imaging indexing "
    "learning linking machine masking matching mining modeling modelling parsing pooling processing prompting "
    "pruning ranking reasoning routing sampling scoring searching sequencing smoothing spelling tagging testing "
    "tracking training tuning understanding voting".split()
)
_SINGULAR_ENDINGS = ("ss", "us", "is", "as", "os", "ics")
_SPLIT = re.compile(r"[\s\-\u2010\u2011\u2013]+")


def is_term_by_form(form: str, *, first: bool, headed: bool, prominent: bool) -> bool:
    """Whether a whole run of words that stands once names something.

    `first` says that it begins its sentence, where a capital tells nothing; `headed` that a word such as "dataset"
    follows; `prominent` that it stands where a paper says what it is about.
    """
    words = _SPLIT.split(form)
    named = all(map(is_named, words[first:]))
    if len(words) == 1 or headed:
        return (is_coined(form) and _is_long_name(form)) or (headed and named and not first)
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


def _is_long_name(form: str) -> bool:
    """Three letters at the least, most of the characters, and nothing of an address or a unit."""
    letters = sum(character.isalpha() for character in form)
    return letters >= _MIN_NAME and letters * 2 > len(form) and form[0].isalpha() and not re.search(r"[./_@&^]", form)


def is_fragment(form: str) -> bool:
    """Whether a phrase of several words holds a verb or ends before its head: "constrains flow", "model trained",
    "arrows pointing", "preserving resolution"."""
    tokens = form.split()
    words = [word.casefold() for word in _SPLIT.split(form)]
    first, last = words[0], words[-1]
    if is_adjective(last) or ends_phrase(last) or (first.endswith("ing") and first not in _GERUND_NOUNS):
        return True
    if last.endswith("ing") and len(words) > 1 and _is_plural(words[-2]):
        return True
    return any(_is_plural(token) for token in tokens[:-1] if token.islower() and "-" not in token)


def _is_plural(word: str) -> bool:
    """Which is a verb where another noun follows."""
    return len(word) > 3 and word.endswith("s") and not word.endswith(_SINGULAR_ENDINGS)


_MAX_WORDS = 5
_SINGLE_SCORE = 0.5
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
    once = _single_occurrences(counts, [sentence.element in prominent for sentence in sentences])
    return [
        *(Phrase(forms=_forms(frequent[key].forms), score=scores[key]) for key in chosen[:limit]),
        *(Phrase(forms=_forms(counts[key].forms), score=_SINGLE_SCORE, single=True) for key in once[:singles]),
    ]


def _single_occurrences(counts: Mapping[str, _Count], prominent: Sequence[bool]) -> list[str]:
    found: dict[str, bool] = {}
    for key, count in counts.items():
        if count.frequency == 1 and count.whole:
            [form], [sentence] = count.forms, count.sentences
            if is_term_by_form(form, first=count.first, headed=count.headed, prominent=prominent[sentence]):
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
        return _is_mostly_a_name(count)
    if " " not in form and count.closing * 2 < count.frequency and not _is_mostly_a_name(count):
        return False  # a compound that qualifies what follows ("few-shot")
    return not is_fragment(form) and len(words[-1]) > 1 and not words[0].isdigit()


def _is_mostly_a_name(count: _Count) -> bool:
    """A single word counts when it is mostly spelled as a name; symbols ("x₁") and amounts ("40K") are none."""
    if any(form[0].isdigit() or form[-1] in _SMALL_DIGITS for form in count.forms):
        return False
    named = sum(times for form, times in count.forms.items() if is_coined(form) or form[:1].isupper())
    return named * 3 >= count.frequency * 2


def _forms(forms: Counter[str]) -> tuple[str, ...]:
    return tuple(form for form, _ in sorted(forms.items(), key=lambda item: (-item[1], item[0])))
