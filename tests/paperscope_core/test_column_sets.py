"""Columns of literature tables from TOML, and what is refused."""

from pathlib import Path

import pytest

from paperscope_core.column_sets import READY_COLUMNS, column_set, parse_columns, read_columns
from paperscope_core.errors import InputError
from paperscope_core.types.literature import ColumnSet, LiteratureColumn

WHOLE = """
title = "Trials"
rows = "arm"
[[columns]]
name = "sample"
[[columns]]
name = "Dose"
unit = "mg"
[[columns]]
name = "Design"
instruction = "Which design is it?"
values = ["trial", "cohort"]
[[columns]]
name = "Open"
type = "yes/no"
"""


def test_a_file_has_ready_made_and_own_columns(tmp_path: Path) -> None:
    (tmp_path / "c.toml").write_text(WHOLE, encoding="utf-8")
    found = read_columns(tmp_path / "c.toml")
    assert (found.title, found.rows) == ("Trials", "arm")
    sample, dose, design, is_open = found.columns
    assert sample == READY_COLUMNS["sample"]
    assert (dose.type, dose.unit, dose.instruction) == ("number", "mg", "Dose")
    assert (design.type, design.allowed) == ("category", ("trial", "cohort"))
    assert is_open.allowed == ("yes", "no")


def test_columns_may_be_named_in_a_list() -> None:
    found = parse_columns('columns = ["objective", "Which loss is used?"]', title="c")
    assert found == column_set("c", ["objective", LiteratureColumn(name="Which loss is used?")])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "columns: Field required"),
        ("columns = []", "columns: List should have at least 1"),
        ("columns = [", "not TOML"),
        ('columns = ["a", "A"]', "two columns are called 'A'"),
        ('columns = [{name = "a", typ = "text"}]', r"columns.1.typ: Extra inputs"),
        ('columns = [{name = "a", type = "category"}]', "has 0 values"),
        ('columns = [{name = "a", type = "number", values = ["x"]}]', "no other type has any"),
        ('columns = [{name = "a", type = "text", unit = "kg"}]', "must be 'number'"),
        ('columns = [" "]', "is empty"),
        ('columns = [{name = "a", type = "colour"}]', r"columns.1.type"),
    ],
)
def test_other_files_are_refused(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        parse_columns(text, title="c")


def test_a_table_has_a_limit_of_columns() -> None:
    columns = tuple(LiteratureColumn(name=f"c{number}") for number in range(61))
    with pytest.raises(InputError, match="61 columns"):
        ColumnSet(title="t", columns=columns)


def test_a_file_that_can_not_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none\.toml"):
        read_columns(tmp_path / "none.toml")
    (tmp_path / "c.toml").write_bytes(b"\xff")
    with pytest.raises(InputError, match="UTF-8"):
        read_columns(tmp_path / "c.toml")
