"""Checks the built documentation site: python scripts/check_site.py FOLDER

Prints each broken link or anchor, each resource that a page or a stylesheet loads from another host, and each page of
docs/ and lab/docs/ that the navigation lacks; exits with 1 if there is any. Zensical's strict mode checks neither
anchors nor links in included text.
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote, urlsplit

import yaml  # type: ignore[import-untyped]
from lxml import html

ROOT = Path(__file__).resolve().parent.parent
# Elements whose address a browser loads by itself; it follows `a` only when asked to.
LOADED = "//*[not(self::a)][@src or @href]"
STYLE_ADDRESS = re.compile(r"""(?:url\(|@import)\s*["']?((?:https?:)?//[^"')\s]+)""")


def problems(site: Path) -> Iterator[str]:
    """Yield what is wrong with the site in this folder, one line each."""
    pages = {file.resolve(): html.parse(str(file)).getroot() for file in sorted(site.rglob("*.html"))}
    anchors = {file: set(page.xpath("//@id")) for file, page in pages.items()}
    for file, page in pages.items():
        name = file.relative_to(site.resolve())
        for element in page.xpath(LOADED):
            address = element.get("src") or element.get("href")
            if is_foreign(address) and element.get("rel") != "canonical":
                yield f"{name} loads {address}"
        for address in page.xpath("//a/@href"):
            if not is_foreign(address) and not leads_somewhere(address, file, site.resolve(), anchors):
                yield f"{name} has a broken link to {address}"
    for file in [*site.rglob("*.html"), *site.rglob("*.css")]:
        for address in STYLE_ADDRESS.findall(file.read_text(encoding="utf-8")):
            yield f"{file.relative_to(site)} loads {address}"
    yield from missing_pages()


def is_foreign(address: str) -> bool:
    """Return whether an address leads to another host."""
    return bool(urlsplit(address).netloc)


def leads_somewhere(address: str, file: Path, site: Path, anchors: dict[Path, set[str]]) -> bool:
    """Return whether a link of a page leads to a file of the site, and its fragment to an element."""
    parts = urlsplit(address)
    folder = site if parts.path.startswith("/") else file.parent
    target = (folder / unquote(parts.path).lstrip("/")).resolve() if parts.path else file
    if target not in anchors:
        return target.is_file()
    return not parts.fragment or unquote(parts.fragment) in anchors[target]


def missing_pages() -> Iterator[str]:
    """Yield the pages of docs/ that the navigation of mkdocs.yml lacks."""
    navigation = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))["nav"]
    listed = set(re.findall(r"[\w./-]+\.md", str(navigation)))
    for folder, prefix in (("docs", ""), ("lab/docs", "lab/")):
        for file in sorted((ROOT / folder).rglob("*.md")):
            name = file.relative_to(ROOT / folder).as_posix()
            if prefix + name not in listed:
                yield f"{folder}/{name} is not in the navigation of mkdocs.yml"


if __name__ == "__main__":
    found = list(problems(Path(sys.argv[1])))
    sys.stderr.writelines(f"{problem}\n" for problem in found)
    sys.exit(bool(found))
