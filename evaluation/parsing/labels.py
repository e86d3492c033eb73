"""What a label says: "Table S1" and "TABLE S1." are number S1."""

import re

__all__ = ["number_of"]

_NUMBER = re.compile(r"^\D*?\s*([A-Z]{0,2}\.?\d+(?:[.-]\d+)*[a-z]?|[IVXLC]+)\W*$")


def number_of(label: str) -> str:
    """The number of a float's or an equation's label, "" if it has none."""
    last = label.strip().split()[-1:] if label.strip() else []
    match = _NUMBER.match(last[0].strip("().:")) if last else None
    return match[1] if match else ""
