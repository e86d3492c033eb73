"""Papers and batches whose model fails: what the job says, that nothing wrong is kept, that later it succeeds, and that
nothing is paid twice."""

import base64
import io
import json
import random
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2
import pytest
from PIL import Image

from paperscope.library import Library
from paperscope.retries import RetryRounds
from paperscope_core.settings import Settings
from service.batch import BatchRunner, Question
from tests.model_server import Body, ModelServer, echo, fingerprint, kind_of, serve, words
from tests.service.http.requests import post
from tests.service.jobs.killing import reply
from tests.service.servers import Job, job_of, serve_app, settings_with_model, upload
from tests.service.servers import markdown_paper as plain_paper

pytestmark = pytest.mark.slow

IMPATIENT = {"calls.timeout": 1.5, "calls.retries": 1, "calls.concurrency": 4}
Sign = tuple[str, str]
# Which other faults are temporary, and which are not, the tests of the client show.
PASSING = ["429 for a while", "hang"]
# What a job says of a permanent fault, and how often a call was sent by then.
REFUSED, LIMITED = ("401", "check the role's api_key", 1), ("429 for hours", "HTTP 429", 1)
CUT, BABBLE = ("cut", "no connection", 2), ("babble", "no valid 'entities'", 2)
WAITS = {"429 for a while": 1.2, "429 for hours": 7200.0}


@dataclass
class Endpoint:
    """A model server, and a service that asks it in all roles. It goes wrong with calls of a kind in whose text a sign
    stands."""

    model: ModelServer
    address: str = ""
    kinds: dict[Sign, str] = field(default_factory=dict)
    most: int = 0
    failed: Counter[str] = field(default_factory=Counter)
    times: dict[str, list[float]] = field(default_factory=dict)

    def trouble(self, kind: str, *signs: Sign, most: int = 1000) -> None:
        """Make each call with one of the signs fail in this way, at most so often."""
        self.recover()
        self.kinds, self.most = dict.fromkeys(signs, kind), most
        self.model.retry_after = WAITS.get(kind)

    def recover(self) -> None:
        """Make all calls succeed from now on, and reset the counts."""
        self.kinds.clear()
        self.model.retry_after = 0.0
        self.failed.clear()
        self.times.clear()
        self.model.bodies.clear()

    def sent(self, sign: Sign) -> list[int]:
        """How often each request with a sign was sent."""
        return list(Counter(fingerprint(body) for body in self.model.bodies if _has(body, sign)).values())

    def fault(self, body: Body) -> str:
        name = fingerprint(body)
        self.times.setdefault(name, []).append(time.monotonic())
        kind = next((kind for sign, kind in self.kinds.items() if _has(body, sign)), "")
        if not kind or self.failed[name] >= self.most:
            return ""
        self.failed[name] += 1
        return kind.partition(" ")[0]

    def reply(self, body: Body) -> str:
        if self.failed[fingerprint(body)] and "babble" in self.kinds.values():
            return "{}"
        return echo(body) if kind_of(body) == "image_description" else reply(body)


def _has(body: Body, sign: Sign) -> bool:
    return kind_of(body) == sign[0] and sign[1] in words(body)


def part(name: str, number: int) -> Sign:
    return "entities", f"Part {number} names the {name}"


def picture(name: str, number: int) -> Sign:
    return "image_description", f"Picture {number} of the {name}"


def question(name: str, number: int) -> Sign:
    return "answer", f"What is the {name} of part {number}?"


@pytest.fixture(scope="module")
def endpoint(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Endpoint]:
    with serve() as model:
        found = Endpoint(model)
        model.reply, model.fault = found.reply, found.fault
        with serve_app(impatient_settings(tmp_path_factory.mktemp("faults"), model)) as found.address:
            yield found


def impatient_settings(folder: Path, model: ModelServer) -> Settings:
    """The settings of a library in this folder whose roles all ask the model server, and soon give up."""
    roles = {role: {"model": "fake", "base_url": model.url} for role in ("extract", "vision", "answer")}
    # One part of a paper per call, even if its name is long.
    return settings_with_model(folder, model, **{**roles, **IMPATIENT, "extract.tokens_per_call": 900})


