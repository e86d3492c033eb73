"""Prompts, one Markdown file each, loaded by name and checked on load; and the marking of untrusted text in them."""

import hashlib
import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

__all__ = ["Prompt", "PromptError", "as_data", "load"]


_PLACEHOLDER = re.compile(r"\{\{(\w+)\}\}")


class PromptError(ValueError):
    """A prompt file that is missing or malformed, or filled with other values than it asks for."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Prompt:
    """A prompt's two parts and the names of its placeholders."""

    name: str
    system: str
    user: str
    placeholders: frozenset[str]

    def fill(self, **values: str) -> tuple[str, str]:
        """The system and user text with every placeholder replaced, once: values are never scanned again."""
        if values.keys() != self.placeholders:
            expected, given = sorted(self.placeholders), sorted(values)
            raise PromptError(f"prompt {self.name!r} takes {expected}, was given {given}")

        def put(text: str) -> str:
            return _PLACEHOLDER.sub(lambda match: values[match.group(1)], text)

        return put(self.system), put(self.user)


@cache
def load(name: str, *, placeholders: frozenset[str]) -> Prompt:
    """Read `NAME.md` and check that it holds exactly these placeholders."""
    if not re.fullmatch(r"[a-z_]+", name):
        raise PromptError(f"no such prompt: {name!r}")
    file = files(__name__).joinpath(f"{name}.md")
    if not file.is_file():
        raise PromptError(f"no such prompt: {name!r}")
    head, mark, rest = file.read_text(encoding="utf-8").partition("# System\n")
    system, divider, user = rest.partition("\n# User\n")
    if head.strip() or not mark or not divider:
        raise PromptError(f"prompt {name!r} must consist of '# System' and '# User'")
    found = frozenset(_PLACEHOLDER.findall(rest))
    if found != placeholders:
        raise PromptError(f"prompt {name!r} holds the placeholders {sorted(found)}, expected {sorted(placeholders)}")
    return Prompt(name=name, system=system.strip(), user=user.strip(), placeholders=found)


def as_data(text: str) -> str:
    """The text between two lines that carry a code, which is its own hash: no text can contain the line that ends it.

    The same text always gets the same code, so that equal requests share a place in the cache.
    """
    code = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return f"<<DATA {code}\n{text}\nDATA>> {code}"
