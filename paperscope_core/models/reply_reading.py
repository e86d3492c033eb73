"""Reads what models write in place of the JSON object that they were asked for.

Two libraries were tried first. `jiter` (through pydantic) reads an object that is cut off, but no trailing comma,
single quote or comment. `json-repair` (0.64) reads these, but takes quadratic time for `["["[…` (8 s for 8,000
characters), turns `<think>{no}</think>{"a": 1}` and prose with braces into other objects, and decodes `\\nu` as a line
break. So JSON is read by pydantic, and anything else by the reader below, in linear time.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import TypeVar

from pydantic import TypeAdapter, ValidationError
from pydantic_core import from_json, to_json

from paperscope_core.text.latex_escapes import escape_latex, repair_control_characters

__all__ = ["outermost_object", "partial_text", "read_replies", "read_reply", "readable_text", "without_thoughts"]

T = TypeVar("T")

# A fence starts a line. JSON strings contain no line breaks, so a fence is never part of a value.
_FENCED_BLOCK = re.compile(r"^[ \t]*```[a-zA-Z]*[ \t]*\n(.*?)^[ \t]*```", re.MULTILINE | re.DOTALL)
_FENCE_LINE = re.compile(r"^[ \t]*```[a-zA-Z]*[ \t]*$\n?", re.MULTILINE)
# The marks of DeepSeek, Qwen and most others; of Mistral; of Kimi.
_THOUGHT = r"(?:think(?:ing)?|thoughts?|reasoning)"
_THOUGHT_BEGINS = re.compile(rf"<{_THOUGHT}>|\[THINK\]|◁think▷", re.IGNORECASE)
_THOUGHT_ENDS = re.compile(rf"</{_THOUGHT}>|\[/THINK\]|◁/think▷", re.IGNORECASE)
# Ten times the longest reply that is known (160,000 tokens of output are 500,000 characters).
_MAX_REPLY = 5_000_000
# No text of a reply is longer than what a person reads of it: ten pages.
_MAX_TEXT = 30_000
_MAX_ITEMS = 10_000
_MAX_DEPTH = 32
_MAX_KEY = 200
# Each `{` that begins no object costs a new start.
_MAX_STARTS = 64

_SPACE = re.compile(r"(?:\s|//[^\n]*|/\*.{0,1000}?\*/)*+", re.DOTALL)
_SPACE_AND_COMMAS = re.compile(r"(?:[\s,]|//[^\n]*|/\*.{0,1000}?\*/)*+", re.DOTALL)
_QUOTES = {'"': '"', "'": "'", "\u201c": "\u201d", "\u201e": "\u201c"}
_STOPS = {close: re.compile(rf"[\\{close}]") for close in _QUOTES.values()}
_BARE_KEY = re.compile(r"[\w$-]{1,80}")
_SCALAR = re.compile(r"[^,}\]\n]{1,2000}")
_ESCAPE = re.compile(r"u([0-9a-fA-F]{4})|(.)", re.DOTALL)
_ESCAPED = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_LITERALS = {"true": True, "false": False, "null": None, "none": None, "nan": None}
_NUMBER = re.compile(r"-?\d{1,30}(?:\.\d{1,30})?(?:[eE][+-]?\d{1,3})?")
_KEY_FOLLOWS = r"(?:[\"'\u201c][^\"'\u201c\u201d\n]{1,80}[\"'\u201d]|[\w$-]{1,80})\s*+:"
# What follows the quote that ends a string; another quote is part of the text.
_ENDS_KEY = re.compile(r"\s*+:")
_ENDS_MEMBER = re.compile(rf"\s*+(?:\Z|//|/\*|```|[}}\]]|(?:,\s*+)?(?:{_KEY_FOLLOWS}|\Z)|,\s*+(?://|/\*|[}}\]]))")
_ENDS_ITEM = re.compile(r"\s*+(?:\Z|//|/\*|```|[}\]]|,\s*+(?:\Z|//|/\*|[}\]{\[\"'\u201c\d-]|true|false|null))")
_UNFINISHED_ESCAPE = re.compile(r"(?<!\\)((?:\\\\)*+)\\(?:u[0-9a-fA-F]{0,3}|[A-Za-z]{0,24})\Z")
_MISSING = object()
# Matches at a position of a text.
_Match = Callable[[str, int], re.Match[str] | None]


def read_reply(text: str, adapter: "TypeAdapter[T]", schema: Mapping[str, object]) -> T:
    """Return the value in a model's reply.

    The last object that is valid counts, and of thoughts and prose around it nothing. Keys that the type does not have
    are ignored, LaTeX commands keep their backslash, and no text has control characters or is longer than 30,000
    characters.

    Raises:
        ValueError: No object in it is valid, or none is complete. A `ValidationError` tells what is wrong.
    """
    return next(read_replies(text, adapter, schema))


def read_replies(text: str, adapter: "TypeAdapter[T]", schema: Mapping[str, object]) -> Iterator[T]:
    """Yield the values that a reply may mean, the likeliest first, for a caller that can tell which of them is meant.

    Several objects of a reply are also tried as one list; then each alone, the last one first. The same value may come
    twice. See `read_reply`, which returns the first.

    Raises:
        ValueError: There is none.
    """
    first: ValueError | None = None
    found = False
    for value, complete in _candidates(text):
        if complete:
            try:
                yield adapter.validate_json(to_json(_fitted(_bounded(value), schema, schema)))
                found = True
            except ValidationError as error:
                first = first or error
    if not found:
        raise first or ValueError("there is no JSON object in it")


def readable_text(text: str, schema: Mapping[str, object]) -> str:
    """Return what a person can read of a reply that is no valid object: the longest text of the object that it begins,
    or else its prose without thoughts and fences; "" if there is none."""
    text = without_thoughts(text[:_MAX_REPLY])
    properties = schema.get("properties")
    known = properties if isinstance(properties, dict) else {}
    free = [name for name, node in known.items() if node.get("type") == "string" and "enum" not in node]
    for value, _ in _candidates(text):
        if isinstance(value, dict):
            texts = [value[name] for name in free if isinstance(value.get(name), str)]
            if not texts and not value.keys() & known.keys() and text.lstrip().startswith(("{", "```")):
                texts = [one for one in value.values() if isinstance(one, str)]
            longest = max(texts, key=len, default="").strip()
            if longest:
                return str(_bounded(longest))
    prose = _FENCE_LINE.sub("", text).strip()
    return "" if prose.startswith(("{", "[")) else str(_bounded(prose))


def partial_text(incomplete: str, field: str) -> str:
    """Return the text under a key of an object that is still being written; "" if there is none yet.

    Thoughts, prose and a fence before the object are skipped, and so is an incomplete escape at its end.
    """
    start = _object_start(incomplete)
    if start < 0:
        return ""
    begun = escape_latex(_UNFINISHED_ESCAPE.sub(r"\1", incomplete[start:]))
    value: object
    try:
        # Bytes would be parsed faster, but a lone surrogate can't be encoded.
        value = from_json(begun, allow_partial="trailing-strings")
    except ValueError:
        # The object is followed by a fence or prose, or is not JSON.
        value = next((found for found, _ in _loose_objects(begun)), None)
    text = value.get(field) if isinstance(value, dict) else None
    return repair_control_characters(text) if isinstance(text, str) else ""


def _object_start(text: str) -> int:
    begins = text.lstrip()[:1]
    if begins != "{" and not text.lstrip().startswith("```"):
        end = _THOUGHT_ENDS.search(text)
        if end:
            return text.find("{", end.end())
        if _THOUGHT_BEGINS.match(text.lstrip()):
            return -1
    return text.find("{")


def without_thoughts(text: str) -> str:
    """Return a reply without the thoughts before it; all of it if it is nothing but thoughts.

    An object or a fence at its beginning is the reply, and may contain such marks itself.
    """
    begun = text.lstrip()
    if begun.startswith(("{", "```")):
        return text
    end = _THOUGHT_ENDS.search(text)
    if end and text[end.end() :].strip():
        opening = _THOUGHT_BEGINS.search(text, 0, end.start())
        return (text[: opening.start()] if opening else "") + text[end.end() :]
    return _THOUGHT_ENDS.sub("", _THOUGHT_BEGINS.sub("", text))


def outermost_object(text: str) -> str:
    """Return the text from the first opening to the last closing brace, inside the last fenced block if one has braces.

    The text between the braces is not checked.

    Raises:
        ValueError: There are no braces.
    """
    blocks = [block for block in _FENCED_BLOCK.findall(text) if "{" in block]
    inner = blocks[-1] if blocks else text
    start, end = inner.find("{"), inner.rfind("}")
    if start < 0 or end < start:
        raise ValueError("there is no JSON object in it")
    return inner[start : end + 1]


def _candidates(text: str) -> Iterator[tuple[object, bool]]:
    """Yield the objects in a reply, the likeliest first, and whether each is complete."""
    text = text[:_MAX_REPLY]
    reply = without_thoughts(text)
    try:
        outermost = escape_latex(outermost_object(reply))
        yield from_json(outermost), True
    except ValueError:
        outermost = ""
    blocks = [escape_latex(block) for block in _FENCED_BLOCK.findall(reply)]
    for part in (*blocks[::-1], escape_latex(reply), *([escape_latex(text)] if text != reply else [])):
        found = list(_loose_objects(part))
        listed = _loose_array(part) if part.lstrip().startswith("[") else (None, True)
        if isinstance(listed[0], list):
            found.insert(0, listed)
        whole = [value for value, complete in found if complete]
        if len(whole) > 1:
            # The items of a list that was asked for, one a line.
            yield whole, True
        yield from (one for one in reversed(found) if one[1])
        yield from (one for one in reversed(found) if not one[1])


def _loose_objects(text: str) -> Iterator[tuple[object, bool]]:
    at = text.find("{")
    for _ in range(_MAX_STARTS):
        if at < 0:
            return
        reader = _LooseReader(text, at)
        try:
            yield reader.value(), reader.complete
            at = text.find("{", reader.at)
        except ValueError:
            at = text.find("{", at + 1)


def _loose_array(text: str) -> tuple[object, bool]:
    reader = _LooseReader(text, text.find("["))
    try:
        return reader.value(), reader.complete
    except ValueError:
        return None, False


class _LooseReader:
    """Reads one value that resembles JSON: with single quotes, bare keys, comments, superfluous or missing commas, raw
    line breaks or quotes in strings, Python's literals. `complete` is whether it was closed."""

    def __init__(self, text: str, at: int) -> None:
        self._text = text
        self.at = at
        self.complete = True

    def value(self, *, depth: int = 0, ends: _Match = _ENDS_MEMBER.match) -> object:
        """Read the value that begins here. Raise ValueError if there is none."""
        if depth > _MAX_DEPTH:
            raise ValueError("nested too deep")
        self._skip(_SPACE.match)
        begins = self._text[self.at : self.at + 1]
        if begins == "{":
            return self._object(depth)
        if begins == "[":
            return self._array(depth)
        if begins in _QUOTES and begins:
            return self._string(ends)
        return self._scalar()

    def _object(self, depth: int) -> dict[str, object]:
        self.at += 1
        found: dict[str, object] = {}
        while not self._closed("}"):
            key = self._key()
            self._skip(_SPACE.match)
            if self._ended():
                break
            if self._text[self.at] != ":":
                raise ValueError("a key without a value")
            self.at += 1
            value = self.value(depth=depth + 1)
            if value is not _MISSING:
                found[key] = value
        return found

    def _array(self, depth: int) -> list[object]:
        self.at += 1
        found: list[object] = []
        while not self._closed("]"):
            if self._text[self.at] in "}:":
                raise ValueError("a list that is not closed")
            value = self.value(depth=depth + 1, ends=_ENDS_ITEM.match)
            if value is not _MISSING:
                found.append(value)
        return found

    def _closed(self, close: str) -> bool:
        self._skip(_SPACE_AND_COMMAS.match)
        if self._ended():
            return True
        if self._text[self.at] == close:
            self.at += 1
            return True
        return False

    def _ended(self) -> bool:
        ended = self.at >= len(self._text)
        self.complete = self.complete and not ended
        return ended

    def _skip(self, space: _Match) -> None:
        match = space(self._text, self.at)
        self.at = match.end() if match else self.at

    def _key(self) -> str:
        if self._text[self.at] in _QUOTES:
            start = self.at
            key = self._string(_ENDS_KEY.match, longest=_MAX_KEY)
            if self.at - start > 2 * _MAX_KEY:
                raise ValueError("too long for a key")
            return key
        match = _BARE_KEY.match(self._text, self.at)
        if match is None:
            raise ValueError("no key")
        self.at = match.end()
        return match[0]

    def _string(self, ends: _Match, *, longest: int = _MAX_REPLY) -> str:
        close = _QUOTES[self._text[self.at]]
        stop, start = _STOPS[close], self.at + 1
        limit = min(len(self._text), start + longest)
        parts: list[str] = []
        at = start
        while True:
            match = stop.search(self._text, at, limit)
            if match is None:
                parts.append(self._text[at:limit])
                self.at, self.complete = limit, False
                break
            parts.append(self._text[at : match.start()])
            at = match.end()
            if match[0] != "\\":
                if ends(self._text, at):
                    self.at = at
                    break
                parts.append(match[0])
            elif escape := _ESCAPE.match(self._text, at):
                parts.append(chr(int(escape[1], 16)) if escape[1] else _ESCAPED.get(escape[2], escape[2]))
                at = escape.end()
        return _joined_surrogates("".join(parts))

    def _scalar(self) -> object:
        match = _SCALAR.match(self._text, self.at)
        if match is None:
            if self._ended():
                return _MISSING
            raise ValueError("no value")
        self.at = match.end()
        self._ended()
        word = match[0].strip()
        if word.lower() in _LITERALS:
            return _LITERALS[word.lower()]
        return from_json(word) if _NUMBER.fullmatch(word) else word


