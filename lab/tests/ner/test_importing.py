"""Entity data of each format, and what is said about broken files."""

import io
import json
import os
import tarfile
from pathlib import Path

import pytest
from paperscope_lab.errors import ExampleFileError
from paperscope_lab.ner.examples import write_examples
from paperscope_lab.ner.importing import Format, Imported, import_examples

from ingest.extraction.recognizer.examples import Example, Span
from paperscope_core.errors import InputError


def read(tmp_path: Path, text: str, name: str = "file.txt", **options: Format) -> Imported:
    (tmp_path / name).write_text(text, encoding="utf-8")
    return import_examples(tmp_path / name, form=options.get("form"))


def surfaces(example: Example) -> list[tuple[str, str]]:
    return [(example.text[span.start : span.end], span.label) for span in example.spans]


def test_columns_start_documents_and_count_broken_tags(tmp_path: Path) -> None:
    text = "-DOCSTART- -X- O\n\nAda NN I-PER\nat NN O\n\n\n-DOCSTART- -X- O\n\nKing NN I-PER\nAda NN B-LOC\n\t\n"
    found = read(tmp_path, text)
    assert (found.format, found.scheme) == ("columns", "IOB1")
    assert [(one.text, one.document) for one in found.examples] == [
        ("Ada at", "file.txt-1"),
        ("King Ada", "file.txt-2"),
    ]
    assert surfaces(found.examples[1]) == [("King", "PER"), ("Ada", "LOC")]
    assert dict(found.counts) == {"tags that break IOB1, first on line 10": 1}


def test_an_entity_is_on_tokens_and_one_of_white_space_is_counted(tmp_path: Path) -> None:
    found = read(tmp_path, "\u00a0\tB-A\nAda\tI-A\n\u2003\tI-A\nran\tO\n\u3000\tB-B\n")
    (example,) = found.examples
    assert surfaces(example) == [("Ada", "A")]
    assert len(example.tokens) == 2
    assert found.counts == {"entities of white space alone": 1}


def test_offsets_restore_the_text(tmp_path: Path) -> None:
    text = "pre\t3\tB-A\n-\t6\tI-A\nset\t7\tI-A\nends\t13\tO\n\nNew\t0\tO\n"
    first, second = read(tmp_path, text).examples
    assert (first.text, surfaces(first)) == ("pre-set ends", [("pre-set", "A")])
    assert (first.document, second.document) == ("file.txt-1", "file.txt-2")


def test_korean_characters_are_tokens(tmp_path: Path) -> None:
    text = "## k-1\t<김:PS>은 왔다.\n김\tB-PS\n은\tO\n \tO\n왔\tO\n다\tO\n.\tO\n"
    (example,) = read(tmp_path, text).examples
    assert (example.id, example.text, surfaces(example)) == ("k-1", "김은 왔다.", [("김", "PS")])
    assert example.tokens == ((0, 1), (1, 2), (3, 4), (4, 5), (5, 6))


def test_token_documents_count_tokens_from_the_document_s_start(tmp_path: Path) -> None:
    record = {"doc_key": "d", "sentences": [["a", "b"], ["😀", "مرحبا", "é"]], "ner": [[[0, 0, "X"]], [[3, 4, "Y"]]]}
    first, second = read(tmp_path, json.dumps(record)).examples
    assert surfaces(first) == [("a", "X")]
    assert surfaces(second) == [("مرحبا é", "Y")]
    assert (second.id, second.document) == ("d-2", "d")


def test_surfaces_are_found_in_their_order(tmp_path: Path) -> None:
    record = {"sentence": "CNNs and 2D CNNs", "ner": [["CNNs", "M"], ["2D CNNs", "M"], ["NN", "M"], ["CNNs", "M"]]}
    found = read(tmp_path, json.dumps(record) + "\n" + json.dumps(record))
    assert [(span.start, span.end) for span in found.examples[0].spans] == [(0, 4), (9, 16), (12, 16)]
    assert found.counts.total() == 2  # "NN" is a part of a token


