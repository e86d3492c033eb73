"""Parses the YAML front matter of a Markdown file (the subset of YAML that such files use)."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from paperscope_core.publication import arxiv_in, doi_in, year_in
from paperscope_core.types import UNPUBLISHED, Publication

__all__ = ["FrontMatter", "split_front_matter"]


_KEY = re.compile(r"([A-Za-z][\w -]{0,40}):(?:\s+(.*))?$")
_ITEM = re.compile(r"\s*-\s+(?:name:\s*)?(.*)$")
_NAME = re.compile(r"\s+(?:name|literal):\s*(.+)$")
_PARTS = re.compile(r"\s+(given-names|given|surname|family|dropping-particle):\s*(.+)$")
# A longer block is text between horizontal rules.
_MAX_LINES = 400


@dataclass(frozen=True, kw_only=True, slots=True)
class FrontMatter:
    """Title, authors, abstract and publication; `spans` are the lines of each key, counted from 1."""

    title: str = ""
    authors: tuple[str, ...] = ()
    abstract: str = ""
    publication: Publication = UNPUBLISHED
    spans: Mapping[str, tuple[int, int]] = field(default_factory=dict)

    def span(self, key: str) -> tuple[int, int]:
        """Return the first and last line of a key or its plural."""
        return self.spans.get(key) or self.spans.get(f"{key}s") or (1, 1)


def split_front_matter(text: str) -> tuple[FrontMatter, str]:
    """Split off the front matter; empty lines replace it in the text."""
    lines = text.split("\n")
    if lines[0].rstrip() != "---":
        return FrontMatter(), text
    end = next((at for at in range(1, min(len(lines), _MAX_LINES)) if lines[at].rstrip() in ("---", "...")), None)
    blocks = {} if end is None else _blocks(lines[:end])
    if end is None or not blocks:
        return FrontMatter(), text
    body = "\n".join([""] * (end + 1) + lines[end + 1 :])
    authors = _blocks_of(blocks, "author") or _blocks_of(blocks, "authors")
    front = FrontMatter(
        title=_scalar(_blocks_of(blocks, "title")),
        authors=_people(authors),
        abstract=_scalar(_blocks_of(blocks, "abstract")),
        publication=Publication(
            year=year_in(_first_scalar(blocks, "year", "date")),
            venue=_first_scalar(blocks, "journal", "venue", "booktitle"),
            doi=doi_in(_first_scalar(blocks, "doi")),
            arxiv=arxiv_in(f"arXiv:{_first_scalar(blocks, 'arxiv', 'eprint').removeprefix('arXiv:')}"),
        ),
        spans={key: (first, first + len(block) - 1) for key, (first, block) in blocks.items()},
    )
    return front, body


def _blocks(lines: list[str]) -> dict[str, tuple[int, list[str]]]:
    """Return the first line number and the lines of each top-level key."""
    blocks: dict[str, tuple[int, list[str]]] = {}
    key = ""
    for number, line in enumerate(lines[1:], start=2):
        match = _KEY.match(line)
        if match:
            key = match[1].lower()
            blocks[key] = (number, [match[2] or ""])
        elif key and (not line.strip() or line[0] in " \t-"):
            blocks[key][1].append(line)
        elif not line.startswith("#"):
            return {}
    return blocks


def _blocks_of(blocks: Mapping[str, tuple[int, list[str]]], key: str) -> list[str]:
    return blocks.get(key, (0, []))[1]


def _first_scalar(blocks: Mapping[str, tuple[int, list[str]]], *keys: str) -> str:
    return next((_scalar(_blocks_of(blocks, key)) for key in keys if key in blocks), "")


def _scalar(block: list[str]) -> str:
    """Return a value, which may be folded over several lines."""
    head = block[0].strip() if block else ""
    rest = [line.strip() for line in block[1:] if line.strip()]
    if head in ("|", ">", "|-", ">-", "|+", ">+"):
        head = ""
    return _unquoted(" ".join(filter(None, [head, *rest])))


def _people(block: list[str]) -> tuple[str, ...]:
    """Return the names of a list, a list of mappings, or one line."""
    head = block[0].strip() if block else ""
    if head:
        listed = head.strip("[]") if head.startswith("[") else head
        parts = re.split(r"(?:(?<!\s)\s*+)?[;,]\s*|(?<!\s)\s+and\s+", listed)
        return tuple(_unquoted(part) for part in parts if _unquoted(part))
    names: list[str] = []
    indent = ""
    for line in block[1:]:
        item = _ITEM.match(line)
        edge = line[: len(line) - len(line.lstrip())]
        if item and (not names or edge == indent):
            indent = edge
            names.append("" if _KEY.match(item[1]) else item[1])
            line = f" {item[1]}"  # noqa: PLW2901
        if names and (match := _NAME.match(line)) and not names[-1]:
            names[-1] = match[1]
        elif names and (match := _PARTS.match(line)):
            names[-1] = f"{names[-1]} {_unquoted(match[2])}".strip()
    return tuple(name for name in map(_unquoted, names) if name)


def _unquoted(text: str) -> str:
    text = re.sub(r"(?<!\s)\s+#.*$", "", text).strip() if not text.strip().startswith(('"', "'")) else text.strip()
    if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'":
        text = text[1:-1]
    return text.replace('\\"', '"').strip()
