"""A DoclingDocument as docling exports it, built node by node."""

from collections.abc import Sequence
from typing import Any

__all__ = ["DoclingJson", "cell", "prov"]


HEIGHT = 800.0


class DoclingJson:
    """Pages of 600×800 points; boxes are given from the top left corner and exported as docling does, from the bottom
    left, those of cells from the top left."""

    def __init__(self, *, pages: int = 1) -> None:
        size = {"width": 600.0, "height": HEIGHT}
        self.body: list[dict[str, str]] = []
        self.lists: dict[str, list[dict[str, Any]]] = {"texts": [], "tables": [], "pictures": [], "groups": []}
        self.pages = {str(number): {"size": size, "page_no": number} for number in range(1, pages + 1)}

    def text(self, label: str, text: str, *, y: float = 0, page: int = 1, **more: Any) -> str:
        node = {"label": label, "text": text, "orig": text, "prov": [prov(y, y + 10, page)]} | more
        return self.add("texts", node)

    def table(self, y: float, cells: Sequence[dict[str, Any]], **more: Any) -> str:
        data = {"table_cells": list(cells), "num_rows": 9, "num_cols": 9, "grid": []}
        return self.add("tables", {"label": "table", "prov": [prov(y, y + 50)], "data": data} | more)

    def picture(self, y: float, **more: Any) -> str:
        return self.add("pictures", {"label": "picture", "prov": [prov(y, y + 50)]} | more)

    def add(self, kind: str, node: dict[str, Any]) -> str:
        ref = f"#/{kind}/{len(self.lists[kind])}"
        node.setdefault("content_layer", "body")
        self.lists[kind].append({"self_ref": ref, "children": [], **node})
        self.body.append({"$ref": ref})
        return ref

    def export(self) -> dict[str, Any]:
        body = {"self_ref": "#/body", "children": self.body, "label": "unspecified", "name": "_root_"}
        return {"schema_name": "DoclingDocument", "version": "1.10.0", "body": body, "pages": self.pages, **self.lists}


def prov(top: float, bottom: float, page: int = 1) -> dict[str, Any]:
    box = {"l": 60.0, "t": HEIGHT - top, "r": 290.0, "b": HEIGHT - bottom, "coord_origin": "BOTTOMLEFT"}
    return {"page_no": page, "bbox": box, "charspan": [0, 1]}


def cell(row: int, column: int, text: str, *, right: int = 1, down: int = 1, **more: Any) -> dict[str, Any]:
    box = {"l": 60.0 + 50 * column, "t": 100.0 + 12 * row, "r": 100.0 + 50 * column, "b": 110.0 + 12 * row}
    return {
        "bbox": {**box, "coord_origin": "TOPLEFT"},
        "text": text,
        "start_row_offset_idx": row,
        "end_row_offset_idx": row + down,
        "start_col_offset_idx": column,
        "end_col_offset_idx": column + right,
        "row_span": down,
        "col_span": right,
        **more,
    }
