"""What an answer cites, for people: `ner-report.pdf p.4, Table 5`."""

from collections import Counter
from collections.abc import Iterable, Mapping

from paperscope.errors import UnknownPaperError
from paperscope.library import Library
from paperscope.types import Answer, Evidence

__all__ = ["citation", "citations", "paper_names"]


def paper_names(library: Library, answers: Iterable[Answer]) -> Mapping[str, str]:
    """The file name of each paper that the answers cite, by its id, with the id where several are called so.

    A paper that is no longer in the library has only its id.
    """
    cited = {item.place.paper for answer in answers for claim in answer.claims for item in claim.evidence}
    files = {paper: _file(library, paper) for paper in sorted(cited)}
    counts = Counter(files.values())
    return {paper: file if counts[file] == 1 else f"{file} ({paper})" for paper, file in files.items()}


def citations(answer: Answer, names: Mapping[str, str]) -> list[str]:
    """Each place that the answer cites, once, in order: the paper, the page, and the label of what stands there."""
    cited = (item for claim in answer.claims for item in claim.evidence)
    return list(dict.fromkeys(citation(item, answer, names) for item in cited))


def citation(item: Evidence, answer: Answer, names: Mapping[str, str]) -> str:
    """One place that the answer cites."""
    place = item.place
    label = next((exhibit.label for exhibit in answer.exhibits if exhibit.element == item.element), "")
    where = place.where if place.by_line else f"p.{place.page}"
    told = f"{names.get(place.paper, place.paper)} {where}"
    return f"{told}, {label}" if label else told


def _file(library: Library, paper: str) -> str:
    try:
        return library.paper(paper).file
    except UnknownPaperError:
        return paper
