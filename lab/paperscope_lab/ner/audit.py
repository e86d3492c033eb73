"""Audits a report: recomputes its figures, recovers the counts behind them, and names what doesn't fit.

A finding is a `contradiction` if no counts give the printed figures, a `doubt` if a figure is not what it seems or a
comparison is not one, and `recovered` if it states what the report leaves out.
"""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import mean, pstdev, stdev

from paperscope_lab.ner.datasets import DataStats
from paperscope_lab.ner.report_reading import Number, Report, Row, Table, read_report, role_of
from paperscope_lab.ner.table_audit import SCENARIOS, ClassReport, Finding, check_table, is_average, whole_between

__all__ = ["audit_report"]

# The chance that unrelated figures fit a number of gold items must be below this, to call the fit a finding.
_CHANCE_LIMIT = 0.01
# Beyond this number of gold items, figures of any number of digits are not looked for.
_MOST_GOLD = 10_000
_SHARE = r"(?<![\d.])(\d{1,3}\.\d{1,12})"
_DEVIATION = re.compile(_SHARE + r" ?%?\$? ?(?:\u00b1|\+/-|\\pm) ?\$?(\d{1,3}\.\d{1,12})")
_DEVIATION_KIND = re.compile(r"\b(sample|population)(?: standard)? deviation")
_COUNTED = re.compile(r"(?<![\d,.])(\d[\d,]{0,12}) (sentences|tokens|entities)\b", re.IGNORECASE)


def audit_report(text: str, *, gold: Sequence[int] = (), data: DataStats | None = None) -> list[Finding]:
    """Audit a report in Markdown.

    Args:
        text: The report.
        gold: Numbers of gold entities that the report does not state, if they are known; the counts behind rounded
            figures are recovered for those that fit.
        data: The counts of the data set that the report is about, if it is there.

    Returns:
        The findings, in the order of the lines.
    """
    report = read_report(text)
    counts = [*gold, *([data.spans] if data else [])]
    found: list[Finding] = []
    for table in report.tables:
        found += check_table(table, counts)
    found += _check_denominators(report)
    found += _check_unstated_gold(report)
    found += _check_baselines(report)
    found += _check_deviations(report)
    found += _check_data_counts(report, data)
    return sorted(dict.fromkeys(found), key=lambda finding: finding.line)


def _check_denominators(report: Report) -> Iterator[Finding]:
    """Yield rows of one name in tables with the same columns, whose figures are of different numbers of gold items."""
    groups: defaultdict[tuple[str, int], list[tuple[Table, Row]]] = defaultdict(list)
    for table in report.tables:
        for row in table.rows:
            if row.name and row.role("correct") and row.role("gold"):
                groups[row.name.lower(), len(table.columns)].append((table, row))
    for rows in groups.values():
        totals: dict[float, list[str]] = {}
        for table, row in rows:
            if gold := row.role("gold"):
                totals.setdefault(gold.value, []).append(table.title)
        if len(totals) > 1:
            stated = "; ".join(f"{total:,.0f} ({', '.join(titles)})" for total, titles in totals.items())
            message = f"{rows[0][1].name}: the figures are of different data, so they don't compare: {stated}"
            yield Finding(line=rows[0][1].line, kind="doubt", message=message)


def _check_unstated_gold(report: Report) -> Iterator[Finding]:
    """Yield tables of rounded figures without counts: the numbers of gold items that they fit."""
    stated = sorted({number.value for table in report.tables for row in table.rows if (number := row.role("gold"))})
    for table in report.tables:
        rows = [row for row in table.rows if row.role("precision") and row.role("recall") and row.role("f1")]
        rows = [row for row in rows if not row.role("gold") and not row.role("correct") and not is_average(row)]
        halves = {number.half for row in rows if (number := row.role("recall"))}
        if len(rows) < 2 or len(rows) < len(table.rows) or len(halves) != 1 or any(role_of(row.name) for row in rows):
            continue
        if any(name in row.name.lower() for row in rows for name in SCENARIOS):
            continue
        half = halves.pop()
        fits, limit = _fitting_gold(rows, half)
        if fits:
            numbers = ", ".join(map(str, fits[:4]))
            message = f"these figures fit {numbers} gold items, and no other number up to {limit}"
            yield Finding(line=table.line, kind="recovered", message=message)
            foreign = [f"{count:,.0f}" for count in stated if count < 0.5 / half and not _fits(rows, int(count))]
            if foreign:
                yield Finding(
                    line=table.line,
                    kind="doubt",
                    message=f"they don't fit what the report states elsewhere: {', '.join(foreign)}",
                )


def _fitting_gold(rows: Sequence[Row], half: float) -> tuple[list[int], int]:
    """Return the numbers of gold items that all rows fit, up to where chance fits one, and that limit.

    A recall of random digits fits n items with a chance of n + 1 times the width of a printed figure.
    """
    chance, limit = 0.0, 0
    fits: list[int] = []
    while True:
        chance += min(1.0, (limit + 2) * 2 * half) ** len(rows)
        if chance > _CHANCE_LIMIT or limit == _MOST_GOLD:
            return fits, limit
        limit += 1
        if _fits(rows, limit):
            fits.append(limit)


def _fits(rows: Sequence[Row], gold: int) -> bool:
    return all(_fits_row(row, gold) for row in rows)


