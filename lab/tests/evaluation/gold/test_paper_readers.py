"""Gold of papers: the set of many fields."""

import json
import shutil
from pathlib import Path

from paperscope_lab.evaluation.gold.files import separate_errors
from paperscope_lab.evaluation.gold.paper_readers import field_items


def test_a_paper_of_the_set_of_many_fields_has_all_its_lines(tmp_path: Path, short_paper: Path) -> None:
    folder = tmp_path / "papers" / "fields"
    (folder / "papers").mkdir(parents=True)
    shutil.copy(short_paper, folder / "papers" / "one.pdf")
    lines = {
        "tables": [{"page": 1, "no_table": True, "why": "text"}, {"page": 1, "grid": [["a"]]}],
        "order": [{"page": 3, "starts": ["A start"]}],
        "records": [{"title": "One", "authors": ["A"], "year": 2020, "venue": None, "doi": None}],
    }
    for name, values in lines.items():
        (folder / f"{name}.jsonl").write_text("\n".join(json.dumps({"paper": "one.pdf"} | value) for value in values))
    [item], bad = separate_errors(field_items(tmp_path))
    assert (item.name, item.part, len(item.gold.fields)) == ("fields/one", "fitting", 2)
    reasons = ("tables.jsonl:2: the page has neither 'bbox'", "order.jsonl:1: page 3 is out of range")
    assert [reason in str(error) for reason, error in zip(reasons, bad, strict=True)] == [True, True]
