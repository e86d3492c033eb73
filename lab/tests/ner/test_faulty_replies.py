"""107 replies as real models write them: the table of the documentation says what is kept, rejected and failed."""

from collections.abc import Callable
from pathlib import Path

import pytest
from paperscope_lab.ner.formats import FORMATS, FormatName, ParsedReply, reply_format

TEXT = "Ada Byron met Bob in Rome ."
BRACKETED = "[Ada Byron | PER] met [Bob | PER] in [Rome | LOC] ."
XML = "<PER>Ada Byron</PER> met <PER>Bob</PER> in <LOC>Rome</LOC> ."
ADA, BOB, ROME = (
    f'{{"text": "{name}", "label": "{label}", "occurrence": 1}}'
    for name, label in (("Ada Byron", "PER"), ("Bob", "PER"), ("Rome", "LOC"))
)
EVE = ADA.replace("Ada Byron", "Eve")
JSON = f'{{"entities": [{ADA}, {BOB}, {ROME}]}}'
Replies = tuple[str | None, str | None, str | None]


def each(spoil: Callable[[str], str]) -> Replies:
    return spoil(BRACKETED), spoil(XML), spoil(JSON)


def json_alone(reply: str) -> Replies:
    return None, None, reply


# The fault, and replies in the order of `FORMATS`.
CASES: dict[str, Replies] = {
    "lower case": each(str.lower),
    "labels in lower case": each(lambda reply: reply.replace("PER", "per").replace("LOC", "loc")),
    "other marks between the words of a label": (
        "[Ada Byron | CELL_TYPE] met Bob in Rome .",
        "<CELL-TYPE>Ada Byron</CELL-TYPE> met Bob in Rome .",
        f'{{"entities": [{ADA.replace("PER", "cell_type")}]}}',
    ),
    "thoughts before it": each(lambda reply: f"<think>{{a}} place.\nBob may be [x | PER].</think>\n\n{reply}"),
    "an answer without entities in its thoughts": (
        f"<think>{TEXT}</think>{BRACKETED}",
        f"<think>{TEXT}</think>{XML}",
        f'<think>Not {{"entities": []}}.</think>{JSON}',
    ),
    "thoughts of which only the end is marked": each(lambda reply: f"Rome is a place.\n</think>\n{reply}"),
    "a code fence": (f"```\n{BRACKETED}\n```", f"```xml\n{XML}\n```", f"```json\n{JSON}\n```"),
    "backticks around it": each(lambda reply: f"`{reply}`"),
    "an introduction on its own line": each(lambda reply: f"Here is the result:\n\n{reply}"),
    "an introduction on the same line": each(lambda reply: f"Output: {reply}"),
    "a remark after it": each(lambda reply: f"{reply}\n\nNote: Bob may be {{someone}} else."),
    "an introduction, a fence and a remark": each(lambda reply: f"Sure!\n```\n{reply}\n```\nI hope this helps."),
    "the text before it": each(lambda reply: f"Text: {TEXT}\n{reply}"),
    "another example after it": (
        f"{BRACKETED}\n\n### Input:\nEve slept .\n[Eve | PER] slept .",
        f"{XML}\n\n### Input:\nEve slept .\n<PER>Eve</PER> slept .",
        f'{JSON}\nInput: Eve slept .\n{{"entities": [{EVE}]}}',
    ),
    "several lines": (
        BRACKETED.replace(" met ", "\nmet "),
        XML.replace(" met ", "\nmet "),
        JSON.replace(", {", ",\n{"),
    ),
    "the entities alone, one a line": (
        "- [Ada Byron | PER]\n- [Bob | PER]\n- [Rome | LOC]",
        "<PER>Ada Byron</PER>\n<PER>Bob</PER>\n<LOC>Rome</LOC>",
        f"{ADA}\n{BOB}\n{ROME}",
    ),
    "other blanks at the marks": (
        "[Ada Byron|PER] met [Bob |PER] in [ Rome |  LOC ] .",
        "<PER> Ada Byron </PER> met < PER >Bob</PER > in <LOC>Rome</LOC> .",
        JSON.replace('"Bob"', '" Bob "').replace('"PER"', '" PER"').replace(": ", ":"),
    ),
    "no blanks in the text": each(lambda reply: reply.replace("Ada Byron", "AdaByron").replace(" met ", "met")),
    "bold type": (
        BRACKETED.replace("[", "**[").replace("]", "]**"),
        XML.replace("<PER>", "**<PER>").replace("</PER>", "</PER>**"),
        None,
    ),
    "a word lost": (BRACKETED.replace(" met", ""), XML.replace(" met", ""), None),
    "a word added": (BRACKETED.replace(" met", " has met"), XML.replace(" met", " has met"), None),
    "an entity misspelt": each(lambda reply: reply.replace("Byron", "Biron")),
    "an entity that the text lacks": (
        BRACKETED.replace(" .", " [Eve | PER] ."),
        XML.replace(" .", " <PER>Eve</PER> ."),
        JSON.replace("]}", f", {EVE}]}}"),
    ),
    "an unknown label": each(lambda reply: reply.replace("LOC", "CITY")),
    "a mark not closed": (BRACKETED.replace("Bob | PER]", "Bob | PER"), XML.replace("Bob</PER>", "Bob"), JSON[:-1]),
    "a mark not opened": (BRACKETED.replace("[Bob", "Bob"), XML.replace("<PER>Bob", "Bob"), JSON[1:]),
    "an empty entity": (
        BRACKETED.replace("in", "[ | PER] in"),
        XML.replace("in", "<PER></PER> in"),
        JSON.replace("]}", f", {EVE.replace('Eve', '')}]}}"),
    ),
    "cut off": (BRACKETED[:38], XML[:50], JSON[:110]),
    "another text with entities": (
        "[Eve | PER] slept under a tree .",
        "<PER>Eve</PER> slept under a tree .",
        f'{{"entities": [{EVE}]}}',
    ),
    "another text": each(lambda _: "I can't help with that request."),
    "nothing": each(lambda _: " \n"),
    "no entities, in other characters": ("ada byron met Bob in Rome.", "ada byron met Bob in Rome.", "[]"),
    "escapes": (None, XML.replace(" met", " &amp; met"), None),
    "attributes of a tag": (None, XML.replace("<PER>Bob", '<PER id="2">Bob'), None),
    "a tag around the text": (None, f"<text>{XML}</text>", None),
    "a list without the object": json_alone(f"[{ADA}, {BOB}, {ROME}]"),
    "the object within another": json_alone(f'{{"result": {JSON}}}'),
    "trailing commas": json_alone(JSON.replace("}]", "},],")),
    "single quotes": json_alone(JSON.replace('"', "'")),
    "an entity twice": json_alone(JSON.replace("]}", f", {ADA}]}}")),
    "an item without a text": json_alone(JSON.replace(BOB, '{"label": "PER"}')),
    "an item without a label": json_alone(JSON.replace(BOB, '"Bob"')),
    "occurrences that number the list": json_alone(
        f'{{"entities": [{ADA}, {BOB.replace("1}", "2}")}, {ROME.replace("1}", "3}")}]}}'
    ),
    "occurrences from 0": json_alone(JSON.replace('"occurrence": 1', '"occurrence": 0')),
    "no occurrences": json_alone(JSON.replace(', "occurrence": 1', "")),
    "an occurrence that the text lacks": json_alone(JSON.replace(ROME, ROME.replace("1}", "4}"))),
}
CELLS = [
    pytest.param(fault, form, reply, id=f"{fault}-{form}")
    for fault, replies in CASES.items()
    for form, reply in zip(FORMATS, replies, strict=True)
    if reply is not None
]


