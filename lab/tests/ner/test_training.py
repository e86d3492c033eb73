"""Training of taggers on a tiny encoder: it learns, repeats to the bit, resumes, and reloads."""

import asyncio
import json
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from tests.ner.tiny_encoder import GOLD, example_of, write_encoder

from ingest.extraction.recognizer.examples import Example, Span
from ingest.extraction.recognizer.loading import load_recognizer
from paperscope_core.errors import InputError, ModelError

if TYPE_CHECKING:
    from paperscope_lab.ner.training_options import TrainingOptions
    from paperscope_lab.ner.training_run import Progress

    from ingest.extraction.recognizer.encoder_tagger import EncoderTagger

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def options(tmp_path_factory: pytest.TempPathFactory) -> "TrainingOptions":
    from paperscope_lab.ner.training_options import TrainingOptions

    encoder = write_encoder(tmp_path_factory.mktemp("encoder"))
    return TrainingOptions(encoder=encoder, epochs=2, batch=2, rate=1e-2, new_rate=5e-2, dropout=0.1)


def train_tagger(
    corpora: Sequence[Sequence[Example]],
    dev: Sequence[Example],
    options: "TrainingOptions",
    folder: Path,
    *,
    on_progress: "Progress" = lambda *_: None,
) -> dict[str, Any]:
    from paperscope_lab.ner.training import train_tagger

    return train_tagger(corpora, dev, options, folder, on_progress=on_progress)


def load_tagger(folder: Path) -> "EncoderTagger":
    from ingest.extraction.recognizer.encoder_tagger import EncoderTagger

    return EncoderTagger.load(folder)


def spans_of(examples: list[Example]) -> list[list[tuple[int, int, str]]]:
    return [[(span.start, span.end, span.label) for span in example.spans] for example in examples]


def test_a_tagger_learns_and_reloads(options: "TrainingOptions", tmp_path: Path) -> None:
    manifest = train_tagger([GOLD], GOLD, replace(options, epochs=12, dropout=0.0), tmp_path / "a")
    assert manifest["dev_f1_strict"] == manifest["dev_f1_reloaded"] == 1.0
    tagger = load_tagger(tmp_path / "a")
    found = tagger.tag(GOLD)
    assert spans_of(found) == spans_of(GOLD)
    assert all(0.5 < (span.confidence or 0) <= 1 for example in found for span in example.spans)
    assert manifest["history"][0]["loss"] > manifest["history"][-1]["loss"]
    assert json.loads((tmp_path / "a" / "manifest.json").read_text())["train"][0]["spans"] == 7
    assert not (tmp_path / "a" / "checkpoint.pt").exists()


def test_a_finished_training_has_its_data_its_tokenizer_and_a_tagger_that_loads(
    options: "TrainingOptions", tmp_path: Path
) -> None:
    from paperscope_lab.ner.training import finished

    encoder = tmp_path / "encoder"
    shutil.copytree(options.encoder, encoder)
    options = replace(options, encoder=str(encoder), epochs=1)
    folder = tmp_path / "tagger"
    assert finished([GOLD], GOLD, options, folder) is None
    manifest = json.loads(json.dumps(train_tagger([GOLD], GOLD, options, folder)))
    assert finished([GOLD], GOLD, options, folder) == manifest
    assert finished([GOLD[1:]], GOLD, options, folder) is None
    tokenizer = json.loads((encoder / "tokenizer.json").read_text())
    tokenizer["model"]["max_input_chars_per_word"] = 7
    kept = (encoder / "tokenizer.json").read_bytes()
    (encoder / "tokenizer.json").write_text(json.dumps(tokenizer))
    assert finished([GOLD], GOLD, options, folder) is None
    (encoder / "tokenizer.json").write_bytes(kept)
    (folder / "model.safetensors").write_bytes(b"cut off")
    assert finished([GOLD], GOLD, options, folder) is None


@pytest.mark.parametrize(
    "changes", [{}, {"swa": True}, {"rank": 2}, {"table": True}, {"freeze": True, "class_weights": True, "patience": 9}]
)
def test_a_resumed_training_is_equal_to_the_bit(
    options: "TrainingOptions", tmp_path: Path, changes: dict[str, Any]
) -> None:
    options = replace(options, epochs=3, **changes)
    train_tagger([GOLD], GOLD, options, tmp_path / "whole")

    def stop(done: int, total: int, loss: float) -> None:
        if done == 5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train_tagger([GOLD], GOLD, options, tmp_path / "parts", on_progress=stop)
    steps: list[int] = []
    train_tagger([GOLD], GOLD, options, tmp_path / "parts", on_progress=lambda done, *_: steps.append(done))
    assert steps == [5, 6]
    whole, parts = ((tmp_path / name / "model.safetensors").read_bytes() for name in ("whole", "parts"))
    assert whole == parts


