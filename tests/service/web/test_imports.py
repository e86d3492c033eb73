"""The modules of the page name each other rightly: nothing is built that would notice before a view is opened."""

import json
import re
from functools import cache
from pathlib import Path

import pytest

from service.http.web_files import FOLDER

_MODULES = sorted(path for path in FOLDER.rglob("*.js") if "vendor" not in path.relative_to(FOLDER).parts)
_MAP = json.loads(
    re.findall(r'<script type="importmap">(.*?)</script>', (FOLDER / "index.html").read_text(), re.DOTALL)[0]
)
_COMMENT = re.compile(r"/\*.*?\*/|^\s*//.*?$", re.DOTALL | re.MULTILINE)
_STATEMENT = re.compile(
    r"^(import|export)\s+(?:([\w$]+)\s*,?\s*)?(\*(?:\s+as\s+\w+)?|\{[^}]*\})?\s*from\s+'([^']+)'", re.MULTILINE
)
_SIDE_EFFECT = re.compile(r"^import\s+'([^']+)'", re.MULTILINE)
_DYNAMIC = re.compile(r"(?<![\w.])(?:import|new Worker|new Worker\(new URL)\('([^']+)'")
# Names that a dynamic import takes: `import(…).then((module) => module.Name)` or `.then(({ name }) => …)`.
_TAKEN = re.compile(r"import\('([^']+)'\)\s*\.then\((?:\((\w+)\) =>[^\n]*|\(\{([^}]*)\}\) =>)")
_DECLARED = re.compile(r"^export\s+(?:async\s+)?(?:function\*?|class|const|let)\s+([\w$]+)", re.MULTILINE)


def target(module: Path, name: str) -> Path:
    """The file that an import of a module names."""
    name = _MAP["imports"].get(name, name)
    return FOLDER / name.removeprefix("./web/") if name.startswith("./web/") else (module.parent / name).resolve()


def listed(names: str) -> list[tuple[str, str]]:
    """`{ a, b as c }` as pairs of the name there and the name here."""
    parts = [one.split() for one in names.strip("{} \n").split(",") if one.strip()]
    return [(one[0], one[-1]) for one in parts]


@cache
def exported(module: Path) -> frozenset[str]:
    """The names that a module exports."""
    code = _COMMENT.sub("", module.read_text(encoding="utf-8"))
    names = set(_DECLARED.findall(code))
    for kind, _default, what, source in _STATEMENT.findall(code):
        if kind == "export":
            names |= exported(target(module, source)) if what == "*" else {here for _there, here in listed(what)}
    return frozenset(names)


def faults_of(module: Path) -> list[str]:
    """What a module imports that is not there."""
    text = module.read_text(encoding="utf-8")
    code = _COMMENT.sub("", text)
    wanted: list[tuple[str, str]] = []
    for _kind, default, what, source in _STATEMENT.findall(code):
        wanted += [(source, there) for there, _here in listed(what)] if what.startswith("{") else [(source, "")]
        if default:
            wanted.append((source, "default"))
    wanted += [(source, "") for source in _SIDE_EFFECT.findall(code) + _DYNAMIC.findall(text)]
    for match in _TAKEN.finditer(code):
        source, variable, names = match.groups()
        taken = re.findall(rf"\b{variable}\.(\w+)", match[0]) if variable else [there for there, _ in listed(names)]
        wanted += [(source, name) for name in taken]
    faults = []
    for source, name in wanted:
        file = target(module, source)
        if not file.is_file():
            faults.append(f"no file {source}")
        elif name and "vendor" not in file.parts and name not in exported(file):
            faults.append(f"no {name} in {source}")
    return faults


@pytest.mark.parametrize("module", _MODULES, ids=lambda module: module.relative_to(FOLDER).as_posix())
def test_each_import_names_a_file_and_what_it_exports(module: Path) -> None:
    assert faults_of(module) == []


def test_wrong_imports_are_noticed(tmp_path: Path) -> None:
    (tmp_path / "there.js").write_text("export const one = 1\nexport { two as three } from './gone.js'\n")
    module = tmp_path / "module.js"
    module.write_text(
        "/** @type {import('./typed.js').Type} */\n"
        "import {\n  one,\n  two,\n  three as four,\n} from './there.js'\n"
        "import nothing from './there.js'\n"
        "import './effect.js'\n"
        "const load = () => import('./there.js').then((module) => module.View)\n"
        "const other = import('./there.js').then(({ one, five }) => five)\n"
    )
    assert sorted(faults_of(module)) == [
        "no View in ./there.js",
        "no default in ./there.js",
        "no file ./effect.js",
        "no file ./typed.js",
        "no five in ./there.js",
        "no two in ./there.js",
    ]
