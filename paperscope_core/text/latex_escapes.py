r"""LaTeX in JSON that a model writes: `\frac` is text, not a form feed and "rac".

JSON has the escapes `\b`, `\f`, `\n`, `\r`, `\t` and `\uXXXX`, and models forget to double the backslash of a LaTeX
command. The rules, from what is certain to what is likely:

- A backslash before anything but `"`, `\`, `/`, an escape letter or four digits of `\u` is text.
- `\b`, `\f` and `\r` before a letter begin a command (`\beta`, `\frac`, `\rho`): nobody writes a backspace, a form feed
  or a lone carriage return before a word.
- `\n` and `\t` begin a command if the letters that follow make one that is known, all of them (`\nu` in `\nu_t`, not in
  `\nuclear`). Where the rest of `\n` is a word of some language, too (`\nless`, `\ne`), it is a line break after a
  word or a full stop, and a command after a space, a sign or a command, and between dollar signs.
"""

import re

__all__ = ["escape_latex", "repair_control_characters"]

# The commands of KaTeX 0.19.1 that begin with n or t (`service/web/vendor/katex-0.19.1/katex.mjs`), without those of
# two letters that columns of a table may begin with (`tg`, `th`, `tt`); then some of LaTeX (latexref.xyz) and of the
# packages nicefrac, physics, siunitx and booktabs.
_COMMANDS = frozenset(
    """
    nLeftarrow nLeftrightarrow nRightarrow nVDash nVdash nabla natnums natural ncong ne nearrow neg negmedspace
    negthickspace negthinspace neq newcommand newline nexists ngeq ngeqq ngeqslant ngtr ni nleftarrow nleftrightarrow
    nleq nleqq nleqslant nless nmid nobreak nobreakspace noexpand nolimits nonumber normalsize not notag notin notni
    nparallel nprec npreceq nrightarrow nshortmid nshortparallel nsim nsubseteq nsubseteqq nsucc nsucceq nsupseteq
    nsupseteqq ntriangleleft ntrianglelefteq ntriangleright ntrianglerighteq nu nvDash nvdash nwarrow
    tag tan tanh tau tbinom text textasciicircum textasciitilde textbackslash textbar textbardbl textbf textbraceleft
    textbraceright textcircled textcolor textcopyright textdagger textdaggerdbl textdegree textdollar textellipsis
    textemdash textendash textgreater textit textless textmd textnormal textquotedblleft textquotedblright textquoteleft
    textquoteright textregistered textrm textsf textsterling textstyle texttt textunderscore textup tfrac
    therefore theta thetasym thickapprox thicksim thickspace thinspace tilde times tiny tmspace to top triangle
    triangledown triangleleft trianglelefteq triangleq triangleright trianglerighteq twoheadleftarrow twoheadrightarrow
    newpage nicefrac nocite noindent norm num
    tensor textsc textsl textsubscript textsuperscript textwidth thanks title toprule
    """.split()
)
# What is left of these without the n is a word that may begin a line: of English, or one like Italian "e", Croatian
# "u", Polish "i", German "um".
_ALSO_WORDS = frozenset({"ne", "neg", "nexists", "ni", "nless", "nmid", "nparallel", "nu", "num"})
_BEFORE_LINE_BREAKS = re.compile(r"[\w.,:;!?)\]*`'\u201d\u2019\u3002\uff1a]\Z")
_LOOKBACK = 200

_AFTER_COMMAND = re.compile(r"\\[A-Za-z]{1,30}\Z")
_BACKSLASHES = re.compile(r"(\\++)(u[0-9A-Fa-f]{4}|[A-Za-z]*+)")
_DIGITS = re.compile(r"u[0-9A-Fa-f]{4}")
_LOST_BACKSLASH = re.compile(r"([\x08\x0c])(?=[A-Za-z])")
# All control characters but tab and line feed, and surrogates, which can't be stored.
_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")


def escape_latex(json_text: str) -> str:
    r"""Return JSON text in which a backslash that begins no JSON escape, or a LaTeX command, is doubled.

    Args:
        json_text: The text of a JSON value as a model wrote it; it need not be valid.

    Example:
        >>> escape_latex(r'{"a": "$\frac{1}{2} \\times \nu$\nThe end"}')
        '{"a": "$\\\\frac{1}{2} \\\\times \\\\nu$\\nThe end"}'
    """
    return _BACKSLASHES.sub(_escaped, json_text)


def _escaped(match: re.Match[str]) -> str:
    backslashes, letters = match.groups()
    if len(backslashes) % 2 == 0:
        return match[0]
    following = match.string[match.end() : match.end() + 1]
    if not letters:
        if following == "'":
            return backslashes[:-1]
        escape = following in ('"', "/", "")
    elif letters[0] == "u":
        escape = _DIGITS.fullmatch(letters) is not None
    elif letters[0] in "bfr":
        escape = len(letters) == 1
    else:
        escape = letters[0] in "nt" and not _is_command(letters, match)
    return match[0] if escape else "\\" + match[0]


def _is_command(letters: str, match: re.Match[str]) -> bool:
    if letters not in _COMMANDS:
        return False
    if letters not in _ALSO_WORDS:
        return True
    before = match.string[max(0, match.start() - _LOOKBACK) : match.start()]
    if before[before.rfind('"') + 1 :].count("$") % 2 == 1:
        return True
    return _AFTER_COMMAND.search(before) is not None or _BEFORE_LINE_BREAKS.search(before) is None


def repair_control_characters(text: str) -> str:
    r"""Return a text without control characters, except tabs and line feeds, and without surrogates.

    What is left of a LaTeX command gets its backslash back (a form feed and "rac" become `\frac`); line ends become
    line feeds; anything else becomes a space.
    """
    if text.isprintable():
        return text
    text = _LOST_BACKSLASH.sub(lambda lost: "\\b" if lost[1] == "\b" else "\\f", text.replace("\r\n", "\n"))
    return _CONTROLS.sub(" ", text.replace("\r", "\n"))
