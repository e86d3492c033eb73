"""What names stand for, where they stand, and what the words around them tell."""

import pytest

from ingest.extraction.kinds import type_of_name
from tests.ingest.small_papers import by_name, extract, paper_of, passages, table_of


async def test_a_name_stands_only_where_it_is_a_whole_word() -> None:
    texts = passages("High accuracy and minimal edges.", "We map words.", "The Edge and Min of a graph.")
    table = table_of("Model|Acc|MAP|Edge", "BERT|9|8|7")
    extraction = await extract(paper_of(*texts, table))
    assert by_name(extraction, "Acc").sources == ("p/table-1",)
    assert by_name(extraction, "MAP").sources == ("p/table-1",)
    assert by_name(extraction, "Edge").sources == ("p/passage-3", "p/table-1")


@pytest.mark.parametrize(
    ("sentence", "type_"),
    [
        ("We follow a method called QuoRef2.", "method"),
        ("It was trained on the QuoRef2.", "dataset"),
        ("We report results on QuoRef2.", "dataset"),
        ("QuoRef2 consistently outperforms all others.", "method"),
        ("The task of QuoRef2 is hard.", "task"),
        ("Ours wins in terms of QuoRef2.", "metric"),
        ("We observe QuoRef2.", "concept"),
    ],
)
async def test_what_is_said_of_a_name_tells_its_type(sentence: str, type_: str) -> None:
    assert (
        by_name(await extract(paper_of(*passages(sentence, "GrabCut and QuoRef2 are two names."))), "QuoRef2").type
        == type_
    )


@pytest.mark.parametrize(
    ("name", "type_"), [("convolutional layer", "method"), ("Layers", "quantity"), ("12 layers", "quantity")]
)
def test_a_component_is_a_method_where_a_word_says_which(name: str, type_: str) -> None:
    assert type_of_name(name) == type_


async def test_a_sign_in_brackets_or_behind_a_header_is_no_part_of_its_name() -> None:
    table = table_of("Model|Micro-F1 (%) \u2191|LI (%)", "BERT|91|9")
    extraction = await extract(paper_of(*passages("The micro-F1 and the micro-F1 of BERT."), table))
    assert {one.id for one in extraction.entities} >= {"micro f1", "li"}
