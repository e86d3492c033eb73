"""`MinerUParser` reads the folder that MinerU writes for a paper: `middle.json`, or `content_list.json`, and images."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, TypeAlias

from pydantic import AliasChoices, BaseModel, BeforeValidator, ConfigDict, Field, TypeAdapter, ValidationError

from ingest.document.assembly import paper_id
from ingest.document.geometry import bounding_box
from ingest.document.source import check_page_count, read_file
from ingest.readers.block_elements import BlockDrafter
from ingest.readers.embedded_images import EmbeddedImages
from ingest.readers.html_floats import table_of_markup
from ingest.readers.layout_blocks import Block, BlockKind, TextLine, first_fault
from paperscope_core.cancellation import extend_time_limit
from paperscope_core.errors import PaperFileError
from paperscope_core.protocols import PageCallback
from paperscope_core.types import Box, Page, PageProblem, PaperFile, PaperFormat, ParsedPaper, Place, content_hash

__all__ = ["MinerUParser", "is_mineru_folder", "mineru_file"]

_CONTENT_LIST = "content_list.json"
# In order of preference: middle.json holds more.
_PATTERNS = (("*middle.json", "*middle_json.json"), (f"*{_CONTENT_LIST}",))
# The time limit is set for one page; a megabyte of JSON takes about as long.
_BYTES_PER_STEP = 1_000_000
_NO_PAGE_SIZES = "MinerU's file names no page sizes; boxes are set as if the pages were A4"
_UNKNOWN = "it is no file of a MinerU that Paperscope knows (0.7 to 4)"
_A4 = (595.3, 841.9)

# MinerU's names of each kind of block; other names are ignored.
_NAMES: dict[BlockKind, str] = {
    "title": "doc_title",
    "heading": "title paragraph_title",
    "text": "text abstract phonetic vertical_text index formula_number",
    "list": "list",
    "reference": "ref_text",
    "code": "code algorithm code_body algorithm_body",
    "equation": "equation interline_equation",
    "table": "table table_body",
    "figure": "image image_body chart chart_body",
    "footnote": "page_footnote",
    "furniture": "header footer page_number aside_text header_image footer_image",
    "discarded": "discarded",
}
_KINDS = {name: kind for kind, names in _NAMES.items() for name in names.split()}
_PARENTS = frozenset(("table", "image", "chart", "code", "algorithm"))
_FORMULAS = frozenset(("inline_equation", "interline_equation", "equation", "equation_inline"))
_NOTES = ("_caption", "_footnote")
_LIGATURES = str.maketrans({"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "st", "ﬆ": "st"})
_BULLET = re.compile(r"^[\uf000-\uf0ff\u0000-\u001f\u007f-\u009f\ufffd▪◦●○■‣∙⋅·•]+\s*")

Text = Annotated[str, BeforeValidator(lambda value: "" if value is None else value)]
Corners: TypeAlias = tuple[float, float, float, float]
# None for a box that is missing, empty or does not have four corners.
MaybeCorners = Annotated[
    Corners | None,
    BeforeValidator(lambda value: value if isinstance(value, list | tuple) and len(value) == 4 else None),
]


class _Lenient(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


def _named(*names: str) -> Any:  # noqa: ANN401 -- as pydantic's Field
    """Return an empty text under one of these keys."""
    return Field(default="", validation_alias=AliasChoices(*names))


class _Node(_Lenient):
    """A block, line or span. Until version 3 a block has `lines` of `spans`, or `blocks`; in version 4, `content`."""

    type: str = ""
    bbox: MaybeCorners = None
    content: "str | list[_Node] | None" = _named("content", "code_body", "text", "latex")
    lines: "list[_Node]" = []
    spans: "list[_Node]" = []
    blocks: "list[_Node]" = []
    level: int = Field(default=0, validation_alias=AliasChoices("level", "text_level"))
    html: Text = _named("html", "table_body")
    image_path: Text = _named("image_path", "img_path")
    lines_deleted: bool = False
    continues_prev: bool | None = None
    is_list_start_line: bool = False

    @property
    def children(self) -> "list[_Node]":
        """The blocks inside this one."""
        return self.blocks or (self.content if isinstance(self.content, list) else [])

    def below(self) -> "Iterator[_Node]":
        """Yield the node and all its descendants, outermost first."""
        yield self
        for child in (*self.lines, *self.spans, *self.children):
            yield from child.below()


class _Item(_Node):
    """An entry of `content_list.json`; its box is in thousandths of the page."""

    model_config = ConfigDict(extra="allow")

    page_idx: int = Field(default=0, ge=0, le=100_000)
    list_items: list[str] = []

    def nodes(self) -> list[_Node]:
        """Return the entry as a block, then its captions and footnotes, which have no boxes: at its lower edge."""
        items = [_Node(type="text", bbox=self.bbox, content=text) for text in self.list_items]
        edge = (self.bbox[0], self.bbox[3], self.bbox[2], self.bbox[3]) if self.bbox else None
        extra = (self.model_extra or {}).items()
        notes = [value for key, value in extra if key.endswith(_NOTES) and isinstance(value, list)]
        return [
            self.model_copy(update={"blocks": items}),
            *(_Node(type="caption", bbox=edge, content=str(text)) for note in notes for text in note),
        ]


class _PageNode(_Lenient):
    """A page; `blocks` are in the form of version 4, with boxes as fractions of the page."""

    page_idx: int | None = Field(default=None, ge=0, le=100_000)
    page_size: tuple[float, float] | None = None
    preproc_blocks: list[_Node] = []
    para_blocks: list[_Node] = []
    discarded_blocks: list[_Node] = []
    blocks: list[_Node] = []


class _Middle(_Lenient):
    """A `middle.json`: `pdf_info` until version 3, `pages` since version 4."""

    pdf_info: list[_PageNode] | None = None
    pages: list[_PageNode] | None = None


_ITEMS = TypeAdapter(list[_Item])


@dataclass(frozen=True, kw_only=True, slots=True)
class MinerUParser:
    """Reads the folder that MinerU writes for one paper.

    Attributes:
        max_pages: Papers with more pages are refused.
        name: The name of the file that MinerU read; "" for the folder's.
        sha256: The hash of that file; "" to identify the paper by MinerU's JSON.
        format: The format of that file.
    """

    max_pages: int | None = None
    name: str = ""
    sha256: str = ""
    format: PaperFormat = "mineru"

    def parse(self, file: PaperFile, *, on_page: PageCallback | None = None) -> ParsedPaper:
        """See `Parser.parse`; an image that can't be read is a `PageProblem` of the paper.

        `on_page` is called once, after the last page.
        """
        folder, name = file.path, self.name or file.path.resolve().name
        found = mineru_file(folder)
        data = read_file(replace(file, path=found))
        extend_time_limit(1 + len(data) // _BYTES_PER_STEP)
        sha256 = self.sha256 or file.sha256 or content_hash(data)
        pages, blocks, sized = _read_pages(data, file=found, paper=paper_id(sha256))
        count = len(pages)
        check_page_count(count, limit=self.max_pages, name=name)
        extend_time_limit(count + len(data) // _BYTES_PER_STEP)
        images = EmbeddedImages(folder, min_side=1)

        def crop(blocks: Sequence[Block]) -> str | None:
            # Some versions name the file only.
            names = ((block.box, name) for block in blocks for name in block.images)
            return images.laid_out([(box, name if "/" in name else f"images/{name}") for box, name in names])

        drafted = BlockDrafter(blocks, pages, engine="MinerU", crop=crop)
        problems = () if sized else (PageProblem(page=pages[0].number, reason=_NO_PAGE_SIZES),)
        paper = drafted.paper(sha256=sha256, file=name, format=self.format, problems=(*problems, *images.problems))
        if on_page:
            on_page(count, count)
        used = {getattr(element, "crop", None) for element in paper.elements}
        return ParsedPaper(paper=paper, crops={name: image for name, image in images.crops.items() if name in used})


def is_mineru_folder(folder: Path) -> bool:
    """Return whether a folder is MinerU's output for one paper."""
    return folder.is_dir() and bool(_candidates(folder))


