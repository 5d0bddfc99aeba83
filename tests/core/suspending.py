"""Processes that are suspended, as by a lid that is closed or a machine that has no memory left."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import time
from contextlib import closing
from pathlib import Path


def suspend(process: subprocess.Popen[str], store: Path) -> None:
    """Suspend a process at a moment at which it holds no lock on the store."""
    while True:
        os.kill(process.pid, signal.SIGSTOP)
        with closing(sqlite3.connect(store, timeout=0.2)) as connection:
            try:
                connection.execute("BEGIN IMMEDIATE")
                connection.rollback()
                return
            except sqlite3.OperationalError:
                os.kill(process.pid, signal.SIGCONT)
                time.sleep(0.05)
