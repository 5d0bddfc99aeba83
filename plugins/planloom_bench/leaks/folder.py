"""What lies in ``audited/`` besides Python sources, and what the files' times and modes tell.

A cache of bytecode is the clean file; a list of hashes names the edited ones; a time of its own marks the file that was
written last.
"""

from __future__ import annotations

import stat
from collections.abc import Iterator, Sequence
from pathlib import Path

from planloom_bench.copying.choosing import reason_to_leave_out

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
            what = _what(path, path.relative_to(audited).as_posix())
            if what is not None:
                yield Leak(path=shown, line=None, message=f"{what}; {_REMOVE}")


def _what(path: Path, relative: str) -> str | None:
    folders = relative.split("/")[:-1]
    if any(name in _FOLDERS[0] for name in folders):
        return "version control, which keeps the clean file"
    if any(name.endswith(_FOLDERS[1]) for name in folders) or path.name in ("RECORD", "PKG-INFO"):
        return "what an installer noted; its hashes name the files that were edited"
    if path.suffix == ".py":
        reason = reason_to_leave_out(relative)
        return f"belongs to the library's {reason}, which repeat what functions should return" if reason else None
    return next((what for endings, what in _KINDS if path.suffix in endings), "no Python source")


def telling_times(audited: Path, file_time: int | None) -> Iterator[Leak]:
    """Files whose time or mode is not that of all.

    :param file_time: the time that the benchmark was built with, in seconds; None where it records none, and then times
        are not compared, for a copy made by git or an installer has others.
    """
    files = [path for path in sorted(audited.rglob("*")) if path.is_file() and not path.is_symlink()]
    if file_time is not None:
        late = [path for path in files if int(path.stat().st_mtime) != file_time]
        yield from _odd(
            late, files, audited, "was written at another time than the rest", _alike("touch -d @", file_time)
        )
    modes = [stat.S_IMODE(path.stat().st_mode) for path in files]
    usual = max(set(modes), key=modes.count, default=0)
    odd = [path for path, mode in zip(files, modes, strict=True) if mode != usual]
    yield from _odd(odd, files, audited, "has another mode than the rest", _alike("chmod ", f"{usual:o}"))


def _alike(command: str, value: object) -> str:
    return f"`find audited -type f -exec {command}{value} {{}} +` makes them alike"


def _odd(odd: Sequence[Path], files: Sequence[Path], audited: Path, what: str, remedy: str) -> Iterator[Leak]:
    if odd:
        shown = f"audited/{odd[0].relative_to(audited).as_posix()}"
        number = f" (as do {len(odd) - 1} more of {len(files)})" if len(odd) > 1 else ""
        yield Leak(path=shown, line=None, message=f"{what}{number}; {remedy}")
