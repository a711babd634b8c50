"""What reaches a terminal, a pipe and a file: marks and links, plain text, nothing to obey."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import shlex
import struct
import subprocess
import termios
from collections.abc import Mapping
from pathlib import Path

import pytest
from house import House, Program

# the only sequences this program writes: bold yellow, dim and reset; a link's start and end
OURS = re.compile(r"\x1b\[(?:1;33|2|0)m|\x1b\]8;;[!-~]*\x1b\\")
OBEYED = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
TERMINAL = {"TERM": "xterm-256color"}
COMMANDS = "\x1b]0;owned\x07 \x9b31m \u202e \x1b[2J"


def on_terminal(house: House, *words: str, environment: Mapping[str, str] = TERMINAL) -> str:
    """What a terminal receives from a command, both streams, its line ends made plain."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 200, 0, 0))
    with subprocess.Popen(
        **house.quick(list(words), environment),
        stdin=slave,
        stdout=slave,
        stderr=slave,
        close_fds=True,
    ) as process:
        os.close(slave)
        received = b""
        try:
            while piece := os.read(master, 65536):
                received += piece
        except OSError:  # Linux says so when the other end is closed
            pass
        finally:
            os.close(master)
        assert process.wait(timeout=30) == 0
    return received.decode().replace("\r\n", "\n")


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> House:
    """A project whose file names, headings and texts hold what a terminal would obey."""
    house = House(tmp_path_factory.mktemp("hostile"))
    filler = "ordinary words " * 60  # too large a share of controls would make the file binary
    text = f"# Title {COMMANDS}\n\n{filler}\n\nmarmalade {COMMANDS} marmalade\n"
    house.save("corpus/evil\x1b[31m\u202e\u009b.md", text)
    house.save("corpus/broken\x1b[31m.txt", b"marmalade \xff\xfe \x1b[5m\n")
    words = ["index", "--target_dir", f"{house.root}/corpus"]
    on_terminal(house, *words, environment={**TERMINAL, **house.environment})
    return house


def test_a_terminal_gets_links_and_marks(house: House) -> None:
    """The place links to the file, matched words stand out, the label is dimmed."""
    environment = {**TERMINAL, **house.environment}
    text = on_terminal(house, "search", "release", "--k", "1", environment=environment)
    target = (house.root / "corpus/lib/scheduler.py").as_uri()
    assert re.search(rf"\x1b]8;;{target}\x1b\\corpus/lib/scheduler.py:\d+-\d+\x1b]8;;\x1b\\", text)
    assert "block.\x1b[1;33mrelease\x1b[0m()" in text
    assert re.search(r"  \x1b\[2m[^\x1b]*evict[^\x1b]*\x1b\[0m\n", text)


def test_citations_link_to_their_files(house: House) -> None:
    """Each cited place is a link as well."""
    text = on_terminal(house, "answer", "What evicts blocks?", "--llm", "extractive")
    assert re.search(r"\[1\] \x1b]8;;file://\S+\x1b\\corpus/\S+:\d+-\d+\x1b]8;;\x1b\\", text)


@pytest.mark.parametrize(
    "environment",
    [{**TERMINAL, "NO_COLOR": "1"}, {"TERM": "dumb"}, {}],
    ids=["NO_COLOR", "dumb", "no-TERM"],
)
def test_a_terminal_that_wants_plain_text_gets_it(
    house: House, environment: dict[str, str]
) -> None:
    """No escape sequence; matched words stand in brackets."""
    text = on_terminal(house, "search", "release", environment=environment)
    assert "\x1b" not in text
    assert "block.[release]()" in text


def test_an_empty_no_color_counts_as_unset(house: House) -> None:
    """As its convention has it."""
    text = on_terminal(house, "search", "release", environment={**TERMINAL, "NO_COLOR": ""})
    assert "\x1b[1;33mrelease\x1b[0m" in text


@pytest.mark.parametrize("command", ["search", "answer --llm extractive", "search --json"])
def test_a_file_gets_plain_text(house: House, command: str) -> None:
    """What is no terminal receives no escape sequence, whatever TERM says."""
    done = subprocess.run(
        **house.quick([*command.split(), "evict"], TERMINAL), capture_output=True, check=True
    )
    assert b"evict" in done.stdout
    assert b"\x1b" not in done.stdout + done.stderr


def test_progress_is_shown_on_a_terminal_and_wiped(house: House, tmp_path: Path) -> None:
    """The bar leaves nothing behind but the report."""
    words = ["--target_dir", f"{house.root}/corpus", "--index_dir", f"{tmp_path}/index"]
    text = on_terminal(house, "index", *words)
    assert "indexing" in text
    assert text.rpartition("\r")[2].startswith("3 files")


