"""SQL functions that each engine has under another name.

JSON is stored as text; a path in it is written like `$.usage.cost`.
"""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Boolean, Integer, Text
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement

__all__ = ["is_json", "json_items", "json_length", "json_text", "position_in", "set_next_number"]


class json_items(FunctionElement[str]):  # noqa: N801
    """The texts in a JSON list, as a table with the column `value`."""

    name = "json_items"
    inherit_cache = True


class json_text(FunctionElement[str]):  # noqa: N801
    """The text or number at a path of a JSON object; NULL if it has none."""

    name = "json_text"
    inherit_cache = True
    type = Text()


class json_length(FunctionElement[int]):  # noqa: N801
    """The length of the list at a path of a JSON object; NULL if it has none."""

    name = "json_length"
    inherit_cache = True
    type = Integer()


class is_json(FunctionElement[bool]):  # noqa: N801
    """Whether a text is JSON."""

    name = "is_json"
    inherit_cache = True
    type = Boolean()


class position_in(FunctionElement[int]):  # noqa: N801
    """The position of the second text in the first, from 1; 0 if it does not occur."""

    name = "position_in"
    inherit_cache = True
    type = Integer()


class set_next_number(FunctionElement[int]):  # noqa: N801
    """Lets the column `number` of the table named by the first argument go on after the second, which may be NULL.
    SQLite does so by itself."""

    name = "set_next_number"
    inherit_cache = True
    type = Integer()


_SQLITE: Mapping[type[FunctionElement[Any]], str] = {
    json_items: "json_each({0})",
    json_text: "json_extract({0}, {1})",
    json_length: "json_array_length({0}, {1})",
    is_json: "json_valid({0})",
    position_in: "instr({0}, {1})",
    set_next_number: "{1}",
}
_AT_PATH = "string_to_array(substr({1}, 3), '.')"
_POSTGRESQL: Mapping[type[FunctionElement[Any]], str] = {
    json_items: "json_array_elements_text({0})",
    json_text: f"(CAST({{0}} AS json) #>> {_AT_PATH})",
    json_length: f"json_array_length(CAST({{0}} AS json) #> {_AT_PATH})",
    is_json: "({0} IS JSON)",
    position_in: "strpos({0}, {1})",
    set_next_number: "setval(pg_get_serial_sequence({0}, 'number'), {1})",
}


def _register(function: type[FunctionElement[Any]], template: str, dialect: str) -> None:
    def compile_function(element: FunctionElement[Any], compiler: SQLCompiler, **options: Any) -> str:  # noqa: ANN401
        return template.format(*(compiler.process(clause, **options) for clause in element.clauses))

    compiles(function, dialect)(compile_function)


for _dialect, _templates in (("sqlite", _SQLITE), ("postgresql", _POSTGRESQL)):
    for _function, _template in _templates.items():
        _register(_function, _template, _dialect)