def paper(name: str) -> bytes:
    """A Markdown paper that takes a call for each of its two parts and two images."""
    dots = random.Random(name)
    return plain_paper(2, name) + b"".join(_figure(number, name, dots) for number in (1, 2))


def _figure(number: int, name: str, dots: random.Random) -> bytes:
    file = io.BytesIO()
    Image.frombytes("RGB", (60, 40), dots.randbytes(60 * 40 * 3)).save(file, "PNG")
    address = f"data:image/png;base64,{base64.b64encode(file.getvalue()).decode()}"
    return f"\n\n![Figure {number}: Picture {number} of the {name}.]({address})".encode()


def named(kind: str, start: str) -> str:
    """A unique name, so that no call equals that of another test."""
    return start + "".join(filter(str.isalnum, kind.title()))


def added(endpoint: Endpoint, name: str) -> Job:
    return job_of(upload(endpoint.address, paper(name), f"{name}.md"), endpoint.address)


def batched(endpoint: Endpoint, name: str) -> tuple[Job, list[Any]]:
    """A batch of two questions, and its rows."""
    plain = job_of(upload(endpoint.address, plain_paper(1), "plain.md"), endpoint.address)
    assert plain["state"] == "succeeded", plain["error"]
    filters = {"papers": [plain["result"]["paper"]]}
    asked = [{"question": question(name, number)[1], "filters": filters} for number in range(2)]
    response = post(endpoint.address, "/v1/batch", {"questions": asked})
    job = job_of(response, endpoint.address)
    text = httpx2.get(f"{endpoint.address}{response.headers['location']}/results/answers.jsonl").text
    return job, [json.loads(line) for line in text.splitlines()]


def outcome(job: Job) -> tuple[str, int, int, bool]:
    """The state of a paper's job, how many images were described and unread, and whether all chunks were read."""
    result = job["result"]
    return job["state"], result["described"], result["unread"], not result["shortfall"]["unread"]


@pytest.mark.parametrize("kind", PASSING)
def test_a_temporary_fault_is_retried(endpoint: Endpoint, kind: str) -> None:
    name = named(kind, "Passing")
    failing = (part(name, 1), picture(name, 2), question(name, 0))
    endpoint.trouble(kind, *failing, most=1)
    assert outcome(added(endpoint, name)) == ("succeeded", 2, 0, True)
    job, rows = batched(endpoint, name)
    assert (job["state"], [row["status"] for row in rows]) == ("succeeded", ["answered"] * 2)
    assert [endpoint.sent(sign) for sign in failing] == [[2], [2], [2]]
    assert [endpoint.sent(sign) for sign in (part(name, 0), picture(name, 1), question(name, 1))] == [[1], [1], [1]]
    waited = [times[1] - times[0] for times in endpoint.times.values() if len(times) > 1]
    assert len(waited) == 3
    assert min(waited) >= WAITS.get(kind, 0.0)


@pytest.mark.parametrize(("kind", "told", "tries"), [REFUSED, CUT])
def test_a_paper_that_no_model_call_succeeds_on_is_not_added_and_paid_replies_are_kept(
    endpoint: Endpoint, kind: str, told: str, tries: int
) -> None:
    name = named(kind, "Lasting")
    before = httpx2.get(f"{endpoint.address}/v1/papers").json()["total"]
    endpoint.trouble(kind, ("entities", name), picture(name, 2))
    job = added(endpoint, name)
    assert (job["state"], job["result"]) == ("failed", None)
    assert told in job["error"]
    assert httpx2.get(f"{endpoint.address}/v1/papers").json()["total"] == before
    assert endpoint.sent(picture(name, 1)) == [1]
    assert endpoint.sent(picture(name, 2)) == endpoint.sent(part(name, 1)) == [tries]
    endpoint.recover()
    assert outcome(added(endpoint, name)) == ("succeeded", 2, 0, True)
    assert endpoint.sent(picture(name, 1)) == []
    assert endpoint.sent(picture(name, 2)) == endpoint.sent(part(name, 1)) == [1]


