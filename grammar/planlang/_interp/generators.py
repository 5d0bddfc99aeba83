"""Generator expressions, and the clauses that they share with comprehensions.

A generator expression is a host generator over a frame of its own, so that it is lazy; one whose elements wait is an
async generator, which is never a value: the builtin, method or loop it stands in reads it directly.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from contextlib import aclosing
from typing import Any, Final, NamedTuple

from planlang._nodes import LOCAL, Clause, Generator, Name, Node

from .blocks import cost_of
from .context import HEADER, Build, Code, Run, tallest
from .functions import fill_frame
from .iterate import Lock, native_iterator
from .meter import ITERATOR_BYTES, LIST_ITEM_BYTES, LimitHitError
from .sources import Source, evaluate, items_in_turn, lockable, opened
from .targets import Setter, target
from .values import UNBOUND, Frame, LazyIterator, PlanList, new_list

__all__ = ["Loop", "bound_and_wanted", "consume", "generator", "height_of", "loops_of", "source"]

_GENERATOR_FRAMES: Final = 3
_LAZY_DEPTH: Final = 50


# --- clauses ------------------------------------------------------------------------------------------------------


class Loop(NamedTuple):
    """One ``for`` of a comprehension; ``slot`` is the frame slot of its target when that is a plain name."""

    source: Source
    bind: Setter
    slot: int | None
    conditions: list[Code]
    offset: int
    cost: int

    @property
    def waits(self) -> bool:
        """Whether any part of it may wait."""
        return self.source.waits or self.bind.waits or any(test.waits for test in self.conditions)


def source(build: Build, node: Node) -> Source:
    """Return what the loop reads from."""
    if isinstance(node, Generator) and node.body_waits:
        stream, height = _stream(build, node)
        return Source(None, stream, True, height)
    code = build.code(node)
    return Source(code, None, code.waits, code.height)


def loops_of(build: Build, clauses: Sequence[Clause], elements: Sequence[Node]) -> list[Loop]:
    """Return the loops of all clauses; what an element costs is charged by the innermost."""
    loops = []
    for clause in clauses:
        conditions = build.codes(clause.conditions)
        cost = cost_of(clause.conditions)
        name = clause.target if isinstance(clause.target, Name) and clause.target.kind == LOCAL else None
        slot = None if name is None else name.slot + HEADER
        bind = target(build, clause.target)
        loops.append(Loop(source(build, clause.iterable), bind, slot, conditions, clause.start, cost))
    last = loops[-1]
    loops[-1] = last._replace(cost=last.cost + cost_of(elements))
    return [loop._replace(cost=max(1, loop.cost)) for loop in loops]


def height_of(loop: Loop) -> int:
    """Return how many host frames a loop takes, its body aside."""
    return max(loop.source.height, loop.bind.height, tallest(loop.conditions))


async def bound_and_wanted(loop: Loop, frame: Frame, item: Any) -> bool:
    """Bind the loop's target and tell whether all its conditions hold."""
    if loop.bind.waits:
        await loop.bind.run(frame, item)
    else:
        loop.bind.run(frame, item)
    for test in loop.conditions:
        if not (await test.run(frame) if test.waits else test.run(frame)):
            return False
    return True


# --- generator expressions --------------------------------------------------------------------------------------


def _own_frame(node: Generator, frame: Frame) -> Frame:
    captured = [frame[outer + HEADER] for outer, _ in node.scope.free]
    own: Frame = [frame[0], frame[1], frame[2], None, *[UNBOUND] * len(node.scope.names)]
    fill_frame(node.scope, own, captured)
    return own


def generator(build: Build, node: Generator) -> Code:
    """Return code for a generator expression; its first iterable is evaluated at once, the rest when it is read."""
    if node.body_waits:
        return Code(_refused(build, node), False, 1)
    element = build.code(node.element)
    loops = loops_of(build, node.clauses, [node.element])
    first = loops[0]
    if any(loop.waits for loop in loops[1:]) or first.source.code is None:
        return Code(_refused(build, node), False, 1)
    iterable = first.source.code
    produce = _produce(build, loops, element.run)
    frames = _GENERATOR_FRAMES * len(loops) + max(element.height, *(height_of(loop) for loop in loops))

    def make(frame: Frame, value: Any) -> LazyIterator:
        try:
            depth = 1 + (value.depth if type(value) is LazyIterator else 0)
            if depth > _LAZY_DEPTH:
                raise LimitHitError("data_depth", depth, _LAZY_DEPTH)
            frame[0].meter.store(ITERATOR_BYTES)
            native_iterator(frame, value)
        except Exception as error:
            raise build.fail(first.offset, error) from error.__cause__
        own = _own_frame(node, frame)
        inner = value.frames if type(value) is LazyIterator else ()
        return LazyIterator("generator", produce(own, value), depth, (own, *inner))

    def run(frame: Frame) -> LazyIterator:
        return make(frame, iterable.run(frame))

    async def run_waiting(frame: Frame) -> LazyIterator:
        return make(frame, await iterable.run(frame))

    height = iterable.height + frames
    return Code(run_waiting if iterable.waits else run, iterable.waits, height)


