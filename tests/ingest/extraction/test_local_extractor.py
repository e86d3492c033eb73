from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.document.element_text import element_text
from ingest.extraction import ENTITY_TYPES, LocalExtractor
from ingest.extraction.name_types import type_of_name
from ingest.readers.markup import markup_parsers
from paperscope_core.text.words import entity_key
from paperscope_core.types import (
    Cell,
    Equation,
    Extraction,
    Figure,
    Link,
    Panel,
    Paper,
    PaperFile,
    ParsedPaper,
    Reference,
    Table,
)
from tests.ingest.extraction.paper_builders import (
    PLACE,
    by_name,
    extract,
    paper_of,
    passages,
    relations,
    table_of,
)


async def test_an_acronym_and_its_long_form_are_one_entity_with_the_defining_sentence() -> None:
    texts = ["We study named entity recognition (NER).", "Our NER tagger beats others on NER."]
    entity = by_name(await extract(paper_of(*passages(*texts))), "named entity recognition")
    assert entity.aliases == ("NER",)
    assert entity.type == "task"
    assert entity.description == texts[0]
    assert entity.sources == ("p/passage-1", "p/passage-2")


async def test_an_ambiguous_short_form_is_kept_apart_from_its_meanings() -> None:
    texts = ["The cross entropy (CE) is a loss.", "The causal estimate (CE) differs.", "We use CE."]
    extraction = await extract(paper_of(*passages(*texts)))
    assert by_name(extraction, "CE").aliases == ()
    assert by_name(extraction, "cross entropy").aliases == ()
    assert {relation.target for relation in relations(extraction, "stands for")} == {"cross entropy", "causal estimate"}


async def test_a_short_form_without_a_definition_is_never_expanded() -> None:
    texts = ["We use DSC and BERT with a loss.", "The dice similarity is close to DSC for BERT."]
    entity = by_name(await extract(paper_of(*passages(*texts))), "DSC")
    assert entity.aliases == ()


async def test_a_capitalized_acronym_is_not_found_in_an_ordinary_word() -> None:
    texts = ["The mean average precision (MAP) is high.", "We map words to vectors.", "A MAP of 3 is low."]
    entity = by_name(await extract(paper_of(*passages(*texts))), "mean average precision")
    assert entity.sources == ("p/passage-1", "p/passage-3")


async def test_variants_of_a_phrase_are_one_entity() -> None:
    texts = [
        "We train a graph-attention layer with BERT.",
        "Each graph attention layer reads its neighbours.",
        "All graph attention layers of BERT share weights.",
    ]
    extraction = await extract(paper_of(*passages(*texts)))
    keys = [entity.id for entity in extraction.entities if "layer" in entity.id]
    assert len(keys) == 1
    entity = next(entity for entity in extraction.entities if entity.id == keys[0])
    assert entity.sources == ("p/passage-1", "p/passage-2", "p/passage-3")


async def test_citations_and_adjectives_make_no_entities() -> None:
    texts = ["We follow few-shot settings (Lin et al., 2018).", "A few-shot learner of Lin et al. (2018) is used."]
    names = {entity.name for entity in (await extract(paper_of(*passages(*texts)))).entities}
    assert not names & {"Lin", "few-shot", "shot", "shot learner"}


async def test_each_number_of_a_table_is_a_result_with_its_row_column_and_table() -> None:
    table = table_of("Model|Prec.|F1", "BERT (Devlin et al., 2018)|91.2|90.7 (+0.3)", "Ours|-|93.0")
    extraction = await extract(paper_of(table))
    results = {(item.source, item.target, item.description) for item in relations(extraction, "result")}
    assert results == {
        ("bert", "prec", "BERT (Devlin et al., 2018), Prec.: 91.2 (Table 1)"),
        ("bert", "f1", "BERT (Devlin et al., 2018), F1: 90.7 (+0.3) (Table 1)"),
        ("p/table-1", "f1", "Ours, F1: 93.0 (Table 1)"),
    }
    assert all(item.sources == ("p/table-1",) for item in relations(extraction, "result"))
    assert by_name(extraction, "BERT").type == "method"
    assert by_name(extraction, "F1").type == "metric"


async def test_a_group_of_columns_gets_one_statement_a_row() -> None:
    cells = (
        Cell(row=0, column=1, text="CTB5", place=PLACE, column_span=2, role="column_header"),
        Cell(row=1, column=1, text="Prec.", place=PLACE, role="column_header"),
        Cell(row=1, column=2, text="F1", place=PLACE, role="column_header"),
        Cell(row=2, column=0, text="BERT", place=PLACE, role="row_header"),
        Cell(row=2, column=1, text="91", place=PLACE),
        Cell(row=2, column=2, text="92", place=PLACE),
    )
    table = Table(id="p/table-1", place=PLACE, order=1, cells=cells, header_rows=2, label="Table 1")
    extraction = await extract(paper_of(table))
    (statement,) = relations(extraction, "results")
    assert (statement.source, statement.target) == ("bert", "ctb5")
    assert statement.description == "BERT, CTB5: Prec 91, F1 92 (Table 1)"
    assert by_name(extraction, "CTB5").type == "concept"  # its place says nothing of its type


