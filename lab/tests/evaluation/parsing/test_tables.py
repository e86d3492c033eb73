"""Scores of tables, on tables with known faults."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from paperscope_lab.errors import GoldFileError
from paperscope_lab.evaluation.gold.paper_readers import load_gold_tables, table_of_rows
from paperscope_lab.evaluation.gold.papers import Gold, GoldLookup, GoldSpan, GoldTable
from paperscope_lab.evaluation.parsing.tables import score_lookups, score_tables
from paperscope_lab.evaluation.score import Score, Tally

from paperscope_core.types import Paper, ParsedPaper, Table

ROWS = (("Model", "F1", "Acc"), ("ours", "1.5", "2"), ("theirs", "3", "4"))


def gold_of(rows: tuple[tuple[str, ...], ...] = ROWS, **fields: object) -> Gold:
    made = {"number": "1", "grid": rows, "logical": rows, "logical_row": tuple(range(len(rows))), "header_rows": (0,)}
    table = GoldTable(**(made | fields))  # type: ignore[arg-type] # a test's own fields
    return Gold(tables=(table,), all_tables=True)


def shares(score: Score) -> dict[str, tuple[float, float]]:
    return {name: (tally.right, tally.total) for name, tally in score.tallies.items()}


def test_an_equal_table_is_right_in_everything(
    make_table: Callable[..., Table], make_paper: Callable[..., Paper]
) -> None:
    score = score_tables(make_paper(make_table(ROWS)), gold_of(spans=()))
    assert not score.misses
    assert all(tally.share == 1 for tally in score.tallies.values())
    assert score.tallies["tables.cells"] == Tally(right=9, total=9)


@pytest.mark.parametrize(
    ("rows", "right"),
    [
        ((("Model", "F1", "Acc"), ("ours", "15", "2"), ("theirs", "3", "4")), 8),  # a lost point
        ((("Model", "F1", "Acc"), ("theirs", "3", "4")), 6),  # a lost row
        ((("Model", "F1"), ("ours", "1.5"), ("theirs", "3")), 6),  # a lost column
        ((("Model", "F1 Acc"), ("ours", "1.5 2"), ("theirs", "3 4")), 3),  # two columns run together
        ((("Model", "F1", "Acc"), ("ours theirs", "1.5 3", "2 4")), 3),  # two rows run together
        ((("Model", "F1", "Acc"), ("ours", "2", "1.5"), ("theirs", "3", "4")), 7),  # two cells swapped
        ((*ROWS, ("prose", "below", "it")), 9),  # a row too many costs the exactness
    ],
)
def test_a_fault_costs_its_own_cells(
    rows: tuple[tuple[str, ...], ...],
    right: int,
    make_table: Callable[..., Table],
    make_paper: Callable[..., Paper],
) -> None:
    score = score_tables(make_paper(make_table(rows)), gold_of())
    assert shares(score)["tables.cells"] == (right, 9)
    assert shares(score)["tables.exact"] == (0, 1)
    assert score.misses


def test_printed_lines_and_logical_rows_are_both_accepted(
    make_table: Callable[..., Table], make_paper: Callable[..., Paper]
) -> None:
    printed = (("Model", "F1"), ("ours", "1.5"), ("", "(+1)"))
    logical = (("Model", "F1"), ("ours", "1.5 (+1)"))
    gold = gold_of(printed, logical=logical, logical_row=(0, 1, 1))
    for rows in (printed, logical):
        assert shares(score_tables(make_paper(make_table(rows)), gold))["tables.cells"] == (5, 5)


def test_spans_count_by_place_and_size(make_table: Callable[..., Table], make_paper: Callable[..., Paper]) -> None:
    rows = (("Model", "Scores", ""), ("", "F1", "Acc"), ("ours", "1", "2"))
    gold = gold_of(rows, spans=(GoldSpan(row=0, col=0, rowspan=2), GoldSpan(row=0, col=1, colspan=2)))
    both = make_table(rows, spans={(0, 0): (2, 1), (0, 1): (1, 2)})
    one = make_table(rows, spans={(0, 1): (1, 2)})
    assert shares(score_tables(make_paper(both), gold))["tables.spans"] == (2, 2)
    assert shares(score_tables(make_paper(one), gold))["tables.spans"] == (1, 2)


def test_a_caption_on_the_wrong_table_is_seen(
    make_table: Callable[..., Table], make_paper: Callable[..., Paper]
) -> None:
    other = (("City", "Rain"), ("Oslo", "7"))
    gold = Gold(tables=(*gold_of().tables, *gold_of(other, number="2").tables))
    right = make_paper(make_table(ROWS), make_table(other, label="Table 2"))
    swapped = make_paper(make_table(other), make_table(ROWS, label="Table 2"))
    assert shares(score_tables(right, gold))["tables.captions"] == (2, 2)
    assert shares(score_tables(swapped, gold))["tables.captions"] == (0, 2)


def test_a_table_too_many_and_one_too_few(make_table: Callable[..., Table], make_paper: Callable[..., Paper]) -> None:
    extra = make_paper(make_table(ROWS), make_table((("a", "b"), ("c", "d")), label=""))
    assert shares(score_tables(extra, gold_of()))["tables.true"] == (1, 2)
    lost = shares(score_tables(make_paper("no table"), gold_of()))
    assert (lost["tables.cells"], lost["tables.teds"], lost["tables.captions"]) == ((0, 9), (0, 1), (0, 1))


def test_header_rows(make_table: Callable[..., Table], make_paper: Callable[..., Paper]) -> None:
    score = score_tables(make_paper(make_table(ROWS, header_rows=2)), gold_of())
    assert shares(score)["tables.header_rows"] == (0, 1)


def test_gold_from_a_source_knows_no_citations_and_repeats_spans(
    make_table: Callable[..., Table], make_paper: Callable[..., Paper]
) -> None:
    table = table_of_rows([["Model", "BLEU", "BLEU"], ["", "DE", "FR"], ["ByteNet", "10^20", ""]], caption="Scores.")
    assert table is not None
    rows = (("Model", "BLEU", ""), ("", "DE", "FR"), ("ByteNet [18]", "10²⁰", ""))
    found = make_table(rows, label="Table 7", caption="Scores.", spans={(0, 1): (1, 2)})
    assert shares(score_tables(make_paper(found), Gold(tables=(table,))))["tables.cells"] == (7, 7)
    assert table_of_rows([["#"], ["layers"]], caption="") is None


def test_lookups_need_the_row_and_the_column(
    make_table: Callable[..., Table], make_paper: Callable[..., Paper]
) -> None:
    paper = make_paper(make_table(ROWS))
    asked = [("ours", "F1", "1.5"), ("theirs", "F1", "1.5"), ("ours", "Acc", "1.5")]
    lookups = tuple(GoldLookup(label="Table 1", row=row, column=column, answer=answer) for row, column, answer in asked)
    score = score_lookups(paper, Gold(lookups=lookups))
    assert shares(score) == {"tables.lookups": (1, 3)}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('{"tables": [{"number": 1}]}', "'tables.0.grid' is missing"),
        ('{"tables": [{"number": 1, "grid": [["a"]], "physical_to_logical": [0, 1]}]}', "table 1"),
        ('{"tables": [{"number": 1, "grid": [["a"]], "header_rows": [3]}]}', "row 3"),
        ("{", "gold_tables.json"),
    ],
)
def test_malformed_gold_is_said_with_file_and_place(tmp_path: Path, text: str, says: str) -> None:
    file = tmp_path / "gold_tables.json"
    file.write_text(text)
    with pytest.raises(GoldFileError, match=r"gold_tables\.json") as raised:
        load_gold_tables(file)
    assert says in str(raised.value)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "cells", "tables"), [("acl-2020-45", 543, 10), ("mmgraphrag", 1304, 12)])
def test_the_papers_with_gold_stay_exact(
    shared: Path, parse_once: Callable[[Path], ParsedPaper], name: str, cells: int, tables: int
) -> None:
    folder = shared / "papers" / name
    assert json.loads((folder / "gold_tables.json").read_text())["tables"]
    gold = Gold(tables=load_gold_tables(folder / "gold_tables.json"), all_tables=True)
    score = score_tables(parse_once(folder / "paper.pdf").paper, gold)
    assert score.tallies["tables.cells"] == Tally(right=cells, total=cells)
    assert score.tallies["tables.exact"] == Tally(right=tables, total=tables)
    assert score.tallies["tables.captions"].share == score.tallies["tables.spans"].share == 1