def mineru_file(folder: Path) -> Path:
    """Return the JSON file of a folder. Raise `PaperFileError` if there is none, or if there are several."""
    found = _candidates(folder)
    if not found:
        raise PaperFileError(f"{folder}: no file of MinerU (*middle.json or *content_list.json) in this folder")
    if len(found) > 1:
        names = ", ".join(repr(file.name) for file in found)
        raise PaperFileError(f"{folder}: holds several papers of MinerU ({names}); give each a folder of its own")
    return found[0]


def _candidates(folder: Path) -> Sequence[Path]:
    for patterns in _PATTERNS:
        found = sorted({file for pattern in patterns for file in folder.glob(pattern) if file.is_file()})
        if found:
            return found
    return ()


def _read_pages(data: bytes, *, file: Path, paper: str) -> tuple[list[Page], list[Block], bool]:
    """Return the pages and the blocks in MinerU's JSON, and whether it states the pages' sizes.

    Until version 3, boxes are in points, later in parts of the page. A `content_list.json` holds no page sizes and, in
    old versions, no boxes: a block without a box is placed at the top of its page.

    Raises:
        PaperFileError: It is other JSON; the message names file and key.
    """
    share = 1
    try:
        if file.name.endswith(_CONTENT_LIST):
            listed: dict[int, list[_Node]] = defaultdict(list)
            for item in _ITEMS.validate_json(data):
                listed[item.page_idx].extend(item.nodes())
            share = 1000
            nodes = [_PageNode(page_idx=page, blocks=listed[page]) for page in range(max(listed, default=-1) + 1)]
        else:
            middle = _Middle.model_validate_json(data)
            found = middle.pages if middle.pdf_info is None else middle.pdf_info
            if found is None:
                raise PaperFileError(f"{file}: has neither the key 'pdf_info' nor 'pages'; {_UNKNOWN}")
            nodes = found
    except ValidationError as error:
        raise PaperFileError(f"{file}: {first_fault(error)}; {_UNKNOWN}") from error
    if not nodes:
        raise PaperFileError(f"{file}: holds no page; run MinerU again")
    pages: list[Page] = []
    blocks: list[Block] = []
    sized = True
    for index, node in enumerate(nodes):
        own = node.page_size if node.page_size and min(node.page_size) > 1 else None
        sized = sized and own is not None
        width, height = own or _A4
        number = 1 + (index if node.page_idx is None else node.page_idx)
        pages.append(Page(number=number, width=round(width, 1), height=round(height, 1)))
        scale = (width / share, height / share) if node.blocks else (1.0, 1.0)
        blocks.extend(_PageReader(paper, number, scale=scale).blocks(node))
    return pages, blocks, sized