async def test_a_table_of_prose_names_nothing() -> None:
    row = "Who wrote the book about the sea?|The author lived in the north for some years."
    extraction = await extract(paper_of(table_of("Question that is asked|Answer that was given to it", row)))
    assert [entity.name for entity in extraction.entities] == ["Table 1"]


async def test_floats_are_entities_linked_to_what_their_caption_and_mentions_name() -> None:
    figure = Figure(
        id="p/figure-1", place=PLACE, order=3, label="Figure 1", caption="Figure 1: The ResNet-50 architecture."
    )
    texts = ["ResNet-50 is deep and feeds SQuAD2.", "Fig. 1 and SQuAD2 show ResNet-50 at work."]
    link = Link(source="p/passage-2", target="p/figure-1", text="Fig. 1")
    extraction = await extract(paper_of(*passages(*texts), figure, links=(link,)))
    entity = by_name(extraction, "Figure 1")
    assert (entity.id, entity.type, entity.aliases) == ("p/figure-1", "figure", ("Fig. 1",))
    assert entity.description == f"Figure 1: The ResNet-50 architecture.\n{texts[1]}"
    assert entity.sources == ("p/figure-1", "p/passage-2")
    (shows,) = relations(extraction, "shows")
    assert (shows.source, shows.target, shows.sources) == ("p/figure-1", "resnet 50", ("p/figure-1",))
    assert ("p/figure-1", "squad2") in {(item.source, item.target) for item in relations(extraction, "mentions")}


async def test_tables_without_caption_are_named_by_their_section(tmp_path: Path) -> None:
    table = "| Group | n |\n|---|---|\n| treated | {} |\n"
    text = f"# Trial\n\n## Adults\n\n{table.format(12)}\nLater.\n\n{table.format(9)}\n## Children\n\n{table.format(7)}"
    (tmp_path / "a.md").write_text(text)
    paper = markup_parsers()["markdown"].parse(PaperFile(tmp_path / "a.md")).paper
    tables = [entity for entity in (await extract(paper)).entities if entity.type == "table"]
    assert [entity.name for entity in tables] == ["Table: Adults", "Table: Adults (2)", "Table: Children"]
    assert [entity.sources for entity in tables] == [(entity.id,) for entity in tables]


async def test_figure_1_is_not_mentioned_by_figure_10() -> None:
    figure = Figure(id="p/figure-1", place=PLACE, order=3, label="Figure 1", caption="Figure 1: A plot.")
    extraction = await extract(paper_of(*passages("Figure 10 shows ResNet-50.", "ResNet-50 in Figure 1.2."), figure))
    assert relations(extraction, "mentions") == []


async def test_an_equation_without_a_number_is_named_by_its_words_and_linked_to_its_sentence() -> None:
    equation = Equation(id="p/equation-1", place=PLACE, order=2, text="L = 1 - D")
    texts = passages("The dice loss (DL) is defined as")
    extraction = await extract(paper_of(*texts, equation))
    assert by_name(extraction, "L = 1 - D").id == "p/equation-1"
    assert [(item.source, item.target) for item in relations(extraction, "mentions")] == [("p/equation-1", "dice loss")]


async def test_names_in_the_bibliography_count_for_nothing() -> None:
    reference = Reference(id="p/reference-1", place=PLACE, order=9, text="BERT and BERT2 by BERT. BERT.")
    assert await extract(paper_of(reference)) == Extraction(entities=(), relations=())


WORDS = st.sampled_from(
    "dice loss (DL) network Networks cross-entropy the of is BERT F1 F1-score named entity recognition (NER) . . , "
    "MAP map 0.5 SQuAD v2 such as datasets we show Table 1".split()
)
TEXTS = st.lists(WORDS, max_size=25).map(" ".join)


@pytest.mark.slow
@settings(max_examples=60)
@given(st.lists(TEXTS, max_size=6), st.lists(TEXTS, min_size=2, max_size=6), TEXTS)
def test_every_entity_stands_in_each_of_its_sources(texts: list[str], cells: list[str], caption: str) -> None:
    table = table_of(f"Model|{cells[0]}", *(f"{text}|9{number}" for number, text in enumerate(cells)), caption=caption)
    paper = paper_of(*passages(*texts), table)
    extraction = LocalExtractor().draw(paper)
    check(paper, extraction)
    assert extraction == LocalExtractor().draw(paper)


