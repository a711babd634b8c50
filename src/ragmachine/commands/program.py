"""The program as Python Fire sees it: its methods are the subcommands.

Their names and parameters are those of `table`, which tests compare.
"""

from __future__ import annotations

from typing import Any

from ragmachine.commands.asking import AskCommands
from ragmachine.commands.indexing import IndexCommands
from ragmachine.commands.maintenance import MaintenanceCommands
from ragmachine.commands.measuring import MeasureCommands


class Commands(IndexCommands, AskCommands, MeasureCommands, MaintenanceCommands):
    """The subcommands; each returns None and prints its result on stdout."""

    def serve(self, *, bonus: bool | None = None, quiet: bool = False, **settings: Any) -> None:
        """Serve the HTTP API, the web page and MCP."""
        from ragmachine.commands.serving import serve

        pipeline = self._pipeline(settings, bonus=bonus)
        pipeline.store.start_verification()  # while the server is imported
        serve(pipeline.settings, lambda url: self._notice(f"serving on {url}", quiet))

    def mcp(self, *, bonus: bool | None = None, **settings: Any) -> None:
        """Serve MCP on stdin and stdout."""
        from ragmachine.commands.serving import serve_mcp

        pipeline = self._pipeline(settings, bonus=bonus)
        pipeline.store.start_verification()
        serve_mcp(pipeline.settings)
