"""Results are read from tables whose headers name typed entities, and join across papers by these entities."""

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import replace

from paperscope_core.text.words import singular_key
from paperscope_core.types import Box, Entity, Page, Paper, Place, Relation, Table
from query.results import Leaderboard, leaderboards, results_csv
from tests.query.conftest import MemoryLibrary, table

NAMES = {
    "dataset": ["OntoNotes5.0", "CoNLL2003"],
    "metric": ["F1", "perplexity"],
    "method": ["BERT-MRC", "BERT-Tagger", "ELMo"],
    "task": ["named entity recognition"],
}
ALIASES = {"OntoNotes5.0": ("English OntoNotes 5.0",), "named entity recognition": ("NER",)}


class TypedLibrary(MemoryLibrary):
    """A library whose graph has these entities, which all tables show."""

    def entities(self, ids: Sequence[str], *, papers: Sequence[str] = ()) -> Mapping[str, Entity]:
        found = [
            Entity(
                id=singular_key(name), name=name, type=kind, description="", sources=(), aliases=ALIASES.get(name, ())
            )
            for kind, names in NAMES.items()
            for name in names
        ]
        return {one.id: one for one in found if one.id in ids}

    def relations_of(self, entities: Sequence[str], *, papers: Sequence[str] = (), limit: int) -> Sequence[Relation]:
        shown = [singular_key(name) for names in NAMES.values() for name in names]
        return [
            Relation(source=table, target=one, kind="shows", description="", sources=())
            for table in entities
            for one in shown
        ]


def paper_of(number: int, *tables: Table) -> Paper:
    name = f"bbbb0000000{number}"

    def moved(place: Place) -> Place:
        return replace(place, paper=name)

    elements = tuple(
        replace(
            one,
            id=f"{name}/{one.id.rpartition('/')[2]}",
            place=moved(one.place),
            cells=tuple(replace(cell, place=moved(cell.place)) for cell in one.cells),
        )
        for one in tables
    )
    pages = (Page(number=1, width=595, height=842),)
    return Paper(
        id=name,
        title=f"Paper {number}",
        authors=(),
        sha256=name,
        file=name,
        pages=pages,
        sections=(),
        elements=elements,
    )


def boards_of(*papers: Paper, dataset: str = "", metric: str = "", task: str = "") -> list[Leaderboard]:
    return leaderboards(TypedLibrary(*papers), dataset=dataset, metric=metric, task=task)


FIRST = paper_of(
    1,
    table(
        1,
        1,
        "Results for NER, in F1.",
        [
            ["Model", "English OntoNotes 5.0", "CoNLL2003"],
            ["BERT-MRC (Li et al., 2019)", "91.11", "93.04"],
            ["BERT-Tagger (small)", "89.16 ± 0.2", "92.8"],
            ["Ours+Dice", "92.07", "93.33"],
        ],
        "",
    ),
)
SECOND = paper_of(
    2,
    table(
        1,
        1,
        "Comparison on OntoNotes5.0.",
        [["", "F1 (%)", "perplexity ↓"], ["BERT-MRC [12]", "91.4", "10.5"], ["ELMo", "88.0", "12.5"]],
        "",
    ),
)


def test_results_of_papers_join_by_the_entities_that_headers_and_captions_name() -> None:
    board = boards_of(FIRST, SECOND, dataset="ontonotes", metric="F1")[0]
    assert (board.dataset, board.metric) == ("OntoNotes5.0", "F1")
    found = [(str(one.value), one.method, one.setting, one.spread, one.unit) for one in board.results]
    assert found == [
        ("92.07", "Ours+Dice", "", "", ""),
        ("91.4", "BERT-MRC", "", "", "%"),
        ("91.11", "BERT-MRC", "", "", ""),
        ("89.16", "BERT-Tagger", "small", "", ""),
        ("88.0", "ELMo", "", "", "%"),
    ]
    best = board.results[0]
    assert best.task == "named entity recognition"
    assert best.evidence.place == Place(paper=FIRST.id, page=1, box=Box(90.0, 430.0, 130.0, 440.0))
    assert best.evidence.name == "Paper 1, Table 1, page 1"
    assert "dataset OntoNotes5.0: header 'English OntoNotes 5.0'" in best.reasons
    assert "metric F1: the caption names it" in best.reasons


