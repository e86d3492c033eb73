"""A paper as JSON under a schema with a version (docs/paper.schema.json)."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from pydantic import TypeAdapter

from paperscope.codec import from_json, to_json
from paperscope.types import Paper

__all__ = ["PaperFile", "json_schema", "read_paper_json", "to_paper_json"]


@dataclass(frozen=True, kw_only=True, slots=True)
class PaperFile:
    """The contents of `paper.json`: the paper, and where its pictures lie beside the file, by content hash."""

    schema: Literal["paperscope-paper/1"] = "paperscope-paper/1"
    paper: Paper
    pictures: Mapping[str, str] = field(default_factory=dict)


def to_paper_json(paper: Paper, *, pictures: Mapping[str, str], indent: int | None = None) -> str:
    """The paper as JSON; `pictures` are the paths of its crops by content hash. `read_paper_json` reads it back."""
    return to_json(PaperFile(paper=paper, pictures=pictures), indent=indent)


def read_paper_json(text: str | bytes) -> Paper:
    """Read back an equal paper; raises ValueError for what is no such file or follows another version."""
    return from_json(PaperFile, text).paper


def json_schema() -> str:
    """The JSON Schema of `paper.json`, made from the types; `scripts/schema` writes it into docs."""
    schema = TypeAdapter(PaperFile).json_schema(mode="serialization")
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "A paper as Paperscope writes it"}
    return json.dumps({**schema, **head}, indent=2, ensure_ascii=False) + "\n"
