"""The command line, run in this process: the fixture of the product's tests."""

from tests.service.cli.conftest import run

__all__ = ["run"]
