"""Checks the figures of rows and tables by arithmetic: against each other, against counts, and against rounding."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import ceil, floor
from statistics import mean
from typing import Literal

from paperscope_lab.ner.report_reading import Number, Row, Table, role_of

__all__ = ["SCENARIOS", "ClassReport", "Finding", "check_table", "is_average", "whole_between"]

Kind = Literal["contradiction", "doubt", "recovered"]

# A system that predicts more than three times the gold is rather broken than weak.
_RATIO_LIMIT = 3
# With less gold, such a ratio and equal figures can be chance.
_FEW = 100
# Coarser figures fit so many counts that none is found again.
_MOST_COUNTS = 100
# Two figures of this unit or more are often equal by chance.
_COARSE = 0.001
SCENARIOS = ("strict", "exact", "partial", "type")
"""The last words of the names of nervaluate's scenarios."""
_AVERAGES = ("macro", "weighted", "micro", "accuracy", "samples", "avg", "average", "mean", "overall", "total")


@dataclass(frozen=True, kw_only=True)
class Finding:
    """What the audit found, and the line of the report."""

    line: int
    kind: Kind
    message: str


def check_table(table: Table, gold: Sequence[int]) -> Iterator[Finding]:
    """Yield what is wrong or doubtful in a table.

    Args:
        table: The table.
        gold: Numbers of gold entities that the figures may be of.
    """
    for row in table.rows:
        yield from _check_row(row)
    yield from _check_repeated(table)
    yield from _check_class_report(table)
    yield from _check_scenarios(table, gold)
    yield from _check_metric_rows(table)
    yield from _check_bold(table)


def _check_row(row: Row) -> Iterator[Finding]:
    """F1 against precision and recall. A mean of F1 over classes is at most the F1 of the means: F1 is concave."""
    for shares in row.shares():
        precision, recall, f1 = (shares.get(role) for role in ("precision", "recall", "f1"))
        if precision and recall and f1 and not {"macro", "weighted"} & {*_words(row.name)}:
            low, high = _f1_of(precision.low, recall.low), _f1_of(precision.high, recall.high)
            if not f1.shows(0, high):
                message = f"F1 {f1.value:g} is more than precision and recall give: {_between(low, high)}"
                yield _found(row, "contradiction", message)
            elif not f1.shows(low, high):
                message = f"F1 {f1.value:g} is less than precision and recall give, {_between(low, high)}: "
                yield _found(row, "doubt", f"{message}is it a mean over classes or runs?")
    yield from _check_counts(row)


def _f1_of(precision: float, recall: float) -> float:
    precision, recall = max(precision, 0), max(recall, 0)
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def _between(low: float, high: float) -> str:
    return f"{low:.4f}" if f"{low:.4f}" == f"{high:.4f}" else f"{low:.4f} to {high:.4f}"


def _found(row: Row, kind: Kind, message: str) -> Finding:
    return Finding(line=row.line, kind=kind, message=f"{row.name}: {message}" if row.name else message)


def _check_counts(row: Row) -> Iterator[Finding]:
    """Yield precision and recall against the counts of the row."""
    counts = {role: row.role(role) for role in ("correct", "gold", "wrong", "missed", "predicted")}
    correct, gold, wrong, missed, predicted = (number.value if number else None for number in counts.values())
    if correct is None:
        return
    precision, recall = row.role("precision"), row.role("recall")
    if gold is not None and missed is not None and correct + missed != gold:
        yield _found(
            row, "contradiction", f"correct {correct:g} and missed {missed:g} make {correct + missed:g}, not {gold:g}"
        )
    if gold is None and missed is not None:
        gold = correct + missed
    if gold and recall and not recall.shows(correct / gold):
        yield _found(
            row, "contradiction", f"recall {recall.value:g} is not {correct:g} / {gold:g} = {correct / gold:.4f}"
        )
    if not precision:
        return
    if recall is None and gold and precision.shows(correct / gold):
        if wrong is not None and correct + wrong != gold:
            yield _found(
                row, "contradiction", f"{correct:g} right and {wrong:g} wrong make {correct + wrong:g}, not {gold:g}"
            )
        return  # an accuracy in the column of precision: there is nothing predicted beyond the gold
    yield from _check_precision(row, precision, correct=correct, gold=gold, wrong=wrong, predicted=predicted)


