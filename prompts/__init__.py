"""Prompts, one Markdown file each, and the marking of untrusted text in them.

A file has a system part and a user part under the headings `# System` and `# User`; `{{name}}` marks a placeholder.
"""

import hashlib
import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

__all__ = ["Prompt", "PromptError", "as_data", "load"]

_PLACEHOLDER = re.compile(r"\{\{(\w+)\}\}")


class PromptError(ValueError):
    """A prompt file is missing or malformed, or the values do not match its placeholders."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Prompt:
    """A prompt's two parts and the names of its placeholders."""

    name: str
    system: str
    user: str
    placeholders: frozenset[str]

    def fill(self, **values: str) -> tuple[str, str]:
        """Return the system and user text with all placeholders replaced. Placeholders in values are left as they are.

        Raises:
            PromptError: The values do not match the placeholders.
        """
        if values.keys() != self.placeholders:
            expected, given = sorted(self.placeholders), sorted(values)
            raise PromptError(f"prompt {self.name!r} takes {expected}, was given {given}")

        def put(text: str) -> str:
            return _PLACEHOLDER.sub(lambda match: values[match.group(1)], text)

        return put(self.system), put(self.user)


@cache
def load(name: str, *, placeholders: frozenset[str]) -> Prompt:
    """Read the prompt `NAME.md`.

    Raises:
        PromptError: There is no such prompt, or it does not contain exactly these placeholders.
    """
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
        raise PromptError(f"prompt {name!r} contains the placeholders {sorted(found)}, expected {sorted(placeholders)}")
    return Prompt(name=name, system=system.strip(), user=user.strip(), placeholders=found)


def as_data(text: str) -> str:
    """Enclose untrusted text between two lines that a model can distinguish from its instructions.

    The lines contain a hash of the text, so that no text can contain its own end line. Equal texts have equal lines, so
    that equal requests have the same cache key.
    """
    code = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return f"<<DATA {code}\n{text}\nDATA>> {code}"
