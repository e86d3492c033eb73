"""Reasons why the figures of a run must not be used, found before anyone reads them."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from ingest.extraction.recognizer.examples import Example
from ingest.extraction.recognizer.pieces import read_tokenizer
from ingest.extraction.recognizer.tagging import word_tokens
from paperscope_core.errors import InputError
from paperscope_lab.ner.datasets import leakage
from paperscope_lab.ner.importing import import_examples
from paperscope_lab.ner.scoring import Counts, PredictedTags, token_classes
from paperscope_lab.ner.tags import Scheme

if TYPE_CHECKING:
    from tokenizers import Tokenizer

__all__ = [
    "Joined",
    "check_run",
    "check_seen",
    "join_predictions",
    "read_predictions",
    "unknown_rate",
    "unknown_share",
]

# Short sentences recur: 6 % of CoNLL-2003's dev texts are in its train split, none of SciER's or WNUT's. A set that was
# selected on has all of them.
_SHARED_LIMIT = 0.2
# Of the pieces of MiniLM's vocabulary, 0.8 % are unknown in English tweets with emoji (WNUT), 0.01 % in papers (SciER),
# but 4.3 % in Korean (KLUE), which the vocabulary doesn't suit.
_UNKNOWN_LIMIT = 0.02


@dataclass(frozen=True, kw_only=True)
class Joined:
    """Predictions in the order of the gold, and the gates that joining them failed.

    A gold example without a usable prediction has one with a failure, which scores as empty. `tags` are those that the
    system predicted, if all of them are for the tokens of the gold.
    """

    predictions: list[Example]
    failed: list[str]
    tags: PredictedTags | None = None


def join_predictions(
    gold: Sequence[Example], predictions: Sequence[Example], *, tags: PredictedTags | None = None
) -> Joined:
    """Find the prediction of each gold example by its id.

    Args:
        gold: The examples.
        predictions: Their predictions, in any order.
        tags: The tags that the system predicted, in the order of the gold, if it predicted tags.

    Returns:
        The predictions, and a reason for each of these gates that fails: an example without a prediction, a prediction
        of an unknown example or of another text, other tokens.
    """
    known = {prediction.id: prediction for prediction in predictions}
    joined: list[Example] = []
    unscored, foreign, retokenized = [], [], []
    for example in gold:
        prediction = known.pop(example.id, None)
        if prediction is None:
            unscored.append(example.id)
            prediction = replace(example, spans=(), failure="no prediction")
        elif prediction.text != example.text:
            foreign.append(example.id)
            prediction = replace(example, spans=(), failure="the prediction of another text")
        elif prediction.tokens and prediction.tokens != example.tokens:
            retokenized.append(example.id)
        joined.append(prediction)
    failed = [
        f"{reason}: {len(ids)} of {len(gold)} examples, the first is {ids[0]}"
        for reason, ids in (
            ("unscored, because there is no prediction", unscored),
            ("the prediction is of another text", foreign),
            ("the prediction has other tokens than the gold", retokenized),
        )
        if ids
    ]
    if known:
        failed.append(f"predictions of unknown examples: {len(known)}, the first is {next(iter(known))}")
    return Joined(predictions=joined, failed=failed, tags=None if failed else tags)


def read_predictions(file: Path, gold: Sequence[Example], *, scheme: Scheme | None = None) -> Joined:
    """Return the predictions of a file in the order of the gold; those of a format without ids are in this order
    already.

    Args:
        file: Predictions in any format that `import_examples` reads.
        gold: The examples.
        scheme: The scheme of predicted tags; None finds it.

    Raises:
        ExampleFileError: The file can't be read.
        InputError: It has no ids and another number of examples, or a scheme is given for a format without tags.
    """
    found = import_examples(file, scheme=scheme)
    if found.format == "spans":
        return join_predictions(gold, found.examples)
    if len(found.examples) != len(gold):
        raise InputError(
            f"{len(found.examples)} sentences, but the gold has {len(gold)}; without ids they are joined by order",
            where=file,
        )
    examples = [_as_gold(example, due) for example, due in zip(found.examples, gold, strict=True)]
    if found.tags is None:  # the words of a text are what its reader takes for tokens where it has none
        examples = [replace(one, tokens=()) if one.tokens == word_tokens(one.text) else one for one in examples]
    tags = PredictedTags(tags=found.tags, scheme=found.scheme) if found.tags and found.scheme else None
    return join_predictions(gold, examples, tags=tags)


def _as_gold(example: Example, gold: Example) -> Example:
    """Return the example with the id of the gold, and its text if only the spaces between the same tokens differ."""
    example = replace(example, id=gold.id)
    surfaces = [[one.text[start:end] for start, end in one.tokens] for one in (example, gold)]
    if example.text == gold.text or surfaces[0] != surfaces[1]:
        return example
    starts = {start: there for (start, _), (there, _) in zip(example.tokens, gold.tokens, strict=True)}
    ends = {end: there for (_, end), (_, there) in zip(example.tokens, gold.tokens, strict=True)}
    if not all(span.start in starts and span.end in ends for span in example.spans):
        return example
    spans = tuple(replace(span, start=starts[span.start], end=ends[span.end]) for span in example.spans)
    return replace(example, text=gold.text, tokens=gold.tokens, spans=spans)


def check_run(
    gold: Sequence[Example],
    predictions: Sequence[Example],
    *,
    seen: Mapping[str, Sequence[Example]] | None = None,
    tokenizer: Path | None = None,
) -> list[str]:
    """Look for reasons not to use the figures of a run.

    Args:
        gold: The examples that are scored.
        predictions: Their predictions, in the same order.
        seen: Data that the system was trained or selected on, by what was done with them.
        tokenizer: The system's `tokenizer.json`.

    Returns:
        A reason for each gate that fails: fewer tokens right than by always predicting O, data that the system has
        seen, pieces that the tokenizer doesn't know.

    Raises:
        InputError: The tokenizer can't be read.
    """
    failed: list[str] = []
    right, outside, total = _token_accuracy(gold, predictions)
    if right < outside:
        failed.append(
            f"worse than always predicting O: {right / total:.4f} of the tokens are right, {outside / total:.4f} are O"
        )
    failed += check_seen(gold, seen or {})
    if tokenizer and (rate := unknown_rate(tokenizer, gold)) > _UNKNOWN_LIMIT:
        failed.append(f"the tokenizer does not suit the data: {rate:.1%} of its pieces are unknown")
    return failed


def check_seen(gold: Sequence[Example], seen: Mapping[str, Sequence[Example]]) -> list[str]:
    """Return a reason for each use of data that have more of the gold's texts than recur by themselves."""
    failed = []
    for use, examples in seen.items():
        both = leakage(examples, gold)
        if both.examples > _SHARED_LIMIT * both.of_examples:
            failed.append(f"the data were used for {use}: {both.examples} of {both.of_examples} texts are in them")
    return failed


