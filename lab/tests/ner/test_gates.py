"""Gates: each fails for its own reason, and none for a sound run."""

from dataclasses import replace
from pathlib import Path

import pytest
from paperscope_lab.ner.gates import check_run, join_predictions, read_predictions, unknown_rate
from paperscope_lab.ner.importing import import_examples

from ingest.extraction.recognizer.examples import Example, Span
from paperscope_core.errors import InputError


def example(identity: str, text: str, *spans: tuple[int, int, str]) -> Example:
    places = tuple((place, place + 1) for place, letter in enumerate(text) if letter != " ")
    found = tuple(Span(start=start, end=end, label=label) for start, end, label in spans)
    return Example(id=identity, text=text, tokens=places, spans=found)


GOLD = [example("1", "a b c d", (0, 1, "X")), example("2", "e f g h", (2, 3, "Y"))]


def test_a_sound_run_passes() -> None:
    joined = join_predictions(GOLD, GOLD[::-1])
    assert joined.predictions == GOLD
    assert joined.failed == []
    assert check_run(GOLD, joined.predictions, seen={"training": [example("1", "other")]}) == []


def test_unscored_foreign_and_unknown_examples_fail() -> None:
    joined = join_predictions(GOLD, [replace(GOLD[1], text="e f g!"), example("3", "x")])
    assert [prediction.failure for prediction in joined.predictions] == [
        "no prediction",
        "the prediction of another text",
    ]
    assert [reason.partition(":")[0] for reason in joined.failed] == [
        "unscored, because there is no prediction",
        "the prediction is of another text",
        "predictions of unknown examples",
    ]


def test_predictions_without_ids_may_have_other_spaces_between_the_tokens(tmp_path: Path) -> None:
    (tmp_path / "gold.txt").write_text("pre\t0\tB-A\n-\t3\tI-A\nset\t4\tI-A\nends\t8\tO\n")
    (tmp_path / "found.txt").write_text("pre B-A\n- I-A\nset I-A\nends B-X\n")
    gold = import_examples(tmp_path / "gold.txt").examples
    joined = read_predictions(tmp_path / "found.txt", gold)
    assert joined.failed == []
    assert [(span.start, span.end, span.label) for span in joined.predictions[0].spans] == [(0, 7, "A"), (8, 12, "X")]
    (tmp_path / "found.txt").write_text("pre B-A\n- I-A\nset I-A\nend O\n")
    assert read_predictions(tmp_path / "found.txt", gold).failed != []


def test_predictions_of_a_format_without_tokens_have_no_other_tokens(tmp_path: Path) -> None:
    gold = [Example(id="1", text="in U.S. courts", tokens=((0, 2), (3, 7), (8, 14)), spans=())]
    (tmp_path / "spacy.json").write_text('["in U.S. courts", {"entities": [[3, 7, "LOC"]]}]')
    assert read_predictions(tmp_path / "spacy.json", gold).failed == []
    split = '["in U.S. courts", {"entities": [[3, 7, "LOC"]], "tokens": [[0, 2], [3, 5], [5, 7], [8, 14]]}]'
    (tmp_path / "split.json").write_text(split)
    assert "other tokens" in read_predictions(tmp_path / "split.json", gold).failed[0]


def test_other_tokens_fail() -> None:
    joined = join_predictions(GOLD, [GOLD[0], replace(GOLD[1], tokens=((0, 3),))])
    assert joined.failed == ["the prediction has other tokens than the gold: 1 of 2 examples, the first is 2"]


def test_a_run_worse_than_always_o_fails() -> None:
    empty = [replace(one, spans=()) for one in GOLD]
    assert check_run(GOLD, empty) == []  # as good as O
    noisy = [replace(one, spans=(Span(start=4, end=7, label="X"),)) for one in GOLD]
    assert check_run(GOLD, noisy) == ["worse than always predicting O: 0.2500 of the tokens are right, 0.7500 are O"]


def test_a_token_is_right_by_its_label_as_in_reports() -> None:
    gold = [example("1", "a b c d", (2, 5, "X"))]
    found = [example("1", "a b c d", (0, 1, "X"), (4, 5, "X"))]
    assert check_run(gold, found) == []  # c and d are right, although c begins no entity


def test_gold_that_was_selected_on_fails() -> None:
    assert check_run(GOLD, GOLD, seen={"selection": GOLD[:1]}) == [
        "the data were used for selection: 1 of 2 texts are in them"
    ]


def test_a_tokenizer_of_another_script_fails(tmp_path: Path) -> None:
    from tokenizers import Tokenizer, models, pre_tokenizers

    tokenizer = Tokenizer(models.WordLevel({"a": 0, "b": 1, "[UNK]": 2}, unk_token="[UNK]"))  # noqa: S106
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    assert unknown_rate(tmp_path / "tokenizer.json", GOLD) == 0.75
    (reason,) = check_run(GOLD, GOLD, tokenizer=tmp_path / "tokenizer.json")
    assert reason == "the tokenizer does not suit the data: 75.0% of its pieces are unknown"
    (tmp_path / "tokenizer.json").write_text("{}")
    with pytest.raises(InputError, match=r"name a tokenizer\.json"):
        unknown_rate(tmp_path / "tokenizer.json", GOLD)


def test_a_tokenizer_may_state_its_unknown_piece_by_number_alone(tmp_path: Path) -> None:
    from tokenizers import Tokenizer, models, pre_tokenizers

    tokenizer = Tokenizer(models.Unigram([("a", -1.0), ("<unk>", 0.0)], unk_id=1))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    assert unknown_rate(tmp_path / "tokenizer.json", [example("1", "a b c a")]) == 0.5
    every_byte = Tokenizer(models.BPE(byte_fallback=True))
    every_byte.save(str(tmp_path / "bytes.json"))
    assert unknown_rate(tmp_path / "bytes.json", GOLD) == 0
