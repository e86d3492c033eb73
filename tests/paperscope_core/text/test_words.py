"""One tokenizer, one stop list, one singularizer: which spellings meet and which stay apart."""

import subprocess
import sys
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paperscope_core.text.words import (
    STOP_WORDS,
    _base_forms,
    _lexicon,
    content_words,
    entity_key,
    fold_spelling,
    plain_words,
    shared_words,
    singular,
    singular_key,
    word_key,
    words,
)


@pytest.mark.parametrize(
    ("plural", "expected"),
    [
        ("analyses", "analysis"),
        ("hypotheses", "hypothesis"),
        ("matrices", "matrix"),
        ("corpora", "corpus"),
        ("criteria", "criterion"),
        ("spectra", "spectrum"),
        ("axes", "axis"),
        ("leaves", "leaf"),
        ("mice", "mouse"),
        ("viruses", "virus"),
        ("losses", "loss"),
        ("caches", "cache"),
        ("patches", "patch"),
        ("sizes", "size"),
        ("studies", "study"),
        ("movies", "movie"),
        ("larvae", "larva"),
        ("genera", "genus"),
        ("galaxies", "galaxy"),
        ("provides", "provide"),
    ],
)
def test_plurals_and_verbs_lose_their_endings(plural: str, expected: str) -> None:
    assert singular(plural) == expected


@pytest.mark.parametrize("word", ["datasets", "kinases", "hyperparameters", "taggers", "voxels", "bosons"])
def test_an_unknown_word_loses_a_regular_ending(word: str) -> None:
    assert singular(word) == word[:-1]


@pytest.mark.parametrize(
    "word",
    "species series bias basis analysis virus corpus status loss lens gas atlas physics mathematics news data dice "
    "media always perhaps various less this was has its consensus stimulus axis class".split(),
)
def test_a_singular_stays(word: str) -> None:
    assert singular(word) == word


@given(st.text(max_size=20))
def test_any_text_has_a_singular_of_about_its_length(word: str) -> None:
    assert len(singular(word.casefold())) <= len(word.casefold()) + 2


@pytest.mark.parametrize(
    ("word", "key"),
    [
        ("AIDS", "aids"),
        ("aids", "aid"),
        ("GPUs", "gpu"),
        ("GPU", "gpu"),
        ("FPS", "fps"),
        ("US", "us"),
        ("LOSSES", "loss"),
        ("Losses", "loss"),
    ],
)
def test_case_distinguishes_acronyms_from_words(word: str, key: str) -> None:
    assert word_key(word) == key


def test_a_compound_counts_as_itself_and_as_its_parts() -> None:
    assert words("BERT+DSC losses") == ["bert+dsc", "bert", "dsc", "loss"]
    assert words("SST-5 (OntoNotes4.0), don't_it.") == [
        "sst-5",
        "sst",
        "5",
        "ontonotes4.0",
        "ontonotes4",
        "0",
        "don't",
        "don",
        "t",
        "it",
    ]
    assert plain_words("F1-scores of SST_5") == ["f1", "scores", "of", "sst", "5"]


def test_content_words_leave_out_stop_words_and_single_letters() -> None:
    assert content_words("Which of the losses does model A use in Table 5?") == {"loss", "model", "use", "table", "5"}
    assert content_words("该 模型") == {"该", "模型"}
    assert {"the", "which", "whether", "within", "not"} <= STOP_WORDS
    assert STOP_WORDS.isdisjoint({"model", "top", "part", "use", "table", "state"})
    assert all(word == word.casefold() for word in STOP_WORDS)


@pytest.mark.parametrize(
    ("name", "key", "singular_form"),
    [
        ("F1 Score", "f1 score", "f1 score"),
        ("F1-scores", "f1 scores", "f1 score"),
        ("Dice losses", "dice losses", "dice loss"),
        ("confusion matrices", "confusion matrices", "confusion matrix"),
        ("LSTM-CRFs (ours)", "lstm crfs", "lstm crf"),
        ("AIDS", "aids", "aids"),
        ("aids", "aids", "aid"),
        ("endangered species", "endangered species", "endangered species"),
        ("BERT+", "bert+", "bert+"),
        ("Ensemble methods (our model).", "ensemble methods", "ensemble method"),
        ("(ours)", "(ours)", "(ours)"),
        (" - ", "", ""),
    ],
)
def test_names_meet_under_their_keys(name: str, key: str, singular_form: str) -> None:
    assert entity_key(name) == key
    assert singular_key(name) == singular_form


@given(st.text(max_size=40))
def test_a_key_of_any_text_is_a_key(text: str) -> None:
    assert singular_key(text) == singular_key(f" {text} ")
    assert "  " not in entity_key(text)


def test_the_lexicon_is_read_as_its_package_reads_it(monkeypatch: pytest.MonkeyPatch) -> None:
    # The package imports spaCy, which takes seconds, and extends it from version 2.0 on.
    monkeypatch.setitem(sys.modules, "spacy", SimpleNamespace(__version__="1.0"))
    from lemminflect import getAllLemmas

    lines, corrections = _lexicon()
    for word in (*corrections, *(line.partition(",")[0] for line in lines[::100]), "unheardof", "it's", "zzz"):
        # A word is lower case; the package folds others.
        if word.islower():
            assert {part: tuple(forms) for part, forms in _base_forms(word).items()} == getAllLemmas(word)


def test_the_lexicon_is_read_without_its_package() -> None:
    code = "import sys; from paperscope_core.text.words import singular; print(singular('glaciers'), *sys.modules)"
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)  # noqa: S603
    singular_form, *modules = printed.stdout.split()
    assert singular_form == "glacier"
    assert {"lemminflect", "spacy"}.isdisjoint(modules)


@given(st.text() | st.sampled_from(("The BERT+DSC models, twice: BERT", "a SST-5 5 é x")), st.text())
def test_shared_words_are_the_content_words_of_both(text: str, other: str) -> None:
    wanted = content_words(f"{other} BERT models 5 é")
    assert shared_words(text, wanted) == wanted & content_words(text)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("naïve Bayes", "naive Bayes"),
        ("Schrödinger", "SCHRODINGER"),
        ("R_0", "R0"),
        ("R₀", "R_{0}"),
        ("F₁ of k_12", "F1 of k12"),
        ("Việt", "Viet"),
    ],
)
def test_spellings_of_a_word_or_symbol_are_one(one: str, other: str) -> None:
    assert words(one) == words(other)
    assert content_words(one) == content_words(other)


@pytest.mark.parametrize("text", ["seed_1", "en_core_web_md", "x_i", "a_0b", "__0", "がぎ", "한국", "हिन्दी"])
def test_what_is_no_accent_and_no_index_stays(text: str) -> None:
    assert fold_spelling(text) == text


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("哪个模型的实体级F1最高?", "模型的F1"),
        ("日本語の固有表現抽出モデル", "固有表現"),
        ("개체명 인식 모델의 성능은", "모델 성능"),
        ("แบบจำลองภาษาสำหรับการรู้จำชื่อ", "ภาษา"),
        ("ການຮັບຮູ້ພາສາລາວ", "ພາສາລາວ"),
    ],
)
def test_text_without_spaces_shares_words_with_what_it_contains(text: str, part: str) -> None:
    shared = content_words(text) & content_words(part)
    assert len(shared) >= 0.7 * len(content_words(part))
