"""The retrieval suite from a data folder to its report, ours and a peer."""

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import pymupdf
import pytest
from paperscope_lab.evaluation.libraries import Libraries
from paperscope_lab.evaluation.report import Report
from paperscope_lab.evaluation.retrieval.corpora import Corpus
from paperscope_lab.evaluation.retrieval.sets import load_corpora
from paperscope_lab.evaluation.retrieval.suite import SUITE
from paperscope_lab.evaluation.retrieval.systems import OpenCorpora, PeerSystem
from paperscope_lab.evaluation.suite import Part, Request

from paperscope_core.codec import from_json
from paperscope_core.errors import InputError, ModelError, SettingsError
from paperscope_core.models import FakeReranker
from paperscope_core.settings import EmbedSettings, Settings

if TYPE_CHECKING:
    from tests.evaluation.conftest import Evaluate


FACTS = {
    "bees": "Honey bees dance to tell the other bees where flowers with nectar stand.",
    "rocks": "Granite forms when magma cools slowly far below the surface of the earth.",
    "stars": "A white dwarf is the hot remnant of a star that has burnt its hydrogen.",
    "bread": "Sourdough rises because wild yeast and bacteria ferment the flour overnight.",
}
ASKED = {"bees": "How do honey bees tell the others where flowers stand?", "rocks": "How does granite form from magma?"}


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A small folder with every set; all that is asked can be found."""
    folder = tmp_path / "data"
    (folder / "eval").mkdir(parents=True)
    (folder / "papers" / "mmlongbench").mkdir(parents=True)
    with pymupdf.open() as pdf:
        for text in FACTS.values():
            pdf.new_page().insert_textbox(pymupdf.Rect(72, 72, 540, 700), f"{text} {text}")
        pdf.save(folder / "papers" / "mmlongbench" / "report.pdf")
    texts = list(FACTS.values())
    sets: dict[str, list[dict[str, object]]] = {
        "paperqa_qasper10_raw": [
            {
                "id": "nature",
                "title": "On nature",
                "abstract": "",
                "full_text": {"section_name": ["Nature"], "paragraphs": [texts]},
                "qas": {
                    "question": list(ASKED.values()),
                    "question_id": list(ASKED),
                    "answers": [{"answer": [{"free_form_answer": "so", "evidence": [FACTS[name]]}]} for name in ASKED],
                },
            }
        ],
        "paperqa_argscichat": [
            {
                "id": "On nature",
                "title": "On nature",
                "content": texts,
                "message_pairs": [{"P_Message": ASKED["rocks"], "facts": ["magma cools slowly"]}],
            }
        ],
        "paperqa_mmlongbench": [
            {
                "id": "m1",
                "doc": "report.pdf",
                "question": ASKED["rocks"],
                "answer": "some",
                "answer_format": "Str",
                "evidence_pages": [2],
                "evidence_sources": ["Table", "Pure-text (Plain-text)"],
            },
        ],
        "paperqa_ohrbench_pages": [
            {"doc": "d", "page": page, "text_gt": text, "text_mineru": text.replace("o", "0")}
            for page, text in enumerate(texts)
        ],
        "paperqa_ohrbench": [
            {
                "doc_name": "d",
                "ID": "o1",
                "questions": ASKED["bees"],
                "answers": "by dances",
                "evidence_page_no": 0,
                "evidence_source": "text",
            }
        ],
        "kg_nlptdms_text": [
            {
                "paper": name,
                "text": f"section: title\nOn {name}\nsection: Intro\n{text} We report F1 on {name.upper()}.",
            }
            for name, text in FACTS.items()
        ],
        "kg_nlptdms_tuples": [
            {"paper": "stars", "task": "star_finding", "dataset": "STARS", "metric": "F1", "score": "1"}
        ],
    }
    for name, lines in sets.items():
        (folder / "eval" / f"{name}.jsonl").write_text("\n".join(map(json.dumps, lines)))
    return folder


@pytest.mark.slow
def test_every_set_prints_its_figures_and_the_same_again(
    data: Path, tmp_path: Path, evaluate: "Evaluate", capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    assert evaluate("retrieval", "--data", data, "--out", out) == 0
    printed = capsys.readouterr().out
    assert [cell.strip() for cell in _row(printed, "set")] == [
        "set",
        "items",
        "hit@1",
        "hit@5",
        "recall@5",
        "recall@10",
        "MRR",
    ]
    for name, items in (("qasper", 2), ("argscichat", 1), ("mmlongbench", 1), ("ohrbench", 1), ("tdms", 1)):
        cells = _row(printed, name)
        assert cells[1] == str(items), name
        assert float(cells[3]) == 1, name
    report = from_json(Report, (out / "retrieval.json").read_bytes())
    assert report.figures["qasper"]["hit@1"].value == 1
    assert report.figures["ohrbench-ocr"]["hit@5.text"].total == 1
    assert {"hit@5.table", "recall@5.text", "nDCG@10"} <= set(report.figures["mmlongbench"])
    assert report.results[0].score.details == {"question": ASKED["bees"], "rank": "1", "first": FACTS["bees"]}
    again = tmp_path / "again"
    assert evaluate("retrieval", "--data", data, "--out", again, "--only", "qasper") == 0
    assert _row(capsys.readouterr().out, "qasper") == _row(printed, "qasper")
    first = (out / "retrieval.jsonl").read_text().splitlines()
    assert (again / "retrieval.jsonl").read_text().splitlines() == first[:2]


def test_a_part_holds_whole_documents_and_both_parts_hold_all(data: Path, tmp_path: Path) -> None:
    items = []
    parts: tuple[Part | Literal[""], ...] = ("", "fitting", "held-out")
    for part in parts:
        request = Request(data=data, mode="words", settings=Settings(), work=tmp_path / "work", part=part)
        with SUITE.open(request) as loaded:
            items.append([item.name for item in loaded.items])
    every, fitting, held_out = items
    assert fitting
    assert held_out
    assert sorted([*fitting, *held_out]) == sorted(every)
    documents = [{name.split("/")[1] for name in part} for part in (fitting, held_out)]
    assert not documents[0] & documents[1], "what is asked of one document is in one part, in whichever set"


def test_a_reranker_reads_only_where_one_is_set(
    data: Path, evaluate: "Evaluate", capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = ("retrieval", "--data", data, "--mode", "fused+graph+rerank", "--only", "qasper", "--misses")
    assert evaluate(*asked) == 1
    assert "no reranker is set" in capsys.readouterr().out
    monkeypatch.setattr("paperscope_lab.evaluation.retrieval.systems.build_reranker", lambda _settings: FakeReranker())
    assert evaluate(*asked) == 0
    assert float(_row(capsys.readouterr().out, "qasper")[2]) == 1


@pytest.mark.parametrize("mode", ["words", "vectors", "fused", "fused+named"])
def test_the_steps_that_ours_goes(
    mode: str, data: Path, evaluate: "Evaluate", capsys: pytest.CaptureFixture[str]
) -> None:
    assert evaluate("retrieval", "--data", data, "--mode", mode, "--only", "qasper", "--misses") == 0
    assert float(_row(capsys.readouterr().out, "qasper")[2]) == 1


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["fused+graph", "fused"])
def test_lightrag_finds_the_candidates_if_the_settings_say_so(
    mode: str, data: Path, evaluate: "Evaluate", capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("lightrag")
    monkeypatch.setenv("PAPERSCOPE_RETRIEVAL__INDEX", "lightrag")
    assert evaluate("retrieval", "--data", data, "--mode", mode, "--only", "qasper", "--misses") == 0
    printed = capsys.readouterr().out
    assert "retrieval.index lightrag" in printed
    assert float(_row(printed, "qasper")[2]) == 1


def test_bad_gold_leaves_the_rest(data: Path, evaluate: "Evaluate", capsys: pytest.CaptureFixture[str]) -> None:
    file = data / "eval" / "paperqa_mmlongbench.jsonl"
    good = json.loads(file.read_text())
    bad = [good | {"doc": "none.pdf"}, good | {"evidence_pages": [400]}, {"id": "x"}, good]
    file.write_text("\n".join(map(json.dumps, bad)))
    assert evaluate("retrieval", "--data", data, "--only", "mmlongbench", "--misses") == 1
    printed = capsys.readouterr().out
    for said in (":1: unknown paper 'none.pdf'", ":2: page 400 is out of range", ":3: field 'doc' is missing"):
        assert printed.count(f"paperqa_mmlongbench.jsonl{said}") == 1, said
    assert _row(printed, "mmlongbench")[1] == "1"


def test_a_paper_that_cannot_be_read_is_said(
    data: Path, evaluate: "Evaluate", capsys: pytest.CaptureFixture[str]
) -> None:
    (data / "papers" / "mmlongbench" / "report.pdf").write_bytes(b"%PDF-1.5 nothing")
    only = ("--only", "mmlongbench", "--only", "argscichat")
    assert evaluate("retrieval", "--data", data, "--misses", *only) == 1
    printed = capsys.readouterr().out
    assert "mmlongbench/report.pdf/m1: 'report.pdf' is damaged" in printed
    assert _row(printed, "argscichat")[1] == "1"


def _row(printed: str, name: str) -> list[str]:
    row = next(line for line in printed.splitlines() if line.startswith(f"| {name} "))
    return [cell.strip() for cell in row.strip("|").split("|")]


# ---- a peer

_PEER = r"""#!{python}
import json, re, sys
from pathlib import Path
job, result = json.loads(Path(sys.argv[3]).read_text()), Path(sys.argv[4])
words = lambda text: set(re.findall(r"\w+", text.lower()))
lines = [{{"package": "fake 1"}}]
for corpus in job["corpora"]:
    with Path({log!r}).open("a") as log:
        log.write(corpus["name"] + " " + corpus["documents"][0]["file"] + "\n")
    for question in corpus["questions"]:
        asked = words(question["text"])
        units = [(document["id"], unit) for document in corpus["documents"] for unit in document["units"]]
        units.sort(key=lambda entry: -len(asked & words(entry[1]["text"])))
        found = [{{"unit": unit["id"], "document": key, "pages": [], "text": unit["text"]}} for key, unit in units]
        if corpus["documents"][0]["file"]:
            found = [{{"unit": "", "document": units[0][0], "pages": [2, 3], "text": "cut by itself"}}]
        problem = "it broke" if corpus["name"] == "tdms" else ""
        if corpus["name"].startswith("argscichat"):
            sys.exit("killed")
        lines.append(
            {{"answer": {{"corpus": corpus["name"], "question": question["id"], "found": found, "problem": problem}}}}
        )
