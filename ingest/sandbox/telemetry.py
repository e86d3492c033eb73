"""Switches off onnxruntime's usage reports; PyMuPDF's layout analysis and the text recognition load that library."""

import os

__all__ = ["disable_onnxruntime_telemetry"]


def disable_onnxruntime_telemetry() -> None:
    """Keep onnxruntime, if it is loaded later, from storing or sending usage reports; a value set by the user wins."""
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
