"""Wheels and source archives of both distributions hold all that they need, and work outside the checkout."""

import os
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from pathlib import Path

import pytest

from paperscope import __version__

pytestmark = pytest.mark.slow
_ASK = """
from paperscope import Library

with Library.open("library") as library:
    library.add("notes.md")
    print(library.ask("What does SWA stand for?").text)
"""


def run(*command: str | Path, cwd: Path, **environment: str) -> str:
    done = subprocess.run(  # noqa: S603
        command, cwd=cwd, env={**os.environ, **environment}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def built(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheel and the source archive of each distribution, built from what git would commit."""
    folder = tmp_path_factory.mktemp("built")
    listed = run("git", "ls-files", "--cached", "--others", "--exclude-standard", "-z", cwd=root).split("\0")
    for name in filter(None, listed):
        if (root / name).is_file() and not name.startswith(("tests/", "lab/tests/")):
            (folder / "source" / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / "source" / name).write_bytes((root / name).read_bytes())
    for distribution in (folder / "source", folder / "source" / "lab"):
        for kind in ("sdist", "wheel"):
            build = f"import sys; from setuptools import build_meta; build_meta.build_{kind}(sys.argv[1])"
            run(sys.executable, "-c", build, folder, cwd=distribution)
    return folder


def test_each_distribution_is_built_as_wheel_and_source(built: Path, root: Path) -> None:
    assert sorted(file.name for file in built.glob("*.*") if file.is_file()) == [
        f"paperscope-{__version__}-py3-none-any.whl",
        f"paperscope-{__version__}.tar.gz",
        f"paperscope_lab-{__version__}-py3-none-any.whl",
        f"paperscope_lab-{__version__}.tar.gz",
    ]
    with tarfile.open(built / f"paperscope-{__version__}.tar.gz") as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {"LICENSE", "README.md", "prompts/describe_image.md", "service/web/index.html"} <= names
    with zipfile.ZipFile(built / f"paperscope-{__version__}-py3-none-any.whl") as wheel:
        packed = set(wheel.namelist())
    page = {path.relative_to(root).as_posix() for path in (root / "service/web").rglob("*") if path.is_file()}
    assert {name for name in page if "__pycache__" not in name} <= packed


def test_the_wheel_works_outside_the_checkout(built: Path, tmp_path: Path) -> None:
    """With the packages of this environment, but neither its editable installation nor the laboratory."""
    target = tmp_path / "installed"
    wheel = built / f"paperscope-{__version__}-py3-none-any.whl"
    run(sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", target, wheel, cwd=tmp_path)
    path = os.pathsep.join((str(target), sysconfig.get_path("purelib")))

    def python(*arguments: str) -> str:
        # Without site, no file of the environment adds the checkout.
        return run(sys.executable, "-S", *arguments, cwd=tmp_path, PYTHONPATH=path)

    assert python("-m", "paperscope", "--version").strip() == f"paperscope {__version__}"
    (tmp_path / "notes.md").write_text("# Notes\n\nStochastic Weight Averaging (SWA) averages the weights of a run.\n")
    assert "Stochastic Weight Averaging" in python("-c", _ASK)