class _PageReader:
    """Converts the nodes of one page to blocks; `scale` turns their coordinates into points."""

    def __init__(self, paper: str, page: int, *, scale: tuple[float, float]) -> None:
        self._paper = paper
        self._page = page
        self._scale = scale

    def blocks(self, node: _PageNode) -> Iterator[Block]:
        """Yield the blocks of a page in MinerU's order, with blocks that it joined to others separated again."""
        merged = {block.bbox: block for block in node.para_blocks}
        for block in node.blocks or node.preproc_blocks or node.para_blocks:
            after = merged.get(block.bbox, block)
            starts = frozenset(line.bbox for line in after.lines if line.is_list_start_line)
            listed = after.type if after.type in ("list", "index") else block.type
            continues = after.lines_deleted or bool(block.continues_prev)
            yield from self._flat(block, kind=listed, continues=continues, starts=starts)
        for block in node.discarded_blocks:
            yield from self._flat(block, kind=block.type or "discarded")

    def _flat(
        self, node: _Node, *, kind: str, continues: bool = False, starts: frozenset[Corners | None] = frozenset()
    ) -> Iterator[Block]:
        """Yield a block; of a float, its body, then its captions and footnotes."""
        ours = _kind_of(kind)
        if ours is None:
            return
        if ours == "text" and node.level:
            ours = "heading"
        bodies, notes = [node], []
        if kind in _PARENTS and node.children:
            bodies = [child for child in node.children if _kind_of(child.type) not in ("note", None)]
            notes = [child for child in node.children if _kind_of(child.type) == "note"]
        if bodies:
            yield self._block(bodies, ours, level=node.level, continues=continues, starts=starts)
        for note in notes:
            yield from self._flat(note, kind=note.type)

    def _block(
        self,
        bodies: Sequence[_Node],
        kind: BlockKind,
        *,
        level: int,
        continues: bool,
        starts: frozenset[Corners | None],
    ) -> Block:
        parts = [part for body in bodies for part in body.below()]
        is_float = kind in ("table", "figure")
        lines = () if is_float else tuple(line for body in bodies for line in self._lines(body, kind, starts))
        boxes = [self._box(body.bbox) for body in bodies if body.bbox] or [line.box for line in lines]
        place = self._place(bounding_box(boxes) if boxes else Box(0, 0, 0, 0))
        markup = [part.html for part in parts if part.html]
        if kind == "table" and not markup:
            markup = [body.content for body in bodies if isinstance(body.content, str)]
        table = table_of_markup("".join(dict.fromkeys(markup)), place)
        return Block(
            kind=kind,
            place=place,
            lines=lines,
            level=level,
            cells=table.cells if table else (),
            header_rows=table.header_rows if table else 0,
            images=tuple(dict.fromkeys(part.image_path for part in parts if part.image_path)),
            continues=continues,
        )

    def _lines(
        self, node: _Node, kind: BlockKind, starts: frozenset[Corners | None] = frozenset()
    ) -> Iterator[TextLine]:
        """Yield the lines of a block; the first line of each item of a nested list is marked."""
        if node.type in ("list", "index") and node.children:
            for child in node.children:
                items = self._lines(child, kind)
                if child.type in ("list", "index") and child.children:
                    yield from items
                else:
                    yield from (
                        TextLine(text=line.text, box=line.box, starts=index == 0) for index, line in enumerate(items)
                    )
            return
        box, formula = self._box(node.bbox), kind == "equation"
        if not node.lines:
            text = node.content if isinstance(node.content, str) else _line_text(node.children, formula=formula)
            printed = kind in ("code", "equation")
            lines = (line.rstrip() if printed else _clean(line) for line in text.splitlines())
            yield from (TextLine(text=line, box=box) for line in lines if line)
        for part in node.lines:
            text = _line_text(part.spans, formula=formula)
            # Old versions begin a line that lost its bullet, and no other, with a space.
            if part.spans and part.spans[0].type == "text" and str(part.spans[0].content or "").startswith(" "):
                text = f"• {text.removeprefix('• ')}"
            if text:
                yield TextLine(text=text, box=self._box(part.bbox) if part.bbox else box, starts=part.bbox in starts)

    def _place(self, box: Box) -> Place:
        return Place(paper=self._paper, page=self._page, box=box)

    def _box(self, corners: Corners | None) -> Box:
        across, down = self._scale
        x0, y0, x1, y1 = corners or (0.0, 0.0, 0.0, 0.0)
        return Box(min(x0, x1) * across, min(y0, y1) * down, max(x0, x1) * across, max(y0, y1) * down).rounded()


def _kind_of(name: str) -> BlockKind | None:
    """Return the kind of block for MinerU's name of it, None for an unknown name."""
    is_note = name.endswith(("_caption", "_footnote")) or name in ("caption", "footnote")
    return "note" if is_note and name != "page_footnote" else _KINDS.get(name)


def _line_text(spans: Iterable[_Node], *, formula: bool = False) -> str:
    """Return the text of spans, with inline formulas between `$`."""
    parts: list[str] = []
    for span in spans:
        if isinstance(span.content, list):
            parts.append(_line_text(span.content))
        elif text := (span.content or "").strip():
            parts.append(text if formula or span.type not in _FORMULAS else f"${text}$")
    joined = " ".join(parts)
    return joined.strip() if formula else _clean(joined)


def _clean(text: str) -> str:
    """Return the text with single spaces, letters for ligatures, and one kind of bullet."""
    text = re.sub(r"\s+", " ", _BULLET.sub("• ", text.lstrip(" "))).translate(_LIGATURES)
    text = re.sub(r"(?<=\$)\s+(?=[.,;:)\]])|(?<=[(\[])\s+(?=\$)", "", text)
    return text.strip()
