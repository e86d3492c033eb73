"""BibTeX, RIS, CSL-JSON and references of papers, whose texts are anybody's."""

import json
import re
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paperscope.bibliographies import bibtex, csl_json, references, ris
from paperscope_core.errors import InputError
from paperscope_core.types import PaperEntry, Publication, WorkKind

entry = partial(PaperEntry, id="p", file="p.pdf", source="", sha256="", embedder="", revision=1)

ATTENTION = entry(
    title="Attention Is All You Need",
    authors=("Ashish Vaswani", "Noam Shazeer"),
    year=2017,
    venue="NeurIPS & Friends",
    arxiv="1706.03762",
)


NUMBERED = """<?xml version="1.0" encoding="utf-8"?>
<style xmlns="http://purl.org/net/xbiblio/csl" class="in-text" version="1.0">
  <info><title>Plain</title><id>plain</id><updated>2026-01-01T00:00:00+00:00</updated></info>
  <citation><layout><text variable="title"/></layout></citation>
  <bibliography><sort><key variable="title"/></sort>
    <layout suffix="."><names variable="author"><name/></names><text variable="title" prefix=". "/></layout>
  </bibliography>
</style>
"""


def test_references_are_in_a_style(tmp_path: Path) -> None:
    owls = entry(
        id="o", title="Owls & <i>Night</i>", authors=("Ada van Bee",), year=2020, venue="J. Owls", doi="10.1/x"
    )
    published = {"o": Publication(kind="article-journal", volume="3", issue="2", pages="1-9", families=("van Bee",))}
    assert references([owls, ATTENTION], published) == [
        "van Bee, A. (2020) “Owls & <i>Night</i>”, J. Owls, 3(2), pp. 1–9. Available at: https://doi.org/10.1/x.",
        "Vaswani, A. and Shazeer, N. (2017) “Attention Is All You Need”, NeurIPS & Friends. Available at: "
        "https://arxiv.org/abs/1706.03762.",
    ]
    (tmp_path / "plain.csl").write_text(NUMBERED)
    assert references([owls, ATTENTION], published, style=tmp_path / "plain.csl") == [
        "Ashish Vaswani, Noam Shazeer. Attention Is All You Need.",
        "Ada van Bee. Owls & <i>Night</i>.",
    ]
    assert references([]) == []
    (tmp_path / "wrong.csl").write_text("<style/>")
    for name in ("wrong.csl", "none.csl"):
        with pytest.raises(InputError, match=f"{name}: this is no citation style"):
            references([owls], style=tmp_path / name)


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
    # BibTeX counts braces behind a backslash, too.
    plain = re.sub(r"\\text(?:backslash|asciitilde|asciicircum|braceleft|braceright)\{\}|\\[&%$#_]", "", text)
    depth = 0
    for letter in plain:
        depth += {"{": 1, "}": -1}.get(letter, 0)
        assert depth >= 0
    assert depth == 0
    assert not re.search(r"[\\%$#_~^&]", plain)
    assert text.count("\n@misc{") + text.startswith("@misc{") == len(works)


DARWIN = entry(
    id="d",
    title="Darwin's Legacy",
    authors=("Ludwig van der Berg", "Beth Ann Smith", "Owl Society"),
    year=2009,
    venue="PLoS Biology",
    doi="10.1371/journal.pbio.1000053",
)
RECORD = Publication(
    kind="article-journal",
    volume="7",
    issue="3",
    pages="112-118",
    publisher="PLoS",
    families=("Berg", "Smith", "Owl Society"),
)


def test_a_record_gives_the_entry_its_type_journal_volume_and_pages() -> None:
    assert bibtex([DARWIN], {"d": RECORD}) == (
        "@article{berg2009darwins,\n"
        "  title = {{Darwin's Legacy}},\n"
        "  author = {Berg, Ludwig van der and Smith, Beth Ann and {Owl Society}},\n"
        "  year = {2009},\n"
        "  journal = {PLoS Biology},\n"
        "  volume = {7},\n"
        "  number = {3},\n"
        "  pages = {112--118},\n"
        "  publisher = {PLoS},\n"
        "  doi = {10.1371/journal.pbio.1000053},\n"
        "}\n"
    )
    kinds: dict[WorkKind, str] = {"paper-conference": "inproceedings", "chapter": "incollection", "thesis": "phdthesis"}
    for kind, named in kinds.items():
        assert bibtex([DARWIN], {"d": Publication(kind=kind)}).startswith(f"@{named}{{")


def test_ris_and_csl_have_the_same_fields() -> None:
    assert ris([DARWIN], {"d": RECORD}).splitlines() == [
        "TY  - JOUR",
        "TI  - Darwin's Legacy",
        "AU  - Berg, Ludwig van der",
        "AU  - Smith, Beth Ann",
        "AU  - Owl Society",
        "PY  - 2009",
        "T2  - PLoS Biology",
        "VL  - 7",
        "IS  - 3",
        "SP  - 112",
        "EP  - 118",
        "PB  - PLoS",
        "DO  - 10.1371/journal.pbio.1000053",
        "ER  - ",
    ]
    assert json.loads(csl_json([DARWIN], {"d": RECORD})) == [
        {
            "id": "berg2009darwins",
            "type": "article-journal",
            "title": "Darwin's Legacy",
            "author": [
                {"family": "Berg", "given": "Ludwig van der"},
                {"family": "Smith", "given": "Beth Ann"},
                {"literal": "Owl Society"},
            ],
            "issued": {"date-parts": [[2009]]},
            "container-title": "PLoS Biology",
            "volume": "7",
            "issue": "3",
            "page": "112-118",
            "publisher": "PLoS",
            "DOI": "10.1371/journal.pbio.1000053",
        }
    ]


def test_a_family_name_that_no_record_states_begins_in_lower_case_or_is_the_last_word() -> None:
    text = ris([DARWIN])
    assert "AU  - van der Berg, Ludwig\n" in text
    assert "AU  - Smith, Beth Ann\n" in text


@given(st.builds(entry, title=st.text(), authors=st.lists(st.text()), venue=st.text(), doi=st.text()))
def test_every_line_of_ris_has_a_tag(work: PaperEntry) -> None:
    assert all(re.match(r"[A-Z][A-Z0-9]  - ", line) for line in ris([work]).split("\n")[:-1])
    assert json.loads(csl_json([work]))
