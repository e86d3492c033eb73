"""Switches off onnxruntime's usage reports; the embedder, PyMuPDF's layout and text recognition load it."""

import os

__all__ = ["disable_onnxruntime_telemetry"]


def disable_onnxruntime_telemetry() -> None:
    """Keep onnxruntime, if it is loaded later, from storing or sending usage reports; a value set by the user wins."""
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
