"""The files that git does not ignore, asked of git itself.

The audited folder may be hostile: its own ``.git/config`` can name a program for git to start
(``core.fsmonitor``), and environment variables of an outer hook can point git at another repository. Both are
shut out here, as is fetching missing objects, which would start a program too.
"""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

_TIMEOUT_S = 120
_KEPT = ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM", "GIT_CEILING_DIRECTORIES")
_UNOPENED = re.compile(r"could not open directory '(.*?)/?': (.*)")


class GitCannotSay(Exception):
    """No git, no work tree here, or git refuses; the message is git's own."""


def is_ignored(folder: Path) -> bool:
    """Whether the folder itself is ignored by the repository around it; raises `GitCannotSay`."""
    # A repository is never ignored by its own rules, though check-ignore says so when one of them is `*`.
    inside = _asked(folder, "rev-parse", "--show-prefix").stdout.strip()
    return bool(inside) and _asked(folder, "check-ignore", "-q", "--no-index", ".").returncode == 0


def listed_files(folder: Path) -> tuple[list[str], list[tuple[str, str]]]:
    """Tracked and unignored paths below ``folder``, and the folders git could not open with the reason.

    Deleted files may still be among the paths. Nested repositories are listed by git as one path; they are
    opened here and their own unignored files listed. Paths are file-system strings (surrogateescape).
    """
    done = _asked(folder, "ls-files", "-z", "-co", "--exclude-standard")
    paths: list[str] = []
    closed = _UNOPENED.findall(_text(done.stderr))
    for path in {os.fsdecode(name).rstrip("/") for name in done.stdout.split(b"\0") if name}:
        if path.startswith(("../", "/")):
            continue
        nested = folder / path
        if not path.endswith(".py") and (nested / ".git").exists() and not nested.is_symlink():
            inner_paths, inner_closed = listed_files(nested)
            paths += [f"{path}/{inner}" for inner in inner_paths]
            closed += [(f"{path}/{inner}", reason) for inner, reason in inner_closed]
        else:
            paths.append(path)
    return paths, closed


def _asked(folder: Path, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    done = _git(folder, *arguments)
    # 1 is an answer (check-ignore's no); git's own failures are 128 and above.
    if done.returncode not in (0, 1):
        raise GitCannotSay(_text(done.stderr))
    return done


def _git(folder: Path, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    command = ["git", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "protocol.allow=never"]
    command += arguments
    environment = {k: v for k, v in os.environ.items() if not k.startswith("GIT_") or k in _KEPT}
    environment |= {"LC_ALL": "C", "GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", "GIT_NO_LAZY_FETCH": "1"}
    try:
        return subprocess.run(  # noqa: S603 - fixed words; the folder is the working directory, no argument
            command,
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_TIMEOUT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise GitCannotSay(str(error)) from error


def _text(data: bytes) -> str:
    return os.fsdecode(data).strip()
