"""What every page has that stands alone: it shows its own text and the pictures it names, runs and fetches nothing."""

import base64
import hashlib
from collections.abc import Iterable
from html import escape

from ingest.export.html_style import STYLE

__all__ = ["html_page"]


def html_page(title: str, body: Iterable[str], *, pictures: str) -> str:
    """A page of these parts, which are HTML already; the title is text.

    A Content-Security-Policy allows the page's own style and the pictures of these sources (`'self' file:`), nothing
    else.
    """
    digest = base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()
    policy = f"default-src 'none'; img-src {pictures}; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    return "\n".join(
        [
            "<!doctype html>",
            '<html><head><meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            '<meta name="referrer" content="no-referrer">',
            f"<title>{escape(title)}</title>",
            f"<style>{STYLE}</style></head>",
            "<body><main>",
            *body,
            "</main></body></html>\n",
        ]
    )
