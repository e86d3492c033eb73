"""The gold data of a paper: tables, headings, captions, references, and their origin."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AliasChoices, BeforeValidator, Field

from paperscope_core.types import Box

__all__ = [
    "FieldLine",
    "Gold",
    "GoldCaption",
    "GoldHeading",
    "GoldItem",
    "GoldLookup",
    "GoldPage",
    "GoldReference",
    "GoldRegion",
    "GoldSpan",
    "GoldTable",
    "Grid",
    "PageTest",
    "RegionKind",
]


Grid = tuple[tuple[str, ...], ...]
RegionKind = Literal["figure", "table", "listing", "heading"]


def _named(*names: str) -> Any:  # noqa: ANN401
    return Field(validation_alias=AliasChoices(*names))


@dataclass(frozen=True, kw_only=True, slots=True)
class GoldSpan:
    """A cell that spans several rows or columns; `row` and `col` count from 0."""

    row: int
    col: int
    rowspan: int = 1
    colspan: int = 1


@dataclass(frozen=True, kw_only=True, slots=True)
class GoldTable:
    """A table. `grid` has one row per printed line, `logical` one per logical row; a spanned text is in its first
    position.

    `logical_row` maps the rows of `grid` to rows of `logical`. `spans`, `header_rows`, `section_rows` and `formulas`
    (positions that are not compared) refer to the rows of `grid`. `number` is "" if unknown. `from_source` marks gold
    that was derived from a source file: a spanned text is in all its positions, and citations are left out.
    """

    grid: Grid
    logical: Annotated[Grid, _named("logical", "logical_grid")] = ()
    logical_row: Annotated[tuple[int, ...], _named("logical_row", "physical_to_logical")] = ()
    number: Annotated[str, BeforeValidator(str)] = ""
    page: int | None = None
    caption: str | None = None
    header_rows: tuple[int, ...] | None = None
    section_rows: tuple[int, ...] = ()
    spans: tuple[GoldSpan, ...] | None = None
    formulas: Annotated[tuple[tuple[int, int], ...], _named("formulas", "math_cells")] = ()
    from_source: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class GoldLookup:
    """The value in a row and column of the table with this label, or with this caption if the label is "".

    The names of a row that several cells name are joined by " / ". `page` is the table's page. `line` is the line of
    the question in the gold file, 0 if it was sampled from a table.
    """

    row: str
    column: str
    answer: str
    label: str = ""
    caption: str = ""
    page: int | None = None
    line: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class GoldHeading:
    """A section's title without its number; levels count from 1."""

    title: str
    level: int | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class GoldCaption:
    """A caption without its label; `label` is "" if unknown, `kind` is None if it may be either."""

    text: str
    label: str = ""
    kind: Literal["figure", "table"] | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class GoldReference:
    """An entry of the bibliography as printed, without its label; `label` is as cited, "" if unknown."""

    text: str
    label: str = ""
    year: int | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class PageTest:
    """A unit test on a page in olmOCR-bench's form (Poznanski et al., 2025); fields that a type lacks are empty."""

    id: str
    pdf: str
    page: int
    type: Literal["present", "absent", "order", "table", "math"]
    text: str = ""
    before: str = ""
    after: str = ""
    math: str = ""
    cell: str = ""
    up: str = ""
    down: str = ""
    left: str = ""
    right: str = ""
    top_heading: str = ""
    left_heading: str = ""
    max_diffs: int = 0
    case_sensitive: bool = True
    first_n: int | None = None
    last_n: int | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class GoldRegion:
    """A figure, table, listing or heading that was drawn on the picture of its page.

    Attributes:
        kind: What the caption calls it: a prompt captioned "Table 7" is a table.
        box: The extent of its ink without the caption, in points from the top left.
        label: As printed ("Figure 2"), None if it has none.
        caption_box: The extent of the caption, None if it is not on this page.
        text: The words of a heading with its number, else None.
        continued: Whether it started on an earlier page.
        optional: Whether two careful people would draw it differently: it is neither missed nor false.
    """

    kind: RegionKind
    box: Box
    label: str | None = None
    caption_box: Box | None = None
    text: str | None = None
    continued: bool = False
    optional: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class GoldPage:
    """All regions of a page; pages count from 1."""

    number: int
    regions: tuple[GoldRegion, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class FieldLine:
    """What was read by eye from a page, or of a paper's record (no page); what a line lacks is empty.

    Attributes:
        bbox: The extent of a table or a figure, without caption and notes.
        grid: The texts of a table, one row per logical row; () for a figure.
        no_table: Whether the page carries no table.
        phantom: The label of a figure that is named there, and printed nowhere.
        starts: The first words of the page's headings, paragraphs and list items, in reading order.
    """

    paper: str
    page: int | None = None
    label: str | None = None
    bbox: Box | None = None
    grid: Grid = ()
    no_table: bool = False
    phantom: str = ""
    starts: tuple[str, ...] = ()
    title: str | None = None
    authors: tuple[str, ...] | None = None
    year: int | None = None
    doi: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Gold:
    """The gold data of a paper. `all_tables` says that the paper has no other tables.

    `equations` are the numbers of its display equations as printed, without brackets; `figures` is the number of its
    figures; `fields` are the lines of the set `fields`, which was made by eye.
    """

    tables: tuple[GoldTable, ...] = ()
    all_tables: bool = False
    lookups: tuple[GoldLookup, ...] = ()
    title: str | None = None
    headings: tuple[GoldHeading, ...] | None = None
    paragraphs: tuple[str, ...] = ()
    captions: tuple[GoldCaption, ...] = ()
    references: tuple[GoldReference, ...] | None = None
    reference_count: int | None = None
    equations: tuple[str, ...] | None = None
    figures: int | None = None
    tests: tuple[PageTest, ...] = ()
    pages: tuple[GoldPage, ...] = ()
    fields: tuple[FieldLine, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class GoldItem:
    """A paper to score: `name` is SET/PAPER. `hide_outline` hides the file's bookmarks from the parser.

    `part` is the part that the gold itself assigns to the paper, "" if its name decides.
    """

    name: str
    file: Path
    gold: Gold
    hide_outline: bool = False
    part: Literal["fitting", "held-out", ""] = ""
