"""Entities are found by the beginnings of the words of their names."""

from contextlib import closing
from pathlib import Path

from graph_store import Store
from tests.graph_store.indexed_papers import PAPER_IDS, add, make_indexed

ONE, TWO, *_ = PAPER_IDS


def test_each_word_begins_a_word(tmp_path: Path) -> None:
    with closing(Store.open(tmp_path)) as store:
        add(store, make_indexed(ONE, names=("Focal loss", "Dice loss", "F1-score", "Über-loss")))
        add(store, make_indexed(TWO, names=("Dice loss", "CoNLL")))
        assert store.matching(["loss"], limit=9) == ["dice loss", "über loss", "focal loss"]
        assert store.matching(["lo", "foc"], limit=9) == ["focal loss"]
        assert store.matching(["oss"], limit=9) == []
        assert store.matching(["scor"], limit=9) == ["f1 score"]
        assert store.matching(["über"], limit=9) == ["über loss"]
        assert store.matching(["loss"], limit=1) == ["dice loss"]
        assert store.matching(["loss"], type_="nothing", limit=9) == []
        assert store.matching(["%"], limit=9) == []
