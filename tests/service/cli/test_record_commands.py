"""Papers by name, with the services that the settings allow; a local server stands for the internet and for Zotero."""

import json
from collections.abc import Iterator
from pathlib import Path

import pymupdf
import pytest

from paperscope.records import web_fetcher, zotero_library
from paperscope_core.publication import with_record
from paperscope_core.types import CORRECTED, BibRecord, Paper, Publication
from tests.paperscope.records.web import ARXIV, ARXIV_NONE, RETRACTION, Web, serve_web, unpaywall
from tests.service.cli.conftest import Run

DOI = "10.1371/journal.pbio.1000053"
UNPAYWALL = f"api.unpaywall.org/v2/{DOI}"


def pdf(title: str) -> bytes:
    with pymupdf.open() as document:
        page = document.new_page()
        page.insert_text((72, 80), title, fontsize=20)
        page.insert_text((72, 130), "Owls see at night, and owls hear at night as well.", fontsize=10)
        content: bytes = document.tobytes()
        return content


@pytest.fixture
def web(monkeypatch: pytest.MonkeyPatch) -> Iterator[Web]:
    with serve_web() as found:
        monkeypatch.setattr(web_fetcher, "public_origin", lambda _url: found.origin)
        monkeypatch.setattr(web_fetcher, "_PAUSES", {})
        monkeypatch.setattr(zotero_library, "_ORIGIN", found.origin)
        found.put_crossref()
        found.documents |= {
            UNPAYWALL: unpaywall("https://oa.example/owl.pdf"),
            "oa.example/owl.pdf": pdf("Darwin’s Legacy in Owls"),
            "export.arxiv.org/api/query": ARXIV,
            "arxiv.org/pdf/2401.18059": ("to", "/pdf/2401.18059v1"),
            "arxiv.org/pdf/2401.18059v1": pdf("Owls: Recursive Abstractive Processing"),
        }
        yield found


@pytest.fixture
def allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PAPERSCOPE_RECORDS__CONTACT", '["crossref", "arxiv", "unpaywall", "urls"]')
    monkeypatch.setenv("PAPERSCOPE_RECORDS__MAILTO", "me@lab.example")


@pytest.mark.parametrize("name", [DOI, "arXiv:2401.18059", "https://papers.example/a.pdf"])
def test_nothing_is_contacted_without_the_setting(web: Web, run: Run, name: str) -> None:
    outcome = run("add", name)
    assert outcome.code == 1
    assert "nothing was contacted; set records.contact" in outcome.err
    assert web.asked == []
    assert not json.loads(run("bibliography", "--format", "csl-json").out)


@pytest.mark.usefixtures("allowed")
@pytest.mark.parametrize("name", [DOI, f"doi:{DOI}", f"https://doi.org/{DOI}"])
def test_a_doi_adds_the_open_copy_with_its_record(web: Web, run: Run, name: str) -> None:
    assert "added" in run("add", name).out
    assert web.asked == [
        "api.crossref.org/works/10.1371%2Fjournal.pbio.1000053?mailto=me%40lab.example",
        f"{UNPAYWALL}?email=me%40lab.example",
        "oa.example/owl.pdf",
    ]
    assert run("bibliography").out == (
        "@article{berg2009darwins,\n"
        "  title = {{Darwin’s Legacy in Owls}},\n"
        "  author = {van der Berg, Ludwig and Müller, Jörg},\n"
        "  year = {2009},\n"
        "  journal = {PLoS Biology},\n"
        "  volume = {7},\n"
        "  number = {3},\n"
        "  pages = {e1000053},\n"
        "  publisher = {Public Library of Science (PLoS)},\n"
        f"  doi = {{{DOI}}},\n"
        "}\n\n"
    )
    shown = run("show", "Darwin").out
    assert "PLoS Biology 7(3), pp. e1000053, 2009" in shown
    assert "from Crossref: authors, doi, issue, kind, pages, publisher, title, venue, volume, year" in shown
    assert "unchanged" in run("add", name).out
    assert len(web.asked) == 3


