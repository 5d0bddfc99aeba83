"""A host with a few words of every kind, and the promises that every run under it must keep."""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import Callable
from typing import Any

import pytest

import planlang
from planlang import Call, Limits, Opaque, PlanError, Value, Vocabulary, Word

__all__ = ["LIMITS", "BrokenPromiseError", "check_promises", "vocabulary"]

LIMITS = Limits(steps=100_000, memory_bytes=32 << 20, compute_s=0.5, tasks_in_flight=20, host_calls=2_000)
EXTRA_S = 0.2
EXTRA_SHARE = 0.1


class BrokenPromiseError(Exception):
    """A plan did what no plan may do."""


class Handle(Opaque):
    """Something a plan can only pass on."""


async def scan(_place: Call, x: Any = None, *, sample: int = 0) -> Any:
    await asyncio.sleep(0)
    return x


def shards(_place: Call, n: Any) -> Any:
    return [list(range(n % 7))] * 2 if type(n) is int else [{"n": n, "text": "é", "t": (1, 2.5, None)}]


async def parallel(place: Call, thunks: Any) -> Any:
    if not isinstance(thunks, list | tuple):
        raise TypeError("parallel() takes a list of functions")
    return await place.run_tasks(thunks, lambda _path, _error: None)


async def pipeline(place: Call, items: Any, *stages: Any) -> Any:
    def thunk(item: Any) -> Any:
        async def run(inner: Call) -> Any:
            value = item
            for stage in stages:
                value = await inner.apply(stage, value)
            return value

        return run

    return await place.run_tasks([thunk(item) for item in items], lambda _path, _error: None)


def same(_place: Call, value: Any = None, **more: Any) -> Any:
    return [value, more] if more else value


def fail(_place: Call, kind: str) -> None:
    raise {"StopIteration": StopIteration, "RecursionError": RecursionError, "MemoryError": MemoryError}.get(
        kind, KeyError
    )(kind)


def _word(call: Callable[..., Any], **traits: bool) -> Word:
    given = inspect.signature(call)
    return Word(
        call.__name__,
        call,
        signature=given.replace(parameters=list(given.parameters.values())[1:]),
        doc="",
        suspends=traits.get("suspends", False),
        runs_tasks=traits.get("runs_tasks", False),
    )


def vocabulary() -> Vocabulary:
    """Return the words of this host."""
    return Vocabulary(
        [
            _word(scan, suspends=True),
            _word(shards),
            _word(parallel, suspends=True, runs_tasks=True),
            _word(pipeline, suspends=True, runs_tasks=True),
            _word(same),
            _word(fail),
            Value("LENSES", doc="", make=lambda _host: ["logic", "state"]),
            Value("HANDLE", doc="", make=lambda _host: Handle()),
            Value("args", doc="", make=lambda _host: {"n": 3, "names": ["a", "b"]}),
        ]
    )


def check_promises(source: str, words: Vocabulary) -> PlanError | None:
    """Check, compile and run a plan; return how it failed, if it did.

    :raises BrokenPromiseError: something else than a plan error left the package, or the run went past its limits.
    """
    problems = planlang.check(source, words)
    for problem in problems:
        problem.render(source)
    if any(problem.severity == "problem" for problem in problems):
        return None
    program = planlang.compile(source, words)
    started_s = time.thread_time()
    try:
        asyncio.run(program.run(None, LIMITS))
    except PlanError as error:
        return error
    except Exception as error:
        raise BrokenPromiseError(f"{type(error).__name__} left the interpreter") from error
    finally:
        _within_time(time.thread_time() - started_s)
    return None


def _within_time(took_s: float) -> None:
    # A plan under this host never waits for long, so its own time is bounded by its steps: 20 µs is the slowest.
    allowed_s = (LIMITS.steps * 20e-6) * (1 + EXTRA_SHARE) + EXTRA_S
    if took_s > allowed_s:
        raise BrokenPromiseError(f"the run took {took_s:.2f} s of at most {allowed_s:.2f}")


@pytest.fixture(scope="session")
def hold_to_promises() -> Callable[[str], PlanError | None]:
    """Return a function that holds one source text against all promises."""
    words = vocabulary()
    return lambda source: check_promises(source, words)
