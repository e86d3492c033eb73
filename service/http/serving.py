"""`serve`: the service in this process, or in several ones."""

import logging
import os
import signal
from collections.abc import Callable

from paperscope_core.errors import SettingsError
from paperscope_core.processes import ending_signals
from paperscope_core.settings import Settings
from service.http.auth import is_loopback
from service.http.processes import serve_with_processes
from service.http.server import build_server
from service.keys import KeyStore
from service.libraries import share_processor
from service.logs import configure_logs

__all__ = ["serve"]


def serve(
    settings: Settings,
    *,
    read_settings: Callable[[], Settings] | None = None,
    on_started: Callable[[str], None] = lambda _address: None,
) -> None:
    """Serves until the process is interrupted (Ctrl-C, SIGTERM; a single one also by SIGHUP), then exits it.

    Requests in progress get some time to finish; a second signal exits at once.

    Args:
        settings: The settings.
        read_settings: Reads them again when several processes are replaced (SIGHUP); by default they stay.
        on_started: Called with the address of the web page when it can be opened.

    Raises:
        SettingsError: It would listen on a non-loopback address without API keys, or, with several processes, it can't
            listen on the address.
    """
    service = settings.service
    if not is_loopback(service.host) and not KeyStore.open(service.keys).required:
        raise SettingsError(
            f"service.host {service.host!r} admits other machines, and there is no API key yet: make one with "
            f"`paperscope keys create NAME --library FOLDER` (key file: {service.keys}), or listen on 127.0.0.1"
        )
    configure_logs(service.log)
    if service.workers > 1:
        started = serve_with_processes(
            settings, read_settings=read_settings or (lambda: settings), on_started=on_started
        )
    else:
        share_processor()
        server = build_server(settings, on_started=on_started)
        # uvicorn handles the others.
        for number in set(ending_signals()) - {signal.SIGINT, signal.SIGTERM}:
            signal.signal(number, server.handle_exit)
        server.run()
        started = server.started
    logging.shutdown()
    # Everything is closed. Freeing a library's memory would take seconds more, and many on a busy machine.
    os._exit(0 if started else 1)
