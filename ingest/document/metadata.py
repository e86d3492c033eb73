"""What the metadata of a file state about its publication."""

import re
from collections.abc import Mapping

from paperscope_core.publication import arxiv_in, doi_in, is_placeholder, year_in
from paperscope_core.types import Publication

__all__ = ["publication_in"]

_XMP_VALUE = (
    r"\b%s(?:(?:\s[^<>]{0,60})?>\s*(?:<rdf:(?:Bag|Seq|Alt)>\s*<rdf:li[^<>]{0,60}>\s*)?|\s*=\s*[\"'])([^<>\"']{1,300})"
)
_XMP_DOI, _XMP_VENUE, _XMP_DATE, _XMP_ID = (
    re.compile(_XMP_VALUE % name)
    for name in (
        r"(?:prism:doi|pdfx:doi|crossmark:DOI)",
        r"prism:publicationName",
        r"prism:(?:coverDate|publicationDate|coverDisplayDate)",
        r"dc:identifier",
    )
)


def publication_in(metadata: Mapping[str, str]) -> Publication:
    """Returns what the metadata of a PDF file state: its XMP (PRISM, as publishers write it), the DOI and the arXiv id
    of its properties, and a DOI in its subject.

    A template's placeholder in place of the DOI means that its venue is none, either.

    Args:
        metadata: The properties of the file by their names in lower case, and its XMP as `xmp`.
    """
    xmp = metadata.get("xmp", "")
    stated = [_first(xmp, _XMP_DOI), metadata.get("doi", ""), _first(xmp, _XMP_ID), metadata.get("subject", "")]
    sound = not any(map(is_placeholder, stated))
    return Publication(
        year=year_in(_first(xmp, _XMP_DATE)) if sound else None,
        venue=" ".join(_first(xmp, _XMP_VENUE).split()) if sound else "",
        doi=next(filter(None, map(doi_in, stated)), "") if sound else "",
        arxiv=arxiv_in(metadata.get("arxivid", "")),
    )


def _first(xmp: str, pattern: re.Pattern[str]) -> str:
    found = pattern.search(xmp)
    return found[1].strip() if found else ""
