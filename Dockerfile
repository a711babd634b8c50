# ragmachine as a server: see docs/DOCKER.md.
#
#   docker build -t ragmachine .
#
# The second stage gets an environment that is complete: the weights of the encoder (extra dense) and
# of text recognition (extra pdf) come inside packages, so nothing is fetched when it runs.

FROM python:3.11-slim-bookworm AS build
ENV UV_COMPILE_BYTECODE=1 UV_LINK_MODE=copy UV_NO_CACHE=1 VIRTUAL_ENV=/opt/ragmachine
WORKDIR /build
RUN pip install --no-cache-dir --disable-pip-version-check uv==0.13.9 \
    && uv venv "$VIRTUAL_ENV"
# the dependencies first, in the versions that pyproject.toml pins: a layer that seldom changes
COPY pyproject.toml README.md LICENSE ./
RUN uv pip install -r pyproject.toml \
      --extra dense --extra languages --extra mcp --extra pdf --extra server
COPY src ./src
RUN uv pip install --no-deps .

FROM python:3.11-slim-bookworm
RUN groupadd --gid 10001 ragmachine \
    && useradd --uid 10001 --gid 10001 --no-log-init --no-create-home --home-dir /nonexistent \
       --shell /usr/sbin/nologin ragmachine \
    && install -d /data/corpus \
    && install -d -o 10001 -g 10001 /data/index
COPY --from=build /opt/ragmachine /opt/ragmachine
# The project root is no folder of documents: a ragmachine.toml among those would be read as settings.
ENV PATH=/opt/ragmachine/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    ORT_DISABLE_TELEMETRY=1 \
    RAG_PROJECT_ROOT=/data \
    RAG_TARGET_DIR=/data/corpus \
    RAG_INDEX_DIR=/data/index \
    RAG_HOST=0.0.0.0 \
    RAG_PORT=8000
WORKDIR /data
USER 10001:10001
EXPOSE 8000
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=5s --start-period=20s --retries=3 \
  CMD ["python", "-c", "import http.client, os; c = http.client.HTTPConnection('127.0.0.1', int(os.environ['RAG_PORT']), timeout=4); c.request('GET', '/health'); raise SystemExit(c.getresponse().status != 200)"]
ENTRYPOINT ["ragmachine"]
CMD ["serve"]