@pytest.mark.parametrize(
    "words",
    [
        ["index", "--target_dir", "@corpus", "--force"],
        ["search", "marmalade"],
        ["search", "marmalade", "--json"],
        ["answer", "marmalade", "--llm", "extractive"],
        ["answer", "marmalade", "--llm", "extractive", "--json"],
    ],
    ids=["index", "search", "search-json", "answer", "answer-json"],
)
def test_a_terminal_is_never_commanded_by_what_was_indexed(
    hostile: House, words: list[str]
) -> None:
    """Control characters of texts, labels and file names are shown as replacements or escapes."""
    words = [word.replace("@corpus", f"{hostile.root}/corpus") for word in words]
    place = hostile.environment if words[0] == "index" else {}
    text = OURS.sub("", on_terminal(hostile, *words, environment={**TERMINAL, **place}))
    bar = text.rpartition("\r")[0] if words[0] == "index" else ""
    assert OBEYED.findall(text.removeprefix(bar).removeprefix("\r")) == []
    assert ("warning: broken" if words[0] == "index" else "marmalade") in text


def test_json_loses_no_character_to_the_escapes(hostile: House, program: Program) -> None:
    """A reader of the document gets the chunk's exact text and name."""
    found = program.child(
        "search", "marmalade", "--json", environment=hostile.environment
    ).document()
    texts = {chunk["file_path"]: chunk["text"] for chunk in found["retrieved_chunks"]}
    (name,) = [name for name in texts if "evil" in name]
    assert name == "corpus/evil\x1b[31m\u202e\u009b.md"
    assert f"marmalade {COMMANDS} marmalade" in texts[name]


@pytest.mark.parametrize(
    "name", ["a\nb", "\x1b[31mred", "\u202egnp"], ids=["line", "escape", "turn"]
)
def test_an_error_is_one_line_without_anything_to_obey(program: Program, name: str) -> None:
    """What was typed comes back in the message, tamed."""
    outcome = program.run("search_dataset", name)
    outcome.assert_tidy()
    assert OBEYED.findall(outcome.err) == []


@pytest.mark.parametrize("command", ["search cache", "search cache --json", "--help"])
def test_a_reader_that_has_gone_is_no_error(house: House, command: str) -> None:
    """`| head` ends quietly, with exit code 0."""
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        **house.quick(command.split()),
        stdout=writing,
        stderr=subprocess.PIPE,
        check=False,
        timeout=60,
    )
    os.close(writing)
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full here")
@pytest.mark.parametrize("command", ["search cache", "search cache --json", "--help"])
def test_a_full_disk_behind_stdout_is_one_line(house: House, command: str) -> None:
    """Exit code 1 and the operating system's words, not a fault of the program."""
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            **house.quick(command.split()),
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
            timeout=60,
        )
    expected = b"error: the output cannot be written: No space left on device\n"
    assert (done.returncode, done.stderr) == (1, expected)


@pytest.mark.parametrize(
    ("closed", "command", "code"),
    [(">&-", "search cache", 0), (">&- 2>&-", "search cache", 0), ("2>&-", "serch", 2)],
    ids=["stdout", "both", "stderr"],
)
def test_a_stream_that_is_closed_from_the_start_takes_anything(
    house: House, closed: str, command: str, code: int
) -> None:
    """The exit code is that of the work done; an error does not turn up on the other stream."""
    options = house.quick(command.split())
    options["args"] = ["/bin/sh", "-c", f"{shlex.join(options['args'])} {closed}"]
    done = subprocess.run(
        **options,
        capture_output=True,
        check=False,
        timeout=60,
    )
    assert (done.returncode, done.stdout, done.stderr) == (code, b"", b"")


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
@pytest.mark.parametrize(
    ("command", "shown"),
    [("search 中文合同", "[????]"), ("search --json 中文合同", "\\u4e2d"), ("--help", "COMMAND ?")],
    ids=["search", "json", "help"],
)
def test_a_stream_that_cannot_say_it_all_says_what_it_can(
    house: House, command: str, shown: str, encoding: str
) -> None:
    """Characters outside its encoding become question marks; JSON escapes them."""
    options = house.quick(command.split(), {"PYTHONIOENCODING": encoding})
    done = subprocess.run(**options, capture_output=True, check=True)
    assert shown in done.stdout.decode(encoding)
    assert done.stderr == b""