@pytest.mark.usefixtures("allowed")
@pytest.mark.parametrize(
    "name", ["arXiv:2401.18059v1", "https://arxiv.org/pdf/2401.18059", "10.48550/arXiv.2401.18059"]
)
def test_an_arxiv_id_adds_the_preprint(web: Web, run: Run, name: str) -> None:
    assert "added" in run("add", name).out
    (item,) = json.loads(run("bibliography", "--format", "csl-json").out)
    assert (item["title"], item["type"]) == ("Owls: Recursive Abstractive Processing", "article")
    assert (item["number"], item["issued"]) == ("arXiv:2401.18059", {"date-parts": [[2024]]})


@pytest.mark.usefixtures("allowed")
def test_what_is_no_paper_with_an_open_copy_is_said(web: Web, run: Run) -> None:
    web.put_crossref("10.5555/data", type="dataset", title=["Counts of owls"])
    web.put_crossref("10.5555/closed", title=["Closed owls"])
    web.put_crossref("10.5555/page", title=["Owls on a page"])
    web.documents |= {
        "api.crossref.org/works/10.5281%2Fzenodo.1/agency": {
            "message": {"agency": {"id": "datacite", "label": "DataCite"}}
        },
        "api.unpaywall.org/v2/10.5555/closed": unpaywall(),
        "api.unpaywall.org/v2/10.5555/page": unpaywall(None),
        "export.arxiv.org/api/query": ARXIV_NONE,
    }
    outcome = run(
        "add", "10.5555/none", "10.5281/zenodo.1", "10.5555/data", "10.5555/closed", "10.5555/page", "arXiv:2401.99999"
    )
    assert outcome.code == 1
    assert outcome.err.splitlines() == [
        "error: doi:10.5555/none: there is no such DOI; check the spelling",
        "error: doi:10.5281/zenodo.1: is registered with DataCite, as data sets and software usually are; Crossref has "
        "no record",
        "error: “Counts of owls”, Ludwig van der Berg et al., 2009, doi:10.5555/data: is a data set, not a paper",
        "error: “Closed owls”, Ludwig van der Berg et al., 2009, doi:10.5555/closed: no open copy is known. Get the "
        "file from https://doi.org/10.5555/closed, and add it",
        "error: “Owls on a page”, Ludwig van der Berg et al., 2009, doi:10.5555/page: no open copy is known. Unpaywall "
        "names a page: https://publisher.example/page. Get the file from https://doi.org/10.5555/page, and add it",
        "error: arXiv:2401.99999: there is no such paper; check the number",
    ]


@pytest.mark.usefixtures("allowed")
def test_a_copy_that_is_no_pdf_is_left_for_the_next(web: Web, run: Run) -> None:
    web.documents |= {UNPAYWALL: unpaywall("https://a.example/", "https://oa.example/owl.pdf"), "a.example/": "<html>"}
    assert "added" in run("add", DOI).out


@pytest.mark.usefixtures("allowed")
def test_a_retracted_paper_is_added_and_said_to_be_retracted(web: Web, run: Run) -> None:
    web.put_crossref(updated_by=RETRACTION)
    said = "RETRACTED: retraction 2011-02-06, doi:10.5555/notice"
    assert said in run("add", DOI).out
    assert said in run("show", "Darwin").out