def check(paper: Paper, extraction: Extraction) -> None:
    folded = {element.id: entity_key(element_text(element)) for element in paper.elements}
    for entity in extraction.entities:
        assert entity.sources
        assert entity.type in ENTITY_TYPES
        assert entity.description
        forms = [entity_key(form) for form in (entity.name, *entity.aliases)]
        assert all(any(form in folded[source] for form in forms) for source in entity.sources)
        assert all(any(form in folded[source] for source in entity.sources) for form in forms)
    ids = Counter(entity.id for entity in extraction.entities)
    assert set(ids.values()) <= {1}
    keys = Counter(entity_key(entity.name) for entity in extraction.entities)
    assert set(keys.values()) <= {1}
    for relation in extraction.relations:
        assert relation.source != relation.target
        assert {relation.source, relation.target} <= ids.keys()
        assert relation.sources
        assert set(relation.sources) <= folded.keys()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["acl-2020-45/paper.pdf", "mmlongbench/2310.07609v1.pdf"])
async def test_real_papers_give_a_small_connected_grounded_graph(
    shared: Path, parse_once: Callable[[Path], ParsedPaper], name: str
) -> None:
    paper = parse_once(shared / "papers" / name).paper
    extraction = await extract(paper)
    check(paper, extraction)
    ends = {end for relation in extraction.relations for end in (relation.source, relation.target)}
    assert len(extraction.entities) > 40
    assert len(extraction.relations) < 8 * len(extraction.entities)
    assert sum(entity.id not in ends for entity in extraction.entities) < 0.05 * len(extraction.entities)


async def test_a_figure_shows_what_the_page_prints_inside_it_and_beside_its_parts() -> None:
    figure = Figure(
        id="p/figure-1",
        place=PLACE,
        order=5,
        label="Figure 1",
        caption="Figure 1: An overview.",
        text="Dice loss 0.98 focal loss",
        panels=(Panel(mark="a", place=PLACE, caption="With weighted sampling"),),
    )
    texts = passages("Focal loss (FL) differs. Weighted sampling (WS) helps Dice loss (DL).")
    extraction = await LocalExtractor().extract(paper_of(*texts, figure), ())
    shown = {one.target: one for one in extraction.relations if (one.source, one.kind) == ("p/figure-1", "shows")}
    assert {"dice loss", "focal loss", "weighted sampling"} <= shown.keys()
    assert shown["focal loss"].description == "Figure 1 | Dice loss 0.98 focal loss"
    assert shown["focal loss"].sources == ("p/figure-1",)
    (entity,) = (one for one in extraction.entities if one.id == "p/figure-1")
    assert entity.description.splitlines() == [
        "Figure 1: An overview.",
        "(a) With weighted sampling",
        "Dice loss 0.98 focal loss",
    ]


async def test_a_float_that_nothing_speaks_of_is_near_what_is_named_before_it() -> None:
    figure = Figure(id="p/figure-1", place=PLACE, order=3, label="Figure 1")
    texts = passages("Dice loss (DL) wins.", "Cross entropy (CE) is used.", "x", "Area under curve (AUC) is a metric.")
    extraction = await LocalExtractor().extract(paper_of(*texts, figure), ())
    near = [one for one in extraction.relations if one.source == "p/figure-1"]
    assert [(one.target, one.kind, one.sources) for one in near] == [("cross entropy", "near", ("p/passage-2",))]


async def test_a_name_stands_only_where_it_is_a_whole_word() -> None:
    texts = passages("High accuracy and minimal edges.", "We map words.", "The Edge and Min of a graph.")
    table = table_of("Model|Acc|MAP|Edge", "BERT|9|8|7")
    extraction = await extract(paper_of(*texts, table))
    assert by_name(extraction, "Acc").sources == ("p/table-1",)
    assert by_name(extraction, "MAP").sources == ("p/table-1",)
    assert by_name(extraction, "Edge").sources == ("p/passage-3", "p/table-1")


@pytest.mark.parametrize(
    ("name", "type_"),
    [
        ("convolutional layer", "method"),
        ("named entity recognition", "task"),
        ("ranking problem", "task"),
        ("SQuAD", "dataset"),
        ("F1 score", "metric"),
        ("Macro F1", "concept"),  # the whole looks like a task, its last word like a metric
        ("first step", "concept"),
        ("entry point", "concept"),
        ("glacier mass balance", "concept"),
        ("immune system", "concept"),
    ],
)
def test_a_name_has_a_type_where_the_model_is_certain(name: str, type_: str) -> None:
    assert type_of_name(name) == type_


async def test_a_function_and_an_owner_are_names_of_their_own() -> None:
    texts = ["The covariance estimator vcovCL() is fast.", "The covariance estimator vcovCL() and NemoX\u2019s are."]
    found = {one.name for one in (await extract(paper_of(*passages(*texts, "We and NemoX\u2019s.")))).entities}
    assert found == {"covariance estimator", "vcovCL", "NemoX"}


async def test_a_sign_in_brackets_or_behind_a_header_is_no_part_of_its_name() -> None:
    table = table_of("Model|Micro-F1 (%) \u2191|LI (%)", "BERT|91|9")
    extraction = await extract(paper_of(*passages("The micro-F1 and the micro-F1 of BERT."), table))
    assert {one.id for one in extraction.entities} >= {"micro f1", "li"}
