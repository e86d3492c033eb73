"""Parses LaTeX to pylatexenc's nodes, with the commands and environments that the reader knows."""

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any

from paperscope_core.errors import PaperFileError

__all__ = [
    "COMMANDS",
    "ENVIRONMENTS",
    "KNOWN",
    "LEVELS",
    "arguments_of",
    "flattened",
    "inside",
    "is_bold",
    "is_starred",
    "last_argument",
    "name_of",
    "nodes_of",
    "parse_latex",
    "plain_text",
    "split_at",
]


def _named(names: str, value: str) -> dict[str, str]:
    return dict.fromkeys(names.split(), value)


LEVELS = {
    name: level for level, name in enumerate("part chapter section subsection subsubsection paragraph".split(), 1)
}
# Environments by what they become.
ENVIRONMENTS = {
    **_named("figure wrapfigure sidewaysfigure SCfigure teaserfigure", "Figure"),
    **_named("table wraptable sidewaystable longtable", "Table"),
    **_named("algorithm algorithm2e", "Algorithm"),
    **_named("subfigure subtable subfloat", "panel"),
    **_named("tabular tabularx tabulary tabu", "tabular"),
    **_named("equation displaymath dmath", "equation"),
    **_named("align alignat flalign eqnarray", "aligned"),
    **_named("gather multline", "gathered"),
    **_named("verbatim Verbatim lstlisting minted algorithmic", "listing"),
    **_named("itemize description compactitem", "ul"),
    **_named("enumerate compactenum", "ol"),
    **_named("tikzpicture pgfpicture picture tikzcd forest", "drawing"),
    **_named("CCSXML filecontents comment", ""),
    **_named("minipage center adjustbox threeparttable flushleft flushright small footnotesize", "placing"),
}
_ARGUMENTS = {
    **_named("figure figure* table table* algorithm itemize enumerate description tcolorbox mdframed", "["),
    **_named("thebibliography multicols spacing adjustbox", "{"),
    **_named("minipage subfigure subtable", "[[[{"),
    **_named("wrapfigure wraptable", "[{[{"),
}
# Commands by what becomes of them, and their arguments in pylatexenc's form; what is printed is the last one.
COMMANDS = {
    name: (kind.strip("-"), form.strip("-"))
    for kind, form, *names in map(
        str.split,
        r"""
cite *[[{ cite citep citet citealp citealt citeauthor citeyear citenum onlinecite parencite textcite autocite
cite *[[{ footcite Citep Citet Parencite supercite
ref *{ ref eqref cref Cref autoref vref Vref nameref subref
b { textbf
b - bf bfseries
span { emph textit textsl textsc underline texttt textrm textsf
sup { textsuperscript tnote
sub { textsubscript
footnote [{ footnote footnotetext
br *[ \ newline linebreak
printed [{{ textcolor colorbox href rotatebox
printed { centerline fbox url path mbox hbox textnormal ensuremath enquote ce uline
printed *[{ makecell thead shortstack
printed {{ adjustbox texorpdfstring
printed *{{{ resizebox
printed {[{ scalebox
printed [[[{{ parbox
printed {[[{ raisebox
printed {{{ multicolumn
printed [{[{[{ multirow
- *{ vspace hspace thispagestyle pagestyle bibliographystyle bibliography nocite
- *[{ title author date affiliation institute address email keywords thanks affil
- [{ color rowcolor cellcolor captionsetup ccsdesc IEEEmembership IEEEauthorblockA hypersetup pageref graphicspath
- [{ todo inst phantom pagenumbering
- {{ setlength addtolength setcounter addtocounter vskip
- {{{ fontsize definecolor addcontentsline
- - maketitle selectfont linewidth textwidth columnwidth printbibliography centering
- { authorrunning titlerunning
- [{{ rule
abstract { abstract
label { label
caption *[{ caption
img *[[{ includegraphics
panel [[{ subfloat subfigure
item [{ bibitem
item [ item
appendix - appendix
""".strip().splitlines(),
    )
    for name in names
} | dict.fromkeys(LEVELS, ("heading", "*[{"))
# pylatexenc's table lacks them.
_SYMBOLS = {"S": "§", "P": "¶"}
_SPECIALS = {"~": " ", "``": "“", "''": "”", "--": "–", "---": "—", "&": " ", "\n\n": " "}
_STRUCTURE = "abstract thebibliography document begin end left right text and hline".split()
# What keeps its meaning if a paper redefines it.
KNOWN = frozenset(
    (*ENVIRONMENTS, *_STRUCTURE, *(name for name, (kind, _) in COMMANDS.items() if kind not in ("printed", "span")))
)


