"""Tasks of a plan: started by place, through one window for the whole program.

At most ``tasks_in_flight`` tasks are open at once; the rest wait as function values, which is what makes a hundred
thousand of them cheap. A task that waits for its own children gives its seat to them, so nesting cannot deadlock,
and the deepest group is served first, so a plan is worked off branch by branch and not level by level.

Most tasks of a run that is played again never wait: their answers are at hand. So a task of the event loop, which takes
as long to make as a short thunk to run, runs one thunk after the other, until one waits. It is that thunk's own from
then on, and others are made for the rest: twice as many each time that one waits, half as many each time that one does
not. Whoever runs in a thunk may look at or cancel its task while it runs; so one whose task was touched is the last
that it runs. Once the thunk has ended the task is another's, and is not to be kept.

A thunk that fails gives ``None``; its siblings go on. When the host ends the program or a limit is hit, nothing new
starts, what runs is left to end, and the first error is raised where the tasks were started.
"""

from __future__ import annotations

import asyncio
import contextvars
from collections import deque
from collections.abc import Callable, Coroutine, Sequence
from types import CoroutineType
from typing import TYPE_CHECKING, Any, Final, cast

from planlang._errors import PlanAborted, PlanError, PlanFailed, PlanLimitError

from .border import to_host
from .invoke import call_builtin
from .meter import Meter
from .tasks import Task, child_task
from .values import Builtin, Frame, GuestFunction, WordValue, type_name
from .waiting import awaited, rest_of

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
_A_TURN: Final = 128  # thunks that run in one turn of the event loop; a known answer takes 25 µs, a checked one 200


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
        "size",
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
        self.size = self.left = len(thunks)
        self.results: list[Any] = [None] * self.size
        self.started = 0
        self.running: dict[int, asyncio.Task[None]] = {}
        self.done: asyncio.Future[None] = loop.create_future()
        self.context = contextvars.copy_context()

    def drop_rest(self) -> None:
        """Start none of the thunks that wait."""
        self.left -= self.size - self.started
        self.started = self.size
        self.finish()

    def finish(self) -> None:
        """Wake the parent when all that started have ended."""
        if self.left == 0 and not self.done.done():
            self.done.set_result(None)


