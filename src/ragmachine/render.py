"""Results as people read them: colours and links on a terminal, plain text elsewhere."""

from __future__ import annotations

import contextlib
import json
import os
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from ragmachine.errors import StorageError
from ragmachine.models import Answer, Chunk, Hit, IndexReport, SearchResult

if TYPE_CHECKING:
    from ragmachine.index.embed import DenseReport
    from ragmachine.index.enrich import EnrichReport
    from ragmachine.index.tokens import Tokenizer
    from ragmachine.llm.ollama_pull import PullProgress

_PREVIEW_LINES = 2
_PREVIEW_CHARS = 110
_MAX_PROBLEMS_SHOWN = 10
# What a terminal would obey, C1 controls and reversals of the writing direction among it: indexed
# text is shown, never sent.
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


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
        self._write(_CONTROL.sub(lambda match: f"\\u{ord(match[0]):04x}", text) + "\n")

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
                shares = ", ".join(f"{name} {share:+.2f}" for name, share in hit.stages.items())
                self.line(f"              = {shares}")
        if not result.hits:
            self.line("no hits")

    def answer(self, answer: Answer) -> None:
        """The answer, unless it was streamed just so, what is doubtful in it, and its sources."""
        from ragmachine.answer_text import marked_text, sections

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
        if is_quiet:
            return
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


class PullReport:
    """A download's progress: for a bar on a terminal, elsewhere a line a step and a tenth.

    Args:
        step: moves the bar, given bytes done and in all.
        say: shows a line.
    """

    def __init__(self, step: Callable[[int, int], None], say: Callable[[str], None]) -> None:
        self._step = step
        self._say = say
        self._has_bar = sys.stderr.isatty()
        self._status = ""
        self._tenths = 0

    def show(self, now: PullProgress) -> None:
        """Take the next report."""
        if self._has_bar:
            return self._step(now.done_bytes, now.total_bytes)
        tenths = 10 * now.done_bytes // max(now.total_bytes, 1)
        if tenths > self._tenths:
            self._tenths = tenths
            self._say(f"{tenths * 10} % of {now.total_bytes / 1e6:,.0f} MB")
        if now.status != self._status:
            self._status = now.status
            self._say(now.status)
        return None


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
    return _CONTROL.sub("\ufffd", text if keep_newlines else text.replace("\n", " "))


def preview(hit: Hit, tokenizer: Tokenizer, mark: Callable[[str], str]) -> list[str]:
    """The two lines of a hit that hold most of the query's terms, in file order, terms marked."""
    wanted = set(hit.terms)
    lines = [line.strip() for line in re.split(r"\r\n|\r|\n", hit.chunk.text)]
    found = [wanted.intersection(tokenizer.terms(line)) for line in lines]
    order = sorted(
        (number for number, line in enumerate(lines) if line),
        key=lambda number: (-len(found[number]), number),
    )
    chosen = sorted(order[:_PREVIEW_LINES])
    windows = (_window(lines[number], wanted, tokenizer) for number in chosen)
    return [
        f"{before}{_marked(shown, wanted, tokenizer, mark)}{after}"
        for before, shown, after in windows
    ]


def _window(line: str, wanted: set[str], tokenizer: Tokenizer) -> tuple[str, str, str]:
    """At most `_PREVIEW_CHARS` of a line around its first match, between marks of omission."""
    line = clean(line)
    if len(line) <= _PREVIEW_CHARS:
        return "", line, ""
    first = next((start for start, _ in _matches(line, wanted, tokenizer)), 0)
    start = max(0, min(first - 20, len(line) - _PREVIEW_CHARS))
    shown = line[start : start + _PREVIEW_CHARS]
    return "…" if start else "", shown, "…" if start + _PREVIEW_CHARS < len(line) else ""


def _marked(line: str, wanted: set[str], tokenizer: Tokenizer, mark: Callable[[str], str]) -> str:
    pieces, done = [], 0
    for start, end in _matches(line, wanted, tokenizer):
        pieces += [line[done:start], mark(line[start:end])]
        done = end
    return "".join([*pieces, line[done:]])


def _matches(line: str, wanted: set[str], tokenizer: Tokenizer) -> Iterator[tuple[int, int]]:
    """Where the words stand that the query matched, as the index cuts words."""
    end = 0
    for word in tokenizer.raw_words(line):
        start = line.index(word, end)
        end = start + len(word)
        if wanted.intersection(tokenizer.expand(word)):
            yield start, end
