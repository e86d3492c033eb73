"""`eval/kg_nlptdms_text.jsonl` and `…_tuples.jsonl`: papers as text, and which results they report: task, dataset,
metric, score (NLP-TDMS, Hou et al., 2019)."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pydantic import TypeAdapter

from evaluation.gold.files import json_lines
from paperscope_core.errors import GoldFileError

__all__ = ["TDMS", "TDMSPaper", "TDMSTuple", "read_tdms"]


_SECTION = "section:"
_TITLE, _ABSTRACT = "title", "abstract"


@dataclass(frozen=True, kw_only=True, slots=True)
class TDMSPaper:
    """A paper; each section is its heading and its paragraphs."""

    id: str
    title: str
    sections: tuple[tuple[str, tuple[str, ...]], ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class TDMSTuple:
    """A result that a paper reports; `where` is its file and line."""

    where: str
    paper: str
    task: str
    dataset: str
    metric: str
    score: str


@dataclass(frozen=True, kw_only=True, slots=True)
class TDMS:
    """All papers, all tuples of theirs, and the errors of lines that can't be used."""

    papers: tuple[TDMSPaper, ...]
    tuples: tuple[TDMSTuple, ...]
    bad: tuple[GoldFileError, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class _Text:
    paper: str
    text: str


@dataclass(frozen=True, kw_only=True, slots=True)
class _Tuple:
    paper: str
    task: str
    dataset: str
    metric: str
    score: str


_TEXT, _TUPLE = TypeAdapter(_Text), TypeAdapter(_Tuple)


def read_tdms(data: Path) -> TDMS:
    """All that the two files hold; without either there is nothing."""
    texts, file = (data / "eval" / f"kg_nlptdms_{name}.jsonl" for name in ("text", "tuples"))
    bad: list[GoldFileError] = []
    papers = {text.paper: _paper(text) for _, text in json_lines(texts, _TEXT, bad=bad)}
    tuples = []
    for number, found in json_lines(file, _TUPLE, bad=bad):
        where = f"{file}:{number}"
        if found.paper not in papers:
            bad.append(GoldFileError(f"{where}: unknown paper {found.paper!r}; {texts.name} has no text of it"))
            continue
        tuples.append(
            TDMSTuple(
                where=where,
                paper=found.paper,
                task=found.task,
                dataset=found.dataset,
                metric=found.metric,
                score=found.score,
            )
        )
    return TDMS(papers=tuple(papers.values()), tuples=tuple(tuples), bad=tuple(bad))


def _paper(text: _Text) -> TDMSPaper:
    sections = list(_sections(text.text))
    title = " ".join(line for head, lines in sections if head == _TITLE for line in lines)
    return TDMSPaper(
        id=text.paper, title=title or text.paper, sections=tuple(part for part in sections if part[0] != _TITLE)
    )


def _sections(text: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Each "section: HEADING" with the lines up to the next; text before the first counts to the abstract."""
    head, lines = _ABSTRACT, list[str]()
    for line in filter(None, map(str.strip, text.splitlines())):
        if line.startswith(_SECTION):
            if lines:
                yield head, tuple(lines)
            head, lines = line.removeprefix(_SECTION).strip(), []
        else:
            lines.append(line)
    if lines:
        yield head, tuple(lines)
