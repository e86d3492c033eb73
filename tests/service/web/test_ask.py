"""Ask in the web page: from the first question to a conversation that is reopened."""

import copy
import json
import re
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, Route, expect

from paperscope_core.text.citation_marks import place_marks
from tests.context_parsing import parse_context
from tests.model_server import Body, kind_of, serve
from tests.service.conftest import settings_of
from tests.service.servers import serve_app

pytestmark = pytest.mark.slow

_SEED = "In Table 5, what is the entity F1 of the ensemble with seed 2?"
_RECALL = "In Table 3, what is the recall on the test split under the exact scenario?"
_HOSTILE = "<img src=x onerror=\"document.title='OWNED'\">"

Answer = dict[str, Any]


def ask(page: Page, question: str) -> Locator:
    """Asks a question and waits for its answer."""
    box = page.get_by_role("textbox", name=re.compile("^Ask a"))
    box.fill(question)
    box.press("Enter")
    turn = page.get_by_role("article", name=question)
    expect_answer(turn)
    return turn


def expect_answer(turn: Locator) -> None:
    """Waits for the answer of a question; the first one loads the embedder."""
    expect(turn.get_by_text("How it was answered")).to_be_visible(timeout=60_000)


def events(answer: Answer) -> str:
    """A stream that consists of an answer."""
    done = {"text": answer["text"], "anew": False, "kind": "text"}
    return "".join(f"event: {kind}\ndata: {json.dumps(data)}\n\n" for kind, data in (("text", done), ("done", answer)))


def reply_with(page: Page, body: str) -> None:
    """Lets each question have this stream."""
    page.route(
        "**/v1/query", lambda route: route.fulfill(status=200, content_type="text/event-stream", body=body), times=1
    )


@pytest.fixture(scope="module")
def example_answer(root: Path) -> Answer:
    """The API's example of an answer."""
    examples = json.loads((root / "service" / "http" / "examples.json").read_text(encoding="utf-8"))
    answer: Answer = examples["answer"]
    return answer


@pytest.fixture
def checked_answer(example_answer: Answer) -> Answer:
    """An answer of a language model, with all that can be said of its claims and numbers."""
    answer = copy.deepcopy(example_answer)
    first, second = answer["claims"]
    crop = answer["exhibits"][0]["crops"][0]
    answer |= {
        "status": "answered",
        "model": "a-model",
        "text": "The mean of 94.90 and 94.00 is 94.45, and the DeBERTa-v9 has 99.9.\n\n"
        f"It follows $w_{{n+1}}$ {_HOSTILE}.",
        "claims": [
            {"text": "The mean of both values is 94.45.", "evidence": first["evidence"]},
            {"text": "DeBERTa-v9 has 99.9.", "evidence": []},
            {"text": "An ensemble was not trained here at all.", "evidence": second["evidence"]},
        ],
        "checks": [
            {
                "number": "94.45",
                "finding": "computed",
                "formula": "(94.90 + 94.00) / 2 = 94.45",
                "support": first["evidence"],
            },
            {"number": "99.9", "finding": "unsupported", "formula": "", "support": []},
        ],
        # The page reads no message.
        "findings": [
            {"kind": "claim", "subject": "DeBERTa-v9 has 99.9.", "place": None, "message": "nothing backs the claim"},
            {"kind": "number", "subject": "99.9", "place": None, "message": "nothing backs the number"},
            {"kind": "name", "subject": "DeBERTa-v9", "place": None, "message": "nothing backs the name"},
        ],
        "readings": [
            {
                "kind": "finding",
                "element": "b1810c2e3f4a/figure-1",
                "crop": crop,
                "place": {"paper": "b1810c2e3f4a", "page": 4, "box": [50, 300, 280, 420]},
                "text": "The bar of Test stands at 0.83.",
                "relevant": True,
                "agrees": False,
            }
        ],
        "usage": {"calls": 2, "cached": 1, "prompt_tokens": 4000, "completion_tokens": 300, "cost": 0.0123},
    }
    marks = place_marks(answer["text"], [claim["text"] for claim in answer["claims"]])
    answer["claims"] = [{**claim, "mark": mark} for claim, mark in zip(answer["claims"], marks, strict=True)]
    return answer


