"""Which files of a folder are worth indexing: one walk, every omission counted with its reason."""

from __future__ import annotations

import os
import stat
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from ragmachine.corpus.built import built_pages
from ragmachine.corpus.ignore import IGNORE_FILES, IgnoreFile, IgnoreRules, names_path, wanted
from ragmachine.corpus.loaders.kinds import is_packed, missing_extra
from ragmachine.corpus.noise import (
    BINARY_SUFFIXES,
    GENERATED_NAMES,
    GENERATED_SUFFIXES,
    KEPT_DOT_FILES,
    KEPT_DOT_FOLDERS,
    LOCK_FILES,
    NOISE_DOT_FOLDERS,
    NOISE_FOLDERS,
)
from ragmachine.errors import CorpusError

# Most of a PDF or a Word document is pictures and fonts: so many times the bytes are fine.
_PACKED_FACTOR = 10


@dataclass(frozen=True, slots=True)
class Choice:
    """What the user wants and does not want of a folder.

    Attributes:
        include: globs as in ignore files; where there are any, only files that they match, or
            that lie in a folder that they match.
        exclude: globs as in ignore files, for files and folders that are left out.
        has_hidden: whether names that begin with a dot are taken, bar folders of tools.
    """

    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    has_hidden: bool = False


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file to index.

    Attributes:
        path: POSIX path relative to the corpus root.
        absolute: where to open it.
        size: bytes.
        mtime_ns: modification time in nanoseconds.
        ctime_ns: time of the last change, its attributes included, in nanoseconds; programs can
            set the other one back, not this one. On Windows the time of creation.
    """

    path: str
    absolute: str
    size: int
    mtime_ns: int
    ctime_ns: int = 0


@dataclass(slots=True)
class Discovery:
    """What a walk found.

    Attributes:
        files: in path order.
        skipped: files and folders left out by rule, counted by reason.
        problems: (path, reason) of entries that could not be looked at.
    """

    files: list[SourceFile] = field(default_factory=list)
    skipped: Counter[str] = field(default_factory=Counter)
    problems: list[tuple[str, str]] = field(default_factory=list)


def discover(root: str, *, max_file_bytes: int, choice: Choice = Choice()) -> Discovery:
    """Walk a corpus folder, or take a single file, and list what to index.

    Links are followed only to targets inside the root, and each real file is listed once, under
    the path that is not a link where there is one.

    Args:
        root: folder or file.
        max_file_bytes: larger files are reported as problems and left out; PDF and Word documents
            may be ten times as large.
        choice: what of the rest is wanted.
    Raises: CorpusError: the root does not exist or cannot be listed.
    """
    found = Discovery()
    walk = _Walk(root, max_file_bytes, found, choice)
    if os.path.isfile(root):
        walk.take_root()
    elif os.path.isdir(root):
        walk.run()
    else:
        raise CorpusError(
            f"there is no folder {root}",
            remedy="name one with --target_dir, or fetch the reference corpus: `make corpus`",
        )
    built = built_pages(file.path for file in found.files)
    if built:
        found.files = [file for file in found.files if file.path not in built]
        found.skipped["generated"] += len(built)
    found.files.sort(key=lambda file: file.path)
    return found


class _Walk:
    """One traversal; real files first, links after them, so that a link never wins over a file."""

    def __init__(self, root: str, max_file_bytes: int, found: Discovery, choice: Choice) -> None:
        self.has_hidden = choice.has_hidden
        self.included = wanted(choice.include) if choice.include else None
        self.excluded = wanted(choice.exclude) if choice.exclude else None
        self.root = root
        self.real_root = os.path.realpath(root)
        self.max_file_bytes = max_file_bytes
        self.found = found
        self.seen_files: set[tuple[int, int]] = set()
        self.seen_folders: set[tuple[int, int]] = set()
        self.links: list[tuple[str, str, IgnoreRules]] = []

    def take_root(self) -> None:
        """Take a root that is a file: asked for by name, so that only its size may keep it out."""
        name = os.path.basename(self.root)
        if missing := missing_extra(name):
            self.found.skipped[missing] += 1
        elif self._is_writable(name):
            self._add(self.root, name, os.stat(self.root))

    def run(self) -> None:
        """Visit the tree, then the links in it, which may lead to folders with more links."""
        try:
            os.listdir(self.root)
        except OSError as error:
            raise CorpusError(f"cannot list {self.root}: {error.strerror}") from error
        self._folder(self.root, "", IgnoreRules())
        while self.links:
            links, self.links = self.links, []
            for absolute, path, rules in links:
                self._link(absolute, path, rules)

    def _folder(self, absolute: str, path: str, rules: IgnoreRules) -> None:
        stack = [(absolute, path, rules)]
        while stack:
            folder, base, inherited = stack.pop()
            try:
                info = os.stat(folder)
                with os.scandir(folder) as listing:
                    entries = sorted(listing, key=lambda entry: entry.name)
            except OSError as error:
                self.found.problems.append((base or ".", f"cannot list: {error.strerror}"))
                continue
            identity = (info.st_dev, info.st_ino)
            if identity in self.seen_folders:
                continue
            self.seen_folders.add(identity)
            own = self._with_ignore_files(folder, base, inherited, entries)
            stack.extend(reversed(list(self._entries(entries, base, own))))

    def _entries(
        self, entries: Sequence[os.DirEntry[str]], base: str, rules: IgnoreRules
    ) -> Iterator[tuple[str, str, IgnoreRules]]:
        """List the files of one folder and yield the folders to visit."""
        for entry in entries:
            path = f"{base}/{entry.name}" if base else entry.name
            if not self._is_writable(path):
                continue
            try:
                is_link, is_folder = entry.is_symlink(), entry.is_dir(follow_symlinks=False)
            except OSError as error:
                self.found.problems.append((path, f"cannot read: {error.strerror}"))
                continue
            if is_link:
                self.links.append((entry.path, path, rules))
            elif is_folder:
                reason = self._folder_reason(entry.name, path, rules)
                if reason:
                    self.found.skipped[reason] += 1
                else:
                    yield entry.path, path, rules
            else:
                self._file(entry.path, path, rules)

    def _is_writable(self, path: str) -> bool:
        """Whether a path can be written to the index; one that is not UTF-8 is reported instead."""
        try:
            path.encode("utf-8")
        except UnicodeEncodeError:
            readable = os.fsencode(path).decode("utf-8", "backslashreplace")
            self.found.problems.append((readable, "left out: its name is not UTF-8"))
            return False
        return True

    def _link(self, absolute: str, path: str, rules: IgnoreRules) -> None:
        target = os.path.realpath(absolute)
        is_folder = os.path.isdir(target)
        if target != self.real_root and not target.startswith(self.real_root.rstrip("/") + "/"):
            self.found.skipped["link out of the folder"] += 1
        elif not is_folder and not os.path.isfile(target):
            self.found.skipped["broken link"] += 1
        elif self._is_ignored_there(target, is_folder):
            self.found.skipped["ignore file"] += 1
        elif not is_folder:
            self._file(absolute, path, rules)
        elif reason := self._folder_reason(os.path.basename(path), path, rules):
            self.found.skipped[reason] += 1
        else:
            self._folder(target, path, rules)

    def _is_ignored_there(self, target: str, is_folder: bool) -> bool:
        """Whether ignore files keep out what a link leads to, in its own place."""
        names = os.path.relpath(target, self.real_root).split(os.sep)
        rules, folder, path = IgnoreRules(), self.real_root, ""
        for number, name in enumerate(names, start=1):
            try:
                with os.scandir(folder) as listing:
                    rules = self._with_ignore_files(folder, path, rules, list(listing))
            except OSError:
                return False
            path = f"{path}/{name}" if path else name
            if rules.ignores(path, is_folder=is_folder or number < len(names)):
                return True
            folder = os.path.join(folder, name)
        return False

    def _file(self, absolute: str, path: str, rules: IgnoreRules) -> None:
        try:
            info = os.stat(absolute)
        except OSError as error:
            self.found.problems.append((path, f"cannot read: {error.strerror}"))
            return
        reason = self._file_reason(path, info, rules)
        if not reason and info.st_ino and (info.st_dev, info.st_ino) in self.seen_files:
            reason = "same file under another name"
        if reason:
            self.found.skipped[reason] += 1
        else:
            self._add(absolute, path, info)

    def _add(self, absolute: str, path: str, info: os.stat_result) -> None:
        most = self.max_file_bytes * (_PACKED_FACTOR if is_packed(path) else 1)
        if info.st_size > most:
            limit = f"{info.st_size:,} bytes, over the limit of {most:,}"
            self.found.problems.append((path, limit))
            return
        self.seen_files.add((info.st_dev, info.st_ino))
        self.found.files.append(
            SourceFile(path, absolute, info.st_size, info.st_mtime_ns, info.st_ctime_ns)
        )

    def _folder_reason(self, name: str, path: str, rules: IgnoreRules) -> str:
        if name.startswith(".") and name not in KEPT_DOT_FOLDERS:
            if not self.has_hidden or name in NOISE_DOT_FOLDERS:
                return "hidden"
        elif name in NOISE_FOLDERS or name.endswith(".egg-info"):
            return "generated"
        if self.excluded and self.excluded.verdict(path, is_folder=True):
            return "excluded"
        return "ignore file" if rules.ignores(path, is_folder=True) else ""

    def _file_reason(self, path: str, info: os.stat_result, rules: IgnoreRules) -> str:
        name = path.rpartition("/")[2]
        if not stat.S_ISREG(info.st_mode):
            return "not a regular file"
        if name.startswith(".") and name not in KEPT_DOT_FILES and not self.has_hidden:
            return "hidden"
        if self.excluded and self.excluded.verdict(path, is_folder=False):
            return "excluded"
        if self.included and not names_path(self.included, path):
            return "not included"
        if name in LOCK_FILES:
            return "lock file"
        if name in GENERATED_NAMES or name.endswith(GENERATED_SUFFIXES):
            return "generated"
        if name.rpartition(".")[2].lower() in BINARY_SUFFIXES and "." in name:
            return "binary"
        if is_packed(name) and (missing := missing_extra(name)):
            return missing
        return "ignore file" if rules.ignores(path, is_folder=False) else ""

    def _with_ignore_files(
        self, folder: str, base: str, rules: IgnoreRules, entries: Sequence[os.DirEntry[str]]
    ) -> IgnoreRules:
        """Add the folder's own ignore files to those it inherits."""
        for entry in entries:
            if entry.name not in IGNORE_FILES:
                continue
            try:
                if not entry.is_file():  # a pipe would block
                    continue
                with open(entry.path, encoding="utf-8-sig", errors="replace") as lines:
                    rules = rules.with_file(entry.name, base, IgnoreFile(lines))
            except OSError as error:
                path = f"{base}/{entry.name}" if base else entry.name
                self.found.problems.append((path, f"cannot read: {error.strerror}"))
        return rules
