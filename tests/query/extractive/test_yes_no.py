"""Yes/no questions on the example papers: what their sentences settle, and what they leave open."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from paperscope.library import Library
from paperscope_core.settings import Settings


@pytest.fixture(scope="module")
def library(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    with Library.open(tmp_path_factory.mktemp("library"), settings=Settings()) as opened:
        for name in ("seed-intervals", "ner-report"):
            opened.add(root / "examples" / "paper" / f"{name}.pdf")
        yield opened


@pytest.mark.parametrize(
    ("question", "begins"),
    [
        ("Is the lead of RoBERTa-large over RoBERTa-base significant?", "No: "),
        ("Does the t interval take differences to be normal?", "Yes: "),
        ("Does the sign-flip test take differences to be normal?", "No: "),
        ("Is the corpus behind the sentences named?", "No: "),
        ("Do the intervals of the ensemble and of RoBERTa-large overlap in entity F1?", "Yes: "),
        ("Does the ensemble lead in character F1 in every seed?", "Yes: "),
        ("Is the lead of the ensemble over RoBERTa-base larger for long sentences?", "The papers do not say."),
        ("Is the macro F1 of Model 2 in Report D significantly higher than that of Model 1?", "The papers do not say."),
        ("Does Report B describe how the base and the large model are combined?", "The papers do not say."),
        ("What learning rate was used to train the ensemble?", "The papers do not say. The nearest passage is"),
    ],
)
def test_yes_no_or_not_said(library: Library, question: str, begins: str) -> None:
    assert library.ask(question).text.startswith(begins)
