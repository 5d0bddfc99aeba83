"""Comprehensions: a nest of closures, one a clause, around one that keeps an element."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import aclosing
from typing import Any, Final, NamedTuple

from planlang._nodes import DictComp, ListComp, Node, SetComp

from .context import HEADER, Build, Code, tallest
from .generators import Loop, bound_and_wanted, height_of, loops_of
from .meter import DICT_ENTRY_BYTES, LIST_ITEM_BYTES
from .sources import evaluate, items_in_turn, lockable, opened
from .values import UNBOUND, Frame, new_dict, new_list, new_set
from .walk import check_key

__all__ = ["dict_comp", "list_comp", "set_comp"]

Keep = Callable[[Frame, Any], Any]


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


def _each_waiting(build: Build, loop: Loop, inner: Keep) -> Callable[[Frame, Any, Any], Any]:
    async def run(frame: Frame, value: Any, out: Any) -> None:
        async with aclosing(items_in_turn(build, frame, value, loop.offset, loop.cost)) as items:
            async for item in items:
                if await bound_and_wanted(loop, frame, item):
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
    loops = loops_of(build, node.clauses, elements)
    fresh, fail = _fresh(node), build.fail
    keep = _keep(build, parts, display, node.start)
    height = 4 + 3 * len(loops) + max(tallest(parts), *(height_of(loop) for loop in loops))
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
