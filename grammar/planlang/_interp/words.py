"""Calls of the host's words.

Arguments leave as copies and results come in as copies, so neither side ever holds the other's objects. What a word
raises becomes a failure of the plan at the place of the call, and nothing else leaves.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Sequence
from types import CoroutineType
from typing import Any, Final

from planlang._errors import PlanAborted, PlanFailed, PlanLimitError
from planlang._vocabulary import Word

from .border import from_host, to_host
from .invoke import call_value
from .iterate import items_of
from .meter import LimitHitError, Meter
from .places import Places
from .tasks import Task
from .values import SCALARS, Frame, GuestFunction, LazyIterator, WordValue, new_list
from .window import Window

__all__ = ["Bridge", "Place"]

_HOST_FRAMES: Final = 12  # host frames between a call and the guest code that its word calls back
_PASSES: Final = (PlanFailed, PlanLimitError, PlanAborted)
_BINDS: Final = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


class Bridge:
    """What the calls of one run share: its meter, its window, its host."""

    def __init__(self, meter: Meter, host: object, window: Window, places: Places) -> None:
        self.meter, self.host, self.window = meter, host, window
        self.fail, self.line_column = places.error, places.line_column

    def word(self, word: Word) -> WordValue:
        """Return the value that stands for a word in this run."""
        waits = word.suspends or word.runs_tasks
        return WordValue(word, _waiting(self, word) if waits else _plain(self, word), waits)


class Place:
    """Where a word was called from; the host's side of :class:`planlang.Call`."""

    __slots__ = ("_number", "_started", "bridge", "frame", "offset")

    def __init__(self, bridge: Bridge, frame: Frame, offset: int, number: int | None) -> None:
        self.bridge = bridge
        self.frame = frame
        self.offset = offset
        self._number = number
        self._started = 0

    @property
    def task(self) -> Task:
        """The task that called."""
        task: Task = self.frame[0]
        return task

    @property
    def host(self) -> object:
        """What the run was given."""
        return self.bridge.host

    @property
    def path(self) -> str:
        """The address of this call in the plan; a word that neither waits nor spends has its task's."""
        if self._number is None:
            return self.task.path
        return f"{self.task.path}.{self._number}" if self.task.path else str(self._number)

    @property
    def line(self) -> int:
        """1-based line of the call."""
        return self.bridge.line_column(self.offset)[0]

    @property
    def column(self) -> int:
        """1-based column of the call."""
        return self.bridge.line_column(self.offset)[1]

    @property
    def scope(self) -> dict[str, object]:
        """Values that belong to the calling task."""
        return self.task.scope

    def child(self, task: Task, frame: Frame) -> Place:
        """Return the place that a host's own thunk is called with: a task of its own, started here."""
        assert frame[0] is task
        return Place(self.bridge, frame, self.offset, None)

    async def run_tasks(self, thunks: Sequence[Any], on_failure: Callable[[str, PlanFailed], None]) -> list[object]:
        """Run every thunk as a task of its own and return their values in order.

        A thunk is a plan's function, or a host's coroutine function that takes the :class:`planlang.Call` of its task.
        """
        first = self._started
        self._started += len(thunks)
        return await self.bridge.window.run(self, thunks, first, on_failure)

    async def apply(self, function: Any, *args: object) -> object:
        """Call a plan's function in the calling task and return what it returns, as plain data."""
        bridge = self.bridge
        frame: Frame = [self.task, self.frame[1], self.frame[2] + _HOST_FRAMES, None]
        try:
            given = [from_host(self.task, arg) for arg in args]
            if type(function) is WordValue and function.waits:
                value = await function.call(frame, given, {}, self.offset)
            elif type(function) is GuestFunction and function.code.waits:
                value = await function.code.run(function.code.enter(frame, function, given))
            else:
                value = call_value(frame, function, *given)
            return to_host(bridge.meter, value)
        except Exception as error:
            raise bridge.fail(self.offset, error) from error.__cause__


def _arity(word: Word) -> tuple[int, int]:
    """Return how few and how many positional arguments make a call that needs no closer look."""
    parameters = list(word.signature.parameters.values())
    positional = [p for p in parameters if p.kind in _BINDS]
    if not all(p.kind in _BINDS or p.default is not inspect.Parameter.empty for p in parameters):
        return 1, 0
    return sum(p.default is inspect.Parameter.empty for p in positional), len(positional)


