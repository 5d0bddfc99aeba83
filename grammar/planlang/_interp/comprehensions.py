"""Comprehensions and generator expressions.

A comprehension is a nest of closures, one a clause, around one that keeps an element. A generator expression is a
host generator over a frame of its own, so that it is lazy; one whose elements wait is an async generator, which is
never a value: the builtin, method or loop it stands in reads it directly.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from contextlib import aclosing
from typing import Any, Final, NamedTuple

from planlang._nodes import LOCAL, Clause, DictComp, Generator, ListComp, Name, Node, SetComp

from .blocks import cost_of
from .context import HEADER, Build, Code, Run, tallest, turn
from .functions import fill_frame
from .iterate import Lock, native_iterator
from .meter import DICT_ENTRY_BYTES, ITERATOR_BYTES, LIST_ITEM_BYTES, LimitHitError
from .targets import Setter, target
from .values import UNBOUND, DictView, Frame, LazyIterator, PlanDict, PlanList, PlanSet, new_dict, new_list, new_set
from .walk import check_key

__all__ = [
    "Source",
    "consume",
    "dict_comp",
    "evaluate",
    "generator",
    "items_in_turn",
    "list_comp",
    "lockable",
    "opened",
    "set_comp",
    "source",
]

Keep = Callable[[Frame, Any], Any]
_LOCKABLE: Final = (PlanList, PlanDict, PlanSet)
_GENERATOR_FRAMES: Final = 3
_LAZY_DEPTH: Final = 50


class Source(NamedTuple):
    """What a loop reads from: code for an iterable, or ``stream(frame)`` that opens an async generator."""

    code: Code | None
    stream: Callable[[Frame], AsyncGenerator[Any, None]] | None
    waits: bool
    height: int


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


def lockable(value: Any) -> Any:
    """Return what must not change while ``value`` is iterated over, or ``None``."""
    if type(value) in _LOCKABLE:
        return value
    return value.source if type(value) is DictView else None


def source(build: Build, node: Node) -> Source:
    """Return what the loop reads from."""
    if isinstance(node, Generator) and node.body_waits:
        stream, height = _stream(build, node)
        return Source(None, stream, True, height)
    code = build.code(node)
    return Source(code, None, code.waits, code.height)


def _loops(build: Build, clauses: Sequence[Clause], elements: Sequence[Node]) -> list[Loop]:
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


def opened(build: Build, frame: Frame, value: Any, offset: int) -> Iterator[Any]:
    """Return the host's iterator for a value; a value that cannot be iterated fails at the offset."""
    try:
        return native_iterator(frame, value)
    except Exception as error:
        raise build.fail(offset, error) from error.__cause__


# --- nests of loops that cannot wait --------------------------------------------------------------------------


def _nest(build: Build, loops: Sequence[Loop], keep: Keep) -> Keep:
    """Return ``run(frame, out)`` for all loops but that the first gets its iterable as ``out``'s neighbour."""
    inner = keep
    for loop in reversed(loops[1:]):
        inner = _with_source(loop, _each(build, loop, inner))
    return inner


def _with_source(loop: Loop, each: Callable[[Frame, Any, Any], None]) -> Keep:
    assert loop.source.code is not None
    iterable = loop.source.code.run

    def run(frame: Frame, out: Any) -> None:
        each(frame, iterable(frame), out)

    return run


def _each(build: Build, loop: Loop, inner: Keep) -> Callable[[Frame, Any, Any], None]:
    steps, tick, offset, cost = build.slice, build.tick, loop.offset, loop.cost
    bind, slot = loop.bind.run, loop.slot
    tests = [test.run for test in loop.conditions]

    def run(frame: Frame, value: Any, out: Any) -> None:
        iterator = opened(build, frame, value, offset)
        held = lockable(value)
        if held is not None:
            held.locks += 1
        try:
            for item in iterator:
                left = steps[0] = steps[0] - cost
                if left < 0:
                    tick(offset)
                if slot is None:
                    bind(frame, item)
                else:
                    frame[slot] = item
                for test in tests:
                    if not test(frame):
                        break
                else:
                    inner(frame, out)
        finally:
            if held is not None:
                held.locks -= 1

    return run


# --- nests of loops that may wait -----------------------------------------------------------------------------


