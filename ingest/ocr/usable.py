"""When a page's own text is no use and its picture is read instead."""

import unicodedata

from ingest.pdf.backend import PageContent

__all__ = ["needs_recognition"]

_FULL_PAGE = 0.85
_FEW_CHARS = 60
_MARGIN = 0.1
_GARBAGE = 0.3


def needs_recognition(page: PageContent) -> bool:
    """A page with ink but no text; one that a single picture covers (a scan) and that has little text but in its upper
    and lower margin (a stamp); one many of whose characters are of no script. A blank page needs none.
    """
    if not page.chars:
        return bool(page.images or page.drawings)
    area = page.width * page.height
    scan = any((box.x1 - box.x0) * (box.y1 - box.y0) >= _FULL_PAGE * area for box in page.images)
    inside = [char for char in page.chars if _MARGIN < char.baseline / page.height < 1 - _MARGIN]
    if scan and len(inside) < _FEW_CHARS:
        return True
    odd = sum(_is_odd(letter) for char in page.chars for letter in char.text)
    return odd > _GARBAGE * len(page.chars)


def _is_odd(letter: str) -> bool:
    """No character of any script: unassigned, private or a sign that stands for one that is unknown."""
    return letter == "\ufffd" or unicodedata.category(letter) in ("Co", "Cn", "Cc", "Cs")
