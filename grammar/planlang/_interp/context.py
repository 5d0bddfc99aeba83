"""What every builder of closures works with: one run's meter, globals, words and places.

Closures are built per run, so that they can hold the meter's slice and the globals directly. A builder takes a node
and returns a :class:`Code`: a closure ``run(frame)``, plain when the node cannot wait and ``async`` when it may.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from planlang._errors import PlanError
from planlang._nodes import Node

from .meter import Meter
from .places import Places
from .values import Frame, WordValue

__all__ = ["HEADER", "After", "Build", "Builder", "Code", "Run", "eager", "tallest", "then", "turn"]

Run = Callable[[Frame], Any]
After = Callable[[Frame, Any], Any]
HEADER: Final = 4  # task, call depth, host frames, return value: then come the slots of the scope


class Code(NamedTuple):
    """A built node.

    ``height`` is how many host frames its evaluation takes at most, guest calls aside. The rest are short cuts, which
    save calls: ``slot`` is the frame slot of an expression that only reads one, ``into`` that of a statement that only
    stores what ``value(frame)`` returns; 0 elsewhere. ``after(frame, await wait(frame))``, where given, does what
    ``await run(frame)`` does with one coroutine less.
    """

    run: Run
    waits: bool
    height: int
    slot: int = 0
    into: int = 0
    value: Run | None = None
    wait: Run | None = None
    after: After | None = None

    def step(self) -> tuple[Run, int]:
        """Return what runs a statement that cannot wait, and the slot for what it returns, or 0 for a signal."""
        return (self.run, 0) if self.value is None else (self.value, self.into)

    def flat(self) -> tuple[Run, After | None]:
        """Return what to wait for and what to do then, for code that may wait and is run by a coroutine."""
        return (self.run, None) if self.wait is None else (self.wait, self.after)


def then(code: Code, after: After, height: int) -> Code:
    """Return code that waits for other code, and does the rest with its value without waiting."""
    wait, before = code.flat()

    async def run(frame: Frame) -> Any:
        value = await wait(frame)
        return after(frame, value if before is None else before(frame, value))

    if before is None:
        return Code(run, True, height, wait=wait, after=after)
    return Code(run, True, height, wait=wait, after=lambda frame, value: after(frame, before(frame, value)))


Builder = Callable[["Build", Any], Code]


class Build:
    """Builds the closures of one run; nothing in it changes once the run has started."""

    def __init__(
        self,
        meter: Meter,
        places: Places,
        *,
        words: Mapping[str, WordValue],
        values: Mapping[str, Any],
        builders: Mapping[type[Node], Builder],
        cells: list[Any],
    ) -> None:
        self.meter, self.places, self.words, self.values = meter, places, words, values
        self.slice = meter.slice
        self.globals = cells
        self._builders = builders

    def code(self, node: Node) -> Code:
        """Return the closure of a node."""
        return self._builders[type(node)](self, node)

    def codes(self, nodes: Sequence[Node]) -> list[Code]:
        """Return the closures of several nodes."""
        return [self.code(node) for node in nodes]

    def fail(self, offset: int, error: BaseException) -> PlanError:
        """Return the plan error for an exception raised at this offset."""
        return self.places.error(offset, error)

    def tick(self, offset: int) -> None:
        """Hand out the next slice of steps to a loop or call at this offset."""
        try:
            self.meter.refill()
        except Exception as error:
            raise self.fail(offset, error) from error.__cause__


def tallest(codes: Sequence[Code]) -> int:
    """Return the height of the highest of these."""
    return max((code.height for code in codes), default=0)


async def turn() -> None:
    """Let the event loop do what else it has to do."""
    await asyncio.sleep(0)


def eager(
    build: Build, offset: int, parts: Sequence[Code], finish: Callable[[Frame, list[Any]], Any], frames: int = 3
) -> Code:
    """Return code that evaluates all parts in order and hands their values to ``finish``.

    :param frames: how many host frames ``finish`` takes.
    """
    fail = build.fail
    runs = [part.run for part in parts]
    height = 1 + max(tallest(parts), frames)

    def run(frame: Frame) -> Any:
        values = [part(frame) for part in runs]
        try:
            return finish(frame, values)
        except Exception as error:
            raise fail(offset, error) from error.__cause__

    if not any(part.waits for part in parts):
        return Code(run, False, height)

    async def run_waiting(frame: Frame) -> Any:
        values = [await part.run(frame) if part.waits else part.run(frame) for part in parts]
        try:
            return finish(frame, values)
        except Exception as error:
            raise fail(offset, error) from error.__cause__

    return Code(run_waiting, True, height)
