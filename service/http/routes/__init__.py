"""The routes of the HTTP service, a module a subject."""

from fastapi import APIRouter

from service.http.routes import adding, batch, health, jobs

__all__ = ["ROUTERS"]

ROUTERS: tuple[APIRouter, ...] = (health.router, adding.router, jobs.router, batch.router)
