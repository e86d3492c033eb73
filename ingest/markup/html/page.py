"""What of a page is the paper, what is navigation, and what nobody sees."""

import re

from ingest.markup.nodes import Node

__all__ = ["BLOCKS", "is_block", "is_furniture", "is_hidden", "main_part"]

BLOCKS = frozenset(
    "address article aside blockquote body center dd details div dl dt fieldset figcaption figure footer form h1 h2 h3 "
    "h4 h5 h6 header hgroup hr html legend li main menu nav ol p pre section summary table tbody tfoot thead tr td th "
    "ul caption dir img".split()
)
_UNSEEN = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
_HIDDEN_CLASSES = frozenset(
    "headerlink anchor-link permalink mw-editsection noprint visually-hidden sr-only screen-reader-text skip-link "
    "skiplink ltx_page_navbar ltx_TOC toc navbar breadcrumb breadcrumbs cookie-banner ltx_ERROR ltx_rdf "
    "ltx_note_type ltx_tag_note".split()
)
_HIDDEN_ROLES = frozenset("navigation search menu menubar toolbar dialog alert".split())
_FURNITURE_CLASSES = frozenset(
    "ltx_page_footer ltx_page_header ltx_page_logo ltx_pagination site-header site-footer sidebar".split()
)
_FURNITURE_ROLES = frozenset("banner contentinfo complementary".split())
_MOST_OF_IT = 0.5


def is_hidden(node: Node) -> bool:
    """Whether a reader of the page does not see an element, or sees it only to move about."""
    return (
        node.tag == "nav"
        or "hidden" in node.attributes
        or node.get("aria-hidden").lower() == "true"
        or node.get("role") in _HIDDEN_ROLES
        or not node.classes.isdisjoint(_HIDDEN_CLASSES)
        or bool(node.get("style") and _UNSEEN.search(node.get("style")))
    )


def is_furniture(node: Node) -> bool:
    """Whether an element is the page's frame: its header without a main heading, its footer, what stands beside."""
    if node.get("role").startswith("doc-"):
        return False
    if node.tag == "header":
        return next(node.all("h1", "h2", "h3"), None) is None
    return (
        node.tag in ("footer", "aside")
        or node.get("role") in _FURNITURE_ROLES
        or not node.classes.isdisjoint(_FURNITURE_CLASSES)
    )


def is_block(node: Node) -> bool:
    """Whether an element stands on lines of its own."""
    return node.tag in BLOCKS or (node.tag == "math" and node.get("display") == "block")


def main_part(root: Node) -> Node:
    """The element that holds the paper: the only `main` or `article` if it has most of the text, else all."""
    body = next(root.all("body"), root)
    whole = len(body.text())
    for tag in ("main", "article"):
        found = list(body.where(lambda node, tag=tag: node.tag == tag))  # type: ignore[misc]
        if len(found) == 1 and len(found[0].text()) > _MOST_OF_IT * whole:
            return found[0]
    return body