def _fits_row(row: Row, gold: int) -> bool:
    precision, recall, f1 = row.role("precision"), row.role("recall"), row.role("f1")
    if not precision or not recall or not f1:
        return False
    if precision.low <= 0:
        return True  # any number of predictions
    least, most = whole_between(gold * recall.low, gold * recall.high)
    for correct in range(least, most + 1):
        if not correct:
            return True
        low, high = whole_between(correct / precision.high, correct / precision.low)
        # F1 falls with the number of predictions: of those that the precision allows, the two nearest to that printed.
        wanted = 2 * correct / f1.value - gold if f1.value else high
        near = {min(max(number, low), high) for number in (math.floor(wanted), math.ceil(wanted))}
        if low <= high and any(f1.shows(2 * correct / (gold + predicted)) for predicted in near):
            return True
    return False


def _check_baselines(report: Report) -> Iterator[Finding]:
    """Yield one trivial baseline that beats every system of the report."""
    beaten, lines, level = 0, [], 0.0
    reports = [(table, found) for table in report.tables if (found := ClassReport.of(table)) and found.accuracy()]
    for table, found in reports:
        accuracy = found.accuracy()
        share = max(found.support) / sum(found.support)
        if accuracy and accuracy.high < share:
            beaten, level = beaten + 1, share
            lines.append(table.line)
    if beaten > 1 and beaten == len(reports):
        message = (
            f"a baseline that always predicts the largest class has accuracy {level:.4f} and beats all {beaten} systems"
        )
        yield Finding(line=lines[0], kind="doubt", message=message)


def _check_deviations(report: Report) -> Iterator[Finding]:
    """Yield means with a deviation, found again in the columns of the tables."""
    columns = list(_columns(report.tables))
    named = {kind for line in report.lines for kind in _DEVIATION_KIND.findall(line.lower())}
    for number, line in enumerate(report.lines, start=1):
        for average, deviation in _DEVIATION.findall(line):
            near = [found for found in columns if _printed(average).shows(mean(found.values))]
            # Columns of other figures may have this mean by chance.
            fitting = [found for found in near if found.kinds(_printed(deviation))]
            for found in fitting or near:
                kinds = found.kinds(_printed(deviation))
                if named & set(kinds):
                    continue
                told = f"{average} \u00b1 {deviation} is the mean of {len(found.values)} values of {found.name}"
                digits = len(deviation.partition(".")[2])
                other = "; ".join(f"the {one} deviation is {value:.{digits}f}" for one, value in found.spread().items())
                if len(kinds) == 1:
                    message = f"{told} with the {kinds[0]} deviation, which is not named; {other}"
                    yield Finding(line=number, kind="doubt", message=message)
                elif not kinds:
                    message = f"{told}, but not their deviation; {other}"
                    yield Finding(line=number, kind="contradiction", message=message)


@dataclass(frozen=True, kw_only=True)
class _Column:
    """The values of a column, all or those of one group of rows, and half a unit of their last digit."""

    name: str
    values: Sequence[float]
    half: float

    def spread(self) -> dict[str, float]:
        """Return the deviation of the values by its kind."""
        return {"population": pstdev(self.values), "sample": stdev(self.values)}

    def kinds(self, stated: Number) -> list[str]:
        """Return the kinds of deviation that can be printed so; if none can, those that values before rounding can
        have."""
        spread, count = self.spread(), len(self.values)
        # Rounding moves each value by up to half a unit, and the deviations by no more than this.
        slack = {"population": self.half, "sample": self.half * math.sqrt(count / (count - 1))}
        near = [one for one, value in spread.items() if stated.shows(value - slack[one], value + slack[one])]
        return [one for one, value in spread.items() if stated.shows(value)] or near


def _printed(text: str) -> Number:
    return Number(value=float(text), half=0.5 * 10.0 ** -len(text.partition(".")[2]))


def _columns(tables: Sequence[Table]) -> Iterator[_Column]:
    """Yield each column of shares, whole and of the rows that have the same text in another column."""
    for table in tables:
        for column in table.columns:
            groups: defaultdict[str, list[float]] = defaultdict(list)
            half = 0.0
            for row in table.rows:
                if number := row.numbers.get(column):
                    half = max(half, number.half)
                    for key in {"", *row.texts.values()}:
                        groups[key].append(number.value)
            seen: Counter[tuple[float, ...]] = Counter()
            for key, values in groups.items():
                seen[tuple(values)] += 1
                if role_of(column) and len(values) > 1 and seen[tuple(values)] == 1:
                    yield _Column(name=f"{column} ({key})" if key else column, values=values, half=half)


def _check_data_counts(report: Report, data: DataStats | None) -> Iterator[Finding]:
    """Yield numbers of sentences and tokens that count a line `-DOCSTART-` for each document."""
    if data is None:
        return
    counts = {"sentences": data.examples, "tokens": data.tokens, "entities": data.spans}
    for number, line in enumerate(report.lines, start=1):
        for text, unit in _COUNTED.findall(line):
            stated, known = int(text.replace(",", "")), counts[unit.lower()]
            if stated == known + data.document_marks and data.document_marks and unit.lower() != "entities":
                message = f"{text} {unit} are {known:,} and {data.document_marks:,} lines -DOCSTART-"
                yield Finding(line=number, kind="doubt", message=message)
