"""All gold of a data folder."""

from collections.abc import Callable, Sequence
from itertools import chain
from pathlib import Path

from evaluation.gold.jose import jose_items
from evaluation.gold.latex import latex_items
from evaluation.gold.olmocr import olmocr_items
from evaluation.gold.outlines import outline_items
from evaluation.gold.paper_folders import folder_items
from evaluation.gold.values import GoldItem
from ingest.document.pages import OutlineEntry
from paperscope_core.errors import GoldFileError

__all__ = ["load_items"]


def load_items(
    data: Path, *, read_outline: Callable[[Path], Sequence[OutlineEntry]]
) -> tuple[list[GoldItem], list[GoldFileError]]:
    """The papers with gold below `data`, and what of the gold can't be used.

    Raises GoldFileError where there is nothing to score.
    """
    found = list(chain(folder_items(data), latex_items(data), jose_items(data), olmocr_items(data)))
    items = [item for item in found if isinstance(item, GoldItem)]
    known = {item.file for item in items if item.gold.headings is not None}
    items += outline_items(data, known=known, read_outline=read_outline)
    if not found and not items:
        raise GoldFileError(
            f"{data}: no gold here; name a folder with papers/NAME/paper.pdf and gold_tables.json beside it"
        )
    return items, [item for item in found if isinstance(item, GoldFileError)]