def _refused(build: Build, node: Generator) -> Run:
    def run(_frame: Frame) -> Any:
        message = "a generator expression that waits for workers cannot be stored or passed on; use a list"
        raise build.fail(node.start, TypeError(message))

    return run


def _produce(build: Build, loops: Sequence[Loop], element: Run) -> Callable[[Frame, Any], Iterator[Any]]:
    """Return ``produce(frame, first iterable)``, a host generator of the elements."""
    inner = None if len(loops) == 1 else _produce(build, loops[1:], element)
    loop = loops[0]
    steps, bind, tests = build.slice, loop.bind.run, [test.run for test in loop.conditions]
    next_source = loops[1].source.code.run if len(loops) > 1 and loops[1].source.code is not None else None

    def produce(frame: Frame, value: Any) -> Iterator[Any]:
        held = lockable(value)
        lock = None if held is None else Lock(frame[0], held)
        try:
            for item in opened(build, frame, value, loop.offset):
                left = steps[0] = steps[0] - loop.cost
                if left < 0:
                    build.tick(loop.offset)
                bind(frame, item)
                if not _all_hold(tests, frame):
                    continue
                if inner is None or next_source is None:
                    yield element(frame)
                else:
                    yield from inner(frame, next_source(frame))
        finally:
            if lock is not None:
                lock.release()

    return produce


def _all_hold(tests: Sequence[Run], frame: Frame) -> bool:
    """Tell whether all conditions hold, tried in order."""
    for test in tests:  # noqa: SIM110 - a generator would be one more host frame
        if not test(frame):
            return False
    return True


def _stream(build: Build, node: Generator) -> tuple[Callable[[Frame], AsyncGenerator[Any, None]], int]:
    """Return a function that opens the async generator of an expression that waits."""
    element = build.code(node.element)
    loops = loops_of(build, node.clauses, [node.element])
    produce = _produce_waiting(build, loops, element)
    first = loops[0].source
    height = _GENERATOR_FRAMES * len(loops) + max(element.height, *(height_of(loop) for loop in loops))

    async def stream(frame: Frame) -> AsyncGenerator[Any, None]:
        value = await evaluate(first, frame)
        async with aclosing(produce(_own_frame(node, frame), value)) as items:
            async for item in items:
                yield item

    return stream, height + 2


def _produce_waiting(
    build: Build, loops: Sequence[Loop], element: Code
) -> Callable[[Frame, Any], AsyncGenerator[Any, None]]:
    inner = None if len(loops) == 1 else _produce_waiting(build, loops[1:], element)
    loop = loops[0]

    async def produce(frame: Frame, value: Any) -> AsyncGenerator[Any, None]:
        async with aclosing(items_in_turn(build, frame, value, loop.offset, loop.cost)) as items:
            async for item in items:
                if not await bound_and_wanted(loop, frame, item):
                    continue
                if inner is None:
                    yield await element.run(frame) if element.waits else element.run(frame)
                    continue
                async with aclosing(inner(frame, await evaluate(loops[1].source, frame))) as found:
                    async for each in found:
                        yield each

    return produce


def consume(build: Build, node: Generator, how: str) -> Code:
    """Return code that reads a waiting generator expression into a list, or as ``any`` or ``all`` does."""
    stream, height = _stream(build, node)

    async def run_list(frame: Frame) -> PlanList:
        items: list[Any] = []
        async for item in stream(frame):
            try:
                frame[0].meter.store(LIST_ITEM_BYTES)
            except Exception as error:
                raise build.fail(node.start, error) from error.__cause__
            items.append(item)
        return new_list(frame[0], items)

    stop_at = how == "any"

    async def run_decide(frame: Frame) -> bool:
        async with aclosing(stream(frame)) as items:
            async for item in items:
                if bool(item) is stop_at:
                    return stop_at
        return not stop_at

    return Code(run_list if how == "list" else run_decide, True, height + 2)
