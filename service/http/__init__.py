"""The HTTP service: an app for any ASGI server, and `serve`, which runs it with uvicorn."""

from service.http.app import create_app
from service.http.serving import serve

__all__ = ["create_app", "serve"]