@pytest.mark.parametrize(("kind", "told", "tries"), [LIMITED, BABBLE])
def test_failed_calls_are_a_shortfall_that_a_later_add_fills(
    endpoint: Endpoint, kind: str, told: str, tries: int
) -> None:
    name = named(kind, "Partly")
    endpoint.trouble(kind, part(name, 1), picture(name, 2))
    job = added(endpoint, name)
    assert outcome(job) == ("succeeded", 1, 1, False)
    assert told in job["result"]["shortfall"]["unread"][0]["reason"]
    images = httpx2.get(f"{endpoint.address}/v1/papers/{job['result']['paper']}").json()["images"]
    assert [told.replace("entities", "image_description") in one.get("reason", "") for one in images["readings"]] == [
        False,
        True,
    ]
    assert sum(endpoint.sent(part(name, 1))) == sum(endpoint.sent(picture(name, 2))) == tries
    endpoint.recover()
    assert outcome(added(endpoint, name)) == ("succeeded", 2, 0, True)
    assert endpoint.sent(part(name, 0)) == endpoint.sent(picture(name, 1)) == []
    assert endpoint.sent(part(name, 1)) == endpoint.sent(picture(name, 2)) == [1]


@pytest.mark.parametrize(("kind", "told"), [REFUSED[:2], BABBLE[:2]])
def test_the_rows_of_a_batch_say_why_they_failed_and_the_next_batch_asks_only_them_again(
    endpoint: Endpoint, kind: str, told: str
) -> None:
    name = named(kind, "Asked")
    endpoint.trouble(kind, question(name, 1))
    job, rows = batched(endpoint, name)
    assert (job["state"], job["result"]["answered"], job["result"]["errors"]) == ("succeeded", 1, 1)
    assert [row["status"] for row in rows] == ["answered", "error"]
    assert told.replace("entities", "answer") in rows[1]["error"]
    endpoint.recover()
    job, rows = batched(endpoint, name)
    assert (job["result"]["answered"], job["result"]["errors"]) == (2, 0)
    assert (endpoint.sent(question(name, 0)), endpoint.sent(question(name, 1))) == ([], [1])


def test_a_batch_waits_for_an_endpoint_that_was_gone(endpoint: Endpoint, tmp_path: Path) -> None:
    """In this process, where the first pause, which is half a minute in a job, can be shorter."""
    asked = [question("Gone", number) for number in range(4)]
    (tmp_path / "plain.md").write_bytes(plain_paper(1))
    endpoint.recover()
    with Library.open(settings=impatient_settings(tmp_path, endpoint.model)) as library:
        library.add(tmp_path / "plain.md")
        endpoint.trouble("500", *asked[1:], most=2)
        endpoint.kinds |= {asked[2]: "hang", asked[3]: "cut"}
        runner = BatchRunner(library, out=tmp_path / "out", retries=RetryRounds(first_pause=0.2))
        rows = runner.run([Question(index=number, text=text) for number, (_, text) in enumerate(asked)]).rows
    assert [row.status for row in rows] == ["answered"] * 4
    assert [endpoint.sent(sign) for sign in asked] == [[1], [3], [3], [3]]


def test_an_unusable_reply_is_a_problem_with_a_name_of_its_own(endpoint: Endpoint) -> None:
    asked = {"question": question("Unusable", 0)[1]}
    message = {"messages": [{"role": "user", "content": question("Unusable", 1)[1]}]}
    endpoint.trouble("babble", ("answer", "Unusable"))
    plain = post(endpoint.address, "/v1/query", asked)
    chat = post(endpoint.address, "/v1/chat/completions", message)
    assert (plain.status_code, plain.json()["type"]) == (502, "urn:paperscope:problem:unusable-reply")
    assert (chat.status_code, chat.json()["error"]["code"]) == (502, "unusable_reply")
    endpoint.recover()
    assert post(endpoint.address, "/v1/query", asked).status_code == 200
