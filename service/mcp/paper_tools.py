"""The tools of the MCP server, a class each.

The docstring and the fields are what a model is told; `run` returns the result as text and pictures.
"""

import asyncio
import base64
import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Self

from mcp_types import ContentBlock, ImageContent, TextContent, Tool, ToolAnnotations
from PIL import Image
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from paperscope_core.errors import InputError, NotFoundError, PaperFileError
from paperscope_core.text.escaping import terminal_text
from paperscope_core.types import (
    MAX_QUESTION_LENGTH,
    Equation,
    Evidence,
    PaperFile,
    Passage,
    Place,
    ToolCall,
    ToolItem,
    ToolName,
)
from paperscope_core.types import Element as PaperElement
from service.page_links import element_path, viewer_path

if TYPE_CHECKING:
    from paperscope.library import Library
    from query.claim_check import CheckedStatement

__all__ = ["TOOLS", "Access", "AddPaper", "PaperTool", "SearchText", "cited_place", "text_content"]

# Clients refuse results of more than about 1 MB, in Base64. The forms and longest sides that are tried: models reduce
# larger pictures.
_MOST_BYTES = 600_000
_SIZES = (("png", 1568), ("jpeg", 1568), ("jpeg", 1000), ("jpeg", 500))
_MOST_PICTURES = 4
_LONGEST_BEGINNING = 60


@dataclass(frozen=True, kw_only=True)
class Access:
    """What a call of a tool may use.

    Attributes:
        links: The address of the web page that shows the library, without a slash at its end; "" if it is unknown.
        folders: The folders from which papers may be added.
        max_file_bytes: The largest paper that may be added.
        drawing: Returns what is entered while a page is drawn.
    """

    library: "Library"
    links: str = ""
    folders: Sequence[Path] = ()
    max_file_bytes: int = 0
    drawing: Callable[[], AbstractAsyncContextManager[None]]


class PaperTool(BaseModel):
    """A call of a tool: its arguments are the fields."""

    model_config = ConfigDict(extra="forbid")
    name_: ClassVar[str]
    reads_only: ClassVar[bool] = True

    async def run(self, access: Access) -> list[ContentBlock]:
        """Return the result. Raises PaperscopeError."""
        raise NotImplementedError

    @classmethod
    def of(cls, arguments: Mapping[str, Any]) -> Self:
        """Return the call with these arguments. Raises InputError."""
        try:
            return cls.model_validate(arguments)
        except ValidationError as error:
            wrong = "; ".join(f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in error.errors())
            names = (f"{name}{' (required)' * one.is_required()}" for name, one in cls.model_fields.items())
            raise InputError(f"{wrong}. The arguments of {cls.name_} are {', '.join(names)}") from error

    @classmethod
    def listed(cls) -> Tool:
        """Return the tool as clients list it."""
        schema = cls.model_json_schema()
        for value in schema["properties"].values():
            value.pop("title", None)
        # What a tool looks up comes first, for a model that reads on only if it must.
        schema["properties"] = dict(sorted(schema["properties"].items(), key=lambda one: one[0] in ("paper", "part")))
        hints = ToolAnnotations(
            read_only_hint=cls.reads_only, destructive_hint=False, idempotent_hint=True, open_world_hint=False
        )
        shown: dict[str, Any] = {
            name: schema[name] for name in ("type", "properties", "required", "additionalProperties") if name in schema
        }
        description = " ".join((cls.__doc__ or "").split())
        return Tool(name=cls.name_, description=description, input_schema=shown, annotations=hints)


class _Reading(PaperTool):
    name_: ClassVar[ToolName]
    part: int = Field(1, ge=1, le=10**6, description="A result has parts of about 4,000 tokens; which one, from 1.")

    async def run(self, access: Access) -> list[ContentBlock]:
        """See PaperTool."""
        # What is neither of these fields is the argument.
        argument = "".join(map(str, self.model_dump(exclude={"part", "paper", "picture"}).values()))
        call = ToolCall(tool=self.name_, argument=argument, paper=getattr(self, "paper", ""), part=self.part)
        result = await access.library.look_up_async(call)
        if not result.items:
            return [text_content(result.message)]
        written = await asyncio.to_thread(lambda: [_written(access, item) for item in result.items])
        blocks = [f"[{number}] {text}" for number, text in enumerate(written, start=1)]
        if self.part < result.parts:
            blocks.append(f"Part {self.part} of {result.parts}. Call again with part={self.part + 1} for the next one.")
        pictures: list[ImageContent] = []
        wanted = [
            item for item in result.items if getattr(self, "picture", False) and self.name_ in ("element", item.kind)
        ]
        for item in wanted[:_MOST_PICTURES]:
            try:
                pictures += await _pictures(access, item)
            except (NotFoundError, PaperFileError) as error:
                blocks.append(f"There is no picture of {item.heading}: {error.public}")
        if len(wanted) > _MOST_PICTURES:
            blocks.append(f"These are only the first {_MOST_PICTURES} pictures; name a paper for others.")
        return [text_content("\n\n".join(blocks)), *pictures]


