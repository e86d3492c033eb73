"""Look-ups and questions whose right answers get wrong numbers planted."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from numpy.random import default_rng

from evaluation.answers.forms import form_of
from evaluation.answers.right import rightness
from evaluation.answers.short import short_answer
from evaluation.asking import shelf_of
from evaluation.cells.scoring import question_of, states_value
from evaluation.gold.docbench import DocBenchQuestion, docbench_questions
from evaluation.gold.latex import latex_items
from evaluation.gold.paper_folders import folder_items
from evaluation.gold.values import GoldLookup
from evaluation.libraries import Libraries
from evaluation.matching import spaced
from evaluation.parsing.lookups import found_cells
from evaluation.values import Miss, Score, Tally, total
from evaluation.verification.answers import RightAnswer, cited_by_model, composed, given
from evaluation.verification.planting import plants
from paperscope_core.errors import GoldFileError
from paperscope_core.types import Table

__all__ = ["PlantingItem", "planting_items", "scored"]


_Gold = GoldLookup | DocBenchQuestion


@dataclass(frozen=True, kw_only=True, slots=True)
class PlantingItem:
    """Plants in the answers to a look-up, or to a question: those of the product that are right, the gold's as a model
    would put it, and what can be composed of a table's values."""

    name: str
    file: Path
    gold: _Gold
    libraries: Libraries
    seed: int

    @property
    def fingerprint(self) -> str:
        """A hash of the file and of its gold."""
        data = self.file.read_bytes() if self.file.is_file() else b""
        return hashlib.sha256(data + f"\0{self.gold}".encode()).hexdigest()

    def score(self) -> Score:
        """Raises PaperFileError, and ModelError where a model is asked."""
        answers = self._of_lookup(self.gold) if isinstance(self.gold, GoldLookup) else self._of_question(self.gold)
        return total(scored(answer, seed=f"{self.seed} {self.name} {answer.kind}") for answer in answers)

    def _of_lookup(self, lookup: GoldLookup) -> Iterator[RightAnswer]:
        shelf = shelf_of(self.libraries, self.file)
        library, store = self.libraries.library(shelf), self.libraries.store(shelf)
        paper = library.paper(shelf.ids[str(self.file)])
        question = question_of(lookup)
        answer = library.ask(question)
        if answer.status == "answered" and states_value(lookup.answer, answer.text, question=question):
            yield given(question, answer.text, answer.claims, store=store)
        tables = {cell: table for table in paper.elements if isinstance(table, Table) for cell in table.cells}
        for cell in found_cells(paper, lookup)[:1]:
            yield from composed(question, tables[cell], cell, row=lookup.row, column=lookup.column, store=store)

    def _of_question(self, gold: DocBenchQuestion) -> Iterator[RightAnswer]:
        shelf = shelf_of(self.libraries, self.file)
        store = self.libraries.store(shelf)
        answer = self.libraries.library(shelf).ask(gold.question)
        form = form_of(gold.answer, answer_format=gold.answer_format)
        short = short_answer(answer.text, question=gold.question, answer_format=gold.answer_format)
        right = rightness(gold.answer, form, text=answer.text, short=short, question=gold.question)
        if answer.status == "answered" and right == 1:
            yield given(gold.question, answer.text, answer.claims, store=store)
            cited = dict.fromkeys(evidence.element for claim in answer.claims for evidence in claim.evidence)
            yield cited_by_model(gold.question, gold.answer, list(cited), store=store)


def scored(answer: RightAnswer, *, seed: str) -> Score:
    """passed: the right answer gets no warning; flagged: a planted number brings one; both by kind as well."""
    verified = answer.verified()
    quiet = not verified.warnings
    tallies = {name: Tally(right=quiet, total=1) for name in ("passed", f"passed.{answer.kind}")}
    misses = [Miss(metric="passed", what=answer.text, gold="", got=warning) for warning in verified.warnings]
    random = default_rng(int(hashlib.sha256(seed.encode()).hexdigest(), 16))
    for plant in plants(answer.text, question=answer.question, tables=answer.tables(), random=random):
        warnings = set(answer.verified(plant.into).warnings) - set(verified.warnings)
        for name in ("flagged", f"flagged.{plant.kind}", f"flagged.{answer.kind}"):
            tally = Tally(right=bool(warnings), total=1)
            tallies[name] = tallies[name] + tally if name in tallies else tally
        if not warnings:
            planted = spaced(plant.into(answer.text))
            misses.append(Miss(metric="flagged", what=f"{plant.kind}, {answer.kind}", gold=plant.right, got=planted))
    return Score(tallies=tallies, misses=tuple(misses))


def planting_items(data: Path, libraries: Libraries, *, seed: int) -> tuple[list[PlantingItem], list[GoldFileError]]:
    """The look-ups and the questions below `data`, and the gold that can't be used. Raises GoldFileError where there is
    none. Sets: "papers" (cells.jsonl, questions.jsonl) and "latexgold"."""
    found = list(_gold(data))
    bad = [error for error in found if isinstance(error, GoldFileError)]
    items = [
        PlantingItem(name=name, file=file, gold=gold, libraries=libraries, seed=seed)
        for name, file, gold in (one for one in found if not isinstance(one, GoldFileError))
    ]
    if not items:
        raise bad[0] if bad else GoldFileError(f"{data}: no cells or questions here; name a folder with papers/NAME/")
    return items, bad


def _gold(data: Path) -> Iterator[tuple[str, Path, _Gold] | GoldFileError]:
    for item in chain(folder_items(data), latex_items(data)):
        if isinstance(item, GoldFileError):
            yield item
        else:
            for lookup in item.gold.lookups:
                yield f"{item.name}/cell-{lookup.line}", item.file, lookup
    for question in docbench_questions(data):
        if isinstance(question, GoldFileError):
            yield question
        elif question.answerable:
            yield f"papers/{question.paper}/question-{question.number}", question.file, question
