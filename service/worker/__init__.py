"""The worker: a process of its own that does the jobs of all libraries, so that none of them can harm the service."""

from service.worker.supervisor import Supervisor

__all__ = ["Supervisor"]
