"""Conventions that no linter checks."""

import ast
import importlib
import importlib.util
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import paperscope_lab
import pytest

import paperscope

PACKAGES = tuple("paperscope paperscope_core prompts ingest graph_store query service paperscope_lab".split())


def modules(root: Path) -> Iterator[Path]:
    for package in PACKAGES:
        folder = root / "lab" if package == "paperscope_lab" else root
        yield from sorted((folder / package).rglob("*.py"))


def test_the_laboratory_is_for_the_same_version(root: Path) -> None:
    needed = tomllib.loads((root / "lab" / "pyproject.toml").read_text())["project"]["dependencies"]
    assert f"paperscope=={paperscope.__version__}" in needed
    assert paperscope_lab.__version__ == paperscope.__version__


@pytest.mark.parametrize("package", PACKAGES)
def test_packages_come_from_this_repository(root: Path, package: str) -> None:
    spec = importlib.util.find_spec(package)
    assert spec is not None
    assert spec.origin is not None
    assert Path(spec.origin).resolve().is_relative_to(root)


@pytest.mark.slow
def test_every_module_has_a_docstring_and_all(root: Path) -> None:
    for file in modules(root):
        tree = ast.parse(file.read_text())
        assert ast.get_docstring(tree), f"{file} has no docstring"
        names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
        if file.name != "__main__.py" and len(tree.body) > 1:
            assert "__all__" in names, f"{file} has no __all__"


def test_links_in_markdown_files_resolve(root: Path) -> None:
    below = [file for folder in ("docs", "lab", "examples") for file in (root / folder).rglob("*.md")]
    for file in [*root.glob("*.md"), *below]:
        for target in re.findall(r"\]\((?!https?:|#)([^)#]+)[^)]*\)", file.read_text()):
            assert (file.parent / target).exists(), f"{file.name} links to {target!r}, which is not there"


def test_the_tests_that_the_security_page_names_exist(root: Path) -> None:
    named = re.findall(r"`((?:[\w/]+/)?test_\w+\.py)`", (root / "docs/security.md").read_text())
    assert len(named) > 20
    assert not [name for name in named if not (root / "tests" / name).is_file()]


def test_every_dependency_is_documented(root: Path) -> None:
    reasons = (root / "docs" / "dependencies.md").read_text()
    project = (root / "pyproject.toml").read_text().partition("[project.scripts]")[0]
    lab = (root / "lab" / "pyproject.toml").read_text().partition("[project.entry-points")[0]
    for name in re.findall(r'"([A-Za-z0-9-]+)[>=<]', project + lab):
        assert name in reasons, f"{name} is not in docs/dependencies.md"


def test_every_package_is_pinned_once(root: Path) -> None:
    lines = [line for line in (root / "constraints.txt").read_text().splitlines() if not line.startswith("#")]
    names = [line.partition("==")[0].lower() for line in lines]
    assert len(names) == len(set(names))
    assert "torch==2.13.0" in lines


def test_no_modules_share_a_name_and_no_imports_form_a_cycle(root: Path) -> None:
    """By what `scripts/shape` prints."""
    environment = {**os.environ, "PYTHON": sys.executable}
    done = subprocess.run([root / "scripts/shape"], env=environment, capture_output=True, text=True, check=False)  # noqa: S603
    assert done.returncode == 0, done.stderr
    for line in ("import cycles between modules: 0", "names that modules of the product share: 0"):
        assert line in done.stdout.splitlines(), done.stdout
    product, laboratory, _tests = re.findall(r"^ +all +(\d+) +\d+$", done.stdout, flags=re.MULTILINE)
    assert int(product) + int(laboratory) == len(list(modules(root)))
