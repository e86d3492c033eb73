"""Splits running text into sentences."""

import re

__all__ = ["split_sentences"]

# A period after one of these never ends a sentence.
_ABBREVIATIONS = frozenset(
    "fig figs eq eqs eqn eqns tab tabs sec sect secs sects ch chap app appx alg algo def thm lem prop cor nos nr "
    "vol vols pp ed eds cf vs viz resp approx ca e.g i.e eg ie dr prof mr mrs ms st mt gen rev hon univ dept est "
    "ref refs ex jan feb mar apr jun jul aug sep sept oct nov dec w.r.t i.i.d".split()
)
# A period after one of these ends a sentence only if the next word often starts one.
_FINAL_ABBREVIATIONS = frozenset(
    "al etc inc ltd co corp jr sr ph.d u.s u.k a.m p.m a.k.a prec rec acc avg min max std".split()
)
_STARTERS = frozenset(
    "a an the this that these those we our they their it its he his she her i you in on at as for from to by with "
    "if when while where since because although though however therefore thus hence moreover furthermore further "
    "finally first second third next then also both each all some most many such here there note after before "
    "besides similarly specifically additionally consequently nevertheless instead unlike despite given let "
    "table figure section equation one two three several another other using based compared following once no "
    "what which who whom how why is are not only rather overall recently".split()
)
_END = re.compile(
    r"""(?<![.!?\u2026])(?P<stop>[.!?\u2026]++)
        (?P<note>(?<=[^\W\d]\.)\d{1,2}|(?:\[\d[\d,\s\u2013-]*\])?)   # the number of a footnote or citation
        (?P<close>["'\u2019\u201d)\]]*+)
        (?P<space>\s++)(?=\S)""",
    re.VERBOSE,
)
# An empty line, or a full stop of Chinese or Japanese.
_BLOCK_END = re.compile(r"\n[^\S\n]*\n\s*|(?<=[\u3002\uff01\uff1f])\s*(?=\S)")
_LAST_WORD = re.compile(r"[^\s(\[\"'\u201c\u2018/]*$")
_NEXT_WORD = re.compile(r"[\"'\u201c\u2018(\[]*([^\W\d_]*)")
_LONGEST_WORD = 60
_INITIALS = re.compile(r"(?:[^\W\d_]\.)*[^\W\d_]")


def split_sentences(text: str) -> list[str]:
    """Split a text into sentences, aware of the abbreviations of papers ("et al.", "Fig. 3", "e.g.", initials).

    An empty line always ends a sentence. Text without a sentence end is returned whole.

    Returns:
        The stripped sentences in order; joined, they differ from `text` in white space only.
    """
    found: list[str] = []
    for block in _BLOCK_END.split(text):
        start = 0
        for match in _END.finditer(block):
            if _ends_sentence(block, start, match):
                found.append(block[start : match.end()].strip())
                start = match.end()
        found.append(block[start:].strip())
    return [sentence for sentence in found if sentence]


def _ends_sentence(block: str, start: int, match: re.Match[str]) -> bool:
    """Return whether a match of `_END` ends the sentence that begins at `start`."""
    following = block[match.end()]
    if following.islower() or following in ",;:)]%=":
        return False
    if match["stop"] != ".":
        return True
    # Longer words are no abbreviations, and longer beginnings no numbers.
    before = _LAST_WORD.search(block, max(start, match.start() - _LONGEST_WORD), match.start())
    word = before.group() if before else ""
    short = match.start() - start <= _LONGEST_WORD
    if short and not block[start : match.start()].strip(" \t\n(").strip("0123456789.ivxIVX"):
        return False  # the number of a list item or a heading: "1. Introduction"
    if word.casefold() in _ABBREVIATIONS or (word.casefold() == "no" and following.isdigit()):
        return False
    if word.casefold() in _FINAL_ABBREVIATIONS or _INITIALS.fullmatch(word):
        next_word = _NEXT_WORD.match(block, match.end())
        return next_word is not None and next_word[1].casefold() in _STARTERS
    return True