def _nest_waiting(build: Build, loops: Sequence[Loop], keep: Keep, keep_waits: bool) -> Keep:
    inner = keep if keep_waits else _as_waiting(keep)
    for loop in reversed(loops[1:]):
        inner = _waiting_source(loop, _each_waiting(build, loop, inner))
    return inner


def _as_waiting(keep: Keep) -> Keep:
    async def run(frame: Frame, out: Any) -> None:
        keep(frame, out)

    return run


def _waiting_source(loop: Loop, each: Callable[[Frame, Any, Any], Any]) -> Keep:
    async def run(frame: Frame, out: Any) -> None:
        await each(frame, await evaluate(loop.source, frame), out)

    return run


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


def _each_waiting(build: Build, loop: Loop, inner: Keep) -> Callable[[Frame, Any, Any], Any]:
    async def run(frame: Frame, value: Any, out: Any) -> None:
        async with aclosing(items_in_turn(build, frame, value, loop.offset, loop.cost)) as items:
            async for item in items:
                if await _bound_and_wanted(loop, frame, item):
                    await inner(frame, out)

    return run


# --- displays -----------------------------------------------------------------------------------------------------


class Display(NamedTuple):
    """What one kind of comprehension does: start a container, keep elements in it, make the plan's value of it."""

    start: Callable[[], Any]
    store: Callable[[Frame, Any, list[Any]], None]
    finish: Callable[[Frame, Any], Any]


def _store_item(frame: Frame, out: Any, values: list[Any]) -> None:
    frame[0].meter.store(LIST_ITEM_BYTES)
    out.append(values[0])


def _store_entry(frame: Frame, out: Any, values: list[Any]) -> None:
    meter = frame[0].meter
    check_key(meter, values[0])
    meter.store(DICT_ENTRY_BYTES)
    out[values[0]] = values[1] if len(values) > 1 else None


_LIST: Final = Display(list, _store_item, lambda frame, out: new_list(frame[0], out))
_SET: Final = Display(dict, _store_entry, lambda frame, out: new_set(frame[0], out))
_DICT: Final = Display(dict, _store_entry, lambda frame, out: new_dict(frame[0], out))


def list_comp(build: Build, node: ListComp) -> Code:
    """Return code for a list comprehension."""
    return _comprehension(build, node, [node.element], _LIST)


def set_comp(build: Build, node: SetComp) -> Code:
    """Return code for a set comprehension."""
    return _comprehension(build, node, [node.element], _SET)


def dict_comp(build: Build, node: DictComp) -> Code:
    """Return code for a dict comprehension."""
    return _comprehension(build, node, [node.key, node.value], _DICT)


def _fresh(node: ListComp | SetComp | DictComp) -> Callable[[Frame], None]:
    """Return a function that unbinds the comprehension's variables, or gives them fresh cells."""
    slots = [(slot + HEADER, slot in node.cells) for slot in {*node.slots, *node.cells}]

    def fresh(frame: Frame) -> None:
        for slot, is_cell in slots:
            frame[slot] = [UNBOUND] if is_cell else UNBOUND

    return fresh


def _keep(build: Build, parts: list[Code], display: Display, offset: int) -> Keep:
    fail, store = build.fail, display.store
    memory, runs = build.meter.bytes, [part.run for part in parts]

    def keep_item(frame: Frame, out: Any) -> None:
        item = runs[0](frame)
        left = memory[0] = memory[0] - LIST_ITEM_BYTES
        if left < 0:
            raise fail(offset, build.meter.memory_error())
        out.append(item)

    def keep(frame: Frame, out: Any) -> None:
        values = [run(frame) for run in runs]
        try:
            store(frame, out, values)
        except Exception as error:
            raise fail(offset, error) from error.__cause__

    async def keep_waiting(frame: Frame, out: Any) -> None:
        values = [await part.run(frame) if part.waits else part.run(frame) for part in parts]
        try:
            store(frame, out, values)
        except Exception as error:
            raise fail(offset, error) from error.__cause__

    if any(part.waits for part in parts):
        return keep_waiting
    return keep_item if display is _LIST else keep


