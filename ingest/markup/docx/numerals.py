"""Numbers of list items in the forms that Word knows."""

from ingest.markup.lists import roman

__all__ = ["numeral"]


def numeral(number: int, form: str) -> str:
    """`iv`, `d`, `4`."""
    match form:
        case "lowerRoman":
            return roman(number)
        case "upperRoman":
            return roman(number).upper()
        case "lowerLetter":
            return _letter(number)
        case "upperLetter":
            return _letter(number).upper()
        case _:
            return str(number)


def _letter(number: int) -> str:
    """`c` for 3, `cc` for 29."""
    return "abcdefghijklmnopqrstuvwxyz"[(number - 1) % 26] * min((number - 1) // 26 + 1, 5)
