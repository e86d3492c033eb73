"""Addresses of clusters that can't be used. None of these starts Ray."""

import os
import socket

import pytest

from paperscope.bulk import cluster
from paperscope.bulk.cluster import connected
from paperscope_core.errors import InputError


def test_ray_is_an_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "find_spec", lambda _name: None)
    with pytest.raises(InputError, match=r"pip install 'paperscope\[ray\]'"), connected("local", workers=None):
        pass


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("ray://127.0.0.1:10001", "write local, auto, or HOST:PORT"),
        ("somewhere", "write local, auto, or HOST:PORT"),
        ("127.0.0.1:99999", "nothing listens there"),
    ],
)
def test_addresses_of_no_cluster(address: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        cluster._check_listens(address)


def test_an_address_that_nothing_listens_to() -> None:
    with socket.socket() as reserved:
        reserved.bind(("127.0.0.1", 0))
        with pytest.raises(InputError, match=r"nothing listens there .*--ray local"):
            cluster._check_listens(f"127.0.0.1:{reserved.getsockname()[1]}")


def test_an_address_of_another_program(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "_ANSWER_SECONDS", 3.0)
    with (
        socket.create_server(("127.0.0.1", 0)) as other,
        pytest.raises(InputError, match=r"no Ray cluster answers there.*the port of the head"),
    ):
        cluster._check_listens(f"127.0.0.1:{other.getsockname()[1]}")


def test_usage_reports_are_off_unless_the_user_says_otherwise() -> None:
    assert cluster._ENVIRONMENT["RAY_USAGE_STATS_ENABLED"] == "0"
    assert "RAY_USAGE_STATS_ENABLED" not in os.environ or os.environ["RAY_USAGE_STATS_ENABLED"] == "0"
