"""The words that run a plan's functions as tasks: all at once, item by item through stages, or for the first answer."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, overload

from planlang import Call, Function, Word

from ._signatures import signature_of
from .runtime import host_of

if TYPE_CHECKING:
    import asyncio

    from ._groups import Group

__all__ = ["task_words"]

Thunk = Callable[[Call], Awaitable[object]]


def task_words() -> list[Word]:
    """Return ``parallel``, ``pipeline`` and ``race``."""
    return [
        Word(
            "parallel",
            _parallel,
            signature=signature_of(_thunks_shape),
            doc="runs a list of lambdas at once; their values in order, None for one that failed",
            suspends=True,
            runs_tasks=True,
        ),
        Word(
            "pipeline",
            _pipeline,
            signature=signature_of(_pipeline_shape),
            doc="runs each item through all stages, `lambda value: ...`, at its own pace; the last values in order, "
            "None for one that a stage failed on or gave None for",
            suspends=True,
            runs_tasks=True,
        ),
        Word(
            "race",
            _race,
            signature=signature_of(_thunks_shape),
            doc="runs a list of lambdas at once; the first value that is not None, the others are cancelled",
            suspends=True,
            runs_tasks=True,
        ),
    ]


# The shapes are what plans see; the functions below them take the call's place as well.


def _thunks_shape(thunks: list) -> None: ...  # type: ignore[type-arg]  # as a plan may write it


def _pipeline_shape(items: list, *stages: Any) -> None: ...  # type: ignore[type-arg]  # as a plan may write it


async def _parallel(call: Call, thunks: Sequence[Function]) -> list[Any]:
    return await _all(call, _thunks(thunks, "parallel"))


async def _pipeline(call: Call, items: Any, *stages: Function) -> list[Any]:
    if not isinstance(items, list | tuple | range | set | Mapping):
        raise TypeError(f"pipeline() takes a list of items, got {type(items).__name__}; a failed worker gives None")
    if not stages:
        raise TypeError("pipeline() takes at least one stage behind its items: `lambda value: ...`")
    return await _all(call, _Line(list(items), stages))


async def _all(call: Call, thunks: Sequence[Function | Thunk]) -> list[Any]:
    host = host_of(call)
    with host.group(call, len(thunks)) as group:
        beginning = _Beginning(thunks, group)
        return await call.run_tasks(beginning, lambda path, error: host.task_failed(call, path, error))


def _thunks(thunks: Any, word: str) -> Sequence[Function]:
    if not isinstance(thunks, list | tuple):
        raise TypeError(f"{word}() takes a list of lambdas, got {type(thunks).__name__}")
    return thunks


class _Beginning(Sequence[Function | Thunk]):
    """Tasks that are taken one by one as they begin, which their group is told."""

    def __init__(self, thunks: Sequence[Function | Thunk], group: Group) -> None:
        self._thunks, self._group = thunks, group

    def __len__(self) -> int:
        return len(self._thunks)

    @overload
    def __getitem__(self, index: int) -> Function | Thunk: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Function | Thunk]: ...
    def __getitem__(self, index: int | slice) -> Function | Thunk | Sequence[Function | Thunk]:
        if type(index) is int:
            self._group.began()
        return self._thunks[index]


class _Line(Sequence[Thunk]):
    """The tasks of a pipeline, one an item; each is made when it starts."""

    def __init__(self, items: Sequence[Any], stages: Sequence[Function]) -> None:
        self._items, self._stages = items, stages

    def __len__(self) -> int:
        return len(self._items)

    @overload
    def __getitem__(self, index: int) -> Thunk: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Thunk]: ...
    def __getitem__(self, index: int | slice) -> Thunk | Sequence[Thunk]:
        if isinstance(index, slice):
            return _Line(self._items[index], self._stages)
        return partial(self._through, index)

    async def _through(self, index: int, call: Call) -> object:
        item = value = self._items[index]
        for stage in self._stages:
            # What a stage binds by default (`lambda v, lens=lens: ...`) is its own.
            given = (value, item, index)[: max(1, stage.required)]
            value = await call.apply(stage, *given)
            if value is None:
                return None
        return value


async def _race(call: Call, thunks: Sequence[Function]) -> Any:
    contenders = _thunks(thunks, "race")
    host = host_of(call)
    place = host.journal_place(call)
    won = host.recorded(place, "race")
    race = _Race(contenders, range(len(contenders)) if won is None else (won,))
    with host.group(call):
        await call.run_tasks(race.tasks(), lambda path, error: host.task_failed(call, path, error))
    if race.winner is not None:
        host.record(place, "race", race.winner)
    return race.value


class _Race:
    """Contenders, of which the first that brings a value wins.

    :param starters: those that may run; where the winner is known, it alone.
    """

    def __init__(self, contenders: Sequence[Function], starters: Sequence[int]) -> None:
        self.winner: int | None = None
        self.value: object = None
        self._contenders, self._starters = contenders, starters
        self._running: set[asyncio.Task[Any]] = set()

    def tasks(self) -> list[Thunk]:
        """Return a task for each contender, so that each keeps its address whoever runs."""
        return [partial(self._contend, index) for index in range(len(self._contenders))]

    async def _contend(self, index: int, call: Call) -> None:
        if self.winner is not None or index not in self._starters:
            return
        # It takes 40 ms to import, which those who only check a plan need not pay.
        from asyncio import current_task

        task = current_task()
        assert task is not None
        self._running.add(task)
        try:
            value = await call.apply(self._contenders[index])
        finally:
            self._running.discard(task)
        if value is not None and self.winner is None:
            self.winner, self.value = index, value
            for other in self._running:
                other.cancel()
