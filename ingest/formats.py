"""Detects paper files and their formats, by content before suffix."""

import re
import zlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import partial
from pathlib import Path, PurePath

from ingest.document.source import read_file
from ingest.readers.image_files import is_image
from ingest.readers.latex_files import is_main_file
from ingest.readers.mineru import is_mineru_folder, mineru_file
from paperscope_core.errors import PaperFileError
from paperscope_core.types import PaperFile, PaperFormat

__all__ = [
    "HEAD_BYTES",
    "PAPER_SUFFIXES",
    "check_head",
    "content_file",
    "format_of",
    "is_paper",
    "left_out_files",
    "paper_files",
]

_ZIP = b"PK"
_DIRECTORY_END = b"PK\5\6"
# The documents that are archives, by a part that each has, or by what each begins with.
_PARTS: dict[bytes, PaperFormat] = {
    b"word/document.xml": "docx",
    b"xl/workbook.xml": "xlsx",
    b"ppt/presentation.xml": "pptx",
}
_MIMETYPE_WITHIN = 200
_MIMETYPES: dict[bytes, PaperFormat] = {
    b"application/epub+zip": "epub",
    b"application/vnd.oasis.opendocument.text": "odt",
}
_OTHER_OPEN_DOCUMENT = b"application/vnd.oasis.opendocument"
_READ = "Paperscope reads PDF, pictures, Markdown, HTML, DOCX, ODT, EPUB, XLSX, PPTX, LaTeX, text, JATS and TEI XML."
_LATEX_NAME = re.compile(rb"\.(?:tex|ltx)")
_GZIP = b"\x1f\x8b"
_TAR, _TAR_AT = b"ustar", 257
_RTF = b"{\\rtf"
_LATEX = re.compile(r"^[ \t]*\\(?:documentclass|documentstyle|begin\{document\}|section\*?\{|input\{)", re.MULTILINE)
_OLD_WORD = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
HEAD_BYTES = 8192
_PDF_WITHIN = 1024
_MARKDOWN = (".md", ".markdown", ".mdown", ".mkd", ".qmd", ".rmd")
_WEB = (".html", ".htm", ".xhtml")
# Images count as papers only if given by name, since folders contain many figures.
PAPER_SUFFIXES = (
    *(".pdf", ".docx", ".odt", ".epub", ".xlsx", ".pptx", ".md", ".markdown", ".html", ".htm", ".xhtml", ".txt"),
    *(".xml", ".nxml", ".tei", ".tex", ".ltx"),
)
_LATEX_SUFFIXES = (".tex", ".ltx")
_XML_SUFFIXES = (".xml", ".nxml", ".tei")
_HTML = re.compile(r"<!doctype\s+html|<html[\s>]|<head[\s>]|<body[\s>]", re.IGNORECASE)
_ROOT = re.compile(r"<(?:[\w.-]+:)?([A-Za-z][\w.-]*)[\s>/]")
_PROLOGUE = re.compile(r"\s*<(?:\?xml|!DOCTYPE|!--)", re.IGNORECASE)
_ROOTS: dict[str, PaperFormat] = {
    "article": "jats",
    "pmc-articleset": "jats",
    "tei": "tei",
    "tei.2": "tei",
    "teicorpus": "tei",
    "html": "html",
}


def format_of(file: PaperFile) -> PaperFormat:
    """Return the format of a file, or of a folder (MinerU's).

    Raise `PaperFileError` if the file is missing, empty, or of another format.
    """
    if file.path.is_dir():
        return "mineru"
    data = read_file(file)
    return _by_signature(data, file.path) or _by_markup(_readable(data[:HEAD_BYTES]), file.path)


def check_head(head: bytes, file: Path) -> None:
    """Raise `PaperFileError` if the first HEAD_BYTES of a file show that it is not a paper; others may still not be
    one."""
    if not head:
        raise PaperFileError(f"{file.name!r} is empty. Fetch the file again.")
    if not head.startswith(_ZIP) and _by_signature(head, file) is None:
        _by_markup(_readable(head), file)


def _by_signature(data: bytes, file: Path) -> PaperFormat | None:
    """Return the format by the first bytes, None for text."""
    if b"%PDF-" in data[:_PDF_WITHIN]:
        return "pdf"
    if is_image(data[:HEAD_BYTES]):
        return "image"
    if data.startswith(_OLD_WORD):
        raise PaperFileError(
            f"{file.name!r} is an old Office file (.doc) or one with a password. Save it as DOCX without a password."
        )
    if data.startswith(_ZIP):
        return _archive_format(data, file)
    if data.startswith(_GZIP) or data[_TAR_AT : _TAR_AT + len(_TAR)] == _TAR:
        return _packed_format(data, file)
    if data.startswith(_RTF):
        raise PaperFileError(f"{file.name!r} is RTF. Save it as DOCX or PDF.")
    if file.suffix.lower() == ".pdf":
        raise PaperFileError(f"{file.name!r} is no PDF file, whatever its name says. Fetch the file again.")
    return None


