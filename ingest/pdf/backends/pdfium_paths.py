"""The paths and pictures of a page, read with PDFium, also those inside form objects."""

import ctypes
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple, TypeAlias

import pypdfium2.raw as pdfium_c

from ingest.pdf.backends.shapes import Shape
from paperscope.types import Box

__all__ = ["Drawn", "drawn_objects"]

# pypdfium2 ships no types.
Untyped: TypeAlias = Any

_DEEPEST = 15
_NEAR_WHITE = 0.98 * 255
_LEVEL = 0.01
_CORNERS = 4


class Matrix(NamedTuple):
    """An affine map as PDF writes it: x' = a x + c y + e, y' = b x + d y + f."""

    a: float
    b: float
    c: float
    d: float
    e: float
    f: float

    def apply(self, x: float, y: float) -> tuple[float, float]:
        """Where a point goes."""
        return self.a * x + self.c * y + self.e, self.b * x + self.d * y + self.f

    def then(self, other: "Matrix") -> "Matrix":
        """This map and then another."""
        e, f = other.apply(self.e, self.f)
        return Matrix(
            self.a * other.a + self.b * other.c,
            self.a * other.b + self.b * other.d,
            self.c * other.a + self.d * other.c,
            self.c * other.b + self.d * other.d,
            e,
            f,
        )


IDENTITY = Matrix(1, 0, 0, 1, 0, 0)


class DrawnObject(NamedTuple):
    """A path or a picture and the map that takes it to the page."""

    handle: Untyped
    picture: bool
    matrix: Matrix


def drawn_objects(page: Untyped) -> Iterator[DrawnObject]:
    """All paths and pictures of a page, in the order in which they are drawn."""
    yield from _inside(page, pdfium_c.FPDFPage_CountObjects, pdfium_c.FPDFPage_GetObject, IDENTITY, depth=0)


def _inside(holder: Untyped, count: Untyped, item: Untyped, outer: Matrix, *, depth: int) -> Iterator[DrawnObject]:
    for index in range(max(count(holder), 0)):
        handle = item(holder, index)
        kind = pdfium_c.FPDFPageObj_GetType(handle) if handle else pdfium_c.FPDF_PAGEOBJ_UNKNOWN
        if kind in (pdfium_c.FPDF_PAGEOBJ_PATH, pdfium_c.FPDF_PAGEOBJ_IMAGE):
            yield DrawnObject(handle, kind == pdfium_c.FPDF_PAGEOBJ_IMAGE, _matrix(handle).then(outer))
        elif kind == pdfium_c.FPDF_PAGEOBJ_FORM and depth < _DEEPEST:
            inner = _matrix(handle).then(outer)
            count_form, item_form = pdfium_c.FPDFFormObj_CountObjects, pdfium_c.FPDFFormObj_GetObject
            yield from _inside(handle, count_form, item_form, inner, depth=depth + 1)


def _matrix(handle: Untyped) -> Matrix:
    raw = pdfium_c.FS_MATRIX()
    if not pdfium_c.FPDFPageObj_GetMatrix(handle, raw):
        return IDENTITY
    return Matrix(raw.a, raw.b, raw.c, raw.d, raw.e, raw.f)


class Drawn:
    """Collects shapes, pictures and the boxes of paths, measured from a corner of the page downwards."""

    def __init__(self, *, left: float, top: float) -> None:
        self.shapes: list[Shape] = []
        self.images: list[Box] = []
        self.drawings: list[Box] = []
        self._left = left
        self._top = top

    def add(self, item: DrawnObject) -> None:
        """Take in a path or a picture."""
        if item.picture:
            corners = [item.matrix.apply(x, y) for x, y in ((0, 0), (1, 0), (0, 1), (1, 1))]
            self.images.append(_bounds(self._placed(corners)))
            return
        inked = _is_inked(item.handle)
        drawn: list[tuple[float, float]] = []
        for path in _subpaths(item.handle):
            points = self._placed([item.matrix.apply(*point) for point in path.points])
            drawn.extend(points)
            self.shapes.extend(_shapes(points, path, inked=inked))
        if drawn:
            self.drawings.append(_bounds(drawn))

    def _placed(self, points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
        return [(x - self._left, self._top - y) for x, y in points]


class Subpath(NamedTuple):
    """Points joined by lines; `lines[i]` tells whether point i is joined to the one before by a straight line."""

    points: list[tuple[float, float]]
    lines: list[bool]
    closed: bool


def _subpaths(handle: Untyped) -> Iterator[Subpath]:
    x, y = ctypes.c_float(), ctypes.c_float()
    path = Subpath([], [], closed=False)
    for index in range(max(pdfium_c.FPDFPath_CountSegments(handle), 0)):
        segment = pdfium_c.FPDFPath_GetPathSegment(handle, index)
        pdfium_c.FPDFPathSegment_GetPoint(segment, x, y)
        kind = pdfium_c.FPDFPathSegment_GetType(segment)
        if kind == pdfium_c.FPDF_SEGMENT_MOVETO:
            if path.points:
                yield path
            path = Subpath([], [], closed=False)
        path.points.append((x.value, y.value))
        path.lines.append(kind == pdfium_c.FPDF_SEGMENT_LINETO)
        if pdfium_c.FPDFPathSegment_GetClose(segment):
            path = path._replace(closed=True)
    if path.points:
        yield path


def _shapes(points: Sequence[tuple[float, float]], path: Subpath, *, inked: bool) -> Iterator[Shape]:
    """A closed rectangle is one shape, any other path is its straight lines."""
    if _is_rectangle(points, path):
        yield Shape(box=_bounds(points), filled=inked)
        return
    ring = path.closed and points[0] != points[-1]
    lines = [(a, b) for (a, b), line in zip(pairwise(points), path.lines[1:], strict=True) if line]
    for line in [*lines, (points[-1], points[0])] if ring and len(points) > 1 else lines:
        yield Shape(box=_bounds(line), filled=False)


def _is_rectangle(points: Sequence[tuple[float, float]], path: Subpath) -> bool:
    corners = points[:-1] if len(points) == _CORNERS + 1 and points[0] == points[-1] else points
    if len(corners) != _CORNERS or not all(path.lines[1:]) or not path.closed:
        return False
    sides = [(a, b) for a, b in zip(corners, [*corners[1:], corners[0]], strict=True)]
    level = [abs(a[1] - b[1]) < _LEVEL for a, b in sides]
    plumb = [abs(a[0] - b[0]) < _LEVEL for a, b in sides]
    return (level[0] and plumb[1] and level[2] and plumb[3]) or (plumb[0] and level[1] and plumb[2] and level[3])


def _is_inked(handle: Untyped) -> bool:
    """Whether a path is filled with something else than white."""
    mode, stroke = ctypes.c_int(), ctypes.c_int()
    if not pdfium_c.FPDFPath_GetDrawMode(handle, mode, stroke) or mode.value == pdfium_c.FPDF_FILLMODE_NONE:
        return False
    red, green, blue, alpha = (ctypes.c_uint() for _ in range(4))
    if not pdfium_c.FPDFPageObj_GetFillColor(handle, red, green, blue, alpha):
        return True
    return min(red.value, green.value, blue.value) < _NEAR_WHITE


def _bounds(points: Sequence[tuple[float, float]]) -> Box:
    xs, ys = zip(*points, strict=True)
    return Box(min(xs), min(ys), max(xs), max(ys))
