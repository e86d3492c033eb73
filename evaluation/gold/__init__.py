"""Gold: what is known of papers, read from a folder laid out as the development data is.

DIR/papers/NAME/paper.pdf with gold_tables.json, gold.json, cells.jsonl   (see `paper_folders`)
DIR/papers/latexgold/*.gold.json, DIR/eval/tablecells_latex.jsonl         (see `latex`)
DIR/eval/parse_jose_jats.jsonl for DIR/papers/jose                        (see `jose`)
DIR/eval/parse_olmocr_unit_tests.jsonl for DIR/papers/olmocr              (see `olmocr`)
bookmarks of all other PDFs below DIR/papers                              (see `outlines`)
questions.jsonl or N_qa.jsonl beside a PDF below DIR/papers               (see `docbench`)
DIR/eval/paperqa_mmlongbench.jsonl for DIR/papers/mmlongbench             (see `mmlongbench`)
DIR/eval/paperqa_ohrbench.jsonl, paperqa_ohrbench_pages.jsonl             (see `ohrbench`)
DIR/eval/paperqa_qasper10_raw.jsonl                                       (see `qasper_answers`)
DIR/eval/kg_scierc.jsonl, kg_scier.jsonl, kg_scirex.jsonl                 (see `scierc`, `scier`, `scirex`)
DIR/eval/acronym_identification.jsonl, acronym_disambiguation.jsonl       (see `acronyms`)
"""

from evaluation.gold.paper_readers import load_items
from evaluation.gold.papers import (
    Gold,
    GoldCaption,
    GoldHeading,
    GoldItem,
    GoldLookup,
    GoldReference,
    GoldSpan,
    GoldTable,
    PageTest,
)

__all__ = [
    "Gold",
    "GoldCaption",
    "GoldHeading",
    "GoldItem",
    "GoldLookup",
    "GoldReference",
    "GoldSpan",
    "GoldTable",
    "PageTest",
    "load_items",
]
