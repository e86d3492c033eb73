"""Numbers that do not fit together are found, and sound tables and texts give no finding."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from random import Random

import pytest

from paperscope_core.types import Element, Link, Page, Paper, Table
from query.papercheck import Discrepancy, check_paper
from tests.query.conftest import PAPER, passage, table

Grid = list[list[str]]


def paper_of(*elements: Element, links: Sequence[Link] = ()) -> Paper:
    pages = (Page(number=1, width=595, height=842),)
    return Paper(
        id=PAPER,
        title="Counts",
        authors=(),
        sha256=PAPER,
        file="counts.pdf",
        pages=pages,
        sections=(),
        elements=elements,
        links=tuple(links),
    )


def check_table(rows: Sequence[Sequence[str]], *, caption: str = "Counts.") -> list[Discrepancy]:
    return list(check_paper(paper_of(table(1, 1, caption, rows, ""))))


def check_text(text: str) -> list[Discrepancy]:
    return list(check_paper(paper_of(passage(1, 1, text, ""))))


def totals(random: Random) -> Grid:
    rows = [[f"group {row}", *(str(random.randint(20, 900)) for _ in range(5))] for row in range(5)]
    sums = [str(sum(int(row[column]) for row in rows)) for column in range(1, 6)]
    return [["", *"ABCDE"], *rows, ["Alle", *sums]]


def means(random: Random) -> Grid:
    values = [[random.randint(400, 990) / 10 for _ in range(4)] for _ in range(6)]
    rows = [[f"system {n}", *map(str, row), f"{sum(row) / 4:.2f}"] for n, row in enumerate(values)]
    return [["", "a", "b", "c", "d", "Avg."], *rows]


def shares(random: Random) -> Grid:
    counts = [random.randint(5, 400) for _ in range(7)]
    rows = [[f"class {n}", f"{count} ({100 * count / 412:.1f}%)"] for n, count in enumerate(counts)]
    return [["", "Patients (n = 412)"], *rows]


def fractions(random: Random) -> Grid:
    pairs = [(part, part + random.randint(20, 300)) for part in (random.randint(5, 200) for _ in range(6))]
    rows = [[f"site {n}", f"{part}/{whole}", f"{100 * part / whole:.1f}"] for n, (part, whole) in enumerate(pairs)]
    return [["", "Positive", "%"], *rows]


def harmonic(random: Random) -> Grid:
    pairs = [(random.randint(5000, 7000) / 100, random.randint(7500, 9500) / 100) for _ in range(7)]
    rows = [[f"system {n}", f"{p:.2f}", f"{r:.2f}", f"{2 * p * r / (p + r):.2f}"] for n, (p, r) in enumerate(pairs)]
    return [["", "Prec.", "Rec.", "F1"], *rows]


def scales(random: Random) -> Grid:
    rows = [[f"item {n}", f"{random.randint(19, 95) / 19:.2f}"] for n in range(9)]
    return [["", "Mean (n = 19)"], *rows]


KINDS: dict[str, Callable[[Random], Grid]] = {
    "total": totals,
    "mean": means,
    "percentage": fractions,
    "f1": harmonic,
}


def planted(rows: Grid, random: Random, *, decimals: bool = False) -> tuple[Grid, int]:
    """Return the table with one other digit, not the last one, in a value of the last column; and the value's row.

    Of a mean of whole numbers, a decimal is changed: the others say nothing of the sample.
    """
    at = random.randrange(2, len(rows))
    text = rows[at][-1]
    places = [place for place, digit in enumerate(text) if digit.isdigit()]
    place = random.choice(places[-2:] if decimals else places[:-1])
    digit = random.choice([one for one in "123456789" if one != text[place]])
    changed = [list(row) for row in rows]
    changed[at][-1] = text[:place] + digit + text[place + 1 :]
    return changed, at


@pytest.mark.parametrize("kind", [*KINDS, "grim"])
def test_sound_tables_give_no_findings_and_nine_of_ten_planted_errors_are_found(kind: str) -> None:
    random = Random(11)
    make = KINDS.get(kind, scales)
    hits = 0
    for _ in range(30):
        rows = make(random)
        assert check_table(rows) == []
        changed, at = planted(rows, random, decimals=kind == "grim")
        found = [one for one in check_table(changed) if one.kind == kind]
        hits += any(changed[at][-1] in one.evidence[0].quote or kind == "total" for one in found)
    # One of five other means of 19 whole numbers has two decimals that fit, too.
    assert hits >= (21 if kind == "grim" else 27)


def test_a_total_names_its_terms_with_their_places() -> None:
    rows = [["", "2021", "2022", "2023"], ["Cost", "178", "141", "138"], ["Research", "3,423", "2,532", "1,892"]]
    rows += [["Sales", "1,136", "876", "680"], ["Total", "4,737", "3,549", "2,510"]]
    (found,) = check_table(rows)
    assert found.kind == "total"
    assert found.arithmetic == "138 + 1,892 + 680 = 2710, printed: 2,510"
    assert [one.quote for one in found.evidence] == ["2,510", "138", "1,892", "680"]
    assert len({one.place for one in found.evidence}) == 4


def test_totals_of_rounded_numbers_may_differ_by_their_rounding() -> None:
    rows = [["", "A", "B", "C", "D"], ["x", "33.3", "20.1", "40.4", "12.2"], ["y", "33.3", "30.2", "20.3", "70.1"]]
    rows += [["z", "33.3", "49.8", "39.3", "17.6"], ["All", "100.0", "100.0", "100.0", "100.0"]]
    assert check_table(rows) == []


def test_a_share_of_fewer_answers_than_the_sample_is_no_finding() -> None:
    rows = shares(Random(2))
    rows[3][1] = "100 (25.6%)"
    assert check_table(rows) == []
    rows[3][1] = "100 (15.6%)"
    (found,) = check_table(rows)
    assert found.arithmetic == "100 × 100 / 412 = 24.27, printed: 15.6%"


def test_a_table_of_unrelated_numbers_or_of_an_uncertain_grid_gives_no_finding() -> None:
    random = Random(5)
    for _ in range(40):
        rows = [[f"r{row}", *(f"{random.uniform(10, 99):.1f}" for _ in range(6))] for row in range(8)]
        assert check_table([["", *"abcdef"], *rows]) == []
    wrong = [["", *"ABCDE"], *(["x", *("12" for _ in "ABCDE")] for _ in range(3))]
    doubtful = replace(table(1, 1, "", planted(totals(random), random)[0], ""), confidence=0.4)
    assert check_paper(paper_of(doubtful, table(2, 1, "", wrong, ""))) == ()


def test_settings_that_are_the_same_in_many_rows_are_no_identity() -> None:
    rows = [[f"run {number}", "200", "400", "600", str(number)] for number in range(9)]
    assert check_table([["", "layers", "heads", "width", "seed"], *rows, ["run 9", "300", "400", "600", "9"]]) == []


def bold_table(best: int) -> Table:
    rows = [["", *"abcde"], ["x", "90", "81", "70", "95", "50"], ["y", "80", "84", "72", "91", "60"]]
    rows += [["z", "70", "71", "67", "90", "55"], ["w", "60", "64", "61", "80", "52"]]
    marked = {(1, 1), (2, 2), (2, 3), (1, 4), (best, 5)}
    made = table(1, 1, "", rows, "")
    return replace(made, cells=tuple(replace(one, bold=(one.row, one.column) in marked) for one in made.cells))


def test_a_bold_value_that_is_not_the_best_one_is_found() -> None:
    assert check_paper(paper_of(bold_table(2))) == ()
    (found,) = check_paper(paper_of(bold_table(3)))
    assert (found.kind, found.arithmetic) == ("bold", "55 is in bold, but 60 is higher and 50 is lower")


def test_a_value_in_the_text_is_compared_with_the_cell_that_it_cites() -> None:
    rows = [["Model", "Accuracy", "Latency"], ["Alpha", "92.11", "30.52"], ["Beta", "88.40", "21.75"]]
    cited = table(1, 1, "Results.", rows, "")
    for stated, count in (("92.11", 0), ("92.71", 1), ("29.11", 1), ("55.30", 0)):
        text = f"As Table 1 shows, Alpha has an accuracy of {stated}."
        link = Link(source=f"{PAPER}/passage-1", target=cited.id, text="Table 1")
        found = check_paper(paper_of(passage(1, 1, text, ""), cited, links=[link]))
        assert [one.kind for one in found] == ["cited_value"] * count
        assert [one.quote for each in found for one in each.evidence] == [text, "92.11"][: 2 * count]


def test_of_several_cells_that_a_sentence_names_the_one_that_it_does_not_state_is_compared() -> None:
    rows = [["Model", "Accuracy"], ["Alpha", "92.1"], ["Beta", "88.4"], ["Gamma", "71.3"]]
    cited = table(1, 1, "Results.", rows, "")
    link = Link(source=f"{PAPER}/passage-1", target=cited.id, text="Table 1")
    for stated, shown in (("88.4", ""), ("38.4", "38.4 in the text, 88.4 in Table 1"), ("38.5", "")):
        text = f"In Table 1, Alpha and Beta have an accuracy of 92.1 and {stated}."
        found = check_paper(paper_of(passage(1, 1, text, ""), cited, links=[link]))
        assert [str(one) for one in found] == [shown] * bool(shown)


@pytest.mark.parametrize(
    "text",
    [
        "It rose, t(28) = 2.20, p = .036, as expected.",
        "A main effect, F(2, 45) = 3.30, p = .046, was found.",
        "They differ (χ2(1, N = 90) = 3.89, p < .05).",
        "One-sided, z = 1.70, p = .045.",
        "They correlate, r(48) = \u2212.35, p = .013; t(30) = 0.50, p > .05.",
        "Bonferroni-corrected, t(28) = 2.20, p = .108.",
        "With t(28) = 2.2, p = .04, which many statistics have.",
    ],
)
def test_a_p_value_of_its_statistic_gives_no_finding(text: str) -> None:
    assert check_text(text) == []


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("It rose, t(28) = 1.20, p = .036, as expected.", "t(28) = 1.20 has p = 0.238 to 0.242, two-sided"),
        ("A main effect, F(2, 45) = 3.30, p = .006, was found.", "F(2, 45) = 3.30 has p = 0.0458 to 0.0462"),
        ("They differ (χ²(1, N = 90) = 0.89, p < .05).", "χ²(1, N = 90) = 0.89 has p = 0.344 to 0.347"),
        ("They correlate, r(48) = \u2212.35, p < .001.", "has p = 0.0114 to 0.0141, two-sided"),
    ],
)
def test_a_p_value_of_another_statistic_is_found(text: str, shown: str) -> None:
    (found,) = check_text(text)
    assert (found.kind, found.evidence[0].element) == ("p_value", f"{PAPER}/passage-1")
    assert shown in found.arithmetic
