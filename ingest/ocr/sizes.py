"""Letter sizes measured line by line, set to the few that a page is printed in."""

from collections.abc import Sequence

__all__ = ["snapped"]

_SAME = 0.09


def snapped(lines: Sequence[tuple[float, int]]) -> list[float]:
    """The sizes of lines, given as (size, letters): those near the size of most letters become that size, and so on
    with the rest."""
    sizes = [size for size, _ in lines]
    left = set(range(len(lines)))
    while left:
        mode = max(sorted(left), key=lambda index: _letters_near(lines, left, lines[index][0]))
        near = [index for index in left if abs(lines[index][0] - lines[mode][0]) <= _SAME * lines[mode][0]]
        weight = sum(lines[index][1] for index in near) or 1
        common = sum(lines[index][0] * lines[index][1] for index in near) / weight
        for index in near:
            sizes[index] = round(common or lines[mode][0], 1)
        left.difference_update(near)
    return sizes


def _letters_near(lines: Sequence[tuple[float, int]], left: set[int], size: float) -> int:
    return sum(lines[index][1] for index in left if abs(lines[index][0] - size) <= _SAME * size)
