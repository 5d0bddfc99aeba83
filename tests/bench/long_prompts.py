"""How long the event loop of a run is held up: ``python -m tests.bench.bench_runtime --only long_prompts``.

A whole run of the audit kit asks 588 questions of 250 KB, 32 at once: fourteen shards, each through three lenses in
fourteen rounds, so that all but fourteen of them share their text with others. Each answer reports something in every
one of its shard's twenty files.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.bench.evidence._section import Row, Section, table

from planloom.testing.loopback import Received, Served, completion, serving

SHARDS, FILES, ROUNDS, LENSES = 14, 20, 14, 3
SHARD_BYTES = 250_000
LATENCY_S = 0.05
WANTED_MS = 100
_SHOWN_FILE = re.compile(rb"### ([\w/.-]+\.py)")
SCRIPT = Path(__file__).with_name("evidence") / "long_prompts_run.py"


def write_shards(root: Path) -> Path:
    """Write a folder of modules for each shard, together so long once their lines are numbered."""
    for number in range(SHARDS * FILES):
        module = root / f"part{number // FILES:02}" / f"module{number % FILES:02}.py"
        module.parent.mkdir(parents=True, exist_ok=True)
        module.write_text(_module(number), encoding="utf-8")
    return root


def _module(number: int) -> str:
    functions, size = list[str](), 0
    while size < SHARD_BYTES // FILES:
        index = len(functions)
        functions.append(
            f"def area_{number}_{index}(width, height):\n"
            f'    """Return the area of rectangle {number * 7919 % 10_007}."""\n'
            "    if width < 0:\n"
            '        raise ValueError("width must not be negative")\n'
            f"    return width * height + {index}\n"
        )
        size += len(functions[-1]) + 8 * 7
    return "\n\n".join(functions)


def answer(request: Received) -> Served:
    """Report something in every file that is shown."""
    found = [
        {"file": path.decode(), "line": 5, "claim": "the guard is one off", "failing_call": "f(0)", "confidence": 0.5}
        for path in _SHOWN_FILE.findall(request.body)
    ]
    return completion(json.dumps({"findings": found})).after(LATENCY_S)


def measure(small: bool = False) -> dict[str, Any]:
    """Return how late the loop was at worst, and what its longest steps were."""
    rounds = 1 if small else ROUNDS
    with tempfile.TemporaryDirectory(prefix="planloom-long-") as scratch, serving(answer) as server:
        folder = Path(scratch)
        tree = write_shards(folder / "tree")
        given = (str(folder / "store.db"), server.url, str(tree), str(SHARDS), str(rounds))
        found: dict[str, Any] = json.loads(subprocess.check_output([sys.executable, str(SCRIPT), *given], text=True))
        store_mb = sum(path.stat().st_size for path in folder.glob("store.db*")) / 1e6
    prompts = SHARDS * LENSES * rounds
    if found["answers"] != prompts:
        raise RuntimeError(f"of {prompts} questions {found['answers']} were answered")
    return {"prompts": prompts, "store_mb": store_mb, **found}


def rows(found: dict[str, Any]) -> Iterator[Row]:
    """Yield the figures as rows."""
    yield "longest wait of the event loop, ms", f"{found['longest_ms']:.0f}", str(WANTED_MS)
    yield "processor time of its thread in the longest turn, ms", f"{found['longest_cpu_ms']:.0f}", ""
    yield "waits of more than 20 ms", str(found["late"]), ""
    for took_ms, name in found["longest_steps_ms"]:
        yield f"longest steps of the loop, processor ms: `{name}`", f"{took_ms:.1f}", ""
    yield f"seconds of the run, {found['prompts']} prompts", f"{found['seconds']:.1f}", ""
    yield "store and its log, MB", f"{found['store_mb']:.1f}", ""


SECTION = Section(
    name="long_prompts",
    title="The event loop under long prompts",
    about=(
        "A run of the audit kit asks 588 questions of 250 KB, 32 at once, of which fourteen texts are all; "
        "answers take 50 ms and report something in each of a shard's twenty files.",
        "Something is due on the loop every millisecond; how late it comes at worst is the longest wait; "
        "imports are not counted.",
    ),
    measure=measure,
    lines=table(rows),
)
