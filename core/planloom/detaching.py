"""A run handed to a process of its own, which no closed terminal ends and whose words go to a log."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from ._errors import Misuse
from ._run_handle import Run

__all__ = ["log_path", "start_driver", "wait_until_driven"]

_LONGEST_START_S = 15.0
_POLL_S = 0.02


def log_path(store_path: str, run_id: str) -> Path:
    """Return where the driver of a detached run writes: beside the store."""
    return Path(store_path).absolute().parent / "logs" / f"{run_id}.log"


def start_driver(log: Path, arguments: Sequence[str]) -> subprocess.Popen[bytes]:
    """Start ``planloom`` with these arguments in a session of its own, its output in the log.

    :raises Misuse: the log cannot be written.
    """
    try:
        log.parent.mkdir(parents=True, exist_ok=True)
        with log.open("ab") as said:
            return subprocess.Popen(  # noqa: S603 - our own interpreter and our own arguments
                [sys.executable, "-m", "planloom", *arguments],
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=said,
                start_new_session=True,
                env={**os.environ, "PYTHONUNBUFFERED": "1"},
            )
    except OSError as error:
        raise Misuse(f"cannot write the log {log}: {error.strerror}; keep the store elsewhere with --store") from error


async def wait_until_driven(run: Run, driver: subprocess.Popen[bytes], status: str) -> int | None:
    """Wait until the driver has taken the run, or ended; return its exit code if it ended.

    :param status: the run's before. A slow machine is not waited for longer than some seconds.
    """
    until = time.monotonic() + _LONGEST_START_S
    while driver.poll() is None and time.monotonic() < until:
        if run.record.status != status or run.driven:
            # The process outlives this one, and is nobody's child then.
            return None
        await asyncio.sleep(_POLL_S)
    return driver.poll()