@pytest.mark.parametrize("state", [b"", b"junk\n", b"PK\x03\x04 cut off"])
def test_a_damaged_state_of_a_training_is_named(options: "TrainingOptions", tmp_path: Path, state: bytes) -> None:
    (tmp_path / "checkpoint.pt").write_bytes(state)
    with pytest.raises(ModelError, match=r"checkpoint\.pt: the state of an interrupted training is damaged; delete it"):
        train_tagger([GOLD], GOLD, options, tmp_path)


@pytest.mark.parametrize("changes", [{"table": True}, {"rank": 2}])
def test_a_tagger_over_a_frozen_encoder_reloads_with_that_encoder_only(
    options: "TrainingOptions", tmp_path: Path, changes: dict[str, Any]
) -> None:
    encoder = write_encoder(tmp_path / "encoder")
    options = replace(options, encoder=encoder, epochs=60, dropout=0.0, **changes)
    manifest = train_tagger([GOLD], GOLD, options, tmp_path / "a")
    tagger = load_tagger(tmp_path / "a")
    assert manifest["dev_f1_strict"] == manifest["dev_f1_reloaded"] > 0.5
    assert manifest["history"][-1]["loss"] < manifest["history"][0]["loss"] / 2
    assert any(example.spans for example in tagger.tag(GOLD))
    write_encoder(tmp_path / "encoder", seed=1)
    with pytest.raises(ModelError, match="trained over the encoder 'encoder@"):
        load_tagger(tmp_path / "a")


def test_training_stops_without_a_better_epoch_and_the_best_one_is_the_result(
    options: "TrainingOptions", tmp_path: Path
) -> None:
    # Without a learning rate no epoch is better than the first.
    still = replace(options, rate=0.0, new_rate=0.0, epochs=9, patience=2)
    manifest = train_tagger([GOLD], GOLD, still, tmp_path / "still")
    assert [one["epoch"] for one in manifest["history"]] == [1, 2, 3]
    long = replace(options, epochs=14, dropout=0.0, patience=14)
    manifest = train_tagger([GOLD], GOLD, long, tmp_path / "long")
    assert manifest["dev_f1_strict"] == max(one["dev_f1"] for one in manifest["history"])


def test_the_weight_of_o_changes_what_is_found_and_epochs_on_the_way_are_written(
    options: "TrainingOptions", tmp_path: Path
) -> None:
    few = replace(options, epochs=4, dropout=0.0, keep_epochs=(1, 3))
    found = {}
    for outweight in (0.0, 1000.0):
        folder = tmp_path / str(outweight)
        train_tagger([GOLD], GOLD, replace(few, outweight=outweight), folder)
        found[outweight] = sum(len(one.spans) for one in load_tagger(folder).tag(GOLD))
    assert found[0.0] > found[1000.0] == 0
    assert load_tagger(tmp_path / "0.0/epoch-3").tag(GOLD) != load_tagger(tmp_path / "0.0/epoch-1").tag(GOLD)


def test_a_frozen_encoder_is_not_trained(options: "TrainingOptions", tmp_path: Path) -> None:
    from safetensors.torch import load_file

    train_tagger([GOLD], GOLD, replace(options, freeze=True, epochs=1), tmp_path / "a")
    assert set(load_file(tmp_path / "a" / "model.safetensors")) == {"head.weight", "head.bias", "case.weight"}
    load_tagger(tmp_path / "a")


