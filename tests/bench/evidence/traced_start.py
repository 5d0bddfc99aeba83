"""The command line with its time split up: ``traced_start.py SPLIT ARGUMENTS...``.

Runs ``planloom ARGUMENTS`` and writes to SPLIT, when the first question is about to be sent, how many seconds went into
imports, into reading what is audited, into the check and the rehearsal, and into the store. Each span counts without
those inside it.
"""

from __future__ import annotations

import sys
import threading
import time

BEGAN_S, BEGAN_CPU_S = time.monotonic(), time.process_time()
"""Before anything else is imported: what came before is Python's own start."""

import functools  # noqa: E402
import importlib.abc  # noqa: E402
import importlib.machinery  # noqa: E402
import inspect  # noqa: E402
import json  # noqa: E402
from collections import defaultdict  # noqa: E402
from collections.abc import Callable, Iterator, Sequence  # noqa: E402
from contextlib import contextmanager  # noqa: E402
from types import ModuleType  # noqa: E402
from typing import Any  # noqa: E402

IMPORTS = "imports"
COMMAND = "all else"
WATCHED = {
    "planloom.plugins": {"load_plugins": "plugins"},
    "planloom.jobs": {"compile_plan": "checking", "price_plan": "checking"},
    "planloom.configuration": {"load_settings": "settings"},
    "planloom.trust": {"require_trust": "settings"},
    "planloom_audit.work": {"open_work": "reading"},
    "planloom_sqlite._store": {"open_store": "store"},
}
"""What is timed, by module and function."""


def now() -> tuple[float, float]:
    """Return seconds of the clock, and of the processor: the second says more where other work keeps it busy."""
    return time.monotonic(), time.process_time()


class Spans:
    """Seconds of both clocks by name, each without the spans inside it."""

    def __init__(self) -> None:
        self._at_work = threading.main_thread()
        self.wall_s: defaultdict[str, float] = defaultdict(float)
        self.cpu_s: defaultdict[str, float] = defaultdict(float)
        self._open: list[str] = []
        self._since = now()

    @contextmanager
    def of(self, name: str) -> Iterator[None]:
        """Time what is done inside, by the thread that is at work."""
        if threading.current_thread() is not self._at_work:
            yield
            return
        self.count()
        self._open.append(name)
        try:
            yield
        finally:
            self.count()
            self._open.pop()

    @contextmanager
    def taken_over(self) -> Iterator[None]:
        """Have this thread's spans timed: the main one only waits for what is done inside."""
        before, self._at_work = self._at_work, threading.current_thread()
        try:
            yield
        finally:
            self._at_work = before

    def count(self) -> None:
        """Count what went by since the last time to the innermost span."""
        before, self._since = self._since, now()
        if self._open:
            self.wall_s[self._open[-1]] += self._since[0] - before[0]
            self.cpu_s[self._open[-1]] += self._since[1] - before[1]


SPANS = Spans()


class Timing(importlib.abc.Loader):
    """A loader that times another, and has what is watched timed as well."""

    def __init__(self, loader: Any) -> None:
        self._loader = loader

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType | None:
        made: ModuleType | None = self._loader.create_module(spec)
        return made

    def exec_module(self, module: ModuleType) -> None:
        with SPANS.of(IMPORTS):
            self._loader.exec_module(module)
        for name, span in WATCHED.get(module.__name__, {}).items():
            setattr(module, name, _timed(getattr(module, name), span))


class Finder(importlib.abc.MetaPathFinder):
    """Finds as Python does, on the clock."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        with SPANS.of(IMPORTS):
            for finder in sys.meta_path:
                found = None if finder is self else finder.find_spec(fullname, path, target)
                if found is not None:
                    break
            else:
                return None
        if found.loader is not None and hasattr(found.loader, "exec_module"):
            found.loader = Timing(found.loader)
        return found


def _timed(function: Callable[..., Any], span: str) -> Callable[..., Any]:
    if inspect.iscoroutinefunction(function):
        return function

    @functools.wraps(function)
    def timed(*args: Any, **kwargs: Any) -> Any:
        with SPANS.taken_over(), SPANS.of(span):
            return function(*args, **kwargs)

    return timed


def main(split: str, arguments: list[str]) -> None:
    """Run the command; write the split at the first question."""
    sys.meta_path.insert(0, Finder())
    with SPANS.of(COMMAND):
        from planloom.cli import main as command

        _tell_at_first_question(split)
        sys.argv = ["planloom", *arguments]
        command()


def _tell_at_first_question(split: str) -> None:
    """Have the split written when a connection is made: the first question is what that is for."""
    told: list[str] = []

    def hear(event: str, arguments: tuple[Any, ...]) -> None:
        if event == "socket.connect" and isinstance(arguments[1], tuple) and not told:
            told.append(event)
            SPANS.count()
            ends = {"began_s": BEGAN_S, "began_cpu_s": BEGAN_CPU_S, "first_s": time.monotonic()}
            with open(split, "w", encoding="utf-8") as file:
                json.dump({**ends, "wall_s": SPANS.wall_s, "cpu_s": SPANS.cpu_s}, file)

    sys.addaudithook(hear)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
