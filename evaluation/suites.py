"""All suites by name. A suite's module is imported when it is asked for."""

from importlib import import_module
from typing import cast

from evaluation.suite import Suite

__all__ = ["SUITES", "suite_called"]

# The command's word for a suite: its module and class, and what it measures.
SUITES = {
    "parsing": (
        "evaluation.parsing.suite:ParsingSuite",
        "What is read from papers: tables, headings, text and its order, captions, references, equations.",
    ),
    "cells": (
        "evaluation.cells.suite:CellsSuite",
        "Table cells: is the value of a row under a column of a table answered, and is that cell cited?",
    ),
}


def suite_called(name: str) -> Suite:
    """The suite; raises KeyError."""
    module, _, kind = SUITES[name][0].partition(":")
    return cast("Suite", getattr(import_module(module), kind)())