def _archive_format(data: bytes, file: Path) -> PaperFormat:
    # Searching for a name takes no memory; listing the archive's parts may. An archive in it is none of its names.
    end = data.rfind(_DIRECTORY_END)
    start = int.from_bytes(data[end + 16 : end + 20], "little") if end >= 0 else 0
    names = data[start if start < end else 0 :]
    for mark, found in _MIMETYPES.items():
        if mark in data[:_MIMETYPE_WITHIN]:
            return found
    if _OTHER_OPEN_DOCUMENT in data[:_MIMETYPE_WITHIN]:
        raise PaperFileError(
            f"{file.name!r} is an OpenDocument spreadsheet, presentation or drawing; save it as XLSX, PPTX or PDF."
        )
    for mark, found in _PARTS.items():
        if mark in names:
            return found
    if _LATEX_NAME.search(names):
        return "latex"
    raise PaperFileError(f"{file.name!r} is an archive; unpack it. {_READ}")


def _packed_format(data: bytes, file: Path) -> PaperFormat:
    """Return "latex" for a TAR archive, whose files the reader looks through, and for a single compressed source."""
    try:
        head = zlib.decompressobj(zlib.MAX_WBITS | 16).decompress(data, HEAD_BYTES) if data.startswith(_GZIP) else data
    except zlib.error:
        head = b""
    if head[_TAR_AT : _TAR_AT + len(_TAR)] == _TAR or _LATEX.search(_readable(head[:HEAD_BYTES])):
        return "latex"
    raise PaperFileError(f"{file.name!r} is a compressed file; unpack it. {_READ}")


def _by_markup(text: str, file: Path) -> PaperFormat:
    """Return the format by the beginning of a text, then by its suffix."""
    suffix = file.suffix.lower()
    root = _root(text)
    if root in _ROOTS and (root != "article" or suffix not in _WEB):
        return _ROOTS[root]
    if suffix in _MARKDOWN:
        return "markdown"
    if suffix in _WEB or (text.lstrip().startswith("<") and _HTML.search(text)):
        return "html"
    if suffix in _XML_SUFFIXES or _PROLOGUE.match(text):
        raise PaperFileError(
            f"{file.name!r} is XML with the root element {root or '(none)'!r}; of XML, Paperscope reads JATS (article) "
            "and TEI."
        )
    return "latex" if suffix in _LATEX_SUFFIXES or (_LATEX.search(text) and suffix != ".txt") else "text"


def is_paper(name: PurePath, read_head: Callable[[], bytes]) -> bool:
    """Return whether a file in a folder is a paper, by its suffix; XML and LaTeX by their content.

    XML that can't be read counts, so that its error is reported.

    Args:
        name: The file's name.
        read_head: Returns the first HEAD_BYTES of the file; may raise OSError.
    """
    suffix = name.suffix.lower()
    if suffix not in (*_XML_SUFFIXES, *_LATEX_SUFFIXES):
        return suffix in PAPER_SUFFIXES
    try:
        head = read_head()
        return is_main_file(f"a{suffix}", head) if suffix in _LATEX_SUFFIXES else _root(_readable(head)) in _ROOTS
    except OSError:
        return True


def _readable(head: bytes) -> str:
    """Return the ASCII letters of a file's first bytes, in any character set."""
    return head.replace(b"\0", b"").decode("ascii", errors="ignore")


def _root(text: str) -> str:
    """Return the name of an XML document's root element, in lower case; "" if the text does not begin with markup."""
    body = re.sub(r"<!--.*?(?:-->|\Z)|<\?.*?(?:\?>|\Z)", " ", text, flags=re.DOTALL)
    doctype = re.match(r"\s*<!DOCTYPE\s+(?:[\w.-]+:)?([\w.-]+)", body, re.IGNORECASE)
    if doctype:
        return doctype[1].lower()
    match = _ROOT.match(body.lstrip())
    return match[1].lower() if match else ""


def paper_files(path: Path) -> Sequence[Path]:
    """Return the papers at a path: a file, a folder of MinerU, or the visible papers below any other folder, sorted.

    Raise PaperFileError if the path does not exist, or the folder holds no paper.
    """
    if not path.exists():
        raise PaperFileError(f"{path}: no such file or folder; check the spelling")
    if not path.is_dir() or is_mineru_folder(path):
        return (path,)
    found = _visible(path)
    folders = {folder for folder in found if is_mineru_folder(folder)}
    files = [file for file in found if file in folders or (not folders.intersection(file.parents) and _is_paper(file))]
    if not files:
        raise PaperFileError(f"{path}: no paper below this folder; Paperscope reads {', '.join(PAPER_SUFFIXES)} files")
    return files


def left_out_files(path: Path, papers: AbstractSet[Path]) -> Mapping[str, int]:
    """Return how many visible files below a folder are not among its papers, by their suffixes ("" for none)."""
    if not path.is_dir() or is_mineru_folder(path):
        return {}
    others = (
        file for file in _visible(path) if file.is_file() and file not in papers and papers.isdisjoint(file.parents)
    )
    return Counter(file.suffix.lower() for file in others)


def _visible(folder: Path) -> Sequence[Path]:
    return [
        file
        for file in sorted(folder.rglob("*"))
        if not any(part.startswith(".") for part in file.relative_to(folder).parts)
    ]


def content_file(paper: Path) -> Path:
    """Return the file whose hash identifies a paper: the paper itself, or the JSON in a folder of MinerU.

    Raise PaperFileError for any other folder.
    """
    return mineru_file(paper) if paper.is_dir() else paper


def _is_paper(file: Path) -> bool:
    return is_paper(file, partial(_read_head, file)) and file.is_file()


def _read_head(file: Path) -> bytes:
    with file.open("rb") as opened:
        return opened.read(HEAD_BYTES)
