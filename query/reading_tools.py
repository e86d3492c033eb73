"""Reading tools: look up parts of papers by what names them, whole and with their places.

The answering loop, notebooks and HTTP use the same tools: search, section, element, page, reference, outline, papers.
"""

import re
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import partial
from itertools import groupby

from paperscope_core.cancellation import run_in_thread
from paperscope_core.errors import InputError, NotFoundError
from paperscope_core.models.token_counting import count_tokens
from paperscope_core.paper_lookup import find_entry, matching_entries
from paperscope_core.protocols import Corpus
from paperscope_core.text.escaping import shortened
from paperscope_core.text.sentences import split_sentences
from paperscope_core.text.words import content_words, plain_form
from paperscope_core.types import (
    Box,
    Context,
    ContextSource,
    Element,
    Equation,
    Figure,
    Filters,
    Paper,
    PaperEntry,
    Passage,
    Place,
    Reference,
    Section,
    Table,
    ToolCall,
    ToolItem,
    ToolItemKind,
    ToolName,
    ToolResult,
    captioned_places_of,
    model_words,
)
from paperscope_core.types.elements import title_lines
from paperscope_core.types.tables import table_lines
from query.element_views import element_text
from query.outline import PARTS, is_outline, outline_row
from query.question.named_elements import cited_entries, elements_in, find_references, named_section
from query.question.paper_names import PaperNames, citations
from query.question.scope import restrict

__all__ = ["PART_TOKENS", "PaperSearch", "ReadingTools"]

PaperSearch = Callable[[str, tuple[str, ...]], Awaitable[Context]]
"""Retrieves the context of a text from the papers with these ids; from all that may be searched if there are none."""

PART_TOKENS = 4000
"""The size of a part of a result: a section of six pages; the context of a question has 8000 by default."""

# The tools read the papers asked about one by one, so a paper has to be named if these are more.
_MOST_PAPERS = 20
_MOST_LISTED = 12
_LONGEST_NAME = 80
# Titles and captions may be long, but no list of a thousand labels is looked up.
_LONGEST_ARGUMENT = 300
# As in `difflib`; a title with one word misspelt is nearer.
_NEAR, _CLOSE = 0.6, 0.8
_COLUMNS = "Columns: "


