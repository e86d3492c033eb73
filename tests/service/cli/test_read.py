"""`paperscope read`: parts of papers as text and JSON."""

from pathlib import Path
from typing import TYPE_CHECKING

from paperscope_core.codec import from_json
from paperscope_core.types import ToolResult

if TYPE_CHECKING:
    from tests.service.cli.conftest import Run


def test_a_table_is_shown_as_rows(run: "Run", example_library: Path) -> None:
    shown = run("read", "element", "Table 9", "--library", example_library)
    assert shown.code == 0
    assert "Table 9, page 5]" in shown.out
    assert "Columns: Measure | Model 1 | Model 2 | Always O\n" in shown.out
    assert "Macro F1 | Model 1: 0.1560 | Model 2: 0.1587 | Always O: 0.1432\n" in shown.out


def test_json_is_the_result(run: "Run", example_library: Path) -> None:
    result = from_json(ToolResult, run("read", "page", "2", "--json", "--library", example_library).out)
    assert [item.label for item in result.items if item.kind != "page"] == ["Table 1", "Table 2"]


def test_bad_input_is_one_message(run: "Run", example_library: Path) -> None:
    for arguments, message in (
        (("section", "9.9"), "error: no section '9.9' in 'Four Reports, Four Rulers"),
        (("tables",), "error: 'tables' is no reading tool; take one of search, section"),
        (("outline", "--paper", "zzz"), "error: no paper 'zzz' in the library"),
    ):
        shown = run("read", *arguments, "--library", example_library)
        assert shown.code == 2
        assert shown.err.startswith(message)
        assert len(shown.err.splitlines()) == 1
