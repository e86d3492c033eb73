"""Which recognizers the product loads, and what it says of others."""

from pathlib import Path

import pytest

from ingest.extraction.recognizer import loading
from paperscope_core.errors import ModelError


def test_another_kind_needs_the_laboratory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "recognizer.json").write_text('{"kind": "spacy"}')
    monkeypatch.setattr(loading, "entry_points", lambda **_: ())
    with pytest.raises(ModelError, match=r"kind 'spacy' needs paperscope-lab: pip install 'paperscope-lab\[ner\]'"):
        loading.load_recognizer(tmp_path)


@pytest.mark.parametrize("settings", [None, "{", "[]", "{}"])
def test_a_folder_without_a_recognizer_is_refused(tmp_path: Path, settings: str | None) -> None:
    if settings is not None:
        (tmp_path / "recognizer.json").write_text(settings)
    with pytest.raises(ModelError, match="no recognizer; name a folder that `paperscope ner train` wrote"):
        loading.load_recognizer(tmp_path)
