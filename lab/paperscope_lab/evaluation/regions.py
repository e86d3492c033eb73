"""The regions suite: do the boxes of the sources, and those that an answer cites, show the gold evidence?"""

from collections.abc import Iterator, Sequence
from functools import partial

from paperscope_core.types import Answer, Place
from paperscope_lab.errors import GoldFileError
from paperscope_lab.evaluation.gold.files import map_gold
from paperscope_lab.evaluation.gold.questions import PdfQuestion, mmdocir_questions
from paperscope_lab.evaluation.libraries import Libraries
from paperscope_lab.evaluation.metrics.regions import covered_share, meets
from paperscope_lab.evaluation.question_suite import library_of_paper, question_suite
from paperscope_lab.evaluation.score import Miss, Score, Tally
from paperscope_lab.evaluation.suite import Item, Request

__all__ = ["SUITE", "score_regions"]

_RANKS = (1, 3, 8)


def score_regions(answer: Answer, regions: Sequence[Place]) -> Score:
    """Return the tallies of one question by its gold regions.

    hit@k: a box of the first k sources meets a region, that is, their overlap is at least half of the smaller one.
    recall: the share of the regions that a box of any source meets; complete: whether all of them are met; covered: the
    share of the regions' area inside the sources' boxes. cited: whether a cited box meets a region, if places are
    cited; cited.precise: the share of the cited boxes that do.
    """
    sources = [source.places for source in answer.context.sources]
    retrieved = [place for places in sources for place in places]
    cited = list(dict.fromkeys(place for one in answer.evidence for place in one.places))
    met = [any(meets(place, region) for place in retrieved) for region in regions]
    inside = [any(meets(place, region) for region in regions) for place in cited]
    first = next((rank for rank, places in enumerate(sources, start=1) if _meet(places, regions)), 0)
    tallies = {
        **{f"hit@{most}": _one(0 < first <= most) for most in _RANKS},
        "recall": Tally(right=sum(met), total=len(met)),
        "complete": _one(all(met)),
        "covered": Tally(right=sum(covered_share(region, retrieved) for region in regions), total=len(regions)),
    }
    if cited:
        tallies |= {"cited": _one(any(inside)), "cited.precise": Tally(right=sum(inside), total=len(inside))}
    wrong = [name for name in ("hit@8", "cited") if name in tallies and not tallies[name].right]
    shown = {"hit@8": retrieved, "cited": cited}
    gold = "; ".join(map(str, regions))
    return Score(
        tallies=tallies,
        misses=tuple(
            Miss(metric=name, what=answer.question, gold=gold, got="; ".join(map(str, shown[name]))) for name in wrong
        ),
        details={
            "question": answer.question,
            "answer": answer.text,
            "gold": gold,
            "rank": str(first),
            "cited": "; ".join(map(str, cited)),
        },
    )


def _meet(places: Sequence[Place], regions: Sequence[Place]) -> bool:
    return any(meets(place, region) for place in places for region in regions)


def _one(holds: bool) -> Tally:
    return Tally(right=holds, total=1)


def _score(question: PdfQuestion, libraries: Libraries) -> Score:
    """Ask the paper's library. Raises PaperFileError, and ModelError if a model is asked."""
    built = library_of_paper(libraries, question.file)
    paper = built.ids[str(question.file)]
    regions = [Place(paper=paper, page=page, box=box) for page, box in question.regions]
    return score_regions(libraries.library(built).ask(question.question), regions)


def _read(request: Request, libraries: Libraries) -> Iterator[Item | GoldFileError]:
    """Return the questions whose regions MMDocIR has annotated."""

    def item(found: PdfQuestion) -> Iterator[Item]:
        yield Item(
            name=f"{found.set}/{found.paper}/{found.id}",
            score=partial(_score, found, libraries),
            gold=(found.question, found.regions),
            files=(found.file,),
        )

    return map_gold(mmdocir_questions(request.data), item)


SUITE = question_suite(
    "regions",
    _read,
    headline=("hit@1", "hit@3", "hit@8", "recall", "complete", "covered", "cited"),
    missing="no regions here; name a folder with eval/regions_mmdocir.jsonl and papers/mmlongbench",
)
