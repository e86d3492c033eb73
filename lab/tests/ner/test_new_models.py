"""New models: what their pieces are, that the same seed gives the same weights, and that a tagger trains on one."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from tests.ner.tiny_encoder import GOLD

KOREAN = ["이순신 장군은 서울에서", "서울에서 이순신 장군은"]


def write_encoder(folder: Path, texts: Sequence[str], *, pieces: int = 0, seed: int = 1) -> int:
    from paperscope_lab.ner.new_models import write_encoder

    return write_encoder(folder, texts, pieces=pieces, hidden=32, layers=1, seed=seed)


def pieces(folder: Path, text: str) -> list[str]:
    from paperscope_lab.ner.torch_network import load_tokenizer

    found: list[str] = load_tokenizer(str(folder)).tokenizer.encode(text, add_special_tokens=False).tokens
    return found


def test_each_character_is_a_piece(tmp_path: Path) -> None:
    write_encoder(tmp_path, KOREAN)
    assert pieces(tmp_path, "서울 이x") == ["서", "울", "이", "[UNK]"]


def test_frequent_characters_join_to_pieces(tmp_path: Path) -> None:
    assert write_encoder(tmp_path, KOREAN, pieces=200) <= 200
    assert pieces(tmp_path, "서울에서") == ["서울에서"]


@pytest.mark.parametrize("count", [0, 60])
def test_no_texts_give_an_encoder_without_pieces(tmp_path: Path, count: int) -> None:
    write_encoder(tmp_path, [], pieces=count)
    assert set(pieces(tmp_path, "Ada")) == {"[UNK]"}


def test_the_seed_determines_the_weights(tmp_path: Path) -> None:
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        write_encoder(tmp_path / name, KOREAN, seed=seed)
    first, same, other = ((tmp_path / name / "model.safetensors").read_bytes() for name in "abc")
    assert first == same != other


def test_a_tagger_trains_on_it(tmp_path: Path) -> None:
    from paperscope_lab.ner.training import train_tagger
    from paperscope_lab.ner.training_options import TrainingOptions

    write_encoder(tmp_path / "encoder", [example.text for example in GOLD])
    options = TrainingOptions(encoder=str(tmp_path / "encoder"), epochs=2, batch=4, rate=3e-3, dropout=0.0)
    manifest = train_tagger([GOLD], GOLD, options, tmp_path / "tagger")
    first, last = (one["loss"] for one in manifest["history"])
    assert last < first
    assert manifest["dev_f1_reloaded"] == manifest["dev_f1_strict"]


@pytest.mark.parametrize("lower", [True, False])
def test_a_folder_with_a_list_of_pieces_alone_has_a_tokenizer(tmp_path: Path, lower: bool) -> None:
    from paperscope_lab.ner.torch_network import read_splitter

    (tmp_path / "vocab.txt").write_text("[PAD]\n[UNK]\n[CLS]\n[SEP]\nada\nAda\n##s\n", encoding="utf-8")
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({"do_lower_case": lower}))
    splitter = read_splitter(tmp_path)
    (pieces,) = splitter.split(["Adas x"], [((0, 4), (5, 6))])
    assert pieces.ids == ((4 if lower else 5), 6, 1)
    assert (splitter.before, splitter.after) == ((2,), (3,))
