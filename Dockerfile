# The HTTP service in a container. docs/guides/container.md explains how to build, start, upgrade and back it up.
FROM python:3.11.15-slim-trixie AS base
ENV PATH=/opt/paperscope/bin:$PATH


FROM base AS build
# The package index for torch: the CPU build, or another index of PyTorch's for CUDA.
ARG TORCH_INDEX_URL=https://download.pytorch.org/whl/cpu
# Extras of pyproject.toml, such as "ocr" or "ocr,mcp".
ARG EXTRAS=
# The pins apply to build tools as well.
ENV PIP_CONSTRAINT=/build/constraints.txt \
    PIP_DISABLE_PIP_VERSION_CHECK=1 \
    PIP_NO_CACHE_DIR=1
WORKDIR /build
RUN python -m venv /opt/paperscope
COPY constraints.txt ./
# hadolint ignore=DL3013
RUN pip install --no-deps --index-url "$TORCH_INDEX_URL" torch
# The dependencies are a layer before our own code, so that a change of the code rebuilds in seconds.
COPY pyproject.toml README.md LICENSE ./
COPY paperscope/__init__.py paperscope/
# hadolint ignore=DL3013
RUN pip install ".${EXTRAS:+[$EXTRAS]}" && pip uninstall --yes paperscope
COPY prompts prompts
COPY paperscope paperscope
COPY paperscope_core paperscope_core
COPY ingest ingest
COPY graph_store graph_store
COPY query query
COPY service service
RUN pip install --no-deps .


FROM base
LABEL org.opencontainers.image.title="Paperscope" \
      org.opencontainers.image.description="Ask your papers a question, get an answer that you can check." \
      org.opencontainers.image.licenses="AGPL-3.0-or-later"
RUN groupadd --gid 10001 paperscope \
    && useradd --uid 10001 --gid 10001 --home-dir /data --no-create-home --no-log-init --shell /usr/sbin/nologin paperscope \
    && install --directory --owner=10001 --group=10001 --mode=0750 /data
COPY --from=build /opt/paperscope /opt/paperscope
# Disables the usage reports of onnxruntime, which pymupdf installs.
ENV ORT_DISABLE_TELEMETRY=1 \
    PYTHONUNBUFFERED=1 \
    PAPERSCOPE_LIBRARY=/data/library \
    PAPERSCOPE_SERVICE__KEYS=/data/keys.json
USER 10001:10001
WORKDIR /data
VOLUME /data
EXPOSE 8000
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=6s --start-period=60s --retries=3 \
    CMD ["python", "-c", "import http.client as h; c = h.HTTPConnection('127.0.0.1', 8000, timeout=5); c.request('GET', '/healthz'); raise SystemExit(c.getresponse().status != 200)"]
ENTRYPOINT ["paperscope"]
CMD ["serve", "--host", "0.0.0.0", "--port", "8000"]
