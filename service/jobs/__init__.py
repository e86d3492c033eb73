"""Background jobs: a worker process adds papers and answers batches, isolated from the service."""

from service.jobs.supervisor import Supervisor

__all__ = ["Supervisor"]
