"""What a measurement was made with, to be kept beside it."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from typing import Any

from ragmachine import __version__
from ragmachine.index.provenance import versions


def provenance() -> dict[str, Any]:
    """Version, digest of the code that shapes an index, day (UTC), cores and libraries."""
    return {
        "version": __version__,
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
        "cores": os.cpu_count(),
        "versions": versions(),
    }
