"""How many bugs a type checker notices: the share of a benchmark that needs no auditor.

mypy is run as a program of its own on the clean and on the audited files, bodies without types included. A bug is
noticed when its file gives an error that the clean one does not. Lines are numbered alike, so that errors compare.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path

from planloom_bench._errors import BenchError
from planloom_bench._key import Key

from .texts import CopiedFile
from .writing import write_tree

__all__ = ["noticed_by_mypy"]

_TIMEOUT_S = 1_800
_ERROR = re.compile(r"(?P<path>.+?):\d+: error: .+")
_OPTIONS = (
    *("--check-untyped-defs", "--ignore-missing-imports", "--namespace-packages", "--explicit-package-bases"),
    *("--no-error-summary", "--no-color-output", "--hide-error-context", "--config-file=", "--no-incremental"),
)


def noticed_by_mypy(files: Iterable[CopiedFile], key: Key) -> dict[str, object]:
    """What a manifest keeps: which type checker was asked, and how many bugs it noticed.

    :raises BenchError: there is no mypy, or it cannot read the library.
    """
    files = tuple(files)
    clean = _errors({file.path: file.clean_data for file in files})
    audited = _errors({file.path: file.audited_data for file in files})
    new = {match["path"] for error in audited - clean if (match := _ERROR.fullmatch(error))}
    noticed = sum(entry.path in new for entry in key.entries)
    return {"name": _mypy("--version").stdout.split(" (")[0].strip(), "noticed": noticed}


def _errors(contents: Mapping[str, bytes]) -> Counter[str]:
    with tempfile.TemporaryDirectory(prefix="planloom-") as folder:
        write_tree(Path(folder) / "library", contents)
        done = _mypy(*_OPTIONS, ".", folder=Path(folder) / "library")
    if done.returncode not in (0, 1):
        said = (done.stdout + done.stderr).strip().splitlines()
        raise BenchError(
            f"mypy cannot read the library: {said[0] if said else done.returncode}; leave out --type-checker"
        )
    return Counter(line for line in done.stdout.splitlines() if _ERROR.fullmatch(line))


def _mypy(*arguments: str, folder: Path | None = None) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "mypy", *arguments]
    try:
        done = subprocess.run(  # noqa: S603 - fixed words
            command,
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=_TIMEOUT_S,
            stdin=subprocess.DEVNULL,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise BenchError(f"mypy took more than {_TIMEOUT_S} s; leave out --type-checker") from error
    if "No module named mypy" in done.stderr:
        raise BenchError("there is no mypy in this Python; install it, or leave out --type-checker")
    return done
