"""Running the app with uvicorn."""

from paperscope.errors import SettingsError
from paperscope.settings import Settings
from service.http.access import is_loopback
from service.http.app import create_app
from service.keys import Keys

__all__ = ["serve"]


def serve(settings: Settings) -> None:
    """Serve until the process is asked to end (Ctrl-C, SIGTERM); requests under way are then finished.

    Raises SettingsError where it would listen beyond this machine without API keys.
    """
    import uvicorn

    service = settings.service
    if not is_loopback(service.host) and not Keys.open(service.keys).required:
        raise SettingsError(
            f"service.host {service.host!r} lets others on the network in, and there is no API key yet: make one with "
            f"`paperscope keys create NAME --library FOLDER` (key file: {service.keys}), or listen on 127.0.0.1"
        )
    config = uvicorn.Config(
        create_app(settings),
        host=service.host,
        port=service.port,
        server_header=False,
        timeout_graceful_shutdown=round(service.shutdown_seconds),
    )
    uvicorn.Server(config).run()
