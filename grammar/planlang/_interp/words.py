"""Calls of the host's words.

Arguments leave as copies and results come in as copies, so neither side ever holds the other's objects. What a word
raises becomes a failure of the plan at the place of the call, and nothing else leaves.

A call in the source has a known shape: so many arguments by position, these by keyword. It is held against the word's
signature once, while the closures are built (:meth:`WordCalls.site`); calls through values and with ``*`` or ``**`` are
held against it each time (:meth:`WordCalls.call`). Numbers cross as they are. Calls with one argument, the most common
shape, have closures of their own: 0.5 µs instead of 1.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Sequence
from types import CoroutineType
from typing import Any, Final, NoReturn

from planlang._errors import PlanAborted, PlanFailed, PlanLimitError
from planlang._vocabulary import Word

from .border import from_host, gathered_from_host, to_host
from .context import Code, Run, tallest, turn
from .iterate import items_of
from .place import Bridge, Place, Site, placed
from .rows import Sent
from .tasks import Task
from .values import SCALARS, Frame, LazyIterator, WordValue, new_list

__all__ = ["WordCalls", "word_value"]

_PASSES: Final = (PlanFailed, PlanLimitError, PlanAborted)
_HEIGHT: Final = 8  # host frames of a call, the word's own aside
_WAITING_CALL: Final = 8  # one that may wait counts as so many: a loop of idle waits takes 9 µs a turn
_FREE: Final = frozenset((int, float, bool, type(None)))  # cross as they are; the count of calls bounds them


def word_value(bridge: Bridge, word: Word) -> WordValue:
    """Return the value that stands for a word in this run."""
    return WordValue(word, WordCalls(bridge, word))


class WordCalls:
    """All calls of one word in one run."""

    def __init__(self, bridge: Bridge, word: Word) -> None:
        self._bridge, self._word, self._meter = bridge, word, bridge.meter
        self.waits = word.suspends or word.runs_tasks
        self._counted = self.waits or word.spends

    def call(self, frame: Frame, args: Sequence[Any], keywords: dict[str, Any], offset: int) -> Any:
        """Call the word with arguments whose shape is not known before; what waits is returned as a coroutine."""
        try:
            names = self._fit(len(args), list(keywords))
        except TypeError as error:
            raise self._bridge.fail(offset, error) from error
        return self._enter(Site(self._bridge, offset), len(args), names)(frame, [*args, *keywords.values()])

    def fit(self, count: int, names: Sequence[str]) -> list[str] | None:
        """Return the parameters that keywords stand for, ``None`` where such a call does not fit the word.

        :param count: how many arguments it has by position. :param names: of those by keyword.
        """
        try:
            return self._fit(count, names)
        except TypeError:
            return None

    def site(self, offset: int, parts: Sequence[Code], names: list[str]) -> Code:
        """Return code of a call in the source that fits.

        :param parts: the arguments, in the order of the text.
        :param names: the parameters of those by keyword, which come last, as :meth:`fit` gave them.
        """
        site, height = Site(self._bridge, offset), _HEIGHT + tallest(parts)
        waits = any(part.waits for part in parts)
        if len(parts) == 1 and not (names or waits):
            one = self._waiting_one if self.waits else self._plain_one
            return Code(one(site, parts[0]), self.waits, height)
        enter = self._enter(site, len(parts) - len(names), names)
        if waits:
            return Code(_after_waits(parts, enter, self.waits, self._meter.slice), True, height)
        runs = [part.run for part in parts]
        return Code(lambda frame: enter(frame, [run(frame) for run in runs]), self.waits, height)

    def _fit(self, count: int, names: Sequence[str]) -> list[str]:
        """Return the parameters that keywords stand for; :raises TypeError: such a call does not fit."""
        word = self._word
        real = [word.aliases.get(name, name) for name in names]
        for at, name in enumerate(real):
            if name in real[:at]:
                raise TypeError(f"{word.name}() got `{name}` twice")
        try:
            word.signature.bind(*[None] * count, **dict.fromkeys(real))
        except TypeError as error:
            raise TypeError(f"{word.name}(): {error}") from None
        return real

    def _enter(self, site: Site, count: int, names: list[str]) -> Callable[[Frame, Sequence[Any]], Any]:
        """Return a function that calls the word with the values of arguments that fit."""
        call, calls, steps = self._word.call, self._meter.calls, self._meter.slice
        counts, gathers = _WAITING_CALL if self.waits else 1, self._word.runs_tasks

        def begin(frame: Frame, values: Sequence[Any], sent: Sent | None = None) -> Any:
            left = calls[0] = calls[0] - counts
            if left < 0:
                raise self._meter.calls_error()
            plain = [value if type(value) in _FREE else self._out(frame, value, sent) for value in values]
            return call(self._place(site, frame), *plain[:count], **dict(zip(names, plain[count:], strict=True)))

        def enter(frame: Frame, values: Sequence[Any]) -> Any:
            sent: Sent = []
            try:
                value = begin(frame, values, sent)
                return value if value is None else self._back(frame, value, sent)
            except BaseException as error:
                self._blame(site, error)

        async def enter_waiting(frame: Frame, values: Sequence[Any]) -> Any:
            try:
                value = begin(frame, values)
                if type(value) is CoroutineType or (type(value) not in SCALARS and inspect.isawaitable(value)):
                    value = await value
                if steps[1]:
                    await turn()
                if gathers and type(value) is list:
                    return await gathered_from_host(frame[0], value)
                return value if value is None else from_host(frame[0], value)
            except BaseException as error:
                self._blame(site, error)

        return enter_waiting if self.waits else enter

    def _plain_one(self, site: Site, argument: Code) -> Run:
        evaluate, slot = argument.run, argument.slot
        call, calls, meter = self._word.call, self._meter.calls, self._meter
        few, many, low, high, shares = meter.few, meter.many, meter.low, meter.high, not self._counted
        last: Frame | None = None
        place: Place | None = None

        def run(frame: Frame) -> Any:
            nonlocal last, place
            given = frame[slot] if slot else evaluate(frame)
            left = calls[0] = calls[0] - 1
            sent: Sent | None = None
            try:
                if left < 0:
                    raise meter.calls_error()
                if type(given) is not int and type(given) not in _FREE:
                    sent = []
                    given = self._out(frame, given, sent)
                if frame is not last:  # all calls from one frame look the same to a word that is not counted
                    place = self._place(site, frame)
                    last = frame if shares else None
                value = call(place, given)
                if type(value) is int and (few <= value <= many or low <= value <= high):
                    return value
                return value if value is None else self._back(frame, value, sent)
            except BaseException as error:
                self._blame(site, error)

        return run

    def _waiting_one(self, site: Site, argument: Code) -> Run:
        evaluate, slot = argument.run, argument.slot
        call, calls, meter = self._word.call, self._meter.calls, self._meter
        few, many, low, high, steps = meter.few, meter.many, meter.low, meter.high, meter.slice
        gathers = self._word.runs_tasks

        async def run(frame: Frame) -> Any:
            given = frame[slot] if slot else evaluate(frame)
            left = calls[0] = calls[0] - _WAITING_CALL
            try:
                if left < 0:
                    raise meter.calls_error()
                if type(given) is not int and type(given) not in _FREE:
                    given = self._out(frame, given)
                task = frame[0]
                place = Place()
                place.site = site
                place.frame = frame
                place.number = number = task.calls
                task.calls = number + 1
                value = call(place, given)
                if type(value) is CoroutineType or (type(value) not in SCALARS and inspect.isawaitable(value)):
                    value = await value
                if steps[1]:
                    await turn()
                if type(value) is int and (few <= value <= many or low <= value <= high):
                    return value
                if gathers and type(value) is list:
                    return await gathered_from_host(task, value)
                return value if value is None else from_host(task, value)
            except BaseException as error:
                self._blame(site, error)

        return run

    def _place(self, site: Site, frame: Frame) -> Place:
        if not self._counted:
            return placed(site, frame, None)
        task: Task = frame[0]
        number = task.calls
        task.calls = number + 1
        return placed(site, frame, number)

    def _out(self, frame: Frame, value: Any, sent: Sent | None = None) -> Any:
        if type(value) is LazyIterator:
            value = new_list(frame[0], items_of(frame, value))
            if sent:
                sent.clear()  # the plan's code has run meanwhile, and may have changed them
        return to_host(self._meter, value, sent)

    def _back(self, frame: Frame, value: Any, sent: Sent | None) -> Any:
        if type(value) not in SCALARS and inspect.isawaitable(value):
            if isinstance(value, CoroutineType):
                value.close()
            raise TypeError(f"the word `{self._word.name}` returned an awaitable but is not declared to suspend")
        return from_host(frame[0], value, sent=sent)

    def _blame(self, site: Site, error: BaseException) -> NoReturn:
        """Raise what leaves a call that raised: errors of plans and cancellations from outside as they are."""
        if isinstance(error, _PASSES):
            raise error
        if isinstance(error, Exception) or (isinstance(error, asyncio.CancelledError) and not _being_cancelled()):
            raise self._bridge.fail(site.offset, error) from error
        raise error


def _after_waits(parts: Sequence[Code], enter: Callable[[Frame, list[Any]], Any], waits: bool, steps: list[Any]) -> Run:
    async def run(frame: Frame) -> Any:
        values = [await part.run(frame) if part.waits else part.run(frame) for part in parts]
        if steps[1]:
            await turn()
        value = enter(frame, values)
        return await value if waits else value

    return run


def _being_cancelled() -> bool:
    """Tell whether someone cancels this task; if not, the word raised the cancellation itself and has failed."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