def _joined_surrogates(text: str) -> str:
    return text if text.isprintable() else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _bounded(value: object) -> object:
    """Return a value whose texts have no control characters and are at most 30,000 characters long."""
    if isinstance(value, str):
        text = repair_control_characters(value[: _MAX_TEXT + 1])
        return text if len(value) <= _MAX_TEXT else text[: _MAX_TEXT - 1] + "…"
    if isinstance(value, list):
        return [_bounded(one) for one in value[:_MAX_ITEMS]]
    if isinstance(value, dict):
        return {str(_bounded(key)): _bounded(one) for key, one in value.items()}
    return value


def _fitted(value: object, node: Mapping[str, object], root: Mapping[str, object]) -> object:
    """Return a value in the form of a schema, as far as it is certain what is meant."""
    reference = node.get("$ref")
    if isinstance(reference, str):
        definitions = root.get("$defs")
        found = definitions.get(reference.removeprefix("#/$defs/")) if isinstance(definitions, dict) else None
        return _fitted(value, found, root) if isinstance(found, dict) else value
    kind, choices = node.get("type"), node.get("enum")
    if isinstance(choices, list) and isinstance(value, str):
        return next((one for one in choices if str(one).casefold() == value.strip().casefold()), value)
    if kind == "string":
        return _as_text(value)
    if kind == "array":
        return _as_list(value, node, root)
    if kind == "object":
        return _as_object(value, node, root)
    return value