@pytest.mark.usefixtures("allowed")
def test_a_file_is_completed_by_the_record_of_its_doi_if_it_is_the_same_work(
    web: Web, run: Run, tmp_path: Path
) -> None:
    for name, title in (("owl.md", "Darwins legacy in owls"), ("other.md", "Measuring the weight of a mouse")):
        (tmp_path / name).write_text(
            f"---\ndoi: {DOI}\n---\n# {title}\n\nL. Berg\n\n## Results\n\nOwls see at night.\n"
        )
    added = run("add", "owl.md", "other.md")
    assert "is the same work as" in added.err
    assert web.asked == []
    completed = run("complete")
    assert completed.code == 1
    assert "completed" in completed.out
    assert "PLoS Biology 7(3), pp. e1000053, 2009" in completed.out
    assert "the id that it prints is that of “Darwin’s Legacy in Owls”" in completed.err
    assert "see at night" in run("read", "search", "owls at night", "--paper", "owl.md").out
    asked = run("ask", "Where was Darwin’s Legacy in Owls published?").out
    assert "The paper was published in PLoS Biology (by the record of Crossref)." in asked
    assert len(web.asked) == 1
    assert "@article{berg2009darwins," in run("bibliography", "owl.md").out
    # Another version of the file keeps its record.
    (tmp_path / "owl.md").write_text((tmp_path / "owl.md").read_text() + "\nOwls hear, too.\n")
    assert "replaced" in run("add", "owl.md").out
    assert "@article{berg2009darwins," in run("bibliography", "owl.md").out


@pytest.mark.usefixtures("allowed")
def test_a_reference_file_adds_its_files_and_looks_up_the_others(web: Web, run: Run, tmp_path: Path) -> None:
    (tmp_path / "owl.md").write_text("# Owl Nets\n\nOwls see at night.\n")
    (tmp_path / "refs.bib").write_text(
        "@inproceedings{a, title={Owl Nets}, author={Lovelace, Ada}, booktitle={NetConf}, year=2021, file={owl.md}}\n"
        f"@article{{b, title={{Legacy}}, doi={{{DOI}}}}}\n"
        "@misc{c, title={Nowhere}, url={https://papers.example/a.pdf}}\n"
    )
    outcome = run("add", "refs.bib")
    assert outcome.out.count("added") == 2
    assert "“Nowhere”: has neither a file nor a DOI nor an arXiv id in refs.bib" in outcome.err
    assert not any("papers.example" in one for one in web.asked)
    assert "booktitle = {NetConf}" in run("bibliography", "owl.md").out
    assert "from refs.bib: authors, kind, venue, year" in run("show", "owl.md").out


@pytest.mark.usefixtures("allowed")
def test_an_address_adds_what_is_there(web: Web, run: Run) -> None:
    web.documents["papers.example/a/owl.md"] = "# Owl Nets\n\nOwls see at night.\n"
    assert "added" in run("add", "https://papers.example/a/owl.md").out
    assert "HTTP 404" in run("add", "https://papers.example/none").err
    assert "https addresses only" in run("add", "http://papers.example/a/owl.md").err


def test_a_collection_of_zotero_is_added_with_its_records(web: Web, run: Run, tmp_path: Path) -> None:
    (file := tmp_path / "storage" / "owl nets.md").parent.mkdir()
    file.write_bytes(pdf("Owl Nets"))
    api = f"{web.origin.removeprefix('http://')}/api/users/0"
    attachment = {"key": "PDF1", "data": {"itemType": "attachment", "contentType": "application/pdf"}}
    csl = {"type": "article-journal", "title": "Owl Nets", "container-title": "Owls", "volume": "4"}
    web.documents |= {
        f"{api}/collections": [{"key": "KEY1", "data": {"name": "Owls of the night"}}],
        f"{api}/collections/KEY1/items/top": [
            {"key": "ITEM", "data": {"itemType": "journalArticle"}, "csljson": csl},
            {"key": "BARE", "data": {"itemType": "journalArticle"}, "csljson": {**csl, "DOI": DOI}},
        ],
        f"{api}/items/BARE/children": [],
        f"{api}/items/ITEM/children": [{"key": "N", "data": {"itemType": "note"}}, attachment],
        f"{api}/items/PDF1/file/view/url": file.as_uri(),
    }
    added = run("add", "zotero:owls of the night")
    assert "added" in added.out
    assert f"doi:{DOI}: nothing was contacted" in added.err
    assert "volume = {4}" in run("bibliography").out
    assert "no such collection (there are: Owls of the night)" in run("add", "zotero:mice").err
    web.documents[f"{api}/collections"] = 403
    assert "Allow other applications" in run("add", "zotero:KEY1").err
    web.documents[f"{api}/collections"] = "<html>"
    assert "is it Zotero?" in run("add", "zotero:KEY1").err


