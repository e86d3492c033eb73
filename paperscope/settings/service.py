"""The section of the settings that the HTTP service reads."""

from pathlib import Path
from typing import Literal

from pydantic import Field

from paperscope.settings.sections import Address, Folder, Section

__all__ = ["ServiceSettings"]


class ServiceSettings(Section):
    """Where the HTTP service listens, whom it lets in, and how much it takes on."""

    host: str = Field(
        default="127.0.0.1",
        min_length=1,
        description="the address to listen on; beyond this machine (0.0.0.0) it takes API keys to start",
    )
    port: int = Field(default=8000, ge=0, le=65535, description="the port to listen on; 0: a free one")
    keys: Folder = Field(
        default=Path("paperscope-keys.json"),
        description="the file of API keys; where it is there, every request takes a key",
    )
    folders: tuple[Folder, ...] = Field(
        default=(), description="folders whose papers may be added by path, by callers without a key"
    )
    origins: tuple[Address, ...] = Field(
        default=(), description="web pages of other addresses that may call, such as https://lab.example"
    )
    hosts: tuple[str, ...] = Field(
        default=(), description="names by which the service may be called without keys, beside localhost"
    )
    questions_at_once: int = Field(default=8, ge=1, description="how many questions are answered at a time")
    questions_waiting: int = Field(
        default=128, ge=0, description="how many more may wait; others are told to come back later (429)"
    )
    question_seconds: float = Field(default=300.0, gt=0, description="how long answering a question may take")
    requests_per_minute: int = Field(
        default=0, ge=0, description="the most requests a minute of one key or address; 0: no limit"
    )
    batch_questions: int = Field(default=10_000, ge=1, description="how many questions one batch may hold")
    jobs_at_once: int = Field(default=2, ge=1, description="how many jobs (papers, batches) are worked on at a time")
    jobs_waiting: int = Field(default=1000, ge=1, description="how many jobs of a library may wait")
    worker_memory_mb: int = Field(
        default=8192, ge=1024, description="how much memory the process that adds papers may take, in megabytes (Linux)"
    )
    keep_jobs_days: int = Field(default=30, ge=1, description="how long ended jobs and their results are kept")
    shutdown_seconds: float = Field(
        default=10.0, gt=0, description="how long requests under way may take when the service is asked to end"
    )
    log: Literal["text", "json"] = Field(default="text", description="how the log is written, a line an event")
    otlp_endpoint: Address = Field(
        default="", description="where traces are sent (OpenTelemetry, OTLP over HTTP; extra: tracing); empty: nowhere"
    )
