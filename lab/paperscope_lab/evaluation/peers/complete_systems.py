"""Runs a complete system with its own defaults: adds papers, then asks questions one after the other."""

import asyncio
import json
import os
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

from paperscope_lab.evaluation.peers.runner import refuse_network

__all__: list[str] = []


async def _paperscope(files: list[str]) -> Any:  # noqa: ANN401
    library = import_module("paperscope").Library.open("library")
    for file in files:
        await library.add_async(file)
    return library.ask_async


async def _lightrag(files: list[str]) -> Any:  # noqa: ANN401
    """Read PDFs with pypdf, as LightRAG's server does."""
    lightrag, models, pypdf = map(import_module, ("lightrag", "lightrag.llm.openai", "pypdf"))
    # The vocabulary that it would download comes with litellm.
    packages = Path(lightrag.__file__ or "").parents[1]
    os.environ["TIKTOKEN_CACHE_DIR"] = str(packages / "litellm/litellm_core_utils/tokenizers")
    complete, embed = models.gpt_4o_mini_complete, models.openai_embed
    rag = lightrag.LightRAG(working_dir="lightrag", llm_model_func=complete, embedding_func=embed)
    await rag.initialize_storages()
    texts = ["\n".join(page.extract_text() for page in pypdf.PdfReader(file).pages) for file in files]
    await rag.ainsert(texts, file_paths=files)
    return rag.aquery


async def _paperqa(files: list[str]) -> Any:  # noqa: ANN401
    """Leave out PaperQA's agent, and its metadata services, which need the network."""
    paperqa = import_module("paperqa")
    settings, docs = paperqa.Settings(), paperqa.Docs()
    settings.parsing.use_doc_details = False
    for file in files:
        await docs.aadd(file, settings=settings)
    return lambda question: docs.aquery(question, settings=settings)


async def _run(system: str, files: list[str], questions: list[str]) -> None:
    # Only the answers go to the standard output, not what the systems print.
    with os.fdopen(os.dup(1), "w", encoding="utf-8", buffering=1) as lines:
        os.dup2(2, 1)
        ask = await {"paperscope": _paperscope, "lightrag": _lightrag, "paperqa": _paperqa}[system](files)
        lines.write('"ready"\n')
        for question in questions:
            answer = await ask(question)
            lines.write(json.dumps(str(getattr(answer, "text", getattr(answer, "answer", answer)))) + "\n")


if __name__ == "__main__":
    sys.addaudithook(refuse_network)
    asyncio.run(_run(**json.loads(sys.argv[1])))
