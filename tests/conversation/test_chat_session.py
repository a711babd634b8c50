"""The loop of a chat: commands, interruptions and errors, with a pipeline that a test tells."""

from __future__ import annotations

import io
import os
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from fake_chat import FakeChat
from ragmachine.errors import ModelError, RagError, UsageError
from ragmachine.models import Answer, Chunk, Citation, Hit, SearchResult
from ragmachine.terminal.chat_input import Line, LineHistory, Pipe, read_line, state_folder
from ragmachine.terminal.chat_session import ChatSession, read_file
from ragmachine.terminal.chat_text import ChatConsole

TEXT = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\n"


class Script:
    """Lines of a test, at a terminal or from a pipe."""

    def __init__(self, *lines: str, is_interactive: bool) -> None:
        self.is_interactive = is_interactive
        self._lines = list(lines)

    def read(self) -> str | None:
        """The next line; "^C" is Ctrl-C at the prompt."""
        if not self._lines:
            return None
        line = self._lines.pop(0)
        if line == "^C":
            raise KeyboardInterrupt
        return line


class ToldPipeline:
    """Answers what it is told to, from line 2 of one file."""

    def __init__(self, root: Path, act: Callable[[str], None] = lambda query: None) -> None:
        self.settings = SimpleNamespace(project_root=str(root))
        self.asked: list[tuple[str, int]] = []
        self.flushes = 0
        self.client: FakeChat | None = None
        self._act = act

    def opened_index(self) -> Any:
        """One file."""
        manifest = {"counts": {"files": 1}}
        return SimpleNamespace(manifest=manifest, file_text=lambda path: TEXT)

    def answer(self, query: str, k: int, *, filter: str, on_token: Any) -> Answer:
        """The second line."""
        self.asked.append((query, k))
        self._act(query)
        chunk = Chunk(0, "a.md", 4, 7, 2, 2, "two", "markdown", "Section: A")
        result = SearchResult(query, "lexical", (Hit(1, 1.0, chunk),), 1, 0.0)
        return Answer("two [1]", "extractive", result, (Citation(1, "a.md", 4, 7, 2, 2),))

    def chat_client(self) -> FakeChat | None:
        """The model, where the test has one."""
        return self.client

    def flush(self) -> None:
        """Count."""
        self.flushes += 1


def chat(
    pipeline: ToldPipeline, *lines: str, is_interactive: bool = True, **options: Any
) -> tuple[str, ChatSession]:
    """What a session prints on stdout."""
    out = io.StringIO()
    script = Script(*lines, is_interactive=is_interactive)
    session = ChatSession(pipeline, ChatConsole(out), script, 10, **options)  # type: ignore[arg-type]
    session.run()
    return out.getvalue(), session


@pytest.fixture
def pipeline(tmp_path: Path) -> ToldPipeline:
    """Over a folder with the file as it was indexed."""
    (tmp_path / "a.md").write_text(TEXT)
    return ToldPipeline(tmp_path)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("How long?", Line("How long?")),
        ("/k 5", Line(command="k", word="5")),
        ("  /SOURCES ", Line(command="sources")),
        ("/exit", Line(command="quit")),
        ("/health endpoint?", Line("/health endpoint?")),
        ("/v1/models", Line("/v1/models")),
        ("/etc/fstab: who reads it?", Line("/etc/fstab: who reads it?")),
        ("//open what?", Line("/open what?")),
        ("//health", Line("/health")),
        ("/", Line("/")),
        ("/5", Line("/5")),
    ],
)
def test_a_line_is_a_command_or_a_question(text: str, line: Line) -> None:
    """Only known words behind a stroke are commands; two strokes make a question."""
    assert read_line(text) == line


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("/opne 3", "did you mean /open?"),
        ("/sorces", "did you mean /sources?"),
        ("/health", "to ask about it, type //health"),
        ("/history of the bus", "to ask that, begin with //history"),
    ],
)
def test_a_slip_is_told_from_a_question(text: str, said: str) -> None:
    """With the nearest command, and with how to ask it all the same."""
    with pytest.raises(UsageError) as caught:
        read_line(text)
    assert said in str(caught.value)