def _check_precision(
    row: Row, precision: Number, *, correct: float, gold: float | None, wrong: float | None, predicted: float | None
) -> Iterator[Finding]:
    stated = predicted if predicted is not None else (correct + wrong if wrong is not None else None)
    if stated == 0 and precision.shows(0):
        return
    if stated and precision.shows(correct / stated):
        accuracy = correct / (stated + gold - correct) if gold else None
        if _is_called_accuracy(row, precision) and accuracy is not None and not precision.shows(accuracy):
            yield _found(
                row,
                "doubt",
                f"what is called accuracy ({precision.value:g}) is precision, {correct:g} / {stated:g}; "
                f"right of all that is gold or predicted is {accuracy:.4f}",
            )
    else:
        low, high = whole_between(
            correct / precision.high, correct / precision.low if precision.low > 0 else correct * 1e9
        )
        if stated:
            yield _found(
                row,
                "contradiction",
                f"precision {precision.value:g} is not {correct:g} / {stated:g} = {correct / stated:.4f}",
            )
        if low > high and not stated:
            message = f"no number of predictions gives precision {precision.value:g} with {correct:g} correct"
            yield _found(row, "contradiction", message)
        if low > high:
            return
        yield _found(
            row, "recovered", f"predicted {_range(low, high)}, by {correct:g} correct and precision {precision.value:g}"
        )
        yield from _explain_wrong(row, wrong, correct, gold, (low, high))
        stated = (low + high) / 2
    if gold and gold >= _FEW and stated and stated / gold > _RATIO_LIMIT:
        yield _found(
            row,
            "doubt",
            f"{stated / gold:.2f} times as much is predicted as is gold ({stated:,.0f} and {gold:,.0f}): "
            "rather a broken run than a weak system",
        )


def _explain_wrong(
    row: Row, wrong: float | None, correct: float, gold: float | None, predicted: tuple[int, int]
) -> Iterator[Finding]:
    """Say if the count of wrong predictions is that of all errors."""
    if wrong is not None and gold is not None:
        errors = tuple(count - correct + gold - correct for count in predicted)
        if errors[0] <= wrong <= errors[1]:
            spurious = wrong - (gold - correct)
            yield _found(
                row,
                "doubt",
                f"{wrong:g} are false positives and false negatives together: {spurious:g} and {gold - correct:g}",
            )


def _is_called_accuracy(row: Row, number: Number) -> bool:
    column = next((column for column in row.numbers if role_of(column) == "precision"), "")
    named = "accuracy" in {role_of(part) for part in column.split("/")}
    return named and (not number.note or role_of(number.note) == "accuracy")


def whole_between(low: float, high: float) -> tuple[int, int]:
    """Return the least and the greatest whole number between two; the least is greater if there is none."""
    return ceil(low - 1e-9), floor(high + 1e-9)


def _range(low: int, high: int) -> str:
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def _check_repeated(table: Table) -> Iterator[Finding]:
    """Yield rows in which precision, recall and F1 are one number, which by chance few items give more often than
    many."""
    for row in table.rows:
        gold = row.role("gold")
        if gold and gold.value < _FEW:
            continue
        shares = [row.role(role) for role in ("precision", "recall", "f1")]
        values = {number.value for number in shares if number and number.half < _COARSE}
        if all(shares) and len(values) == 1 and not values & {0.0, 1.0}:
            yield _found(
                row,
                "doubt",
                f"precision, recall and F1 are one number ({values.pop():g}), as where each item has one label",
            )


def _words(name: str) -> list[str]:
    return re.findall(r"[^\W_]+", name.lower())


def is_average(row: Row) -> bool:
    """Return whether a row is an average or a sum over the others, by its name."""
    return any(word in _AVERAGES for word in _words(row.name))


@dataclass(frozen=True, kw_only=True)
class ClassReport:
    """A classification report: a row per class with its support, and rows of averages."""

    classes: Sequence[Row]
    averages: Mapping[str, Row]

    @classmethod
    def of(cls, table: Table) -> "ClassReport | None":
        """Return the classes of a table with a recall and a support for each of two or more, and gold; None
        otherwise."""
        averages = {_words(row.name)[0]: row for row in table.rows if is_average(row)}
        classes = [row for row in table.rows if not is_average(row)]
        complete = [row for row in classes if row.role("recall") and row.role("gold") and not row.role("correct")]
        if len(classes) < 2 or len(complete) < len(classes):
            return None
        found = cls(classes=classes, averages=averages)
        return found if sum(found.support) > 0 else None

    @property
    def support(self) -> list[float]:
        """The number of gold items of each class."""
        return [number.value for row in self.classes if (number := row.role("gold"))]

    def accuracy(self) -> Number | None:
        """Return the stated accuracy, or micro average of which all three figures are one number; of few items by
        chance."""
        if row := self.averages.get("accuracy"):
            return row.role("accuracy") or row.role("f1") or row.role("precision")
        row = self.averages.get("micro")
        shares = [row.role(role) for role in ("precision", "recall", "f1")] if row else []
        same = bool(shares) and all(shares) and len({one.value for one in shares if one}) == 1
        return shares[0] if same and sum(self.support) >= _FEW else None


