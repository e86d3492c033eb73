"""spaCy and a fine-tuned language model: trained on a few texts, written, and loaded again."""

import asyncio
from pathlib import Path

import pytest

from ner.examples import Example
from ner.generative import GenerativeOptions, train_generative
from ner.loading import load_recognizer
from ner.spacy_tagger import SpacyOptions, train_spacy
from paperscope_core.errors import InputError, ModelError
from tests.ner.tiny_encoder import GOLD, example_of

pytestmark = pytest.mark.slow


def test_spacy_learns_and_reloads(tmp_path: Path) -> None:
    manifest = train_spacy(GOLD, GOLD, SpacyOptions(epochs=30), tmp_path / "a")
    assert manifest["dev_f1_strict"] == 1.0
    odd = Example(id="odd", text="", tokens=(), spans=())
    found = asyncio.run(load_recognizer(tmp_path / "a").recognize([*GOLD, odd]))
    assert [one.spans for one in found] == [*(one.spans for one in GOLD), ()]


def test_spacy_needs_entities_and_a_language(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no entities"):
        train_spacy(GOLD[-1:], GOLD, SpacyOptions(), tmp_path)
    with pytest.raises(InputError, match="no language 'nonsense'"):
        train_spacy(GOLD, GOLD, SpacyOptions(language="nonsense"), tmp_path)


def write_language_model(folder: Path) -> str:
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {piece: number for number, piece in enumerate(["</s>", *letters])}
    tokenizer = Tokenizer(models.BPE(vocabulary, []))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="</s>", pad_token="</s>").save_pretrained(folder)  # noqa: S106
    config = LlamaConfig(
        vocab_size=len(vocabulary),
        hidden_size=16,
        intermediate_size=32,
        num_hidden_layers=1,
        num_attention_heads=2,
        num_key_value_heads=2,
        eos_token_id=0,
        pad_token_id=0,
        bos_token_id=None,
    )
    LlamaForCausalLM(config).save_pretrained(folder)
    return str(folder)


def test_the_recipe_of_a_language_model_runs(tmp_path: Path) -> None:
    labels = {"PER": "a person", "LOC": "a place"}
    options = GenerativeOptions(
        model=write_language_model(tmp_path / "model"), rank=8, alpha=16, rate=1e-2, dtype="float32", device="cpu"
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
