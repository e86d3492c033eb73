"""A paper as Markdown, in reading order and without page furniture."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from markupsafe import Markup

from ingest.export.file_names import crop_names, file_stems
from paperscope_core.text.escaping import (
    markdown_fence,
    markdown_heading,
    markdown_image,
    markdown_line,
    one_line,
)
from paperscope_core.types import Element, Equation, Figure, Paper, Passage, Reference, Table

__all__ = ["to_markdown"]

_DEEPEST = 6


def to_markdown(paper: Paper) -> str:
    """Return the paper as Markdown; pictures are named by the paths of `crop_names`, relative to the file.

    A table without spans and with at most one header row becomes a pipe table, any other HTML. All text is escaped, so
    that none of it is read as mark-up.
    """
    names = file_stems(paper)
    blocks = [markdown_heading(paper.title, level=1)]
    if not any(isinstance(element, Passage) and element.role == "authors" for element in paper.elements):
        blocks.extend(filter(None, [markdown_line(", ".join(paper.authors))]))
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
            yield "\n".join(
                f"- ({markdown_line(panel.mark)}) {markdown_line(panel.caption)}".rstrip() for panel in element.panels
            )
        case Equation():
            yield from _pictures(element.label or "Equation", crop_names(element, stem=stem))
            number = element.label.removeprefix("Equation ")
            yield markdown_line(f"{element.text} ({number})" if number else element.text)
        case Reference():
            bare = element.label.startswith("[") and element.label not in element.text
            yield f"- {markdown_line(f'{element.label} {element.text}' if bare else element.text)}"


def _passage(passage: Passage) -> Iterator[str]:
    text = passage.text
    match passage.role:
        case "heading":
            yield markdown_heading(text, level=min(max(passage.level, 1) + 1, _DEEPEST))
        case "authors":
            yield "  \n".join(markdown_line(line) for line in text.splitlines())
        case "list":
            yield f"- {markdown_line(text.removeprefix('• '))}"
        case "footnote":
            yield f"> {markdown_line(text)}"
        case "code":
            yield from _caption(passage.label, passage.caption)
            yield markdown_fence(text)
        case _:
            yield markdown_line(text)


def _caption(label: str, caption: str) -> Iterator[str]:
    yield f"**{markdown_line(label)}.** {markdown_line(caption)}".rstrip() if label else markdown_line(caption)


def _pictures(alternative: str, names: Mapping[str, str]) -> Iterator[str]:
    for name in names.values():
        yield markdown_image(alternative, name)


def _table(table: Table, *, pictures: Mapping[str, str]) -> Iterator[str]:
    """Yield the cells, or the pictures of a table whose cells could not be read."""
    if not table.cells:
        yield from _caption(table.label, table.caption)
        yield from _pictures(table.label or "Table", pictures)
    elif table.header_rows > 1 or any(cell.row_span > 1 or cell.column_span > 1 for cell in table.cells):
        # A blank line would end the HTML block.
        cells = tuple(replace(cell, text=one_line(cell.text)) for cell in table.cells)
        plain = replace(table, cells=cells, label=one_line(table.label), caption=one_line(table.caption))
        yield plain.to_html().replace(Markup("</tr>"), Markup("</tr>\n"))
    else:
        yield from _caption(table.label, table.caption)
        yield _pipes(table)


def _pipes(table: Table) -> str:
    rows = [[markdown_line(text) for text in row] for row in table.grid()]
    header = rows[: table.header_rows] or [[""] * table.shape[1]]
    lines = [*header, ["---"] * table.shape[1], *rows[table.header_rows :]]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
