"""Counts and doubts about data sets."""

from paperscope_lab.ner.datasets import find_problems, leakage, stats

from ingest.extraction.recognizer.examples import Example, Span


def example(identity: str, text: str, *spans: tuple[int, int, str], document: str | None = None) -> Example:
    found = tuple(Span(start=start, end=end, label=label) for start, end, label in spans)
    return Example(id=identity, text=text, tokens=((0, 3), (4, 7)), spans=found, document=document)


def test_stats_count_documents_duplicates_and_overlaps() -> None:
    data = [example("1", "Ada saw", (0, 3, "P"), (0, 7, "Q"), document="d"), example("2", "Ada  saw", document="e")]
    found = stats(data)
    assert (found.examples, found.tokens, found.spans, found.documents) == (2, 4, 2, 2)
    assert (found.duplicates, found.overlapping, found.without_spans) == (1, 1, 1)
    assert found.labels == {"P": 1, "Q": 1}


def test_problems_name_the_example_and_the_entity() -> None:
    data = [
        example("1", "Ada saw", (0, 3, "P"), (0, 3, "P"), (1, 7, "Q")),
        example("2", "Ada saw", (0, 3, "P")),
    ]
    assert list(find_problems(data)) == [
        "1: 'da saw' [1, 7] Q does not start and end with a token",
        "1: 'Ada' [0, 3] P is there 2 times",
        "1: 'Ada' [0, 3] P and 'da saw' [1, 7] Q overlap",
        "2: the text of 1 with other entities",
    ]


def test_leakage_counts_texts_documents_and_surfaces() -> None:
    train = [example("1", "Ada saw", (0, 3, "P"), document="d")]
    test = [example("9", "Ada saw", (0, 3, "P"), document="d"), example("8", "Ada ran", (0, 3, "X"), document="e")]
    found = leakage(train, test)
    assert (found.examples, found.of_examples, found.documents) == (1, 2, 1)
    assert (found.surfaces, found.of_surfaces) == (1, 2)


def test_leakage_finds_sentences_in_documents_and_documents_of_sentences() -> None:
    sentences = [
        "The CD28 costimulatory pathway activates nuclear factor kappa B in primary T cells .",
        "It does not .",
    ]
    document = "The CD28 costimulatory pathway activates nuclear factor kappa B in primary T cells. It does not."
    whole, parts = [example("d", document)], [example(text[:3], text) for text in sentences]
    assert leakage(whole, parts).examples == 1  # a short sentence may be in any text
    assert leakage(parts, whole).examples == 1
    assert leakage(parts[1:], whole).examples == 0
