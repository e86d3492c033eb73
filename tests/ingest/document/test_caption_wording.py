"""The wording of captions and headings: labels, continuation notes, numbers and fixed titles."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.document.caption_wording import (
    caption_start,
    is_abstract_title,
    is_continuation_note,
    is_references_title,
    normalized_label,
    opens_continuation,
    split_number,
)


@pytest.mark.parametrize(
    ("word_", "number", "label"),
    [
        ("Tab.", "5", "Table 5"),
        ("TABLE", "S1", "Table S1"),
        ("Fig.", "3", "Figure 3"),
        ("Figures", "A.2", "Figure A.2"),
    ],
)
def test_labels_are_normalised(word_: str, number: str, label: str) -> None:
    assert normalized_label(word_, number) == label


@pytest.mark.parametrize(
    "text",
    [
        "Continued on next page",
        "(Continued)",
        "Table 2 (continued)",
        "Table 2.7 – continued from previous page",
        "Table 4: Cont.",
        "cont'd",
        "Continued on the following page …",
    ],
)
def test_continuation_notes(text: str) -> None:
    assert is_continuation_note(text)


@pytest.mark.parametrize("text", ["Continued training improves all scores", "Content", "Table 2", "Control", ""])
def test_texts_that_are_not_continuation_notes(text: str) -> None:
    assert not is_continuation_note(text)
    assert not opens_continuation(text)


@given(st.sampled_from(["(continued)", "Continued.", "— continued:", "Cont.", "(cont’d):"]), st.text(alphabet="ab "))
def test_caption_that_begins_with_a_continuation_note(note: str, rest: str) -> None:
    assert opens_continuation(f"{note} {rest}")


@pytest.mark.parametrize(
    ("text", "number", "title"),
    [
        ("4.2 Results", "4.2", "Results"),
        ("1. Introduction", "1", "Introduction"),
        ("A.1 Data", "A.1", "Data"),
        ("IV. METHOD", "IV", "METHOD"),
        ("Conclusion", "", "Conclusion"),
    ],
)
def test_heading_numbers(text: str, number: str, title: str) -> None:
    assert split_number(text) == (number, title)


def test_the_bibliography_is_known_by_its_title() -> None:
    assert is_references_title("7 References")
    assert is_references_title("Bibliography")
    assert is_references_title("REFERENCES AND NOTES")
    assert is_references_title("Notes and references")
    assert not is_references_title("Results")


@pytest.mark.parametrize(
    ("text", "label", "rest"),
    [
        ("Tabelle 3: Ertrag je Parzelle", "Table 3", "Ertrag je Parzelle"),
        ("Tableau 1. Rendement", "Table 1", "Rendement"),
        ("Abb. 2: Aufbau", "Figure 2", "Aufbau"),
        ("Рис. 4. Схема", "Figure 4", "Схема"),
        ("表1 実験の結果", "Table 1", "実験の結果"),
        ("图 2：模型的结构", "Figure 2", "模型的结构"),
        ("그림 5. 결과", "Figure 5", "결과"),
        ("טבלה 5: תוצאות", "Table 5", "תוצאות"),
    ],
)
def test_captions_of_other_languages(text: str, label: str, rest: str) -> None:
    start = caption_start(text)
    assert start
    assert (start.label, start.text) == (label, rest)


@pytest.mark.parametrize("text", ["図1に示すように", "Tabla redonda de 2020", "tabelle 4: klein"])
def test_sentences_of_other_languages_are_no_captions(text: str) -> None:
    assert caption_start(text) is None


@pytest.mark.parametrize("title", ["Literaturverzeichnis", "6 Références", "参考文献", "Список литературы", "참고문헌"])
def test_titles_of_bibliographies_in_other_languages(title: str) -> None:
    assert is_references_title(title)


def test_titles_of_abstracts_in_other_languages() -> None:
    assert is_abstract_title("Zusammenfassung")
    assert is_abstract_title("摘要:")
    assert not is_abstract_title("Results")
