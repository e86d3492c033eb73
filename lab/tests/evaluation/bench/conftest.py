"""An embedder that no process of a bench has to load."""

from collections.abc import Iterator

import pytest

from tests.model_server import serve
from tests.service.servers import embedder_settings, variables


@pytest.fixture
def served_embedder(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Settings of the environment with a server as embedder, also for the processes that a test starts."""
    with serve() as model:
        for name, value in variables(embedder_settings(model.url)).items():
            monkeypatch.setenv(name, value)
        yield
