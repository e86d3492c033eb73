"""Decodes the bytes of a text: by what they state, else in the character set that they are most likely in."""

import codecs
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import accumulate

from paperscope_core.errors import PaperFileError
from paperscope_core.types import PageProblem

__all__ = ["decode"]

_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_DECLARED = re.compile(
    rb"""<\?xml[^<>]*?encoding\s*=\s*["']([\w.:-]+)|<meta[^<>]*?charset\s*=\s*["']?([\w.:-]+)""", re.IGNORECASE
)
# The bytes searched for a declaration and sampled for their letters.
_HEAD_BYTES = 4096
_CONTROLS = re.compile(r"[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f\ufffd\ufffe\uffff]")
# The largest share of control characters in text.
_MAX_CONTROLS = 0.005
_TEXT = re.compile(r"(?:utf|iso8859|cp\d|ascii|latin|gb|hz|big5|euc|shift_jis|koi8|mac|tis)[\w-]*", re.IGNORECASE)
# Browsers read these as the larger character set.
_SUPERSETS = {"ascii": "cp1252", "iso8859-1": "cp1252"}

# The letters beyond ASCII of the languages that are written in each character set (CLDR's exemplar characters).
_CYRILLIC = "абвгдежзийклмнопрстуфхцчшщъыьэюяёіїєґђјљњћџѓќў"
_ALPHABETS: Mapping[str, tuple[str, ...]] = {
    "cp1252": (
        "äöüß", "àâæçéèêëîïôœùûüÿ", "áéíñóúü", "áàâãçéêíóôõú", "àèéìíîòóùú", "äåö", "æøåéó", "áðéíóúýþæö",
        "àáçèéíïòóúü·", "áéëíïóöúü",
    ),
    "cp1250": ("ąćęłńóśźż", "áčďéěíňóřšťúůýž", "áéíóöőúüű", "čšžćđ", "áäčďéíĺľňóôŕšťúýž", "ăâîşţ"),
    "cp1251": (_CYRILLIC,),
    "koi8_r": ("абвгдежзийклмнопрстуфхцчшщъыьэюяё",),
    "cp1253": ("αβγδεζηθικλμνξοπρσςτυφχψωάέήίόύώϊϋΐΰ",),
    "cp1254": ("çğıöşü",),
    "cp1255": ("אבגדהוזחטיכךלמםנןסעפףצץקרשת",),
    "cp1256": ("ءآأؤإئابةتثجحخدذرزسشصضطظعغفقكلمنهوىيپچژگکیے",),
    "cp1257": ("ąčęėįšųūž", "āčēģīķļņšūž", "äõöüšž"),
    "cp1258": ("àâăđêéèóòôơúùưýạảãấầẩẫậắằẳẵặẹẻẽếềểễệỉĩịọỏõốồổỗộớờởỡợụủũứừửữựỳỵỷỹ",),
    "cp874": ("".join(map(chr, range(0x0E01, 0x0E3B))) + "".join(map(chr, range(0x0E40, 0x0E4F))),),
}  # fmt: skip
# The lead bytes of the characters that the standards' authors took for the usual ones, and of kana; the character sets
# of East Asia have most byte pairs in common, but not these.
_USUAL: Mapping[str, tuple[tuple[int, int], ...]] = {
    "gb18030": ((0xB0, 0xD7),),
    "big5": ((0xA4, 0xC6),),
    "cp949": ((0xB0, 0xC8),),
    "cp932": ((0x82, 0x83), (0x88, 0x97)),
    "euc_jp": ((0xA4, 0xA5), (0xB0, 0xCF)),
}
_NAMES = {
    "gb18030": "GB 18030", "big5": "Big5", "cp949": "EUC-KR", "cp932": "Shift JIS", "euc_jp": "EUC-JP",
    "koi8_r": "KOI8-R",
}  # fmt: skip
# Western letters are by far the most frequent beyond ASCII.
_PRIOR = 0.05
# The weights were set on sentences in each of the languages: what is usual tells most, then what is orderly.
_USUAL_WEIGHT = 2.0
_CASE_WEIGHT = 0.5
_LEAST_CONFIDENCE = 0.5
_SAMPLE = 40_000
_LATIN = ("cp1250", "cp1252", "cp1254", "cp1257", "cp1258")
_LETTERS = re.compile(r"[^\W\d_A-Za-zªµº]")
_MIXED = re.compile(r"(?<=[A-Za-z])[^\W\d_A-Za-z]|[^\W\d_A-Za-z](?=[A-Za-z])")
_FIRST_LETTER = re.compile(r"(?:\A|\n|[.!?] )[\W\d_]{0,8}([^\W\d_])")


def decode(data: bytes, *, name: str, declared: bool = False) -> tuple[str, tuple[PageProblem, ...]]:
    """Decode text: by its byte order mark, as UTF-16 or UTF-8, else in the character set that its bytes are likely in.

    Args:
        data: The bytes.
        name: The file's name, for messages.
        declared: Whether to heed the character set that HTML or XML declares.

    Returns:
        The text with newlines as `\\n`, and a problem with the confidence if the character set is inferred.

    Raises:
        PaperFileError: The data is binary, or in no character set that can be told.
    """
    text, problems = _decoded(data, name=name, declared=declared)
    _refuse_binary(text, name=name)
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return _CONTROLS.sub(lambda match: "\ufffd" if match[0] == "\ufffd" else " ", text), problems


def _refuse_binary(text: str, *, name: str) -> None:
    if len(_CONTROLS.findall(text)) > _MAX_CONTROLS * len(text) + 1:
        raise PaperFileError(
            f"{name!r} is no text: it holds binary data. Paperscope reads PDF, Markdown, HTML, DOCX, ODT, EPUB, XLSX, "
            "PPTX, LaTeX, plain text, JATS and TEI."
        )


