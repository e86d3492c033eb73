"""The answers suite on the example paper: asked, scored, kept; and judged by a fake."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from paperscope_lab.evaluation.answers.questions import GoldQuestion, Source
from paperscope_lab.evaluation.answers.scoring import Judge
from paperscope_lab.evaluation.answers.suite import SUITE, ask_and_score
from paperscope_lab.evaluation.gold.text_papers import TextSection, text_paper
from paperscope_lab.evaluation.libraries import Libraries
from paperscope_lab.evaluation.question_suite import settings_for
from paperscope_lab.evaluation.suite import Request

from paperscope_core.errors import SettingsError
from paperscope_core.models import FakeModel
from paperscope_core.settings import AnswerSettings, ExtractSettings, RoleSettings, Settings

if TYPE_CHECKING:
    from tests.evaluation.conftest import Evaluate, Example


CONFIGURED = RoleSettings(model="m", base_url="http://127.0.0.1:9/v1")
ANSWERING = AnswerSettings(model="m", base_url="http://127.0.0.1:9/v1")
EXTRACTING = ExtractSettings(model="m", base_url="http://127.0.0.1:9/v1")


@pytest.mark.slow
def test_the_example_paper_is_asked(
    example: "Example", evaluate: "Evaluate", capsys: pytest.CaptureFixture[str]
) -> None:
    out = example.out
    assert evaluate("answers", "--data", example.data, "--out", out) == 1
    first = capsys.readouterr().out
    assert "questions.jsonl:11: field 'answer' is missing" in first
    report = json.loads((out / "answers.json").read_text())
    figures = report["figures"]["docbench"]
    assert figures["right"]["items"] == 9
    assert figures["right_of_answered"]["value"] == 1
    assert figures["abstention.recall"]["value"] == 1
    assert figures["abstention.recall"]["total"] == 2
    lines = [json.loads(line) for line in (out / "answers.jsonl").read_text().splitlines()]
    answered = [line["score"] for line in lines if line["score"]["tallies"]["answered"]["right"]]
    # All whose answer is certain by its form: two definitions, a count and three cells.
    assert len(answered) >= 6
    assert all(score["tallies"]["right"]["right"] == 1 and score["details"]["short"] for score in answered)
    assert evaluate("answers", "--data", example.data, "--out", out) == 1
    assert capsys.readouterr().out == first


def test_models_answer_only_where_they_are_configured(
    example: "Example", evaluate: "Evaluate", capsys: pytest.CaptureFixture[str]
) -> None:
    assert evaluate("answers", "--data", example.data, "--mode", "model") == 2
    assert "mode 'model' needs a model that answers: set PAPERSCOPE_MODEL" in capsys.readouterr().err


def test_extractive_mode_uses_no_model_but_a_judge(
    example: "Example", tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = Settings(answer=ANSWERING, extract=EXTRACTING, vision=CONFIGURED)
    used = settings_for("extractive", settings)
    assert not any(role.configured for role in (used.answer, used.extract, used.vision))
    assert settings_for("model", settings) == settings
    request = Request(data=example.data, mode="extractive", settings=settings, work=tmp_path / "work")
    with SUITE.open(request) as loaded:
        assert loaded.facts == {}
    monkeypatch.setenv("JUDGE_MODEL", "j")
    with pytest.raises(SettingsError, match=r"JUDGE_BASE_URL.*'j' has no base_url"), SUITE.open(request):
        pass
    monkeypatch.setenv("JUDGE_BASE_URL", "http://127.0.0.1:9/v1")
    with SUITE.open(request) as loaded:
        assert loaded.facts == {"judge": "j"}


def test_a_model_without_a_server_is_refused_by_the_suite(example: "Example", tmp_path: Path) -> None:
    request = Request(data=example.data, mode="model", settings=Settings(), work=tmp_path / "work")
    with pytest.raises(SettingsError, match="--mode extractive"), SUITE.open(request):
        pass


def test_a_folder_without_questions_is_refused(
    tmp_path: Path, evaluate: "Evaluate", capsys: pytest.CaptureFixture[str]
) -> None:
    assert evaluate("answers", "--data", tmp_path) == 2
    assert "no questions here" in capsys.readouterr().err


@pytest.mark.slow
def test_a_judge_sees_question_gold_and_answer(tmp_path: Path) -> None:
    section = TextSection(path=("Data",), paragraphs=("We use the NewsBank Corpus (NBC) of Finnish sentences.",))
    paper = text_paper("p", title="Taggers that smooth", sections=[section])
    model = FakeModel([json.dumps({"reason": "the same name", "right": True})])
    asked = ["What does NBC stand for?", "Which optimiser was chosen for GPT-9?"]
    with Libraries(tmp_path, Settings()) as libraries:
        answered, abstained = (
            ask_and_score(
                GoldQuestion(name=f"qasper/p/{number}", question=question, references=("NewsBank Corpus",)),
                Source(papers=(paper,)),
                libraries,
                Judge(model),
            )
            for number, question in enumerate(asked)
        )
    assert answered.tallies["right"].right == answered.tallies["judge.agreement"].right == 1
    assert answered.details["judge"] == "the same name"
    assert "judge.right" not in abstained.tallies
    (request,) = model.requests
    prompt = request.messages[-1].text
    assert asked[0] in prompt
    assert "NewsBank Corpus" in prompt
    assert answered.details["answer"] in prompt
    assert request.schema is not None
