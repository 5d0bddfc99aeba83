"""Seconds from the command line to the first question: ``python -m tests.bench.bench_runtime --only first_call``.

Each command is started anew ten times, in a fresh process with an empty store; the files are in the disk cache. The
clock runs from just before the process is made to the arrival of the first request at a server on this machine. Then
the same once more with a tracer inside, which splits the time up and makes it somewhat longer.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attrs
from tests.bench.bench import as_installed, write_tree
from tests.bench.evidence._section import Row, Section, table

from planloom.testing.loopback import Received, Served, completion, serving

TRACED = Path(__file__).with_name("evidence") / "traced_start.py"
WANTED_S = 0.5
REPEATS, TRACED_REPEATS = 10, 3
PATIENCE_S = 60.0
FILES = 100
ONE_PLAN = 'result = agent("is it so?")\n'
COMMANDS: dict[str, tuple[str, ...]] = {
    "run": ("run", "one.plan", "--yes"),
    "audit, a plan given": ("audit", "tree", "--plan", "fixed", "--trust-config", "--yes"),
    "audit, the lead asked first": ("audit", "tree", "--trust-config", "--yes"),
}


class FirstRequest:
    """Hears when the first request arrives."""

    def __init__(self) -> None:
        self.came = threading.Event()
        self.at_s = 0.0

    def answer(self, _request: Received) -> Served:
        """Note the time, and never answer: the process is ended."""
        if not self.came.is_set():
            self.at_s = time.monotonic()
            self.came.set()
        return completion("late").hanging()


def prepared(folder: Path) -> None:
    """Write what the commands need: a plan, and a tree of a hundred modules."""
    (folder / "one.plan").write_text(ONE_PLAN, encoding="utf-8")
    write_tree(folder / "tree", FILES, functions=8)


def configuration(url: str) -> str:
    """Return a project's configuration with every role at one address."""
    roles = "".join(
        f'[roles.{role}]\nendpoint = "here"\nmodel = "m-1"\nprice = {{ call = 0.01 }}\n'
        for role in ("lead", "worker", "judge", "fast")
    )
    return f'[endpoints.here]\nclient = "openai"\nurl = "{url}"\n{roles}'


@attrs.frozen(kw_only=True)
class Taken:
    """How long it took until the first request arrived: by the clock, and in processor time of the process until it
    was ended. ``began_s`` is the moment at which the process was made."""

    wall_s: float
    cpu_s: float
    began_s: float


def to_first_call(folder: Path, command: list[str]) -> Taken:
    """Return how long a command takes to its first request.

    :raises RuntimeError: none arrived.
    """
    shutil.rmtree(folder / ".planloom", ignore_errors=True)
    first = FirstRequest()
    with serving(first.answer) as server, (folder / "said.txt").open("wb") as said:
        (folder / "planloom.toml").write_text(configuration(server.url), encoding="utf-8")
        began_s = time.monotonic()
        process = subprocess.Popen(
            command,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=said,
            env=as_installed(),
        )
        came = first.came.wait(PATIENCE_S)
        os.kill(process.pid, signal.SIGKILL)  # and not `process.kill`, which takes what is asked for next
        _, process.returncode, used = os.wait4(process.pid, 0)
    if not came:
        raise RuntimeError(f"{' '.join(command)} asked nothing: {(folder / 'said.txt').read_text()[-1_500:]}")
    return Taken(wall_s=first.at_s - began_s, cpu_s=used.ru_utime + used.ru_stime, began_s=began_s)


def split_of(folder: Path, arguments: tuple[str, ...]) -> dict[str, tuple[float, float]]:
    """Return the seconds of the clock and of the processor until the first request by what they went into, from a
    tracer inside the process."""
    split = folder / "split.json"
    taken = to_first_call(folder, [sys.executable, str(TRACED), str(split), *arguments])
    told = json.loads(split.read_text(encoding="utf-8"))
    parts = {name: (told["wall_s"][name], told["cpu_s"][name]) for name in told["wall_s"]}
    sending_s = taken.wall_s - (told["first_s"] - taken.began_s)
    return {
        "Python itself": (told["began_s"] - taken.began_s, told["began_cpu_s"]),
        **parts,
        "connecting, sending": (sending_s, 0.0),
    }


def measure(small: bool = False) -> dict[str, Any]:
    """Return the medians, and the splits."""
    found: dict[str, Any] = {}
    with tempfile.TemporaryDirectory(prefix="planloom-first-") as scratch:
        folder = Path(scratch)
        prepared(folder)
        script = str(Path(sys.executable).with_name("planloom"))
        for name, arguments in COMMANDS.items():
            command = [script, *arguments]
            to_first_call(folder, command)  # compiles what the others import
            taken = [to_first_call(folder, command) for _ in range(2 if small else REPEATS)]
            splits = [split_of(folder, arguments) for _ in range(1 if small else TRACED_REPEATS)]
            found[name] = {
                "median_s": statistics.median(one.wall_s for one in taken),
                "fastest_s": min(one.wall_s for one in taken),
                "cpu_s": statistics.median(one.cpu_s for one in taken),
                "split_s": {part: _medians([one[part] for one in splits]) for part in splits[0]},
            }
    return found


def _medians(pairs: list[tuple[float, float]]) -> list[float]:
    return [statistics.median(values) for values in zip(*pairs, strict=True)]


def rows(found: dict[str, Any]) -> Iterator[Row]:
    """Yield the figures as rows."""
    for name, one in found.items():
        taken = f"{one['median_s']:.2f} ({one['fastest_s']:.2f}); {one['cpu_s']:.2f}"
        yield f"**{name}**: median (fastest); processor", taken, f"{WANTED_S}"
        for part, (wall_s, cpu_s) in sorted(one["split_s"].items(), key=lambda item: -item[1][0]):
            yield f"{name}: {part}", f"{wall_s:.3f}; {cpu_s:.3f}", ""


SECTION = Section(
    name="first_call",
    title="From the command line to the first call",
    about=(
        "Seconds from making the process to the arrival of the first request at a server on this machine, median of "
        "ten, with an empty store; `audit` reads a hundred modules first.",
        "The parts are from runs of their own with a tracer inside, each without what is inside it.",
    ),
    measure=measure,
    lines=table(rows),
)
