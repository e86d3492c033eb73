"""Scores an answer against its gold with our metrics and with those of its benchmark."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict

import prompts
from paperscope_core.models import ask_json
from paperscope_core.protocols import LanguageModel
from paperscope_core.types import Answer, ModelRequest, Place
from paperscope_lab.evaluation.answers.correctness import correctness, stated_share
from paperscope_lab.evaluation.answers.forms import form_of, short_answer
from paperscope_lab.evaluation.answers.questions import GoldQuestion
from paperscope_lab.evaluation.matching import normalise_spaces
from paperscope_lab.evaluation.metrics.benchmarks import (
    NOT_ANSWERABLE,
    mmlongbench_score,
    mmlongbench_tallies,
    qasper_answer_f1,
    qasper_evidence_f1,
)
from paperscope_lab.evaluation.metrics.regions import meets
from paperscope_lab.evaluation.metrics.sets import overlap
from paperscope_lab.evaluation.metrics.text import anls, exact_match, list_f1, read_list, token_f1
from paperscope_lab.evaluation.report import set_of
from paperscope_lab.evaluation.score import Miss, Score, Tally
from prompts import as_data

__all__ = ["Cited", "Judge", "Verdict", "score_answer"]

_HALF = 0.5


class Verdict(BaseModel):
    """Whether the answer agrees with the gold, and the reason."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    reason: str
    right: bool


class Judge:
    """Asks `model` with one of the project's prompts.

    The report names the model, and its code hash covers the prompt.
    """

    def __init__(self, model: LanguageModel) -> None:
        self._model = model
        self._prompt = prompts.load("judge_answer", placeholders=frozenset({"question", "gold", "answer"}))

    async def judge(self, question: str, references: Sequence[str], answer: str) -> Verdict:
        """Return the verdict on an answer. Raises ModelError."""
        parts = self._prompt.fill(question=question, gold=as_data("\n".join(references)), answer=as_data(answer))
        verdict, _ = await ask_json(self._model, ModelRequest.of(parts, "verdict"), Verdict)
        return verdict


@dataclass(frozen=True, kw_only=True, slots=True)
class Cited:
    """The citations of an answer and of its gold: (paper, page) pairs of the library, places, texts of passages."""

    pages: frozenset[tuple[str, int]] = frozenset()
    gold_pages: frozenset[tuple[str, int]] = frozenset()
    places: tuple[Place, ...] = ()
    gold_places: tuple[Place, ...] = ()
    texts: tuple[str, ...] = ()


def score_answer(question: GoldQuestion, answer: Answer, *, cited: Cited, verdict: Verdict | None = None) -> Score:
    """Return all tallies of a question, and the details of its item.

    An answer is `right` as `correctness` says for the best reference; abstaining is right if the question is
    unanswerable. Text metrics compare the short answer, or "Not answerable" if there is none. An answer that only shows
    places counts as unanswered; `places` tells whether one of them matches the gold evidence. A judge's `verdict` is
    reported separately.
    """
    answered = answer.status == "answered"
    short = short_answer(answer.text, question.question, question.answer_format) if answered else ""
    right = _correctness(question, answer, short)
    # Abstaining is right if the question can't be answered.
    unanswerable = not question.answerable
    abstained = overlap(right=unanswerable and not answered, gold=unanswerable, predicted=not answered)
    tallies = {
        "right": _one(right),
        **{f"right.{kind}": _one(right) for kind in question.kinds},
        "answered": _one(answered),
        "right_of_answered": Tally(right=right if answered else 0, total=answered),
        "abstention.precision": abstained["precision"],
        "abstention.recall": abstained["recall"],
        **_text_measures(question, answer, short),
        **_benchmark_score(question, short or NOT_ANSWERABLE, answered=answered, cited=cited),
    }
    if answered and cited.gold_pages:
        tallies["page"] = _one(bool(cited.pages & cited.gold_pages))
    if answer.status == "evidence" and (found := _finds_evidence(question, cited)) is not None:
        tallies["places"] = _one(found)
    details = {
        "question": question.question,
        "gold": " | ".join(question.references),
        "answer": answer.text,
        "short": short,
        "status": answer.status,
        "pages": ", ".join(f"{paper} p.{page}" for paper, page in sorted(cited.pages)),
    }
    if verdict is not None:
        tallies["judge.right"] = _one(verdict.right)
        tallies["judge.agreement"] = _one(verdict.right == (right >= _HALF))
        details["judge"] = verdict.reason
    gold = details["gold"] if question.answerable else NOT_ANSWERABLE
    miss = Miss(metric="right", what=question.question, gold=gold, got=answer.text)
    return Score(
        tallies=tallies,
        misses=() if right >= _HALF else (miss,),
        details=details,
    )


