"""LaTeX in running text, and scripts, become plain text."""

import pytest

from paperscope_core.text.formulas import script_text
from paperscope_core.text.latex import without_latex


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("5 $\\mu$m", "5 μm"),
        ("$5\\,\\mu\\mathrm{m}$ wide", "5 μm wide"),
        ("5 \\mu m", "5 μ m"),
        ("\\(R_0 = 2.4\\) and $\\text{CO}_{2}$", "R₀ = 2.4 and CO₂"),
        ("10^{-3} and $1{,}225 \\times 0.37$", "10⁻³ and 1,225 × 0.37"),
        ("12\\% of \\$5, \\textbf{bold}", "12% of $5, bold"),
        ("$5 million and $10 million", "$5 million and $10 million"),
        ("costs $5 and $6.", "costs $5 and $6."),
        ("snake_case, 3^2 and a \\ b", "snake_case, 3^2 and a \\ b"),
        ("", ""),
    ],
)
def test_latex_in_running_text_is_read(text: str, plain: str) -> None:
    assert without_latex(text) == plain


@pytest.mark.parametrize(
    ("text", "raised", "expected"),
    [
        ("2", True, "²"),
        ("10", False, "₁₀"),
        ("t", False, "_t"),
        ("ij", False, "_ij"),
        ("k,l", False, "_(k,l)"),
        ("†", True, "†"),
        ("◦", True, "°"),
        ("±0.2", False, "±0.2"),
    ],
)
def test_scripts(text: str, raised: bool, expected: str) -> None:
    assert script_text(text, raised=raised) == expected
