"""Runs the tests on every supported Python that is installed; `nox -s tests-3.12 -- -k tables` selects some."""

import nox

nox.options.default_venv_backend = "uv|virtualenv"
nox.options.download_python = "never"
nox.options.error_on_missing_interpreters = False
nox.options.reuse_venv = "yes"


@nox.session(python=["3.11", "3.12", "3.13"])
def tests(session: nox.Session) -> None:
    """The unit tests, or those that the arguments select, with the pinned packages."""
    session.install("--constraint", "constraints.txt", "--editable", ".[dev]")
    arguments = session.posargs or ["-m", "not slow", "--hypothesis-profile", "quick", "-n", "auto"]
    session.run("python", "-m", "pytest", *arguments, env={"OMP_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"})