def _bind(word: Word, args: Sequence[Any], keywords: dict[str, Any]) -> None:
    """Raise ``TypeError`` when the arguments do not fit the word's signature."""
    try:
        word.signature.bind(*args, **keywords)
    except TypeError as error:
        raise TypeError(f"{word.name}(): {error}") from None


def _renamed(word: Word, keywords: dict[str, Any]) -> dict[str, Any]:
    renamed: dict[str, Any] = {}
    for name, value in keywords.items():
        real = word.aliases.get(name, name)
        if real in renamed:
            raise TypeError(f"{word.name}() got `{real}` twice")
        renamed[real] = value
    return renamed


def _preparer(bridge: Bridge, word: Word) -> Callable[..., tuple[Place, list[Any], dict[str, Any]]]:
    """Return a function that counts and checks one call and copies its arguments."""
    meter = bridge.meter
    least, most = _arity(word)
    counted = word.suspends or word.spends or word.runs_tasks
    allowed = meter.limits.host_calls

    def outward(frame: Frame, value: Any) -> Any:
        kind = type(value)
        if kind is int or kind is bool or value is None:
            return value
        if kind is LazyIterator:
            return to_host(meter, new_list(frame[0], items_of(frame, value)))
        return to_host(meter, value)

    def prepare(
        frame: Frame, args: Sequence[Any], keywords: dict[str, Any], offset: int
    ) -> tuple[Place, list[Any], dict[str, Any]]:
        if meter.stopped is not None:
            raise meter.stopped
        meter.host_calls += 1
        if meter.host_calls > allowed:
            raise LimitHitError("host_calls", meter.host_calls, allowed)
        if keywords and word.aliases:
            keywords = _renamed(word, keywords)
        if keywords or not least <= len(args) <= most:
            _bind(word, args, keywords)
        task: Task = frame[0]
        number = None
        if counted:
            number = task.calls
            task.calls = number + 1
        plain = [outward(frame, value) for value in args]
        named = {name: outward(frame, value) for name, value in keywords.items()} if keywords else keywords
        return Place(bridge, frame, offset, number), plain, named

    return prepare


def _plain(bridge: Bridge, word: Word) -> Callable[..., Any]:
    prepare, call, fail = _preparer(bridge, word), word.call, bridge.fail

    def run(frame: Frame, args: Sequence[Any], keywords: dict[str, Any], offset: int) -> Any:
        try:
            place, plain, named = prepare(frame, args, keywords, offset)
            value = call(place, *plain, **named)
            if value is None or value is True or value is False:
                return value
            if type(value) not in SCALARS and inspect.isawaitable(value):
                raise _awaitable(word, value)
            return from_host(frame[0], value)
        except _PASSES:
            raise
        except Exception as error:
            raise fail(offset, error) from error
        except asyncio.CancelledError as error:
            if _being_cancelled():
                raise
            raise fail(offset, error) from error

    return run


def _awaitable(word: Word, value: Any) -> TypeError:
    if isinstance(value, CoroutineType):
        value.close()
    return TypeError(f"the word `{word.name}` returned an awaitable but is not declared to suspend")


def _being_cancelled() -> bool:
    """Tell whether someone cancels this task; if not, the word raised the cancellation itself and has failed."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def _waiting(bridge: Bridge, word: Word) -> Callable[..., Any]:
    prepare, call, fail = _preparer(bridge, word), word.call, bridge.fail

    async def run(frame: Frame, args: Sequence[Any], keywords: dict[str, Any], offset: int) -> Any:
        try:
            place, plain, named = prepare(frame, args, keywords, offset)
            value = call(place, *plain, **named)
            if isinstance(value, CoroutineType) or inspect.isawaitable(value):
                value = await value
            return from_host(frame[0], value)
        except _PASSES:
            raise
        except Exception as error:
            raise fail(offset, error) from error
        except asyncio.CancelledError as error:
            if _being_cancelled():
                raise
            raise fail(offset, error) from error

    return run
