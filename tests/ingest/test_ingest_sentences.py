import pytest
from hypothesis import given
from hypothesis import strategies as st

from paperscope_core.text.sentences import split_sentences


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One is here. Two is there.", ["One is here.", "Two is there."]),
        ("We follow Lin et al. (2018). It works!", ["We follow Lin et al. (2018).", "It works!"]),
        ("As in Devlin et al. We extend it.", ["As in Devlin et al.", "We extend it."]),
        ("As shown in Fig. 3 and Eq. (2), e.g. BERT wins.", ["As shown in Fig. 3 and Eq. (2), e.g. BERT wins."]),
        ("By J. R. Smith and A. Jones. We thank them.", ["By J. R. Smith and A. Jones.", "We thank them."]),
        ("See Table A. We do. Vitamin A. Smith said so.", ["See Table A.", "We do.", "Vitamin A. Smith said so."]),
        ("F1 is 93.5. Recall is 91.", ["F1 is 93.5.", "Recall is 91."]),
        ("It is known.[12] Next comes this.", ["It is known.[12]", "Next comes this."]),
        ("It is open.3 Next comes this.", ["It is open.3", "Next comes this."]),
        ('He said "yes." Then he left.', ['He said "yes."', "Then he left."]),
        ("1. Introduction to parsing. 2. Methods", ["1. Introduction to parsing.", "2. Methods"]),
        ("Is it so? Yes... perhaps.", ["Is it so?", "Yes... perhaps."]),
        ("The answer is no. We stop at no. 5 here.", ["The answer is no.", "We stop at no. 5 here."]),
        ("A title\n\nA paragraph", ["A title", "A paragraph"]),
        ("今日は。明日も。", ["今日は。", "明日も。"]),
        ("no end at all", ["no end at all"]),
        ("   ", []),
    ],
)
def test_sentences_of_papers(text: str, expected: list[str]) -> None:
    assert split_sentences(text) == expected


@given(st.text(alphabet=st.sampled_from("aBé1 .!?\n\t()[]\"'et al.Fig。"), max_size=80) | st.text(max_size=80))
def test_nothing_but_white_space_is_lost(text: str) -> None:
    found = split_sentences(text)
    assert "".join("".join(found).split()) == "".join(text.split())
    assert all(sentence == sentence.strip() and sentence for sentence in found)
