"""Selects the pages that a vision model should read as images: those of which no crop and no reliable text is known."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from paperscope_core.types import Box, ContextImage, ContextSource, Figure, Paper, Passage, Place, Table
from query.element_views import ImageElement, caption_of
from query.question.named_elements import References

__all__ = ["context_images", "crop_image", "page_image"]


def context_images(
    pictures: Sequence[ImageElement],
    sources: Sequence[ContextSource],
    papers: Sequence[Paper],
    named: References,
    *,
    limit: int,
) -> tuple[ContextImage, ...]:
    """Return at most `limit` images to read for a question: the crops selected for it, and whole pages.

    A page is read if the question names it and it has no table or figure with a crop; if the question names none, also
    if a source is on it and its text is missing or was recognised. Crops of elements that the question names come
    first, other crops last; a crop from a page that is read is left out.

    Args:
        pictures: The elements whose crops were selected, best first.
        sources: The sources of the context, best first.
        papers: The papers that the question is about.
    """
    pages = list(dict.fromkeys(_pages(sources, papers, named)))
    first = [one for one in pictures if one.id in named.elements][:limit]
    chosen = pages[: limit - len(first)]
    last = [one for one in pictures if one not in first and (one.place.paper, one.place.page) not in chosen]
    known = {paper.id: paper for paper in papers}
    images = (
        *map(crop_image, first),
        *(page_image(known[paper], page) for paper, page in chosen),
        *map(crop_image, last),
    )
    return tuple(replace(image, id=number) for number, image in enumerate(images[:limit]))


def _pages(sources: Sequence[ContextSource], papers: Sequence[Paper], named: References) -> Iterator[tuple[str, int]]:
    """Yield the pages to read, with the ids of their papers: named ones; else those of sources without reliable text;
    or, if there is no source, all without it."""
    about = {source.place.paper for source in sources}
    shown = [paper for paper in papers if paper.has_page_images and (paper.id in about or not about)]
    asked = [(paper, page.number) for paper in shown for page in paper.pages if page.number in named.pages]
    yield from ((paper.id, page) for paper, page in asked if not _has_crop(paper, page))
    if asked:
        return
    doubtful = {(paper.id, page) for paper in shown for page in paper.doubtful_pages}
    for source in sources:
        yield from ((place.paper, place.page) for place in source.places if (place.paper, place.page) in doubtful)
    if not sources:
        yield from ((paper.id, page) for paper in shown for page in sorted(paper.doubtful_pages))


def _has_crop(paper: Paper, page: int) -> bool:
    return page not in paper.doubtful_pages and any(
        isinstance(one, Table | Figure) and one.crop is not None and one.place.page == page for one in paper.elements
    )


def crop_image(picture: ImageElement) -> ContextImage:
    """Return the crop of an element as an image to read."""
    return ContextImage(
        id=0,
        element=picture.id,
        label=picture.label,
        caption=caption_of(picture),
        crop=picture.crop or "",
        place=picture.place,
    )


def page_image(paper: Paper, number: int) -> ContextImage:
    """Return a page as an image to read, at its first passage, else its first element, else the one before it."""
    page = next(one for one in paper.pages if one.number == number)
    on_page = [one for one in paper.elements if one.place.page == number]
    passages = [one for one in on_page if isinstance(one, Passage)]
    before = [one for one in paper.elements if one.place.page < number]
    nearest = (*passages[:1], *on_page[:1], *before[-1:], *paper.elements[:1])
    return ContextImage(
        id=0,
        element=nearest[0].id if nearest else "",
        label=f"page {number}",
        caption="",
        crop="",
        place=Place(paper=paper.id, page=number, box=Box(0.0, 0.0, page.width, page.height)),
    )
