"""Masks a secret in somebody else's text, which may contain it encoded or cut."""

import base64
from collections.abc import Iterator
from string import ascii_lowercase, ascii_uppercase
from urllib.parse import quote, quote_plus

__all__ = ["MASK", "redact"]

MASK = "********"

# A shorter piece of a secret reveals too little of it, and would also mask unrelated words.
_MIN_CHARACTERS = 6
_LOWER = str.maketrans(ascii_uppercase, ascii_lowercase)


def redact(text: str, secret: str) -> str:
    """Mask a secret and each piece of it: plain, or encoded for a URL, as Base64, as hexadecimal digits or in JSON.

    Case is ignored. The work is linear in the length of the text.
    """
    folded = text.translate(_LOWER)
    masked = bytearray(len(text))
    for form, size in _forms(secret):
        pieces = {form[start : start + size] for start in range(len(form) - size + 1)}
        for start in range(len(text) - size + 1):
            if folded[start : start + size] in pieces:
                masked[start : start + size] = b"\1" * size
    return "".join(
        sign if not hidden else MASK * (index == 0 or not masked[index - 1])
        for index, (sign, hidden) in enumerate(zip(text, masked, strict=True))
    )


def _forms(secret: str) -> Iterator[tuple[str, int]]:
    """Yield the forms of a secret in lower case, each with the length of the shortest piece that is masked."""
    if not secret:
        return
    data, count = secret.encode(), min(_MIN_CHARACTERS, len(secret))
    forms = {
        (secret, count),
        (quote(secret, safe=""), count),
        (quote_plus(secret), count),
        ("".join(f"%{byte:02x}" for byte in data), 3 * count),
        ("".join(f"\\u{byte:04x}" for byte in data), 6 * count),
        (data.hex(), 2 * count),
    }
    # Three bytes are four digits, so the digits of a secret depend on its offset in what was encoded.
    for offset in range(3):
        digits = base64.b64encode(bytes(offset) + data).decode().rstrip("=")
        # The digits at both ends depend on the neighbours, too.
        digits = digits[(offset * 8 + 5) // 6 : len(digits) if (offset + len(data)) % 3 == 0 else -1]
        for form in (digits, digits.translate(str.maketrans("+/", "-_"))):
            forms.add((form, min(len(form), count * 4 // 3)))
    for form, size in forms:
        if size:
            yield form.translate(_LOWER), size
