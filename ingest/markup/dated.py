"""The label of a bibliography's entry where names and year are told apart already."""

from collections.abc import Sequence

__all__ = ["dated_label"]


def dated_label(surnames: Sequence[str], year: int | None) -> str:
    """`Li et al., 2020`; "" where names or year are missing."""
    if not surnames or not surnames[0] or year is None:
        return ""
    if len(surnames) == 1:
        return f"{surnames[0]}, {year}"
    return f"{surnames[0]} and {surnames[1]}, {year}" if len(surnames) == 2 else f"{surnames[0]} et al., {year}"
