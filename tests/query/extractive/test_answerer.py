"""The extractive answerer as a whole: what it answers, what it shows, and what it says is nowhere."""

from collections.abc import Awaitable, Callable
from dataclasses import replace

import pytest

from paperscope_core.types import Paper, Passage, Section, Table
from query.evidence import Draft
from query.extractive.answerer import _Identity, _index_of

Ask = Callable[..., Awaitable[Draft]]


async def test_a_cell_answers_where_the_question_names_its_row_and_column(ask: Ask, botany: Paper) -> None:
    draft = await ask("What is the survival of full sun?", botany)
    assert (draft.status, draft.text) == ("answered", "In Table 1, Full sun has 0.91 under Survival.")
    assert [evidence.quote for evidence in draft.claims[0].evidence] == ["0.91"]


@pytest.mark.parametrize(
    "question",
    [
        "What is the survival of the shaded seedlings?",  # no row is named in full
        "What is the survival?",  # no row is named
        "What was measured in full sun?",  # no column is named
        "What is the survival of full sun in the greenhouse?",  # a word is left over
        "What is the survival of full sun without fertiliser?",
        "Why is the survival of full sun higher?",
        "How is the survival of full sun measured?",
    ],
)
async def test_a_cell_that_is_not_named_in_full_is_no_answer(ask: Ask, botany: Paper, question: str) -> None:
    draft = await ask(question, botany)
    assert draft.status == "evidence"


async def test_no_cell_answers_where_two_tables_could(
    ask: Ask, botany: Paper, make_table: Callable[..., Table], make_paper: Callable[..., Paper]
) -> None:
    rows = [["Treatment", "Survival"], ["Full sun", "0.77"], ["Shade", "0.5"]]
    other = make_paper(make_table(rows, paper="bbbb00000002"), ident="bbbb00000002")
    assert (await ask("What is the survival of full sun?", botany, other)).status == "evidence"


@pytest.mark.parametrize(
    "question",
    [
        "Does watering reduce wilting?",
        "Is the survival of full sun higher than that of shade?",
        "Were the leaves weighed or counted?",
    ],
)
async def test_a_yes_no_question_gets_places_and_no_verdict(ask: Ask, botany: Paper, question: str) -> None:
    draft = await ask(question, botany)
    assert draft.status == "evidence"
    assert not draft.text.startswith(("Yes", "No:", "No,"))


async def test_evidence_shows_five_places_of_five_elements(ask: Ask, botany: Paper) -> None:
    draft = await ask("How were the leaves dried?", botany)
    assert draft.text.startswith(
        "No language model is set, so nothing is concluded; this is where the papers speak of it:"
    )
    assert len(draft.claims) == 5
    assert len({claim.evidence[0].element for claim in draft.claims}) == 5
    said = " ".join(draft.text.split())
    assert all(f"{at}. {' '.join(claim.text.split())}" in said for at, claim in enumerate(draft.claims, start=1))


async def test_the_rows_of_a_table_are_shown_below_its_headers(ask: Ask, botany: Paper) -> None:
    draft = await ask("Which seedlings survived in the shade or in drought?", botany)
    lines = draft.text.splitlines()
    at = next(at for at, line in enumerate(lines) if "Growth of the seedlings" in line)
    assert [line.strip() for line in lines[at + 1 : at + 4]] == [
        "Treatment | Height (cm) | Seeds | Survival",
        "Shade | 12.4 | 31 | 0.82",
        "Drought | 7.7 | 12 | 0.46",
    ]


async def test_a_table_without_label_and_caption_shows_its_section_and_first_rows(
    ask: Ask, make_table: Callable[..., Table], make_paper: Callable[..., Paper]
) -> None:
    rows = [["Site", "Depth"], *([f"Lake {letter}", "4.1"] for letter in "ABCDE")]
    table = replace(make_table(rows), label="", section="Waters > Lakes")
    draft = await ask("How was it done?", make_paper(table))
    assert draft.claims[0].text.splitlines() == [
        "(table, Waters > Lakes, page 2)",
        "Site | Depth",
        *(f"Lake {letter} | 4.1" for letter in "ABC"),
    ]


async def test_what_was_quoted_is_not_quoted_again(
    ask: Ask, make_passage: Callable[..., Passage], make_paper: Callable[..., Paper]
) -> None:
    twice = [make_passage(number, "The tagger was trained for three days.") for number in (1, 2)]
    draft = await ask("How long was the tagger trained?", make_paper(*twice))
    assert len(draft.claims) == 1


