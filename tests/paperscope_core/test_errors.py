"""The errors that users see."""

import pickle

import pytest

from paperscope_core.errors import ModelRateLimitError, PaperscopeError, StoreDamagedError, UnknownPaperError
from paperscope_core.models.endpoint import BadRequestError


@pytest.mark.parametrize(
    "error",
    [
        UnknownPaperError("no such paper"),
        StoreDamagedError("abc"),
        ModelRateLimitError("slower", where="http://host", retry_after=3.0),
        BadRequestError("bad", where="http://host", complaint="temperature"),
    ],
)
def test_errors_pass_from_one_process_to_another(error: PaperscopeError) -> None:
    copy = pickle.loads(pickle.dumps(error))  # noqa: S301
    assert type(copy) is type(error)
    assert (str(copy), copy.public, vars(copy)) == (str(error), error.public, vars(error))


def test_a_very_long_value_is_quoted_without_its_middle() -> None:
    message = str(PaperscopeError(f"{'a' * 9000!r} is no year; give one such as 2020"))
    assert len(message) < 2500
    assert message.startswith("'aaa")
    assert message.endswith("aaa' is no year; give one such as 2020")
