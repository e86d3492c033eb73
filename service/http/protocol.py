"""uvicorn's HTTP/1.1 where it would refuse a request by itself, in plain text."""

import sys
from http import HTTPStatus

import h11

from service.http.bounds import HEAD_TOO_LARGE
from service.http.patience import PatientProtocol
from service.http.problems import MEDIA_TYPE, Problem

__all__ = ["TellingProtocol"]

_UNREADABLE = "unreadable", "This is no HTTP/1.1 request that can be read."


class TellingProtocol(PatientProtocol):
    """Tells of a request that can't be read by a problem document, and leaves it to the app (`Bounds`) to refuse one
    where more are connected than it takes on: its scope's state has `crowded` then."""

    def handle_events(self) -> None:
        """Serve what has come."""
        self.limit_concurrency = None
        most = self.config.limit_concurrency or sys.maxsize
        self.app_state["crowded"] = max(len(self.connections), len(self.tasks)) >= most
        super().handle_events()

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002 # uvicorn's signature
        """Refuse what can't be read, and end the connection; where a response has begun, nothing can be told."""
        if self.conn.our_state not in (h11.IDLE, h11.SEND_RESPONSE):
            self.transport.abort()
            return
        # uvicorn calls this where it has caught it.
        error = sys.exception()
        status = HTTPStatus(getattr(error, "error_status_hint", HTTPStatus.BAD_REQUEST))
        kind, detail = HEAD_TOO_LARGE if status == HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE else _UNREADABLE
        problem = Problem.of(kind, status=status, detail=detail)
        headers = {"Content-Type": MEDIA_TYPE, "Connection": "close", "X-Content-Type-Options": "nosniff"}
        response = h11.Response(status_code=status, headers=list(headers.items()), reason=status.phrase.encode())
        for event in (response, h11.Data(data=problem.text.encode()), h11.EndOfMessage()):
            self.transport.write(self.conn.send(event) or b"")
        self.transport.close()
