"""Adversarial inputs of any size: texts, documents, and what a model or a caller sends."""

import json
from collections.abc import Callable, Mapping
from functools import partial
from io import BytesIO

__all__ = ["DOCUMENTS", "DOCX", "MARKUP", "MINERU", "PDFS", "QUESTION_FILES", "TEXTS", "Make", "repeated"]

Make = Callable[[int], str]
"""Makes a text of about so many letters."""

# Repeated up to the size that is measured: letters, numbers, brackets, nested markup, lines, cells, labels.
_PIECES: Mapping[str, str] = {
    "one digit": "0",
    "one word": "AaBbCc",
    "combining marks": "a\u0301\u0323",
    "marks alone": "\u0301",
    "hyphens": "a-",
    "dots": "a.",
    "initials": "A.B. ",
    "capitals": "AB CD ",
    "words": "We use BERT for parsing. ",
    "joined names": "Abc Def of ",
    "commas": "a, ",
    "spaces": "a" + " " * 60,
    "short lines": "a\n",
    "hyphenated lines": "ab-\n",
    "paragraphs": "Ab c.\n\n",
    "numbers": "1.5, ",
    "numbered words": "F1 is 0.5 and ",
    "equal cells": "1  2  3\n",
    "equal rows": "|a|1|\n",
    "bars": "| ",
    "open brackets": "(a ",
    "brackets alone": "(",
    "square brackets": "[1, ",
    "nested brackets": "[(",
    "citations": "[1] ",
    "authors": "Li et al. (2019) ",
    "entries": "[1] A. Li. Title. 2019.\n",
    "short forms": "Abc Def (AD) ",
    "quotes": "\u201ca ",
    "captions": "Figure 1: a\n\n",
    "mentions": "Figure 1, ",
    "headings": "# a\n\n",
    "sections": "1.1 Ab\n\n",
    "stars": "*a ",
    "underscores": "_a ",
    "backticks": "` ",
    "dollars": "$x ",
    "block quotes": "> ",
    "items": "- a\n",
    "links": "[a](",
    "definitions": "[a]: b\n",
    "nested bold": "<b>",
    "paragraph tags": "<p>a",
    "divisions": "<div>",
    "nested tables": "<table><tr><td>",
    "rows": "<tr><td>1</td></tr>",
    "less than": "<",
    "formulas": "x = 1 ",
    "commands": "\\frac{a}{",
    "addresses": "http://a.b/",
    "mail": "a@b.",
    "full stops": "\u3002 ",
    "points": ".",
    "question marks": "?!",
    "is a": "BERT is a model of ",
    "control characters": "\x1b]8;;a\x07",
    "emoji": "\U0001f469\u200d\U0001f469\u200d",
}