def test_an_arrow_says_that_the_lowest_value_is_the_best() -> None:
    (board,) = boards_of(FIRST, SECOND, metric="perplexity")
    assert (board.better, [str(one.value) for one in board.results]) == ("lower", ["10.5", "12.5"])


def test_bold_values_say_which_values_are_the_best() -> None:
    (made,) = (element for element in FIRST.elements if isinstance(element, Table))
    for bold, better in ((("89.16 ± 0.2",), "lower"), (("92.07",), "higher"), (("91.11",), ""), ((), "")):
        cells = tuple(replace(cell, bold=cell.text in bold) for cell in made.cells)
        marked = replace(FIRST, elements=(replace(made, cells=cells),))
        assert boards_of(marked, dataset="OntoNotes5.0")[0].better == better


def test_filters_take_names_and_aliases() -> None:
    assert [board.dataset for board in boards_of(FIRST, dataset="CoNLL2003")] == ["CoNLL2003"]
    assert boards_of(FIRST, dataset="English OntoNotes 5.0")[0].dataset == "OntoNotes5.0"
    assert len(boards_of(FIRST, task="entity recognition")) == 2
    assert boards_of(FIRST, task="parsing") == []
    assert boards_of(FIRST, dataset="Notes5") == []


def test_values_of_one_method_that_differ_are_shown_together_without_a_verdict() -> None:
    third = replace(paper_of(3, *(one for one in SECOND.elements if isinstance(one, Table))), title="Paper 3")
    (table_of_third,) = (one for one in third.elements if isinstance(one, Table))
    values = {"91.4": "90.2", "88.0": "88.04"}
    cells = tuple(replace(cell, text=values.get(cell.text, cell.text)) for cell in table_of_third.cells)
    third = replace(third, elements=(replace(table_of_third, cells=cells),))
    (board,) = boards_of(SECOND, third, metric="F1")
    (group,) = board.disagreements
    assert [(one.method, str(one.value), one.evidence.place.paper) for one in group] == [
        ("BERT-MRC", "91.4", SECOND.id),
        ("BERT-MRC", "90.2", third.id),
    ]


def test_a_table_in_doubt_or_without_a_metric_dataset_or_method_has_no_results() -> None:
    rows = [["Model", "F1"], ["BERT-MRC", "91.1"], ["ELMo", "88.0"]]
    statistics = [["", "F1"], ["Precision", "91.1"], ["Recall", "88.0"]]
    assert boards_of(paper_of(1, table(1, 1, "Results.", rows, ""))) == []
    assert boards_of(paper_of(1, table(1, 1, "On OntoNotes5.0 and CoNLL2003.", rows, ""))) == []
    assert boards_of(paper_of(1, table(1, 1, "On CoNLL2003.", statistics, ""))) == []
    assert boards_of(paper_of(1, replace(table(1, 1, "On CoNLL2003.", rows, ""), confidence=0.4))) == []
    assert len(boards_of(paper_of(1, table(1, 1, "On CoNLL2003.", rows, "")))) == 1


def test_csv_has_a_row_for_each_value_with_its_place() -> None:
    rows = list(csv.DictReader(io.StringIO(results_csv(boards_of(FIRST)))))
    assert len(rows) == 6
    assert rows[0]["dataset"] in ("OntoNotes5.0", "CoNLL2003")
    assert {row["paper"] for row in rows} == {FIRST.id}
    assert all(float(row["x1"]) > float(row["x0"]) for row in rows)


def test_a_join_is_undone_for_one_paper_and_says_why_it_was_made() -> None:
    joined = boards_of(FIRST, SECOND, dataset="ontonotes", metric="F1")[0].results
    assert "'English OntoNotes 5.0' is another name of OntoNotes5.0 in this paper" in joined[0].reasons
    assert "method BERT-MRC: header 'BERT-MRC [12]'" in next(one for one in joined if one.method == "BERT-MRC").reasons
    library = TypedLibrary(FIRST, SECOND)
    apart = [(SECOND.id, singular_key("OntoNotes5.0")), (SECOND.id, "bert mrc")]
    boards = leaderboards(library, dataset="OntoNotes5.0", metric="F1", separations=apart)
    assert [board.dataset for board in boards] == ["OntoNotes5.0", "OntoNotes5.0 in Paper 2"]
    assert [one.method for one in boards[1].results] == ["BERT-MRC in Paper 2", "ELMo"]
    assert [one.apart for one in boards[1].results] == [("method", "dataset"), ("dataset",)]
    assert all(one.apart == () for one in boards[0].results)
