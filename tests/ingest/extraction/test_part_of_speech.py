import re

from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.extraction.part_of_speech import _tagger, tag_words


def test_a_word_is_tagged_by_its_context() -> None:
    assert tag_words("Our results show that trained networks regulate the immune system .".split()) == [
        *("DPS", "NN2", "VVB", "CJT", "AJ0", "NN2", "VVB", "AT0", "AJ0", "NN1", "PUN")
    ]
    assert tag_words([]) == []


@settings(max_examples=50, deadline=None)
@given(st.text())
def test_any_tokens_are_tagged(text: str) -> None:
    tokens = re.findall(r"\w+|[^\w\s]", text)
    assert len(tag_words(tokens)) == len(tokens)


@given(st.lists(st.sampled_from("We we Paris networks train trained Xyzzying . , 's 12 of the best run-time".split())))
def test_the_tags_are_those_of_the_tagger_itself(tokens: list[str]) -> None:
    assert tag_words(tokens) == (_tagger().tag_sent(tokens, taglevel=0) if tokens else [])