def _token_accuracy(gold: Sequence[Example], predictions: Sequence[Example]) -> tuple[float, int, int]:
    """Return the tokens that have the right label or are rightly O, those that are O, and all."""
    classes = list(map(token_classes, gold, predictions))
    total = sum((one.total for one in classes), Counts())
    return total.correct, sum(one.labels.get("O", Counts()).gold for one in classes), total.gold


def unknown_rate(tokenizer: Path, examples: Sequence[Example]) -> float:
    """Return the share of the pieces of the examples' texts that a tokenizer doesn't know.

    Raises:
        InputError: The file is no `tokenizer.json`.
    """
    try:
        found = read_tokenizer(tokenizer)
    except ValueError as error:
        raise InputError(f"{error}; name a tokenizer.json", where=tokenizer) from error
    pieces = [piece for example in examples for piece in found.encode(example.text, add_special_tokens=False).ids]
    return unknown_share(found, pieces)


def unknown_share(tokenizer: "Tokenizer", pieces: Sequence[int]) -> float:
    """Return the share of pieces that are the one for unknown words."""
    name = getattr(tokenizer.model, "unk_token", None)
    # Unigram (SentencePiece) has only the number, and only in the file.
    unknown = tokenizer.token_to_id(name) if name is not None else json.loads(tokenizer.to_str())["model"].get("unk_id")
    return sum(piece == unknown for piece in pieces) / max(1, len(pieces))
