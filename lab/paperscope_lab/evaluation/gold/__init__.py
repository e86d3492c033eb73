"""Gold data, read from a folder with the layout of the development data, except the boxes that we drew ourselves.

`paper_readers`:
    DIR/papers/NAME/paper.pdf with gold_tables.json, gold.json, cells.jsonl
    DIR/papers/latexgold/*.gold.json, DIR/eval/tablecells_latex.jsonl
    DIR/eval/parse_jose_jats.jsonl for DIR/papers/jose
    DIR/eval/parse_olmocr_unit_tests.jsonl for DIR/papers/olmocr
    DIR/papers/fields/tables.jsonl, order.jsonl, records.jsonl, figures.jsonl for DIR/papers/fields/papers
    bookmarks of all other PDFs below DIR/papers
`generated_tables`:
    no files: it typesets papers with known tables
`page_layouts`:
    layout/development.jsonl and heldout.jsonl beside it, for PDFs below DIR/papers
`questions`:
    questions.jsonl or N_qa.jsonl beside a PDF below DIR/papers
    DIR/eval/paperqa_mmlongbench.jsonl and regions_mmdocir.jsonl for DIR/papers/mmlongbench
    DIR/eval/paperqa_ohrbench.jsonl, paperqa_ohrbench_pages.jsonl
`text_questions`:
    DIR/eval/paperqa_qasper10_raw.jsonl, paperqa_argscichat.jsonl
    DIR/eval/kg_nlptdms_text.jsonl, kg_nlptdms_tuples.jsonl
`graphs`:
    DIR/eval/kg_scierc.jsonl, kg_scier.jsonl, kg_scirex.jsonl
    DIR/eval/acronym_identification.jsonl, acronym_disambiguation.jsonl
"""
