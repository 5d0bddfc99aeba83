"""In a thread with a stack of 512 KB, the deepest calls end in a limit, whatever stands between them."""

from __future__ import annotations

import subprocess
import sys

import pytest

RUNNER = """
import asyncio, inspect, sys, threading
import planlang
from planlang import PlanLimitError, Vocabulary, Word

async def wait(place, x=None):
    await asyncio.sleep(0)
    return x

async def parallel(place, thunks):
    return await place.run_tasks(thunks, lambda path, error: None)

async def call(place, function, n):
    return await place.apply(function, n)

def shape(f):
    given = inspect.signature(f)
    return given.replace(parameters=list(given.parameters.values())[1:])

words = Vocabulary([
    Word("wait", wait, signature=shape(wait), doc="", suspends=True),
    Word("call", call, signature=shape(call), doc="", suspends=True),
    Word("parallel", parallel, signature=shape(parallel), doc="", suspends=True, runs_tasks=True),
])

def run():
    program = planlang.compile(sys.argv[1], words)
    try:
        asyncio.run(program.run())
        print("ended")
    except PlanLimitError as error:
        print(error.limit)

threading.stack_size(512 * 1024)
thread = threading.Thread(target=run)
thread.start()
thread.join()
"""
# `again(n - 1)` stands where the function calls itself through data; the deepest of them all end in a limit.
FRAMES = {
    "call": "again(n - 1)",
    "call with keywords": "fs[0](n=n - 1)",
    "call with spread": "fs[0](*[n - 1])",
    "key of sorted": "sorted([n], key=lambda v: again(v - 1))",
    "key of max": "max([n, n], key=lambda v: again(v - 1))",
    "map": "list(map(again, [n - 1]))",
    "filter": "list(filter(again, [n - 1]))",
    "map of map": "list(map(lambda v: v, map(again, [n - 1])))",
    "comprehension": "[again(v - 1) for v in [n]]",
    "generator": "any(again(v - 1) for v in [n])",
    "generator of generator": "sum(v for v in (again(w - 1) for w in [n]))",
    "dict comprehension": "{v: again(v - 1) for v in [n]}",
    "f-string": 'f"{again(n - 1)}"',
    "operators": "1 + (2 * (3 - (4 + again(n - 1))))",
    "comparison": "0 < again(n - 1) < 5",
    "conditional": "1 if again(n - 1) else 2",
    "argument of a method": "[].append(again(n - 1))",
    "default": "(lambda v=again(n - 1): v)()",
    "waiting": "wait(again(n - 1))",
    "waiting in a comprehension": "[wait(again(v - 1)) for v in [n]]",
    "waiting generator": "any(wait(again(v - 1)) for v in [n])",
    "waiting in an f-string": 'f"{wait(again(n - 1))}"',
    "tasks": "parallel([lambda: again(n - 1)])",
    "called back by a word": "call(fs[0], n - 1)",
    "wide nest": "(" * 20 + "again(n - 1)" + ",)" * 20,
}


@pytest.mark.parametrize("kind", FRAMES)
def test_the_deepest_calls_end_in_a_limit_on_a_small_stack(kind: str) -> None:
    again = (
        FRAMES[kind]
        .replace("again(", "fs[0](")
        .replace("map(again", "map(fs[0]")
        .replace("filter(again", "filter(fs[0]")
    )
    source = (
        f"fs = [1]\ndef f(n):\n    if n < 0:\n        return 1\n    return {again}\n"
        "fs[0] = f\nfor n in range(0, 700, 50):\n    x = fs[0](n)\nresult = 1\n"
    )
    ended = subprocess.run(
        [sys.executable, "-c", RUNNER, source], capture_output=True, text=True, timeout=60, check=False
    )
    assert ended.returncode == 0, ended.stderr[-2_000:]
    assert ended.stdout.strip() in ("call_depth", "host_frames", "ended"), ended.stderr[-2_000:]
