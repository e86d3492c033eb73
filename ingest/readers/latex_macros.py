r"""Joins the files of a LaTeX paper to one source without comments, with the author's own macros replaced.

Macros of `\newcommand`, `\def`, `\let`, `\newenvironment` and `\DeclareMathOperator` are replaced, and
`\iffalse` and the flags of `\newif` are followed. What TeX defines by other means stays as it is.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from paperscope_core.errors import PaperFileError

__all__ = ["ExpandedSource", "expand_latex", "read_group", "read_option"]

_VERBATIM = r"verbatim\*?|Verbatim|lstlisting|minted|filecontents\*?|comment"
_SYMBOL = re.compile(
    rf"(?P<verbatim>\\begin\s*\{{(?P<name>{_VERBATIM})\}}.*?(?:\\end\s*\{{(?P=name)\}}|\Z)"
    r"|\\(?:verb\*?|lstinline)(?P<mark>[^\w\s{\[*])[^\n]*?(?P=mark))"
    r"|(?P<comment>%[^\n]*(?:\n[ \t]*+(?!\n))?)|\\(?P<command>[A-Za-z@]+)|\\.",
    re.DOTALL,
)
_CONDITION = re.compile(r"\\(if(?!f\b|thenelse)[A-Za-z@]*|else|fi)(?![A-Za-z@])")
_SPACES = re.compile(r"[ \t]*+(?:\n[ \t]*+(?!\n))?")
_BARE_PATH = re.compile(r"[ \t]+([^\s{}\\%]+)")
_PARAMETER = re.compile(r"#([1-9])")
_COMMAND = re.compile(r"\\([A-Za-z]+)(\*?)\s*")
_NAME = re.compile(r"\*?\s*(?:\{\s*\\([A-Za-z@]+)\s*\}|\\([A-Za-z@]+))")
_LET = re.compile(r"\s*+\\([A-Za-z@]++)\s*+(?:=\s*+)?\\([A-Za-z]+)")
_PARAMETERS = re.compile(r"((?:#[1-9])*)\s*(?=\{)")
_DOCUMENT = re.compile(r"\\begin\s*\{document\}(.*?)(?:\\end\s*\{document\}|\Z)", re.DOTALL)
# Definitions by TeX's internals are not understood.
_INTERNAL = re.compile(r"\\[A-Za-z]*@|\\(?:expandafter|csname|ifx|futurelet)\b")
_MAX_DEPTH = 30
_MAX_FILES = 500
# Macros that double their argument can make any size of a few lines.
_MAX_SIZE = 20_000_000
_MAX_STEPS = 2_000_000
# More than the texts that are read at once, of a source and of the macros in it.
_REMEMBERED = 256


@dataclass(frozen=True, kw_only=True, slots=True)
class _Macro:
    """A macro: its number of arguments, the default of the first if that is optional, and its body."""

    arguments: int
    body: str
    default: str | None = None


@dataclass(kw_only=True, slots=True)
class ExpandedSource:
    """A source; `theorems` are its environments with their titles, counters and what these are within."""

    text: str = ""
    theorems: dict[str, tuple[str, str, str]] = field(default_factory=dict)
    missing: dict[str, None] = field(default_factory=dict)
    starts: list[int] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)

    def line(self, position: int) -> int:
        """Return the line of a position, in the file that it comes from."""
        at = bisect_right(self.starts, position) - 1
        return self.lines[at] + self.text.count("\n", self.starts[at], position) if at >= 0 else 1


def expand_latex(text: str, *, read: Callable[[str], str | None], known: Collection[str], name: str) -> ExpandedSource:
    """Return the source of a paper.

    Args:
        text: The main file.
        read: Returns the text of another file of the paper, None if there is none.
        known: Commands and environments that keep their meaning if the paper redefines them.
        name: The paper's file, for messages.

    Raises:
        PaperFileError: The source becomes too large.
    """
    expander = _Expander(read=read, known=known, name=name)
    expander.expand(text, line=1)
    expander.found.text = "".join(expander.parts)
    for remembered in (_closings, _conditions):
        remembered.cache_clear()
    return expander.found


def read_group(text: str, at: int) -> tuple[str, int]:
    """Return the argument at a position, without its braces, and where it ends; a command or a letter without braces.

    Escaped braces don't count. Without a closing brace, the argument is empty.
    """
    at = _skip_spaces(text, at)
    if text[at : at + 1] != "{":
        match = re.compile(r"\\(?:[A-Za-z@]+|.)|[^\s}]", re.DOTALL).match(text, at)
        return (match[0], match.end()) if match else ("", at)
    end = _closings(text).get(at)
    return (text[at + 1 : end], end + 1) if end else ("", at + 1)


def read_option(text: str, at: int) -> tuple[str | None, int]:
    """Return the argument in brackets at a position, None if there is none, and where it ends."""
    start = _skip_spaces(text, at)
    end = _closings(text).get(start) if text[start : start + 1] == "[" else None
    return (text[start + 1 : end], end + 1) if end else (None, at)


_MARKS = re.compile(r"\\.|[{}\[\]]", re.DOTALL)


@lru_cache(maxsize=_REMEMBERED)
def _closings(text: str) -> Mapping[int, int]:
    """Return the position of the mark that closes each opening one; brackets are closed in the group that opens them.

    All are found at once: looking for each would take the square of the length of a source that closes none.
    """
    found: dict[int, int] = {}
    braces: list[tuple[int, list[int]]] = []
    brackets: list[int] = []
    for match in _MARKS.finditer(text):
        at = match.start()
        match match[0]:
            case "{":
                braces.append((at, brackets))
                brackets = []
            case "}" if braces:
                opened, brackets = braces.pop()
                found[opened] = at
            case "[":
                brackets.append(at)
            case "]" if brackets:
                found[brackets.pop()] = at
    return found


def _skip_spaces(text: str, at: int) -> int:
    match = _SPACES.match(text, at)
    return match.end() if match else at


class _Expander:
    def __init__(self, *, read: Callable[[str], str | None], known: Collection[str], name: str) -> None:
        self.found = ExpandedSource()
        self.parts: list[str] = []
        self._read = read
        self._known = known
        self._name = name
        self._macros: dict[str, _Macro] = {}
        self._flags = {"iffalse": False, "iftrue": True}
        self._size = 0
        self._steps = 0
        self._files = 0
        # Of a style file, only the definitions count.
        self._silent = False
        self._handlers: dict[str, Callable[[str, int], int]] = {
            **dict.fromkeys(("newcommand", "renewcommand", "DeclareRobustCommand", "providecommand"), self._newcommand),
            **dict.fromkeys(("def", "gdef", "edef", "xdef"), self._def),
            **dict.fromkeys(("newenvironment", "renewenvironment"), self._environment),
            "DeclareMathOperator": self._operator,
            "let": self._let,
            "newif": self._newif,
            "newtheorem": self._theorem,
        }

    def expand(self, text: str, *, line: int, depth: int = 0, step: int = 1) -> None:
        """Add the expansion of a text that begins in this line; with step 0, all of it is in this line."""
        at = 0
        while match := _SYMBOL.search(text, at):
            self._steps += 1
            self._add(text[at : match.start()], line)
            line += step * text.count("\n", at, match.start())
            at = match.end()
            if match["command"]:
                at = self._command(match, line=line, depth=depth)
            elif not match["comment"] and match["name"] != "comment":
                self._add(match[0], line)
            line += step * text.count("\n", match.start(), at)
        self._add(text[at:], line)

    def _add(self, text: str, line: int) -> None:
        if not text or self._silent:
            return
        self.found.starts.append(self._size)
        self.found.lines.append(line)
        self.parts.append(text)
        self._size += len(text)
        if self._size > _MAX_SIZE or self._steps > _MAX_STEPS:
            raise PaperFileError(f"{self._name!r} is LaTeX whose macros expand to too much text. Compile it to PDF.")

    def _command(self, match: re.Match[str], *, line: int, depth: int) -> int:
        """Handle a command, and return where its arguments end."""
        text, at, command = match.string, match.end(), match["command"]
        if command in self._handlers:
            return self._handlers[command](text, match.start())
        if command in self._flags:
            return self._condition(self._flags[command], text, at, line=line, depth=depth)
        if command in ("input", "include", "subfile", "usepackage"):
            return self._include(command, text, at, depth=depth)
        key = command
        if command in ("begin", "end"):
            name, end = read_group(text, at)
            key = f"{command} {name}"
            at = end if key in self._macros else at
        if macro := self._macros.get(key):
            return self._call(key, macro, text, at, line=line, depth=depth)
        flag = f"if{command.removesuffix('true').removesuffix('false')}"
        if flag in self._flags:
            self._flags[flag] = command.endswith("true")
        else:
            self._add(match[0], line)
        return at

    def _condition(self, holds: bool, text: str, at: int, *, line: int, depth: int) -> int:
        # A condition without an end has no branches.
        then, other, last, end = _conditions(text).get(at, (at, at, at, at))
        start, stop = (at, then) if holds else (other, last)
        if depth < _MAX_DEPTH:
            self.expand(text[start:stop], line=line + text.count("\n", at, start), depth=depth + 1)
        return end

    def _call(self, name: str, macro: _Macro, text: str, at: int, *, line: int, depth: int) -> int:
        if depth >= _MAX_DEPTH:
            # It contains itself.
            del self._macros[name]
            return at
        if macro.arguments and text[at : at + 2] in ("*{", "*["):
            at += 1
        values: list[str] = []
        if macro.default is not None:
            option, at = read_option(text, at)
            values.append(macro.default if option is None else option)
        while len(values) < macro.arguments:
            value, at = read_group(text, at)
            values.append(value)
        body = _PARAMETER.sub(lambda match: (values[int(match[1]) - 1 :] or [""])[0], macro.body)
        if body.rstrip().endswith("\\xspace"):
            body = body.rstrip().removesuffix("\\xspace")
        elif not macro.arguments and " " not in name:
            at = _skip_spaces(text, at)
        if re.search(r"\\[A-Za-z]+$", body) and text[at : at + 1].isalpha():
            body += " "
        self.expand(body, line=line, depth=depth + 1, step=0)
        return at

    def _include(self, command: str, text: str, at: int, *, depth: int) -> int:
        _, at = read_option(text, at) if command == "usepackage" else (None, at)
        if command == "input" and (bare := _BARE_PATH.match(text, at)):
            path, at = bare[1], bare.end()
        else:
            path, at = read_group(text, at)
        self._files += 1
        if depth >= _MAX_DEPTH or self._files > _MAX_FILES:
            return at
        if command == "usepackage":
            silent, self._silent = self._silent, True
            for package in path.split(","):
                if content := self._read(f"{package.strip()}.sty"):
                    self.expand(content, line=1, depth=depth + 1)
            self._silent = silent
        elif (content := self._read(path.strip())) is not None:
            document = _DOCUMENT.search(content)
            before = content.count("\n", 0, document.start(1)) if document else 0
            self.expand(document[1] if document else content, line=before + 1, depth=depth + 1)
        else:
            self.found.missing[path] = None
        return at

    def _define(self, name: str, macro: _Macro) -> None:
        if name.removeprefix("begin ").removeprefix("end ") not in self._known and not _INTERNAL.search(macro.body):
            self._macros[name] = macro

    def _newcommand(self, text: str, start: int) -> int:
        name, at = _defined(text, start)
        if not name:
            return at
        count, at = read_option(text, at)
        default, at = read_option(text, at)
        body, at = read_group(text, at)
        if not text.startswith("\\provide", start) or name not in self._macros:
            self._define(name, _Macro(arguments=_number(count), default=default, body=body))
        return at

    def _def(self, text: str, start: int) -> int:
        name, at = _defined(text, start)
        opening = text.find("{", at) if name else -1
        if opening < 0:
            return at
        parameters = _PARAMETERS.match(text, at)
        body, at = read_group(text, opening)
        if parameters:
            self._define(name, _Macro(arguments=parameters[1].count("#"), body=body))
        return at

    def _let(self, text: str, start: int) -> int:
        match = _LET.match(text, start + len("\\let"))
        if match is None:
            return start + len("\\let")
        self._define(match[1], self._macros.get(match[2]) or _Macro(arguments=0, body=f"\\{match[2]}"))
        return match.end()

    def _environment(self, text: str, start: int) -> int:
        name, at = read_group(text, _after_command(text, start))
        count, at = read_option(text, at)
        default, at = read_option(text, at)
        begin, at = read_group(text, at)
        end, at = read_group(text, at)
        self._define(f"begin {name}", _Macro(arguments=_number(count), default=default, body=begin))
        self._define(f"end {name}", _Macro(arguments=0, body=end))
        return at

    def _operator(self, text: str, start: int) -> int:
        name, at = _defined(text, start)
        if name:
            body, at = read_group(text, at)
            self._define(name, _Macro(arguments=0, body=f"\\operatorname{{{body}}}"))
        return at

    def _newif(self, text: str, start: int) -> int:
        name, at = _defined(text, start)
        if name:
            self._flags[name] = False
        return at

    def _theorem(self, text: str, start: int) -> int:
        name, at = read_group(text, _after_command(text, start))
        shared, at = read_option(text, at)
        title, at = read_group(text, at)
        within, at = read_option(text, at)
        counter = "" if text.startswith("\\newtheorem*", start) else shared or name
        within = self.found.theorems[shared][2] if shared in self.found.theorems else within
        self.found.theorems[name] = (title, counter, within or "")
        return at


def _after_command(text: str, at: int) -> int:
    """Return the position behind the command at `at`, its star and the spaces."""
    match = _COMMAND.match(text, at)
    return match.end() if match else at + 1


def _defined(text: str, start: int) -> tuple[str, int]:
    """Return the name that the command at `start` defines, "" if there is none, and where it ends."""
    at = _after_command(text, start)
    name = _NAME.match(text, at)
    return (name[1] or name[2], name.end()) if name else ("", at)


def _number(count: str | None) -> int:
    return int(count) if count and count.strip() in set("123456789") else 0


@lru_cache(maxsize=_REMEMBERED)
def _conditions(text: str) -> Mapping[int, tuple[int, int, int, int]]:
    """Return where the branches of each condition begin and end, by where the first begins; an empty second branch
    ends where the first does."""
    found: dict[int, tuple[int, int, int, int]] = {}
    opened: list[tuple[int, re.Match[str] | None]] = []
    for match in _CONDITION.finditer(text):
        if match[1] == "fi" and opened:
            at, middle = opened.pop()
            then, other = (middle.start(), middle.end()) if middle else (match.start(), match.start())
            found[at] = then, other, match.start(), match.end()
        elif match[1] == "else" and opened:
            opened[-1] = opened[-1][0], opened[-1][1] or match
        elif match[1] not in ("fi", "else"):
            opened.append((match.end(), None))
    return found