class ReadingTools:
    """Looks up parts of papers.

    Args:
        search: Retrieves the context of a text.
        papers: The ids of the papers that are read if a call names none; all papers if empty.
        tokens: The size of a part of a result; larger results have several parts.
        count: Returns the number of tokens of a text.
    """

    def __init__(
        self,
        corpus: Corpus,
        search: PaperSearch,
        *,
        filters: Filters = Filters(),
        papers: Sequence[str] = (),
        tokens: int = PART_TOKENS,
        count: Callable[[str], int] = count_tokens,
    ) -> None:
        self._corpus = restrict(corpus, filters)
        self._search_text = search
        self._filters = filters
        self._papers = tuple(papers) or filters.papers
        self._pager = _Pager(tokens=tokens, count=count)

    async def run(self, call: ToolCall) -> ToolResult:
        """Run a call. What `look_up` would raise as InputError is the message of the result, which a model can read.

        Raises:
            ModelError: The embedder or the reranker of a search failed.
        """
        try:
            return await self.look_up(call)
        except InputError as error:
            return ToolResult(call=call, message=error.public)

    async def look_up(self, call: ToolCall) -> ToolResult:
        """Run a call.

        Raises:
            NotFoundError: There is no such paper, section, element, page or reference; the message names similar ones.
            InputError: The argument has another form, or a paper has to be named.
            ModelError: The embedder or the reranker of a search failed.
        """
        if call.tool == "search":
            return await self._search(call)
        return await run_in_thread(partial(self._read, call))

    async def _search(self, call: ToolCall) -> ToolResult:
        if not call.argument.strip():
            raise InputError(f"{call.argument!r} can't be searched for; give the words of a question or a statement")
        entries = await run_in_thread(self._allowed)
        papers = (self._entry(call.paper, entries).id,) if call.paper else self._papers
        context = await self._search_text(call.argument, papers)
        found = await run_in_thread(lambda: [self._source(source) for source in context.sources])
        return self._pager.result(call, found, nothing=f"nothing was found for {call.argument!r}; use other words")

    def _source(self, source: ContextSource) -> "_Found":
        view = self._view(source.place.paper)
        element = self._corpus.element(source.element)
        item = view.item(element, kind="outline" if is_outline(source) else _kind(element))
        piece = _Piece(text=source.content, element=source.element, places=source.places)
        return _Found(item=item, pieces=[piece])

    def _read(self, call: ToolCall) -> ToolResult:
        if call.tool == "papers":
            entries = _matching(self._allowed(), call.argument)
            nothing = f"no paper has words of {call.argument!r}; leave them out to list all papers"
            return self._pager.result(call, [_listed_paper(entry) for entry in entries], nothing=nothing)
        if call.tool == "outline" and not call.paper:
            call = replace(call, paper=call.argument)
        elif not call.argument.strip() and call.tool != "outline":
            raise InputError(f"{call.argument!r} names no {call.tool}; {_EXAMPLES[call.tool]}")
        if len(call.argument) > _LONGEST_ARGUMENT:
            shown = shortened(call.argument, limit=_LONGEST_NAME)
            raise InputError(f"{shown!r} is too long; give at most {_LONGEST_ARGUMENT} characters, or search")
        found: list[_Found] = []
        missing: list[NotFoundError] = []
        for view in self._views(call):
            try:
                found += _LOOK_UPS[call.tool](view, call.argument)
            except NotFoundError as error:
                missing.append(error)
        if not found and missing:
            more = f"; and {len(missing) - 1} more papers have none" if len(missing) > 1 else ""
            raise NotFoundError(f"{missing[0].public}{more}")
        return self._pager.result(call, found, nothing=f"{call} is empty")

    def _views(self, call: ToolCall) -> "Iterator[_PaperView]":
        entries = self._allowed()
        if call.paper:
            ids: Sequence[str] = (self._entry(call.paper, entries).id,)
        elif call.tool == "element" and any(call.argument.startswith(f"{entry.id}/") for entry in entries):
            ids = (call.argument.partition("/")[0],)
        else:
            known = {entry.id for entry in entries}
            ids = [paper for paper in self._papers if paper in known] or [entry.id for entry in entries]
        if len(ids) > _MOST_PAPERS:
            raise InputError(f"{call} may be of any of {len(ids)} papers; name one: its id, file name or title")
        if not ids:
            raise NotFoundError("the library is empty: add a paper first")
        yield from map(self._view, ids)

    def _allowed(self) -> list[PaperEntry]:
        """Return the papers that may be read."""
        filters = self._filters
        return [
            entry
            for entry in self._corpus.entries()
            if (not filters.papers or entry.id in filters.papers) and filters.allows_year(entry.year)
        ]

    def _entry(self, name: str, entries: Sequence[PaperEntry]) -> PaperEntry:
        """Return the paper of this name, also as contexts name papers ("Four Reports (2024)")."""
        try:
            return find_entry(entries, name)
        except NotFoundError:
            named = set(PaperNames().named_in(name, entries))
            shown = re.sub(r"\((?:19|20)\d\d\)|\[[0-9a-f]{12}\]|…", "", name).strip().casefold()
            found = [one for one in entries if one.id in named or (shown and one.title.casefold().startswith(shown))]
            if len(found) == 1:
                return found[0]
            raise

    def _view(self, paper: str) -> "_PaperView":
        return _PaperView(corpus=self._corpus, paper=self._corpus.paper(paper), fits=self._pager.fits)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Piece:
    """A part of an item's text that is not divided, with its element and places."""

    text: str
    element: str = ""
    places: tuple[Place, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class _Found:
    """An item whose text isn't written yet; `head` is repeated in each part."""

    item: ToolItem
    pieces: Sequence[_Piece]
    head: str = ""
    separator: str = "\n\n"

    def written(self, pieces: Sequence[_Piece], *, left: int) -> ToolItem:
        """Return the item with the text of these of its pieces."""
        texts = filter(None, (self.head, self.separator.join(piece.text for piece in pieces)))
        return replace(
            self.item,
            text="\n".join(texts),
            elements=tuple(dict.fromkeys(piece.element for piece in pieces if piece.element)),
            places=tuple(dict.fromkeys(place for piece in pieces for place in piece.places)) or self.item.places,
            left=left,
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class _Pager:
    """Divides results into parts of at most `tokens`, and no piece unless it is larger than a part."""

    tokens: int
    count: Callable[[str], int]

    def result(self, call: ToolCall, found: Sequence[_Found], *, nothing: str) -> ToolResult:
        """Return the part of the result that is called for.

        Raises:
            NotFoundError: There is no such part.
        """
        if not found:
            return ToolResult(call=call, message=nothing)
        part, room = 1, self.tokens
        shown: list[list[_Piece]] = [[] for _ in found]
        left = [0] * len(found)
        for at, one in enumerate(found):
            head = self.count(one.head) if one.head else 0
            begun = 0
            for piece in self._divided(one.pieces or [_Piece(text="")], within=max(1, self.tokens - head)):
                cost = self.count(piece.text)
                needed = cost + (head if begun != part else 0)
                if needed > room and room < self.tokens:
                    part, room = part + 1, self.tokens
                    needed = cost + head
                begun = part
                room -= needed
                if part == call.part:
                    shown[at].append(piece)
                elif part > call.part:
                    left[at] += cost
        if call.part > part:
            raise NotFoundError(f"the result of {call} has no part {call.part}; ask for 1 to {part}")
        items = (one.written(shown[at], left=left[at]) for at, one in enumerate(found) if shown[at])
        return ToolResult(call=call, items=tuple(items), parts=part)

    def fits(self, found: Sequence[_Found]) -> bool:
        """Return whether a result has one part."""
        texts = (text for one in found for text in (one.head, *(piece.text for piece in one.pieces)))
        return sum(map(self.count, texts)) <= self.tokens

    def _divided(self, pieces: Iterable[_Piece], *, within: int) -> Iterator[_Piece]:
        for piece in pieces:
            if self.count(piece.text) <= within or len(piece.text) < _LONGEST_NAME:
                yield piece
                continue
            middle = len(piece.text) // 2
            after = re.compile(r"\n|(?<=\s)\S|$").search(piece.text, middle)
            cut = after.start() if after and after.start() < len(piece.text) else middle
            halves = (replace(piece, text=piece.text[:cut].rstrip()), replace(piece, text=piece.text[cut:].lstrip()))
            yield from self._divided(halves, within=within)


@dataclass(frozen=True, kw_only=True)
class _PaperView:
    """A paper, and what is found in it; `fits` returns whether items are one part of a result."""

    corpus: Corpus
    paper: Paper
    fits: "Callable[[Sequence[_Found]], bool]"

    @property
    def name(self) -> str:
        """The paper's title for messages."""
        return shortened(self.paper.title or self.paper.file, limit=_LONGEST_NAME)

    def item(self, element: Element, *, kind: ToolItemKind, label: str | None = None) -> ToolItem:
        """Return an item at an element, without its text."""
        crop = element.crop if isinstance(element, Table | Figure | Equation) else None
        return ToolItem(
            kind=kind,
            paper=self.paper.id,
            title=self.paper.title,
            section=self.paper.section_path(element),
            label=element.label if label is None else label,
            places=(element.place,),
            crop=crop or "",
            page=element.place.page if self.paper.has_page_images else 0,
        )

    def of(self, elements: Iterable[Element]) -> Iterator[_Found]:
        """Yield items for elements in reading order: one for each float, and one for the text of each section
        between."""
        wanted = [one for one in elements if not (isinstance(one, Passage) and one.role == "furniture")]
        floats = [one for one in wanted if _is_float(one)]
        seen = self._seen(floats)
        for (is_float, _), group in groupby(wanted, key=lambda one: (_is_float(one), one.section)):
            run = list(group)
            if is_float:
                yield from (self.float(element, seen.get(element.id, "")) for element in run)
            else:
                yield _Found(item=self.item(run[0], kind="text", label=""), pieces=list(map(_piece, run)))

    def floats(self, elements: Sequence[Element]) -> Iterator[_Found]:
        """Yield items for tables, figures, equations and listings."""
        seen = self._seen(elements)
        yield from (self.float(element, seen.get(element.id, "")) for element in elements)

    def float(self, element: Element, seen: str) -> _Found:
        """Return the item of an element; `seen` is what a vision model read in its picture."""
        lines = title_lines(element) if isinstance(element, Passage | Table | Figure) else []
        rows = _lines(element)
        if rows and rows[0].startswith(_COLUMNS) and isinstance(element, Table):
            lines.append(rows.pop(0))
        places = captioned_places_of(element)
        texts = [*rows, *([model_words(seen)] if seen else [])]
        return _Found(
            item=self.item(element, kind=_kind(element)),
            pieces=[_Piece(text=text, element=element.id, places=places) for text in texts or [""]],
            head="\n".join(lines),
            separator="\n",
        )

    def _seen(self, elements: Sequence[Element]) -> Mapping[str, str]:
        ids = [element.id for element in elements]
        return {element: chunk.seen for chunk in self.corpus.chunks_of(ids) for element in chunk.elements}


def _is_float(element: Element) -> bool:
    return isinstance(element, Table | Figure) or (isinstance(element, Passage) and bool(element.label))


def _kind(element: Element) -> ToolItemKind:
    if isinstance(element, Passage):
        return "listing" if element.label else "text"
    return element.kind


def _piece(element: Element) -> _Piece:
    return _Piece(text="\n".join(_lines(element)), element=element.id, places=captioned_places_of(element))


def _lines(element: Element) -> list[str]:
    """Return the text of an element, without label and caption of a float."""
    if isinstance(element, Table):
        return list(table_lines(element))
    if isinstance(element, Figure):
        panels = [f"({panel.mark}) {panel.caption}" for panel in element.panels if panel.caption]
        return [*panels, *([element.text] if element.text else [])]
    if isinstance(element, Passage) and element.role == "code":
        return [f"```\n{element.text}\n```"]
    text = element.text
    if isinstance(element, Passage) and element.role in ("title", "heading"):
        text = f"{'#' * max(1, min(element.level, 6))} {text}"
    elif isinstance(element, Equation | Reference) and element.label and not text.startswith(element.label):
        text = f"{element.label}{':' if isinstance(element, Equation) else ''} {text}"
    return [text, *([element.latex_line] if isinstance(element, Equation) and element.latex_line else [])]


def _section(view: _PaperView, argument: str) -> Iterable[_Found]:
    paper = view.paper
    found = _matching_sections(paper, argument)
    if not found and argument.strip().casefold() == "abstract":
        abstract = [one for one in paper.elements if isinstance(one, Passage) and one.role == "abstract"]
        if abstract:
            return view.of(abstract)
    if not found:
        titles = [_section_name(section) for section in paper.sections]
        raise NotFoundError(f"no section {argument!r} in {view.name!r}; {_near(argument, titles, 'sections')}")
    wholes = list(view.of(elements_in(paper, found[:_MOST_LISTED])))
    if len(found) > 1 and not (len(found) <= _MOST_LISTED and view.fits(wholes)):
        paths = "; ".join(repr(section.path) for section in found[:_MOST_LISTED])
        raise NotFoundError(f"{argument!r} may be any of these sections of {view.name!r}: {paths}; give one of these")
    return wholes


def _matching_sections(paper: Paper, argument: str) -> list[Section]:
    """Return the sections that a name fits best: by title or path, by number, without case, by its words.

    Of several, a single one of a higher level is meant: "4 Results", not "B Proofs > Results".
    """
    wanted = " ".join(argument.split())
    number = named_section(wanted).casefold()
    folded, asked = plain_form(wanted), content_words(wanted)
    rules: tuple[Callable[[Section], bool], ...] = (
        lambda one: wanted in (one.id, one.path, one.title, _section_name(one)),
        lambda one: bool(number) and named_section(one.number).casefold() == number,
        lambda one: folded in (plain_form(one.title), plain_form(one.path), plain_form(_section_name(one))),
        lambda one: bool(asked) and asked <= content_words(one.title),
    )
    for rule in rules:
        found = [one for one in paper.sections if rule(one)]
        if rule is rules[-1]:
            # "Results" rather than "Results on the development set".
            fewest = min((len(content_words(one.title)) for one in found), default=0)
            found = [one for one in found if len(content_words(one.title)) == fewest]
        highest = min((one.level for one in found), default=0)
        top = [one for one in found if one.level == highest]
        if found:
            return top if len(top) == 1 else found
    close = get_close_matches(folded, [plain_form(one.title) for one in paper.sections], n=1, cutoff=_CLOSE)
    return [one for one in paper.sections if plain_form(one.title) in close]


def _section_name(section: Section) -> str:
    return f"{section.number} {section.title}".strip()


def _element(view: _PaperView, argument: str) -> Iterable[_Found]:
    wanted = argument.strip()
    exact = [one for one in view.paper.elements if wanted in (one.id, one.id.partition("/")[2])]
    if exact:
        return list(view.of(exact) if isinstance(exact[0], Passage | Reference) else view.floats(exact))
    elements = [one for one in view.paper.elements if _is_float(one) or isinstance(one, Equation)]
    named = set(find_references(wanted, [view.paper]).elements)
    folded, asked = plain_form(wanted), content_words(wanted)
    rules: tuple[Callable[[Element], bool], ...] = (
        lambda one: bool(one.label) and plain_form(one.label) == folded,
        lambda one: one.id in named,
        lambda one: bool(folded) and folded == plain_form(_caption(one)),
        lambda one: bool(asked) and asked <= content_words(_caption(one)),
    )
    for rule in rules:
        found = [one for one in elements if rule(one)]
        wholes = list(view.floats(found))
        if len(found) > 1 and rule is rules[-1] and not view.fits(wholes):
            shown = "; ".join(repr(shortened(_shown(one), limit=_LONGEST_NAME)) for one in found[:_MOST_LISTED])
            raise NotFoundError(f"{argument!r} may be any of these of {view.name!r}: {shown}; give one label")
        if found:
            return wholes
    labels = [one.label or one.id.partition("/")[2] for one in elements]
    raise NotFoundError(f"no element {argument!r} in {view.name!r}; {_near(argument, labels, 'elements')}")


def _caption(element: Element) -> str:
    return element.caption if isinstance(element, Passage | Table | Figure) else ""


def _shown(element: Element) -> str:
    titled = title_lines(element) if isinstance(element, Passage | Table | Figure) else []
    return next(iter(titled), element.label or element.id)


def _page(view: _PaperView, argument: str) -> Iterator[_Found]:
    paper = view.paper
    if not paper.paged:
        raise NotFoundError(f"{view.name!r} has no pages: it is {paper.format}; ask for its outline or a section")
    numbers = re.findall(r"\d+", argument)
    if len(numbers) != 1:
        raise InputError(f"{argument!r} is no page; {_EXAMPLES['page']}")
    number = paper.page_number(int(numbers[0][:9]))
    if number is None:
        last = max(page.number for page in paper.pages)
        raise NotFoundError(f"no page {numbers[0]} in {view.name!r}; ask for 1 to {last}")
    elements = [one for one in paper.elements if any(place.page == number for place in captioned_places_of(one))]
    texts = [one for one in elements if not _is_float(one)]
    problems = [_Piece(text=f"({problem.reason})") for problem in paper.problems if problem.page == number]
    whole = next(page for page in paper.pages if page.number == number)
    before = paper.pages_before
    item = ToolItem(
        kind="page",
        paper=paper.id,
        title=paper.title,
        label=f"page {number}, printed {number + before}" if before else f"page {number}",
        places=(Place(paper=paper.id, page=number, box=Box(0.0, 0.0, whole.width, whole.height)),),
        page=number if paper.has_page_images else 0,
    )
    found = _Found(item=item, pieces=[*problems, *map(_piece, texts)])
    return iter((found, *view.floats([one for one in elements if _is_float(one)])))


def _reference(view: _PaperView, argument: str) -> Iterator[_Found]:
    entries = [one for one in view.paper.elements if isinstance(one, Reference)]
    found = _matching_entries(view.paper, entries, argument)
    if not found:
        labels = [one.label or shortened(one.text, limit=_LONGEST_NAME) for one in entries]
        raise NotFoundError(f"no reference {argument!r} in {view.name!r}; {_near(argument, labels, 'references')}")
    if len(found) > _MOST_LISTED:
        raise NotFoundError(f"{len(found)} references of {view.name!r} have the words {argument!r}; give the label")
    return (one for entry in found for one in _cited(view, entry))


def _matching_entries(paper: Paper, entries: Sequence[Reference], argument: str) -> list[Reference]:
    wanted = argument.strip()
    bare, asked = _bare(wanted), content_words(wanted)
    cited = {entry.id for citation in citations(wanted) for entry in cited_entries(paper, citation)}
    rules: tuple[Callable[[Reference], bool], ...] = (
        lambda one: wanted in (one.id, one.id.partition("/")[2]),
        lambda one: bool(bare) and _bare(one.label) == bare,
        lambda one: one.id in cited,
        lambda one: bool(asked) and asked <= content_words(one.text),
    )
    matches = ([one for one in entries if rule(one)] for rule in rules)
    return next(filter(None, matches), [])


def _bare(label: str) -> str:
    return plain_form(label.strip("[]() ."))


def _cited(view: _PaperView, entry: Reference) -> Iterator[_Found]:
    """Yield a bibliography entry, then the sentences that cite it."""
    yield _Found(item=view.item(entry, kind="reference"), pieces=[_piece(entry)])
    texts: dict[str, list[str]] = {}
    for link in view.paper.links:
        if link.target == entry.id:
            texts.setdefault(link.source, []).append(link.text)
    for element in view.paper.elements:
        if element.id not in texts:
            continue
        marks = texts[element.id]
        text = element_text(element)
        sentences = [one for one in split_sentences(text) if any(mark in one for mark in marks)]
        piece = _Piece(text=" ".join(sentences) or text, element=element.id, places=captioned_places_of(element))
        yield _Found(item=view.item(element, kind="citation", label=element.label or marks[0]), pieces=[piece])


def _outline(view: _PaperView, _argument: str) -> Iterator[_Found]:
    entry = next((one for one in view.corpus.entries() if one.id == view.paper.id), None)
    row = outline_row(view.paper, entry, (*PARTS, "Record"))
    if row is None:
        raise NotFoundError(f"{view.name!r} has no text; ask for its pages")
    pieces = [_Piece(text=line, element=row.element, places=row.places) for line in row.content.splitlines()]
    item = ToolItem(kind="outline", paper=view.paper.id, title=view.paper.title)
    yield _Found(item=item, pieces=pieces, separator="\n")


def _matching(entries: Sequence[PaperEntry], query: str) -> list[PaperEntry]:
    """Return the papers with all words of a query; if there are none, those with most of its content words."""
    if found := matching_entries(entries, query):
        return found
    words = content_words(query)
    counts = {entry.id: sum(bool(matching_entries([entry], word)) for word in words) for entry in entries}
    most = max(counts.values(), default=0)
    return [entry for entry in entries if counts[entry.id] == most] if most else []


def _listed_paper(entry: PaperEntry) -> _Found:
    published = ", ".join(filter(None, (entry.venue, str(entry.year or ""))))
    ids = (f"DOI: {entry.doi}" if entry.doi else "", f"arXiv: {entry.arxiv}" if entry.arxiv else "")
    lines = (entry.title, "; ".join(entry.authors), published, *ids, f"File: {entry.file}", f"Id: {entry.id}")
    item = ToolItem(kind="paper", paper=entry.id, title=entry.title)
    return _Found(item=item, pieces=[_Piece(text="\n".join(filter(None, lines)))])


def _near(argument: str, names: Sequence[str], what: str) -> str:
    """Return what to ask for instead: names like the argument, or else the first ones."""
    if not names:
        return f"it has no {what}"
    distinct = {plain_form(name): name for name in reversed(names)}
    close = [distinct[name] for name in get_close_matches(plain_form(argument), distinct, n=5, cutoff=_NEAR)]
    asked = content_words(argument)
    close += [name for name in names if asked & content_words(name)]
    listed = list(dict.fromkeys(close or names))
    shown = "; ".join(map(repr, listed[:_MOST_LISTED]))
    rest = f" and {len(listed) - _MOST_LISTED} more" if len(listed) > _MOST_LISTED else ""
    return f"did you mean {shown}{rest}?" if close else f"its {what} are {shown}{rest}"


_EXAMPLES: Mapping[ToolName, str] = {
    "section": "give its number (4.2) or title",
    "element": "give its label (Table 3)",
    "page": "give its number (6)",
    "reference": "give its mark ([29]), or author and year",
}
_LOOK_UPS: Mapping[ToolName, Callable[[_PaperView, str], Iterable[_Found]]] = {
    "section": _section,
    "element": _element,
    "page": _page,
    "reference": _reference,
    "outline": _outline,
}
