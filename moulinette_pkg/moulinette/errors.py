"""The errors a command may end with, each with its exit code.

MoulinetteError
├── UsageError   exit 2: the command line is wrong, nothing was read
└── DataError    exit 1: a file cannot be read or does not have the agreed shape
"""


class MoulinetteError(Exception):
    """An error whose message is one line for the person at the terminal."""

    exit_code = 1


class UsageError(MoulinetteError):
    """The command line is wrong; found before any file is opened."""

    exit_code = 2


class DataError(MoulinetteError):
    """A file is missing, unreadable or malformed, or the two files do not belong together."""
