"""Structured logs: one JSON object a line, on stderr, with the id of the request."""

from __future__ import annotations

import contextvars
import logging
import sys
import time
from typing import Any

from ragmachine.server.problems import encoded

LOGGER = "ragmachine.server"
request_id: contextvars.ContextVar[str] = contextvars.ContextVar("request_id", default="")


class JsonFormatter(logging.Formatter):
    """A record as one line of JSON; what it says stands in quotes, whatever it holds."""

    def format(self, record: logging.LogRecord) -> str:
        """The line, without its end."""
        stamp = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created))
        line: dict[str, Any] = {
            "time": f"{stamp}.{int(record.msecs):03}Z",
            "level": record.levelname.lower(),
            "event": record.getMessage(),
        }
        if known := request_id.get():
            line["request_id"] = known
        line.update(getattr(record, "fields", {}))
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return encoded(line).decode("utf-8")


def configure_logs() -> None:
    """Have the server, and what it stands on, write JSON lines to stderr."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonFormatter())
    for name, level in (
        (LOGGER, logging.INFO),
        ("uvicorn", logging.WARNING),
        ("mcp", logging.ERROR),
    ):
        logger = logging.getLogger(name)
        logger.handlers = [handler]
        logger.setLevel(level)
        logger.propagate = False
