"""All sets of a data folder."""

from pathlib import Path

from evaluation.retrieval.page_sets import mmlongbench, ohrbench
from evaluation.retrieval.paper_set import tdms
from evaluation.retrieval.passage_sets import argscichat, qasper
from evaluation.retrieval.values import Corpus
from paperscope_core.errors import GoldFileError

__all__ = ["load_corpora"]


def load_corpora(data: Path, *, folder: Path) -> tuple[list[Corpus], list[GoldFileError]]:
    """The corpora of those sets that are there, and what of the gold can't be used; `folder` is for their texts.

    Raises GoldFileError where there is nothing to ask.
    """
    found: list[Corpus | GoldFileError] = [
        *qasper(data),
        *argscichat(data),
        *mmlongbench(data),
        *ohrbench(data, folder=folder),
        *tdms(data, folder=folder),
    ]
    bad = [item for item in found if isinstance(item, GoldFileError)]
    corpora = [item for item in found if not isinstance(item, GoldFileError)]
    if not corpora:
        raise (
            bad[0]
            if bad
            else GoldFileError(
                f"{data}: no gold here; name a folder with eval/paperqa_*.jsonl or eval/kg_nlptdms_*.jsonl in it"
            )
        )
    return corpora, bad
