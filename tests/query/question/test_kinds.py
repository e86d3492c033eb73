"""Small talk and questions on the library are told from questions on papers, or in doubt not."""

from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

from evaluation.bench.messages import Message, fit, messages_in
from paperscope_core.models import build_embedder
from paperscope_core.models.fakes import FakeEmbedder
from paperscope_core.settings import Settings
from query.question.kinds import KINDS, KindModel, MessageKind, features, kind_of

GOLD = Path(__file__).parents[3] / "evaluation" / "gold" / "messages"


def test_the_features_are_words_and_pairs_with_the_ends() -> None:
    assert features("Which PAPERS?") == {"which", "papers", "?", "^ which", "which papers", "papers ?", "? $"}
    assert features("") == {"^ $"}


@pytest.mark.parametrize(("weight", "kind"), [(20.0, "talk"), (1.0, "papers"), (-20.0, "papers")])
def test_a_message_in_doubt_is_on_papers(weight: float, kind: str) -> None:
    model = KindModel(embedder="fake", vector=[[0.0] * 3], words={"hi": [0.0, 0.0, weight]}, bias=[0.0] * 3)
    assert model.kind("Hi", np.ones(1, dtype=np.float32)) == kind


async def test_without_the_embedder_that_it_was_fitted_for_nothing_is_told() -> None:
    assert await kind_of("Hi!", FakeEmbedder()) == "papers"


def test_no_held_out_message_is_one_of_the_others() -> None:
    parts = [messages_in(GOLD / f"{name}.jsonl") for name in ("development", "heldout", "varied")]
    texts = [{message.text.casefold() for message in part} for part in parts]
    assert len(frozenset().union(*texts)) == sum(map(len, texts))
    counts = Counter(message.kind for message in parts[0])
    assert min(counts[kind] for kind in KINDS) >= 200


@pytest.mark.slow
async def test_the_model_is_fitted_to_the_vectors_and_words_of_messages() -> None:
    texts: dict[str, MessageKind] = {
        "Which loss is best?": "papers",
        "Which papers are here?": "library",
        "Hi!": "talk",
    }
    embedder = FakeEmbedder()
    model = await fit([Message(text=text, kind=kind) for text, kind in texts.items()] * 4, embedder)
    assert {text: model.kind(text, (await embedder.embed([text]))[0]) for text in texts} == texts
    assert model.words["hi"][KINDS.index("talk")] > 0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "least"),
    [
        ("heldout", {"papers": 58, "library": 34, "talk": 36}),
        ("varied", {"papers": 22, "library": 16, "talk": 12}),
    ],
)
async def test_the_held_out_messages_are_told_apart(name: str, least: Mapping[MessageKind, int]) -> None:
    embedder = build_embedder(Settings().embed)
    messages = messages_in(GOLD / f"{name}.jsonl")
    await embedder.embed([message.text for message in messages])
    right = Counter([one.kind for one in messages if await kind_of(one.text, embedder) == one.kind])
    assert all(right[kind] >= count for kind, count in least.items()), right
