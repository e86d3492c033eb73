"""Chunks share calls, and a change of the paper changes few of them."""

from dataclasses import replace
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from ingest.extraction.model_extractor import pack
from paperscope_core.models.token_counting import count_tokens
from paperscope_core.types import Box, Chunk, Place

PLACE = Place(paper="p", page=1, box=Box(0, 0, 1, 1))
LIMIT = 300
SECTIONS = [f"{top} Top{top} > {top}.{sub} Sub{sub}" for top in range(1, 7) for sub in range(1, 4)]


def chunk(text: str, section: str = "1 One") -> Chunk:
    return Chunk(id=f"p/{section}/{text[:20]}", paper="p", text=text, elements=(), section=section, place=PLACE)


def made_up_paper(seed: int) -> list[Chunk]:
    random = Random(seed)
    return [
        chunk(" ".join(f"word{random.randrange(1000)}" for _ in range(random.randrange(5, 40))), section)
        for section in SECTIONS
        for _ in range(random.randrange(1, 6))
    ]


chunks = st.lists(
    st.builds(chunk, st.text("ab 1", min_size=1, max_size=400), st.sampled_from(sorted(SECTIONS))), max_size=20
)


@given(chunks, st.integers(1, 400))
def test_every_chunk_is_in_one_run_in_order_and_runs_are_no_longer_than_allowed(
    given_chunks: list[Chunk], limit: int
) -> None:
    runs = list(pack(given_chunks, max_tokens=limit))
    assert [one for run in runs for one in run] == given_chunks
    assert all(len(run) == 1 or sum(count_tokens(one.text) for one in run) <= limit for run in runs)


def test_what_fits_shares_a_call() -> None:
    (run,) = pack([chunk("one"), chunk("two", "2 Two")], max_tokens=10)
    assert len(run) == 2


def test_sections_part_before_the_text_inside_them() -> None:
    runs = pack([chunk("a b c d"), chunk("e f g h"), chunk("i j k l", "2 Two")], max_tokens=4)
    assert [len(run) for run in runs] == [2, 1]


def test_an_edit_changes_its_own_run_and_at_most_those_beside_it() -> None:
    shares = []
    for seed in range(40):
        paper = made_up_paper(seed)
        before = [tuple(one.text for one in run) for run in pack(paper, max_tokens=LIMIT)]
        place = Random(seed).randrange(len(paper))
        edits = [
            [*paper[:place], replace(paper[place], text=f"{paper[place].text} and more"), *paper[place + 1 :]],
            [*paper[:place], *paper[place + 1 :]],
            [*paper[:place], chunk("a chunk that is new here", paper[place].section), *paper[place:]],
        ]
        for edited in edits:
            after = {tuple(one.text for one in run) for run in pack(edited, max_tokens=LIMIT)}
            shares.append(len(after - set(before)) / len(before))
            assert len(after - set(before)) <= 3
    assert sum(shares) / len(shares) < 0.15