@lru_cache(maxsize=1)
def _context() -> Any:  # noqa: ANN401
    from pylatexenc.latexwalker import get_default_latex_context_db
    from pylatexenc.macrospec import EnvironmentSpec, std_macro

    database = get_default_latex_context_db()
    database.add_context_category(
        "paper",
        macros=[std_macro(name, form) for name, (_, form) in COMMANDS.items()],
        environments=[EnvironmentSpec(name, form) for name, form in _ARGUMENTS.items()],
        prepend=True,
    )
    return database


def parse_latex(text: str, *, start: int = 0) -> list[Any]:
    """Return the nodes of a source from a position; faults in it are passed over.

    Raise `PaperFileError` if it is nested too deeply.
    """
    from pylatexenc.latexwalker import LatexWalker

    try:
        nodes, _, _ = LatexWalker(text, latex_context=_context(), tolerant_parsing=True).get_latex_nodes(pos=start)
    except RecursionError as error:
        raise PaperFileError("This LaTeX is nested too deeply to be read. Compile it to PDF.") from error
    return list(nodes)


def plain_text(node: Any) -> str:  # noqa: ANN401
    """Return the text of a command that has no meaning for the structure: an accented letter, a symbol, or nothing."""
    from pylatexenc.latex2text import LatexNodes2Text

    if hasattr(node, "specials_chars"):
        return _SPECIALS.get(node.specials_chars, str(node.specials_chars))
    if symbol := _SYMBOLS.get(name_of(node)):
        return symbol
    return " " if name_of(node).isspace() else str(LatexNodes2Text(math_mode="verbatim").node_to_text(node))


def name_of(node: Any) -> str:  # noqa: ANN401
    """Return the name of a command or an environment without its star; "" for others."""
    return str(getattr(node, "environmentname", None) or getattr(node, "macroname", None) or "").rstrip("*")


def arguments_of(node: Any) -> list[Any]:  # noqa: ANN401
    """Return the arguments of a command, None for optional ones that are not there."""
    parsed = getattr(node, "nodeargd", None)
    return list(parsed.argnlist or ()) if parsed is not None else []


def is_starred(node: Any) -> bool:  # noqa: ANN401
    """Return whether a command has a star, of those that may have one."""
    first = next(iter(arguments_of(node)), None)
    return first is not None and first.latex_verbatim() == "*"


def nodes_of(argument: Any) -> list[Any]:  # noqa: ANN401
    """Return the nodes of an argument without its braces."""
    return [] if argument is None else list(getattr(argument, "nodelist", None) or [argument])


def last_argument(node: Any) -> str:  # noqa: ANN401
    """Return the last argument of a command as it is written."""
    last = next((one for one in reversed(arguments_of(node)) if one is not None), None)
    return "".join(one.latex_verbatim() for one in nodes_of(last)).strip()


def is_bold(node: Any) -> bool:  # noqa: ANN401
    """Return whether a group begins with a command that makes it bold."""
    first = next(iter(getattr(node, "nodelist", None) or ()), None)
    return name_of(first) in ("bf", "bfseries")


def flattened(nodes: Iterable[Any]) -> Iterator[Any]:
    """Yield nodes, with those in groups, and in commands and environments that only place what is in them."""
    for node in nodes:
        name = name_of(node)
        if hasattr(node, "macroname") and COMMANDS.get(name, ("", ""))[0] == "printed" and arguments_of(node):
            yield from flattened(nodes_of(arguments_of(node)[-1]))
        elif ENVIRONMENTS.get(name) == "placing" or (
            hasattr(node, "delimiters") and not hasattr(node, "displaytype") and not is_bold(node)
        ):
            yield from flattened(node.nodelist)
        else:
            yield node


def split_at(name: str, nodes: Iterable[Any]) -> Iterator[tuple[Any, list[Any]]]:
    """Yield each command of this name with the nodes behind it; first, None with those before the first one."""
    opening, following = None, list[Any]()
    for node in flattened(nodes):
        if name_of(node) == name:
            yield opening, following
            opening, following = node, []
        else:
            following.append(node)
    yield opening, following


def inside(node: Any) -> str:  # noqa: ANN401
    """Return the source of an environment without its beginning and end."""
    source = node.latex_verbatim().strip()
    match = re.fullmatch(r"\\begin\s*\{[^{}]*\}(?:\[[^\]]*\]|\{\w+\})?(.*)\\end\s*\{[^{}]*\}", source, re.DOTALL)
    return match[1] if match else str(source)
