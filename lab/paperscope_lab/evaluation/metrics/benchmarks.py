"""The scoring rules of published benchmarks."""

import re
from collections.abc import Mapping, Sequence
from math import isclose, isfinite

from paperscope_lab.evaluation.metrics.sets import overlap, set_overlap
from paperscope_lab.evaluation.metrics.text import anls, read_list, token_f1
from paperscope_lab.evaluation.score import Tally

__all__ = ["NOT_ANSWERABLE", "mmlongbench_score", "mmlongbench_tallies", "qasper_answer_f1", "qasper_evidence_f1"]

NOT_ANSWERABLE = "Not answerable"
_EXACT = re.compile(
    r".*https://.*|.*\.(?:py|ipynb)|page.*|\d+(?:[-\s]\d+)?|.*[ap]\.m\..*|\d{4}[-\s]\d{2}(?:[-\s]\d{2})?"
    r"|[a-z0-9._%+-]+@[a-z0-9.-]+\.[a-z]{2,}",
    re.DOTALL,
)


def mmlongbench_score(gold: str, predicted: str, *, answer_format: str) -> float:
    """MMLongBench-Doc's rule-based score of a short answer, 0 to 1 (Ma et al., 2024, appendix on evaluation).

    `answer_format` is the gold's "Int", "Float", "Str", "List" or "None"; unanswerable questions expect NOT_ANSWERABLE.
    As in the benchmark, no answer matches an Int or Float gold that is not a number. The benchmark extracts short
    answers with a model before scoring; a whole sentence scores low.
    """
    if answer_format == "Int":
        one, two = _number(gold), _number(predicted)
        return float(one is not None and two is not None and one == int(two))
    if answer_format == "Float":
        return float(_same_float(_number(_clean(gold)), _number(_clean(predicted))))
    if answer_format == "List":
        return _list_score(_items(gold), _items(predicted))
    return _string_score(_clean(gold), _clean(predicted))


def mmlongbench_tallies(score: float, *, answerable: bool, answered: bool) -> Mapping[str, Tally]:
    """Return the tallies "accuracy" and "f1" of one question with this score.

    Precision and recall for F1 are the summed scores of the answerable questions over the answered and the answerable
    questions.
    """
    f1 = overlap(right=score if answerable else 0, gold=answerable, predicted=answered)["f1"]
    return {"accuracy": Tally(right=score, total=1), "f1": f1}


def qasper_answer_f1(references: Sequence[str], predicted: str) -> float:
    """Return the best token F1 over the annotators' answers (Dasigi et al., QASPER, 2021); 0 if there are none.

    A reference is the free-form answer, the extracted spans joined by ", ", "Yes", "No" or "Unanswerable".
    """
    return max((token_f1(reference, predicted) for reference in references), default=0.0)


def qasper_evidence_f1(references: Sequence[Sequence[str]], predicted: Sequence[str]) -> float:
    """Return the best F1 over the annotators' evidence paragraphs, which are equal if their texts are; 0 if there are
    none.

    As in QASPER's script, two empty sets agree fully. Remove "FLOAT SELECTED" paragraphs first to score text evidence
    only.
    """
    return max((set_overlap(reference, predicted)["f1"].share for reference in references), default=0.0)


def _clean(text: str) -> str:
    text = re.sub(r"(?<!\s)\s*+\([^)]{0,300}\)", "", text.lower().strip()).strip()
    return re.sub(r"^['\"]|['\"]$", "", text).strip().lstrip("$").strip().rstrip("%").strip()


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if isfinite(number) else None


def _same_float(gold: float | None, predicted: float | None) -> bool:
    if gold is None or predicted is None:
        return False
    return any(
        isclose(variant, predicted, rel_tol=0.01)
        or round(variant, places := max(min(_decimals(variant), _decimals(predicted)), 2)) == round(predicted, places)
        for variant in (gold / 100, gold, gold * 100)
    )


def _decimals(number: float) -> int:
    _, point, fraction = str(number).partition(".")
    return len(fraction) if point else 3


def _string_score(gold: str, predicted: str) -> float:
    return float(gold == predicted) if _EXACT.fullmatch(gold) else anls(gold, predicted)


def _items(text: str) -> list[str]:
    return sorted(map(_clean, read_list(text) if text.strip().startswith("[") else [text]))


def _list_score(gold: list[str], predicted: list[str]) -> float:
    if len(gold) != len(predicted):
        return 0.0
    if gold and (_number(gold[0]) is not None or _EXACT.fullmatch(gold[0])):
        return float(gold == predicted)
    return min(map(anls, gold, predicted), default=1.0)