def test_a_follow_up_is_asked_as_it_was_understood(pipeline: ToldPipeline) -> None:
    """The line before the answer shows it."""
    out, _ = chat(pipeline, "What does E-31 mean?", "and E-32?")
    assert [query for query, _ in pipeline.asked] == [
        "What does E-31 mean?",
        "What does E-32 mean?",
    ]
    assert out.count("asked as: ") == 1
    assert out.index("asked as: What does E-32 mean?") < out.rindex("two [1]")


def test_clear_forgets_the_conversation(pipeline: ToldPipeline) -> None:
    """A follow-up then has nothing to follow."""
    out, _ = chat(pipeline, "What does E-31 mean?", "/clear", "and E-32?", "/history")
    assert pipeline.asked[-1][0] == "and E-32?"
    assert "E-31" not in out
    _, session = chat(pipeline, "What does E-31 mean?", "/clear")
    assert (session.conversation.answer, session.conversation.sources) == (None, ())


def test_rewriting_can_be_switched_off_and_on(pipeline: ToldPipeline) -> None:
    """Questions are then searched for as typed."""
    chat(pipeline, "What does E-31 mean?", "/rewrite off", "and E-32?", "/rewrite on", "why E-33?",
         "and E-34?")  # fmt: skip
    assert [query for query, _ in pipeline.asked][1:] == ["and E-32?", "why E-33?", "why E-34?"]


def test_a_model_completes_questions_where_it_is_asked_to(pipeline: ToldPipeline) -> None:
    """`rewrite="model"`, or `/rewrite model` later."""
    pipeline.client = FakeChat('{"question": "E-32: what does it mean?"}')
    chat(pipeline, "What does E-31 mean?", "and E-32?", rewrite="model")
    assert len(pipeline.client.asked) == 1
    assert pipeline.asked[-1][0] == "E-32: what does it mean?"


def test_a_model_that_is_not_set_cannot_complete_questions(
    pipeline: ToldPipeline, capsys: pytest.CaptureFixture[str]
) -> None:
    """An error at the start; in the session the way stays as it was."""
    with pytest.raises(ModelError, match="no model is set"):
        chat(pipeline, rewrite="model")
    out, _ = chat(pipeline, "/rewrite model", "/rewrite")
    assert "completed: rules" in out
    assert "no model is set" in capsys.readouterr().err


def test_k_is_shown_and_set(pipeline: ToldPipeline, capsys: pytest.CaptureFixture[str]) -> None:
    """Only whole numbers from 1; a huge one is clamped."""
    out, session = chat(pipeline, "/k", "/k 3", "q?", "/k 0", "/k x", "/k 999999999")
    assert "k is 10\nk is 3\n" in out
    assert pipeline.asked == [("q?", 3)]
    assert capsys.readouterr().err.count("/k takes a whole number") == 2
    assert session.k == 100_000


def test_sources_have_their_lines_and_section(pipeline: ToldPipeline) -> None:
    """Under the numbers of the answer."""
    out, _ = chat(pipeline, "q?", "/sources")
    assert "  [1] a.md:2-2  Section: A\n" in out


def test_open_shows_the_lines_of_today(pipeline: ToldPipeline, tmp_path: Path) -> None:
    """Marked, with three lines around."""
    out, _ = chat(pipeline, "q?", "/open 1")
    assert out.endswith("  1  one\n> 2  two\n  3  three\n  4  four\n  5  five\n\n")


