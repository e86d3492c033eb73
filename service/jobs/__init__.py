"""Background jobs: a worker process adds papers and answers batches, isolated from the service."""

from service.jobs.standalone import do_jobs
from service.jobs.supervisor import JobRunner, Supervisor

__all__ = ["JobRunner", "Supervisor", "do_jobs"]
