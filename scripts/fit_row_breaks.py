"""Fits the model of `ingest/pdf/tables/row_breaks.py` to generated tables, and prints its weights and errors.

Run `python scripts/fit_row_breaks.py FOLDER`; it takes some minutes. The folder keeps what was read, so that a run that
was stopped can be continued; use a new one after a change to the parser. The styles of `held-out` are only measured.
"""

import argparse
import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby, pairwise
from pathlib import Path
from unittest import mock

import numpy as np
from paperscope_lab.evaluation.gold.generated_tables import STYLES, typeset_paper
from paperscope_lab.evaluation.gold.papers import GoldTable
from paperscope_lab.evaluation.parsing.tables import folded_grid
from sklearn.linear_model import LogisticRegression

from ingest.pdf import PdfParser
from ingest.pdf.tables.row_breaks import WEIGHTS, LineContext, features_of, known_break
from ingest.pdf.tables.row_joining import join_rows
from ingest.pdf.tables.table_columns import Columns
from ingest.pdf.tables.table_values import GridRow, TableRegion
from paperscope_core.types import PaperFile

_SEEDS = range(100, 106)  # The suite has others.
_LIMITS = (0.0, -1.0, -1.5, -2.0)

Example = tuple[Mapping[str, float], bool]


def _examples(style: str, seed: int, folder: Path) -> Iterator[Example]:
    """Yield the features of each line that only the model can judge, and whether it begins a row."""
    file = folder / f"{style}-{seed}.pdf"
    gold = typeset_paper(style, seed, file)
    with mock.patch("ingest.pdf.tables.grid.join_rows", wraps=join_rows) as joining:
        PdfParser(dpi=36).parse(PaperFile(file))
    for call in joining.call_args_list:
        lines, columns, region = call.args
        rows = next((rows for table in gold.tables if (rows := _rows_of(lines, table))), None)
        if rows:
            yield from _judged(lines, rows, columns, region)


def _kept_examples(style: str, seed: int, folder: Path) -> list[Example]:
    """Return the examples of a paper, from the folder if an earlier run has read it."""
    file = folder / f"{style}-{seed}.json"
    if not file.is_file():
        found = list(_examples(style, seed, folder))
        partial = file.with_suffix(".part")
        partial.write_text(json.dumps(found), encoding="utf-8")
        partial.rename(file)
    return [(features, begins) for features, begins in json.loads(file.read_text(encoding="utf-8"))]


def _judged(lines: Sequence[GridRow], rows: Sequence[int], columns: Columns, region: TableRegion) -> Iterator[Example]:
    row_of = dict(zip(map(id, lines), rows, strict=True))
    zones = [list(zone) for _, zone in groupby(lines, key=lambda line: (region.zone(line.top), line.kind == "body"))]
    bodies = [zone for zone in zones if zone[0].kind == "body"]
    context = LineContext.of(bodies, columns)
    for last, line in (pair for zone in bodies for pair in pairwise(zone)):
        if known_break(last, line, context) is None:
            yield features_of(last, line, context), row_of[id(last)] != row_of[id(line)]


def _rows_of(lines: Sequence[GridRow], gold: GoldTable) -> list[int]:
    """Return the gold row of each line, [] if the lines are not those of the table."""
    rows: list[int] = []
    left: list[str] = []
    below = enumerate(folded_grid(gold.grid))
    for line in lines:
        rest = _without(left, line)
        if rest is None and any(left):
            return []
        while rest is None:
            row, texts = next(below, (-1, None))
            if texts is None:
                return []
            rest = _without(texts, line)
            last = row
        rows.append(last)
        left = rest
    return rows


def _without(texts: Sequence[str], line: GridRow) -> list[str] | None:
    """Return what follows a line in the texts of a row, None if the line is not their beginning."""
    left = list(texts)
    for piece, text in zip(line.pieces, folded_grid([[piece.text for piece in line.pieces]])[0], strict=True):
        for start in (text, text.removesuffix("-")):
            found = [index for index, rest in enumerate(left) if start and rest.startswith(start)]
            if found:
                nearest = min(found, key=lambda index: abs(index - piece.first))
                left[nearest] = left[nearest].removeprefix(start)
                break
        else:
            return None
    return left


def _matrices(examples: Sequence[Example]) -> tuple[np.ndarray, np.ndarray]:
    return np.array([[found[name] for name in WEIGHTS] for found, _ in examples]), np.array([y for _, y in examples])


def _main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("folder", type=Path, help="the folder for the papers and what was read of them")
    folder = options.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    fitting: list[Example] = []
    held_out: list[Example] = []
    for style in STYLES:
        part = fitting if hashlib.sha256(style.encode()).digest()[0] % 2 == 0 else held_out  # As in `--part`.
        for seed in _SEEDS:
            part.extend(_kept_examples(style, seed, folder))
    # A text that begins with a small letter says much in these tables, and less in others.
    plain = [({**found, "lower": 0.0}, y) for found, y in fitting]
    model = LogisticRegression(fit_intercept=False, max_iter=5000).fit(*_matrices([*fitting, *plain]))
    for name, weight in zip(WEIGHTS, model.coef_[0], strict=True):
        print(f'    "{name}": {weight:.2f},')  # noqa: T201
    for name, part in (("fitting", fitting), ("held-out", held_out)):
        features, begins = _matrices(part)
        scores = model.decision_function(features)
        for limit in _LIMITS:
            joined, split = sum((scores <= limit) & begins), sum((scores > limit) & ~begins)
            print(f"{name}: {len(part)} lines; limit {limit}: {joined} wrongly joined, {split} wrongly split")  # noqa: T201


if __name__ == "__main__":
    _main()