@pytest.mark.parametrize(
    ("now", "said"),
    [
        ("zero\n" + TEXT, "the file has changed: these lines are now 3-3\n"),
        (TEXT.replace("two", "2"), "have changed since they were indexed; now they say:\n  1  one\n"
                                   "> 2  2\n"),
        (None, "the file is no longer there; as indexed, the lines said:\n> 2  two\n"),
        ("\0\1\2" * 90, "the file has become binary; as indexed, the lines said:\n> 2  two\n"),
    ],
    ids=["moved", "changed", "vanished", "binary"],
)  # fmt: skip
def test_open_says_what_has_become_of_the_lines(
    pipeline: ToldPipeline, tmp_path: Path, now: str | None, said: str
) -> None:
    """And shows them as indexed where they are not to be had."""
    path = tmp_path / "a.md"
    path.unlink() if now is None else path.write_text(now)
    out, _ = chat(pipeline, "q?", "/open 1")
    assert said in out


def test_a_named_pipe_is_not_waited_for(tmp_path: Path) -> None:
    """A file that was replaced by one is said to be no file."""
    os.mkfifo(tmp_path / "a.md")
    assert read_file(str(tmp_path / "a.md")) == (
        None, "the file cannot be read: it is no regular file",
    )  # fmt: skip


def test_what_cannot_be_opened_is_said(
    pipeline: ToldPipeline, capsys: pytest.CaptureFixture[str]
) -> None:
    """No answer yet; no such source."""
    chat(pipeline, "/open 1", "/sources", "q?", "/open 7", "/open")
    errors = capsys.readouterr().err.splitlines()
    assert len(errors) == 4
    assert "there is no answer yet" in errors[0]
    assert "/open takes the number of a source: 1" in errors[2]


def test_ctrl_c_breaks_off_an_answer_and_keeps_the_session(tmp_path: Path) -> None:
    """What was broken off is not part of the conversation; at the prompt it changes nothing."""

    def act(query: str) -> None:
        if query == "long?":
            raise KeyboardInterrupt

    pipeline = ToldPipeline(tmp_path, act)
    out, session = chat(pipeline, "q?", "long?", "^C", "r?")
    assert out.count("cancelled") == 2
    assert [turn.asked for turn in session.conversation.turns] == ["q?", "r?"]
    assert pipeline.flushes == 1


class Watched(io.StringIO):
    """Standard output at a terminal."""

    def isatty(self) -> bool:
        """It is one."""
        return True


def test_each_answer_that_is_streamed_is_shown_once(tmp_path: Path) -> None:
    """The text of the one before, or of one broken off, plays no part in it."""
    (tmp_path / "a.md").write_text(TEXT)

    class Streaming(ToldPipeline):
        """Writes its answer as it goes, and breaks off the second."""

        def answer(self, query: str, k: int, *, filter: str, on_token: Any) -> Answer:
            """The second line, in two pieces."""
            on_token("two ")
            if query == "long?":
                raise KeyboardInterrupt
            on_token("[1]")
            return super().answer(query, k, filter=filter, on_token=on_token)

    out = Watched()
    script = Script("q?", "long?", "r?", is_interactive=True)
    pipeline = Streaming(tmp_path)
    ChatSession(pipeline, ChatConsole(out), script, 10).run()  # type: ignore[arg-type]
    assert out.getvalue().count("two [1]") == 2
    assert "After checking" not in out.getvalue()


def test_ctrl_c_ends_a_session_that_nobody_watches(tmp_path: Path) -> None:
    """A script is not to go on with the next question."""

    def act(query: str) -> None:
        raise KeyboardInterrupt

    pipeline = ToldPipeline(tmp_path, act)
    with pytest.raises(KeyboardInterrupt):
        chat(pipeline, "q?", "r?", is_interactive=False)
    assert (len(pipeline.asked), pipeline.flushes) == (1, 1)


