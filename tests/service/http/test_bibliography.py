"""BibTeX of papers, whose texts are anybody's."""

import re
from functools import partial

from hypothesis import given
from hypothesis import strategies as st

from paperscope.bibtex import bibtex
from paperscope_core.types import PaperEntry

entry = partial(PaperEntry, id="p", file="p.pdf", source="", sha256="", embedder="", revision=1)

ATTENTION = entry(
    title="Attention Is All You Need",
    authors=("Ashish Vaswani", "Noam Shazeer"),
    year=2017,
    venue="NeurIPS & Friends",
    arxiv="1706.03762",
)


def test_an_entry_says_what_the_paper_says() -> None:
    assert bibtex([ATTENTION]) == (
        "@misc{vaswani2017attention,\n"
        "  title = {{Attention Is All You Need}},\n"
        "  author = {Ashish Vaswani and Noam Shazeer},\n"
        "  year = {2017},\n"
        "  howpublished = {NeurIPS \\& Friends},\n"
        "  eprint = {1706.03762},\n"
        "  archiveprefix = {arXiv},\n"
        "}\n"
    )


def test_keys_are_unique_and_of_plain_letters() -> None:
    works = [
        ATTENTION,
        ATTENTION,
        entry(title="Über Größe", authors=("José Ñandú",)),
        entry(title="深層学習"),
        entry(title=""),
    ]
    keys = re.findall(r"^@misc\{(.*),$", bibtex(works), re.MULTILINE)
    assert keys == ["vaswani2017attention", "vaswani2017attention-2", "nanduuber", "paper", "paper-2"]


def test_a_name_with_and_is_one_name() -> None:
    text = bibtex([entry(title="Reports", authors=("Research and Development", "Anna Anderson"))])
    assert "author = {{Research and Development} and Anna Anderson}" in text


@given(st.lists(st.builds(entry, title=st.text(), authors=st.lists(st.text()), venue=st.text(), doi=st.text())))
def test_no_text_ends_its_field(works: list[PaperEntry]) -> None:
    text = bibtex(works)
    plain = re.sub(r"\\textbackslash\{\}|\\textasciitilde\{\}|\\textasciicircum\{\}|\\[{}&%$#_]", "", text)
    depth = 0
    for letter in plain:
        depth += {"{": 1, "}": -1}.get(letter, 0)
        assert depth >= 0
    assert depth == 0
    assert not re.search(r"[\\%$#_~^&]", plain)
    assert text.count("\n@misc{") + text.startswith("@misc{") == len(works)
