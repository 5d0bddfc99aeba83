"""A working folder for tests of the command line: a plan, a configuration, and ``planloom`` as a real process in it."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from planloom.plugins import load_plugins
from planloom.settings import Settings
from planloom.stores import RunRow, Store, StorePlugin

from .loopback import LoopbackServer

__all__ = ["CONFIG", "Folder", "look_into"]

T = TypeVar("T")

_PATIENCE_S = 60.0
_POLL_S = 0.01

CONFIG = """
[endpoints.main]
client = "openai"
url = "{url}"

[roles.worker]
endpoint = "main"
model = "m-1"
price = {{ call = 0.2 }}

[limits]
in_flight = 8

[store]
path = "store.db"
"""


def look_into(path: Path, deed: Callable[[Store], T]) -> T:
    """Look into the store of a file."""

    async def look() -> T:
        store = load_plugins().get("store", Settings().store_kind, StorePlugin).open(path)
        try:
            return deed(store)
        finally:
            await store.close()

    return asyncio.run(look())


class Folder:
    """A working folder whose workers are answered by a server, and the commands that are run in it."""

    def __init__(self, path: Path, server: LoopbackServer, plan: str) -> None:
        self.path, self.server = path, server
        self.processes: list[subprocess.Popen[str]] = []
        (path / "job.plan").write_text(plan)
        self.configure()

    def configure(self, **changes: str) -> None:
        """Write the configuration; ``changes`` are texts to put in the place of others: ``old=new``."""
        text = CONFIG.format(url=self.server.url)
        for old, new in changes.items():
            assert old in text
            text = text.replace(old, new)
        (self.path / "planloom.toml").write_text(text)

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        """Start a command in a session of its own."""
        process = subprocess.Popen(  # noqa: S603 - our own interpreter
            [sys.executable, "-m", "planloom", *arguments],
            cwd=self.path,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        self.processes.append(process)
        return process

    def run(self, *arguments: str) -> tuple[int, str, str]:
        """Run a command to its end; its exit code, output and remarks."""
        process = self.start(*arguments)
        output, remarks = process.communicate(timeout=_PATIENCE_S)
        return process.returncode, output, remarks

    def end(self) -> None:
        """End what a test left running, and close what it left open."""
        for process in self.processes:
            with process:
                process.kill()

    def wait_for(self, process: subprocess.Popen[str], requests: int) -> None:
        """Wait until the server was asked so often."""

        def asked() -> bool:
            assert process.poll() is None, process.communicate()
            return self.server.total >= requests

        self.wait_until(asked)

    @staticmethod
    def wait_until(true: Callable[[], bool]) -> None:
        """Wait until something is so; it must be within a minute."""
        until = time.monotonic() + _PATIENCE_S
        while not true():
            assert time.monotonic() < until, "it did not come about"
            time.sleep(_POLL_S)

    def store(self, deed: Callable[[Store], T]) -> T:
        """Look into the store."""
        return look_into(self.path / "store.db", deed)

    def newest(self) -> RunRow:
        """Return the newest run."""
        return self.store(lambda store: store.runs(1)[0])

    def asked_more_than(self, before: dict[str, int]) -> dict[str, int]:
        """Return how often the server was asked each question since the counts ``before`` were taken."""
        now = {text: number - before.get(text, 0) for text, number in self.server.asked.items()}
        return {text: number for text, number in now.items() if number}
