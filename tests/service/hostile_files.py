"""Files that strangers may upload to do harm, by name."""

from pathlib import Path

from tests.service import bombs

__all__ = ["harmless", "too_much"]

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
    return bombs.docx(f"<w:p><w:r><w:t>A text {words} that is read.</w:t></w:r></w:p>", before=before)


def _page(words: str, before: str = "") -> bytes:
    return f"{before}<html><body><p>A text {words} that is read.</p></body></html>".encode()


def too_much() -> dict[str, bytes]:
    """Files that would take too much."""
    huge = bombs.picture(60_000, 60_000)
    full = bombs.packed(b"\0" * 1000, 450)
    return {
        "plain.docx": bombs.plain_bomb(),
        "many-to-one.docx": bombs.many_to_one(),
        "tags.docx": bombs.docx("<p/>" * 4_000_000),
        "words.docx": bombs.docx(f"<w:p><w:r><w:t>{'a b ' * 4_000_000}</w:t></w:r></w:p>"),
        "deep.docx": bombs.docx("<w:p>" * 200_000 + "x"),
        "deep.html": b"<html><body>" + b"<div>" * 200_000 + b"x",
        "deep.xml": b"<article><body>" + b"<sec>" * 200_000 + b"<p>x",
        "brackets.md": b"![a" * 300_000,
        "words.pdf": bombs.pdf_page(bombs.packed(_WORDS, 2000)),
        "image.pdf": bombs.pdf_page(bombs.packed(_DRAWN, 10), image=full, size=(60_000, 60_000)),
        "pages.pdf": bombs.many_pages(100_000),
        "loop.pdf": bombs.pdf([b"<</Type/Catalog/Pages 2 0 R>>", b"<</Type/Pages/Kids[2 0 R]/Count 9>>"]),
        "huge.png": huge,
        "latex.tar.gz": bombs.tar_of_links("/etc/passwd"),
    }


def harmless(address: str, secret: Path) -> dict[str, bytes]:
    """Files that are papers, if what is hostile in them is left alone."""
    ends = {"file": secret.as_uri(), "address": f"{address}/entity"}
    made: dict[str, bytes] = {}
    for kind, suffix, write in (("article", "xml", _jats), ("TEI", "tei", _tei), ("html", "html", _page)):
        made[f"laughs.{suffix}"] = write("&l9;", bombs.laughs(kind))
        for name, end in ends.items():
            before = f'<!DOCTYPE {kind} [<!ENTITY x SYSTEM "{end}"><!ENTITY % y SYSTEM "{end}"> %y;]>'
            made[f"{name}.{suffix}"] = write("&x;", before)
    made["laughs.docx"] = _word("&l9;", bombs.laughs("w:document"))
    made["file.docx"] = _word("&x;", f'<!DOCTYPE w:document [<!ENTITY x SYSTEM "{ends["file"]}">]>')
    made["external.docx"] = bombs.docx(_EXTERNAL, more=[_relations(f"{address}/picture", "External")])
    include = f'<xi:include xmlns:xi="http://www.w3.org/2001/XInclude" href="{ends["file"]}" parse="text"/>'
    made["include.xml"] = _jats(include)
    named = ("word/media/i.png", bombs.picture(60_000, 60_000))
    made["huge-picture.docx"] = bombs.docx(_DRAWING, more=[_relations("media/i.png"), named])
    made["above.docx"] = bombs.docx(_DRAWING, more=[_relations(f"../../../../../..{secret}")])
    made["pictures.md"] = f"A text.\n\n![a]({ends['file']})\n\n![b]({address}/b)\n\n![c](../../secret.txt)\n".encode()
    made["input.tex"] = f"A text.\n\n\\input{{{secret}}}\n\\includegraphics{{{address}/tex}}\n".encode()
    made["deep-pages.pdf"] = bombs.deep_pages(1_000)
    return made
