"""Jobs that go on in the background: adding papers, answering batches."""

from service.jobs.supervisor import Supervisor

__all__ = ["Supervisor"]
