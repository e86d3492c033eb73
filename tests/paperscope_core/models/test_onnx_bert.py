"""The encoder on ONNX Runtime gives what PyTorch gives, for other shapes than the bundled one."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from paperscope_core.models import onnx_bert
from paperscope_core.models.onnx_bert import BertShape, OnnxBert

if TYPE_CHECKING:
    from paperscope_lab.ner.torch_bert import Bert

_SHAPE = BertShape(
    vocab_size=50,
    hidden_size=24,
    num_hidden_layers=2,
    num_attention_heads=3,
    intermediate_size=200,
    max_position_embeddings=40,
)


@pytest.fixture
def encoder(tmp_path: Path) -> "Bert":
    """Write random weights to `tmp_path`."""
    import torch
    from paperscope_lab.ner.torch_bert import Bert
    from safetensors.torch import save_file

    torch.manual_seed(0)
    bert: Bert = Bert(_SHAPE).eval()
    weights = {name: torch.randn_like(weight) / 3 for name, weight in bert.state_dict().items()}
    bert.load_state_dict(weights)
    save_file({**weights, "embeddings.position_ids": torch.arange(40)}, tmp_path / "model.safetensors")
    (tmp_path / "config.json").write_text(json.dumps(asdict(_SHAPE)))
    return bert


def test_hidden_values_are_those_of_pytorch(encoder: "Bert", tmp_path: Path) -> None:
    import torch

    pieces = [[1, 2, 3], [49], list(range(40)), [7, 7]]
    hidden, present = OnnxBert.read(tmp_path).encode(pieces)
    ids = torch.tensor([[*one, *[0] * (40 - len(one))] for one in pieces])
    with torch.inference_mode():
        expected = encoder(ids, torch.from_numpy(present)).numpy()
    assert present.sum(axis=1).tolist() == [3, 1, 40, 2]
    np.testing.assert_allclose(hidden[present], expected[present], atol=1e-4)


def test_a_missing_weight_is_an_error(encoder: "Bert", tmp_path: Path) -> None:
    from safetensors.torch import save_file

    weights = encoder.state_dict()
    del weights["encoder.layer.1.output.dense.weight"]
    save_file(weights, tmp_path / "model.safetensors")
    with pytest.raises(KeyError, match=r"encoder\.layer\.1\.output\.dense\.weight"):
        OnnxBert.read(tmp_path)


@pytest.mark.parametrize(("given", "threads"), [("3", 3), ("2,1", 2)])
def test_threads_follow_openmp(monkeypatch: pytest.MonkeyPatch, given: str, threads: int) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", given)
    assert onnx_bert._threads() == threads


@pytest.mark.parametrize("given", ["", "0", "all"])
def test_without_a_number_of_threads_all_processors_are_used(monkeypatch: pytest.MonkeyPatch, given: str) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", given)
    assert onnx_bert._threads() >= 1
