"""The examples in the docstrings of the public names run."""

import doctest
from importlib import import_module

import pytest

import paperscope

MODULES = sorted({getattr(paperscope, name).__module__ for name in paperscope.__all__ if name[0] != "_"} - {"typing"})


@pytest.mark.parametrize("module", MODULES)
def test_examples_run(module: str) -> None:
    assert doctest.testmod(import_module(module)).failed == 0


def test_most_public_names_have_an_example() -> None:
    examples = [name for name in paperscope.__all__ if ">>>" in (getattr(paperscope, name).__doc__ or "")]
    assert len(examples) >= 18
