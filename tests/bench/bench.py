"""What planloom costs, measured on this machine: ``make bench``.

Seconds of one machine say little about another, so that the figures that matter are ratios to something measured or
known in the same sitting: start-up over bare Python, a run over what its latency alone would take.
"""

from __future__ import annotations

import json
import os
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import attrs

from planloom.configuration import load_settings
from planloom.jobs import compile_plan, default_price
from planloom.kits import Kit
from planloom.plugins import load_plugins
from planloom.rehearsal import rehearse
from planloom.words import build_vocabulary
from planloom_code import pack

HERE = Path(__file__).parent
REPOSITORY = HERE.parents[1]
RESULTS = REPOSITORY / "docs" / "reference" / "benchmarks.json"
PLANLOOM = (sys.executable, "-m", "planloom")
FIXED_PLAN = REPOSITORY / "plugins" / "planloom_audit" / "plans" / "fixed.plan"

SCANS = 1_000
IN_FLIGHT = 32
LATENCY_S = 0.05
REHEARSED_FILES = 849
PACKED_FILES = 100_000
REPEATS = 5
COMPILED = str(Path(tempfile.gettempdir()) / "planloom-bench-compiled")

EACH_PLAN = """\
found = flatten(parallel([lambda p=p: scan([p]) for p in work()]))
result = report(found)
"""


@attrs.frozen(kw_only=True)
class Spent:
    """What something took: seconds of the clock, and of the processors."""

    wall_s: float
    cpu_s: float