def _check_class_report(table: Table) -> Iterator[Finding]:
    """Yield averages against the rows of classes, and the accuracy against always predicting the largest class."""
    yield from _check_averages(table)
    found = ClassReport.of(table)
    if not found:
        return
    total, largest = sum(found.support), max(found.support)
    main = found.classes[found.support.index(largest)]
    accuracy = found.accuracy()
    if accuracy:
        row = next(row for name, row in found.averages.items() if name in ("accuracy", "micro"))
        if accuracy.high < largest / total:
            yield _found(
                row,
                "doubt",
                f"always predicting {main.name} has accuracy {largest / total:.4f}, which beats {accuracy.value:g}",
            )
        if total / 2 < largest < total:
            others = [one for one in found.classes if one is not main]
            right = [_bounds(one, "recall") for one in others]
            gold = total - largest
            yield _found(
                row,
                "recovered",
                f"without {main.name}, {_range(sum(low for low, _ in right), sum(high for _, high in right))} of "
                f"{gold:,.0f} are right, a recall of {sum(high for _, high in right) / gold:.4f} at most",
            )
    silent = [
        row.name
        for row, gold in zip(found.classes, found.support, strict=True)
        if gold and (recall := row.role("recall")) and recall.value == 0
    ]
    if silent:
        yield Finding(
            line=table.line,
            kind="doubt",
            message=f"nothing is right for {len(silent)} of {len(found.classes)} classes: {', '.join(silent)}",
        )


def _bounds(row: Row, role: str) -> tuple[int, int]:
    """Return the whole numbers that a share of the row's support can be."""
    share, support = row.role(role), row.role("gold")
    if not share or not support:
        return 0, 0
    low, high = whole_between(max(0, share.low) * support.value, share.high * support.value)
    return low, max(low, high)


def _check_averages(table: Table) -> Iterator[Finding]:
    classes = [row for row in table.rows if not is_average(row)]
    for row in table.rows:
        kind = (_words(row.name) or [""])[0]
        if not is_average(row) or kind not in ("macro", "weighted", "micro", "accuracy") or len(classes) < 2:
            continue
        for role in ("precision", "recall", "f1"):
            stated = row.role(role)
            numbers = [one.role(role) for one in classes]
            supports = [one.role("gold") for one in classes]
            known = [number for number in numbers if number]
            if not stated or len(known) < len(classes):
                continue
            low, high = min(one.low for one in known), max(one.high for one in known)
            if kind == "macro":
                low, high = mean(one.low for one in known), mean(one.high for one in known)
            elif all(supports) and (kind == "weighted" or role == "recall"):
                weights = [one.value for one in supports if one]
                low, high = (
                    sum(weight * value for weight, value in zip(weights, values, strict=True)) / sum(weights)
                    for values in ([one.low for one in known], [one.high for one in known])
                )
            elif kind == "accuracy":
                continue
            if not stated.shows(low, high):
                yield _found(
                    row,
                    "contradiction",
                    f"{role} {stated.value:g} does not follow from the classes: {_between(low, high)}",
                )


def _check_scenarios(table: Table, gold: Sequence[int]) -> Iterator[Finding]:
    """Yield the order of nervaluate's scenarios, and the counts that they share."""
    rows = {name: row for row in table.rows for name in SCENARIOS if re.split(r"[\s_]+", row.name.lower())[-1] == name}
    if len(rows) < 3 or "strict" not in rows:
        return
    order = [("strict", "exact"), ("exact", "partial"), ("strict", "type")]
    for less, more in order:
        for role in ("precision", "recall"):
            one, other = (rows[name].role(role) if name in rows else None for name in (less, more))
            if one and other and one.low > other.high:
                yield _found(
                    rows[more], "contradiction", f"{role} {other.value:g} is less than that of {less}, {one.value:g}"
                )
    recovered = [finding for count in dict.fromkeys(gold) for finding in _recover_scenarios(table, rows, count)]
    yield from recovered
    if gold and not recovered:
        numbers = " or ".join(f"{count:,}" for count in dict.fromkeys(gold))
        message = f"no counts of {numbers} gold entities give these figures"
        yield Finding(line=table.line, kind="contradiction", message=message)


def _recover_scenarios(table: Table, rows: Mapping[str, Row], gold: int) -> Iterator[Finding]:
    """Yield the counts that give all figures of the scenarios with this number of gold entities, if any do."""
    fitting = []
    strict = rows["strict"]
    precision, recall = strict.role("precision"), strict.role("recall")
    if not precision or not recall or precision.low <= 0 or gold <= 0:
        return
    low, high = whole_between(gold * recall.low / precision.high, gold * recall.high / precision.low)
    low = max(low, 1)
    if high - low > _MOST_COUNTS:
        return
    for predicted in range(low, high + 1):
        counts = {name: _correct_counts(row, gold, predicted, halves=name == "partial") for name, row in rows.items()}
        if all(counts.values()):
            fitting.append((predicted, counts))
    for predicted, counts in fitting:
        shown = {name: " or ".join(f"{count:,g}" for count in found) for name, found in counts.items()}
        exact, partial = counts.get("exact", []), counts.get("partial", [])
        if len(exact) == len(partial) == 1:
            shown["partial"] += f" ({exact[0]:,g} and {2 * (partial[0] - exact[0]):g} halves)"
        listed = ", ".join(f"{name} {found}" for name, found in shown.items())
        message = f"all figures follow from gold {gold:,}, predicted {predicted:,}: {listed}"
        yield Finding(line=table.line, kind="recovered", message=message)