def _one(value: float) -> Tally:
    return Tally(right=float(value), total=1)


def _correctness(question: GoldQuestion, answer: Answer, short: str) -> float:
    if answer.status != "answered":
        # If annotators disagree, both answers are right.
        return float(not question.answerable or any(form_of(gold) == "none" for gold in question.references))
    if not question.answerable:
        return 0.0
    return max(
        correctness(
            gold,
            form_of(gold, answer_format=question.answer_format),
            text=answer.text,
            short=short,
            question=question.question,
        )
        for gold in question.references
    )


def _finds_evidence(question: GoldQuestion, cited: Cited) -> bool | None:
    """Return whether a place is in a gold region; without regions, on a gold page; without pages, quoted from a gold
    paragraph. None if the gold has none of these."""
    if cited.gold_places:
        return any(meets(place, region) for place in cited.places for region in cited.gold_places)
    if cited.gold_pages:
        return bool(cited.pages & cited.gold_pages)
    paragraphs = {normalise_spaces(text) for texts in question.evidence for text in texts}
    if not paragraphs:
        return None
    return any(normalise_spaces(text) in paragraph for text in cited.texts for paragraph in paragraphs)


def _text_measures(question: GoldQuestion, answer: Answer, short: str) -> dict[str, Tally]:
    """Return the metrics of the answer's text over the answerable questions; the best over the references."""
    if not question.answerable:
        return {}
    golds = [gold for gold in question.references if form_of(gold) != "none"] or list(question.references)
    text = answer.text if short else ""
    measures: dict[str, Callable[[str, str], float]] = {"exact_match": exact_match, "token_f1": token_f1, "anls": anls}
    tallies = {
        **{name: _one(max(measure(gold, short) for gold in golds)) for name, measure in measures.items()},
        "numbers": max((stated_share(gold, text, question.question) for gold in golds), key=lambda tally: tally.share),
    }
    lists = [gold for gold in golds if form_of(gold, answer_format=question.answer_format) == "list"]
    if lists:
        tallies["list_f1"] = _one(max(list_f1(read_list(gold), read_list(short)) for gold in lists))
    return tallies


def _benchmark_score(question: GoldQuestion, short: str, *, answered: bool, cited: Cited) -> dict[str, Tally]:
    """Return the score that the set's benchmark defines, per question or as sums."""
    gold = question.references[0]
    match set_of(question.name):
        case "mmlongbench":
            gold = gold if question.answerable else NOT_ANSWERABLE
            value = mmlongbench_score(gold, short, answer_format=question.answer_format)
            tallies = mmlongbench_tallies(value, answerable=question.answerable, answered=answered)
            return {f"mmlongbench.{name}": tally for name, tally in tallies.items()}
        case "ohrbench":
            return {"ohrbench.em": _one(exact_match(gold, short)), "ohrbench.f1": _one(token_f1(gold, short))}
        case "qasper":
            told = short if answered else "Unanswerable"
            return {
                "qasper.answer_f1": _one(qasper_answer_f1(question.references, told)),
                "qasper.evidence_f1": _one(qasper_evidence_f1(question.evidence, cited.texts)),
            }
    return {}
