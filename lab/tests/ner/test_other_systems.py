"""spaCy and a fine-tuned language model: trained on a few texts, written, and loaded again."""

import asyncio
from pathlib import Path

import pytest
from paperscope_lab.ner.generative import GenerativeOptions, train_generative
from paperscope_lab.ner.spacy_tagger import SpacyOptions, train_spacy
from tests.ner.tiny_encoder import GOLD, example_of, write_encoder

from ingest.extraction.recognizer.examples import Example
from ingest.extraction.recognizer.loading import load_recognizer
from paperscope_core.errors import InputError, ModelError

pytestmark = pytest.mark.slow


def test_spacy_learns_and_reloads(tmp_path: Path) -> None:
    manifest = train_spacy(GOLD, GOLD, SpacyOptions(epochs=30), tmp_path / "a")
    assert manifest["dev_f1_strict"] == 1.0
    odd = Example(id="odd", text="", tokens=(), spans=())
    found = asyncio.run(load_recognizer(tmp_path / "a").recognize([*GOLD, odd]))
    assert [one.spans for one in found] == [*(one.spans for one in GOLD), ()]


def test_an_installed_pipeline_is_trained_further_and_its_other_labels_are_left_out(tmp_path: Path) -> None:
    import spacy

    other = [example_of("Ada Byron met Bob in Rome .", "Rome:CITY", "Ada Byron:HUMAN")]
    train_spacy(other, other, SpacyOptions(language="en", epochs=20), tmp_path / "base")
    base = tmp_path / "base/pipeline"
    pipeline = spacy.load(base)
    pipeline.add_pipe("sentencizer")
    pipeline.to_disk(base)
    manifest = train_spacy(GOLD, GOLD, SpacyOptions(base=str(base), epochs=30), tmp_path / "a")
    assert manifest["dev_f1_strict"] == 1.0
    found = asyncio.run(load_recognizer(tmp_path / "a").recognize(GOLD))
    assert {span.label for one in found for span in one.spans} == {"PER", "LOC"}
    with pytest.raises(InputError, match="en_core_web_md is not installed here; run: python -m spacy download"):
        train_spacy(GOLD, GOLD, SpacyOptions(base="en_core_web_md"), tmp_path / "b")


def test_without_dev_data_there_is_no_score_on_them(tmp_path: Path) -> None:
    assert "dev_f1_strict" not in train_spacy(GOLD, [], SpacyOptions(epochs=1), tmp_path)


def test_an_encoder_is_no_language_model(tmp_path: Path) -> None:
    options = GenerativeOptions(model=write_encoder(tmp_path / "encoder"), rank=2, dtype="float32", device="cpu")
    with pytest.raises(ModelError, match="no language model: it has no weights"):
        train_generative(GOLD, {"PER": "", "LOC": ""}, options, tmp_path / "a")


def test_spacy_needs_entities_and_a_language(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no entities"):
        train_spacy(GOLD[-1:], GOLD, SpacyOptions(), tmp_path)
    with pytest.raises(InputError, match="no language 'nonsense'"):
        train_spacy(GOLD, GOLD, SpacyOptions(language="nonsense"), tmp_path)


def test_the_recipe_of_a_language_model_runs(tmp_path: Path) -> None:
    from paperscope_lab.ner.new_models import write_language_model

    labels = {"PER": "a person", "LOC": "a place"}
    write_language_model(tmp_path / "model", hidden=16)
    options = GenerativeOptions(
        model=str(tmp_path / "model"), rank=8, alpha=16, rate=1e-2, dtype="float32", device="cpu"
    )
    manifest = train_generative(GOLD, labels, options, tmp_path / "a")
    assert len(manifest["losses"]) == 2
    assert manifest["losses"][1] < manifest["losses"][0]
    (found,) = asyncio.run(load_recognizer(tmp_path / "a").recognize([example_of("Ada slept")]))
    assert found.failure or all(span.end <= 9 for span in found.spans)
    with pytest.raises(InputError, match="labels without a meaning: LOC"):
        train_generative(GOLD, {"PER": ""}, options, tmp_path / "b")


def test_a_folder_without_a_recognizer_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="no recognizer"):
        load_recognizer(tmp_path)
