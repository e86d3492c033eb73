"""Messages on a pipe between two processes: a letter for the kind, the length, the bytes."""

import struct
from typing import BinaryIO, NamedTuple

__all__ = ["Frame", "read_frame", "write_frame"]

_HEAD = struct.Struct(">cQ")


class Frame(NamedTuple):
    """One message."""

    kind: bytes
    data: bytes


def write_frame(pipe: BinaryIO, kind: bytes, data: bytes = b"") -> None:
    """Send a message; `kind` is one byte."""
    pipe.write(_HEAD.pack(kind, len(data)))
    pipe.write(data)
    pipe.flush()


def read_frame(pipe: BinaryIO) -> Frame | None:
    """The next message, None where the other side has gone."""
    head = pipe.read(_HEAD.size)
    if len(head) < _HEAD.size:
        return None
    kind, length = _HEAD.unpack(head)
    data = pipe.read(length)
    return Frame(kind, data) if len(data) == length else None