def _comprehension(build: Build, node: ListComp | SetComp | DictComp, elements: list[Node], display: Display) -> Code:
    parts = build.codes(elements)
    loops = _loops(build, node.clauses, elements)
    fresh, fail = _fresh(node), build.fail
    keep = _keep(build, parts, display, node.start)
    height = 4 + 3 * len(loops) + max(tallest(parts), *(_height(loop) for loop in loops))
    body_waits = any(part.waits for part in parts)
    first = loops[0]

    def started(frame: Frame) -> Any:
        fresh(frame)
        try:
            frame[0].meter.list_of(0) if display is _LIST else frame[0].meter.dict_of(0)
        except Exception as error:
            raise fail(node.start, error) from error.__cause__
        return display.start()

    if not body_waits and not any(loop.waits for loop in loops):
        assert first.source.code is not None
        iterable = first.source.code.run
        each = _each(build, first, _nest(build, loops, keep))

        def run(frame: Frame) -> Any:
            value = iterable(frame)
            out = started(frame)
            each(frame, value, out)
            return display.finish(frame, out)

        return Code(run, False, height)

    each_waiting = _each_waiting(build, first, _nest_waiting(build, loops, keep, body_waits))

    async def run_waiting(frame: Frame) -> Any:
        value = await evaluate(first.source, frame)
        out = started(frame)
        await each_waiting(frame, value, out)
        return display.finish(frame, out)

    return Code(run_waiting, True, height)


def _height(loop: Loop) -> int:
    return max(loop.source.height, loop.bind.height, tallest(loop.conditions))


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
    loops = _loops(build, node.clauses, [node.element])
    first = loops[0]
    if any(loop.waits for loop in loops[1:]) or first.source.code is None:
        return Code(_refused(build, node), False, 1)
    iterable = first.source.code
    produce = _produce(build, loops, element.run)
    frames = _GENERATOR_FRAMES * len(loops) + max(element.height, *(_height(loop) for loop in loops))

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
                if not all_hold(tests, frame):
                    continue
                if inner is None or next_source is None:
                    yield element(frame)
                else:
                    yield from inner(frame, next_source(frame))
        finally:
            if lock is not None:
                lock.release()

    return produce


def all_hold(tests: Sequence[Run], frame: Frame) -> bool:
    """Tell whether all conditions hold, tried in order."""
    for test in tests:  # noqa: SIM110 - a generator would be one more host frame
        if not test(frame):
            return False
    return True


def _stream(build: Build, node: Generator) -> tuple[Callable[[Frame], AsyncGenerator[Any, None]], int]:
    """Return a function that opens the async generator of an expression that waits."""
    element = build.code(node.element)
    loops = _loops(build, node.clauses, [node.element])
    produce = _produce_waiting(build, loops, element)
    first = loops[0].source
    height = _GENERATOR_FRAMES * len(loops) + max(element.height, *(_height(loop) for loop in loops))

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
                if not await _bound_and_wanted(loop, frame, item):
                    continue
                if inner is None:
                    yield await element.run(frame) if element.waits else element.run(frame)
                    continue
                async with aclosing(inner(frame, await evaluate(loops[1].source, frame))) as found:
                    async for each in found:
                        yield each

    return produce


async def _bound_and_wanted(loop: Loop, frame: Frame, item: Any) -> bool:
    """Bind the loop's target and tell whether all its conditions hold."""
    if loop.bind.waits:
        await loop.bind.run(frame, item)
    else:
        loop.bind.run(frame, item)
    for test in loop.conditions:
        if not (await test.run(frame) if test.waits else test.run(frame)):
            return False
    return True


def consume(build: Build, node: Generator, how: str) -> Code:
    """Return code that reads a waiting generator expression into a list, or as ``any`` or ``all`` does."""
    stream, height = _stream(build, node)

    async def run_list(frame: Frame) -> PlanList:
        items: list[Any] = []
        async for item in stream(frame):
            try:
                _store_item(frame, items, [item])
            except Exception as error:
                raise build.fail(node.start, error) from error.__cause__
        return new_list(frame[0], items)

    stop_at = how == "any"

    async def run_decide(frame: Frame) -> bool:
        async with aclosing(stream(frame)) as items:
            async for item in items:
                if bool(item) is stop_at:
                    return stop_at
        return not stop_at

    return Code(run_list if how == "list" else run_decide, True, height + 2)
