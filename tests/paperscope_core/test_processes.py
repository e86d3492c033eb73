"""Processes of ours."""

import os
import signal

import pytest

from paperscope_core.processes import ending_signals, environment_variable


@pytest.mark.parametrize("handler", [signal.SIG_DFL, signal.SIG_IGN])
def test_a_closing_terminal_ends_a_process_unless_nohup_started_it(handler: signal.Handlers) -> None:
    before = signal.signal(signal.SIGHUP, handler)
    try:
        found = set(ending_signals())
    finally:
        signal.signal(signal.SIGHUP, before)
    assert found - {signal.SIGHUP} == {signal.SIGINT, signal.SIGTERM}
    assert (signal.SIGHUP in found) == (handler is signal.SIG_DFL)


@pytest.mark.parametrize("before", ["yes", None])
def test_a_variable_is_set_for_a_block_and_restored(before: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NOVELTY", raising=False)
    if before is not None:
        monkeypatch.setenv("NOVELTY", before)
    with environment_variable("NOVELTY", "no"):
        assert os.environ["NOVELTY"] == "no"
    assert os.environ.get("NOVELTY") == before
