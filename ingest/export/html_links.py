"""The words of a text that name another element, as links to it."""

import re
from collections.abc import Mapping, Sequence
from html import escape

from paperscope.types import Link

__all__ = ["linked"]

_NUMBER = re.compile(r"[A-Z]?\.?\d+(?:\.\d+)*[a-z]?")
_BRACKETED = re.compile(r"\[(\d+)\]")


def linked(text: str, links: Sequence[Link]) -> str:
    """The text as HTML, everything escaped, in which the words of each link lead to `#TARGET`.

    Words that name several elements ("Figs. 2 and 3") link each number where there are as many numbers as targets,
    and else the first target. A number of a group of citations ("[3, 12]") is found inside the brackets.
    """
    targets: dict[str, list[str]] = {}
    for link in links:
        if link.text.strip():
            targets.setdefault(link.text, []).append(link.target)
    if not targets:
        return escape(text)
    parts: list[str] = []
    end = 0
    for match in _pattern(targets).finditer(text):
        parts.append(escape(text[end : match.start()]))
        known = targets.get(match[0]) or targets[f"[{match[0]}]"]
        parts.append(_anchors(match[0], known))
        end = match.end()
    return "".join([*parts, escape(text[end:])])


def _pattern(targets: Mapping[str, Sequence[str]]) -> re.Pattern[str]:
    """Finds the words of every link, the longest first, and never a part of a word or number."""
    ways: list[str] = []
    for words in sorted(targets, key=len, reverse=True):
        before = r"(?<!\w)" if words[0].isalpha() or words[0].isdecimal() else ""
        after = r"(?!\w|\.\d)" if words[-1].isalpha() or words[-1].isdecimal() else ""
        ways.append(f"{before}{re.escape(words)}{after}")
        if number := _BRACKETED.fullmatch(words):
            ways.append(rf"(?<=[\[,;\s–-]){number[1]}(?=[\d,;\s–-]*\])(?!\d)")
    return re.compile("|".join(ways))


def _anchors(words: str, targets: Sequence[str]) -> str:
    numbers = list(_NUMBER.finditer(words))
    if len(targets) == 1 or len(numbers) != len(targets):
        return _anchor(words, targets[0])
    parts: list[str] = []
    end = 0
    for number, target in zip(numbers, targets, strict=True):
        start = number.start() if parts else 0
        parts += [escape(words[end:start]), _anchor(words[start : number.end()], target)]
        end = number.end()
    return "".join([*parts, escape(words[end:])])


def _anchor(words: str, target: str) -> str:
    return f'<a href="#{escape(target)}">{escape(words)}</a>'
