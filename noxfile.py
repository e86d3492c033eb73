"""Runs the tests on every supported Python that is installed, and the checks of a release.

nox -s tests-3.12 -- -k tables    selects tests
nox -s audit sbom                 looks up known vulnerabilities, and writes the software bill of materials
"""

import sys
from pathlib import Path

import nox

nox.options.default_venv_backend = "uv|virtualenv"
nox.options.download_python = "never"
nox.options.error_on_missing_interpreters = False
nox.options.reuse_venv = "yes"
nox.options.sessions = ["tests"]
# The uv of the environment that nox is installed in, which need not be on the path.
_TOOL = (sys.executable, "-m", "uv", "tool", "run")


@nox.session(python=["3.11", "3.12", "3.13"])
def tests(session: nox.Session) -> None:
    """The unit tests, or those that the arguments select, with the pinned packages."""
    session.install("--constraint", "constraints.txt", "--editable", ".[dev]", "--editable", "./lab[dev]")
    arguments = session.posargs or ["-m", "not slow", "--hypothesis-profile", "quick", "-n", "auto"]
    session.run("python", "-m", "pytest", *arguments, env={"OMP_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"})


@nox.session(venv_backend="none")
def audit(session: nox.Session) -> None:
    """Fail if OSV knows a vulnerability of a pinned package; `-- --osv-url ADDRESS` asks a mirror of it."""
    # The default service takes an index without its JSON interface for one without vulnerabilities.
    options = ("--vulnerability-service", "osv", "--strict", "--no-deps", "--disable-pip")
    session.run(*_TOOL, "pip-audit==2.10.1", "--requirement", "constraints.txt", *options, *session.posargs)


@nox.session
def sbom(session: nox.Session) -> None:
    """Write build/paperscope.cdx.json: what users install, with versions and licences, as CycloneDX."""
    session.install("--constraint", "constraints.txt", "--editable", ".[frames,ocr,plots]")
    python = session.run("python", "-c", "import sys; print(sys.executable)", silent=True)
    Path("build").mkdir(exist_ok=True)
    command = (*_TOOL, "--from", "cyclonedx-bom==7.5.0", "cyclonedx-py", "environment")
    options = ("--pyproject", "pyproject.toml", "--output-reproducible", "--output-file", "build/paperscope.cdx.json")
    session.run(*command, *options, str(python).strip(), external=True)