def test_a_closed_zotero_is_one_line(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(zotero_library, "_ORIGIN", "http://127.0.0.1:9")
    outcome = run("add", "zotero:owls")
    assert outcome.err.splitlines() == ["error: Zotero is closed, or is older than 7; open it, and try again"]


def test_unpaywall_needs_an_address(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PAPERSCOPE_RECORDS__CONTACT", '["unpaywall"]')
    assert "set records.mailto" in run("papers").err


@pytest.mark.usefixtures("allowed")
def test_a_corrected_record_stays_so(web: Web, run: Run, tmp_path: Path) -> None:
    file = tmp_path / "owls.pdf"
    file.write_bytes(pdf("Darwin’s Legacy in Owls"))
    assert run("add", str(file)).code == 0
    outcome = run("edit", "owls.pdf", "--title", "Owls", "--author", "Ada Bee", "--author", "Eve Fox", "--doi", DOI)
    assert outcome.code == 0
    assert f"Owls  (Ada Bee, Eve Fox; doi:{DOI})" in outcome.out
    # A newer version of the file is read, and the record is completed.
    with pymupdf.open(file) as document:
        document.new_page().insert_text((72, 80), "Owls hear at night.")
        document.save(tmp_path / "newer.pdf")
    (tmp_path / "newer.pdf").replace(file)
    assert run("add", str(file)).code == 0
    shown = run("bibliography").out
    assert "Owls" in shown
    assert "Ada Bee and Eve Fox" in shown
    assert run("edit", "owls.pdf").code == run("edit", "owls.pdf", "--doi", "none").code == 2


def test_what_is_corrected_stays_in_a_completed_record() -> None:
    printed = Paper(id="p", title="Owl nets", authors=(), sha256="", file="", pages=(), sections=(), elements=())
    corrected = with_record(printed, BibRecord(origin=CORRECTED, title="OWL NETS", publication=Publication(year=2001)))
    told = BibRecord(origin="Crossref", title="Other nets", authors=("A. Bee",), publication=Publication(year=2002))
    found = with_record(corrected, told)
    assert (found.title, found.authors, found.publication.year) == ("OWL NETS", ("A. Bee",), 2001)


def test_papers_are_tagged_and_notes_are_written(run: Run, tmp_path: Path) -> None:
    (tmp_path / "owl.md").write_text("# Owls by Night\n\nOwls see at night.\n")
    (tmp_path / "fox.md").write_text("# Foxes\n\nFoxes run.\n")
    assert run("add", "owl.md", "fox.md").code == 0
    assert run("tag", "owl.md", "--add", "to read").out.split() == ["#to-read", "1", "paper"]
    assert "Foxes" not in run("papers", "#to-read").out
    assert run("bibliography", "#to-read").out.count("@") == 1
    assert run("note", "owl.md", "See *moths*.", "--element", "passage-2").code == 0
    assert run("note", "owl.md").code == 2
    listed = run("notes", "moths", "-p", "#to-read").out
    assert "Owls by Night, line" in listed
    assert run("notes", "--out", "vault").code == 0
    (file,) = (tmp_path / "vault").iterdir()
    assert 'tags: ["to-read"]\n---\n\n# Owls by Night\n\n> Owls see at night.\n\nSee *moths*.' in file.read_text()
    assert run("notes", "--delete", listed.split()[0]).code == 0
    assert run("notes").out == ""
