"""What a terminal may be sent, and what becomes of output that nobody takes."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator

from ragmachine.errors import StorageError

# What a terminal would obey, C1 controls and reversals of the writing direction among it: indexed
# text is shown, never sent.
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


@contextlib.contextmanager
def output_errors() -> Iterator[None]:
    """Say that stdout cannot be written; a reader that has gone stays a BrokenPipeError."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise StorageError(f"the output cannot be written: {error.strerror or error}") from error


def clean(text: str, *, keep_newlines: bool = False) -> str:
    """Text that a terminal shows and never obeys; tabs become spaces."""
    text = text.replace("\t", "    ").replace("\r\n", "\n")
    return CONTROL.sub("\ufffd", text if keep_newlines else text.replace("\n", " "))
