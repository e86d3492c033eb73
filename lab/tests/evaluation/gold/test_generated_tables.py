"""Papers with known tables, and what the parser reads from some of them."""

from pathlib import Path

import pytest
from paperscope_lab.evaluation.gold.generated_tables import STYLES, typeset_paper
from paperscope_lab.evaluation.parsing.tables import score_tables

from ingest.pdf import PdfParser
from paperscope_core.types import PaperFile


def test_the_same_seed_gives_the_same_tables(tmp_path: Path) -> None:
    first, second = (typeset_paper("booktabs-groups", 1, tmp_path / name) for name in ("one.pdf", "two.pdf"))
    assert first == second
    assert (tmp_path / "one.pdf").read_bytes() == (tmp_path / "two.pdf").read_bytes()
    [table, *_] = first.tables
    assert table.spans
    assert table.header_rows == (0, 1)


@pytest.mark.slow
@pytest.mark.parametrize("style", ["pandoc-plain", "row-spans"])
def test_most_cells_are_read(style: str, tmp_path: Path) -> None:
    file = tmp_path / "paper.pdf"
    gold = typeset_paper(style, 100, file)
    cells = score_tables(PdfParser(dpi=36).parse(PaperFile(file)).paper, gold).tallies["tables.cells"]
    assert cells.right > 0.9 * cells.total
    assert all(len(table.grid) > STYLES[style].rows[0] for table in gold.tables)
