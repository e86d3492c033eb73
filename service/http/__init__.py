"""The HTTP service: an ASGI app, and `serve`, which runs it."""

from service.http.app import create_app
from service.http.server import serve

__all__ = ["create_app", "serve"]
