"""Results as people read them: colours and links on a terminal, plain text elsewhere."""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from ragmachine.models import Answer, Chunk, IndexReport, SearchResult
from ragmachine.terminal.clean import CONTROL, clean, output_errors
from ragmachine.terminal.pages_text import pages_text
from ragmachine.terminal.preview import preview

if TYPE_CHECKING:
    from ragmachine.index.embed import DenseReport
    from ragmachine.index.enrich import EnrichReport
    from ragmachine.index.tokens import Tokenizer

_MAX_PROBLEMS_SHOWN = 10


class Console:
    """Where results go; decides once whether colours and links are welcome."""

    def __init__(self, out: TextIO | None = None, project_root: str = "") -> None:
        self.out = out or sys.stdout
        self.project_root = project_root
        is_obeying = self.out.isatty() and os.environ.get("TERM", "dumb") not in ("", "dumb")
        self.has_colour = self.has_links = is_obeying and not os.environ.get("NO_COLOR")
        self._streamed = ""

    def line(self, text: str = "") -> None:
        """Print text, cleaned of what a terminal would obey, and end the line."""
        self._write(clean(text, keep_newlines=True) + "\n")

    def json(self, document: dict[str, Any]) -> None:
        """Print one JSON document; control characters are escaped, so nothing is lost."""
        is_utf8 = (self.out.encoding or "").lower().replace("-", "") == "utf8"
        text = json.dumps(document, ensure_ascii=not is_utf8, indent=2)
        self._write(CONTROL.sub(lambda match: f"\\u{ord(match[0]):04x}", text) + "\n")

    def _write(self, text: str) -> None:
        """Print as is; characters that the stream cannot encode become question marks.

        Raises: StorageError: the stream cannot be written, e.g. a full disk behind it.
        """
        encoding = self.out.encoding or "utf-8"
        with output_errors():
            self.out.write(text.encode(encoding, "replace").decode(encoding))

    def hits(
        self, result: SearchResult, tokenizer: Tokenizer, *, is_explained: bool = False
    ) -> None:
        """Rank, score, place, symbol or section and a two-line preview of every hit.

        With `is_explained`, also what was made of the query and what each stage gave each hit.
        """
        if is_explained:
            for line in explained_plan(result.plan):
                self.line(line)
        for hit in result.hits:
            chunk = hit.chunk
            label = f"  {self._dim(clean(chunk.label))}" if chunk.label else ""
            stale = f"  {self._warned(f'[{hit.staleness}]')}" if hit.staleness else ""
            self._write(f"{hit.rank:>3}  {hit.score:7.2f}  {self._place(chunk)}{label}{stale}\n")
            for text in preview(hit, tokenizer, self._mark if self.has_colour else _brackets):
                self._write(f"              {text}\n")
            if is_explained:
                if chunk.metadata:
                    self.line(f"              {clean(columns(chunk))}")
                shares = ", ".join(f"{name} {share:+.2f}" for name, share in hit.stages.items())
                self.line(f"              = {shares}")
        if not result.hits:
            self.line("no hits")

    def answer(self, answer: Answer) -> None:
        """The answer, unless it was streamed just so, what is doubtful in it, and its sources."""
        from ragmachine.terminal.answer_text import marked_text, sections

        if self._streamed.strip() != answer.text.strip():
            if self._streamed:
                self.line("\n\nAfter checking:")
            self._write(f"{marked_text(answer, _cleaned, self._doubtful)}\n")
        else:
            self.line()
        for heading, rows in sections(answer):
            self.line(f"\n{heading}")
            for row in rows:
                place = self._link(clean(row.place), row.file_path) if row.place else ""
                self._write(f"  {clean(row.before)}{place}{clean(row.after)}\n")

    def stream(self) -> Callable[[str], None] | None:
        """A receiver of the model's text on a terminal; None where output is not watched."""
        if not self.out.isatty():
            return None

        def show(piece: str) -> None:
            self._streamed += piece
            self._write(clean(piece, keep_newlines=True))
            self.out.flush()

        return show

    def notice(self, text: str) -> None:
        """A line on stderr for the person at the terminal."""
        print(clean(text), file=sys.stderr)  # noqa: T201

    def report(self, report: IndexReport, index_dir: str, *, is_quiet: bool = False) -> None:
        """What an indexing run did; when quiet, without a line for each odd file."""
        state = "already up to date" if report.is_unchanged else f"built in {report.seconds:.1f} s"
        self.line(
            f"{report.files:,} files, {report.chunks:,} chunks, {report.terms:,} terms:"
            f" {state} ({report.reused:,} files unchanged), in {index_dir}"
        )
        if report.skipped:
            counted = ", ".join(f"{count} {reason}" for reason, count in report.skipped.items())
            self.line(f"left out: {counted}")
        if report.pages.by_file:
            self.line(f"pages: {pages_text(report.pages)}")
        if is_quiet:
            return
        if report.notice:
            self.notice(f"warning: {report.notice}")
        for path, reason in report.problems[:_MAX_PROBLEMS_SHOWN]:
            self.notice(f"warning: {path}: {reason}")
        more = len(report.problems) - _MAX_PROBLEMS_SHOWN
        if more > 0:
            self.notice(f"warning: and {more} more, in the manifest")

    def summaries(self, report: EnrichReport) -> None:
        """What an enriching run did, and what it cost."""
        failed = f", {report.failed:,} asked for in vain" if report.failed else ""
        self.line(
            f"summaries of {report.summarised:,} of {report.chunks:,} chunks: {report.asked:,}"
            f" written in {report.seconds:.1f} s by {report.model}{failed}; about"
            f" {report.tokens_in:,} tokens read and {report.tokens_out:,} written"
        )

    def vectors(self, report: DenseReport) -> None:
        """What an embedding run did."""
        self.line(
            f"vectors of {report.chunks:,} chunks: {report.encoded:,} made in"
            f" {report.seconds:.1f} s by {report.encoder}"
        )

    @contextlib.contextmanager
    def progress(self, what: str, *, unit: str, quiet: bool) -> Iterator[Callable[..., None]]:
        """A bar on stderr when that is a terminal; yields ``advance(count, total=None)``."""
        if quiet or not sys.stderr.isatty():
            yield lambda count, total=None: None
            return
        from tqdm import tqdm

        is_bytes = unit == "B"
        with tqdm(desc=what, unit=f" {unit}", unit_scale=is_bytes, leave=False) as bar:

            def advance(count: int, total: int | None = None) -> None:
                bar.total = total or bar.total
                bar.update(count)

            yield advance

    def _place(self, chunk: Chunk) -> str:
        return self._link(clean(chunk.location), chunk.file_path)

    def _link(self, text: str, file_path: str) -> str:
        """An OSC 8 hyperlink to the file on terminals that show them; plain text elsewhere."""
        if not self.has_links:
            return text
        target = Path(self.project_root or ".", file_path).absolute().as_uri()
        return f"\x1b]8;;{target}\x1b\\{text}\x1b]8;;\x1b\\"

    def _dim(self, text: str) -> str:
        return f"\x1b[2m{text}\x1b[0m" if self.has_colour else text

    def _warned(self, text: str) -> str:
        return f"\x1b[33m{text}\x1b[0m" if self.has_colour else text

    def _doubtful(self, text: str) -> str:
        """An unsupported sentence: yellow on a terminal that has colours."""
        text = _cleaned(text)
        return f"\x1b[33m? {text}\x1b[0m" if self.has_colour else f"(?) {text}"

    @staticmethod
    def _mark(text: str) -> str:
        return f"\x1b[1;33m{text}\x1b[0m"


def columns(chunk: Chunk) -> str:
    """The short columns of the record that a chunk is text of, as a filter names them."""
    return "  ".join(
        f"{name}={value if isinstance(value, str) else ', '.join(value)}"
        for name, value in chunk.metadata
    )


def explained_plan(plan: dict[str, Any]) -> list[str]:
    """What was made of a query, a line each; parts that are empty are left out."""
    lines = []
    for name, part in plan.items():
        if isinstance(part, dict):
            shown = ", ".join(f"{key} {value}" for key, value in part.items())
        else:
            shown = part if isinstance(part, str) else ", ".join(map(str, part))
        if shown:
            lines.append(clean(f"{name}: {shown}"))
    return lines


def _cleaned(text: str) -> str:
    return clean(text, keep_newlines=True)


def _brackets(text: str) -> str:
    return f"[{text}]"
