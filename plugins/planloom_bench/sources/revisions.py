"""The files of a revision, taken out of git's store. The work tree, the index and all branches stay as they are.

Files are read one by one from the store and not through ``git archive``, which leaves out and rewrites files as the
revision's own attributes say. A checkout may be hostile: its configuration could name programs for git to start.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from planloom_bench._errors import BadSource

from .paths import place_below

__all__ = ["check_out"]

_TIMEOUT_S = 120
_QUIET = ("-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "protocol.allow=never")
# Links and submodules are no source of this library; the modes are those of regular files.
_REGULAR = ("100644", "100755", "100664")


def check_out(folder: Path, revision: str, into: Path) -> str:
    """Write the files that the revision holds below ``folder`` to a new folder ``into``; gives the commit's hash.

    :raises BadSource: there is no such revision, or git cannot tell.
    """
    commit = _asked(folder, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
    if commit is None:
        raise BadSource(f"{folder} has no revision {revision}; give one that `git -C {folder} log` shows")
    name = commit.decode().strip()
    listing = _asked(folder, "ls-tree", "-r", "-z", name) or b""
    files = list(_regular_files(listing))
    if not files:
        raise BadSource(f"revision {revision} holds no files below {folder}; give a folder that it has")
    _write(folder, files, into)
    return name


def _regular_files(listing: bytes) -> Iterator[tuple[str, str]]:
    """Object and path of every regular file."""
    for row in listing.split(b"\0"):
        facts, _, path = row.partition(b"\t")
        mode, _, rest = facts.decode("ascii").partition(" ")
        if mode in _REGULAR:
            yield rest.split(" ")[1], os.fsdecode(path)


def _write(folder: Path, files: list[tuple[str, str]], into: Path) -> None:
    command = ["git", *_QUIET, "cat-file", "--batch"]
    with subprocess.Popen(  # noqa: S603 - fixed words
        command,
        cwd=folder,
        env=_environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as git:
        assert git.stdin is not None
        assert git.stdout is not None
        for name, path in files:
            git.stdin.write(name.encode("ascii") + b"\n")
            git.stdin.flush()
            target = place_below(into, path)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(_blob(git.stdout, path))
        git.stdin.close()


def _blob(answers: IO[bytes], path: str) -> bytes:
    facts = answers.readline().split()
    if len(facts) != 3:
        raise BadSource(f"git's store lacks the content of {path}; fetch the whole of the revision first")
    data = answers.read(int(facts[2]))
    answers.read(1)
    return data


def _asked(folder: Path, *arguments: str) -> bytes | None:
    """What git prints, or None when it says no."""
    command = ["git", *_QUIET, *arguments]
    try:
        done = subprocess.run(  # noqa: S603 - fixed words, and a revision behind --end-of-options
            command,
            cwd=folder,
            env=_environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_TIMEOUT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise BadSource(f"git cannot be asked about {folder} ({error}); install git, or give a plain folder") from error
    if done.returncode > 1:
        said = os.fsdecode(done.stderr).strip().splitlines()
        raise BadSource(f"git refuses {folder}: {said[-1] if said else done.returncode}; give a checkout of git")
    return done.stdout if done.returncode == 0 else None


def _environment() -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return kept | {"LC_ALL": "C", "GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", "GIT_NO_LAZY_FETCH": "1"}
