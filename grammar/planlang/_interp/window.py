"""Tasks of a plan: started by place, through one window for the whole program.

At most ``tasks_in_flight`` tasks are open at once; the rest wait as function values, which is what makes a hundred
thousand of them cheap. A task that waits for its own children gives its seat to them, so nesting cannot deadlock,
and the deepest group is served first, so a plan is worked off branch by branch and not level by level.

A thunk that fails gives ``None``; its siblings go on. When the host ends the program or a limit is hit, nothing new
starts, what runs is left to end, and the first error is raised where the tasks were started.
"""

from __future__ import annotations

import asyncio
import contextvars
from collections import deque
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

from planlang._errors import PlanAborted, PlanError, PlanFailed, PlanLimitError

from .border import to_host
from .invoke import call_builtin
from .meter import Meter
from .tasks import Task, child_task
from .values import Builtin, Frame, GuestFunction, WordValue, type_name

if TYPE_CHECKING:
    from .place import Place

__all__ = ["GROUP_STEPS", "TASK_BYTES", "TASK_STEPS", "Window"]

Failure = Callable[[str, PlanFailed], None]

# Measured beside a loop of plain steps: a task takes as long as 34 of them, a call that runs tasks as 100 more; that
# one is charged twice over, because trees of small groups grow in ways that wide ones do not.
TASK_STEPS: Final = 30
GROUP_STEPS: Final = 200
TASK_BYTES: Final = 1_000
_OPEN_A_SEAT: Final = 4  # tasks that may be open, parents that wait included, for each seat


class Group:
    """The thunks of one call that runs tasks; changed by the window alone."""

    __slots__ = (
        "context",
        "depth",
        "done",
        "first",
        "left",
        "on_failure",
        "parent",
        "path",
        "place",
        "results",
        "running",
        "started",
        "thunks",
    )

    def __init__(
        self,
        place: Place,
        thunks: Sequence[Any],
        first: int,
        on_failure: Failure,
        loop: asyncio.AbstractEventLoop,
    ) -> None:
        self.place, self.thunks, self.first, self.on_failure = place, thunks, first, on_failure
        self.path, self.parent, self.depth = place.path, place.task, place.frame[1]
        self.results: list[Any] = [None] * len(thunks)
        self.started = 0
        self.left = len(thunks)
        self.running: dict[int, asyncio.Task[None]] = {}
        self.done: asyncio.Future[None] = loop.create_future()
        self.context = contextvars.copy_context()

    def drop_rest(self) -> None:
        """Start none of the thunks that wait."""
        self.left -= len(self.thunks) - self.started
        self.started = len(self.thunks)
        self.finish()

    def finish(self) -> None:
        """Wake the parent when all that started have ended."""
        if self.left == 0 and not self.done.done():
            self.done.set_result(None)


