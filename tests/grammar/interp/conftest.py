"""A small host for plans, and one call that checks, compiles and runs a plan under it."""

from __future__ import annotations

import asyncio
import contextvars
import inspect
from collections.abc import Callable
from typing import Any, Protocol

import pytest

import planlang
from planlang import Call, Limits, Outcome, PlanAborted, PlanFailed, Value, Vocabulary, Word


class Stop(PlanAborted):
    """What the test host's word ``abort`` raises."""


_MARK: contextvars.ContextVar[Any] = contextvars.ContextVar("mark", default=None)


class Host:
    """Remembers what its words were asked, and how many of them ran at once."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, Any]] = []
        self.failures: list[tuple[str, PlanFailed]] = []
        self.running = 0
        self.most_running = 0
        self.tidied = 0

    async def scan(self, place: Call, x: Any = None, *, pause: float = 0) -> Any:
        self.asked.append((place.path, x))
        self.running += 1
        self.most_running = max(self.most_running, self.running)
        try:
            await asyncio.sleep(pause)
        finally:
            self.running -= 1
        return x

    def shards(self, _place: Call, n: int) -> list[int]:
        return list(range(min(n, 100_000)))

    async def parallel(self, place: Call, thunks: Any) -> list[Any]:
        if not isinstance(thunks, list | tuple):
            raise TypeError(f"parallel() takes a list of functions, got {type(thunks).__name__}")
        return await place.run_tasks(thunks, lambda path, error: self.failures.append((path, error)))

    async def pipeline(self, place: Call, items: list[Any], *stages: Any) -> list[Any]:
        def thunk(item: Any) -> Any:
            async def run(inner: Call) -> Any:
                value = item
                for stage in stages:
                    value = await inner.apply(stage, value)
                return value

            return run

        thunks = [thunk(item) for item in items]
        return await place.run_tasks(thunks, lambda path, error: self.failures.append((path, error)))

    async def abort(self, _place: Call, after: float = 0) -> None:
        await asyncio.sleep(after)
        raise Stop("the host ended the program")

    def fail(self, _place: Call, kind: str) -> None:
        errors: dict[str, BaseException] = {
            "StopIteration": StopIteration("gone"),
            "KeyError": KeyError("k"),
            "MemoryError": MemoryError(),
            "CancelledError": asyncio.CancelledError(),
        }
        raise errors[kind]

    def same(self, _place: Call, value: Any) -> Any:
        self.asked.append(("same", value))
        return value

    def where(self, place: Call) -> list[int]:
        return [place.line, place.column]

    def remember(self, place: Call, value: Any = None) -> Any:
        before = place.scope.get("note")
        if value is not None:
            place.scope["note"] = value
        return before

    def mark(self, _place: Call, value: Any) -> Any:
        before = _MARK.get()
        _MARK.set(value)
        return before

    async def touch(self, _place: Call, x: Any) -> Any:
        task = asyncio.current_task()
        assert task is not None
        task.cancel()
        return x

    def touch_later(self, _place: Call, x: Any) -> Any:
        task = asyncio.current_task()
        assert task is not None
        asyncio.get_running_loop().call_soon(task.cancel)
        return x

    async def tidy(self, _place: Call) -> None:
        try:
            await asyncio.sleep(30)
        finally:
            await asyncio.sleep(0.001)
            self.tidied += 1

    def late(self, _place: Call) -> Any:
        async def nothing() -> None: ...

        return nothing()

    def words(self) -> Vocabulary:
        """Return the vocabulary whose words are this host's methods."""
        waiting = ("scan", "parallel", "pipeline", "abort", "touch", "tidy")
        tasks = {"parallel", "pipeline"}
        entries: list[Word | Value] = []
        for name in (*waiting, "shards", "fail", "same", "where", "remember", "mark", "late", "touch_later"):
            method = getattr(self, name)
            given = inspect.signature(method)
            shape = given.replace(parameters=list(given.parameters.values())[1:])
            entries.append(
                Word(
                    name,
                    method,
                    signature=shape,
                    doc=name,
                    suspends=name in waiting,
                    runs_tasks=name in tasks,
                    aliases={"delay": "pause"} if name == "scan" else {},
                )
            )
        entries.append(Value("LENSES", doc="names", make=lambda _host: ["a", "b"]))
        entries.append(Value("args", doc="arguments", make=lambda _host: None))
        return Vocabulary(entries)


class RunPlan(Protocol):
    """Runs a plan's source under a host and returns its outcome."""

    def __call__(self, source: str, limits: Limits | None = None, args: dict[str, Any] | None = None) -> Outcome: ...


@pytest.fixture
def host() -> Host:
    """Return a fresh host."""
    return Host()


@pytest.fixture
def run(host: Host) -> RunPlan:
    """Return a function that runs a plan under ``host``."""

    def run_plan(source: str, limits: Limits | None = None, args: dict[str, Any] | None = None) -> Outcome:
        program = planlang.compile(source, host.words())
        return asyncio.run(program.run(args, limits, host))

    return run_plan


@pytest.fixture
def failure(run: RunPlan) -> Callable[..., PlanFailed]:
    """Return a function that runs a plan which must fail, and returns the failure."""

    def fail(source: str, **options: Any) -> PlanFailed:
        with pytest.raises(PlanFailed) as caught:
            run(source, **options)
        return caught.value

    return fail
