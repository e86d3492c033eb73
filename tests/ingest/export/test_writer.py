"""What is written: names, CSV, JSON under its schema, and a folder with the last export and other people's files."""

import csv
import io
import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.document.assembly import safe_name
from ingest.export import export_files, read_paper_json, write_paper
from ingest.export.file_names import file_stems
from ingest.export.writer import json_schema, remove_control_characters
from paperscope_core.errors import InputError, OutputError
from paperscope_core.types import Equation, Figure, ParsedPaper, Passage
from tests.ingest.export.sample_papers import PLACE, cell, paper_of, plain_table, table, whole_paper


def test_files_are_named_after_labels() -> None:
    tables = [plain_table(label) for label in ("Table 5", "Table A.1", "Table IV", "", "", "TABLE 5", "5", "表 2")]
    names = list(file_stems(paper_of(*tables)).values())
    assert names == [
        "tables/table-5",
        "tables/table-a.1",
        "tables/table-iv",
        "tables/table-unlabelled-1",
        "tables/table-unlabelled-2",
        "tables/table-5-2",
        "tables/table-5-3",
        "tables/表-2",
    ]


def test_kinds_have_folders_of_their_own() -> None:
    figure = Figure(id="", place=PLACE, order=0, label="Figure 1")
    equation = Equation(id="", place=PLACE, order=0, text="x")
    assert list(file_stems(paper_of(figure, equation)).values()) == [
        "figures/figure-1",
        "equations/equation-unlabelled-1",
    ]


@given(st.lists(st.text(max_size=80), max_size=5))
def test_no_label_leads_out_of_the_folder_and_no_two_meet(labels: list[str]) -> None:
    names = list(file_stems(paper_of(*(plain_table(label) for label in labels))).values())
    assert len({name.casefold() for name in names}) == len(labels)
    for name in names:
        folder, _, rest = name.partition("/")
        assert folder == "tables"
        assert "/" not in rest
        assert "\\" not in rest
        assert not rest.startswith(".")
        assert len(f".{rest}.png.0123456789abcdef.tmp".encode("utf-8", "replace")) < 255


@pytest.mark.parametrize("label", ["../../etc/passwd", "..", "C:\\x", "a\x00b", "/abs", "\u202egnp"])
def test_a_hostile_label_is_a_plain_name(label: str) -> None:
    assert not set(safe_name(label)) & set("/\\:\x00\u202e")
    assert safe_name(label) not in (".", "..")


def test_a_spanned_text_stands_once_and_annotations_are_folded() -> None:
    cells = (cell(0, 0, "Model", rows=2), cell(0, 1, "English, QQP", columns=2), cell(1, 1, "P"), cell(1, 2, "F1"))
    body = (cell(2, 0, 'BERT "large"'), cell(2, 1, "92.11 (+0.81)"), cell(2, 2, "12.3†"))
    text = table(*cells, *body).to_csv()
    assert text.endswith("\r\n")
    assert list(csv.reader(io.StringIO(text))) == [
        ["Model", "English, QQP", ""],
        ["", "P", "F1"],
        ['BERT "large"', "92.11 (+0.81)", "12.3†"],
    ]


def test_a_formula_becomes_text() -> None:
    paper = paper_of(table(cell(0, 0, "=REGISTER.ID(1)"), cell(0, 1, "-0.5"), label="Table 1"))
    assert export_files(ParsedPaper(paper=paper))["tables/table-1.csv"] == b"'=REGISTER.ID(1),-0.5\r\n"


def test_texts_that_no_file_can_hold_are_mended() -> None:
    paper = paper_of(Passage(id="p/passage-1", place=PLACE, order=0, text="a\x00b\x1bc\ud800d\te\nf"), title="\udfff")
    mended = remove_control_characters(paper)
    assert mended.title == "\ufffd"
    assert getattr(mended.elements[0], "text", "") == "abc\ufffdd\te\nf"
    files = export_files(ParsedPaper(paper=paper))
    assert read_paper_json(files["paper.json"]) == mended


def test_a_sound_paper_is_itself() -> None:
    paper = whole_paper().paper
    assert remove_control_characters(paper) is paper


def test_the_json_reads_back_equal_and_names_the_pictures() -> None:
    parsed = whole_paper()
    files = export_files(parsed)
    assert read_paper_json(files["paper.json"]) == parsed.paper
    written = json.loads(files["paper.json"])
    assert written["schema"] == "paperscope-paper/1"
    for crop, path in written["pictures"].items():
        assert files[path] == parsed.crops[crop]


def test_json_of_another_version_is_refused() -> None:
    files = export_files(whole_paper())
    with pytest.raises(ValueError, match="paperscope-paper/1"):
        read_paper_json(files["paper.json"].replace(b"paperscope-paper/1", b"paperscope-paper/9"))


def test_the_published_schema_is_that_of_the_types(root: Path) -> None:
    published = (root / "docs" / "paper.schema.json").read_text(encoding="utf-8")
    assert published == json_schema(), "run scripts/schema"