async def test_texts_about_the_whole_paper_come_first_and_whole(
    ask: Ask, make_passage: Callable[..., Passage], make_paper: Callable[..., Paper]
) -> None:
    method = make_passage(1, "We trained a tagger. It is fast.")
    end = make_passage(2, "The tagger is fast. It is rather small, too.", section="s5")
    sections = (Section(id="s5", number="5", title="Conclusion", level=1, path="5 Conclusion"),)
    paper = make_paper(method, end, sections=sections)
    draft = await ask("What is this paper about?", paper, summary=(end.id,))
    assert [claim.text for claim in draft.claims] == [
        "Conclusion: “The tagger is fast. It is rather small, too.” (page 1)",
        "“We trained a tagger.” (page 1)",
    ]


async def test_a_question_that_asks_for_more_than_a_definition_gets_places(ask: Ask, botany: Paper) -> None:
    assert (await ask("What does PAR stand for?", botany)).status == "answered"
    assert (await ask("What does PAR stand for, and who logged it?", botany)).status == "evidence"


async def test_a_table_without_the_label_asked_for_is_not_read(ask: Ask, botany: Paper) -> None:
    assert (await ask("In Table 9, what is the survival of full sun?", botany)).status == "evidence"


async def test_a_grid_read_with_low_confidence_is_told(
    ask: Ask, make_table: Callable[..., Table], make_paper: Callable[..., Paper]
) -> None:
    doubtful = make_table([["Site", "Depth"], ["Lake", "4.1"], ["Fjord", "9.9"]], confidence=0.4)
    draft = await ask("What is the depth of the fjord?", make_paper(doubtful))
    assert draft.status == "answered"
    [finding] = draft.findings
    assert finding.kind == "table"
    assert "low confidence (0.40)" in finding.message


# Wrong answers of the rules that this package replaces.


async def test_a_score_is_no_answer_to_what_something_is(
    ask: Ask, make_table: Callable[..., Table], make_passage: Callable[..., Passage], make_paper: Callable[..., Paper]
) -> None:
    scores = make_table([["Model", "Accuracy", "F1"], ["RAPTOR", "82.6", "55.7"], ["BM25", "57.3", "26.6"]])
    speaks = make_passage(1, "RAPTOR was run with three seeds.")
    assert (await ask("What is RAPTOR?", make_paper(speaks, scores))).status == "evidence"


async def test_a_number_of_steps_is_no_duration(
    ask: Ask, make_table: Callable[..., Table], make_passage: Callable[..., Passage], make_paper: Callable[..., Paper]
) -> None:
    steps = make_table([["Model", "train steps", "BLEU"], ["base", "100K", "25.8"], ["big", "300K", "26.4"]])
    speaks = make_passage(1, "The big Transformer was trained for 3.5 days on 8 GPUs.")
    draft = await ask("How long did it take to train the big Transformer?", make_paper(speaks, steps))
    assert draft.status == "evidence"
    assert "3.5 days" in draft.text


async def test_a_sentence_with_without_denies_nothing(
    ask: Ask, make_passage: Callable[..., Passage], make_paper: Callable[..., Paper]
) -> None:
    speaks = make_passage(1, "The tagger reduces labelling errors without extra cost.")
    draft = await ask("Does the tagger reduce labelling errors?", make_paper(speaks))
    assert draft.status == "evidence"
    assert "“The tagger reduces labelling errors without extra cost.” (page 1)" in draft.text


async def test_a_sentence_that_says_it_is_shown_and_not_denied(
    ask: Ask, make_passage: Callable[..., Passage], make_paper: Callable[..., Paper]
) -> None:
    speaks = make_passage(1, "All networks were trained with the Adam optimizer and a cosine schedule.")
    draft = await ask("Which optimizer was used?", make_paper(speaks))
    assert draft.status == "evidence"
    assert "Adam optimizer" in draft.text
    assert "do not say" not in draft.text


def test_a_table_is_indexed_once(make_table: Callable[..., Table]) -> None:
    first, second = (make_table([["Site", "Depth"], ["Lake", "4.1"]]) for _ in range(2))
    assert _index_of(_Identity(first)) is _index_of(_Identity(first))
    assert _index_of(_Identity(first)) is not _index_of(_Identity(second))
