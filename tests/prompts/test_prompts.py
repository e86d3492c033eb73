"""Prompts: every file loads, and a wrong placeholder is found at once."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prompts import Prompt, PromptError, load

PROMPT = Prompt(
    name="p", system="S", user="Q: {{question}} C: {{context}}", placeholders=frozenset({"question", "context"})
)


def names(root: Path) -> list[str]:
    return sorted(file.stem for file in (root / "prompts").glob("*.md"))


def test_every_prompt_file_loads_with_its_own_placeholders(root: Path) -> None:
    assert names(root)
    for name in names(root):
        text = (root / "prompts" / f"{name}.md").read_text()
        prompt = load(name, placeholders=frozenset(re.findall(r"\{\{(\w+)\}\}", text)))
        assert prompt.system
        assert prompt.user


def test_other_placeholders_than_expected_are_an_error(root: Path) -> None:
    with pytest.raises(PromptError, match="expected"):
        load(names(root)[0], placeholders=frozenset({"nonsense"}))


@pytest.mark.parametrize("name", ["absent", "../pyproject", "", "A"])
def test_unknown_prompt_is_quoted(name: str) -> None:
    with pytest.raises(PromptError, match=re.escape(repr(name))):
        load(name, placeholders=frozenset())


@given(st.text(), st.text())
def test_values_are_put_in_verbatim_and_never_scanned_again(question: str, context: str) -> None:
    _system, user = PROMPT.fill(question=question, context=context)
    assert user == f"Q: {question} C: {context}"


def test_a_value_that_looks_like_a_placeholder_stays_text() -> None:
    assert PROMPT.fill(question="{{context}}", context="secret")[1] == "Q: {{context}} C: secret"


def test_missing_value_is_an_error() -> None:
    with pytest.raises(PromptError, match="takes"):
        PROMPT.fill(question="q")