def test_first_visit_to_first_cited_answer(page: Page) -> None:
    page.goto("/")
    expect(page.get_by_role("heading", name="Ask your papers")).to_be_visible()
    turn = ask(page, _SEED)
    expect(turn).to_contain_text("89.80 under Ensemble Entity F1")
    mark = turn.get_by_role("button", name=re.compile("^Claim 1: ")).first
    mark.hover()
    expect(page.locator(".card")).to_contain_text("Table 5, page 4")
    mark.click()
    pane = page.get_by_role("complementary", name="Evidence on the page")
    expect(pane).to_contain_text("Four Reports, Four Rulers")
    expect(mark).to_have_attribute("aria-pressed", "true")
    expect(page).to_have_url(re.compile(r"#/ask/[^/]+\?turn=0&evidence=claim-0-0$"))
    # Opened again, the page is drawn from the document that is still open.
    for _ in range(2):
        expect(pane.locator("canvas").first).to_be_visible()
        pane.get_by_role("button", name="Close the paper").click()
        expect(pane).to_be_hidden()
        mark.click()


def test_a_second_question_and_the_conversation_reopened_with_its_highlights(page: Page) -> None:
    page.goto("/")
    ask(page, _RECALL)
    second = ask(page, _RECALL.replace("recall", "precision"))
    second.get_by_role("button", name=re.compile("^Claim 1: ")).first.click()
    page.reload()
    turns = page.get_by_role("article")
    expect(turns).to_have_count(2)
    expect(turns.nth(0)).to_contain_text("0.9687")
    mark = turns.nth(1).get_by_role("button", name=re.compile("^Claim 1: ")).first
    expect(mark).to_have_attribute("aria-pressed", "true")
    expect(page.get_by_role("complementary", name="Evidence on the page")).to_be_visible()
    page.get_by_role("link", name="New conversation").click()
    page.get_by_role("region", name="Conversations").get_by_role("link", name=_RECALL).first.click()
    expect(turns).to_have_count(2)


def test_conversations_are_renamed_exported_and_deleted_with_undo(page: Page) -> None:
    page.goto("/")
    ask(page, "How many tables does the paper have?")
    conversations = page.get_by_role("region", name="Conversations")

    def choose(action: str) -> None:
        conversations.get_by_role("listitem").first.hover()
        conversations.get_by_role("button", name=re.compile("^Actions for")).first.click()
        page.get_by_role("menuitem", name=action).click()

    choose("Rename")
    page.get_by_label("Title").fill("Tables in all")
    page.get_by_role("button", name="Save").click()
    entry = conversations.get_by_role("link", name="Tables in all")
    expect(entry).to_be_visible()
    with page.expect_download() as download:
        choose("Save as HTML")
    assert download.value.suggested_filename == "tables-in-all.html"
    assert "<title>Tables in all</title>" in download.value.path().read_text(encoding="utf-8")
    choose("Delete")
    expect(entry).to_be_hidden()
    page.get_by_role("button", name="Undo").click()
    expect(entry).to_be_visible()
    choose("Delete")
    with page.expect_response(lambda response: response.request.method == "DELETE") as deleted:
        page.get_by_role("button", name="Dismiss").click()
    assert deleted.value.status == 204
    page.reload()
    expect(conversations.get_by_role("heading")).to_be_visible()
    expect(entry).to_be_hidden()


def test_what_is_not_in_the_papers_is_said_plainly(page: Page, example_answer: Answer) -> None:
    missing = {**example_answer, "status": "unanswerable", "text": "The papers give no BLEU score.", "claims": []}
    reply_with(page, events(missing))
    page.goto("/")
    turn = ask(page, "What is the BLEU score of GPT-7 on WMT?")
    expect(turn.get_by_role("heading", name="Not found in the papers asked")).to_be_visible()
    expect(turn).to_contain_text("BLEU")


def test_filters_restrict_the_question(page: Page) -> None:
    page.goto("/")
    page.get_by_role("button", name="Whole library").click()
    dialog = page.get_by_role("dialog", name="Where to look")
    dialog.get_by_label(re.compile("^Four Reports")).check()
    dialog.get_by_label("Equations").check()
    dialog.get_by_label("Sections").fill("3.4, 5")
    dialog.get_by_label("From").fill("2030")
    dialog.get_by_label("To").fill("2020")
    expect(dialog.get_by_role("alert")).to_contain_text("later")
    dialog.get_by_label("From").fill("")
    dialog.get_by_label("To").fill("")
    dialog.get_by_role("button", name="Apply").click()
    chips = page.get_by_role("list", name="Sources of the question")
    expect(chips.get_by_role("listitem")).to_have_count(4)
    chips.get_by_role("button", name="Remove Section 5").click()
    with page.expect_request("**/v1/query") as request:
        ask(page, "How are the averaged weights updated?")
    body: Answer = request.value.post_data_json or {}
    assert (body["papers"], body["kinds"], body["sections"]) == (["b1810c2e3f4a"], ["equation"], ["3.4"])
    assert "years" not in body