def repeated(piece: str) -> Make:
    """A piece over and over."""
    return lambda size: (piece * (size // len(piece) + 1))[:size]


def _counted(form: str) -> Make:
    """A form with the numbers from 0."""

    def make(size: int) -> str:
        parts: list[str] = []
        letters = 0
        while letters < size:
            parts.append(form.replace("#", str(len(parts))))
            letters += len(parts[-1])
        return "".join(parts)[:size]

    return make


TEXTS: Mapping[str, Make] = {
    **{name: repeated(piece) for name, piece in _PIECES.items()},
    "counted citations": _counted("[#], "),
    "counted numbers": _counted("#.5, "),
    "counted names": _counted("Net# and "),
    "counted captions": _counted("Figure #: a\n\n"),
    "counted mentions": _counted("see Figure #. "),
    "counted sections": _counted("# Part #\n\n"),
    "counted entries": _counted("[#] A. Li. Title #. 2019.\n"),
    "counted forms": _counted("Ab Cd (AC#) "),
    "counted cells": _counted("|a#|#|\n"),
}

_ROOTS: Mapping[str, tuple[str, str]] = {
    "text": ("", ""),
    "markdown": ("Title\n\n", ""),
    "html": ("<html><body>", "</body></html>"),
    "jats": ("<article><body>", "</body></article>"),
    "latex": (
        r"\documentclass{article}\newcommand{\own}[2][x]{#1#2}\begin{document}\title{A}\maketitle ",
        r"\end{document}",
    ),
    "tei": ('<TEI xmlns="http://www.tei-c.org/ns/1.0"><text><body>', "</body></text></TEI>"),
}
# Well-formed markup, which is repeated as a whole.
_FORMS: Mapping[str, Mapping[str, str]] = {
    "text": {},
    "markdown": {
        "tables": "|a|b|\n|-|-|\n|x#|1|\n\n",
        "pictures": "![a](b.png)\n\nFigure #: c\n\n",
        "footnotes": "a[^#]\n\n[^#]: b\n\n",
        "formulas in lines": "$x_#$ and $\\frac{a}{b}$ ",
        "displayed": "$$\nx = #\n$$\n\n",
        "listings": "```\na#\n```\n\n",
    },
    "html": {
        "tables": "<table><caption>Table #</caption><tr><th>a<th>b<tr><td>x<td>1</table>",
        "spans": "<table><tr><td rowspan=50 colspan=50>#</table>",
        "figures": "<figure id=f#><img src=a.png><figcaption>Figure #: a</figcaption></figure>",
        "cited": "<a href=#r#>[#]</a> <li id=r#>A. Li. Title. 2019.",
        "headings in tags": "<h2>#</h2><p>a",
        "footnotes": "<sup><a href=#n#>#</a></sup><aside id=n#>b</aside>",
        "math": "<math><mfrac><mi>a</mi><mi>b</mi></mfrac></math>",
        "lists": "<ul><li>a<ul><li>#</ul></ul>",
    },
    "jats": {
        "sections in tags": "<sec id='s#'><title>A</title><p>b</p></sec>",
        "tables": "<table-wrap id='t#'><label>Table #</label><table><tr><td>1</td></tr></table></table-wrap>",
        "figures": "<fig id='f#'><label>Figure #</label><caption><p>a</p></caption></fig>",
        "cited": "<p><xref rid='r#' ref-type='bibr'>#</xref></p><ref id='r#'><mixed-citation>a</mixed-citation></ref>",
        "footnotes": "<p>a<fn id='n#'><p>b</p></fn></p>",
    },
    "latex": {
        "sections in commands": r"\section{A}\label{s#} b\ref{s#} ",
        "tables": r"\begin{table}\caption{A}\begin{tabular}{ll}a&b\\#&1\end{tabular}\end{table}",
        "equations": r"\begin{equation}x_#=\frac{a}{b}\label{e#}\end{equation}",
        "own commands": r"\own{a} \own[b]{#} ",
        "open groups": r"\own{a ",
        "open options": r"\own[a ",
        "open conditions": r"\iffalse a ",
        "open environments": r"\begin{itemize}\item a ",
        "cited": r"\cite{r#}\bibitem{r#} A. Li. Title. 2019. ",
    },
    "tei": {
        "sections in tags": "<div><head n='#'>A</head><p>b</p></div>",
        "tables": "<figure type='table'><head>Table #</head><table><row><cell>1</cell></row></table></figure>",
        "cited": "<p><ref type='bibr' target='#b#'>[#]</ref></p><listBibl><biblStruct xml:id='b#'/></listBibl>",
        "notes": "<note place='foot' n='#'>a</note>",
    },
}


def _framed(make: Make, root: str) -> Callable[[int], bytes]:
    start, end = _ROOTS[root]
    return lambda size: f"{start}{make(size)}{end}".encode()


def _whole(form: str) -> Make:
    """A form with the numbers from 0, each time whole."""
    return lambda size: "".join(form.replace("#", str(at)) for at in range(max(size // len(form), 1)))


def _nested(opens: str, closes: str) -> Make:
    return lambda size: opens * (size // len(opens + closes)) + "a" + closes * (size // len(opens + closes))


MARKUP: Mapping[str, Mapping[str, Callable[[int], bytes]]] = {
    root: {
        **{name: _framed(make, root) for name, make in TEXTS.items()},
        **{name: _framed(_whole(form), root) for name, form in forms.items()},
        **({"nested tags": _framed(_nested("<div>", "</div>"), root)} if root in ("html", "tei") else {}),
    }
    for root, forms in _FORMS.items()
}


# ---- documents


def _pdf_of_lines(make: Make) -> Callable[[int], bytes]:
    def build(size: int) -> bytes:
        import pymupdf

        text = make(size)
        lines = [line[at : at + 90] for line in text.split("\n") for at in range(0, max(len(line), 1), 90)]
        document = pymupdf.open()
        for at in range(0, len(lines), 60):
            document.new_page().insert_text((50, 50), lines[at : at + 60], fontsize=8)
        return bytes(document.tobytes())

    return build


def _pdf_of_operators(start: str, form: str, *, per_page: int | None = None) -> Callable[[int], bytes]:
    """A PDF whose pages have the form over and over; `#` is a number, `@x` and `@y` a place on the page."""

    def build(size: int) -> bytes:
        import pymupdf

        count = max(size // 40, 1)
        document = pymupdf.open()
        for first in range(0, count, per_page or count):
            page = document.new_page()
            page.insert_text((0, 0), " ")  # Gives the page the font F0.
            parts = [start]
            for at in range(first, min(first + (per_page or count), count)):
                x, y = 50 + at * 37 % 500, 780 - at * 13 % 740
                parts.append(form.replace("#", str(at)).replace("@x", str(x)).replace("@y", str(y)))
            xref = document.get_new_xref()
            document.update_object(xref, "<<>>")
            document.update_stream(xref, "\n".join(parts).encode("latin-1"))
            page.set_contents(xref)
        font = document.get_new_xref()
        document.update_object(font, "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>")
        for page in document:
            document.xref_set_key(page.xref, "Resources", f"<</Font<</F0 {font} 0 R>>>>")
        return bytes(document.tobytes())

    return build


_TABLE = (
    "BT /F0 9 Tf 50 700 Td (Table #: Results.) Tj 0 -20 Td (Model    F1) Tj 0 -12 Td (Ours     9#.1) Tj ET "
    "50 690 m 300 690 l S 50 675 m 300 675 l S 50 655 m 300 655 l S"
)
_TEXT = "BT /F0 10 Tf 50 700 Td (We use BERT for parsing.) Tj ET"
PDFS: Mapping[str, Callable[[int], bytes]] = {
    **{name: _pdf_of_lines(make) for name, make in TEXTS.items()},
    "tables": _pdf_of_operators("", _TABLE, per_page=1),
    "tables on one page": _pdf_of_operators("", _TABLE.replace("50 700", "@x @y")),
    "drawings": _pdf_of_operators(_TEXT, "@x @y 40 9 re S"),
    "lines": _pdf_of_operators(_TEXT, "50 @y m 550 @y l S"),
    "curves": _pdf_of_operators(_TEXT, "@x @y m 9 9 200 @y 300 @x c S"),
    "filled": _pdf_of_operators(_TEXT, "@x @y 4 4 re f"),
    "spans": _pdf_of_operators("", "BT /F0 6 Tf @x @y Td (a) Tj /F0 9 Tf (b) Tj ET"),
    "words at random": _pdf_of_operators("", "BT /F0 8 Tf @x @y Td (word#) Tj ET"),
    "glyphs in one place": _pdf_of_operators("", "BT /F0 9 Tf 100 400 Td (a) Tj ET"),
    "long words": _pdf_of_operators("", "BT /F0 1 Tf 10 400 Td (aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa) Tj ET"),
    "one long line": _pdf_of_operators("BT /F0 0.1 Tf 5 400 Td", "(aaaaaaaa 1.5) Tj"),
    "headings on pages": _pdf_of_operators("", "BT /F0 16 Tf 50 @y Td (# Introduction) Tj ET", per_page=20),
    "references on pages": _pdf_of_operators(
        "BT /F0 14 Tf 50 790 Td (References) Tj ET", "BT /F0 8 Tf 50 @y Td ([#] A. Li. Title. 2019.) Tj ET", per_page=50
    ),
    "footnotes on pages": _pdf_of_operators(
        "", "BT /F0 10 Tf 50 @y Td (text) Tj 5 Ts /F0 6 Tf (#) Tj 0 Ts 0 -9 Td (# note.) Tj ET", per_page=20
    ),
    "captions on one page": _pdf_of_operators("", "BT /F0 9 Tf 50 @y Td (Figure 1: a) Tj ET @x @y 30 30 re S"),
    "numbers in columns": _pdf_of_operators("", "BT /F0 4 Tf @x @y Td (0.#) Tj ET"),
    "rotated": _pdf_of_operators("", "BT /F0 8 Tf 0 1 -1 0 @x @y Tm (ab) Tj ET"),
}


def _docx_of_lines(make: Make) -> Callable[[int], bytes]:
    return _docx("<w:p><w:r><w:t xml:space='preserve'>#</w:t></w:r></w:p>", lines=make)


def _docx(form: str, *, lines: Make | None = None) -> Callable[[int], bytes]:
    """A Word document of one form over and over, or with the lines of a text."""

    def build(size: int) -> bytes:
        from xml.sax.saxutils import escape
        from zipfile import ZIP_DEFLATED, ZipFile

        from docx import Document

        if lines is None:
            body = "".join(form.replace("#", str(at)) for at in range(max(size // len(form), 1)))
        else:
            kept = ("".join(one for one in line if one >= " ") for line in lines(size).split("\n"))
            body = "".join(form.replace("#", escape(line)) for line in kept)
        empty, out = BytesIO(), BytesIO()
        Document().save(empty)
        with ZipFile(empty) as source, ZipFile(out, "w", ZIP_DEFLATED) as target:
            for name in source.namelist():
                data = source.read(name)
                if name == "word/document.xml":
                    data = data.replace(b"<w:body>", b"<w:body>" + body.encode())
                target.writestr(name, data)
        return out.getvalue()

    return build


_P = "<w:p><w:r><w:t>#</w:t></w:r></w:p>"
DOCX: Mapping[str, Callable[[int], bytes]] = {
    **{name: _docx_of_lines(make) for name, make in TEXTS.items()},
    "tables": _docx(f"<w:tbl><w:tr><w:tc>{_P}</w:tc><w:tc>{_P}</w:tc></w:tr></w:tbl>{_P}"),
    "runs": _docx("<w:p><w:r><w:rPr><w:b/></w:rPr><w:t>a</w:t></w:r><w:r><w:t>#</w:t></w:r></w:p>"),
    "headings in styles": _docx("<w:p><w:pPr><w:pStyle w:val='Heading1'/></w:pPr><w:r><w:t>A</w:t></w:r></w:p>"),
    "captions in styles": _docx(
        "<w:p><w:pPr><w:pStyle w:val='Caption'/></w:pPr><w:r><w:t>Table #: a</w:t></w:r></w:p>"
        f"<w:tbl><w:tr><w:tc>{_P}</w:tc></w:tr></w:tbl>"
    ),
    "lists": _docx(
        "<w:p><w:pPr><w:numPr><w:ilvl w:val='0'/><w:numId w:val='1'/></w:numPr></w:pPr><w:r><w:t>a</w:t></w:r></w:p>"
    ),
    "fields": _docx("<w:p><w:fldSimple w:instr='REF a'><w:r><w:t>#</w:t></w:r></w:fldSimple></w:p>"),
}


def _mineru(form: Mapping[str, object], *, per_page: int | None = None) -> Callable[[int], bytes]:
    """A `content_list.json` of one entry over and over."""

    def build(size: int) -> bytes:
        text = json.dumps(form)
        count = max(size // len(text), 1)
        entries = (
            text.replace("#", str(at)).replace('"@page"', str(at // (per_page or count))).replace('"@y"', str(at % 900))
            for at in range(count)
        )
        return f"[{','.join(entries)}]".encode()

    return build


_AT = {"page_idx": "@page", "bbox": [60, "@y", 290, 950]}
MINERU: Mapping[str, Callable[[int], bytes]] = {
    "texts": _mineru({"type": "text", "text": "We use BERT# for parsing.", **_AT}, per_page=20),
    "headings": _mineru({"type": "text", "text": "# Introduction", "text_level": 1, **_AT}, per_page=20),
    "captions": _mineru({"type": "text", "text": "Figure 1: a", **_AT}),
    "tables": _mineru({"type": "table", "table_body": "<table><tr><td>#</td></tr></table>", **_AT}, per_page=5),
    "tables on one page": _mineru(
        {"type": "table", "table_body": "<table><tr><td>#</td></tr></table>", "table_caption": ["Table #: a"], **_AT}
    ),
    "figures on one page": _mineru({"type": "image", "image_caption": ["Figure #: a"], **_AT}),
    "pictures alone": _mineru({"type": "image", **_AT}),
    "references": _mineru({"type": "ref_text", "text": "[#] A. Li. Title. 2019.", **_AT}, per_page=20),
    "equations": _mineru({"type": "equation", "text": "$$x = # \\\\tag{#}$$", **_AT}, per_page=20),
}
DOCUMENTS = {"pdf": PDFS, "docx": DOCX}

QUESTION_FILES: Mapping[str, Callable[[int], tuple[str, bytes]]] = {
    **{
        f"list of {name}": partial(lambda make, size: ("a.txt", make(size).encode()), make)
        for name, make in TEXTS.items()
    },
    "JSON lines": lambda size: ("a.jsonl", _whole('{"question": "What is #?"}\n')(size).encode()),
    "wrong JSON": lambda size: ("a.jsonl", repeated('{"question"\n')(size).encode()),
    "nested JSON": lambda size: ("a.jsonl", (b"[" * size)),
    "unknown keys": lambda size: (
        "a.jsonl",
        json.dumps({f"k{at}": 1 for at in range(size // 9)} | {"question": "a"}).encode(),
    ),
    "CSV": lambda size: ("a.csv", ("question\n" + _whole("What is #?\n")(size)).encode()),
    "open quotation marks": lambda size: ("a.csv", ("question,id\n" + repeated('"a\n')(size)).encode()),
    "quotation marks": lambda size: ("a.csv", ("question,id\n" + repeated('"a"b\n')(size)).encode()),
    "delimiters": lambda size: ("a.csv", ("question,id\n" + repeated(",")(size)).encode()),
}
