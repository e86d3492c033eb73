"""A paper as JSON, and the removal of control characters."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import Literal, TypeVar, cast

from pydantic import TypeAdapter

from paperscope_core.codec import from_json, to_json
from paperscope_core.text.escaping import without_control_characters
from paperscope_core.types import Paper, Place

__all__ = ["PaperFile", "json_schema", "read_paper_json", "remove_control_characters", "to_paper_json"]

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True, slots=True)
class PaperFile:
    """The contents of `paper.json`: the paper, and the paths of its pictures by content hash."""

    schema: Literal["paperscope-paper/1"] = "paperscope-paper/1"
    paper: Paper
    pictures: Mapping[str, str] = field(default_factory=dict)


def to_paper_json(paper: Paper, *, pictures: Mapping[str, str], indent: int | None = None) -> str:
    """The paper as JSON; `pictures` are the paths of its crops by content hash. `read_paper_json` reads it back."""
    return to_json(PaperFile(paper=paper, pictures=pictures), indent=indent)


def read_paper_json(text: str | bytes) -> Paper:
    """Reads a paper back. Raises ValueError for another kind of file or another version."""
    return from_json(PaperFile, text).paper


def json_schema() -> str:
    """Returns the JSON Schema of `paper.json`, generated from the types; `scripts/schema` writes it into docs."""
    schema = TypeAdapter(PaperFile).json_schema(mode="serialization")
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "A paper as Paperscope writes it"}
    return json.dumps({**schema, **head}, indent=2, ensure_ascii=False) + "\n"


def remove_control_characters(value: T) -> T:
    """Returns the value (a text, a tuple, a dataclass made of them) with control characters left out, at any depth.

    Half a surrogate pair, which no encoding can write, becomes the replacement character.
    """
    return cast("T", _cleaned(value))


def _cleaned(value: object) -> object:
    if isinstance(value, str):
        return without_control_characters(value)
    if type(value) is tuple:
        return tuple(_cleaned(item) for item in value)
    if not is_dataclass(value) or isinstance(value, type | Place):
        return value
    pairs = ((field.name, getattr(value, field.name)) for field in fields(value))
    changed = {name: new for name, old in pairs if (new := _cleaned(old)) != old}
    return replace(value, **changed) if changed else value
