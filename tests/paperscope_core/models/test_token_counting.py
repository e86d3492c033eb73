"""Tokens counted by a model's own tokenizer, and estimated tokens."""

from pathlib import Path

import pytest
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace

from paperscope_core.errors import SettingsError
from paperscope_core.models.token_counting import count_tokens, token_counter


def test_the_named_tokenizer_counts_whole_texts(tmp_path: Path) -> None:
    tokenizer = Tokenizer(WordLevel({"a": 0, "[UNK]": 1}, unk_token="[UNK]"))  # noqa: S106
    tokenizer.pre_tokenizer = Whitespace()
    tokenizer.enable_truncation(2)
    file = tmp_path / "tokenizer.json"
    tokenizer.save(str(file))
    assert token_counter(str(file))("a word, and a number: 3.5") == 10


def test_without_one_the_rule_counts() -> None:
    assert token_counter("") is count_tokens


def test_a_file_that_is_none_is_named(tmp_path: Path) -> None:
    (tmp_path / "no.json").write_text("{}")
    for name in ("no.json", "absent.json"):
        with pytest.raises(SettingsError, match=name):
            token_counter(str(tmp_path / name))