def _as_text(value: object) -> object:
    if value is None:
        return ""
    if isinstance(value, list) and all(isinstance(one, str) for one in value):
        return "\n".join(value)
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else value


def _as_list(value: object, node: Mapping[str, object], root: Mapping[str, object]) -> object:
    if isinstance(value, str) and value.lstrip().startswith("["):
        value = _loose_array(value)[0]
    if value is None or value == "":
        return []
    items = node.get("items")
    if not isinstance(items, dict):
        return value
    if not isinstance(value, list):
        if isinstance(value, str) != (items.get("type") == "string"):
            return value
        value = [value]
    return [_fitted(one, items, root) for one in value]


def _as_object(value: object, node: Mapping[str, object], root: Mapping[str, object]) -> object:
    properties = node.get("properties")
    if not isinstance(properties, dict):
        return value
    if isinstance(value, dict):
        names = {name.casefold(): name for name in properties}
        value = {names.get(key.strip().casefold(), key): one for key, one in value.items()}
        if not value.keys() & properties.keys():
            # A model may name the object, or call a function with it.
            inner = (one for one in value.values() if isinstance(one, dict) and one.keys() & properties.keys())
            value = next(inner, value)
    if not (isinstance(value, dict) and value.keys() & properties.keys()):
        # A list, or one item, in place of an object that only holds the list.
        [name, *others] = properties
        if others or properties[name].get("type") != "array" or not (value or value == []):
            return value
        value = {name: value}
    return {key: _fitted(one, properties[key], root) if key in properties else one for key, one in value.items()}
