"""Words of a text and keys of names: the project's one tokenizer, stop list and singularizer.

Every package that compares words uses these, so that a question, a table header and an entity's name are compared in
the same form. Words keep their case until `word_key` folds it, because case distinguishes `AIDS` from `aids`.
"""

import gzip
import re
import unicodedata
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from importlib.metadata import distribution
from itertools import chain
from pathlib import Path

__all__ = [
    "NAME_SEPARATOR",
    "STOP_WORDS",
    "content_words",
    "entity_key",
    "fold_spelling",
    "plain_form",
    "plain_words",
    "shared_words",
    "singular",
    "singular_key",
    "word_key",
    "words",
]

# The English stop list of the Snowball project (snowballstem.org, BSD), as PostgreSQL and NLTK ship it.
_SNOWBALL = """
i me my myself we our ours ourselves you your yours yourself yourselves he him his himself she her hers herself it its
itself they them their theirs themselves what which who whom this that these those am is are was were be been being
have has had having do does did doing a an the and but if or because as until while of at by for with about against
between into through during before after above below to from up down in out on off over under again further then once
here there when where why how all any both each few more most other some such no nor not only own same so than too very
s t can will just don should now
"""
# Closed-class words that Snowball's list lacks, after the lists of modal auxiliaries (chapter 3), determiners and
# pronouns (5 and 6), prepositions (9) and conjunctions (13 and 14) in R. Quirk et al., "A Comprehensive Grammar of the
# English Language" (1985), without those that are also common nouns, verbs or numbers.
_CLOSED_CLASS = """
may might must shall could would ought cannot
another anybody anyone anything either every everybody everyone everything many much neither nobody none nothing one
ones others somebody someone something several us whatever whichever whoever whose
across along amid among amongst around behind beside besides beyond despite except inside near onto outside per since
throughout till toward towards unlike upon via within without
although nor though unless whereas wherever whenever whether yet
also even ever hence however instead rather therefore thus
"""
STOP_WORDS: frozenset[str] = frozenset((_SNOWBALL + _CLOSED_CLASS).split())
"""Lower-case English function words, which say nothing about a text's subject."""

_RUN = re.compile(r"[^\W_]+")
_TOKEN = re.compile(r"[^\W_]+(?:[.'\u2019+&/\u2010-\u2015\-][^\W_]+)*")
NAME_SEPARATOR = re.compile(r"[\s\-_\u2010-\u2015\u2212]+")
"""What separates the words of a name: spaces, hyphens and dashes of every kind, underscores."""
# Accents of Latin, Greek and Cyrillic letters; other scripts have marks that are letters.
_ACCENTS = re.compile(r"[\u0300-\u036f]+")
# Letters of scripts that are written without spaces between words, and Korean, whose particles are joined to words. A
# run of letters is cut into overlapping pairs (Chinese, Japanese, Korean), as Lucene's CJKBigramFilter does, or into
# triples (Thai, Lao, Burmese, Khmer), because these are alphabets.
_PAIRED = "\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003134f"
_TRIPLED = "\u0e00-\u0e7f\u0e80-\u0eff\u1000-\u109f\u1780-\u17ff"
_UNSPACED = re.compile(rf"(?P<pairs>[{_PAIRED}]+)|[{_TRIPLED}]+")
# A single letter with a number as its index: "R_0", "R_{12}".
_INDEX = re.compile(r"(?<![^\W_])(?<!_)([^\W\d_])_(?:\{(\d{1,3})\}|(\d{1,3})(?![\w]))")
_OWN_MARK = re.compile(r"(?<!\s)\s*+(?:\((?:ours|our (?:method|model|approach))\)[\s.,;:]*+){1,3}+$", re.IGNORECASE)
_NAME_ENDS = " .,;:"

# The maximum number of letters in 99 % of the 2,771 short forms in capitals of SDU's acronym identification corpus. A
# longer word in capitals is a word of a heading.
_LONGEST_ACRONYM = 5
# Plurals of several nouns, for which the lexicon lists a noun first that papers rarely use.
_PREFERRED = {"axes": "axis", "leaves": "leaf"}
# About 14 MB in each of three caches. Without them, comparing words takes several times as long.
_CACHED_WORDS = 1 << 16
# The texts whose words are cached, and their maximum length: the words of a passage take some 8 KB. Questions on the
# same papers compare the same passages.
_CACHED_TEXTS, _MAX_CACHED_LENGTH = 4096, 8192


