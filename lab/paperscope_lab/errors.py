"""Errors of the laboratory's files."""

from paperscope_core.errors import InputError

__all__ = ["ExampleFileError", "GoldFileError"]


class GoldFileError(InputError):
    """Gold data of an evaluation can't be used."""


class ExampleFileError(InputError):
    """A file of examples or predictions of entities can't be used."""
