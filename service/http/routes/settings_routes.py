"""What the service runs with, and what its models were paid for."""

from dataclasses import asdict
from typing import Annotated
from urllib.parse import urlsplit

from fastapi import APIRouter, Response
from pydantic import BaseModel, Field

from paperscope import __version__
from paperscope_core.settings import EmbedSettings, RoleSettings, Settings
from paperscope_core.types import Usage
from service.http.auth import CallerOf, ComputingLibraryOf, ServiceOf
from service.http.responses import document_example, json_response
from service.http.routes.batch_routes import MAX_QUESTIONS
from service.jobs.housekeeping import KEEP_DAYS

__all__ = ["router"]

router = APIRouter(prefix="/v1", tags=["service"])


class ModelView(BaseModel):
    """A model; `host` is its server, or "" if it runs in the service. Prices are those of a million tokens."""

    model: str
    host: str
    price_prompt: float
    price_completion: float


class ModelsView(BaseModel):
    """The models by role; null for a role without one."""

    answer: ModelView | None = None
    extract: ModelView | None = None
    vision: ModelView | None = None
    embed: ModelView


class LimitsView(BaseModel):
    """The limits of files, questions and requests; `requests_per_minute` is 0 without a limit."""

    max_file_mb: int
    max_pages: int
    question_seconds: float
    requests_per_minute: int
    batch_questions: int
    keep_jobs_days: int


class ReadingView(BaseModel):
    """How papers are read: the parser, and whether pages without text are recognised (`auto`)."""

    parser: str
    ocr: str


class SearchView(BaseModel):
    """How questions find their context: the index, the most chunks and tokens, whether a reranker orders them."""

    index: str
    chunks: int
    tokens: int
    reranker: bool


class SettingsView(BaseModel):
    """The settings in force, as far as a caller may see them: no key, no folder and no address beyond a host's name."""

    version: str
    requires_key: bool
    can_add_by_path: Annotated[bool, Field(description="whether the caller may add papers by their path")]
    models: ModelsView
    limits: LimitsView
    reading: ReadingView
    search: SearchView


class ModelUsageView(BaseModel):
    """What the calls of one model used; `cost` is in the currency of the prices that were set."""

    model: str
    calls: int
    prompt_tokens: int
    completion_tokens: int
    cost: float


class UsageView(BaseModel):
    """The calls of language and vision models whose replies the library keeps, since it was made."""

    models: tuple[ModelUsageView, ...]
    total: Usage


@router.get(
    "/settings", summary="Show the settings", response_model=SettingsView, responses=document_example("settings")
)
def show_settings(service: ServiceOf, caller: CallerOf) -> Response:
    """Return the settings in force: models by role, limits, how papers are read and searched. Never a secret."""
    settings = service.settings
    parser, retrieval = settings.parser, settings.retrieval
    own = settings.limits.model_dump() | settings.service.model_dump()
    view = SettingsView(
        version=__version__,
        requires_key=caller.keyed,
        can_add_by_path=bool(caller.folders),
        models=_models(settings),
        limits=LimitsView.model_validate(own | {"batch_questions": MAX_QUESTIONS, "keep_jobs_days": KEEP_DAYS}),
        reading=ReadingView(parser=parser.engine, ocr=parser.ocr),
        search=SearchView.model_validate(retrieval.model_dump() | {"reranker": bool(retrieval.reranker)}),
    )
    return json_response(view)


def _models(settings: Settings) -> ModelsView:
    answer, extract, vision = (
        _model(role, price=role.price_completion) if role.configured else None
        for role in (settings.answer, settings.extract, settings.vision)
    )
    return ModelsView(answer=answer, extract=extract, vision=vision, embed=_model(settings.embed, price=0.0))


def _model(role: RoleSettings | EmbedSettings, *, price: float) -> ModelView:
    host = urlsplit(role.base_url).hostname or ""
    return ModelView(model=_name(role.model), host=host, price_prompt=role.price_prompt, price_completion=price)


def _name(model: str) -> str:
    """Return a model's name; of a folder on the service's machine only the last part."""
    return model.replace("\\", "/").rstrip("/").rpartition("/")[2] if model.startswith(("/", "~", ".", "\\")) else model


@router.get(
    "/usage", summary="Show what models were used", response_model=UsageView, responses=document_example("usage")
)
def show_usage(library: ComputingLibraryOf) -> Response:
    """Return the calls, tokens and cost of the library's language and vision models, by model. A call that the library
    answers from its store costs nothing and is not counted again."""
    usage = library.usage()
    models = tuple(ModelUsageView.model_validate({"model": name, **asdict(one)}) for name, one in usage.items())
    return json_response(UsageView(models=models, total=sum(usage.values(), Usage())))
