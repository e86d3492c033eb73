"""LaTeX sources: structure, numbers, references, tables, formulas, macros, archives, and files outside the paper."""

import gzip
import io
import re
import tarfile
import zipfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import SimpleNamespace

import pymupdf
import pytest

from ingest.parsers import parser_for
from ingest.readers import latex_macros
from ingest.readers.latex_macros import expand_latex
from paperscope_core.errors import PaperFileError
from paperscope_core.settings import LimitSettings, ParserSettings
from paperscope_core.types import Equation, Figure, PaperFile, ParsedPaper, Passage, Reference, Table

MAIN = r"""\documentclass{article} % a comment
\usepackage{natbib,own}
\newcommand{\ours}{OwlNet\xspace}
\newcommand{\vect}[1]{\mathbf{#1}}
\def\bea{\begin{eqnarray}}\def\eea{\end{eqnarray}}
\newtheorem{claim}{Claim}[section]
\graphicspath{{figures/}}
\title{Owl \emph{Nets}\thanks{Funded.}}
\author{Ada Lovelace\thanks{Equal.} \\ University of Owls \And Mary Somerville$^1$ \\ Institute}
\begin{document}
\maketitle
\begin{abstract}Owls see at night.\end{abstract}
\section{Results}\label{sec:results}
\ours reaches 91.5\,\% as Table~\ref{tab:scores} and \autoref{fig:owl} show \citep[see][p.~3]{li,wu}. So does
\citet{wu}.\footnote{At night, $x^2$.}

Caf\'e, ``quoted'' --- Eq.~\eqref{eq:b}, Section~\ref{sec:more}, Claim~\ref{claim:all}.
\input{tables/scores}
\begin{align} a &= \frac{b}{c} \label{eq:a}\\ d &= e \nonumber \\ f &= \vect{g} \label{eq:b}\end{align}
\bea x &=& \own \eea
\begin{figure}\includegraphics[width=3cm]{owl}\caption[Short]{An owl.}\label{fig:owl}\end{figure}
\begin{enumerate}\item One \item Two\end{enumerate}
\begin{claim}[Name]\label{claim:all} All owls.\end{claim}
\begin{verbatim}
x % y
\end{verbatim}
\iffalse hidden \fi
\appendix
\section{More}\label{sec:more} Text.
\bibliographystyle{plainnat}\bibliography{refs}
\end{document}
"""
SCORES = r"""% the table
\begin{table}\caption{Accuracy.}\label{tab:scores}
\resizebox{\textwidth}{!}{\begin{tabular}{l|cc}\toprule
\multirow{2}{*}{Model} & \multicolumn{2}{c}{Score}\\ \cmidrule(lr){2-3} & Day & Night\\ \midrule
Base & 84.2 & \makecell{1\\2}\\
\ours & \textbf{91.5} & $\vect{x}$ \\[2pt] \bottomrule
\end{tabular}}\end{table}
"""
BIB = """@article{li, author={Li, Xiaoya and Jiwei Li and {OpenAI}}, title={The {BERT} Thing}, journal="J. Owls",
  year=2020}
@inproceedings{wu, author = {Yonghui Wu}, title = "Google's {NMT}", booktitle={Proc.}, year = {2021}}
@misc{uncited, title={No}}"""
STYLE = r"\newcommand{\own}{y}\DeclareMathOperator{\argmax}{arg\,max} Text of a style is not printed."


def drawing() -> bytes:
    document = pymupdf.open()
    document.new_page(width=200, height=100).insert_text((20, 50), "Owl")
    return bytes(document.tobytes())


FILES: Mapping[str, bytes] = {
    "main.tex": MAIN.encode(),
    "tables/scores.tex": SCORES.encode(),
    "refs.bib": BIB.encode(),
    "own.sty": STYLE.encode(),
    "figures/owl.pdf": drawing(),
}


def packed(files: Mapping[str, bytes]) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as archive:
        for name, data in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return out.getvalue()


