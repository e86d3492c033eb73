"""Which recognizers the product loads, and what it says of others."""

import asyncio
from pathlib import Path

import pytest

from ingest.extraction.recognizer import loading
from ingest.extraction.recognizer.examples import Example
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


@pytest.mark.parametrize(
    ("text", "types"),
    [
        ("We fine-tune BERT on SQuAD for question answering.", {"Method", "Dataset", "Task"}),
        ("HIV prevalence rose, while mRNA levels fell and apoptosis of neurons followed.", set()),
        ("Pablo Picasso painted Guernica in Paris in 1937.", set()),
        ("Basalt and quartz from the Andes were eroded by glaciers.", set()),
    ],
)
def test_names_of_other_fields_get_no_type(text: str, types: set[str]) -> None:
    read = loading.papers_recognizer().recognize([Example(id="a", text=text, tokens=(), spans=())])
    [found] = asyncio.run(read)
    assert {span.label for span in found.spans} - {"Concept"} == types
