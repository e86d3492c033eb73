"""All suites by name. A suite's module is imported when it is asked for."""

from importlib import import_module
from typing import cast

from evaluation.suite import Suite

__all__ = ["SUITES", "suite_called"]

# The command's word for a suite: its module and what makes it there, and what it measures.
SUITES = {
    "parsing": (
        "evaluation.parsing.suite:ParsingSuite",
        "What is read from papers: tables, headings, text and its order, captions, references, equations.",
    ),
    "retrieval": (
        "evaluation.retrieval.suite:RetrievalSuite",
        "Whether the evidence for a question is found: paragraphs, sentences, pages, papers.",
    ),
    "answers": (
        "evaluation.answers.suite:AnswersSuite",
        "What is answered: numbers, names, lists, yes or no, free text; and what is rightly left unanswered.",
    ),
    "graph": (
        "evaluation.graph.suite:GraphSuite",
        "What is drawn from papers: entities, relations, acronyms, and how sound the graph is by itself.",
    ),
    "cells": (
        "evaluation.cells.suite:cells_suite",
        "Table cells: is the value of a row under a column of a table answered, and is that cell cited?",
    ),
    "citations": (
        "evaluation.citations.suite:citations_suite",
        "Citations: does each claim's place contain what the claim says, and is it on the right page?",
    ),
    "verification": (
        "evaluation.verification.suite:verification_suite",
        "Verification: are wrong numbers flagged that are planted in right answers, and the right ones not?",
    ),
    "cost": (
        "evaluation.cost.suite:cost_suite",
        "Cost: model calls, tokens, money and time, a paper and a question; the figures are means.",
    ),
}


def suite_called(name: str) -> Suite:
    """The suite; raises KeyError."""
    module, _, maker = SUITES[name][0].partition(":")
    return cast("Suite", getattr(import_module(module), maker)())