def test_an_electra_whose_embeddings_are_smaller_is_trained(options: "TrainingOptions", tmp_path: Path) -> None:
    from transformers import ElectraConfig, ElectraModel

    shape = {"embedding_size": 8, "hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2}
    ElectraModel(ElectraConfig(vocab_size=200, intermediate_size=32, **shape)).save_pretrained(tmp_path / "electra")
    shutil.copy(Path(options.encoder) / "tokenizer.json", tmp_path / "electra")
    electra = replace(options, encoder=str(tmp_path / "electra"), epochs=1)
    train_tagger([GOLD], GOLD, electra, tmp_path / "a")
    with pytest.raises(ModelError, match="its encoder is electra with gelu, not a BERT"):
        load_tagger(tmp_path / "a")
    assert len(asyncio.run(load_recognizer(tmp_path / "a").recognize(GOLD))) == len(GOLD)


@pytest.mark.parametrize("changes", [{}, {"rank": 2}, {"table": True}, {"freeze": True, "case": False}])
def test_the_product_scores_as_pytorch_does(
    options: "TrainingOptions", tmp_path: Path, changes: dict[str, Any]
) -> None:
    from paperscope_lab.ner.torch_tagger import TorchTagger

    train_tagger([GOLD], GOLD, replace(options, **changes), tmp_path / "a")
    torch_scores, scores = (
        [scored.scores for scored in tagger.score(GOLD)]
        for tagger in (TorchTagger.read(tmp_path / "a"), load_tagger(tmp_path / "a"))
    )
    for expected, found in zip(torch_scores, scores, strict=True):
        np.testing.assert_allclose(found, expected, atol=1e-4)


def test_a_table_of_soft_labels_is_all_that_is_trained(options: "TrainingOptions", tmp_path: Path) -> None:
    from safetensors.torch import load_file

    train_tagger([GOLD], GOLD, replace(options, table=True, epochs=1), tmp_path / "a")
    assert set(load_file(tmp_path / "a" / "model.safetensors")) == {
        "head.table",
        "head.bias",
        "head.logarithm_of_scale",
    }


def test_another_seed_gives_other_weights_and_starts_over(options: "TrainingOptions", tmp_path: Path) -> None:
    train_tagger([GOLD], GOLD, options, tmp_path / "1")
    train_tagger([GOLD], GOLD, replace(options, seed=2), tmp_path / "2")
    assert (tmp_path / "1" / "model.safetensors").read_bytes() != (tmp_path / "2" / "model.safetensors").read_bytes()


def test_long_texts_and_odd_texts_are_tagged(options: "TrainingOptions", tmp_path: Path) -> None:
    train_tagger([GOLD], GOLD, options, tmp_path / "a")
    tagger = load_tagger(tmp_path / "a")
    long = example_of(" ".join(["Ada met Bob in Rome ."] * 120))
    odd = [
        Example(id=text, text=text, tokens=(), spans=()) for text in ("", " \n", "\u200b\ufeff", "שלום 👩‍👩‍👧 é한국")
    ]
    found = tagger.tag([long, *odd])
    assert [example.text for example in found] == [example.text for example in (long, *odd)]
    for example in found:
        assert all(0 <= span.start < span.end <= len(example.text) for span in example.spans)


def test_characters_are_tokens_where_all_training_tokens_are(options: "TrainingOptions", tmp_path: Path) -> None:
    korean = [
        Example(
            id=text,
            text=text,
            tokens=tuple((at, at + 1) for at, letter in enumerate(text) if letter != " "),
            spans=(Span(start=0, end=2, label="OG"),),
        )
        for text in ("ab ce", "abde")
    ]
    manifest = train_tagger([korean], korean, replace(options, epochs=8), tmp_path / "a")
    assert manifest["dev_f1_strict"] == 1.0
    untokenized = [replace(example, tokens=(), spans=()) for example in korean]
    assert spans_of(load_tagger(tmp_path / "a").tag(untokenized)) == spans_of(korean)


def test_a_label_that_a_corpus_lacks_is_learned_from_another(options: "TrainingOptions", tmp_path: Path) -> None:
    places = [
        replace(example, id=f"p{example.id}", spans=tuple(span for span in example.spans if span.label == "LOC"))
        for example in GOLD
    ]
    persons = [
        replace(example, spans=tuple(span for span in example.spans if span.label == "PER")) for example in GOLD[:2]
    ]
    options = replace(options, epochs=12, dropout=0.0)
    manifest = train_tagger([places, persons], places, options, tmp_path / "a")
    assert manifest["dev_f1_strict"] == 1.0
    assert spans_of(load_tagger(tmp_path / "a").tag(GOLD[:2])) == spans_of(GOLD[:2])


def test_names_of_another_field_become_concepts_and_its_other_words_nothing(
    options: "TrainingOptions", tmp_path: Path
) -> None:
    from paperscope_lab.ner.training_data import papers_corpora

    field = [replace(one, id=f"f{one.id}", spans=tuple(s for s in one.spans if s.label == "LOC")) for one in GOLD]
    persons = [replace(one, spans=tuple(span for span in one.spans if span.label == "PER")) for one in GOLD[:2]]
    corpora = papers_corpora([persons, field])
    assert {span.label for one in corpora[1] for span in one.spans} == {"Concept"}
    train_tagger(corpora, persons, replace(options, epochs=12, dropout=0.0), tmp_path / "a")
    assert spans_of(load_tagger(tmp_path / "a").tag(field[2:])) == spans_of(list(corpora[1][2:]))


def test_data_that_cannot_be_learned_are_refused(options: "TrainingOptions", tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no entities"):
        train_tagger([GOLD[-1:]], GOLD, options, tmp_path)
    with pytest.raises(InputError, match="that the training data lack: LOC, PER"):
        train_tagger([[example_of("a b", "b:X")]], GOLD, options, tmp_path)


def test_a_damaged_tagger_is_refused(options: "TrainingOptions", tmp_path: Path) -> None:
    train_tagger([GOLD], GOLD, options, tmp_path / "a")
    settings = tmp_path / "a" / "recognizer.json"
    settings.write_text(settings.read_text().replace('"tokenizer": "', '"tokenizer": "0'))
    with pytest.raises(ModelError, match="trained with tokenizer 0"):
        load_tagger(tmp_path / "a")
    (tmp_path / "a" / "model.safetensors").write_bytes(b"x")
    with pytest.raises(ModelError, match="no tagger can be loaded"):
        load_tagger(tmp_path / "a")
