"""An answer as a chat shows it: its text, then what it rests on and what to be careful about; and back from there.

Chat front ends take it for Markdown. What stands in papers and model replies is text of strangers: it must not make a
front end load a picture from an address (which could carry away what was asked), or show HTML.
"""

import re
from collections.abc import Mapping
from dataclasses import replace

from paperscope.types import Answer, Turn

__all__ = ["cited_papers", "read_reply", "reply_text"]

_SOURCES, _NOTES = "\n\nSources:\n", "\n\nNotes:\n"
_APPENDED = re.compile(r"\n\n(?:Sources|Notes):\n(?:\d+\.|-) .*\Z", re.DOTALL)
_PAPER = re.compile(r"^\d+\. .*\(paper ([0-9a-f]{12})\)$", re.MULTILINE)
# Backslashes that Markdown does not show.
_ACTIVE = re.compile(r"!(?=\[)|<(?=[A-Za-z/!?])")


def reply_text(answer: Answer, *, titles: Mapping[str, str]) -> str:
    """The answer's text with a list of its sources and one of its warnings, where it has any.

    `titles` are those of the papers that it cites, by id.
    """
    text = _inert(answer.text)
    sources = _sources(answer, titles)
    if sources:
        text += _SOURCES + "\n".join(f"{number}. {source}" for number, source in enumerate(sources, start=1))
    if answer.warnings:
        text += _NOTES + "\n".join(f"- {_inert(_line(warning))}" for warning in answer.warnings)
    return text


def cited_papers(answer: Answer) -> tuple[str, ...]:
    """The ids of the papers that an answer cites."""
    return Turn.of(answer).papers


def read_reply(turn: Turn, text: str) -> Turn:
    """The turn that ends with a reply of `reply_text`, or with any other text."""
    appended = _APPENDED.search(text)
    papers = _PAPER.findall(appended[0]) if appended else []
    answer = text[: appended.start()] if appended else text
    return replace(turn, answer=answer, papers=tuple(dict.fromkeys(papers)))


def _sources(answer: Answer, titles: Mapping[str, str]) -> list[str]:
    """A line for each place that is cited: where it is, and in which paper."""
    labels = {exhibit.element: exhibit.label for exhibit in answer.exhibits}
    lines: dict[str, None] = {}
    for claim in answer.claims:
        for evidence in claim.evidence:
            place = evidence.place
            title = _inert(_line(titles.get(place.paper, "")))
            parts = (title or "Untitled", place.where, _inert(_line(labels.get(evidence.element, ""))))
            lines[f"{', '.join(filter(None, parts))} (paper {place.paper})"] = None
    return list(lines)


def _line(text: str) -> str:
    return " ".join(text.split())


def _inert(text: str) -> str:
    return _ACTIVE.sub(lambda match: "!\\" if match[0] == "!" else "\\<", text)
