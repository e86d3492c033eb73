"""LaTeX commands in JSON strings, and control characters in texts."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paperscope_core.text.latex_escapes import escape_latex, repair_control_characters


@pytest.mark.parametrize(
    "written",
    [
        r"\frac{1}{2}",
        r"\beta",
        r"\nu",
        r"\nu_t",
        r"\rho",
        r"\theta",
        r"\times",
        r"10\times10",
        r"\text{if}",
        r"\forall x \in \mathbb{R}",
        r"\nabla f \neq 0",
        r"\bar{x}, \tilde{y}, \right)",
        r"\underline{x}",
        r"$a \nmid b$",
        r"$p \nless q$",
        r"\(x\) \[y\] 5\% \{z\} \_",
        r"\upsilon",
        r"by \nu and (\nu), where \mu \ne \nu",
        r"$a,\nu$",
        r"\mu\nu and \alpha\ne\beta",
    ],
)
def test_commands_of_latex_are_text(written: str) -> None:
    assert json.loads(escape_latex(f'"{written}"')) == written
    doubled = written.replace("\\", "\\\\")
    assert json.loads(escape_latex(f'"{doubled}"')) == written


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        (r"First.\nThe second", "First.\nThe second"),
        (r"a\n\nb", "a\n\nb"),
        (r"- one\n- two", "- one\n- two"),
        (r"more\nless", "more\nless"),
        (r"there\nexists", "there\nexists"),
        (r"sets\ne.g. two", "sets\ne.g. two"),
        (r"Il modello.\ne la perdita", "Il modello.\ne la perdita"),
        (r"Model je bolji,\nu tablici", "Model je bolji,\nu tablici"),
        (r"方法。\nu", "方法。\nu"),
        (r"\nuclear", "\nuclear"),
        (r"a\tb", "a\tb"),
        (r"1\t2", "1\t2"),
        (r"\u00e9\u03BD", "éν"),
        (r"say \"yes\"", 'say "yes"'),
        (r"a\/b", "a/b"),
        (r"don\'t", "don't"),
    ],
)
def test_what_is_an_escape_stays_one(written: str, meant: str) -> None:
    assert json.loads(escape_latex(f'"{written}"')) == meant


@pytest.mark.parametrize(
    ("received", "repaired"),
    [
        ("\x0crac{1}{2}", r"\frac{1}{2}"),
        ("\x08eta", r"\beta"),
        ("a\r\nb\rc", "a\nb\nc"),
        ("a\x00b\x1b[2J\x7f\x85", "a b [2J  "),
        ("\ud835", " "),
        ("a\tb\n", "a\tb\n"),
    ],
)
def test_control_characters_are_repaired(received: str, repaired: str) -> None:
    assert repair_control_characters(received) == repaired


@given(st.text(st.characters(exclude_categories=("Cc", "Cs"))))
def test_texts_without_control_characters_are_kept(text: str) -> None:
    assert json.loads(escape_latex(json.dumps(text))) == text
    assert repair_control_characters(text) == text