def _decoded(data: bytes, *, name: str, declared: bool) -> tuple[str, tuple[PageProblem, ...]]:
    for mark, encoding in _BYTE_ORDER_MARKS:
        if data.startswith(mark):
            return data.decode(encoding, errors="replace"), ()
    if utf16 := _utf16_without_mark(data[:_HEAD_BYTES]):
        return data.decode(utf16, errors="replace"), ()
    stated = _declared(data) if declared else ""
    for encoding in dict.fromkeys(filter(None, (stated, "utf-8"))):
        try:
            return data.decode(encoding), _mismatch(stated, encoding)
        except UnicodeDecodeError:
            continue
    return _inferred(data, name=name)


def _utf16_without_mark(head: bytes) -> str:
    """Return the byte order of UTF-16 without a mark, "" for other encodings: every second byte of Latin text is
    zero."""
    pairs = len(head) // 2
    if pairs < 4:
        return ""
    even, odd = head[0 : 2 * pairs : 2].count(0), head[1 : 2 * pairs : 2].count(0)
    if odd > 0.6 * pairs and even < 0.1 * pairs:
        return "utf-16-le"
    return "utf-16-be" if even > 0.6 * pairs and odd < 0.1 * pairs else ""


def _declared(data: bytes) -> str:
    """Return the declared character set if it is a known text encoding, else ""."""
    match = _DECLARED.search(data[:_HEAD_BYTES])
    if not match:
        return ""
    try:
        name = codecs.lookup((match[1] or match[2]).decode("ascii")).name
    except (LookupError, UnicodeError, ValueError):
        return ""
    return _SUPERSETS.get(name, name) if _TEXT.fullmatch(name) else ""


def _mismatch(stated: str, used: str) -> tuple[PageProblem, ...]:
    if not stated or stated == used:
        return ()
    return (PageProblem(page=1, reason=f"the file declares the character set {stated!r} but is {used}"),)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Candidate:
    """A character set: how usual its text would be, from 0 to 1, and its rank among others."""

    encoding: str
    text: str
    usual: float
    rank: float

    @property
    def name(self) -> str:
        return _NAMES.get(self.encoding, f"Windows-{self.encoding.removeprefix('cp')}")


def _inferred(data: bytes, *, name: str) -> tuple[str, tuple[PageProblem, ...]]:
    """Decode in the character set that is most likely; raise `PaperFileError` if none is."""
    sample = _sample(data)
    _refuse_binary(sample.decode("latin-1"), name=name)
    candidates = sorted(_candidates(sample), key=lambda one: -one.rank)
    for best in candidates:
        if best.usual < _LEAST_CONFIDENCE:
            continue
        try:
            text = data.decode(best.encoding)
        except UnicodeDecodeError:
            text = data.decode(best.encoding, errors="replace")
            if text.count("\ufffd") > _MAX_CONTROLS * len(text) + 1:
                continue
        reason = f"the file does not state its character set; it was read as {best.name}, confidence {best.usual:.0%}"
        return text, (PageProblem(page=1, reason=reason),)
    raise PaperFileError(
        f"{name!r} is not UTF-8, and its character set can't be told from its letters. Save it as UTF-8."
    )


def _sample(data: bytes) -> bytes:
    """Return the lines with bytes beyond ASCII, up to a number of bytes."""
    lines = [line for line in data.replace(b"\r", b"\n").split(b"\n") if not line.isascii()]
    kept = [line for line, size in zip(lines, accumulate(map(len, lines)), strict=True) if size <= _SAMPLE]
    return b"\n".join(kept or [lines[0][:_SAMPLE]])


def _candidates(sample: bytes) -> Iterator[_Candidate]:
    # Takes a twentieth of a second to import, which UTF-8 need not.
    from charset_normalizer import from_bytes

    for match in from_bytes(sample, cp_isolation=[*_ALPHABETS, *_USUAL]):
        # Character sets in which the sample reads the same are one match.
        for encoding in match.could_be_from_charset:
            text = str(match)
            usual = _usual_pairs(sample, encoding) if encoding in _USUAL else _usual_letters(text, encoding)
            rank = _USUAL_WEIGHT * usual + match.coherence - match.chaos - _CASE_WEIGHT * _odd_case(text)
            rank += _PRIOR * (encoding == "cp1252")
            yield _Candidate(encoding=encoding, text=text, usual=usual * (1 - match.chaos), rank=rank)


def _usual_pairs(sample: bytes, encoding: str) -> float:
    """Return the share of usual characters among those of two bytes, signs aside."""
    leads = [pair[0] for letter in sample.decode(encoding, errors="ignore") if len(pair := letter.encode(encoding)) > 1]
    written = [lead for lead in leads if not 0xA1 <= lead <= 0xA3 and lead != 0x81] or leads
    usual = sum(any(first <= lead <= last for first, last in _USUAL[encoding]) for lead in written)
    return usual / len(written) if written else 0.0


def _usual_letters(text: str, encoding: str) -> float:
    """Return the share of letters beyond ASCII that one language of the character set has.

    Of another script than Latin, letters in one word with Latin ones are not usual.
    """
    found = [letter.lower() for letter in _LETTERS.findall(text)]
    if not found:
        return 1.0
    mixed = 0 if encoding in _LATIN else len(_MIXED.findall(text))
    known = max(sum(letter in alphabet for letter in found) for alphabet in _ALPHABETS[encoding])
    return max(known - mixed, 0) / len(found)


def _odd_case(text: str) -> float:
    """Return the share of sentences that begin with a small letter beyond ASCII."""
    first = _FIRST_LETTER.findall(text)
    return sum(letter.islower() and not letter.isascii() for letter in first) / len(first) if first else 0.0
