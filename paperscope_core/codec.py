"""Converts values to JSON text and back."""

from functools import cache
from typing import Any, TypeVar, cast

from pydantic import TypeAdapter

__all__ = ["from_json", "to_json"]


T = TypeVar("T")


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:  # noqa: ANN401
    return TypeAdapter(kind)


def to_json(value: object, *, indent: int | None = None) -> str:
    """A value of `paperscope.types` (or of a dataclass made of them) as JSON text."""
    adapter = _adapter(type(value))  # type: ignore[arg-type] # mypy takes a type for unhashable
    return adapter.dump_json(value, indent=indent).decode()


def from_json(kind: type[T], text: str | bytes) -> T:
    """Read back a value of `kind`; raises ValueError when the text does not describe one."""
    adapter = _adapter(kind)  # type: ignore[arg-type] # mypy takes a type for unhashable
    return cast("T", adapter.validate_json(text))
