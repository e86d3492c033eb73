"""The bibliography of a LaTeX paper (.bbl, .bib or in the text), and citations of it as they are printed."""

import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ingest.document.authors import Authors
from ingest.readers.latex_files import LatexFiles
from ingest.readers.latex_macros import read_group, read_option

__all__ = ["Citation", "cite", "find_citations", "formatted_entries", "with_bibliography"]

_BIBLIOGRAPHY = re.compile(
    r"^[^%\n]*?(\\(?:bibliography\s*\{([^{}]*)\}|printbibliography(?:\s*\[[^\]]*\])?))", re.MULTILINE
)
_RESOURCES = re.compile(r"\\(?:bibliography|addbibresource)\s*(?:\[[^\]]*\])?\{([^{}]*)\}")
_ITEM = re.compile(r"\\bibitem\b\s*")
_NATBIB_LABEL = re.compile(r"([^()]++)\(([^()]*+)\)")
_NUMERIC = re.compile(
    r"\[[^\[\]]{0,200}\b(?:numbers|super|style\s{0,3}=\s{0,3}(?:numeric|ieee|nature|phys))\b[^\[\]]{0,200}\]\s{0,3}"
    r"\{(?:natbib|biblatex)|\\setcitestyle\{[^{}]{0,200}numbers"
)
_AUTHOR_YEAR = re.compile(
    r"\{natbib\}|style\s{0,3}=\s{0,3}(?:authoryear|apa)|\\bibliographystyle\{(?:acl|apa|plainnat|icml|iclr)"
)
_CITED = re.compile(r"\\[A-Za-z]*[cC]ite[A-Za-z]*\*?\s*(?:\[[^\]]*\]\s*){0,2}\{([^{}]*)\}")


@dataclass(frozen=True, kw_only=True, slots=True)
class Citation:
    """How an entry is cited: by names and year, or by a mark such as `3` or `LCS20`."""

    mark: str = ""
    names: str = ""
    year: str = ""


def with_bibliography(text: str, files: LatexFiles) -> str:
    """Return the main file with the entries of its .bbl file, if there is one, in place of the command for them."""
    names = [files.main, *(f"{folder}output" for folder in ("", f"{posixpath.dirname(files.main)}/"))]
    entries = next((found for name in names if (found := files.read(f"{posixpath.basename(name)}.bbl"))), "")
    if "\\bibitem" not in entries:
        return text
    return _BIBLIOGRAPHY.sub(lambda match: match[0].replace(match[1], entries), text, count=1)


def formatted_entries(text: str, files: LatexFiles) -> str:
    r"""Return the entries of its .bib files that a paper cites as `\bibitem`s, in the order of the citations."""
    paths = [path.strip() for match in _RESOURCES.finditer(text) for path in match[1].split(",")]
    read = (files.read(path if path.endswith(".bib") else f"{path}.bib") for path in dict.fromkeys(paths))
    entries = {key: fields for content in filter(None, read) for key, fields in _bibtex(content)}
    cited = dict.fromkeys(key.strip() for match in _CITED.finditer(text) for key in match[1].split(","))
    by_year = bool(_AUTHOR_YEAR.search(files.text)) and not _NUMERIC.search(files.text)
    return "".join(_formatted(key, entries[key], by_year=by_year) for key in cited if key in entries)


def _bibtex(text: str) -> Iterator[tuple[str, dict[str, str]]]:
    # Takes a tenth of a second to import.
    from bibtexparser.entrypoint import parse_string

    for entry in parse_string(text).entries:
        yield entry.key, {field.key.lower(): " ".join(str(field.value).split()) for field in entry.fields}


def _formatted(key: str, fields: Mapping[str, str], *, by_year: bool) -> str:
    people = [
        person.strip() for person in re.split(r"(?<!\s)\s+and\s+", fields.get("author") or fields.get("editor", ""))
    ]
    people = [person for person in people if person]
    names = [" ".join(reversed([part.strip() for part in person.split(",", 1)])) for person in people]
    surnames = [person.split(",")[0] if "," in person else person.split()[-1] for person in people]
    year = fields.get("year") or fields.get("date", "")[:4]
    venue = next((fields[name] for name in ("journal", "journaltitle", "booktitle", "publisher") if name in fields), "")
    numbers = f" {fields['volume']}" if "volume" in fields else ""
    numbers += f":{fields['pages']}" if "pages" in fields else ""
    found = [fields[name] for name in ("doi", "eprint") if name in fields][:1]
    printed = [", ".join(names), year, fields.get("title", ""), venue + numbers, *found]
    label = f"[{{{Authors(names=tuple(surnames)).short}({year})}}]" if by_year and surnames and year else ""
    return f"\\bibitem{label}{{{key}}} " + " ".join(f"{part.rstrip('.')}." for part in printed if part) + "\n\n"


def find_citations(text: str, *, main: str) -> Mapping[str, Citation]:
    """Return how the entries of a source are cited, by their keys; `main` is the main file, with its packages."""
    found: dict[str, Citation] = {}
    numeric = bool(_NUMERIC.search(main))
    for match in _ITEM.finditer(text):
        label, at = read_option(text, match.end())
        key, _ = read_group(text, at)
        named = _NATBIB_LABEL.match((label or "").replace("~", " "))
        if named and named[2] and not numeric:
            found[key] = Citation(names=re.sub(r"[{}]", "", named[1]).strip(), year=named[2].strip(" {}"))
        else:
            mark = "" if named or not label or "\\" in label else label.strip("{} ")
            found[key] = Citation(mark=mark or str(len(found) + 1))
    return found


def cite(command: str, keys: Sequence[str], citations: Mapping[str, Citation], *, notes: Sequence[str]) -> str:
    """Return a citation as it is printed: `[3, 5]`, `(Li et al., 2020)`, `Li et al. (2020)`.

    `notes` are the texts before and after it, "" for none.
    """
    before, after = notes
    command = command.lower()
    cited = [citations.get(key.strip()) or Citation(mark=key.strip()) for key in keys]
    if not all(one.names for one in cited):
        marks = ", ".join(one.mark or f"{one.names}, {one.year}" for one in cited)
        return f"{before} [{marks}{f', {after}' if after else ''}]".strip()
    if command in ("citeauthor", "citeyear"):
        return ", ".join(one.names if command == "citeauthor" else one.year for one in cited)
    if command in ("citet", "textcite", "citeasnoun", "shortcite"):
        return ", ".join(f"{one.names} ({one.year}{f', {after}' if after else ''})" for one in cited)
    texts = "; ".join(f"{one.names}, {one.year}" for one in cited)
    texts = f"{before} {texts}".strip() + (f", {after}" if after else "")
    return texts if command in ("citealp", "citealt") else f"({texts})"
