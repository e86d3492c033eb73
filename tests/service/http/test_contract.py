"""The service conforms to its OpenAPI document: schemathesis sends valid and invalid requests."""

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from service.keys import KeyStore
from tests.service.conftest import settings_of
from tests.service.servers import serve_app

REMOVE = "remove_paper_v1_papers__paper__delete"
SECONDS = "20"
# In multipart, an empty list is no field at all and every value is a text, which are valid. The paths of
# /v1/papers/{paper}, which has other methods, also match the other two.
CONFIG = """
[[operations]]
include-name-regex = "^POST /v1/papers(/estimate)?$"
checks.negative_data_rejection.enabled = false

[[operations]]
include-path-regex = "^/v1/papers/(estimate|[{]paper[}][.]bib)$"
checks.unsupported_method.enabled = false
"""


@pytest.fixture(scope="module")
def keyed(example_library: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    """The address of a service over a copy of the example library, and its key."""
    folder = tmp_path_factory.mktemp("contract")
    library = Path(shutil.copytree(example_library, folder / "library"))
    _, secret = KeyStore.open(folder / "keys.json").create("contract", library)
    with serve_app(settings_of(library)) as address:
        yield address, secret.get_secret_value()


def examined(keyed: tuple[str, str], folder: Path, *options: str) -> str:
    """The output of schemathesis; fails if it finds a violation.

    It may refuse what the document allows: that a paper has a section of some name, no schema can say.
    """
    address, secret = keyed
    (folder / "schemathesis.toml").write_text(CONFIG)
    given = ["--seed", "1", "--continue-on-failure", "--no-shrink", "--no-color", "--request-timeout", "60", *options]
    given += ["--phases", "examples,coverage,fuzzing", "--exclude-checks", "positive_data_acceptance"]
    given += ["--header", f"Authorization: Bearer {secret}"]
    done = subprocess.run(  # noqa: S603
        [sys.executable, "-m", "schemathesis.cli", "run", f"{address}/openapi.json", *given],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.slow
def test_every_operation_keeps_to_its_document(keyed: tuple[str, str], tmp_path: Path) -> None:
    told = examined(keyed, tmp_path, "--max-time", SECONDS, "--exclude-operation-id", REMOVE)
    assert "Unresolvable" not in told
    assert httpx2.get(f"{keyed[0]}/healthz").status_code == 200


@pytest.mark.slow
def test_removing_a_paper_keeps_to_its_document(keyed: tuple[str, str], tmp_path: Path) -> None:
    examined(keyed, tmp_path, "-n", "20", "--include-operation-id", REMOVE)
