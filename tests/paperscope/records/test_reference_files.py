"""Reference files as programs write them, and as strangers do."""

import json
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paperscope.records.reference_files import read_references
from paperscope_core.errors import PaperFileError
from paperscope_core.types import BibRecord, Publication

BIBTEX = r"""
@string{plos = "PLoS Biology"}
@article{darwin,
  author = {van der Berg, Ludwig and M{\"u}ller, J{\"o}rg and {World Health Organization}},
  title = {The {DNA} of \'etoiles \& more}, journal = plos, Year = 2009, month = mar, volume = 7, number = {3},
  pages = {112--118}, publisher = {PLoS}, doi = {https://doi.org/10.1371/journal.pbio.1000053},
  file = {Full Text:files/12/a b.md:text/markdown}
}
"""
RIS = """TY  - JOUR
AU  - van der Berg, Ludwig
AU  - Müller, Jörg
AU  - World Health Organization
TI  - The DNA of étoiles & more
PY  - 2009/03/31/
JO  - PLoS Biology
VL  - 7
IS  - 3
SP  - 112
EP  - 118
PB  - PLoS
DO  - 10.1371/journal.pbio.1000053
L1  - files/12/a b.md
ER  -
"""
CSL = [
    {
        "id": "darwin",
        "type": "article-journal",
        "title": "The <i>DNA</i> of étoiles &amp; more",
        "author": [
            {"family": "Berg", "given": "Ludwig", "non-dropping-particle": "van der"},
            {"family": "Müller", "given": "Jörg"},
            {"literal": "World Health Organization"},
        ],
        "issued": {"date-parts": [[2009, 3, 31]]},
        "container-title": "PLoS Biology",
        "volume": 7,
        "issue": "3",
        "page": "112–118",
        "publisher": "PLoS",
        "DOI": "10.1371/journal.pbio.1000053",
    }
]


def record_of(origin: str) -> BibRecord:
    return BibRecord(
        origin=origin,
        title="The DNA of étoiles & more",
        authors=("Ludwig van der Berg", "Jörg Müller", "World Health Organization"),
        publication=Publication(
            year=2009,
            venue="PLoS Biology",
            doi="10.1371/journal.pbio.1000053",
            kind="article-journal",
            volume="7",
            issue="3",
            pages="112-118",
            publisher="PLoS",
            families=("van der Berg", "Müller", "World Health Organization"),
        ),
    )


@pytest.mark.parametrize(("name", "text"), [("r.bib", BIBTEX), ("r.ris", RIS), ("r.json", json.dumps(CSL))])
def test_each_format_gives_the_same_record(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / "files/12").mkdir(parents=True)
    (file := tmp_path / "files/12/a b.md").write_text("# The DNA")
    (path := tmp_path / name).write_text(text)
    (found,) = read_references(path)
    assert found.record == record_of(name)
    assert found.file == (None if name == "r.json" else file)


@pytest.mark.parametrize("named", ["../secret.md", "/etc/hostname", ":/etc/hostname:text", "link.md", "a\0b"])
def test_a_file_elsewhere_is_not_named_by_an_entry(tmp_path: Path, named: str) -> None:
    (tmp_path / "secret.md").write_text("# Secret")
    (folder := tmp_path / "refs").mkdir()
    (folder / "link.md").symlink_to(tmp_path / "secret.md")
    (folder / "r.bib").write_text(f"@article{{a, title = {{A}}, file = {{{named}}}}}")
    (found,) = read_references(folder / "r.bib")
    assert found.file is None


@pytest.mark.parametrize(
    "entry",
    [
        "@article{a, title={A}, journal={arXiv preprint arXiv:1706.03762}, year={2017}}",
        "@misc{a, title={A}, eprint={1706.03762v5}, archivePrefix={arXiv}, year={2017}}",
        "@misc{a, title={A}, doi={10.48550/arXiv.1706.03762}, year={2017}}",
        "@online{a, title={A}, url={https://www.arxiv.org/pdf/1706.03762v5}, date={2017-06-12}}",
    ],
)
def test_an_entry_of_a_preprint_names_arxiv(tmp_path: Path, entry: str) -> None:
    (tmp_path / "r.bib").write_text(entry)
    (found,) = read_references(tmp_path / "r.bib")
    published = found.record.publication
    assert (published.arxiv, published.doi, published.venue, published.year) == ("1706.03762", "", "", 2017)


def test_an_entry_that_is_no_bibtex_does_not_hide_the_others(tmp_path: Path) -> None:
    text = "@article{a, title={A}\n@misc{b, title={B}, title={C}}\n@misc{c, title={D}}\n@misc{c, title={E}}\n"
    (tmp_path / "r.bib").write_text(text)
    assert {one.record.title for one in read_references(tmp_path / "r.bib")} == {"B", "D", "E"}


def test_tex_in_an_entry_reads_no_file(tmp_path: Path) -> None:
    (secret := tmp_path / "secret.tex").write_text("hidden words")
    (tmp_path / "r.bib").write_text(f"@misc{{a, title={{A \\input{{{secret}}} \\include{{secret}} B}}}}")
    assert "hidden" not in read_references(tmp_path / "r.bib")[0].record.title


@pytest.mark.parametrize(("name", "text"), [("r.bib", "# No"), ("r.ris", ""), ("r.json", '{"a": 1}'), ("r.json", "[")])
def test_a_file_without_entries_is_refused(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(PaperFileError, match=r"no entries|no JSON"):
        read_references(tmp_path / name)


@given(st.text(st.characters(codec="utf-8")), st.sampled_from([".bib", ".ris", ".json"]))
def test_any_text_gives_records_or_an_error(tmp_path_factory: pytest.TempPathFactory, text: str, suffix: str) -> None:
    (path := tmp_path_factory.mktemp("any") / f"r{suffix}").write_text(f"@article{{a, {text}}}\n{text}")
    with suppress(PaperFileError):
        assert read_references(path)