def test_surfaces_do_not_overlap_if_they_need_not(tmp_path: Path) -> None:
    record = {"sentence": "2D CNNs and 3D CNNs beat CNNs", "ner": [["3D CNNs", "M"], ["CNNs", "M"]]}
    (example,) = read(tmp_path, json.dumps(record)).examples
    assert [(span.start, span.end) for span in example.spans] == [(12, 19), (25, 29)]


@pytest.mark.parametrize(
    "record",
    [
        ["Ada [slept | PER] .", {"entities": [[0, 3, "PER"]]}],
        {"text": "Ada [slept | PER] .", "ents": [{"start": 0, "end": 3, "label": "PER"}]},
        {"tokenized_text": ["Ada", "[slept | PER]", "."], "ner": [[0, 0, "PER"]]},
    ],
)
def test_spacy_and_gliner_records(tmp_path: Path, record: object) -> None:
    for text in (json.dumps([record]), json.dumps(record), f"{json.dumps(record)}\n{json.dumps(record)}\n"):
        example = read(tmp_path, text).examples[0]
        assert (example.text, surfaces(example)) == ("Ada [slept | PER] .", [("Ada", "PER")])


def test_standoff_is_read_from_folders_and_archives(tmp_path: Path) -> None:
    folder = tmp_path / "brat"
    folder.mkdir()
    (folder / "1.txt").write_text("New\nYork, Ada")
    (folder / "1.ann").write_text("T1\tLOC 0 8\tNew York\nT2\tPER 10 11;12 13\tA a\nR1\tin Arg1:T2 Arg2:T1\n")
    with tarfile.open(tmp_path / "brat.tar.gz", "w:gz") as archive:
        archive.add(folder, "brat")
    for path in (folder, tmp_path / "brat.tar.gz"):
        found = import_examples(path)
        assert surfaces(found.examples[0]) == [("New\nYork", "LOC")]
        assert dict(found.counts) == {"entities in several parts": 1}


def test_our_own_files_are_recognized(tmp_path: Path) -> None:
    example = Example(id="1", text="Ada", tokens=((0, 3),), spans=(Span(start=0, end=3, label="PER"),))
    write_examples(tmp_path / "own.jsonl", [example])
    found = import_examples(tmp_path / "own.jsonl")
    assert (found.format, found.examples) == ("spans", [example])


def test_our_own_files_are_recognized_without_tokens(tmp_path: Path) -> None:
    examples = [
        Example(id="a.txt", text="", tokens=(), spans=()),
        Example(id="b.txt", text="Ada", tokens=(), spans=(), failure="no reply"),
    ]
    write_examples(tmp_path / "own.jsonl", examples)
    found = import_examples(tmp_path / "own.jsonl")
    assert (found.format, found.examples) == ("spans", examples)


