"""A longer paper's entities are the names that a fitted model takes for names or terms of the field."""

from collections import Counter

import numpy as np
import pytest

from ingest.extraction import LocalExtractor, name_types, termhood
from ingest.extraction.mentions import read_paper
from ingest.extraction.name_types import bundled_vectors
from ingest.extraction.phrases import count_phrases
from ingest.extraction.recognized import RecognizedNames
from ingest.extraction.termhood import Termhood, worth_an_entity
from ingest.extraction.terms import Term
from paperscope_core.errors import ModelError
from paperscope_core.models.weights import Weights
from tests.ingest.extraction.paper_builders import paper_of, passages

# Longer than an abstract.
FILLER = "We do this and that here so that it is not so short as one would like it to be. " * 30
TEXT = (
    "The glacier mass balance is estimated with a degree-day model. This degree-day model needs the glacier mass"
    " balance of the previous year. Our first attempt needs a good starting point, as does the second attempt."
    " The glacier mass balance and the equilibrium line altitude agree with the degree-day model of Braithwaite."
)


def worth(
    *names: str, text: str = f"{FILLER} {TEXT}", table: str = "", recognized: RecognizedNames | None = None
) -> set[str]:
    read = read_paper(paper_of(*passages(text)))
    paper = Termhood.of(read, count_phrases(read.sentences), recognized or RecognizedNames())
    tables = (table,) if table else ()
    terms = [Term(forms=(name,), type="concept", score=2.0, tables=tables, kept=bool(table)) for name in names]
    return {term.name for term in worth_an_entity(terms, paper)}


def test_terms_of_a_field_that_nobody_fitted_are_worth_an_entity() -> None:
    assert worth("glacier mass balance", "degree-day model") == {"glacier mass balance", "degree-day model"}


@pytest.mark.parametrize("name", ["Macro F1", "Character F1", "Weighted F1", "Word accuracy", "Learning rate"])
def test_metrics_that_a_header_names_are(name: str) -> None:
    assert worth(name, text=f"{FILLER} {TEXT} The {name} of all models is given.", table="p/table-1") == {name}


FIELDS = (
    "Glioblastoma cells express EGFR. EGFR is absent from amyloid plaques. Bayesian inference of glioblastoma cells"
    " needs Bayesian inference of amyloid plaques. We thank Okafor CN and Lund PE. This careful reading, done in recent"
    " years, was made by hand in recent years."
)


def test_beside_a_recognizer_names_of_other_fields_are_and_authors_and_generic_phrases_are_not() -> None:
    names = RecognizedNames(spellings={"x": Counter(x=1)}, weights={"x": {"concept": 1.0}}, typed=0.1)
    terms = {"glioblastoma cells", "amyloid plaques", "EGFR"}
    others = {"Okafor CN", "Lund PE", "careful reading", "recent years"}
    assert worth(*terms, *others, text=f"{FILLER} {FIELDS}", recognized=names) == terms


@pytest.mark.parametrize("name", ["first attempt", "starting", "previous year", "second attempt needs"])
def test_generic_phrases_are_not(name: str) -> None:
    assert worth(name) == set()


@pytest.mark.parametrize("name", ["mass.balance@glacier.example", "Glacier ∧ Degree-day model", "Glacier mass ≥ 5"])
def test_addresses_and_formulas_are_not(name: str) -> None:
    text = f"{FILLER} {TEXT} {name} is here, and {name} is there."
    assert worth(name, "glacier mass balance", text=text, table="p/table-1") == {"glacier mass balance"}


def test_a_metric_at_a_rank_is_no_address() -> None:
    assert termhood._NO_NAME.search("Recall@10 and Hits@0.5") is None


@pytest.mark.parametrize("name", ["> fit2a", "A2GBIFL43U1", "n", "0.05", "sex=M, (s0)", "m 0"])
def test_headers_without_a_meaning_of_their_own_are_not(name: str) -> None:
    assert worth(name, table="p/table-1") == set()


def test_an_abstract_keeps_all_terms() -> None:
    assert worth("first attempt", text=TEXT) == {"first attempt"}


def test_a_rare_word_has_a_higher_rarity_than_a_frequent_one() -> None:
    vectors = bundled_vectors()
    frequent, rare = vectors.pieces("year"), vectors.pieces("glaciological")
    assert vectors.rarity(frequent) < vectors.rarity(rare)
    assert np.allclose(vectors.vector(rare), np.mean([vectors.vector([piece]) for piece in rare], axis=0), atol=1e-6)


def test_an_extractor_loads_the_model_ahead_and_starts_without_it(monkeypatch: pytest.MonkeyPatch) -> None:
    loaded = termhood._fitted.cache_info, bundled_vectors.cache_info
    termhood._fitted.cache_clear()
    bundled_vectors.cache_clear()
    LocalExtractor.load()
    assert [info().currsize for info in loaded] == [1, 1]

    def missing(_name: str) -> Weights:
        raise ModelError("the bundled weights are not installed")

    bundled_vectors.cache_clear()
    monkeypatch.setattr(name_types, "find_weights", missing)
    LocalExtractor.load()
    assert bundled_vectors.cache_info().currsize == 0
