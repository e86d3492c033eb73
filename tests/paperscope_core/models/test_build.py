"""The fakes, and the models that the settings name."""

import asyncio
from pathlib import Path

import numpy as np
import pytest

from paperscope_core.errors import ModelRefusedError
from paperscope_core.models import FakeEmbedder, FakeModel, FakeReranker, build_models
from paperscope_core.models.cache import MemoryCallCache
from paperscope_core.models.embedders import LocalEmbedder
from paperscope_core.settings import load_settings
from paperscope_core.types import Message, ModelRequest

REQUEST = ModelRequest(messages=(Message(role="user", text="two words"),))


async def test_a_script_is_followed_to_its_end() -> None:
    model = FakeModel(["one", ModelRefusedError("no"), "three"])
    assert (await model.complete(REQUEST)).text == "one"
    with pytest.raises(ModelRefusedError, match=r"^no$"):
        await model.complete(REQUEST)
    assert (await model.complete(REQUEST)).text == "three"
    with pytest.raises(ModelRefusedError, match="exhausted"):
        await model.complete(REQUEST)
    assert model.requests == [REQUEST] * 4


async def test_shared_words_bring_texts_together() -> None:
    rows = await FakeEmbedder().embed(["the dice score", "The DICE", "cats sleep", ""])
    assert rows.shape == (4, 64)
    assert rows.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-6)
    assert rows[0] @ rows[1] > rows[0] @ rows[2]
    np.testing.assert_array_equal(rows, await FakeEmbedder().embed(["the dice score", "The DICE", "cats sleep", ""]))


async def test_shared_words_score_higher() -> None:
    scores = await FakeReranker().score("Which Dice score?", ["the dice score", "a score", "cats"])
    assert scores == [pytest.approx(2 / 3), pytest.approx(1 / 3), 0.0]


def test_without_settings_there_is_only_the_local_embedder() -> None:
    built = build_models(load_settings(environ={}), MemoryCallCache())
    assert (built.answer, built.extract, built.vision, built.reranker) == (None, None, None, None)
    assert isinstance(built.embedder, LocalEmbedder)
    asyncio.run(built.aclose())


def test_each_role_gets_its_own_model(tmp_path: Path) -> None:
    (tmp_path / "model.safetensors").write_bytes(b"")
    overrides = {
        "model": "big",
        "base_url": "http://127.0.0.1:9/v1",
        "extract.model": "small",
        "vision.model": "",
        "embed": {"model": "vectors", "base_url": "http://127.0.0.1:9/v1"},
        "retrieval.reranker": str(tmp_path),
    }
    built = build_models(load_settings(environ={}, overrides=overrides), MemoryCallCache())
    assert built.answer is not None
    assert built.extract is not None
    assert (built.answer.name, built.extract.name, built.vision) == ("big", "small", None)
    assert built.embedder.name == "vectors"
    assert built.reranker is not None
    asyncio.run(built.aclose())
