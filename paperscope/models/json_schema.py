"""JSON schemas that a server can enforce while the model writes ("strict mode")."""

from typing import TypeVar

from pydantic import TypeAdapter

__all__ = ["strict_schema"]

T = TypeVar("T")

ANNOTATIONS = ("default", "title", "examples", "discriminator")


def strict_schema(adapter: "TypeAdapter[T]") -> dict[str, object]:
    """The type's schema in the form that strict mode takes.

    Every object names all its properties as required and allows no others; `oneOf` becomes `anyOf`; a `$ref` stands
    alone. Source: OpenAI's guide "Structured outputs", section "Supported schemas". Raises TypeError for a type that
    has no such form: one that isn't an object, or a mapping with free keys.
    """
    schema = adapter.json_schema()
    root = _strict(_at_root(schema))
    if root.get("type") != "object":
        raise TypeError(
            f"a model's reply must be a JSON object, not {schema.get('title', schema)!r}: wrap it in a model"
        )
    return root


def _at_root(schema: dict[str, object]) -> dict[str, object]:
    """The schema with its root spelled out: Pydantic writes that of a recursive type as a `$ref`."""
    reference, definitions = schema.get("$ref"), schema.get("$defs")
    if not isinstance(reference, str) or not isinstance(definitions, dict):
        return schema
    return {**definitions[reference.removeprefix("#/$defs/")], "$defs": definitions}


def _strict(node: dict[str, object]) -> dict[str, object]:
    if "$ref" in node:
        return {key: _walked(key, value) for key, value in node.items() if key in ("$ref", "$defs")}
    kept = {key: _walked(key, value) for key, value in node.items() if key not in ANNOTATIONS}
    if "oneOf" in kept:
        kept["anyOf"] = kept.pop("oneOf")
    if kept.get("type") == "object":
        properties = kept.get("properties")
        if not isinstance(properties, dict) or isinstance(node.get("additionalProperties"), dict):
            raise TypeError(f"strict mode knows no mapping with free keys: {node.get('title', node)!r}")
        kept |= {"additionalProperties": False, "required": list(properties)}
    return kept


def _walked(key: str, value: object) -> object:
    # Under these two, keys are names of the user's, not words of JSON schema.
    if key in ("properties", "$defs") and isinstance(value, dict):
        return {name: _strict(node) for name, node in value.items()}
    if key in ("enum", "const", "required"):
        return value
    if isinstance(value, dict):
        return _strict(value)
    if isinstance(value, list):
        return [_strict(item) if isinstance(item, dict) else item for item in value]
    return value
