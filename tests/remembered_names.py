"""The installed recognizer for tests: it reads a paper once, for all processes and later runs.

A process that a test starts asks the process of the test (`tests/children`), because torch loads for seconds.
"""

import asyncio
import hashlib
import os
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

from pydantic import TypeAdapter

from ingest.extraction import recognizer
from ingest.extraction.recognizer.examples import Example
from ingest.extraction.recognizer.loading import Recognizer
from tests.model_socket import ask

__all__ = ["NAMES_ADDRESS", "RememberedRecognizer", "ServedRecognizer"]

NAMES_ADDRESS = "TESTS_NAMES"
"""The variable of the environment with the Unix socket that names are asked from."""

_EXAMPLES = TypeAdapter(list[Example])


class RememberedRecognizer:
    """Recognizes like the installed recognizer, which it loads only for texts without a file in the folder."""

    name = "papers"

    def __init__(self, load: Callable[[], Recognizer], *, folder: Path) -> None:
        self._load = load
        self._folder = folder
        self._lock = threading.Lock()
        # A change of the recognizer reads the texts anew.
        package = Path(recognizer.__file__).parent
        files = sorted((*package.glob("*.py"), *(package / "papers").iterdir()))
        self._key = hashlib.sha256(b"".join(file.read_bytes() for file in files if file.is_file())).digest()

    async def recognize(self, examples: Sequence[Example]) -> list[Example]:
        """Find the entities of texts; see `Recognizer`."""
        return _EXAMPLES.validate_json(
            await asyncio.to_thread(self.recognize_json, _EXAMPLES.dump_json(list(examples)))
        )

    def recognize_json(self, examples: bytes) -> bytes:
        """Find the entities of texts that are a JSON array of examples."""
        file = self._folder / hashlib.sha256(self._key + examples).hexdigest()
        with self._lock:
            if file.exists():
                return file.read_bytes()
            found = _EXAMPLES.dump_json(asyncio.run(self._load().recognize(_EXAMPLES.validate_json(examples))))
            # A test that acts as another user may not write there.
            if os.access(self._folder, os.W_OK, effective_ids=True):
                unfinished = file.with_suffix(f".{os.getpid()}")
                unfinished.write_bytes(found)
                unfinished.rename(file)
            return found


class ServedRecognizer:
    """Asks the process of the test for the entities of texts.

    Args:
        load: Loads the recognizer itself, where none is served.
    """

    name = "papers"

    def __init__(self, load: Callable[[], Recognizer]) -> None:
        self._load = load

    async def recognize(self, examples: Sequence[Example]) -> list[Example]:
        """Find the entities of texts; see `Recognizer`."""
        address = os.environ.get(NAMES_ADDRESS)
        if address is None:
            return await self._load().recognize(examples)
        return _EXAMPLES.validate_json(await asyncio.to_thread(ask, address, _EXAMPLES.dump_json(list(examples))))
