"""A process that only does jobs, which services and other processes queue."""

import asyncio
import logging
import os
import signal
from functools import partial

from paperscope_core.errors import SettingsError
from paperscope_core.processes import ending_signals
from paperscope_core.settings import Settings
from service.jobs.supervisor import Supervisor
from service.keys import KeyStore
from service.libraries import ModelUsage
from service.logs import configure_logs, event_log

__all__ = ["do_jobs"]

_events = event_log(__name__)


def do_jobs(settings: Settings) -> None:
    """Do the jobs of the settings' library, or of the libraries of its API keys, until Ctrl-C, SIGTERM or SIGHUP.

    Jobs in progress then get some time to stop, and are queued again; a second signal ends the process at once. Each
    model call is a line of the log.

    Raises:
        SettingsError: The settings let it take no jobs.
        KeyFileError: The API keys can't be read.
    """
    if not settings.service.jobs_at_once:
        raise SettingsError("service.jobs_at_once is 0, so that this worker would do nothing; set it to 1 or more")
    keys = KeyStore.open(settings.service.keys)
    configure_logs(settings.service.log)
    folders = partial(keys.libraries, default=settings.library)

    asyncio.run(_run(Supervisor(settings, folders=folders, on_usage=_log_usage, watch=True)))
    logging.shutdown()


async def _run(supervisor: Supervisor) -> None:
    loop, ended = asyncio.get_running_loop(), asyncio.Event()

    def end(number: signal.Signals) -> None:
        if ended.is_set():
            os._exit(128 + number)
        ended.set()

    for number in ending_signals():
        loop.add_signal_handler(number, end, number)
    supervisor.start()
    _events.info("waits for jobs")
    await ended.wait()
    await supervisor.stop()


def _log_usage(usage: ModelUsage) -> None:
    spent = usage.call.usage
    _events.info(
        "model call",
        work=usage.work,
        role=usage.role,
        outcome=usage.call.outcome,
        prompt_tokens=spent.prompt_tokens,
        completion_tokens=spent.completion_tokens,
        cost=spent.cost,
    )