def fold_spelling(text: str) -> str:
    """Return a text in which spellings of a word or symbol are equal: in NFKC, without accents, and with the numbers of
    indices on the line. Text of scripts without spaces is cut into pairs or triples of letters.

    >>> fold_spelling("na\u00efve R_0, R_{0} and R\u2080 of \ufb01ne en_core_web_md")
    'naive R0, R0 and R0 of fine en_core_web_md'
    >>> fold_spelling("模型的F1")
    '模型 型的 F1'
    """
    if not text.isascii():
        text = _ACCENTS.sub("", unicodedata.normalize("NFKD", text))
        text = unicodedata.normalize("NFC", text)
        if _UNSPACED.search(text):
            text = _UNSPACED.sub(_cut, text).strip()
    return _INDEX.sub(r"\1\2\3", text) if "_" in text else text


def _cut(run: re.Match[str]) -> str:
    """Return a run of letters as overlapping pairs or triples, which are spaced. Marks above and below are left out."""
    letters = "".join(one for one in run.group() if unicodedata.category(one) != "Mn")
    size = 2 if run["pairs"] else 3
    return f" {' '.join(letters[at : at + size] for at in range(max(1, len(letters) - size + 1)))} "


def plain_words(text: str) -> list[str]:
    """Return the runs of letters and digits of a text in lower case, with repeats and stop words; plurals stay
    plurals."""
    return _RUN.findall(text.casefold())


def plain_form(text: str) -> str:
    """Return a text without case, accents and signs, in which names are compared: its plain words, spaced by one
    space."""
    return " ".join(plain_words(fold_spelling(text)))


def words(text: str) -> list[str]:
    """Return the keys of a text's words in order, with repeats and stop words; a compound precedes its parts.

    A word is a run of letters and digits; runs joined by a single `.`, `'`, `+`, `&`, `/`, hyphen or dash are one
    compound (`SST-5`, `BERT+DSC`, `OntoNotes4.0`). Other signs and underscores are left out. See `fold_spelling` for
    accents and indices.
    """
    text = fold_spelling(text)
    if text.isalnum():
        return [word_key(text)]
    found: list[str] = []
    for token in _TOKEN.findall(text):
        found.append(word_key(token))
        if not token.isalnum():
            found += map(word_key, _RUN.findall(token))
    return found


def content_words(text: str) -> frozenset[str]:
    """Return the keys of a text's words without stop words and single letters of the Latin alphabet; digits count."""
    return _cached_content_words(text) if len(text) <= _MAX_CACHED_LENGTH else _content_words(text)


def shared_words(text: str, wanted: frozenset[str]) -> frozenset[str]:
    """Return the wanted words that are content words of a text. For texts compared once: it caches nothing, and takes
    half the time of `content_words`."""
    return wanted.intersection(_words_of_pieces(text))


def _content_words(text: str) -> frozenset[str]:
    return frozenset(_words_of_pieces(text))


def _words_of_pieces(text: str) -> Iterator[str]:
    # No word has a space, and most pieces between spaces occur in many texts.
    return chain.from_iterable(map(_pieces.__getitem__, set(text.split())))


class _Pieces(dict[str, tuple[str, ...]]):
    """The content words of pieces of text. Looked up in less time than with `lru_cache`."""

    def __missing__(self, piece: str) -> tuple[str, ...]:
        if len(self) >= _CACHED_WORDS:
            self.clear()
        found = tuple(
            word
            for word in words(piece)
            if word not in STOP_WORDS and (len(word) > 1 or not word.isascii() or word.isdigit())
        )
        self[piece] = found
        return found


_pieces = _Pieces()
_cached_content_words = lru_cache(maxsize=_CACHED_TEXTS)(_content_words)


