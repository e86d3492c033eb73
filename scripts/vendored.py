"""Fetches the libraries of the web page, and checks them: see scripts/vendor."""

import json
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from hashlib import sha256
from pathlib import Path
from typing import Any

import brotli

FOLDER = Path(__file__).resolve().parent.parent / "service" / "web" / "vendor"
"""The folder of the libraries."""
MANIFEST = "manifest.json"
# Modules of this many bytes are stored compressed, too, because compressing them well takes seconds.
_LARGE = 50_000


@dataclass(frozen=True, kw_only=True)
class Package:
    """An npm package, and what is taken from it.

    Attributes:
        licence: As SPDX names it; the files include its text.
        files: Patterns of paths in the package, and the folder of the library that each is written to.
    """

    name: str
    version: str
    licence: str
    files: Mapping[str, str]

    @property
    def folder(self) -> str:
        """The name of its folder, which changes with its version, so that browsers may keep the files forever."""
        return f"{self.name}-{self.version}"


PACKAGES = (
    Package(
        name="preact",
        version="11.2.0",
        licence="MIT",
        files={"dist/preact.mjs": "", "hooks/dist/hooks.mjs": "", "LICENSE": ""},
    ),
    Package(name="htm", version="3.1.1", licence="Apache-2.0", files={"dist/htm.mjs": "", "LICENSE": ""}),
    Package(
        name="pdfjs-dist",
        version="6.5.438",
        licence="Apache-2.0",
        # Images in JPEG 2000 and JBIG2 are decoded without WebAssembly, which the page's policy forbids.
        files={
            "build/pdf.min.mjs": "",
            "build/pdf.worker.min.mjs": "",
            "LICENSE": "",
            "cmaps/*": "cmaps",
            # pdf.js takes other fonts that a PDF lacks from the system (`useSystemFonts`).
            "standard_fonts/Foxit*": "standard_fonts",
            "standard_fonts/LICENSE_FOXIT": "standard_fonts",
            "wasm/*_nowasm_fallback.js": "wasm",
            "wasm/LICENSE_*JBIG2": "wasm",
            "wasm/LICENSE_*OPENJPEG": "wasm",
        },
    ),
    Package(
        name="katex",
        version="0.19.1",
        licence="MIT",
        files={"dist/katex.mjs": "", "dist/katex.min.css": "", "dist/fonts/*.woff2": "fonts", "LICENSE": ""},
    ),
    Package(name="sigma", version="3.0.3", licence="MIT", files={"dist/sigma.min.js": "", "LICENSE.txt": ""}),
    Package(
        name="graphology",
        version="0.26.0",
        licence="MIT",
        files={"dist/graphology.umd.min.js": "", "LICENSE.txt": ""},
    ),
)


def main(arguments: list[str]) -> int:
    """Return fetches and writes everything, or only checks it; returns the exit status."""
    if arguments not in ([], ["--check"]):
        sys.stderr.write("scripts/vendor takes --check, or nothing\n")
        return 2
    known = {}
    if (FOLDER / MANIFEST).is_file():
        known = {f"{one['name']}-{one['version']}": one["archive"] for one in read_manifest()["packages"]}
    if not arguments:
        _refresh(known)
    faults = list(find_faults())
    sys.stderr.writelines(f"{fault}\n" for fault in faults)
    return 1 if faults else 0


def read_manifest() -> dict[str, Any]:
    """Return the manifest, as JSON."""
    return dict(json.loads((FOLDER / MANIFEST).read_text(encoding="utf-8")))


def find_faults() -> Iterator[str]:
    """Yield what is missing, changed or left over, compared with the manifest."""
    listed = {
        f"{package['name']}-{package['version']}/{path}": digest
        for package in read_manifest()["packages"]
        for path, digest in package["files"].items()
    }
    present = {
        path.relative_to(FOLDER).as_posix(): path
        for path in FOLDER.rglob("*")
        if path.is_file() and path.name != MANIFEST
    }
    for name in sorted(listed.keys() | present.keys()):
        if name not in present:
            yield f"{name} is missing"
        elif name not in listed:
            yield f"{name} is not in the manifest"
        elif sha256(present[name].read_bytes()).hexdigest() != listed[name]:
            yield f"{name} is not the file of the manifest"


def _refresh(known: Mapping[str, str]) -> None:
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    manifest = {"packages": [_fetch(package, known) for package in PACKAGES]}
    (FOLDER / MANIFEST).write_text(json.dumps(manifest, indent=2) + "\n", encoding="utf-8")


def _fetch(package: Package, known: Mapping[str, str]) -> dict[str, object]:
    """Write a package's files; return its entry in the manifest."""
    with tempfile.TemporaryDirectory() as folder:
        command = ("npm", "pack", "--silent", "--ignore-scripts", f"{package.name}@{package.version}")
        subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)  # noqa: S603 # its own constants
        (archive,) = Path(folder).glob("*.tgz")
        digest = sha256(archive.read_bytes()).hexdigest()
        if known.get(package.folder, digest) != digest:
            sys.exit(f"{package.folder}: the registry's archive is not the one of the manifest")
        with tarfile.open(archive) as opened:
            files = dict(_extract(package, opened))
    return {
        "name": package.name,
        "version": package.version,
        "licence": package.licence,
        "archive": digest,
        "files": dict(sorted(files.items())),
    }


def _extract(package: Package, archive: tarfile.TarFile) -> Iterator[tuple[str, str]]:
    for member in archive.getmembers():
        path = member.name.partition("/")[2]
        folders = [folder for pattern, folder in package.files.items() if fnmatchcase(path, pattern)]
        opened = archive.extractfile(member) if folders else None
        if opened is None:
            continue
        name = (Path(folders[0]) / Path(path).name).as_posix()
        content = opened.read()
        file = FOLDER / package.folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
        yield name, sha256(content).hexdigest()
        if file.suffix in {".js", ".mjs"} and len(content) >= _LARGE:
            small = brotli.compress(content)
            file.with_name(f"{file.name}.br").write_bytes(small)
            yield f"{name}.br", sha256(small).hexdigest()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
