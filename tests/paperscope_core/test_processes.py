"""Processes of ours."""

import signal

import pytest

from paperscope_core.processes import ending_signals


@pytest.mark.parametrize("handler", [signal.SIG_DFL, signal.SIG_IGN])
def test_a_closing_terminal_ends_a_process_unless_nohup_started_it(handler: signal.Handlers) -> None:
    before = signal.signal(signal.SIGHUP, handler)
    try:
        found = set(ending_signals())
    finally:
        signal.signal(signal.SIGHUP, before)
    assert found - {signal.SIGHUP} == {signal.SIGINT, signal.SIGTERM}
    assert (signal.SIGHUP in found) == (handler is signal.SIG_DFL)
