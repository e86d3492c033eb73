"""The wording of headings: numbers, and standard titles."""

import re

__all__ = ["FIXED_TITLE", "NUMBER", "is_references_title", "split_number"]

NUMBER = re.compile(
    r"(?:(?i:appendix|section|chapter)\s+)?(?P<number>\d{1,2}(?:\.\d{1,2}){0,3}|[A-Z](?:\.\d{1,2}){1,3}|[A-Z]|[IVX]{1,5})"
    r"(?P<dot>[.:)]?)\s+(?=[^\W\d_]|\d+[A-Z]|[“\"'])"
)
FIXED_TITLE = re.compile(
    r"(?:abstract|references|bibliography|works cited|acknowledge?ments?|appendi(?:x|ces)|conclusions?|limitations|"
    r"introduction|discussion|results|methods|(?:broader )?impact(?: statement)?|ethics statement|"
    r"supplementary materials?|declarations?|funding|data availability)[.:]?",
    re.IGNORECASE,
)
_REFERENCES = re.compile(
    r"(?:\S+\s+)?(?:references(?: and notes| cited)?|notes and references|bibliography|works cited|"
    r"literature cited)[.:]?",
    re.IGNORECASE,
)


def split_number(text: str) -> tuple[str, str]:
    """`4.2 Results` -> (`4.2`, `Results`); ("", text) if the heading has no number."""
    match = NUMBER.match(text)
    if not match:
        return "", text.strip()
    return match["number"], text[match.end() :].strip()


def is_references_title(text: str) -> bool:
    """Whether a heading is the title of a bibliography."""
    return bool(_REFERENCES.fullmatch(split_number(text)[1]))
