"""Checks that the links in a model's texts are those of the papers or of the question."""

import re
import unicodedata
from collections.abc import Iterable, Sequence

from paperscope_core.cancellation import check_cancelled
from paperscope_core.types import Finding, Place

__all__ = ["check_links"]

# What readers and programs take for a link: an address with its scheme or "www.", the address of a mail, and the target
# of a link in Markdown.
_LINK = re.compile(
    r"""(?ix)
    (?<![a-z0-9_.+-]) (?: [a-z][a-z0-9+.-]{0,20}:// | www\. | (?:mailto|javascript): ) [^\s<>"'`|\\]++
    | (?<![a-z0-9_.+-]) [\w.+-]{1,64}+ @ [\w-]++ (?:\.[\w-]++)++
    | (?<=\]\() [^\s()<>"']++
    """
)
_PREFIX = re.compile(r"(?i)^(?:https?://(?:www\.)?|www\.|mailto:)")
_END = ".,;:!?*_~…»”’)]}。、"
# A text with more links is not checked to its end; a finding says so.
_MOST_LINKS = 50
_LONGEST_LINK = 500


def check_links(texts: Iterable[tuple[str, Place | None]], printed: Sequence[str]) -> list[Finding]:
    """Return a finding for each link of a model's texts that no printed text contains.

    Capitals, the scheme of a web address, and the spaces at which a page breaks one are ignored.

    Args:
        texts: The texts, each with its place on paper if it is about one.
        printed: What the papers and the question say.
    """
    links = {
        link: place for text, place in texts for found in _LINK.findall(_plain(text)) if (link := _without_end(found))
    }
    known = [_plain(text) for text in printed] if links else []
    findings = []
    for link, place in list(links.items())[:_MOST_LINKS]:
        check_cancelled()
        pattern = _pattern(link)
        if pattern is None or not any(map(pattern.search, known)):
            message = f"the link {link!r} is in no source of the answer: the model made it up"
            findings.append(Finding(kind="link", subject=link, place=place, message=message))
    if len(links) > _MOST_LINKS:
        findings.append(Finding(kind="unchecked", message=f"only the first {_MOST_LINKS} links were checked"))
    return findings


def _plain(text: str) -> str:
    return unicodedata.normalize("NFKC", text)


def _without_end(link: str) -> str:
    """Return a link without the punctuation of its sentence; a bracket that it opens stays closed."""
    end = len(link)
    while end and link[end - 1] in _END:
        if link[end - 1] == ")" and link.count("(", 0, end) >= link.count(")", 0, end):
            break
        end -= 1
    return link[:end]


def _pattern(link: str) -> re.Pattern[str] | None:
    """Return the pattern of a link in a printed text: as a whole, or as the beginning of a longer one of the same host;
    None if it is too long to be printed."""
    address = _PREFIX.sub("", link).rstrip("/")
    if not address or len(address) > _LONGEST_LINK:
        return None
    letters = r"\s*".join(map(re.escape, address))
    end = r"(?![\w-]|[.@]\w)" if "/" not in address else ""
    return re.compile(rf"(?i)(?<![\w.@-])(?:www\.)?{letters}{end}")
