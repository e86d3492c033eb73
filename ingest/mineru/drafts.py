"""MinerU's blocks to elements in reading order, captions bound anew."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ingest.mineru.anchors import Float, Label, anchored, find_labels, floats_of
from ingest.mineru.blocks import Block, Imported
from ingest.mineru.floats import FloatMaker
from ingest.mineru.roles import Front, front_of, heading_level, is_abstract, is_heading, opens_references
from ingest.mineru.texts import Text, TextFlow
from ingest.pdf.drafts import Draft
from ingest.pdf.references.entry import entry_label, entry_year
from ingest.pdf.text.heading_styles import split_number
from ingest.pdf.text.hyphens import Vocabulary, join_lines, vocabulary_of
from paperscope.types import Box, Element, Equation, PageProblem, Passage, PassageRole, Place, Reference

__all__ = ["Drafted", "draft_blocks"]

_TAG = re.compile(r"\\tag\s*\*?\s*\{\s*\(?\s*([^{}()]{1,12}?)\s*\)?\s*\}")
_CITED = re.compile(r"\bEq(?:s?\.|uations?)\s*\(?(\d{1,3})\)?")
_NOTE_MARK = re.compile(r"(?:\d{1,2}|[*†‡§¶]|\$\^)")


@dataclass(frozen=True, kw_only=True, slots=True)
class Drafted:
    """The elements of a document, the lines of its authors, and what could not be read."""

    drafts: tuple[Draft, ...]
    title: str
    authors: tuple[str, ...]
    problems: tuple[PageProblem, ...]


def draft_blocks(document: Imported, *, paper: str, floats: FloatMaker) -> Drafted:
    """All elements of a document; `floats` makes those of tables, figures and listings."""
    return _Drafter(document, paper=paper, floats=floats).drafted()


class _Drafter:
    def __init__(self, document: Imported, *, paper: str, floats: FloatMaker) -> None:
        self._blocks = document.blocks
        self._document = document
        self._paper = paper
        self._maker = floats
        self._front: Front = front_of(document.blocks)
        lines = (line.text for block in document.blocks for line in block.lines)
        self._vocabulary: Vocabulary = vocabulary_of(lines)

        self._numbers = _counted(document.blocks)

    def drafted(self) -> Drafted:
        """See `draft_blocks`."""
        labels = find_labels([block for block in self._blocks if block is not self._front.title])
        parts = floats_of(self._blocks, labels)
        pairs, floats = anchored(labels, parts)
        named = {part: label for label, part in pairs.items()}
        drafts = [*self._head(), *self._flow(labels, floats)]
        drafts.extend(self._floats(floats, named))
        drafts.extend(self._lost(labels, pairs))
        drafts.sort(key=lambda draft: draft.at)
        title = self._front.title
        return Drafted(
            drafts=(*drafts, *self._furniture()),
            title=self._joined(title) if title else "",
            authors=tuple(line.text for block in self._front.authors for line in block.lines),
            problems=(*self._maker.problems, *self._noted()),
        )

    def _noted(self) -> Iterator[PageProblem]:
        if self._numbers:
            reason = "MinerU left out the numbers of equations; they were counted, as the text cites the last one"
            yield PageProblem(page=self._document.pages[0].number, reason=reason)

    def _head(self) -> Iterator[Draft]:
        title, authors = self._front.title, self._front.authors
        if title:
            yield Draft(at=-2, element=self._passage(self._joined(title), "title", title))
        if authors:
            text = "\n".join(line.text for block in authors for line in block.lines)
            more = tuple(self._place(block.page, block.box) for block in authors[1:])
            yield Draft(at=-1, element=self._passage(text, "authors", authors[0], more=more))

    def _flow(self, labels: Sequence[Label], floats: Sequence[Float]) -> Iterator[Draft]:
        """Headings, equations, footnotes and running text."""
        taken = {label.block for label in labels} | {block for part in floats for block in part.blocks}
        taken |= {*self._front.authors, *([self._front.title] if self._front.title else ())}
        flow = TextFlow()
        role: PassageRole = "paragraph"
        references, last = False, 0
        least = min(
            (block.level for block in self._blocks if block.level and is_heading(block) and block not in taken),
            default=1,
        )
        for at, block in enumerate(self._blocks):
            if block in taken or not block.lines:
                continue
            if is_heading(block):
                flow.stop()
                text = self._joined(block)
                level = heading_level(text, given=block.level, least=least, last=last)
                last = level if split_number(text)[0] else last
                references, role = (
                    opens_references(text),
                    "abstract" if is_abstract(text) and len(text) < 12 else "paragraph",
                )
                yield Draft(at=at, element=self._passage(text, "heading", block, level=level))
            elif block.kind == "equation":
                flow.stop()
                yield Draft(at=at, element=self._equation(block))
            elif block.kind == "footnote" or (block.kind == "note" and not block.goes_on):
                yield Draft(at=at, element=self._passage(self._joined(block), "footnote", block))
            elif block.kind in ("text", "heading", "title", "list", "reference", "note"):
                own: PassageRole = "abstract" if role == "paragraph" and is_abstract(block.text) and not last else role
                flow.take(block, at=at, role=own, reference=references or block.kind == "reference")
        yield from (self._text(text) for text in flow.texts)

    def _text(self, text: Text) -> Draft:
        joined = join_lines((line.text for line in text.lines), self._vocabulary)
        place, *more = (self._place(page, box) for page, box in text.places)
        if text.reference:
            label, year = entry_label(joined), entry_year(joined)
            element: Element = Reference(
                id="", place=place, order=0, text=joined, label=label, year=year, more_places=tuple(more)
            )
        else:
            element = Passage(id="", place=place, order=0, text=joined, role=text.role, more_places=tuple(more))
        return Draft(at=text.at, element=element)

    def _equation(self, block: Block) -> Equation:
        text = " ".join(line.text for line in block.lines).strip().strip("$").strip()
        tag = _TAG.search(text)
        number = tag[1] if tag else self._numbers.get(block, "")
        return Equation(
            id="",
            place=self._place(block.page, block.box),
            order=0,
            text=_TAG.sub("", text).strip(),
            label=f"Equation {number}" if number else "",
            crop=self._maker.crop([block]),
        )

    def _floats(self, floats: Sequence[Float], named: Mapping[Float, Label]) -> Iterator[Draft]:
        at = {block: index for index, block in enumerate(self._blocks)}
        for part in floats:
            yield Draft(at=min(at[block] for block in part.blocks), element=self._maker.element(part, named.get(part)))

    def _lost(self, labels: Sequence[Label], pairs: Mapping[Label, Float]) -> Iterator[Draft]:
        """Captions beside which MinerU found nothing."""
        at = {block: index for index, block in enumerate(self._blocks)}
        for label in labels:
            if label not in pairs:
                yield Draft(at=at[label.block], element=self._maker.missing(label))

    def _furniture(self) -> Iterator[Draft]:
        """Page furniture, and the footnotes among what older versions only discard."""
        for block in self._blocks:
            if block.lines and block.kind in ("furniture", "discarded"):
                height = self._document.pages[block.page].height
                words = len(block.text.split())
                low = block.box.y0 > 0.5 * height and block.box.y1 < 0.95 * height
                note = block.kind == "discarded" and low and words > 3 and _NOTE_MARK.match(block.text)
                yield Draft(
                    at=0, element=self._passage(self._joined(block), "footnote" if note else "furniture", block)
                )

    def _passage(
        self, text: str, role: PassageRole, block: Block, *, level: int = 0, more: tuple[Place, ...] = ()
    ) -> Passage:
        place = self._place(block.page, block.box)
        return Passage(id="", place=place, order=0, text=text, role=role, level=level, more_places=more)

    def _joined(self, block: Block) -> str:
        return join_lines((line.text for line in block.lines), self._vocabulary)

    def _place(self, page: int, box: Box) -> Place:
        return Place(paper=self._paper, page=self._document.pages[page].number, box=box)


def _counted(blocks: Sequence[Block]) -> dict[Block, str]:
    """Numbers for equations none of which has kept its own: only where the text cites the last one and no later."""
    equations = [block for block in blocks if block.kind == "equation"]
    if not equations or any(_TAG.search(block.text) for block in equations):
        return {}
    cited = [int(number) for block in blocks if block.kind == "text" for number in _CITED.findall(block.text)]
    if max(cited, default=0) != len(equations):
        return {}
    return {block: str(number) for number, block in enumerate(equations, start=1)}
