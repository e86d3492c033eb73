import json
import re
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paperscope_core.text.acronyms import AcronymDefinition, find_definitions, long_form


@pytest.mark.parametrize(
    ("text", "short", "long"),
    [
        ("We use named entity recognition (NER) here.", "NER", "named entity recognition"),
        ("as in part-of-speech tagging (POS) tasks", "POS", "part-of-speech"),
        ("trained as Conditional Random Fields (CRFs)", "CRFs", "Conditional Random Fields"),
        ("a conditional random field (CRFs)", "CRFs", "conditional random field"),
        ("the focal loss (FL for short) of", "FL", "focal loss"),
        ("the Sorensen index, dice coefficient (DSC) for short, is", "DSC", "dice coefficient"),
        ("MRC (machine reading comprehension) is", "MRC", "machine reading comprehension"),
        ("question answering (QA; Li et al., 2019)", "QA", "question answering"),
        ("mean Average Precision (mAP)", "mAP", "mean Average Precision"),
        ("word error rate metric (WER)", "WER", "word error rate"),
        ("Transformers [Bidirectional Encoder Models (BEM)]", "BEM", "Bidirectional Encoder Models"),
    ],
)
def test_definitions_are_found_in_both_orders(text: str, short: str, long: str) -> None:
    assert [(found.short, found.long) for found in find_definitions(text)] == [(short, long)]


@pytest.mark.parametrize(
    "text",
    [
        "We use the proposed loss (DSC) here.",
        "as was shown (Devlin et al., 2018) before",
        "see the appendix (Table 3) and more",
        "the result (see above) is",
        "a value (0.5) of",
        "the loss (L) is",
        "BERT (we fine-tune it for two days) is",
    ],
)
def test_no_expansion_is_invented(text: str) -> None:
    assert list(find_definitions(text)) == []


def test_letters_are_matched_from_the_right_and_the_first_one_begins_a_word() -> None:
    assert long_form("HMM", "the hidden Markov model") == "hidden Markov model"
    assert long_form("SRL", "semantic role labelling") == "semantic role labelling"
    assert long_form("XY", "no such letters") is None
    assert long_form("NE", "tone") is None


@given(st.text(alphabet=st.sampled_from("abC D(),.-;[]sE1=:'"), max_size=60))
def test_both_forms_always_stand_in_the_text(text: str) -> None:
    squeezed = " ".join(text.split())
    for found in find_definitions(text):
        assert found.short in squeezed
        assert found.long in squeezed
        assert found.long[0].casefold() == found.short[0].casefold()


def test_quality_on_the_gold_sentences_of_sdu(shared: Path) -> None:
    right = given_ = gold_count = 0
    for line in (shared / "eval" / "acronym_identification.jsonl").read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        text = re.sub(r"\( | \)", lambda match: match.group().strip(), " ".join(record["tokens"]))
        gold = Counter(_spans(record["tokens"], record["labels"]))
        found = Counter(definition.long for definition in find_definitions(text.replace(" - ", "-")))
        right += (gold & found).total()
        given_ += found.total()
        gold_count += gold.total()
    assert right / given_ > 0.94
    assert right / gold_count > 0.83


def _spans(tokens: list[str], labels: list[str]) -> list[str]:
    spans: list[list[str]] = []
    for token, label, before in zip(tokens, labels, ["O", *labels], strict=False):
        if label == "B-long":
            spans.append([token])
        elif label == "I-long" and before.endswith("long"):
            spans[-1].append(token)
    return [" ".join(span).replace(" - ", "-") for span in spans]


@pytest.mark.parametrize(
    ("text", "short", "long"),
    [
        ("Here, DA = direct assessment, RR = other.", "DA", "direct assessment"),
        ("ADC: analog-to-digital converter.", "ADC", "analog-to-digital converter"),
        ("Sampling by Markov chains, or MC in short, is slow.", "MC", "Markov chains"),
        ("We use data augmentation, abbreviated as DA, here.", "DA", "data augmentation"),
        ("PV denotes paragraph vector here.", "PV", "paragraph vector"),
        (
            "CRNN is a convolutional recurrent neural network with gates.",
            "CRNN",
            "convolutional recurrent neural network",
        ),
        ("We present GMC, grid-based motion clustering, a method.", "GMC", "grid-based motion clustering"),
        ("By the Uniform Limit Theorem ULT, it holds.", "ULT", "Uniform Limit Theorem"),
        ("Some are central compact objects (CCOs).", "CCOs", "central compact objects"),
        (
            'the "Multi-level Generalized Assignment Problem" (MGAP)',
            "MGAP",
            "Multi-level Generalized Assignment Problem",
        ),
        ("a logical inconsistency metric (i.e., LI) to measure", "LI", "logical inconsistency"),
        ("our PCD (for Pure Census Disaggregation) method", "PCD", "Pure Census Disaggregation"),
    ],
)
def test_definitions_without_brackets_and_whole_tails(text: str, short: str, long: str) -> None:
    assert [(found.short, found.long) for found in find_definitions(text)][:1] == [(short, long)]


@pytest.mark.parametrize(
    "text",
    [
        "New York, NY, USA: ACM.",
        "CNN, RNN and LSTM networks are compared.",
        "BERT is better than our model.",
        "We use GPT, a large model of language.",
        "In QA, question and answer are texts.",
        "Smith et al. (see Fig. 3).",
        "The learning rate LR decays.",
    ],
)
def test_words_near_a_short_form_are_no_definition(text: str) -> None:
    assert list(find_definitions(text)) == []


def test_what_is_far_from_a_short_form_is_not_read_again_for_each() -> None:
    assert list(find_definitions("AB, " * 20_000 + "DA = data augmentation")) == [
        AcronymDefinition(short="DA", long="data augmentation")
    ]