def test_an_error_costs_one_answer(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """At a terminal the session ends well; elsewhere it goes on, and fails in the end."""

    def act(query: str) -> None:
        if query == "bad?":
            raise ModelError("no server", remedy="start it")

    pipeline = ToldPipeline(tmp_path, act)
    chat(pipeline, "bad?", "q?")
    assert capsys.readouterr().err.startswith("error: no server; start it\n")
    with pytest.raises(RagError, match="1 of 2 lines failed"):
        chat(pipeline, "bad?", "q?", is_interactive=False)
    assert [query for query, _ in pipeline.asked] == ["bad?", "q?"] * 2


def test_a_line_too_long_is_one_of_the_lines_that_failed(pipeline: ToldPipeline) -> None:
    """What is passed over counts as a line, so that no more fail than there were."""
    lines = Pipe(io.StringIO("x" * 20_001 + "\n"))
    out = ChatConsole(io.StringIO(), pipeline.settings.project_root)
    with pytest.raises(RagError, match="1 of 1 lines failed"):
        ChatSession(pipeline, out, lines, k=3).run()  # type: ignore[arg-type]


def test_the_oldest_turn_is_forgotten(pipeline: ToldPipeline) -> None:
    """Fifty are kept, and only the last answer whole."""
    _, session = chat(pipeline, *(f"question {number}?" for number in range(60)))
    assert len(session.conversation.turns) == 50
    assert session.conversation.turns[0].asked == "question 10?"


def test_a_pipe_is_read_as_utf_8_whatever_it_holds() -> None:
    """A mark at the start goes, odd bytes are replaced, ends of either kind are taken off."""
    stream = io.TextIOWrapper(io.BytesIO(b"\xef\xbb\xbfone\r\n\xff two\n\nlast"), encoding="ascii")
    pipe = Pipe(stream)
    assert [pipe.read() for _ in range(5)] == ["one", "\ufffd two", "", "last", None]
    assert Pipe(None).read() is None


def test_a_line_that_is_too_long_is_passed_over() -> None:
    """It is not kept in memory, and the next one is read."""
    pipe = Pipe(io.TextIOWrapper(io.BytesIO(b"x" * 300_000 + b"\nnext\n")))
    with pytest.raises(UsageError, match="20,000 characters"):
        pipe.read()
    assert pipe.read() == "next"


def test_typed_lines_are_kept_for_their_owner_alone(tmp_path: Path) -> None:
    """Mode 0600 even where the file was wider; repeats and endless lines are left out."""
    path = tmp_path / "state" / "ragmachine" / "chat_history"
    history = LineHistory(path)
    for line in ("one?", "one?", " two\t? ", "x" * 3000, "", "one?", "odd \udcff"):
        history.add(line)
    assert path.stat().st_mode & 0o777 == 0o600
    assert LineHistory(path).read() == ["one?", "two ?", "one?", "odd ?"]
    path.chmod(0o644)
    LineHistory(path).add("more")
    assert path.stat().st_mode & 0o777 == 0o600


def test_the_history_is_bounded(tmp_path: Path) -> None:
    """The file is cut when it is opened; the last lines stay."""
    path = tmp_path / "chat_history"
    path.write_text("".join(f"{number}\n" for number in range(100)))
    assert LineHistory(path, most=10).read() == [str(number) for number in range(90, 100)]
    assert path.read_text().count("\n") == 10
    assert list(tmp_path.iterdir()) == [path]


def test_a_folder_that_cannot_be_written_keeps_no_history(tmp_path: Path) -> None:
    """And is no error."""
    (tmp_path / "file").write_text("")
    history = LineHistory(tmp_path / "file" / "chat_history")
    history.add("one?")
    assert history.read() == []


@pytest.mark.parametrize(
    ("environment", "folder"),
    [
        ({"XDG_STATE_HOME": "/s", "HOME": "/h"}, "/s/ragmachine"),
        ({"XDG_STATE_HOME": "s", "HOME": "/h"}, "/h/.local/state/ragmachine"),
        ({"HOME": "/h"}, "/h/.local/state/ragmachine"),
    ],
)
def test_the_history_lies_where_the_desktop_keeps_state(
    environment: dict[str, str], folder: str
) -> None:
    """As the XDG base directory specification has it."""
    assert state_folder(environment) == Path(folder)
