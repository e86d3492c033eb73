"""The reading tools: what each finds, what is said if it finds nothing, and the parts of large results."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

import pytest

from paperscope_core.errors import InputError, NotFoundError
from paperscope_core.types import (
    Context,
    ContextSource,
    Filters,
    Link,
    Paper,
    Passage,
    Reference,
    Section,
    ToolCall,
    ToolName,
    ToolResult,
)
from query.reading_tools import ReadingTools
from tests.query.conftest import PAPER, TREE, MemoryLibrary, passage, place

OTHER = "bbbb00000002"


def heading(number: int) -> Passage:
    section = TREE.sections[number - 1]
    return Passage(
        id=f"{PAPER}/heading-{number}",
        place=place(1, 10.0 * number),
        order=number,
        text=f"{section.number} {section.title}",
        role="heading",
        level=section.level,
        section=section.path,
    )


def algorithm(number: int) -> Passage:
    return Passage(
        id=f"{PAPER}/passage-{60 + number}",
        place=place(3, 200.0),
        order=180 + number,
        text="for each sample:\n    weigh it",
        role="code",
        label=f"Algorithm {number}",
        caption="Weighing of samples.",
        section="A Details",
    )


HEADED = replace(
    TREE,
    elements=(*TREE.elements[:2], heading(3), heading(4), *TREE.elements[2:], algorithm(2)),
    links=(*TREE.links, Link(source=f"{PAPER}/passage-3", target=f"{PAPER}/reference-1", text="[1]")),
)
SECOND = replace(TREE, id=OTHER, title="Rare Words", file="rare.pdf", elements=(), sections=(), links=())


async def search(text: str, papers: tuple[str, ...]) -> Context:
    """Find what the text names among two passages of the paper."""
    found = [one for one in TREE.elements[:2] if isinstance(one, Passage) and text in one.text]
    sources = (
        ContextSource(id=number, content=one.text, element=one.id, place=one.place) for number, one in enumerate(found)
    )
    return Context(sources=tuple(sources) if papers in ((), (PAPER,)) else ())


def tools(*papers: Paper, filters: Filters = Filters(), asked: Sequence[str] = (), tokens: int = 4000) -> ReadingTools:
    library = MemoryLibrary(*(papers or (HEADED,)))
    return ReadingTools(library, search, filters=filters, papers=asked, tokens=tokens, count=len)


def run(tool: ToolName, argument: str = "", *, paper: str = "", on: ReadingTools | None = None) -> ToolResult:
    call = ToolCall(tool=tool, argument=argument, paper=paper)
    return asyncio.run((on or tools()).run(call))


def kinds(result: ToolResult) -> list[str]:
    return [item.kind for item in result.items]


@pytest.mark.parametrize(
    "name",
    ["3", "Section 3", "§3", "Results", "results", "3 Results", "RESULTS ", f"{PAPER}/section-3", "Resulst"],
)
def test_a_section_is_whole_with_its_subsections_in_reading_order(name: str) -> None:
    result = run("section", name)
    assert result.message == ""
    assert kinds(result) == ["text", "text", "table", "figure"]
    head, text, table, figure = result.items
    assert head.text == "# 3 Results"
    assert text.section == "3 Results > 3.1 Tagging"
    assert text.text == (
        "## 3.1 Tagging\n\nAll scores on the two treebanks are in Table 2. Dice helps most on rare tags."
    )
    assert text.elements == (f"{PAPER}/heading-4", f"{PAPER}/passage-3")
    assert text.places == (place(1, 40.0), place(2, 90.0))
    assert (table.label, table.crop, table.page) == ("Table 2", "crop-table-2", 2)
    assert table.text.splitlines()[:3] == [
        "Table 2: F1 of the taggers.",
        "Columns: Model | WSJ | CTB5",
        "Plain | WSJ: 94.90 | CTB5: 94.10",
    ]
    assert figure.text == "Figure 1: Learning curves of both losses.\nepoch F1"
    assert {item.title for item in result.items} == {TREE.title}


@pytest.mark.parametrize("name", ["A", "Appendix A", "appendix a", "A Details", "details"])
def test_an_appendix_is_a_section(name: str) -> None:
    assert [item.section for item in run("section", name).items] == ["A Details", "A Details"]


def test_the_abstract_needs_no_section() -> None:
    abstract = replace(passage(70, 1, "We compare losses.", ""), role="abstract")
    result = run("section", "Abstract", on=tools(replace(TREE, elements=(abstract, *TREE.elements))))
    assert [item.text for item in result.items] == ["We compare losses."]


def test_an_unknown_section_is_told_with_similar_or_all_ones() -> None:
    assert run("section", "7").message == (
        "no section '7' in 'Dice Losses for Imbalanced Tagging'; its sections are '1 Introduction'; '2 Loss'; "
        "'3 Results'; '3.1 Tagging'; 'A Details'"
    )
    assert "did you mean '2 Loss'?" in run("section", "loss functions").message
    assert "it has no sections" in run("section", "1", paper="Rare Words", on=tools(HEADED, SECOND)).message


def test_several_sections_of_one_name_are_read_or_listed_if_they_are_long() -> None:
    twice = Section(id=f"{PAPER}/section-6", number="3", title="Proofs", level=1, path="B More > 3 Proofs")
    proof = passage(80, 3, "It follows.", "B More > 3 Proofs")
    both = replace(HEADED, sections=(*HEADED.sections, twice), elements=(*HEADED.elements, proof))
    assert [item.section for item in run("section", "3", on=tools(both)).items][-1] == "B More > 3 Proofs"
    ambiguous = tools(both, tokens=200)
    message = run("section", "3", on=ambiguous).message
    assert "'3' may be any of these sections" in message
    assert "'3 Results'; 'B More > 3 Proofs'" in message
    assert run("section", "3 Results", on=ambiguous).items[0].section == "3 Results"
    lower = replace(twice, level=2)
    nested = tools(replace(both, sections=(*HEADED.sections, lower)))
    assert {item.section for item in run("section", "3", on=nested).items} == {"3 Results", "3 Results > 3.1 Tagging"}


@pytest.mark.parametrize(
    ("name", "kind", "element"),
    [
        ("Table 2", "table", "table-2"),
        ("Tab. 2", "table", "table-2"),
        ("the last table", "table", "table-2"),
        ("table-2", "table", "table-2"),
        (f"{PAPER}/table-2", "table", "table-2"),
        ("F1 of the taggers", "table", "table-2"),
        ("taggers", "table", "table-2"),
        ("fig. 1b", "figure", "figure-1"),
        ("Eq. (1)", "equation", "equation-1"),
        ("algorithm 2", "listing", "passage-62"),
    ],
)
def test_an_element_is_found_by_label_id_and_caption(name: str, kind: str, element: str) -> None:
    (item,) = run("element", name).items
    assert (item.kind, item.elements) == (kind, (f"{PAPER}/{element}",))


def test_a_listing_keeps_its_lines() -> None:
    (item,) = run("element", "Algorithm 2").items
    assert item.text == "Algorithm 2: Weighing of samples.\n```\nfor each sample:\n    weigh it\n```"
    assert item.page == 3


def test_an_unknown_element_is_told_with_the_labels() -> None:
    message = run("element", "Table 9").message
    assert message.startswith("no element 'Table 9' in 'Dice Losses")
    assert "did you mean 'Table 1'; 'Table 2'" in message or "'Table 2'; 'Table 1'" in message


def test_a_caption_that_fits_several_elements_is_listed_if_they_are_long() -> None:
    doubled = replace(HEADED.elements[-1], id=f"{PAPER}/passage-90", label="Algorithm 3")
    both = replace(HEADED, elements=(*HEADED.elements, doubled))
    assert kinds(run("element", "weighing of the samples", on=tools(both))) == ["listing", "listing"]
    assert "may be any of these" in run("element", "weighing of the samples", on=tools(both, tokens=100)).message


@pytest.mark.parametrize("name", ["2", "page 2", "p. 2"])
def test_a_page_is_its_text_and_its_floats(name: str) -> None:
    page, table, figure = run("page", name).items
    assert (page.kind, page.label, page.page) == ("page", "page 2", 2)
    assert page.text.splitlines()[0].startswith("All scores on the two treebanks")
    assert (table.kind, figure.kind) == ("table", "figure")


def test_a_page_without_text_is_still_there_to_be_looked_at() -> None:
    (page,) = run("page", "2", on=tools(replace(TREE, elements=TREE.elements[:1]))).items
    assert (page.text, page.page, page.label) == ("", 2, "page 2")


@pytest.mark.parametrize(
    ("argument", "message"),
    [
        ("9", "no page 9 in 'Dice Losses for Imbalanced Tagging'; ask for 1 to 3"),
        ("0", "no page 0"),
        ("the plate", "'the plate' is no page; give its number (6)"),
        ("", "'' names no page; give its number (6)"),
    ],
)
def test_a_page_that_is_not_there_is_told(argument: str, message: str) -> None:
    assert run("page", argument).message.startswith(message)


def printed(shift: int, *pages: int) -> Paper:
    """Return the paper with page numbers at the foot of these pages."""
    feet = (
        replace(algorithm(30 + page), place=place(page, 400.0), text=str(page + shift), role="furniture", label="")
        for page in pages
    )
    return replace(HEADED, elements=(*HEADED.elements, *feet))


def test_a_page_is_found_by_the_number_that_is_printed_on_it() -> None:
    proceedings = tools(printed(6980, 1, 2))
    (page, *_) = run("page", "6982", on=proceedings).items
    assert page.label == "page 2, printed 6982"
    assert page.heading == f"{TREE.title}, page 2, printed 6982"
    assert run("page", "2", on=proceedings).items[0].page == 2
    assert "no page 6984 " in run("page", "6984", on=proceedings).message
    assert "Pages: 3 (page 1 is printed as 6981)" in run("outline", on=proceedings).items[0].text
    for doubtful in (printed(6980, 2), printed(0, 1, 2, 3)):
        assert "no page 6982 " in run("page", "6982", on=tools(doubtful)).message
        assert run("page", "2", on=tools(doubtful)).items[0].label == "page 2"


@pytest.mark.parametrize("name", ["passage-3", f"{PAPER}/passage-3"])
def test_any_element_is_found_by_its_id(name: str) -> None:
    (item,) = run("element", name).items
    assert (item.kind, item.elements) == ("text", (f"{PAPER}/passage-3",))
    assert item.text.startswith("All scores on the two treebanks")


def test_a_long_argument_is_no_name() -> None:
    message = run("element", "Table 1, " * 300).message
    assert message.endswith("is too long; give at most 300 characters, or search")
    assert len(message) < 200


def test_a_file_without_pages_has_none() -> None:
    unpaged = replace(TREE, pages=(replace(TREE.pages[0], width=0, height=0),), format="markdown")
    assert "has no pages: it is markdown" in run("page", "1", on=tools(unpaged)).message
    assert {item.page for item in run("element", "Table 2", on=tools(unpaged)).items} == {0}


LI = Reference(
    id=f"{PAPER}/reference-2", place=place(3, 60.0), order=201, text="X. Li and Y. Wu. Focal loss.", year=2020
)


@pytest.mark.parametrize("name", ["[1]", "1", "reference-1", "Rare tags"])
def test_a_reference_comes_with_the_sentences_that_cite_it(name: str) -> None:
    citing = passage(3, 2, "Dice helps most on rare tags [1]. It is simple.", "2 Loss")
    elements = tuple(citing if one.id == citing.id else one for one in HEADED.elements)
    entry, citation = run("reference", name, on=tools(replace(HEADED, elements=elements))).items
    assert (entry.kind, entry.label, entry.text) == ("reference", "[1]", "[1] Rare tags. 2019.")
    assert (citation.kind, citation.section) == ("citation", "2 Loss")
    assert citation.text == "Dice helps most on rare tags [1]."


@pytest.mark.parametrize("name", ["Li and Wu, 2020", "Li et al. (2020)", "Li et al.", "focal loss"])
def test_a_reference_is_found_by_author_and_year(name: str) -> None:
    result = run("reference", name, on=tools(replace(TREE, elements=(*TREE.elements, LI))))
    assert [item.text for item in result.items] == [LI.text]


def test_an_unknown_reference_is_told_with_the_known_ones() -> None:
    assert run("reference", "[29]").message.endswith("its references are '[1]'")


def test_an_outline_lists_every_part() -> None:
    (item,) = run("outline").items
    assert item.kind == "outline"
    assert "Tables: 2" in item.text
    assert "Table 2 (page 2): F1 of the taggers." in item.text
    assert run("outline", "Dice Losses").items == (item,)


def test_papers_are_found_by_their_words() -> None:
    both = tools(HEADED, SECOND)
    assert [item.paper for item in run("papers", on=both).items] == [PAPER, OTHER]
    assert [item.paper for item in run("papers", "RARE", on=both).items] == [OTHER]
    assert [item.paper for item in run("papers", "about rare diseases", on=both).items] == [OTHER]
    assert "no paper has words of 'tea'" in run("papers", "tea", on=both).message


def test_a_search_returns_sources_with_their_sections() -> None:
    (item,) = run("search", "imbalanced").items
    assert (item.kind, item.section, item.elements) == ("text", "1 Introduction", (f"{PAPER}/passage-1",))
    assert run("search", "tea").message == "nothing was found for 'tea'; use other words"
    assert run("search", " ").message.startswith("' ' can't be searched for")


@pytest.mark.parametrize("name", [OTHER, "bbbb", "rare.pdf", "rare words", "Rare Words (2024)", "Rare W…"])
def test_a_paper_is_named_by_id_file_and_title(name: str) -> None:
    both = tools(HEADED, replace(SECOND, elements=(passage(1, 1, "Tea.", ""),)))
    assert [item.paper for item in run("page", "1", paper=name, on=both).items] == [OTHER]


def test_an_unknown_paper_is_told_with_the_known_ones() -> None:
    assert run("outline", paper="Tea").message.startswith("no paper 'Tea' in the library; it holds")


def test_papers_asked_about_are_read_unless_one_is_named() -> None:
    other = replace(SECOND, elements=(passage(1, 1, "Tea.", ""),))
    asked = tools(HEADED, other, asked=[OTHER])
    assert {item.paper for item in run("page", "1", on=asked).items} == {OTHER}
    assert {item.paper for item in run("page", "1", paper=PAPER, on=asked).items} == {PAPER}
    assert {item.paper for item in run("page", "1", on=tools(HEADED, other)).items} == {PAPER, OTHER}


def test_what_filters_exclude_is_not_read() -> None:
    filtered = tools(HEADED, SECOND, filters=Filters(papers=(OTHER,)))
    assert run("section", "3", paper=PAPER, on=filtered).message.startswith(f"no paper '{PAPER}'")
    assert [item.paper for item in run("papers", on=filtered).items] == [OTHER]
    within = tools(filters=Filters(sections=("2",)))
    assert "no element 'Table 2'" in run("element", "Table 2", on=within).message


def test_one_of_many_papers_has_to_be_named() -> None:
    many = [replace(SECOND, id=f"{number:012x}") for number in range(30)]
    message = run("page", "1", on=tools(*many)).message
    assert message == "page '1' may be of any of 30 papers; name one: its id, file name or title"


def test_a_large_result_comes_in_parts_that_say_how_much_is_left() -> None:
    reader = tools(tokens=120)
    first = asyncio.run(reader.run(ToolCall(tool="section", argument="3")))
    parts = [
        asyncio.run(reader.run(ToolCall(tool="section", argument="3", part=part))) for part in range(1, first.parts + 1)
    ]
    whole = run("section", "3")
    assert first.parts > 1
    assert str(first).endswith(f"… part 1 of {first.parts}")
    texts = "".join(item.text for result in parts for item in result.items)
    assert all(line in texts for item in whole.items for line in item.text.splitlines())
    tables = [item for result in parts for item in result.items if item.kind == "table"]
    assert all(item.text.startswith("Table 2: F1 of the taggers.\nColumns:") for item in tables)
    assert all(sum(len(item.text) for item in result.items) <= 150 for result in parts)
    cut = [item for result in parts for item in result.items if item.cut]
    assert all(item.left for item in cut)
    beyond = asyncio.run(reader.run(ToolCall(tool="section", argument="3", part=99)))
    assert beyond.message == f"the result of section '3', part 99 has no part 99; ask for 1 to {first.parts}"


def test_a_long_passage_is_divided_between_words() -> None:
    long = " ".join(f"word{number}" for number in range(400))
    reader = tools(replace(TREE, elements=(passage(1, 1, long, "2 Loss"),)), tokens=500)
    first = asyncio.run(reader.run(ToolCall(tool="section", argument="2")))
    texts = [
        item.text
        for part in range(1, first.parts + 1)
        for item in asyncio.run(reader.run(ToolCall(tool="section", argument="2", part=part))).items
    ]
    assert " ".join(texts).split() == long.split()
    assert first.items[0].left == sum(map(len, texts[1:]))


def test_bad_calls_are_errors_of_look_up() -> None:
    with pytest.raises(NotFoundError, match="no section '9'"):
        asyncio.run(tools().look_up(ToolCall(tool="section", argument="9")))
    with pytest.raises(InputError, match="'tables' is no reading tool; take one of search, section"):
        ToolCall(tool="tables")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="no part 0"):
        ToolCall(tool="papers", part=0)
    assert (
        "the library is empty"
        in asyncio.run(ReadingTools(MemoryLibrary(), search).run(ToolCall(tool="outline"))).message
    )
