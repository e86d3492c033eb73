"""TDMS: which papers report a result."""

from collections.abc import Iterator
from html import escape
from pathlib import Path

from evaluation.gold.tdms import TDMSPaper, read_tdms
from evaluation.retrieval.corpora import FilesCorpus, hash_of
from evaluation.retrieval.values import Piece, Question
from paperscope_core.errors import GoldFileError

__all__ = ["tdms"]


def tdms(data: Path, *, folder: Path) -> Iterator[FilesCorpus | GoldFileError]:
    """All papers in one corpus, written below `folder`; a question for each task, dataset and metric, whose evidence
    are all papers that report such a result."""
    gold = read_tdms(data)
    yield from gold.bad
    reporting: dict[tuple[str, str, str], dict[str, None]] = {}
    for found in gold.tuples:
        reporting.setdefault((found.task, found.dataset, found.metric), {})[found.paper] = None
    if not reporting:
        return
    texts = {paper.id: _html(paper) for paper in gold.papers}
    yield FilesCorpus(
        name="tdms",
        questions=tuple(_question(*about, list(papers)) for about, papers in reporting.items()),
        texts=texts,
        suffix=".html",
        folder=folder,
        fingerprint=hash_of(*texts, *texts.values()),
    )


def _question(task: str, dataset: str, metric: str, papers: list[str]) -> Question:
    return Question(
        name=f"tdms/{task}/{dataset}/{metric}",
        text=f"Which papers report {metric} on {dataset} for {task.replace('_', ' ')}?",
        evidence=(tuple(Piece(units=(paper,)) for paper in papers),),
    )


def _html(paper: TDMSPaper) -> str:
    """The paper as a page whose headings are its sections'."""
    title = escape(paper.title)
    parts = [f"<!DOCTYPE html><html><head><title>{title}</title></head><body><h1>{title}</h1>"]
    for heading, paragraphs in paper.sections:
        parts.append(f"<h2>{escape(heading)}</h2>")
        parts.extend(f"<p>{escape(paragraph)}</p>" for paragraph in paragraphs)
    return "\n".join([*parts, "</body></html>"])
