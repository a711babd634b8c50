"""The other end of `sandbox`: reads requests, parses, replies. Runs as a process of its own."""

from __future__ import annotations

import contextlib
import faulthandler
import json
import os
import signal
import sys
from collections.abc import Callable, Mapping
from typing import IO, Any

from ragmachine.corpus.loaders.loaded import LoadError

_ORPHAN_S = 1_000.0  # the parent ends a late process; where there is no parent, this does


def main() -> None:
    """Serve until the input ends. argv: package folder, most bytes of memory."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides
    _limit_memory(int(sys.argv[2]))
    requests = sys.stdin.buffer
    with os.fdopen(os.dup(1), "wb") as replies, open(os.devnull, "wb") as nowhere:
        os.dup2(nowhere.fileno(), 1)  # what libraries print is no reply
        while line := requests.readline():
            head = json.loads(line)
            try:
                data = requests.read(head.pop("bytes"))
            except MemoryError:
                _send(replies, {"memory": True})
                break
            seconds = head.pop("seconds")
            faulthandler.dump_traceback_later(_ORPHAN_S + seconds, exit=True, file=nowhere)
            _limit_work(seconds)
            reply = _reply(head.pop("job"), data, head)
            _limit_work(0)
            faulthandler.cancel_dump_traceback_later()
            _send(replies, reply)


def _reply(job: str, data: bytes, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
    try:
        return JOBS[job](data, **arguments)
    except LoadError as error:
        return {"error": str(error)}
    except MemoryError:
        return {"memory": True}
    except RecursionError:
        return {"error": "refused: it is nested too deeply"}
    except Exception as error:  # noqa: BLE001 - a parser's own trouble is one file's trouble
        return {"error": f"cannot be read: {_words(error)}"}


def _words(error: Exception) -> str:
    text = " ".join(str(error).split())[:200]
    return text or type(error).__name__


def _send(replies: IO[bytes], reply: Mapping[str, Any]) -> None:
    replies.write(json.dumps(reply).encode("utf-8") + b"\n")
    replies.flush()


def _limit_work(seconds: float) -> None:
    """End this process by a signal, whatever code runs, once it has worked so long; 0 for never."""
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_PROF, seconds)


def _limit_memory(most_bytes: int) -> None:
    with contextlib.suppress(ImportError, ValueError, OSError):  # Windows has none, macOS refuses
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (most_bytes, most_bytes))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _open_pdf(data: bytes, **arguments: Any) -> Mapping[str, Any]:
    from ragmachine.corpus.loaders import pdf_reader

    return pdf_reader.open_pdf(data, **arguments)


def _read_page(_: bytes, **arguments: Any) -> Mapping[str, Any]:
    from ragmachine.corpus.loaders import pdf_reader

    return pdf_reader.read_page(**arguments)


def _render_page(_: bytes, **arguments: Any) -> Mapping[str, Any]:
    from ragmachine.corpus.loaders import pdf_reader

    return pdf_reader.render_page(**arguments)


def _docx(data: bytes, **arguments: Any) -> Mapping[str, Any]:
    from ragmachine.corpus.loaders.docx import docx_reply

    return docx_reply(data, **arguments)


def _html(data: bytes, **arguments: Any) -> Mapping[str, Any]:
    from ragmachine.corpus.loaders.html import html_reply

    return html_reply(data, **arguments)


def _plain(data: bytes, **arguments: Any) -> Mapping[str, Any]:
    from ragmachine.corpus.loaders.bounded import plain_reply

    return plain_reply(data, **arguments)


JOBS: dict[str, Callable[..., Mapping[str, Any]]] = {
    "open_pdf": _open_pdf,
    "read_page": _read_page,
    "render_page": _render_page,
    "docx": _docx,
    "html": _html,
    "plain": _plain,
}
