"""Hostile files: small, and huge once they are unpacked, expanded, rendered or followed."""

import gzip
import io
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Sequence
from pathlib import Path

__all__ = [
    "deep_pages",
    "docx",
    "injection_files",
    "laughs",
    "many_pages",
    "many_to_one",
    "oversized_files",
    "packed",
    "pdf",
    "pdf_page",
    "plain_bomb",
    "png",
    "tar_of_links",
]


_BLOCK = 1_000_000
_TYPES = '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>'
_NAMES = " ".join(
    f'xmlns:{prefix}="http://schemas.openxmlformats.org/{path}"'
    for prefix, path in (
        ("w", "wordprocessingml/2006/main"),
        ("a", "drawingml/2006/main"),
        ("r", "officeDocument/2006/relationships"),
    )
)
_WORD = "word/document.xml"


def packed(text: bytes, times: int) -> bytes:
    """A zlib stream of so many million bytes of a repeated text."""
    packer = zlib.compressobj(9)
    block = text * (_BLOCK // len(text))
    first, again = (packer.compress(block) + packer.flush(zlib.Z_FULL_FLUSH) for _ in range(2))
    return first + again * (times - 1) + packer.flush()


def docx(body: str, *, before: str = "", more: Sequence[tuple[str, str | bytes]] = ()) -> bytes:
    """A Word document with this body; `before` comes before its root element, `more` are further parts."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", _TYPES)
        text = f'<?xml version="1.0"?>{before}<w:document {_NAMES}><w:body>{body}</w:body></w:document>'
        archive.writestr(_WORD, text)
        for name, data in more:
            archive.writestr(name, data)
    return out.getvalue()


def _entry(packed_part: bytes, *, size: int, copies: int) -> bytes:
    """An archive whose directory lists one part so many times."""
    name, raw = _WORD.encode(), packed_part
    local = struct.pack("<4s5H3L2H", b"PK\3\4", 20, 0, 8, 0, 33, 0, len(raw), size, len(name), 0) + name + raw
    listed = struct.pack("<4s6H3L5H2L", b"PK\1\2", 20, 20, 0, 8, 0, 33, 0, len(raw), size, len(name), 0, 0, 0, 0, 0, 0)
    listed = (listed + name) * copies
    return local + listed + struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, copies, copies, len(listed), len(local), 0)


def plain_bomb() -> bytes:
    """A DOCX file whose text unpacks to 2 GB."""
    # Without the two bytes that begin a zlib stream.
    return _entry(packed(b" " * 1000, 2000)[2:], size=2000 * _BLOCK, copies=1)


def many_to_one() -> bytes:
    """A DOCX file of 4,000 parts that are the same one megabyte."""
    return _entry(packed(b" " * 1000, 1)[2:], size=_BLOCK, copies=4000)


def laughs(root: str) -> str:
    """A document type of ten entities, each ten times the one before: a billion of the first."""
    made = "".join(f'<!ENTITY l{level} "{f"&l{level - 1};" * 10}">' for level in range(1, 10))
    return f'<!DOCTYPE {root} [<!ENTITY l0 "ha">{made}]>'


def png(width: int, height: int) -> bytes:
    """A PNG whose header claims this size, with its first lines only."""
    head = struct.pack(">IIBBBBB", width, height, 1, 0, 0, 0, 0)
    parts = ((b"IHDR", head), (b"IDAT", packed(b"\0" * 1000, 4)), (b"IEND", b""))
    chunks = [
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in parts
    ]
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


def pdf(objects: Sequence[bytes]) -> bytes:
    """A PDF of these objects; the first one is its root."""
    out, starts = bytearray(b"%PDF-1.7\n"), []
    for number, text in enumerate(objects, start=1):
        starts.append(len(out))
        out += b"%d 0 obj\n%b\nendobj\n" % (number, text)
    listed = b"".join(b"%010d 00000 n \n" % start for start in starts)
    end = b"xref\n0 %d\n0000000000 65535 f \n%btrailer\n<</Root 1 0 R/Size %d>>\nstartxref\n%d\n%%%%EOF\n"
    return bytes(out) + end % (len(objects) + 1, listed, len(objects) + 1, len(out))


def pdf_page(content: bytes, *, image: bytes = b"", size: tuple[int, int] = (0, 0)) -> bytes:
    """A page with this content, compressed twice, and an image of this size (pixels) as /I, compressed once."""
    resources = b"<</Font<</F 5 0 R>>/XObject<</I 6 0 R>>>>"
    page = b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents 4 0 R/Resources %b>>" % resources
    about = b"/Type/XObject/Subtype/Image/Width %d/Height %d/BitsPerComponent 1/ColorSpace/DeviceGray" % size
    return pdf(
        [
            b"<</Type/Catalog/Pages 2 0 R>>",
            b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
            page,
            _stream(zlib.compress(content, 9), b"/Filter[/FlateDecode/FlateDecode]"),
            b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
            _stream(image, b"/Filter/FlateDecode" + about),
        ]
    )


def _stream(data: bytes, about: bytes) -> bytes:
    return b"<<%b/Length %d>>\nstream\n%b\nendstream" % (about, len(data), data)


def many_pages(count: int) -> bytes:
    """A PDF of so many empty pages."""
    kids = b" ".join(b"%d 0 R" % (number + 3) for number in range(count))
    pages = b"<</Type/Pages/Kids[%b]/Count %d/MediaBox[0 0 9 9]>>" % (kids, count)
    return pdf([b"<</Type/Catalog/Pages 2 0 R>>", pages, *[b"<</Type/Page/Parent 2 0 R>>"] * count])


def deep_pages(depth: int) -> bytes:
    """A PDF whose only page is nested in so many page lists."""
    lists = [b"<</Type/Pages/Kids[%d 0 R]/Count 1/Parent %d 0 R>>" % (at + 1, at - 1) for at in range(2, depth + 2)]
    page = b"<</Type/Page/Parent %d 0 R/MediaBox[0 0 9 9]>>" % (depth + 1)
    return pdf([b"<</Type/Catalog/Pages 2 0 R>>", *lists, page])


def tar_of_links(target: str) -> bytes:
    """A LaTeX archive with a file above its folder and a link to `target`."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as archive:
        above, link = tarfile.TarInfo("../../above.tex"), tarfile.TarInfo("main.tex")
        link.type, link.linkname = tarfile.SYMTYPE, target
        archive.addfile(above)
        archive.addfile(link)
    return out.getvalue()


_DRAWING = '<w:p><w:r><w:t>A text.</w:t><w:drawing><a:blip r:embed="r1"/></w:drawing></w:r></w:p>'
_EXTERNAL = '<w:p><w:r><w:t>A text.</w:t><w:drawing><a:blip r:link="r1"/></w:drawing></w:r></w:p>'
_WORDS = b"BT /F 9 Tf 1 1 Td (a) Tj ET "
_DRAWN = b"q 500 0 0 700 50 50 cm /I Do Q "


def _relations(target: str, mode: str = "Internal") -> tuple[str, str]:
    one = f'<Relationship Id="r1" Target="{target}" TargetMode="{mode}" Type="image"/>'
    return "word/_rels/document.xml.rels", f"<Relationships>{one}</Relationships>"


def _jats(words: str, before: str = "") -> bytes:
    return f"{before}<article><body><p>A text {words} that is read.</p></body></article>".encode()


def _tei(words: str, before: str = "") -> bytes:
    return f"{before}<TEI><text><body><p>A text {words} that is read.</p></body></text></TEI>".encode()


def _word(words: str, before: str = "") -> bytes:
    return docx(f"<w:p><w:r><w:t>A text {words} that is read.</w:t></w:r></w:p>", before=before)


def _page(words: str, before: str = "") -> bytes:
    return f"{before}<html><body><p>A text {words} that is read.</p></body></html>".encode()


def oversized_files() -> dict[str, bytes]:
    """Files that would need too much time or memory, by name."""
    huge = png(60_000, 60_000)
    full = packed(b"\0" * 1000, 450)
    return {
        "plain.docx": plain_bomb(),
        "many-to-one.docx": many_to_one(),
        "tags.docx": docx("<p/>" * 4_000_000),
        "words.docx": docx(f"<w:p><w:r><w:t>{'a b ' * 4_000_000}</w:t></w:r></w:p>"),
        "deep.docx": docx("<w:p>" * 200_000 + "x"),
        "deep.html": b"<html><body>" + b"<div>" * 200_000 + b"x",
        "deep.xml": b"<article><body>" + b"<sec>" * 200_000 + b"<p>x",
        "brackets.md": b"![a" * 300_000,
        "words.pdf": pdf_page(packed(_WORDS, 2000)),
        "image.pdf": pdf_page(packed(_DRAWN, 10), image=full, size=(60_000, 60_000)),
        "pages.pdf": many_pages(100_000),
        "loop.pdf": pdf([b"<</Type/Catalog/Pages 2 0 R>>", b"<</Type/Pages/Kids[2 0 R]/Count 9>>"]),
        "huge.png": huge,
        "latex.tar.gz": tar_of_links("/etc/passwd"),
        "latex.gz": gzip.compress(b"\\documentclass{a}" + b" " * 500_000_000, 1),
        "macros.tex": b"\\newcommand{\\a}[1]{#1#1#1#1}" + b"\\a{" * 25 + b"x" * 100 + b"}" * 25,
        "part.xlsx": plain_bomb().replace(_WORD.encode(), b"xl/workbook.xml  "),
    }


def injection_files(address: str, secret: Path) -> dict[str, bytes]:
    """Files that are valid papers if the injections in them are ignored, by name."""
    ends = {"file": secret.as_uri(), "address": f"{address}/entity"}
    made: dict[str, bytes] = {}
    for kind, suffix, write in (("article", "xml", _jats), ("TEI", "tei", _tei), ("html", "html", _page)):
        made[f"laughs.{suffix}"] = write("&l9;", laughs(kind))
        for name, end in ends.items():
            before = f'<!DOCTYPE {kind} [<!ENTITY x SYSTEM "{end}"><!ENTITY % y SYSTEM "{end}"> %y;]>'
            made[f"{name}.{suffix}"] = write("&x;", before)
    made["laughs.docx"] = _word("&l9;", laughs("w:document"))
    made["file.docx"] = _word("&x;", f'<!DOCTYPE w:document [<!ENTITY x SYSTEM "{ends["file"]}">]>')
    made["external.docx"] = docx(_EXTERNAL, more=[_relations(f"{address}/picture", "External")])
    include = f'<xi:include xmlns:xi="http://www.w3.org/2001/XInclude" href="{ends["file"]}" parse="text"/>'
    made["include.xml"] = _jats(include)
    named = ("word/media/i.png", png(60_000, 60_000))
    made["huge-picture.docx"] = docx(_DRAWING, more=[_relations("media/i.png"), named])
    made["above.docx"] = docx(_DRAWING, more=[_relations(f"../../../../../..{secret}")])
    made["pictures.md"] = f"A text.\n\n![a]({ends['file']})\n\n![b]({address}/b)\n\n![c](../../secret.txt)\n".encode()
    made["input.tex"] = f"A text.\n\n\\input{{{secret}}}\n\\includegraphics{{{address}/tex}}\n".encode()
    made["deep-pages.pdf"] = deep_pages(1_000)
    return made
