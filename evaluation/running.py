"""Runs a suite over its items: resumable, and one bad item does not stop the rest.

A line is added to a file of finished items the moment one is done. It is used again in a later run while nothing that
it depends on has changed: the code, the settings, the item's file and its gold.
"""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from evaluation.provenance import code_fingerprint
from evaluation.suite import SuiteItem
from evaluation.values import Score
from paperscope_core.codec import from_json, to_json
from paperscope_core.errors import PaperscopeError
from paperscope_core.files import output_errors

__all__ = ["ItemResult", "run_items"]


@dataclass(frozen=True, kw_only=True, slots=True)
class ItemResult:
    """An item's score, or why it has none; `key` ties it to what it depends on."""

    name: str
    key: str
    score: Score = field(default_factory=Score)
    problem: str = ""


def run_items(
    items: Sequence[SuiteItem], *, settings: str, kept: Path | None = None, on_item: Callable[[ItemResult], None]
) -> list[ItemResult]:
    """Score the items in their order; `kept` is the file of finished ones. An item that failed is tried again."""
    finished = dict(_finished(kept)) if kept else {}
    code = code_fingerprint()
    results = []
    for item in items:
        key = hashlib.sha256("\0".join((code, settings, item.name, item.fingerprint)).encode()).hexdigest()
        result = finished.get(key) or _score(item, key=key)
        if kept and key not in finished and not result.problem:
            with output_errors(kept), kept.open("a", encoding="utf-8") as file:
                file.write(to_json(result) + "\n")
        results.append(result)
        on_item(result)
    return results


def _score(item: SuiteItem, *, key: str) -> ItemResult:
    try:
        return ItemResult(name=item.name, key=key, score=item.score())
    except PaperscopeError as error:
        return ItemResult(name=item.name, key=key, problem=str(error))


def _finished(kept: Path) -> Iterator[tuple[str, ItemResult]]:
    """Results of earlier runs; a last line torn by a kill is passed over, and ended so that the next starts afresh."""
    if not kept.is_file():
        return
    with output_errors(kept):
        data = kept.read_bytes()
        if data and not data.endswith(b"\n"):
            kept.write_bytes(data + b"\n")
    for line in data.decode(errors="replace").splitlines():
        try:
            result = from_json(ItemResult, line)
        except ValueError:
            continue
        yield result.key, result