def test_findings_of_the_verifier_stand_at_what_they_concern(page: Page, checked_answer: Answer) -> None:
    checked_answer["text"] += " It changed by -0.5. Log in at http://evil.example/a."
    checked_answer["checks"].append({"number": "-0.5", "finding": "unsupported", "formula": "", "support": []})
    checked_answer["findings"] += [
        {"kind": "extreme", "subject": "94.00", "place": None, "message": "another value is higher"},
        {"kind": "link", "subject": "http://evil.example/a", "place": None, "message": "the link is in no source"},
        {"kind": "model", "subject": "", "place": None, "message": "a remark"},
    ]
    reply_with(page, events(checked_answer))
    page.goto("/")
    turn = ask(page, "What is the mean?")
    text = turn.locator(".answer-text")
    text.get_by_role("button", name=re.compile("^94.45, computed")).click()
    expect(page.locator(".card", has_text="(94.90 + 94.00) / 2 = 94.45")).to_be_visible()
    text.get_by_role("button", name=re.compile("^99.9, not supported")).click()
    expect(page.locator(".card", has_text="Nothing backs the number.")).to_be_visible()
    expect(page.locator(".card")).to_have_count(1)
    expect(text.get_by_role("button", name=re.compile("^DeBERTa-v9, not supported"))).to_be_visible()
    expect(text.get_by_role("button", name=re.compile("^94.00, not supported"))).to_be_visible()
    expect(text.get_by_role("button", name=re.compile("^-0.5, not supported"))).to_be_visible()
    expect(text.get_by_role("button", name="http://evil.example/a, not supported")).to_be_visible()
    expect(turn.get_by_role("note")).to_contain_text("5 things")
    expect(turn.get_by_role("list", name="Remarks")).to_have_text("A remark.")
    expect(turn.get_by_role("region", name="Arithmetic")).to_contain_text("(94.90 + 94.00) / 2 = 94.45")
    expect(turn.get_by_role("region", name="Read in images")).to_contain_text("The bar of Test stands at 0.83.")
    expect(turn.locator(".katex")).to_be_visible()
    # The claim that the text does not state is listed, but has no mark in it.
    expect(text.get_by_role("button", name=re.compile("^Claim 3"))).to_have_count(0)
    expect(turn.get_by_role("region", name="Evidence")).to_contain_text("An ensemble was not trained here at all.")
    turn.get_by_text("How it was answered").click()
    expect(turn).to_contain_text("2 sent, 1 from the store")


def test_the_rows_of_a_table_stand_below_their_item(page: Page, example_answer: Answer) -> None:
    rows = "Model | WSJ | CTB5\nPlain | 94.90 | 94.10"
    text = f"Places:\n1. Table 2\n{rows}\n2. “Dice helps.”\n  In rare tags.\n\nThat is all."
    reply_with(page, events({**example_answer, "status": "evidence", "text": text, "claims": []}))
    page.goto("/")
    shown = ask(page, "Where is WSJ?").locator(".answer-text")
    first, second = shown.locator("ol > li").all()
    assert first.locator("tr").all_inner_texts() == ["Model\tWSJ\tCTB5", "Plain\t94.90\t94.10"]
    assert second.inner_text().split() == ["“Dice", "helps.”", "In", "rare", "tags."]
    assert shown.locator("> p").all_inner_texts() == ["Places:", "That is all."]


def test_a_page_that_was_read_is_shown_like_a_crop(page: Page, checked_answer: Answer) -> None:
    [reading] = checked_answer["readings"]
    checked_answer["readings"] = [reading | {"element": "b1810c2e3f4a/passage-1", "crop": ""}]
    image = {"id": 0, "element": "b1810c2e3f4a/passage-1", "label": "page 4", "caption": "", "crop": ""}
    checked_answer["context"]["images"] = [image | {"place": reading["place"]}]
    page.goto("/")
    reply_with(page, events(checked_answer))
    shown = ask(page, "What is on page 4?").locator(".readings")
    expect(shown).to_contain_text("page 4")
    picture = shown.locator("img")
    expect(picture).to_have_attribute("src", "/v1/papers/b1810c2e3f4a/pages/4.png")
    expect(picture).to_have_js_property("complete", value=True)
    shown.get_by_role("button", name="page 4").first.click()
    expect(page.locator("img.picture")).to_have_attribute("src", "/v1/papers/b1810c2e3f4a/pages/4.png")


