"""What loops, comprehensions and generator expressions read from, item by item."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Iterator
from typing import Any, Final, NamedTuple

from .context import Build, Code, turn
from .iterate import native_iterator
from .values import DictView, Frame, PlanDict, PlanList, PlanSet

__all__ = ["Source", "evaluate", "items_in_turn", "lockable", "opened"]

_LOCKABLE: Final = (PlanList, PlanDict, PlanSet)


class Source(NamedTuple):
    """What a loop reads from: code for an iterable, or ``stream(frame)`` that opens an async generator."""

    code: Code | None
    stream: Callable[[Frame], AsyncGenerator[Any, None]] | None
    waits: bool
    height: int


def lockable(value: Any) -> Any:
    """Return what must not change while ``value`` is iterated over, or ``None``."""
    if type(value) in _LOCKABLE:
        return value
    return value.source if type(value) is DictView else None


def opened(build: Build, frame: Frame, value: Any, offset: int) -> Iterator[Any]:
    """Return the host's iterator for a value; a value that cannot be iterated fails at the offset."""
    try:
        return native_iterator(frame, value)
    except Exception as error:
        raise build.fail(offset, error) from error.__cause__


async def evaluate(origin: Source, frame: Frame) -> Any:
    """Return what the loop iterates over: a value, or an opened async generator."""
    if origin.stream is not None:
        return origin.stream(frame)
    assert origin.code is not None
    return await origin.code.run(frame) if origin.code.waits else origin.code.run(frame)


async def items_in_turn(build: Build, frame: Frame, value: Any, offset: int, cost: int) -> AsyncGenerator[Any, None]:
    """Yield the items of a value or of an async generator, locked, charged, and letting the event loop turn."""
    steps = build.slice
    held = lockable(value)
    if held is not None:
        held.locks += 1
    try:
        if isinstance(value, AsyncGenerator):
            async for item in value:
                left = steps[0] = steps[0] - cost
                if left < 0:
                    build.tick(offset)
                yield item
            return
        for item in opened(build, frame, value, offset):
            left = steps[0] = steps[0] - cost
            if left < 0:
                build.tick(offset)
            if steps[1]:
                await turn()
            yield item
    finally:
        if held is not None:
            held.locks -= 1
        if isinstance(value, AsyncGenerator):
            await value.aclose()