result.write_text("\n".join(map(json.dumps, lines)))
"""


@pytest.fixture
def peer(tmp_path: Path) -> Path:
    """A Python whose peers rank texts by the words that they share with the question; it logs what it is asked."""
    python = tmp_path / "python"
    python.write_text(_PEER.format(python=sys.executable, log=str(tmp_path / "asked")))
    python.chmod(0o755)
    return python


def corpora_of(data: Path, folder: Path) -> dict[str, Corpus]:
    return {corpus.name: corpus for corpus in load_corpora(data, folder=folder)[0]}


def test_a_peer_is_asked_once_a_corpus(data: Path, tmp_path: Path, peer: Path) -> None:
    corpora = corpora_of(data, tmp_path / "texts")
    log = tmp_path / "asked"
    for _ in range(2):
        with Libraries(tmp_path / "libraries", Settings()) as libraries:
            system = PeerSystem("bm25", libraries, tmp_path / "peers", python=peer)
            assert system.facts == {"peer": "fake 1"}
            opened = OpenCorpora(libraries).open(corpora["qasper/nature"])
            for question, name in zip(opened.corpus.questions, ASKED, strict=True):
                finds = system.find(opened, question)
                assert finds[0].text == FACTS[name]
                assert opened.ranking(finds)[0] in question.evidence[0][0].units
    assert log.read_text() == "qasper/nature \n"


def test_a_peer_that_reads_by_itself_and_one_that_fails(data: Path, tmp_path: Path, peer: Path) -> None:
    corpora = corpora_of(data, tmp_path / "texts")
    with Libraries(tmp_path / "libraries", Settings()) as libraries:
        system, opening = PeerSystem("paperqa", libraries, tmp_path / "peers", python=peer), OpenCorpora(libraries)
        pdf = opening.open(corpora["mmlongbench/report.pdf"])
        assert pdf.ranking(system.find(pdf, pdf.corpus.questions[0])) == ["page 2", "page 3"]
        papers = opening.open(corpora["tdms"])
        with pytest.raises(ModelError, match="fake 1 did not answer: it broke"):
            system.find(papers, papers.corpus.questions[0])
        dialogue = opening.open(corpora["argscichat/On nature/1"])
        for _ in range(2):
            with pytest.raises(ModelError, match="fake 1 did not answer: failed: killed"):
                system.find(dialogue, dialogue.corpus.questions[0])
        assert [line.split()[0] for line in (tmp_path / "asked").read_text().splitlines()] == [
            "mmlongbench/report.pdf",
            "tdms",
            "argscichat/On",
        ]
        remote = Settings(embed=EmbedSettings(model="some/where"))
    with (
        Libraries(tmp_path / "remote", remote) as libraries,
        pytest.raises(SettingsError, match="embedder in a folder"),
    ):
        PeerSystem("bm25", libraries, tmp_path / "peers", python=peer)
    with Libraries(tmp_path / "none", Settings()) as libraries, pytest.raises(InputError, match="not installed"):
        PeerSystem("bm25", libraries, tmp_path / "peers", python=tmp_path / "nowhere")


def test_a_peer_that_is_not_installed_has_no_items(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("paperscope_lab.evaluation.retrieval.systems.PEERS_PYTHON", tmp_path / "nowhere")
    request = Request(data=data, mode="bm25", settings=Settings(), work=tmp_path / "work")
    with SUITE.open(request) as loaded:
        assert not loaded.items
        assert "not installed" in str(loaded.bad[-1])
