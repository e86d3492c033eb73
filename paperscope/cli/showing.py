"""`paperscope show`: what was read from one paper."""

import json

import typer

from paperscope.cli.display import paper_view, stdout
from paperscope.codec import to_json
from paperscope.library import Library

__all__ = ["show_paper"]


def show_paper(library: Library, name: str, *, as_json: bool) -> None:
    """Print the paper that `name` means. Raises UnknownPaperError."""
    found = library.paper(name)
    images, shortfall = library.images(found.id), library.shortfall(found.id)
    if as_json:
        parts = {"images": json.loads(to_json(images)), "shortfall": json.loads(to_json(shortfall))}
        typer.echo(json.dumps(json.loads(to_json(found)) | parts, ensure_ascii=False, indent=2))
    else:
        degrees = library.most_connected(found.id, limit=12)
        stdout().print(paper_view(found, degrees, images=images, shortfall=shortfall))
