"""LaTeX tables in Markdown are tables."""

from pathlib import Path

import pytest

from ingest.parsers import parser_for
from paperscope_core.settings import LimitSettings, ParserSettings
from paperscope_core.types import PaperFile, Passage, Table


def tables(text: str, folder: Path) -> tuple[list[Table], list[Passage]]:
    file = folder / "paper.md"
    file.write_text(text, encoding="utf-8")
    paper = parser_for(ParserSettings(), limits=LimitSettings()).parse(PaperFile(file)).paper
    return (
        [element for element in paper.elements if isinstance(element, Table)],
        [element for element in paper.elements if isinstance(element, Passage)],
    )


SPANS = r"""# Owls

Some text before.

Table 7: Sizes of the sets.
\begin{tabular}{|c|cc|}
  \multirow[t]{2}{*}{Task} & \multicolumn{2}{|c|}{Rows} \\
  & Train & Test \\
  \multicolumn{3}{|c|}{Birds} \\

  Owls \& eels & $1,207$ & 95\% \\
  \textbf{Hawks} & { 12 } & $-$ \\
\end{tabular}

Text behind.
"""


def test_a_tabular_with_spans_below_its_caption(tmp_path: Path) -> None:
    [table], passages = tables(SPANS, tmp_path)
    assert (table.label, table.caption) == ("Table 7", "Sizes of the sets.")
    assert table.grid(repeat_spans=True) == [
        ["Task", "Rows", "Rows"],
        ["Task", "Train", "Test"],
        ["Birds", "Birds", "Birds"],
        ["Owls & eels", "1,207", "95%"],
        ["Hawks", "12", "-"],
    ]
    assert [cell.row for cell in table.cells if cell.role == "section"] == [2]
    assert [passage.text for passage in passages][-2:] == ["Some text before.", "Text behind."]


FLOAT = r"""Text.

\begin{table}[ht]
\centering
\caption{Scores of \emph{all} systems. \label{tab:x}}
\begin{tabular*}{\textwidth}{@{}l p{3cm}@{\hspace{2em}} r@{}}
\toprule
System & Words \cite{ours} & F1 \\[2pt]
\midrule
\begin{tabular}[c]{@{}l@{}}Two\\ lines\end{tabular} & a~b & 91.5 \\ \cmidrule(lr){2-3}
Base & costs \$5 & \underline{84.2} \\
\bottomrule
\end{tabular*}
\end{table}
"""


def test_a_float_with_caption_header_and_cells_of_two_lines(tmp_path: Path) -> None:
    [table], _ = tables(FLOAT, tmp_path)
    assert table.caption == "Scores of all systems."
    assert table.grid() == [["System", "Words", "F1"], ["Two lines", "a b", "91.5"], ["Base", "costs $5", "84.2"]]
    assert {cell.row for cell in table.cells if cell.role == "column_header"} == {0}


def test_a_long_table_has_one_header(tmp_path: Path) -> None:
    text = r"\begin{longtable}{ll}A & B\\\endfirsthead A & B\\\endhead more &\\\endfoot 1 & 2\\ 3 & 4\\\end{longtable}"
    [table], _ = tables(text, tmp_path)
    assert table.grid() == [["A", "B"], ["1", "2"], ["3", "4"]]


@pytest.mark.parametrize("text", [r"\begin{tabular}{ll} a & b", "    \\begin{tabular}{l}a\\\\b\\end{tabular}"])
def test_an_open_table_and_code_stay_text(text: str, tmp_path: Path) -> None:
    found, passages = tables(f"Before.\n\n{text}\n", tmp_path)
    assert not found
    assert "tabular" in passages[-1].text
