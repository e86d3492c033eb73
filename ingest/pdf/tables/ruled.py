"""The region of a table between its outer rules."""

from ingest.pdf.page.layout import PageLayout
from ingest.pdf.tables.grid import TableRegion
from ingest.pdf.tables.regions import RuleStack
from ingest.pdf.tables.turned import turned_words

__all__ = ["ruled_region"]


def ruled_region(layout: PageLayout, stack: RuleStack) -> TableRegion:
    """What a page holds within a stack of rules; it may have no words."""
    x0, y0, x1, y1 = stack.box
    content = layout.content
    width = x1 - x0
    words = tuple(
        word
        for word in layout.words
        if x0 - 3 <= word.center <= x1 + 3 and y0 - 1 <= word.baseline - 0.3 * word.size <= y1 + 1
    )
    return TableRegion(
        box=stack.box,
        words=(*words, *turned_words(layout, stack.box, words, rules=stack.ys)) if words else (),
        rules=stack.ys,
        partial=tuple(
            rule
            for rule in content.horizontal
            if x0 - 2 <= rule.x0 and rule.x1 <= x1 + 2 and y0 + 2 < rule.y < y1 - 2 and rule.x1 - rule.x0 < 0.93 * width
        ),
        verticals=tuple(
            sorted(
                {
                    round(rule.x, 1)
                    for rule in content.vertical
                    if x0 - 2 <= rule.x <= x1 + 2 and rule.y1 > y0 and rule.y0 < y1
                }
            )
        ),
        fills=tuple(fill for fill in content.fills if fill.y1 > y0 and fill.y0 < y1),
    )
