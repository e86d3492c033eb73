"""An S3 server within a test."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

__all__ = ["serve_bucket"]


@contextmanager
def serve_bucket(name: str) -> Iterator[str]:
    """A bucket on an S3 server of this process, which the environment names; yields its address."""
    from moto.server import ThreadedMotoServer
    from s3fs import S3FileSystem

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    with pytest.MonkeyPatch.context() as patch:
        for variable, value in (
            ("AWS_ENDPOINT_URL", f"http://{host}:{port}"),
            ("AWS_ACCESS_KEY_ID", "test"),
            ("AWS_SECRET_ACCESS_KEY", "test"),
            ("AWS_DEFAULT_REGION", "us-east-1"),
        ):
            patch.setenv(variable, value)
        S3FileSystem.clear_instance_cache()
        S3FileSystem(skip_instance_cache=True).mkdir(name)
        yield f"s3://{name}"
        server.stop()
