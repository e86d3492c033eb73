"""Converts values to JSON text and back without loss."""

from functools import cache
from typing import Any, TypeVar, cast

from pydantic import TypeAdapter

__all__ = ["from_json", "to_json"]

T = TypeVar("T")


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:  # noqa: ANN401
    return TypeAdapter(kind)


def to_json(value: object, *, indent: int | None = None) -> str:
    """Convert a value of `paperscope_core.types`, or a dataclass of such values, to JSON text."""
    adapter = _adapter(type(value))  # type: ignore[arg-type] # mypy considers a type unhashable
    return adapter.dump_json(value, indent=indent).decode()


def from_json(kind: type[T], text: str | bytes) -> T:
    """Read a value that `to_json` wrote.

    Raises:
        ValueError: The text describes no value of `kind`.
    """
    adapter = _adapter(kind)  # type: ignore[arg-type] # mypy considers a type unhashable
    return cast("T", adapter.validate_json(text))
