"""What lies in ``audited/`` besides Python sources, and what times, modes and notes of files and folders tell.

A cache of bytecode is the clean file; a list of hashes names the edited ones; a time of its own marks the file that was
written last, or the folder in which one was replaced.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path

from planloom_bench.copying.choosing import reason_to_leave_out
from planloom_code import Skipped, read_source

from .leak import Leak

__all__ = ["besides_sources", "telling_times"]

_REMOVE = "remove it"
_KINDS = (
    ((".pyc", ".pyo"), "bytecode, which may be that of the clean file"),
    ((".ipynb",), "a notebook"),
    ((".pyi",), "a stub, which keeps what the clean file says"),
    ((".md", ".rst", ".txt"), "documentation"),
    ((".orig", ".rej", ".diff", ".patch", ".bak", ".swp"), "what an edit leaves behind"),
    ((".json", ".jsonl"), "data that is no part of the library's sources"),
)
_FOLDERS = ((".git", ".hg", ".svn"), (".dist-info", ".egg-info"))


def besides_sources(audited: Path) -> Iterator[Leak]:
    """Everything below the folder that is no regular Python source that auditors may read."""
    for path in sorted(audited.rglob("*")):
        shown = f"audited/{path.relative_to(audited).as_posix()}"
        if path.is_symlink():
            yield Leak(path=shown, line=None, message=f"a link, which may lead to the clean file; {_REMOVE}")
        elif path.is_file():
            what = _what(path, path.relative_to(audited).as_posix()) or _note(path)
            if what is not None:
                yield Leak(path=shown, line=None, message=f"{what}; {_REMOVE}")
        elif not any(path.iterdir()):
            yield Leak(path=shown, line=None, message=f"an empty folder, which no build makes; {_REMOVE}")


def _what(path: Path, relative: str) -> str | None:
    folders = relative.split("/")[:-1]
    if any(name in _FOLDERS[0] for name in folders):
        return "version control, which keeps the clean file"
    if any(name.endswith(_FOLDERS[1]) for name in folders) or path.name in ("RECORD", "PKG-INFO"):
        return "what an installer noted; its hashes name the files that were edited"
    if path.suffix == ".py":
        reason = reason_to_leave_out(relative)
        if reason:
            return f"belongs to the library's {reason}, which repeat what functions should return"
        source = read_source(path, relative)
        return f"no Python text: {source.reason}" if isinstance(source, Skipped) else None
    return next((what for endings, what in _KINDS if path.suffix in endings), "no Python source")


def _note(path: Path) -> str | None:
    """What stands beside a file's content, where the file system keeps notes of users."""
    try:
        names = [name for name in os.listxattr(path) if name.startswith("user.")]
    except (AttributeError, OSError):
        return None
    return f"bears the attribute {names[0]}, which no build writes" if names else None


def telling_times(audited: Path, file_time: int | None) -> Iterator[Leak]:
    """Files and folders whose time or mode is not that of all.

    :param file_time: the time that the benchmark was built with, in seconds; None where it records none, and then times
        are not compared, for a copy made by git or an installer has others.
    """
    found = [path for path in sorted(audited.rglob("*")) if not path.is_symlink()]
    for of_type, paths in (("f", [path for path in found if path.is_file()]), ("d", [p for p in found if p.is_dir()])):
        if file_time is not None:
            late = [path for path in paths if int(path.stat().st_mtime) != file_time]
            remedy = _alike(of_type, "touch -d @", file_time)
            yield from _odd(late, paths, audited, "was written at another time than the rest", remedy)
        modes = [stat.S_IMODE(path.stat().st_mode) for path in paths]
        usual = max(set(modes), key=modes.count, default=0)
        odd = [path for path, mode in zip(paths, modes, strict=True) if mode != usual]
        remedy = _alike(of_type, "chmod ", f"{usual:o}")
        yield from _odd(odd, paths, audited, "has another mode than the rest", remedy)


def _alike(of_type: str, command: str, value: object) -> str:
    return f"`find audited -type {of_type} -exec {command}{value} {{}} +` makes them alike"


def _odd(odd: Sequence[Path], paths: Sequence[Path], audited: Path, what: str, remedy: str) -> Iterator[Leak]:
    if odd:
        shown = f"audited/{odd[0].relative_to(audited).as_posix()}"
        number = f" (as do {len(odd) - 1} more of {len(paths)})" if len(odd) > 1 else ""
        yield Leak(path=shown, line=None, message=f"{what}{number}; {remedy}")