class _PaperReading(_Reading):
    paper: str = Field(
        "",
        max_length=1000,
        description="The paper: its id, file name or title; #TAG for those with a tag. All papers if omitted.",
    )


SearchText = Annotated[str, Field(min_length=1, max_length=MAX_QUESTION_LENGTH)]
_Name = Annotated[str, Field(min_length=1, max_length=300)]


class Search(_PaperReading):
    """Find the paragraphs, tables, figures and equations about something, by words and by meaning, best first. Then
    read what you need whole with section, element or page."""

    name_ = "search"
    text: SearchText = Field(description="The words of a question or a statement, in any language.")


class Section(_PaperReading):
    """Return a section of a paper with its subsections, tables and figures, in reading order. The outline lists the
    sections."""

    name_ = "section"
    name: _Name = Field(description='Its number or title: "4.2", "Appendix B", "Limitations", "abstract".')


class Element(_PaperReading):
    """Return a table with all its rows, or a figure, equation, algorithm or listing, with its caption and picture."""

    name_ = "element"
    label: _Name = Field(description='Its label, id or caption: "Table 3", "Figure 2", "Eq. (4)", "Algorithm 1".')
    picture: bool = Field(True, description="Whether to return its picture, about 1,500 tokens.")


class Page(_PaperReading):
    """Return the text of a page, then its tables and figures, and the page as a picture: for what the text lost, such
    as layout, a scan or a plot."""

    name_ = "page"
    number: int = Field(ge=1, le=10**6, description="Its number in the file, from 1.")
    picture: bool = Field(True, description="Whether to return the page as a picture, about 2,000 tokens.")


class Reference(_PaperReading):
    """Return an entry of a paper's bibliography, and the sentences of the paper that cite it."""

    name_ = "reference"
    key: _Name = Field(description='Its mark, authors and year, or title: "[29]", "Hu et al., 2022".')


class Outline(_PaperReading):
    """Return the record of a paper (authors, year, venue, pages), its sections, and its tables, figures and listings
    with their captions and pages."""

    name_ = "outline"


class Papers(_Reading):
    """List the papers with these words in title, authors, file, venue or DOI, or all papers: title, authors, year, file
    and id. Start here."""

    name_ = "papers"
    words: str = Field("", max_length=300, description="The words, #TAG among them; all papers if omitted.")


class CheckClaim(PaperTool):
    """Check a statement before you make it: which of its numbers, names and quotations the elements that you cite
    print, or give by a computation. Return what is not there, and the very sentences and cells to cite, with their
    places and links. It does not judge meaning."""

    name_ = "check_claim"
    text: str = Field(min_length=1, max_length=4000, description="One or a few sentences, as you want to state them.")
    evidence: list[_Name] = Field(
        min_length=1,
        max_length=20,
        description='Ids of elements as results name them ("b1810c2e3f4a/table-3"), or labels ("Table 3").',
    )
    paper: str = Field("", max_length=1000, description="The paper of the labels: its id, file name or title.")

    async def run(self, access: Access) -> list[ContentBlock]:
        """See PaperTool."""
        ids: dict[str, None] = {}
        for name in map(str.strip, self.evidence):
            if "/" in name:
                ids[name] = None
                continue
            found = await access.library.look_up_async(ToolCall(tool="element", argument=name, paper=self.paper))
            ids |= dict.fromkeys(element for item in found.items for element in item.elements)
        checked = await access.library.check_statement_async(self.text, list(ids))
        return [text_content("\n".join(_verdict(access, checked)))]


class AddPaper(PaperTool):
    """Add a paper (PDF, DOCX, ODT, EPUB, XLSX, PPTX, LaTeX, Markdown, HTML, JATS, TEI, text) from a file in a folder
    that the user allowed. It takes about a minute. A file that was added before is not added twice; an edited one
    replaces its older version."""

    name_ = "add_paper"
    reads_only = False
    path: str = Field(max_length=4000, description="The absolute path of the file on the user's machine.")

    async def run(self, access: Access) -> list[ContentBlock]:
        """See PaperTool."""
        from service.jobs.requests import file_within, read_without_links

        file = await asyncio.to_thread(file_within, self.path, access.folders)
        if file is None:
            folders = ", ".join(map(str, access.folders))
            raise InputError(f"{self.path!r} is no absolute path in a folder whose papers may be added: {folders}")
        content = await asyncio.to_thread(read_without_links, file, max_bytes=access.max_file_bytes)
        added = await access.library.add_async(PaperFile(file, content=content))
        paper, problems = added.paper, [problem.reason for problem in added.paper.problems]
        shown = f" {len(problems)} problems, such as: {problems[0]}" if problems else ""
        return [text_content(f"{added.outcome}: {paper.title}; id {paper.id}, {len(paper.pages)} pages.{shown}")]