@pytest.mark.parametrize(
    ("text", "where", "reason"),
    [
        ("", "", "no tokens"),
        ("Ada B-PER\nat\n", ":2", "1 columns, expected 2"),
        ("Ada B-PER\nat I_PER\n", ":2", "'I_PER' is no tag"),
        ("Ada B-\n", ":1", "has no label"),
        ("Ada B-\u00a0\n", ":1", "has no label"),
        ("## k\tx\na\tB-A\nb\n", ":3", "a character, a tab and a tag"),
        ('["a", 2\n', ":1", "no JSON"),
        ("[ O\n\n] a O\n", ":3", "3 columns, expected 2"),
        ('["\\ud800", {"entities": []}]', ":1", "hex escape"),
        ("[" * 10_000 + '"', ":1", "recursion limit"),
        ('{"a": 1}\n', ", record 1", "no known form"),
        ('{"sentence": "a", "ner": []}\n{"ner": []}\n', ":2", "'sentence' is missing"),
        ('{"sentence": "a", "ner": []}\n{broken\n', ":2", "no JSON"),
        ('{"tokenized_text": ["a"], "ner": [[0, 1, "X"]]}', ", record 1", "[0, 1] is not within"),
        ('["a", {"entities": [[0, 0, "X"]]}]', ", record 1", "span [0, 0] is empty"),
        ('["a", {"entities": [[0, 1, ""]]}]', ", record 1", "label '' is blank at 'entities.0.2'"),
        ('{"sentences": [["a"]], "ner": []}', ", record 1", "1 sentences, but entities of 0"),
        ('{"tokenized_text": [3], "ner": []}', ", record 1", "valid string at 'tokenized_text.0'"),
        ('{"tokenized_text": ["a"], "ner": [[0, 0]]}', ", record 1", "'ner.0.2' is missing"),
        ('[["a", {"entities": []}], [3, {"entities": []}]]', ", record 2", "no JSON object"),
        ('["a", {"entities": [5]}]', ", record 1", "at 'entities.0'"),
        ('["a", {"entities": [[false, true, "X"]]}]', ", record 1", "valid integer at 'entities.0.0'"),
        ('{"text": "a", "ents": [{"start": 0, "end": 1}]}', ", record 1", "field 'label' is missing at 'ents.0'"),
        ('{"text": "a", "ents": [], "tokens": [{"start": 0, "end": 9}]}', ", record 1", "token [0, 9]"),
        ('{"text": "a", "ents": [], "tokens": [{"start": 0, "end": "1"}]}', ", record 1", "at 'tokens.0.1'"),
        ("## k\tx\na\tB-A\n## k\tx\na\tB-A\n", "", "two texts have the id 'k'"),
        ('{"doc_key": "d", "sentences": [["a"]], "ner": [[]]}\n' * 2, "", "two texts have the id 'd-1'"),
    ],
)
def test_a_broken_file_is_named_with_its_line(tmp_path: Path, text: str, where: str, reason: str) -> None:
    with pytest.raises(ExampleFileError) as caught:
        read(tmp_path, text)
    assert str(caught.value).startswith(f"{tmp_path / 'file.txt'}{where}: ")
    assert reason in str(caught.value)


def test_a_scheme_needs_tags(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('["a", {"entities": []}]')
    with pytest.raises(InputError, match="has no tags"):
        import_examples(tmp_path / "a.json", scheme="IOB1")


def test_standoff_may_start_with_a_byte_order_mark_and_have_folders_beside_it(tmp_path: Path) -> None:
    (tmp_path / "old").mkdir()
    (tmp_path / "1.txt").write_text("Ada")
    (tmp_path / "1.ann").write_text("\ufeffT1\tPER 0 3\tAda\n", encoding="utf-8")
    (tmp_path / "2.ann").write_text("T1\tPER 0 3\tEve\n")
    found = import_examples(tmp_path)
    assert [surfaces(one) for one in found.examples] == [[("Ada", "PER")]]
    assert dict(found.counts) == {"files of annotations without a text": 1}


@pytest.mark.parametrize("name", ["missing.tar.gz", "missing"])
def test_missing_standoff_is_named(tmp_path: Path, name: str) -> None:
    with pytest.raises(ExampleFileError, match="No such file"):
        import_examples(tmp_path / name, form="standoff")


@pytest.mark.parametrize("notes", ["T1 LOC 0 3 Ada", "T1\tLOC 0 9\tAda", "T1\tLOC 0 3\tEve"])
def test_broken_standoff_is_named(tmp_path: Path, notes: str) -> None:
    (tmp_path / "1.txt").write_text("Ada")
    (tmp_path / "1.ann").write_text(f"\n{notes}\n")
    with pytest.raises(ExampleFileError, match=r"1\.ann:2: "):
        import_examples(tmp_path)


def test_what_is_no_archive_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.tar").write_bytes(io.BytesIO(os.urandom(40)).getvalue())
    with pytest.raises(ExampleFileError, match="tar archive"):
        import_examples(tmp_path / "a.tar")
