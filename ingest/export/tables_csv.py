"""A table as CSV that a spreadsheet may open."""

import re
import unicodedata
from dataclasses import replace

from paperscope.types import Table

__all__ = ["to_csv"]

# What makes a formula reach beyond its sheet: another program (DDE), another file, an address.
_REACHES_OUT = re.compile(
    r"[|!]|://|#\$|\b(?:HYPERLINK|WEBSERVICE|FILTERXML|IMPORT\w+|IMAGE|INDIRECT|RTD|DDE\w*|CALL|REGISTER\w*|EXEC)\s*\(",
    re.IGNORECASE,
)


def to_csv(table: Table) -> str:
    """RFC 4180 rows of the table's grid: a spanned cell's text in its first position, the others empty.

    Cells stand as printed ("-0.5", "+1.41", "@10"). Only one that a spreadsheet would run as a formula that reaches
    beyond the sheet gets an apostrophe before it, which makes it text.
    """
    cells = tuple(replace(cell, text=f"'{cell.text}") if _is_dangerous(cell.text) else cell for cell in table.cells)
    return replace(table, cells=cells).to_csv()


def _is_dangerous(text: str) -> bool:
    plain = unicodedata.normalize("NFKC", text).strip()
    return plain[:1] in ("=", "+", "-", "@") and _REACHES_OUT.search(plain) is not None
