"""Requests byte by byte, for tests of what no client would send."""

import json
import socket
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit

__all__ = ["problem_in", "raw", "status_of"]


def raw(address: str, data: bytes) -> bytes:
    """What comes back for these bytes, before the connection ends in whatever way."""
    where = urlsplit(address)
    assert where.hostname is not None
    assert where.port is not None
    with socket.create_connection((where.hostname, where.port), timeout=10) as connection:
        answer = b""
        with suppress(OSError):
            connection.sendall(data)
            connection.shutdown(socket.SHUT_WR)
        with suppress(ConnectionResetError):
            while part := connection.recv(65536):
                answer += part
        return answer


def problem_in(answer: bytes) -> dict[str, Any]:
    problem: dict[str, Any] = json.loads(answer.partition(b"\r\n\r\n")[2])
    return problem


def status_of(answer: bytes) -> int:
    return int(answer.split(b" ", 2)[1]) if answer else 0