class Window:
    """The seats of one program and the groups that wait for them."""

    def __init__(self, meter: Meter, fail: Callable[[int, BaseException], PlanError]) -> None:
        self._meter, self._fail = meter, fail
        self._loop = asyncio.get_running_loop()
        self._free = self._seats = meter.limits.tasks_in_flight
        self._most_open = _OPEN_A_SEAT * self._seats
        self._waiting: dict[int, deque[Group]] = {}
        self._deepest: Group | None = None  # the one to start from, until another is added or it has no more
        self._open: set[Group] = set()
        self._open_tasks = 0
        self.started = 0

    async def run(self, place: Place, thunks: Sequence[Any], first: int, on_failure: Failure) -> list[Any]:
        """Run every thunk as a task and return their values, as the host's, in order."""
        if self._meter.stopped is not None:
            raise self._meter.stopped
        if not thunks:
            return []
        # All of them before the first: a group that would run out on the way has not begun, and spent nothing.
        self._meter.charge(GROUP_STEPS + TASK_STEPS * len(thunks), TASK_BYTES * (1 + len(thunks)))
        group = Group(place, thunks, first, on_failure, self._loop)
        self._open.add(group)
        self._give_seat(place.task)
        self._waiting.setdefault(place.task.level, deque()).append(group)
        self._deepest = None
        self._pump()
        try:
            await group.done
        except asyncio.CancelledError:
            await self._abandon(group)
            raise
        finally:
            self._open.discard(group)
            self._take_seat(place.task)
        if self._meter.stopped is not None:
            raise self._meter.stopped
        return group.results

    async def close(self) -> None:
        """Cancel what still runs and wait for it; nothing is left behind when a run ends."""
        for group in tuple(self._open):
            await self._abandon(group)

    def stop(self, error: PlanError) -> None:
        """End the program with this error, unless it is ending already."""
        self._meter.stop(error)
        for queue in self._waiting.values():
            while queue:
                queue.popleft().drop_rest()

    def _give_seat(self, task: Task) -> None:
        task.groups += 1
        if task.seated and task.groups == 1:
            self._free += 1

    def _take_seat(self, task: Task) -> None:
        task.groups -= 1
        if task.seated and task.groups == 0:
            self._free -= 1

    async def _abandon(self, group: Group) -> None:
        group.drop_rest()
        tasks = tuple(group.running.values())
        for running in tasks:
            running.cancel()
        if tasks:
            await asyncio.wait(tasks)
        for never_began in tuple(group.running):
            self._ended(group, never_began)

    def _pump(self) -> None:
        """Start what there are seats for; with very many parents waiting, only once nothing else runs.

        So a tree of tasks that doubles with each level is worked off depth first, in bounded memory.
        """
        while self._free > 0 and (self._open_tasks < self._most_open or self._free >= self._seats):
            group = self._deepest
            if group is None or group.started == len(group.thunks):
                group = self._deepest = self._next_group()
                if group is None:
                    return
            self._start(group)

    def _next_group(self) -> Group | None:
        """Return the deepest group that has thunks to start."""
        while self._waiting:
            level = max(self._waiting)
            queue = self._waiting[level]
            while queue:
                if queue[0].started < len(queue[0].thunks):
                    return queue[0]
                queue.popleft()
            del self._waiting[level]
        return None

    def _start(self, group: Group) -> None:
        at = group.started
        group.started += 1
        self.started += 1
        self._open_tasks += 1
        self._free -= 1
        thunk = self._run_thunk(group, at)
        group.running[at] = self._loop.create_task(thunk, context=group.context.copy())

    def _ended(self, group: Group, at: int) -> None:
        del group.running[at]
        self._free += 1
        self._open_tasks -= 1
        group.left -= 1
        if group.left == 0:
            group.finish()
        if self._waiting:
            self._pump()

    async def _run_thunk(self, group: Group, at: int) -> None:
        meter = self._meter
        task = child_task(group.parent, f"{group.path}.{group.first + at}")
        frame: Frame = [task, group.depth, 0, None]
        thunk = group.thunks[at]
        try:
            if meter.slice[1]:
                await asyncio.sleep(0)
            if type(thunk) is GuestFunction:  # here and not in a coroutine of its own, which every wait would cross
                code = thunk.code
                inner = code.enter(frame, thunk, ())
                group.results[at] = to_host(meter, await code.run(inner) if code.waits else code.run(inner))
            else:
                group.results[at] = await self._value(group.place, frame, thunk)
        except (PlanLimitError, PlanAborted) as error:
            self.stop(error)
        except Exception as error:
            self._failed(group, task, error)
        finally:
            task.end()
            self._ended(group, at)

    def _failed(self, group: Group, task: Task, error: Exception) -> None:
        failure = self._fail(group.place.offset, error)
        if not isinstance(failure, PlanFailed):
            self.stop(failure)
            return
        if failure is not error:
            failure.__cause__ = error
        try:
            group.on_failure(task.path, failure)
        except Exception as fault:
            self.stop(self._fail(group.place.offset, fault))

    async def _value(self, place: Place, frame: Frame, thunk: Any) -> Any:
        kind = type(thunk)
        if kind is WordValue:
            value = thunk.call(frame, (), {}, place.offset)
            return to_host(self._meter, await value if thunk.waits else value)
        if kind is Builtin:
            return to_host(self._meter, call_builtin(frame, thunk, (), {}))
        if callable(thunk):
            return await thunk(place.child(frame))
        raise TypeError(f"a task must be a function, got a {type_name(thunk)}; write `lambda: ...`")