@lru_cache(maxsize=_CACHED_WORDS)
def word_key(word: str) -> str:
    """Return the common form of a word's spellings: lower case, in the singular.

    A short word in capitals is an acronym, whose only plural is one with a lower-case s: `GPUs` matches `GPU`, `AIDS`
    does not match `aid`.

    Args:
        word: One word in its original spelling.
    """
    if len(word) > 2 and word.endswith("s") and word[:-1].isupper():
        return word[:-1].casefold()
    if word.isupper() and len(word) <= _LONGEST_ACRONYM:
        return word.casefold()
    return singular(word.casefold())


@lru_cache(maxsize=_CACHED_WORDS)
def singular(word: str) -> str:
    """Return the singular of a noun, or the base form of a verb that ends in -s; any other word unchanged.

    Words are looked up in the NIH SPECIALIST Lexicon, which `lemminflect` contains: `analyses` becomes `analysis`,
    `matrices` becomes `matrix`; `species` and `bias` are unchanged. A word that is not in the lexicon loses a regular
    plural ending (`datasets`).

    Args:
        word: One word in lower case.
    """
    if len(word) < 3 or word in STOP_WORDS or not word.isalpha():
        return word
    if word in _PREFERRED:
        return _PREFERRED[word]
    known = _base_forms(word)
    nouns = known.get("NOUN", ())
    if not word.endswith("s"):
        # `data`, `media` and `dice` are also listed as singulars.
        return word if word in nouns or not nouns else nouns[0]
    if nouns:
        return nouns[0]
    if "VERB" in known:
        return known["VERB"][0]
    return word if known else _without_regular_ending(word)


def _base_forms(word: str) -> Mapping[str, Sequence[str]]:
    """Return a word's base forms by part of speech, the likelier first, in lower case like the word."""
    lines, corrections = _lexicon()
    # Neither the key of a search nor a second search: most words of papers are looked up, and are not in the lexicon.
    start = f"{word},"
    place = bisect_left(lines, start)
    forms: dict[str, Sequence[str]] = {}
    while place < len(lines) and lines[place].startswith(start):
        _, part_of_speech, bases = lines[place].split(",")
        forms[part_of_speech.upper()] = bases.lower().split("/")
        place += 1
    return {**forms, **corrections.get(word, {})}


@cache
def _lexicon() -> tuple[Sequence[str], Mapping[str, Mapping[str, Sequence[str]]]]:
    """Return the lines of the lexicon, sorted, and its corrections by word and part of speech.

    Only the files are read: the package parses all lines in 0.3 s, and imports spaCy, if it is installed, in 3 s.
    """
    folder = Path(str(distribution("lemminflect").locate_file("lemminflect/resources")))
    corrections: dict[str, dict[str, Sequence[str]]] = defaultdict(dict)
    for line in (folder / "lemma_overrides.csv").read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            word, part_of_speech, base = line.split(",")
            corrections[word][part_of_speech] = [base]
    # The file is sorted by word, which differs from the order of the lines: "," follows the apostrophe.
    lines = sorted(gzip.decompress((folder / "lemma_lu.csv.gz").read_bytes()).decode().splitlines())
    return lines, corrections


def _without_regular_ending(word: str) -> str:
    if len(word) < 4 or word.endswith(("ss", "us", "is")):
        return word
    if word.endswith("ies"):
        return word[:-3] + "y"
    return word[:-2] if word.endswith(("sses", "xes", "ches", "shes", "zzes")) else word[:-1]


def entity_key(name: str) -> str:
    """Return the common key of a name's spellings: its compatibility form with case, hyphens and spaces folded.

    `F1 Score`, `F1-score` and `F1 SCORE` have one key; `+` and other signs that distinguish methods are kept. A
    trailing "(ours)", with which tables mark a paper's own method, is not part of a name.
    """
    return NAME_SEPARATOR.sub(" ", _without_own_mark(name).casefold()).strip(_NAME_ENDS)


def singular_key(name: str) -> str:
    """`entity_key` with the last word in the singular: "dice losses" matches "Dice loss", "GPUs" matches "GPU"."""
    parts = NAME_SEPARATOR.split(_without_own_mark(name).strip(_NAME_ENDS))
    return " ".join([*(part.casefold() for part in parts[:-1]), word_key(parts[-1])]).strip(_NAME_ENDS)


def _without_own_mark(name: str) -> str:
    text = unicodedata.normalize("NFKC", name)
    return _OWN_MARK.sub("", text) or text