def spent_by(*command: str, folder: Path, code: int = 0) -> Spent:
    """Return what a command took.

    :raises RuntimeError: it ended with another exit code.
    """
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(command, cwd=folder, env=as_installed(), capture_output=True, text=True, check=False)
    wall_s, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != code:
        raise RuntimeError(f"{' '.join(command)} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return Spent(wall_s=wall_s, cpu_s=after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def as_installed() -> dict[str, str]:
    """Return an environment in which compiled modules are kept, as they are where planloom is installed."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return kept | {"PYTHONPYCACHEPREFIX": COMPILED}


def median_cpu_s(*command: str, folder: Path) -> float:
    """Return the median processor time of some runs of a command; the first, which may compile, is not counted."""
    runs = [spent_by(*command, folder=folder) for _ in range(REPEATS + 1)]
    return statistics.median(run.cpu_s for run in runs[1:])


def start_up(scratch: Path) -> dict[str, Any]:
    """Return what a command costs before it does anything."""
    bare = median_cpu_s(sys.executable, "-c", "pass", folder=scratch)
    version = median_cpu_s(*PLANLOOM, "--version", folder=scratch)
    check = median_cpu_s(*PLANLOOM, "check", str(FIXED_PLAN), folder=scratch)
    return {
        "bare_python_cpu_s": bare,
        "version_cpu_s": version,
        "check_cpu_s": check,
        "version_over_bare_s": version - bare,
        "check_over_bare_s": check - bare,
    }


def write_tree(root: Path, files: int, functions: int) -> Path:
    """Write a tree of modules and return its root."""
    for number in range(files):
        path = root / f"part{number // 50:02}" / f"module{number:04}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n\n".join(_function(number, index) for index in range(functions)), encoding="utf-8")
    return root


def _function(number: int, index: int) -> str:
    return (
        f"def area_{number}_{index}(width, height):\n"
        '    """Return the area of a rectangle."""\n'
        "    if width < 0:\n"
        '        raise ValueError("width must not be negative")\n'
        f"    return width * height + {index}\n"
    )


@contextmanager
def fake_model() -> Iterator[str]:
    """Serve a model in another process; gives its address."""
    command = (sys.executable, str(HERE / "fake_model.py"), str(LATENCY_S))
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        yield server.stdout.readline().strip()
        server.stdin.close()


def _configuration(url: str) -> str:
    roles = "".join(
        f'[roles.{role}]\nendpoint = "fake"\nmodel = "fake-1"\nprice = {{ call = {price} }}\n'
        for role, price in (("worker", 0.01), ("lead", 0.5), ("judge", 0.01))
    )
    return (
        f'[endpoints.fake]\nclient = "openai"\nurl = "{url}"\njson_mode = "json_schema"\n{roles}'
        f"[limits]\nworkers = {2 * SCANS}\nin_flight = {IN_FLIGHT}\n"
    )


def audits(scratch: Path) -> dict[str, Any]:
    """Return what an audit of a thousand scans costs when all is asked, and when the ledger knows all."""
    tree = write_tree(scratch / "tree", SCANS, functions=8)
    (scratch / "each.plan").write_text(EACH_PLAN, encoding="utf-8")
    small = write_tree(scratch / "small", 1, functions=1)
    options = ("--plan", "each.plan", "--trust-config", "--yes")
    with fake_model() as url:
        (scratch / "planloom.toml").write_text(_configuration(url), encoding="utf-8")
        spent_by(*PLANLOOM, "audit", str(small), *options, folder=scratch)  # compiles what the others import
        first = spent_by(*PLANLOOM, "audit", str(tree), *options, folder=scratch)
        second = spent_by(*PLANLOOM, "audit", str(tree), *options, folder=scratch)
    ideal_s = -(-SCANS // IN_FLIGHT) * LATENCY_S
    second_run_s, first_run_s = (_run_seconds(scratch, position) for position in (0, 1))
    return {
        "scans": SCANS,
        "in_flight": IN_FLIGHT,
        "latency_s": LATENCY_S,
        "ideal_s": ideal_s,
        "first": {**attrs.asdict(first), "run_s": first_run_s, "run_over_ideal": first_run_s / ideal_s},
        "second": {**attrs.asdict(second), "run_s": second_run_s, "wall_over_ideal": second.wall_s / ideal_s},
    }


def _run_seconds(folder: Path, position: int) -> float:
    """Return how long a run took by its own events, without start-up, rehearsal and report; 0 is the newest."""
    listed = _said_by("runs", "--limit", "2", folder=folder)
    shown = json.loads(_said_by("show", listed.splitlines()[1 + position].split()[0], "--json", folder=folder))
    seconds: float = next(event["seconds"] for event in shown["events"] if event["type"] == "run.ended")
    return seconds


def _said_by(*arguments: str, folder: Path) -> str:
    return subprocess.run((*PLANLOOM, *arguments), cwd=folder, capture_output=True, text=True, check=True).stdout


def rehearsal(scratch: Path) -> dict[str, Any]:
    """Return what rehearsing the fixed plan on a large library costs."""
    registry = load_plugins()
    settings = load_settings(registry, folder=scratch)
    kit = registry.get("kit", "audit", Kit)
    program, _ = compile_plan(FIXED_PLAN.read_text(encoding="utf-8"), build_vocabulary(registry, settings, (kit,)))
    works = {"audit": kit.open(str(write_tree(scratch / "library", REHEARSED_FILES, functions=40)), {})}
    began_s = time.process_time()
    told = rehearse(
        program, registry=registry, settings=settings, works=works, prices=default_price, budget=settings.cap
    )
    cpu_s = time.process_time() - began_s
    return {"files": REHEARSED_FILES, "workers": told.agents, "takes": told.takes, "cpu_s": cpu_s}


@attrs.frozen(kw_only=True)
class _File:
    name: str
    lines: int
    tokens: int
    sha256: str


def packing(scratch: Path) -> dict[str, Any]:
    """Return what packing a very large library into shards costs."""
    sizes = [20 + n * 7919 % 9_000 for n in range(PACKED_FILES)]
    files = [_File(name=f"f{n:06}.py", lines=size, tokens=size, sha256=f"{n:064x}") for n, size in enumerate(sizes)]
    began_s = time.process_time()
    shards = pack(files, 100_000)
    return {"files": PACKED_FILES, "shards": len(shards), "cpu_s": time.process_time() - began_s}


PARTS: dict[str, Callable[[Path], dict[str, Any]]] = {
    "start_up": start_up,
    "audits": audits,
    "rehearsal": rehearsal,
    "packing": packing,
}


def _loop_s() -> float:
    """Return how long ten million additions take: a machine shared with others is not always as fast."""
    began_s, total = time.perf_counter(), 0
    for number in range(10_000_000):
        total += number
    return time.perf_counter() - began_s


def machine() -> dict[str, Any]:
    """Return what the figures depend on."""
    load = os.getloadavg()[0]
    return {
        "system": platform.platform(),
        "processors": os.cpu_count(),
        "python": platform.python_version(),
        "load_before": load,
        "loop_s": min(_loop_s() for _ in range(3)),
        "measured_at": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def _rounded(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _rounded(item) for key, item in value.items()}
    return round(value, 3) if isinstance(value, float) else value


def main() -> None:
    """Measure everything, print it and keep it with the documentation."""
    results: dict[str, Any] = {"machine": machine()}
    for name, measured in PARTS.items():
        with tempfile.TemporaryDirectory(prefix="planloom-bench-") as scratch:
            results[name] = measured(Path(scratch))
        print(json.dumps({name: _rounded(results[name])}, indent=2), flush=True)
    RESULTS.write_text(json.dumps(_rounded(results), indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
