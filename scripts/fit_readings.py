"""Fits the model of `ingest/pdf/tables/readings.py` to tables whose cells are known, and prints its weights.

Run `python scripts/fit_readings.py FOLDER --data ../shared`; it takes an hour. The folder keeps the generated papers.
"""

import argparse
import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from unittest import mock

import numpy as np
from paperscope_lab.evaluation.gold.generated_tables import STYLES, typeset_paper
from paperscope_lab.evaluation.gold.paper_readers import load_items
from paperscope_lab.evaluation.parsing.tables import folded_grid
from scipy.optimize import minimize

from ingest.pdf import PdfParser
from ingest.pdf.tables.readings import WEIGHTS, features_of, likeliest
from ingest.pdf.tables.table_values import Grid
from paperscope_core.types import PaperFile

_SEEDS = (200, 201)  # The suite has others.
_PENALTY = 0.1
_ALIKE = 0.5  # The least share of common texts of a table and its gold.
_WEIGHT = {"fields": 3.0, "gold": 2.0, "generated": 1.0}

Rows = Sequence[Sequence[str]]
Example = tuple[np.ndarray, np.ndarray, float]


def _papers(folder: Path, data: Path) -> Iterator[tuple[str, Path, Sequence[Rows]]]:
    for style in STYLES:
        for seed in _SEEDS:
            file = folder / f"{style}-{seed}.pdf"
            gold = typeset_paper(style, seed, file)
            yield "generated", file, [table.logical or table.grid for table in gold.tables]
    for item in load_items(data, read_outline=lambda _: ())[0]:
        if item.gold.tables:
            yield "gold", item.file, [table.logical or table.grid for table in item.gold.tables]
    fields = data / "papers" / "fields"
    tables: defaultdict[str, list[Rows]] = defaultdict(list)
    for line in (fields / "tables.jsonl").read_text(encoding="utf-8").splitlines():
        if "grid" in (table := json.loads(line)):
            tables[table["paper"]].append(table["grid"])
    for name, grids in tables.items():
        yield "fields", fields / "papers" / name, grids


def _texts(rows: Rows) -> list[list[str]]:
    folded = folded_grid(rows)
    used = [column for column in range(len(folded[0])) if any(row[column] for row in folded)] if folded else []
    return [[row[column] for column in used] for row in folded if any(row)]


def _rows(grid: Grid) -> Rows:
    rows = [[""] * max(len(grid.columns), 1) for _ in range(max(cell.row + cell.row_span for cell in grid.cells))]
    for cell in grid.cells:
        rows[cell.row][cell.column] = cell.text
    return rows


def _quality(grid: Grid, gold: list[list[str]]) -> float:
    rows = _texts(_rows(grid))
    shape = [len(row) for row in rows] == [len(row) for row in gold]
    if shape:
        right = sum(
            bool(a) and a == b for one, two in zip(gold, rows, strict=True) for a, b in zip(one, two, strict=True)
        )
    else:
        right = sum(max((Counter(filter(None, row)) & Counter(other)).total() for other in rows) for row in gold)
    count = sum(bool(text) for row in (*gold, *rows) for text in row)
    return float(rows == gold) + 0.5 * shape + 2 * right / max(count, 1)


def _examples(folder: Path, data: Path) -> Iterator[Example]:
    """Yield the features of the readings of each table, which of them are best, and the weight of its set."""
    for name, file, tables in _papers(folder, data):
        with mock.patch("ingest.pdf.tables.find.likeliest", wraps=likeliest) as deciding:
            PdfParser(dpi=36).parse(PaperFile(file))
        for call in deciding.call_args_list:
            [readings] = call.args
            seen = {text for row in _texts(_rows(readings[0].grid)) for text in row}
            golds = [_texts(table) for table in tables]
            gold = max(golds, key=lambda rows: len(seen & {text for row in rows for text in row}), default=[])
            wanted = {text for row in gold for text in row}
            if len(seen & wanted) >= _ALIKE * len(seen | wanted):
                quality = np.array([_quality(reading.grid, gold) for reading in readings])
                found = np.array([[features_of(reading)[key] for key in WEIGHTS] for reading in readings])
                yield found, quality > quality.max() - 0.02, _WEIGHT[name]


def _fitted(examples: Sequence[Example]) -> np.ndarray:
    """Return the weights of a conditional logit: the probability that one of the best readings is chosen is largest."""
    scale = np.concatenate([found - found.mean(axis=0) for found, *_ in examples]).std(axis=0) + 1e-6

    def loss(weights: np.ndarray) -> tuple[float, np.ndarray]:
        value, slope = 0.0, np.zeros_like(weights)
        for found, best, weight in examples:
            scores = found / scale @ weights
            odds = np.exp(scores - scores.max())
            share = odds / odds.sum()
            hit = share[best].sum()
            value -= weight * np.log(hit + 1e-12)
            slope -= weight * ((share * best / (hit + 1e-12) - share) @ (found / scale))
        penalty = _PENALTY * len(examples)
        return value + penalty * weights @ weights / 2, slope + penalty * weights

    fitted: np.ndarray = np.divide(minimize(loss, np.zeros(len(WEIGHTS)), jac=True, method="L-BFGS-B").x, scale)
    return fitted


def _main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("folder", type=Path, help="the folder for the generated papers")
    options.add_argument("--data", type=Path, required=True, help="the folder of the development data")
    chosen = options.parse_args()
    chosen.folder.mkdir(parents=True, exist_ok=True)
    weights = _fitted(list(_examples(chosen.folder, chosen.data)))
    for name, weight in zip(WEIGHTS, weights, strict=True):
        print(f'    "{name}": {weight:.2f},')  # noqa: T201


if __name__ == "__main__":
    _main()
