"""Questions on pages without text: the page itself is rendered and read."""

import json
from io import BytesIO
from pathlib import Path

from PIL import Image, ImageDraw

from graph_store import Store
from paperscope.library import Library
from paperscope_core.models import Models
from paperscope_core.models.fakes import FakeEmbedder, FakeModel
from paperscope_core.settings import Settings
from paperscope_core.types import UnreadImage

SEEN = json.dumps({"pictures": [{"picture": 1, "finding": "A boat.", "relevant": True, "agrees": False}]})


def reply(text: str, *evidence: str, status: str = "answered") -> str:
    return json.dumps({"status": status, "answer": text, "claims": [{"text": text, "evidence": list(evidence)}]})


def scan(folder: Path) -> Path:
    """Two scanned pages."""
    frames = []
    for number in (1, 2):
        frame = Image.new("RGB", (600, 800), "white")
        ImageDraw.Draw(frame).text((50, 50 * number), f"page {number}", fill="black")
        frames.append(frame)
    frames[0].save(folder / "scan.pdf", save_all=True, append_images=frames[1:])
    return folder / "scan.pdf"


def library(folder: Path, answers: FakeModel, vision: FakeModel) -> Library:
    settings = Settings.model_validate({"parser": {"ocr": "off"}, "retrieval": {"images": 1}})
    models = Models(embedder=FakeEmbedder(), answer=answers, vision=vision)
    return Library(store=Store.open(folder), settings=settings, models=models)


def test_a_question_on_a_scan_is_answered_from_the_page_that_it_names(tmp_path: Path) -> None:
    vision = FakeModel([SEEN])
    answers = FakeModel([reply("Not said.", status="unanswerable"), reply("A boat.", "I0")])
    with library(tmp_path / "library", answers, vision) as papers:
        papers.add(scan(tmp_path))
        answer = papers.ask("What is in the plate on page 2?")
        [evidence] = answer.evidence
        assert (answer.text, evidence.place.page) == ("A boat.", 2)
        [image] = vision.requests[0].messages[-1].images
        with Image.open(BytesIO(image)) as page:
            assert page.size == (1250, 1667)
        [reading] = answer.readings
        assert papers.reading_picture(reading) == image
        assert "page 2" in papers.show(answer).html


def test_a_poster_is_read_at_a_size_that_models_take(tmp_path: Path) -> None:
    poster = Image.new("RGB", (2384, 3370), "white")
    ImageDraw.Draw(poster).text((50, 50), "A poster", fill="black")
    poster.save(tmp_path / "poster.pdf")
    vision = FakeModel([SEEN])
    answers = FakeModel([reply("Not said.", status="unanswerable"), reply("A boat.", "I0")])
    with library(tmp_path / "library", answers, vision) as papers:
        papers.add(tmp_path / "poster.pdf")
        papers.ask("What is on page 1?")
    with Image.open(BytesIO(vision.requests[0].messages[-1].images[0])) as page:
        assert max(page.size) <= 2000


def test_a_page_whose_file_is_gone_is_unread_and_the_answer_says_why(tmp_path: Path) -> None:
    vision = FakeModel([])
    answers = FakeModel([reply("Not said.", status="unanswerable")])
    with library(tmp_path / "library", answers, vision) as papers:
        file = scan(tmp_path)
        papers.add(file)
        file.unlink()
        answer = papers.ask("What is in the plate on page 2?")
    [reading] = answer.readings
    assert isinstance(reading, UnreadImage)
    assert "'scan.pdf' is no longer where it was added from" in reading.reason
    assert any("the image of page 2 could not be read" in finding.message for finding in answer.findings)