def zipped(files: Mapping[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return out.getvalue()


def parse(file: Path, data: bytes) -> ParsedPaper:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(data)
    return parser_for(ParserSettings(), limits=LimitSettings()).parse(PaperFile(file))


def texts(parsed: ParsedPaper) -> list[str]:
    return [element.text for element in parsed.paper.elements if isinstance(element, Passage | Reference)]


@pytest.fixture(params=["folder", "tar.gz", "zip"], scope="module")
def parsed(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> ParsedPaper:
    folder = tmp_path_factory.mktemp("latex")
    if request.param == "folder":
        for name, data in FILES.items():
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_bytes(data)
        return parse(folder / "main.tex", FILES["main.tex"])
    data = packed(FILES) if request.param == "tar.gz" else zipped(FILES)
    # The format is found by the content.
    return parse(folder / "2107.00001", data)


def test_the_record_and_the_outline(parsed: ParsedPaper) -> None:
    paper = parsed.paper
    assert (paper.format, paper.title, paper.authors) == ("latex", "Owl Nets", ("Ada Lovelace", "Mary Somerville"))
    assert [section.path for section in paper.sections] == ["Abstract", "1 Results", "A More", "References"]
    assert paper.problems == ()


def test_citations_cross_references_and_notes_are_written_as_printed(parsed: ParsedPaper) -> None:
    found = texts(parsed)
    assert (
        "OwlNet reaches 91.5 % as Table 1 and Figure 1 show (see Li et al., 2020; Wu, 2021, p. 3). So does Wu (2021).¹"
    ) in found
    assert "¹ At night, x²." in found
    assert "Café, “quoted” — Eq. (2), Section A, Claim 1.1." in found
    assert "Claim 1.1 (Name). All owls." in found
    assert {"1. One", "2. Two", "x % y"} < set(found)
    assert not any("hidden" in text or "style" in text or "Funded" in text for text in found)


def test_a_table_keeps_its_spans_its_macros_and_the_lines_of_its_file(parsed: ParsedPaper) -> None:
    (table,) = (element for element in parsed.paper.elements if isinstance(element, Table))
    assert (table.label, table.caption, table.header_rows) == ("Table 1", "Accuracy.", 2)
    assert table.grid()[1:] == [["", "Day", "Night"], ["Base", "84.2", "1 2"], ["OwlNet", "91.5", "x"]]
    assert {cell.text: (cell.row_span, cell.column_span) for cell in table.cells if cell.row == 0} == {
        "Model": (2, 1),
        "Score": (1, 2),
    }
    assert [cell.place.where for cell in table.cells if cell.text == "91.5"] == ["line 6"]


def test_equations_keep_their_latex_and_numbers(parsed: ParsedPaper) -> None:
    found = [element for element in parsed.paper.elements if isinstance(element, Equation)]
    assert [(one.label, one.text) for one in found] == [
        ("Equation 1", "a = b/c"),
        ("Equation 2", "{d = e; f = g}"),
        ("Equation 3", "x = y"),
    ]
    assert found[1].latex == r"\begin{aligned}d &= e  \\ f &= \mathbf{g}\end{aligned}"


def test_a_figure_in_pdf_is_drawn_and_entries_are_those_cited(parsed: ParsedPaper) -> None:
    (figure,) = (element for element in parsed.paper.elements if isinstance(element, Figure))
    assert (figure.label, figure.caption, figure.crop in parsed.crops) == ("Figure 1", "An owl.", True)
    found = [(one.label, one.text) for one in parsed.paper.elements if isinstance(one, Reference)]
    assert found == [
        ("Li et al., 2020", "Xiaoya Li, Jiwei Li, OpenAI. 2020. The BERT Thing. J. Owls."),
        ("Wu, 2021", "Yonghui Wu. 2021. Google's NMT. Proc."),
    ]


def test_entries_of_a_bbl_file_are_numbered(tmp_path: Path) -> None:
    entries = r"\bibitem{wu} Y. Wu. \newblock NMT, 2021.\bibitem{li} X. Li. Owls."
    (tmp_path / "main.bbl").write_text(f"\\begin{{thebibliography}}{{9}}{entries}\\end{{thebibliography}}")
    body = r"\documentclass{article}\begin{document}As \cite{li,wu} show.\bibliography{refs}\end{document}"
    assert texts(parse(tmp_path / "main.tex", body.encode())) == [
        "As [2, 1] show.",
        "References",
        "[1] Y. Wu. NMT, 2021.",
        "[2] X. Li. Owls.",
    ]


def test_front_matter_of_another_class(tmp_path: Path) -> None:
    source = r"""\documentclass{sn-jnl}\begin{document}\title[Short]{Owl Nets}\author*[1]{\fnm{Ada} \sur{Lovelace}}
    \email{ada@owls.org}\affil*[1]{\orgname{Owls}}\authorrunning{A. L.}\abstract{Owls see.}\maketitle
    \section{Eyes}As \S 2 says.\end{document}"""
    parsed = parse(tmp_path / "a.tex", source.encode())
    assert (parsed.paper.title, parsed.paper.authors) == ("Owl Nets", ("Ada Lovelace",))
    assert texts(parsed) == ["Owl Nets", "Ada Lovelace", "Abstract", "Owls see.", "1 Eyes", "As §2 says."]


def test_files_outside_the_paper_are_not_read(tmp_path: Path) -> None:
    (tmp_path / "secret.tex").write_text("the secret")
    (tmp_path / "paper").mkdir()
    (tmp_path / "paper" / "link.tex").symlink_to(tmp_path / "secret.tex")
    paths = ("../secret", str(tmp_path / "secret"), "/etc/passwd", "link")
    body = "A text. " + "".join(f"\\input{{{path}}}" for path in paths) + "\\includegraphics{../secret.tex}"
    parsed = parse(tmp_path / "paper" / "main.tex", body.encode())
    assert texts(parsed) == ["A text."]
    assert len(parsed.paper.problems) == 5
    members = packed(
        {"main.tex": b"\\documentclass{a} A text. \\input{../secret}\\input{/a}", "../secret.tex": b"secret"}
    )
    assert "secret" not in texts(parse(tmp_path / "paper" / "a.tar.gz", members))


def test_deeply_nested_conditions_do_not_end_the_reader(tmp_path: Path) -> None:
    source = "\\documentclass{a} A text. " + "\\iftrue " * 1500 + "\\fi " * 1500
    assert texts(parse(tmp_path / "a.tex", source.encode())) == ["A text."]


def test_sparse_files_of_an_archive_are_not_read(tmp_path: Path) -> None:
    out = io.BytesIO(gzip.decompress(packed({"main.tex": b"\\documentclass{a} A text. \\input{b}"})))
    with tarfile.open(fileobj=out, mode="a", format=tarfile.PAX_FORMAT) as archive:
        info = tarfile.TarInfo("b.tex")
        info.size = 6
        info.pax_headers = {"GNU.sparse.size": "30000000", "GNU.sparse.map": "0,6", "GNU.sparse.name": "b.tex"}
        archive.addfile(info, io.BytesIO(b"sparse"))
    parsed = parse(tmp_path / "a.tar", out.getvalue())
    assert [problem.reason for problem in parsed.paper.problems] == ["the file b is missing"]


@pytest.mark.parametrize(
    ("make", "said"),
    [
        pytest.param(lambda: packed({"a.txt": b"text"}), "holds no LaTeX paper", id="no LaTeX"),
        pytest.param(lambda: packed({"a.tex": b"% \\documentclass{article}"}), "holds no LaTeX paper", id="a comment"),
        pytest.param(lambda: gzip.compress(b"text"), "is a compressed file; unpack it", id="compressed text"),
        pytest.param(lambda: packed(FILES)[:300], "is a damaged archive|is a compressed file", id="cut off"),
        pytest.param(
            lambda: gzip.compress(b"\\documentclass{a}" + b" " * 500_000_000, 1),
            "would unpack to more than 400 MB",
            id="bomb",
        ),
        pytest.param(
            lambda: b"\\newcommand{\\a}[1]{#1#1#1#1}" + b"\\a{" * 25 + b"x" * 100 + b"}" * 25,
            "expand to too much text",
            id="macros",
        ),
    ],
)
def test_what_cannot_be_read_is_refused(tmp_path: Path, make: Callable[[], bytes], said: str) -> None:
    with pytest.raises(PaperFileError, match=said):
        parse(tmp_path / "a.tex", make())


@pytest.mark.parametrize(
    ("source", "expanded"),
    [
        (r"\newcommand\pair[2][d]{(#1,#2)}\pair{a}\pair[b]{c}", "(d,a)(b,c)"),
        (r"\newcommand{\own}{Own\xspace}\own is. \own.", "Own is. Own."),
        (r"\newcommand{\x}{\alpha}\x y", r"\alpha y"),
        (r"\newenvironment{note}[1]{\textbf{#1}: }{.}\begin{note}{A}b\end{note}", r"\textbf{A}: b."),
        (r"\newif\iflong\longtrue\iflong a\else b\fi\longfalse\iflong c\else d\fi", " a d"),
        (r"\newcommand{\again}{\again\again}a", "a"),
        (r"\let\eps\varepsilon$\eps$", r"$\varepsilon$"),
        (r"\renewcommand{\section}[1]{}\section{A}", r"\section{A}"),
        ("a % b\n  c \\% d\n\n\\verb|% \\x|", "a c \\% d\n\n\\verb|% \\x|"),
    ],
)
def test_macros_and_comments(source: str, expanded: str) -> None:
    assert expand_latex(source, read=lambda _: None, known=("section",), name="a").text == expanded


@pytest.mark.parametrize("piece", [r"\foo[a ", r"\foo{a ", r"\iffalse a "])
def test_what_has_no_end_is_looked_through_once(monkeypatch: pytest.MonkeyPatch, piece: str) -> None:
    """Reading an unclosed argument, or a condition without `\\fi`, for each command took the square of the length."""
    steps = 0

    def counted(pattern: re.Pattern[str]) -> SimpleNamespace:
        def finditer(text: str, at: int = 0) -> Iterator[re.Match[str]]:
            nonlocal steps
            for match in pattern.finditer(text, at):
                steps += 1
                yield match

        return SimpleNamespace(finditer=finditer)

    for name in ("_MARKS", "_CONDITION"):
        monkeypatch.setattr(latex_macros, name, counted(getattr(latex_macros, name)))
    taken = []
    for size in (100, 200):
        source = r"\newcommand{\foo}[1][x]{#1}" + "\n" + piece * size
        expanded = latex_macros.expand_latex(source, read=lambda _: None, known=(), name="a.tex")
        taken.append(steps)
        steps = 0
        assert expanded.text.count("a") == size
    assert taken[1] < 2.2 * taken[0] + 10