# A thunk that waits: its group, which one it is there, its task, what it runs, what that waits for, and whether its
# value is a plan's, of which the host gets a copy. A plain tuple, since each worker of a run makes one.
_Waiting = tuple[Group, int, Task, Coroutine[Any, Any, Any], Any, bool]
_NEXT_TURN = cast(_Waiting, ("in the next turn",))


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
        self._runners: set[asyncio.Task[None]] = set()
        self._idle = 0  # runners that are about to begin a thunk
        self._at_once = 1  # how many of them there may be
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
        for runner in self._runners:
            runner.cancel()
        if self._runners:
            await asyncio.wait(self._runners)

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

    def _pump(self) -> None:
        """Have begun what there are seats for."""
        group = self._to_begin()
        if group is None:
            return
        wanted = min(self._free, self._at_once, group.size - group.started)
        while self._idle < wanted:
            self._add_runner(group)

    def _add_runner(self, group: Group) -> None:
        self._idle += 1
        self._runners.add(self._loop.create_task(self._runner(), context=group.context.copy()))

    def _to_begin(self) -> Group | None:
        """Return the group to begin a thunk of, if there is one and a seat for it; with very many parents waiting, only
        once nothing else runs.

        So a tree of tasks that doubles with each level is worked off depth first, in bounded memory.
        """
        free = self._free
        if free <= 0 or (self._open_tasks >= self._most_open and free < self._seats):
            return None
        group = self._deepest
        if group is None or group.started == group.size:
            group = self._deepest = self._next_group()
        return group

    def _next_group(self) -> Group | None:
        """Return the deepest group that has thunks to start."""
        while self._waiting:
            level = max(self._waiting)
            queue = self._waiting[level]
            while queue:
                if queue[0].started < queue[0].size:
                    return queue[0]
                queue.popleft()
            del self._waiting[level]
        return None

    async def _runner(self) -> None:
        """Run thunks until one waits, and that one to its end."""
        me = asyncio.current_task(self._loop)
        assert me is not None
        self._idle -= 1
        try:
            while (waiting := self._until_one_waits(me)) is _NEXT_TURN:
                self._idle += 1
                try:
                    await asyncio.sleep(0)
                finally:  # whoever kept the task of a thunk that has ended may cancel it here
                    self._idle -= 1
            if waiting is not None:
                group, at, task, work, asked, crosses = waiting
                group.running[at] = me
                try:
                    value = await rest_of(work, asked)
                    group.results[at] = to_host(self._meter, value) if crosses else value
                except Exception as error:
                    self._failed(group, task, error)
                finally:
                    del group.running[at]
                    self._ended(group, task)
        finally:
            self._runners.discard(me)
            self._pump()

    def _until_one_waits(self, me: asyncio.Task[Any]) -> _Waiting | None:
        """Run thunks; return the first that waits, ``None`` when others run the rest, or that the turn is over."""
        left, slice_ = _A_TURN, self._meter.slice
        while (group := self._to_begin()) is not None:
            if slice_[1] or not left:
                return _NEXT_TURN
            if not _is_current(group.context):
                self._add_runner(group)
                return None
            waiting = self._begin(group)
            if waiting is not None:
                self._at_once = min(2 * self._at_once, self._seats)
                if self._free > self._idle:
                    self._pump()
                return waiting
            self._at_once = self._at_once + 1 >> 1
            left -= 1
            if self._idle or me.cancelling():
                return None
        return None

    def _begin(self, group: Group) -> _Waiting | None:
        """Run a group's next thunk until it waits; return that, or ``None`` when it has ended."""
        at = group.started
        group.started = at + 1
        self.started += 1
        self._open_tasks += 1
        self._free -= 1
        task = child_task(group.parent, f"{group.path}.{group.first + at}")
        frame: Frame = [task, group.depth, 0, None]
        try:
            thunk = group.thunks[at]
            crosses = waits = True
            if type(thunk) is GuestFunction:  # here and not in a function of its own, which takes a tenth of all
                code = thunk.code
                value, waits = code.run(code.enter(frame, thunk, ())), code.waits
            elif type(thunk) is WordValue or type(thunk) is Builtin or not callable(thunk):
                value, waits = self._value(group.place, frame, thunk)
            else:
                value, crosses = thunk(group.place.child(frame)), False
                if type(value) is not CoroutineType:
                    value = awaited(value)
            if waits:
                try:
                    asked = value.send(None)
                except StopIteration as ended:
                    value = ended.value
                else:
                    return group, at, task, value, asked, crosses
            group.results[at] = to_host(self._meter, value) if crosses else value
        except Exception as error:
            self._failed(group, task, error)
        except BaseException:
            self._ended(group, task)
            raise
        self._ended(group, task)
        return None

    def _ended(self, group: Group, task: Task) -> None:
        task.end()
        self._free += 1
        self._open_tasks -= 1
        group.left -= 1
        if group.left == 0:
            group.finish()

    def _failed(self, group: Group, task: Task, error: Exception) -> None:
        if isinstance(error, PlanLimitError | PlanAborted):
            self.stop(error)
            return
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

    def _value(self, place: Place, frame: Frame, thunk: Any) -> tuple[Any, bool]:
        """Return what a function gives that the plan did not write, and whether it is to be waited for."""
        if type(thunk) is WordValue:
            return thunk.call(frame, (), {}, place.offset), thunk.waits
        if type(thunk) is Builtin:
            return call_builtin(frame, thunk, (), {}), False
        raise TypeError(f"a task must be a function, got a {type_name(thunk)}; write `lambda: ...`")


def _is_current(context: contextvars.Context) -> bool:
    """Whether the running task has the values of a context: a look at one pointer, unless somebody set a variable."""
    try:
        return contextvars.copy_context() == context
    except Exception:  # a stranger's values compare as they like
        return False
