"""`bench formats`: what is left of entities that a flawless model writes in a format of `ner`, and of spoilt replies.

No model is asked. The replies are the gold, written in a format; a share of them is spoilt as replies of models are.
"""

import argparse
import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ingest.extraction.recognizer.examples import Example
from ingest.extraction.recognizer.tagging import flat_spans
from paperscope_core.files import output_errors
from paperscope_lab.evaluation.bench.common import add_out, print_page, write_figures
from paperscope_lab.evaluation.rendering import table
from paperscope_lab.ner.examples import write_examples
from paperscope_lab.ner.formats import FORMATS, FormatName, reply_format
from paperscope_lab.ner.importing import import_examples
from paperscope_lab.ner.training import entity_f1

__all__ = ["DESCRIPTION", "FAULTS", "HELP", "Reading", "add_options", "read_replies", "run"]

HELP = "what is left of entities that are written in the formats of language models"
DESCRIPTION = (
    "Writes the gold entities of a file in each format as a model should, spoils a share of the replies, reads them, "
    "and scores what was read. It bounds what a format costs; it says nothing of a model."
)
Fault = Callable[[str, random.Random], str]


def _cut(reply: str, chance: random.Random) -> str:
    return reply[: chance.randrange(len(reply) + 1)]


def _word_lost(reply: str, chance: random.Random) -> str:
    words = reply.split(" ")
    del words[chance.randrange(len(words))]
    return " ".join(words)


def _lower_case(reply: str, _chance: random.Random) -> str:
    return reply.lower()


def _goes_on(reply: str, _chance: random.Random) -> str:
    return f"{reply}\n\n### Input:\n{reply}"


def _mark_lost(reply: str, chance: random.Random) -> str:
    places = [place for place, character in enumerate(reply) if character in "[]<>{}|"]
    if not places:
        return reply
    place = chance.choice(places)
    return reply[:place] + reply[place + 1 :]


def _introduced(reply: str, _chance: random.Random) -> str:
    return f"Here is the result:\n{reply}"


FAULTS: Mapping[str, Fault] = {
    "cut off": _cut,
    "a word lost": _word_lost,
    "in lower case": _lower_case,
    "goes on after the line": _goes_on,
    "a mark lost": _mark_lost,
    "an introduction before it": _introduced,
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Reading:
    """What was read of the replies with one fault in one format.

    Attributes:
        form: The format.
        fault: The fault; "" for replies that are not spoilt.
        replies: Their number.
        failures: Those that could not be read.
        f1: Entity F1 (offsets and label) of what was read.
        outcomes: The entities by what became of them.
    """

    form: FormatName
    fault: str
    replies: int
    failures: int
    f1: float
    outcomes: dict[str, int]


def add_options(formats: argparse.ArgumentParser) -> None:
    """Add the options of `formats`."""
    formats.add_argument("--data", type=Path, nargs="+", required=True, metavar="FILE", help="annotated sentences")
    formats.add_argument("--faults", type=float, default=0.0, metavar="SHARE", help="spoilt replies (default: 0)")
    formats.add_argument("--seed", type=int, default=1, metavar="N", help="decides which (default: 1)")
    formats.add_argument(
        "--predictions", type=Path, metavar="DIR", help="write what was read of the first file as DIR/FORMAT.jsonl"
    )
    add_out(formats)


def run(options: argparse.Namespace) -> int:
    """Return 0. Raises ExampleFileError and OutputError."""
    figures: dict[str, list[Reading]] = {}
    rows: list[list[str]] = []
    for file in options.data:
        gold = import_examples(file).examples
        readings = figures.setdefault(file.name, [])
        for form in FORMATS:
            predictions, found = read_replies(gold, form, share=options.faults, seed=options.seed)
            readings += found
            if options.predictions and file == options.data[0]:
                with output_errors(options.predictions):
                    options.predictions.mkdir(parents=True, exist_ok=True)
                write_examples(options.predictions / f"{form}.jsonl", predictions)
        rows += [_row(file.name, one) for one in readings]
    head = ["file", "format", "fault", "replies", "unreadable", "entity F1", "entities by outcome"]
    print_page(table(head, rows, texts=3))
    write_figures(options.out, figures)
    return 0


def read_replies(
    gold: Sequence[Example], form: FormatName, *, share: float, seed: int
) -> tuple[list[Example], list[Reading]]:
    """Write, spoil and read replies.

    Args:
        gold: The examples. Of entities that overlap, the longest is written, and the others are no gold here.
        form: The format.
        share: The share of the replies that is spoilt, by one fault each.
        seed: Decides which, and how.

    Returns:
        What was read, in the order of the gold, and the figures of each fault.
    """
    flat = [replace(example, spans=tuple(flat_spans(example.spans))) for example in gold]
    format_ = reply_format(form, sorted({span.label for example in flat for span in example.spans}))
    chance = random.Random(seed)  # noqa: S311 - no secret
    faults = [chance.choice(tuple(FAULTS)) if chance.random() < share else "" for _ in flat]
    predictions: list[Example] = []
    outcomes = {fault: Counter[str]() for fault in ("", *FAULTS)}
    for example, fault in zip(flat, faults, strict=True):
        reply = format_.write(example)
        parsed = format_.parse(example.text, FAULTS[fault](reply, chance) if fault else reply)
        outcomes[fault].update(parsed.outcomes)
        predictions.append(replace(example, spans=parsed.spans, failure=parsed.failure))
    readings = []
    for fault, counts in outcomes.items():
        at = [index for index, one in enumerate(faults) if one == fault]
        found = [predictions[index] for index in at]
        if at:
            readings.append(
                Reading(
                    form=form,
                    fault=fault,
                    replies=len(at),
                    failures=sum(one.failure is not None for one in found),
                    f1=round(entity_f1([flat[index] for index in at], found), 4),
                    outcomes=dict(counts.most_common()),
                )
            )
    return predictions, readings


def _row(file: str, one: Reading) -> list[str]:
    outcomes = ", ".join(f"{count} {outcome}" for outcome, count in one.outcomes.items())
    return [file, one.form, one.fault or "none", str(one.replies), str(one.failures), f"{one.f1:.4f}", outcomes]