def shown(parsed: ParsedReply) -> str:
    if parsed.failure:
        return "failed"
    kept = [f"{len(parsed.spans)} kept"] if parsed.spans else []
    counts = [f"{count} {outcome}" for outcome, count in parsed.outcomes.items() if outcome not in ("exact", "diff")]
    return ", ".join(kept + counts) or "no entities"


def documented() -> dict[str, list[str]]:
    page = (Path(__file__).parents[2] / "docs/entity-extractors.md").read_text(encoding="utf-8")
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in page.splitlines() if line.startswith("| ")]
    return {fault: cells for fault, *cells in rows if fault in CASES}


@pytest.mark.parametrize(("fault", "form", "reply"), CELLS)
def test_a_faulty_reply_is_read_as_documented(fault: str, form: FormatName, reply: str) -> None:
    parsed = reply_format(form, ("PER", "LOC", "cell type")).parse(TEXT, reply)
    assert documented()[fault][FORMATS.index(form)] == shown(parsed)
    gold = {("Ada Byron", "PER"), ("Ada Byron", "cell type"), ("Bob", "PER"), ("Rome", "LOC")}
    assert {(TEXT[span.start : span.end], span.label) for span in parsed.spans} <= gold


def test_the_table_has_107_replies() -> None:
    assert len(CELLS) == 107
    assert list(documented()) == list(CASES)