def test_texts_of_models_are_no_markup(page: Page, checked_answer: Answer) -> None:
    checked_answer["claims"][0]["text"] = checked_answer["exhibits"][0]["label"] = _HOSTILE
    checked_answer["findings"].append({"kind": "note", "subject": "", "place": None, "message": _HOSTILE})
    reply_with(page, events(checked_answer))
    page.goto("/")
    turn = ask(page, _HOSTILE)
    expect(turn.locator(".answer-text")).to_contain_text(_HOSTILE)
    assert page.locator("img[src=x]").count() == 0
    with page.expect_download() as download:
        turn.get_by_role("button", name="Export").click()
        page.get_by_role("menuitem", name="Save as HTML").click()
    saved = download.value.path().read_text(encoding="utf-8")
    assert "<img src=x" not in saved
    assert "data:image/png;base64," in saved
    assert page.title() == "Ask – Paperscope"


def test_an_answer_is_copied_and_exported(page: Page, checked_answer: Answer) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    reply_with(page, events(checked_answer))
    page.goto("/")
    turn = ask(page, "What is the mean?")
    turn.get_by_role("button", name="Copy", exact=True).click()
    expect(page.get_by_text("Copied.")).to_be_visible()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied.startswith("**How are the averaged weights updated")
    assert "1. Four Reports, Four Rulers, Equation 8, page 3" in copied
    assert "\\<img" not in copied
    assert "&lt;img" in copied
    turn.get_by_text("What it was answered from").click()
    turn.get_by_role("button", name="Copy as CSV").click()
    expect(page.get_by_text("Copied.")).to_have_count(2)
    assert parse_context(page.evaluate("navigator.clipboard.readText()")).sources
    turn.get_by_role("button", name="BibTeX").click()
    expect(page.get_by_text("Copied the BibTeX entry")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()").startswith("@")

    def saved(action: str) -> str:
        with page.expect_download() as download:
            turn.get_by_role("button", name="Export").click()
            page.get_by_role("menuitem", name=action).click()
        return Path(download.value.path()).read_text(encoding="utf-8")

    assert json.loads(saved("Save as JSON")) == checked_answer
    rows = saved("Save as CSV").splitlines()
    assert rows[0] == "question,status,answer,claim,claim_text,evidence,paper,element,page,box,quote"
    assert any(row.endswith("121.4 201.7 287 225.3,w_SWA ← (nw_SWA + w)/(n + 1).") for row in rows)


def test_a_removed_paper_is_said_to_be_gone(page: Page, checked_answer: Answer) -> None:
    place = {"paper": "aaaaaaaaaaaa", "page": 1, "box": [0, 0, 9, 9]}
    gone = {**checked_answer["claims"][0]["evidence"][0], "place": place, "name": "Gone, page 1", "pictures": []}
    checked_answer["claims"][0]["evidence"] = [gone]
    stored: Mapping[str, Any] = {
        "id": "0" * 12,
        "title": "Old",
        "created": "2026-01-01T00:00:00Z",
        "updated": "2026-01-01T00:00:00Z",
        "questions": 1,
        "turns": [checked_answer],
        "missing_papers": ["aaaaaaaaaaaa"],
    }
    page.route(f"**/v1/conversations/{stored['id']}", lambda route: route.fulfill(json=stored))
    page.goto(f"/#/ask/{stored['id']}")
    source = page.get_by_role("button", name=re.compile("Gone, page 1"))
    expect(source).to_contain_text("This paper was removed")
    expect(source).to_be_disabled()


def test_a_lost_connection_is_said_and_the_question_asked_again(page: Page, faults: list[str]) -> None:
    beginning = (
        'event: stage\ndata: {"stage": "answering"}\n\nevent: text\ndata: {"text": "The rec", "anew": false}\n\n'
    )
    reply_with(page, beginning)
    page.goto("/")
    box = page.get_by_role("textbox", name="Ask a question")
    box.fill(_RECALL)
    box.press("Enter")
    turn = page.get_by_role("article", name=_RECALL)
    expect(turn.get_by_role("alert")).to_contain_text("The connection was lost")
    expect(turn).to_contain_text("The rec")
    turn.get_by_role("button", name="Ask again").click()
    expect_answer(page.get_by_role("article"))
    expect(page.get_by_role("article")).to_contain_text("0.9687")
    expect(page.get_by_role("alert")).to_be_hidden()
    assert faults == []


def test_a_draft_is_shown_at_once_and_replaced_when_a_look_up_changes_it(browser: Browser, library: Path) -> None:
    released = threading.Event()
    look_up = [{"tool": "section", "argument": "1", "paper": "", "part": 1}]

    def reply(body: Body) -> str:
        merges = kind_of(body) == "merged_answer"
        if merges:
            released.wait(60)
        text = "The whole section says 0.9687." if merges else "The context does not say it."
        status = "answered" if merges else "unanswerable"
        return json.dumps({"status": status, "answer": text, "claims": [], "look_up": [] if merges else look_up})

    with serve(reply) as model:
        model.streams = True
        settings = settings_of(library, **{"answer.model": "m", "answer.base_url": model.url, "calls.retries": 0})
        with serve_app(settings) as address:
            context = browser.new_context(base_url=address, locale="en-GB")
            page = context.new_page()
            page.goto("/")
            box = page.get_by_role("textbox", name="Ask a question")
            box.fill(_RECALL)
            box.press("Enter")
            turn = page.get_by_role("article", name=_RECALL)
            expect(turn.locator(".answer-text")).to_have_text("The context does not say it.", timeout=60_000)
            expect(turn.locator(".draft")).to_contain_text("A draft")
            released.set()
            expect_answer(turn)
            expect(turn.locator(".answer-text")).to_contain_text("The whole section says 0.9687.")
            expect(turn.locator(".draft")).to_be_hidden()
            turn.get_by_text("How it was answered").click()
            expect(turn.locator(".made")).to_contain_text("section 1")
            expect(turn.locator(".initial")).to_have_text("The context does not say it.")
            context.close()


def test_an_answer_that_was_completed_meanwhile_appears(page: Page) -> None:
    def cut(route: Route) -> None:
        answered = route.fetch()
        body = answered.text()
        route.fulfill(response=answered, body=body[: body.index("event: done")])

    page.route("**/v1/query", cut, times=1)
    page.goto("/")
    box = page.get_by_role("textbox", name="Ask a question")
    box.fill(_RECALL)
    box.press("Enter")
    turn = page.get_by_role("article")
    expect(turn.get_by_role("alert")).to_be_visible()
    expect_answer(turn)
    expect(turn).to_contain_text("0.9687")


def test_a_question_is_waited_for_after_a_reload(page: Page) -> None:
    # The service goes on; the page hears nothing.
    page.route("**/v1/query", lambda _route: None)
    page.goto("/")
    box = page.get_by_role("textbox", name="Ask a question")
    box.fill(_RECALL)
    box.press("Enter")
    expect(page).to_have_url(re.compile("#/ask/conversation-"))
    page.reload()
    turn = page.get_by_role("article", name=_RECALL)
    expect(turn.get_by_role("alert")).to_be_visible()
    conversation = page.url.rpartition("/")[2]
    page.request.post("/v1/query", data={"question": _RECALL, "conversation": conversation}, timeout=60_000)
    expect_answer(turn)
    expect(turn).to_contain_text("0.9687")


def test_in_a_library_that_cannot_be_written_a_question_is_answered_but_not_stored(page: Page) -> None:
    problem = {"type": "urn:x:read-only", "title": "Read-only", "status": 403, "detail": "The library is read-only."}
    page.route("**/v1/conversations", lambda route: route.fulfill(status=403, json=problem))
    page.goto("/")
    turn = ask(page, _RECALL)
    expect(turn).to_contain_text("0.9687")
    expect(page.get_by_text("not stored")).to_be_visible()


def test_errors_of_the_service_are_shown_with_their_detail(page: Page) -> None:
    problem = {"type": "urn:x:busy", "title": "Busy", "status": 429, "detail": "Too many questions wait."}
    page.route("**/v1/query", lambda route: route.fulfill(status=429, headers={"Retry-After": "7"}, json=problem))
    page.goto("/")
    page.get_by_role("textbox").fill("What is it?")
    page.get_by_role("button", name="Ask", exact=True).click()
    expect(page.get_by_role("alert")).to_contain_text("Too many questions wait.")
    expect(page.get_by_role("alert")).to_contain_text("7 seconds")
    page.get_by_role("button", name="Remove").click()
    expect(page.get_by_role("heading", name="Ask your papers")).to_be_visible()


def test_an_expired_session_asks_for_the_key_and_then_for_the_answer(page: Page) -> None:
    problem = {"type": "urn:x:no-key", "title": "No key", "status": 401, "detail": "The session has ended."}
    page.route("**/v1/query", lambda route: route.fulfill(status=401, json=problem), times=1)
    page.goto("/")
    page.get_by_role("textbox", name="Ask a question").fill(_RECALL)
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog")
    page.route("**/v1/session", lambda route: route.fulfill(status=204), times=1)
    dialog.get_by_label("API key").fill("a-key")
    dialog.get_by_role("button", name="Sign in").click()
    expect(dialog).to_be_hidden()
    expect_answer(page.get_by_role("article"))


def test_the_keyboard_alone_is_enough(page: Page) -> None:
    page.goto("/")
    expect(page.get_by_role("textbox", name="Ask a question")).to_be_focused()
    page.keyboard.type(_SEED)
    page.keyboard.press("Enter")
    turn = page.get_by_role("article", name=_SEED)
    expect_answer(turn)
    mark = turn.locator(".answer-text").get_by_role("button", name=re.compile("^Claim 1"))
    page.evaluate(
        """() => new MutationObserver(() => {
            const card = document.querySelector('.card')
            if (card) window.openAtOnce ??= card.matches(':popover-open')
        }).observe(document, {childList: true, subtree: true})"""
    )
    page.locator("main").focus()
    for _ in range(8):
        page.keyboard.press("Tab")
        if mark.evaluate("mark => mark === document.activeElement"):
            break
    expect(mark).to_be_focused()
    expect(page.locator(".card")).to_be_visible()
    assert page.evaluate("openAtOnce"), "Escape doesn't close the card until then"
    page.keyboard.press("Escape")
    expect(page.locator(".card")).to_be_hidden()
    page.keyboard.press("Enter")
    splitter = page.get_by_role("separator", name="Width of the page")
    before = int(splitter.get_attribute("aria-valuenow") or 0)
    splitter.focus()
    page.keyboard.press("ArrowLeft")
    expect(splitter).to_have_attribute("aria-valuenow", str(before + 5))
    page.get_by_role("button", name="Close the paper").focus()
    page.keyboard.press("Enter")
    expect(splitter).to_be_hidden()
    page.locator("main").focus()
    page.keyboard.press("/")
    expect(page.get_by_role("textbox", name="Ask a follow-up question")).to_be_focused()


def test_on_a_phone_the_page_is_a_sheet_over_the_answer(page: Page, assert_accessible: Callable[[Page], None]) -> None:
    page.set_viewport_size({"width": 360, "height": 740})
    page.goto("/")
    turn = ask(page, _SEED)
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    assert_accessible(page)
    turn.locator(".answer-text").get_by_role("button", name=re.compile("^Claim 1")).click()
    sheet = page.get_by_role("dialog", name="Evidence on the page")
    expect(sheet).to_be_visible()
    page.keyboard.press("Escape")
    expect(sheet).to_be_hidden()
    page.get_by_role("button", name="Open navigation").click()
    expect(page.get_by_role("dialog", name="Main").get_by_role("region", name="Conversations")).to_be_visible()


@pytest.mark.parametrize("scheme", ["light", pytest.param("dark", marks=pytest.mark.slow)])
def test_axe_finds_nothing(
    page: Page, scheme: Any, checked_answer: Answer, assert_accessible: Callable[[Page], None]
) -> None:
    page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
    page.goto("/")
    expect(page.get_by_role("list", name="Questions to begin with")).to_be_visible()
    assert_accessible(page)
    reply_with(page, events(checked_answer))
    turn = ask(page, "What is the mean?")
    turn.get_by_text("How it was answered").click()
    turn.get_by_text("What it was answered from").click()
    expect(turn.locator(".katex")).to_be_visible()
    assert_accessible(page)
    turn.locator(".answer-text").get_by_role("button", name=re.compile("^Claim 1")).click()
    expect(page.get_by_role("complementary", name="Evidence on the page")).to_be_visible()
    assert_accessible(page)
