"""Which files of a folder are audited, and which are not and why.

git is asked first, because only git knows all of its rules and its index. Where git cannot say (not installed,
no work tree, or the folder is itself ignored, like a package inside a virtual environment) the folder is walked
under the .gitignore files found inside it. Either way the same sieve follows: links are never followed, what is
no regular file is named, and nobody reads the hidden half of a benchmark.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path

from planloom.data_classes import frozen
from planloom_code._errors import HiddenKey, NoSuchPath, NotSource, Unreadable
from planloom_code._git import GitCannotSay, is_ignored, listed_files
from planloom_code._ignore import IgnoreRules, patterns
from planloom_code._source import Skipped, shown_path

_SUFFIX = ".py"
_NOTEBOOK = ".ipynb"
# They hold no source of the project, and a line for each __pycache__ would bury the lines that matter.
_NEVER_SOURCE = frozenset({".git", ".hg", ".svn", ".bzr", "_darcs", ".jj", "CVS", "__pycache__"})


@frozen
class FoundFile:
    """A file to audit: the name workers see, and the name the system knows, both relative to the root."""

    path: str
    system_path: str


@frozen(kw_only=True)
class Discovery:
    """What `discover` saw: files sorted by path, what was left out and why, and whose rules decided.

    ``rules`` is ``git``, ``.gitignore files`` or ``one file``.
    """

    root: Path
    files: tuple[FoundFile, ...]
    skipped: tuple[Skipped, ...]
    rules: str


def discover(path: Path, include: Iterable[str] = (), exclude: Iterable[str] = ()) -> Discovery:
    """The Python files below ``path`` (or the one file it is) that are not ignored, sorted by path.

    ``include`` keeps only files that match one of its patterns, ``exclude`` then drops some; both are written
    as lines of .gitignore. A benchmark folder stands for its ``audited`` folder. Raises `CodeError`.
    """
    keep, drop = patterns(include, "include"), patterns(exclude, "exclude")
    root = _checked(path)
    if root.is_file():
        name = root.name
        return Discovery(root=root.parent, files=(FoundFile(shown_path(name), name),), skipped=(), rules="one file")
    if _is_benchmark(root):
        # Checked again, for it may be a link into the other half.
        root = _checked(root / "audited")
    skipped: list[Skipped] = []
    candidates, rules = _candidates(root, skipped)
    files = [
        FoundFile(shown_path(name), name)
        for name in _sieve(root, candidates, skipped)
        if (keep is None or keep.match_file(name)) and (drop is None or not drop.match_file(name))
    ]
    files, twins = _one_name_each(files)
    return Discovery(
        root=root,
        files=tuple(files),
        skipped=tuple(sorted({*skipped, *twins}, key=lambda s: (s.path, s.reason))),
        rules=rules,
    )


def _checked(path: Path) -> Path:
    shown = shown_path(str(path))
    try:
        root = path.resolve(strict=True)
        mode = root.stat().st_mode
    except (OSError, RuntimeError, ValueError) as error:
        if isinstance(error, PermissionError):
            raise Unreadable(f"{shown} cannot be opened; give yourself the right to read it") from error
        raise NoSuchPath(f"there is no file or folder {shown}; check the path") from error
    if not stat.S_ISDIR(mode) and not (stat.S_ISREG(mode) and root.name.endswith(_SUFFIX)):
        raise NotSource(f"{shown} is neither a folder nor a {_SUFFIX} file; name one of these")
    for part in (root, *root.parents):
        if part.name == "hidden" and _is_benchmark(part.parent):
            audited = shown_path(str(part.parent / "audited"))
            raise HiddenKey(f"{shown} lies in the hidden half of a benchmark; audit {audited} instead")
    if stat.S_ISDIR(mode) and not os.access(root, os.R_OK | os.X_OK):
        raise Unreadable(f"the folder {shown} cannot be opened; give yourself the right to read it")
    return root


def _is_benchmark(folder: Path) -> bool:
    return (folder / "audited").is_dir() and (folder / "hidden").is_dir()


def _candidates(root: Path, skipped: list[Skipped]) -> tuple[Iterable[str], str]:
    try:
        # Tools write a .gitignore of one `*` into the environments they make: it is not about this audit.
        if not _is_environment(str(root)) and not is_ignored(root):
            paths, closed = listed_files(root)
            skipped += [Skipped(shown_path(name), f"cannot be opened: {reason}", lost=True) for name, reason in closed]
            return paths, "git"
    except GitCannotSay:
        pass
    return _walk(root, skipped), ".gitignore files"


def _walk(root: Path, skipped: list[Skipped]) -> Iterator[str]:
    """Every unignored path below ``root`` that is no folder, and every link, found without git."""
    rules = IgnoreRules()
    if not _is_environment(str(root)):
        rules = rules.below("", root)
    pending = [("", rules)]
    while pending:
        folder, rules = pending.pop()
        try:
            with os.scandir(root / folder) as found:
                entries = sorted(found, key=lambda entry: entry.name)
        except OSError as error:
            skipped.append(Skipped(shown_path(folder), f"cannot be opened: {error.strerror}", lost=True))
            continue
        for entry in entries:
            path = f"{folder}/{entry.name}" if folder else entry.name
            is_folder = entry.is_dir(follow_symlinks=False)
            if is_folder and entry.name in _NEVER_SOURCE:
                continue
            if rules.ignore(path + "/" if is_folder else path):
                if is_folder or path.endswith(_SUFFIX):
                    skipped.append(Skipped(shown_path(path), "ignored by a .gitignore file"))
            elif is_folder:
                pending.append((path, rules.below(path, root / path)))
            else:
                yield path


def _sieve(root: Path, candidates: Iterable[str], skipped: list[Skipped]) -> Iterator[str]:
    """The candidates that are regular Python files in folders that may be read."""
    base = str(root)
    known: dict[str, Skipped | None] = {"": None}
    for path in candidates:
        shut = _closed_above(base, path, known)
        if shut is not None:
            if shut.reason and path.endswith((_SUFFIX, _NOTEBOOK)):
                skipped.append(shut)
            continue
        reason = _why_not(base, path)
        if reason is None:
            yield path
        elif reason:
            skipped.append(Skipped(shown_path(path), reason))


def _closed_above(base: str, path: str, known: dict[str, Skipped | None]) -> Skipped | None:
    """Why a folder above ``path`` is not read, None when all are; ``known`` remembers folders."""
    folder = path.rpartition("/")[0]
    if folder in known:
        return known[folder]
    shut = None
    # From the outside in and without recursion: paths nest deeper than Python calls may.
    for end in (i for i, c in enumerate(path) if c == "/"):
        part = path[:end]
        if part not in known:
            known[part] = shut or _closed_folder(base, part, part.rpartition("/")[2])
        shut = known[part]
    return shut


def _closed_folder(base: str, folder: str, name: str) -> Skipped | None:
    location = f"{base}/{folder}"
    if name in _NEVER_SOURCE:
        return Skipped(folder, "")
    if os.path.islink(location):
        return Skipped(shown_path(folder), _about_link(base, location))
    if _is_environment(location):
        return Skipped(shown_path(folder), "a virtual environment; name it as the path to audit it")
    if name == "hidden" and _is_benchmark(Path(location).parent):
        return Skipped(shown_path(folder), "the hidden half of a benchmark; no auditor may read it")
    return None


def _why_not(base: str, path: str) -> str | None:
    """None for a regular Python file; else why it is left out, empty when nobody would miss it."""
    location = f"{base}/{path}"
    try:
        mode = os.lstat(location).st_mode
    except OSError:
        # git still lists what was deleted but not committed.
        return ""
    if stat.S_ISLNK(mode):
        worth_a_line = path.endswith((_SUFFIX, _NOTEBOOK)) or os.path.isdir(location)
        return _about_link(base, location) if worth_a_line or _is_loop(location) else ""
    if path.endswith(_NOTEBOOK):
        return "a notebook; its cells are not read, export it to a .py file to audit it"
    if not path.endswith(_SUFFIX):
        return ""
    return None if stat.S_ISREG(mode) else "not a regular file"


def _about_link(base: str, location: str) -> str:
    if _is_loop(location):
        return "a link that leads round in a circle"
    target = os.path.realpath(location)
    if target == base or target.startswith(base + "/"):
        return "a link; what it points at is read at its own place"
    return "a link that leads out of the audited folder; it is not followed"


def _is_loop(location: str) -> bool:
    try:
        target = os.path.realpath(location, strict=True)
    except FileNotFoundError:
        return False
    except OSError:
        return True
    return location.startswith(target.rstrip("/") + "/")


def _is_environment(location: str) -> bool:
    return os.path.isfile(f"{location}/pyvenv.cfg")


def _one_name_each(files: list[FoundFile]) -> tuple[list[FoundFile], list[Skipped]]:
    """The files sorted by shown path, and those whose shown path is that of another file."""
    kept: dict[str, FoundFile] = {}
    twins = []
    for file in sorted(files, key=lambda f: (f.path, f.system_path)):
        if file.path in kept:
            twins.append(Skipped(file.path, "two file names are shown alike; rename one of them", lost=True))
        else:
            kept[file.path] = file
    return list(kept.values()), twins
