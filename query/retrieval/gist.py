"""Questions about a paper as a whole ("What is the main contribution?"), and the parts that answer them.

No list of words recognises them: such a question is nearer in meaning to a description of a summary than to any chunk.
"""

import re
from collections.abc import Iterator

from paperscope_core.types import Element, Paper, Passage

__all__ = ["GISTS", "gist_elements"]

GISTS = (
    "What this paper is about: its topic, main idea and goal.",
    "A summary of the paper: its main contributions, findings and conclusions.",
)
"""Descriptions of a summary. On 95 questions of ArgSciChat, the nine that ask for one are nearer to these than to any
chunk of their paper by a cosine of .42 to .68; of the other 86 and of 41 of MMLongBench, two are by .2 to .3, and 15 by
.1 to .2."""

_FRAMING = re.compile(r"(?:introduction|conclu|summary)", re.IGNORECASE)


def gist_elements(paper: Paper) -> list[Element]:
    """The abstract, and the first and the last text of introduction and conclusion; none if no section is titled so."""
    texts = [one for one in paper.elements if isinstance(one, Passage) and one.role in ("abstract", "paragraph")]
    abstract = [one for one in texts if one.role == "abstract"]
    return list({one.id: one for one in (*abstract, *_framing(paper, texts))}.values())


def _framing(paper: Paper, texts: list[Passage]) -> Iterator[Passage]:
    for section in paper.sections:
        if _FRAMING.match(section.title):
            inside = [one for one in texts if one.section == section.id]
            yield from (*inside[:1], *inside[-1:])