def _correct_counts(row: Row, gold: int, predicted: int, *, halves: bool) -> list[float]:
    """Return the numbers of correct items that give the row's figures."""
    scale = 2 if halves else 1
    precision, recall, f1 = row.role("precision"), row.role("recall"), row.role("f1")
    if not precision or not recall:
        return []
    low, high = whole_between(scale * gold * recall.low, scale * gold * recall.high)
    return [
        count / scale
        for count in range(low, high + 1)
        if recall.shows(count / scale / gold)
        and precision.shows(count / scale / predicted)
        and (not f1 or f1.shows(2 * count / scale / (gold + predicted)))
    ]


def _check_metric_rows(table: Table) -> Iterator[Finding]:
    """Yield tables with a metric in each row and a system in each column: equal metrics, and columns of differences."""
    rows = [row for row in table.rows if role_of(row.name)]
    if len(rows) < 2 or len(rows) < len(table.rows):
        return
    systems = [column for column in rows[0].numbers if all(column in row.numbers for row in rows)]
    yield from _check_differences(rows, systems)
    same: defaultdict[tuple[float, ...], list[Row]] = defaultdict(list)
    for row in rows:
        same[tuple(row.numbers[column].value for column in systems)].append(row)
    for values, group in same.items():
        if len(group) > 1 and len(set(values)) > 1:
            names = ", ".join(row.name for row in group)
            yield Finding(
                line=group[0].line,
                kind="doubt",
                message=f"{names} are one number in every column; it counts once, not {len(group)} times",
            )
    if len(same) < len(rows):
        yield from _recount_wins(list(same.values()), systems)


def _recount_wins(groups: Sequence[Sequence[Row]], systems: Sequence[str]) -> Iterator[Finding]:
    """Yield the wins of the first two columns, with equal metrics as one."""
    if len(systems) < 2:
        return
    one, other = systems[:2]
    for name, rival in ((one, other), (other, one)):
        wins = [group for group in groups if group[0].numbers[name].value > group[0].numbers[rival].value]
        told = sum(map(len, wins))
        if told > len(wins):
            metrics = sum(map(len, groups))
            message = f"{name} is higher in {len(wins)} of {len(groups)} different metrics, not in {told} of {metrics}"
            yield Finding(line=groups[0][0].line, kind="doubt", message=message)


def _check_differences(rows: Sequence[Row], columns: Sequence[str]) -> Iterator[Finding]:
    """Yield columns that are the difference of two others in most rows, and are not in some."""
    for one, other, third in ((a, b, c) for a, b in combinations(columns, 2) for c in columns if c not in (a, b)):
        numbers = [(row, row.numbers[one], row.numbers[other], row.numbers[third]) for row in rows]
        wrong = [row for row, a, b, c in numbers if not c.shows(b.low - a.high, b.high - a.low)]
        if 0 < len(wrong) < len(rows) / 2 and len(rows) > 2:
            for row in wrong:
                yield _found(row, "contradiction", f"{third} {row.numbers[third].value:g} is not {other} minus {one}")


def _check_bold(table: Table) -> Iterator[Finding]:
    """Yield a bold figure that another row of its group beats. Rows are a group if they have one first number."""
    groups: defaultdict[float | None, list[Row]] = defaultdict(list)
    first = table.columns[0] if table.columns else ""
    for row in table.rows:
        key = row.numbers.get(first)
        groups[key.value if key and not key.half else None].append(row)
    for column in table.columns:
        if role_of(column) not in ("precision", "recall", "f1", "accuracy"):
            continue
        for rows in groups.values():
            numbers = [(row.numbers[column], row) for row in rows if column in row.numbers]
            bold = [(number.value, row) for number, row in numbers if number.bold]
            best, by = max(
                ((number.value, row) for number, row in numbers), key=lambda pair: pair[0], default=(0.0, None)
            )
            if len(bold) == 1 and len(rows) > 1 and by and bold[0][0] < best:
                yield _found(
                    bold[0][1],
                    "doubt",
                    f"{column} {bold[0][0]:g} is in bold, but {by.name} (line {by.line}) has {best:g}",
                )