TOOLS: tuple[type[PaperTool], ...] = (Papers, Outline, Search, Section, Element, Page, Reference, CheckClaim)
"""The tools that only read."""


def text_content(text: str) -> TextContent:
    """Return a text without control characters, of which some can't be sent."""
    return TextContent(text=terminal_text(text))


def _written(access: Access, item: ToolItem) -> str:
    """Return an item as text: what it is, a link, and its own text, in which each element has its id and place."""
    path, text = f"/#/papers/{item.paper}", item.text
    if item.kind == "paper":
        return "\n".join(filter(None, (text, _link(access, path))))
    if item.kind == "outline":
        text = f"paper: {item.paper}\n{text}"
    else:
        text = _tagged(text, [access.library.element(element) for element in item.elements])
        if item.kind == "page":
            path += f"?page={item.page}" if item.page else ""
        elif len(item.elements) == 1:
            path = element_path(item.elements[0])
        else:
            path = element_path(f"{item.paper}/NAME") + " (NAME: what follows the / of an id below)"
    return "\n".join(filter(None, (item.heading, _link(access, path), text)))


def _tagged(text: str, elements: Sequence[PaperElement]) -> str:
    """Return a text of elements with the id and the place of each where its text begins, or at the end."""
    tagged, untold = "", ""
    for element in elements:
        tag = f"{{{element.id}, {_at(element.place)}}}"
        begins = element.text[:_LONGEST_BEGINNING] if isinstance(element, Passage | Equation) else ""
        before, found, rest = text.partition(begins) if begins and len(elements) > 1 else ("", "", text)
        if found:
            tagged, text = f"{tagged}{before}{tag} {begins}", rest
        else:
            untold += f"\n{tag}"
    return f"{tagged}{text}{untold}" if len(elements) > 1 else f"{untold.strip()}\n{text}"


def _at(place: Place) -> str:
    return place.where if place.by_line else f"{place.where} [{' '.join(f'{value:.0f}' for value in place.box)}]"


def _link(access: Access, path: str) -> str:
    return f"link: {access.links}{path}" if access.links else ""


async def _pictures(access: Access, item: ToolItem) -> list[ImageContent]:
    if item.crop and item.kind != "page":
        return [await asyncio.to_thread(lambda: _picture(access.library.crop(item.crop)))]
    if not item.page:
        return []
    async with access.drawing():
        marked = () if item.kind == "page" else item.places
        drawn = await access.library.page_picture_async(item.paper, item.page, marked=marked)
    return [await asyncio.to_thread(_picture, drawn)]


def _picture(png: bytes) -> ImageContent:
    """Return a picture of a size that clients take."""
    kind = "png"
    with Image.open(io.BytesIO(png)) as image:
        if max(image.size) > _SIZES[0][1] or len(png) > _MOST_BYTES:
            shown = image.convert("RGB")
            for kind, side in _SIZES:
                shown.thumbnail((side, side))
                written = io.BytesIO()
                shown.save(written, kind, quality=80)
                png = written.getvalue()
                if len(png) <= _MOST_BYTES:
                    break
    return ImageContent(data=base64.b64encode(png).decode(), mime_type=f"image/{kind}")


def _verdict(access: Access, checked: "CheckedStatement") -> Iterator[str]:
    if checked.findings:
        yield "Not borne out by the evidence. Correct the statement, or name what it rests on (a picture is not read):"
        yield from (f"- {finding.message}" for finding in checked.findings)
    elif checked.checks:
        yield "The evidence bears every number, name and quotation. Judge yourself whether it says what you state."
    else:
        yield (
            "The statement has no number in digits to check (words such as 'six' are not), and its names and "
            "quotations are in the evidence."
        )
    if checked.checks:
        yield "Numbers:"
    for check in checked.checks:
        support = "".join(f"\n    {cited_place(access, one)}" for one in check.support)
        yield f"- {check.number}: {check.finding}{f', {check.formula}' if check.formula else ''}{support}"
    yield "Closest places, to cite:"
    places = dict.fromkeys(one for claim in checked.claims for one in claim.evidence)
    yield from (f"- {cited_place(access, one)}" for one in places)


def cited_place(access: Access, one: Evidence) -> str:
    """Return an evidence as text: its name, element, place, link and quotation."""
    parts = (one.name, one.element, _at(one.place), _link(access, viewer_path(one)))
    return f"{'; '.join(filter(None, parts))}: {one.quote!r}"
