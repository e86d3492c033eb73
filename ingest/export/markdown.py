"""A paper as Markdown, in reading order and without page furniture."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

from ingest.export.file_names import crop_names, file_stems
from paperscope_core.types import Element, Equation, Figure, Paper, Passage, Reference, Table

__all__ = ["block", "escaped", "fenced", "heading", "one_line", "to_markdown"]

_SIGNS = re.compile(r"[\\`*\[\]{}~$]|(?<![^\W_])_|_(?![^\W_])")
_ENTITY = re.compile(r"&(?=[#\w])")
_ADDRESS = re.compile(r"(?:https?|ftp|mailto|xmpp)(?=:)|www(?=\.)|(?<=\w)(?=@\w)", re.IGNORECASE)
_OPENING = re.compile(r"^(?:[#>=:|]|[+-](?!\w)|\d+(?=[.)](?:\s|$)))")
_CLOSING = re.compile(r"#(?=#*$)")

_DEEPEST = 6


def one_line(text: str) -> str:
    """Returns the text with each sequence of white space replaced by one space."""
    return " ".join(text.split())


def escaped(text: str, *, in_cell: bool = False) -> str:
    r"""Returns the text escaped for one line of Markdown; `in_cell` also escapes the separator of pipe tables.

    Signs are escaped by backslashes, `<` and `&` by entities, because some parsers do not accept a backslash there. The
    colon of a URL is escaped, so that it does not become a link.
    """
    line = _SIGNS.sub(r"\\\g<0>", one_line(text))
    line = _ENTITY.sub("&amp;", line).replace("<", "&lt;")
    line = _ADDRESS.sub(r"\g<0>\\", line)
    return line.replace("|", r"\|") if in_cell else line


def block(text: str) -> str:
    """Returns the text as a paragraph of one line, escaped so that it begins no heading, list, quotation or rule."""
    return _OPENING.sub(lambda match: match[0] + "\\" if match[0].isdigit() else "\\" + match[0], escaped(text))


def heading(text: str, *, level: int) -> str:
    """Returns a heading of level 1 to 6."""
    line = _CLOSING.sub(r"\#", escaped(text))
    return f"{'#' * level} {line}".rstrip()


def fenced(text: str) -> str:
    """Returns a block of code with a fence longer than any sequence of backticks in it; its lines are unchanged."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}\n{text}\n{fence}"


def to_markdown(paper: Paper) -> str:
    """Returns the paper as Markdown; pictures are named by the paths of `crop_names`, relative to the file.

    A table without spans and with at most one header row becomes a pipe table, any other HTML. All text is escaped, so
    that none of it is read as mark-up.
    """
    names = file_stems(paper)
    blocks = [heading(paper.title, level=1)]
    if not any(isinstance(element, Passage) and element.role == "authors" for element in paper.elements):
        blocks.extend(filter(None, [block(", ".join(paper.authors))]))
    in_list = False
    for element in paper.elements:
        is_item = isinstance(element, Reference) or (isinstance(element, Passage) and element.role == "list")
        for made in filter(None, _blocks(element, stem=names.get(element.id, ""))):
            if is_item and in_list:
                blocks[-1] += f"\n{made}"
            else:
                blocks.append(made)
            in_list = is_item
    return "\n\n".join(blocks) + "\n"


def _blocks(element: Element, *, stem: str) -> Iterator[str]:
    match element:
        case Passage(role="title" | "furniture"):
            return
        case Passage():
            yield from _passage(element)
        case Table():
            yield from _table(element, pictures=crop_names(element, stem=stem))
        case Figure():
            yield from _pictures(element.label or "Figure", crop_names(element, stem=stem))
            yield from _caption(element.label, element.caption)
            yield "\n".join(f"- ({escaped(panel.mark)}) {escaped(panel.caption)}".rstrip() for panel in element.panels)
        case Equation():
            yield from _pictures(element.label or "Equation", crop_names(element, stem=stem))
            number = element.label.removeprefix("Equation ")
            yield block(f"{element.text} ({number})" if number else element.text)
        case Reference():
            bare = element.label.startswith("[") and element.label not in element.text
            yield f"- {block(f'{element.label} {element.text}' if bare else element.text)}"


def _passage(passage: Passage) -> Iterator[str]:
    text = passage.text
    match passage.role:
        case "heading":
            yield heading(text, level=min(max(passage.level, 1) + 1, _DEEPEST))
        case "authors":
            yield "  \n".join(block(line) for line in text.splitlines())
        case "list":
            yield f"- {block(text.removeprefix('• '))}"
        case "footnote":
            yield f"> {block(text)}"
        case "code":
            yield from _caption(passage.label, passage.caption)
            yield fenced(text)
        case _:
            yield block(text)


def _caption(label: str, caption: str) -> Iterator[str]:
    yield f"**{escaped(label)}.** {escaped(caption)}".rstrip() if label else block(caption)


def _pictures(alternative: str, names: Mapping[str, str]) -> Iterator[str]:
    for name in names.values():
        yield f"![{escaped(alternative)}]({name})"


def _table(table: Table, *, pictures: Mapping[str, str]) -> Iterator[str]:
    """Yields the cells, or the pictures of a table whose cells could not be read."""
    if not table.cells:
        yield from _caption(table.label, table.caption)
        yield from _pictures(table.label or "Table", pictures)
    elif table.header_rows > 1 or any(cell.row_span > 1 or cell.column_span > 1 for cell in table.cells):
        # A blank line would end the HTML block.
        cells = tuple(replace(cell, text=one_line(cell.text)) for cell in table.cells)
        plain = replace(table, cells=cells, label=one_line(table.label), caption=one_line(table.caption))
        yield plain.to_html().replace("</tr>", "</tr>\n")
    else:
        yield from _caption(table.label, table.caption)
        yield _pipes(table)


def _pipes(table: Table) -> str:
    rows = [[escaped(text, in_cell=True) for text in row] for row in table.grid()]
    header = rows[: table.header_rows] or [[""] * table.shape[1]]
    lines = [*header, ["---"] * table.shape[1], *rows[table.header_rows :]]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