def obeys(value: Any, schema: Mapping[str, Any], defs: Mapping[str, Any]) -> bool:
    """Whether a value obeys those parts of JSON Schema that the published one is made of."""
    if "$ref" in schema:
        return obeys(value, defs[schema["$ref"].rpartition("/")[2]], defs)
    if "anyOf" in schema:
        return any(obeys(value, option, defs) for option in schema["anyOf"])
    if "const" in schema or "enum" in schema:
        return value in schema.get("enum", [schema.get("const")])
    types: dict[str, Any] = {"string": str, "number": int | float, "integer": int, "boolean": bool, "null": type(None)}
    types |= {"object": dict, "array": list}
    return isinstance(value, types[schema["type"]]) and all(
        item_schema is not None and obeys(item, item_schema, defs) for item, item_schema in _parts(value, schema)
    )


def _parts(value: Any, schema: Mapping[str, Any]) -> list[tuple[Any, Mapping[str, Any] | None]]:
    """What a value consists of, each part with its schema; None where nothing may or must stand."""
    if isinstance(value, dict):
        known, rest = schema.get("properties", {}), schema.get("additionalProperties")
        missing = set(schema.get("required", ())) - value.keys()
        return [(item, known.get(name, rest)) for name, item in value.items()] + [(name, None) for name in missing]
    if isinstance(value, list):
        first = schema.get("prefixItems", [])
        fits = schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", len(value))
        kinds = [*first, *[schema.get("items")] * (len(value) - len(first))]
        return list(zip(value, kinds, strict=False)) if fits else [(value, None)]
    return []


def test_what_is_written_obeys_the_schema() -> None:
    schema = json.loads(json_schema())
    written = json.loads(export_files(whole_paper())["paper.json"])
    assert obeys(written, schema, schema["$defs"])
    written["paper"]["elements"][0]["place"]["box"] = ["a"]
    assert not obeys(written, schema, schema["$defs"])


def test_pictures_come_with_every_format_but_csv() -> None:
    parsed = whole_paper()
    assert set(export_files(parsed, formats=["csv"])) == {"tables/table-5.csv"}
    assert set(export_files(parsed, formats=["markdown"])) == {
        "paper.md",
        "tables/table-5.png",
        "figures/figure-1.png",
        "equations/equation-3.png",
    }
    with pytest.raises(InputError, match="'pdf'; choose among json, markdown, html, csv"):
        export_files(parsed, formats=["pdf"])


def test_a_second_export_replaces_its_files_removes_stale_ones_and_touches_no_other(tmp_path: Path) -> None:
    out = tmp_path / "out"
    write_paper(whole_paper(), out)
    (out / "notes.txt").write_text("mine")
    (out / "tables" / "mine.csv").write_text("mine")
    other = replace(whole_paper(), paper=paper_of(plain_table("Table 9"), title="Another"))
    written = write_paper(other, out)
    assert not (out / "tables" / "table-5.csv").exists()
    assert not (out / "figures").exists()
    assert (out / "notes.txt").read_text() == "mine"
    assert (out / "tables" / "mine.csv").read_text() == "mine"
    assert "# Another" in (out / "paper.md").read_text()
    assert set(written.files) == {"paper.json", "paper.md", "paper.html", "tables/table-9.csv"}


def test_a_file_that_no_export_wrote_is_never_replaced(tmp_path: Path) -> None:
    (tmp_path / "paper.md").write_text("mine")
    with pytest.raises(OutputError, match=r"paper\.md: exists already, and no earlier run wrote it; move it away"):
        write_paper(whole_paper(), tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["paper.md"]


@pytest.mark.parametrize("name", ["../outside.csv", "/outside.csv", "a/b/c.csv", "tables/../../outside.csv", "x.sh"])
def test_a_list_that_somebody_changed_removes_nothing_else(tmp_path: Path, name: str) -> None:
    out = tmp_path / "out"
    write_paper(whole_paper(), out)
    (tmp_path / "outside.csv").write_text("mine")
    (out / "x.sh").write_text("mine")
    listed = json.loads((out / ".paperscope-files.json").read_text())
    listed["files"].append(name)
    (out / ".paperscope-files.json").write_text(json.dumps(listed))
    write_paper(whole_paper(), out)
    assert (tmp_path / "outside.csv").read_text() == "mine"
    assert (out / "x.sh").read_text() == "mine"


def test_a_list_that_is_none_is_named(tmp_path: Path) -> None:
    (tmp_path / ".paperscope-files.json").write_text("[]")
    with pytest.raises(OutputError, match="is not the list of files"):
        write_paper(whole_paper(), tmp_path)


def test_a_run_that_was_cut_is_taken_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr("ingest.export.writer.ExportFolder.finish", _cut)
        with pytest.raises(KeyboardInterrupt):
            write_paper(whole_paper(), tmp_path)
    assert (tmp_path / "paper.md").exists()
    write_paper(replace(whole_paper(), paper=paper_of(title="Another")), tmp_path)
    assert sorted(path.name for path in tmp_path.rglob("*")) == [
        ".paperscope-files.json",
        "paper.html",
        "paper.json",
        "paper.md",
    ]


def _cut(_folder: object) -> None:
    raise KeyboardInterrupt


@pytest.mark.slow
def test_a_very_large_table(tmp_path: Path) -> None:
    cells = [cell(row, column, f"{row}.{column}") for row in range(500) for column in range(20)]
    files = export_files(ParsedPaper(paper=paper_of(table(*cells))))
    assert len(files["tables/table-1.csv"].splitlines()) == 500
    assert files["paper.md"].count(b"\n| ") >= 500
