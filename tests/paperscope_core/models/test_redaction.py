"""A secret is masked in every encoding that a server may echo it in."""

import base64
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paperscope_core.models.endpoint import MASK, redact

KEY = "sk-Very/secret+0123456789=="
ENCODED = (
    KEY,
    KEY.upper(),
    quote(KEY, safe=""),
    quote(KEY, safe="").lower(),
    quote_plus(KEY),
    "".join(f"%{ord(sign):02X}" for sign in KEY),
    KEY.encode().hex(),
    KEY.encode().hex().upper(),
    "".join(f"\\u{ord(sign):04x}" for sign in KEY),
    base64.b64encode(KEY.encode()).decode(),
    base64.urlsafe_b64encode(KEY.encode()).decode(),
    base64.b64encode(f"Bearer {KEY}".encode()).decode(),
    base64.b64encode(f"u:{KEY}".encode()).decode(),
)


@pytest.mark.parametrize("encoded", ENCODED)
@pytest.mark.parametrize(("start", "end"), [(0, 1), (0, 1 / 2), (1 / 2, 1), (1 / 5, 4 / 5)])
def test_no_piece_of_a_key_is_left(encoded: str, start: float, end: float) -> None:
    piece = encoded[int(start * len(encoded)) : int(end * len(encoded))]
    shown = redact(f"wrong key: {piece}!", KEY)
    assert MASK in shown
    # What was encoded before and after the key ("Bearer ", "=="), and the rest of a character that was cut in two.
    assert len(shown.removeprefix("wrong key: ").replace(MASK, "")) <= 16


def test_text_without_the_key_is_unchanged() -> None:
    text = "The model 'm-1' has no parameter response_format; see https://example.org/v1/models"
    assert redact(text, KEY) == text
    assert redact(text, "") == text


@given(st.text(st.characters(codec="ascii", exclude_categories=["C"]), min_size=1, max_size=60), st.text(), st.text())
def test_a_key_between_any_texts_is_masked(key: str, before: str, after: str) -> None:
    assert key not in redact(before + key + after, key).replace(MASK, "\0")
