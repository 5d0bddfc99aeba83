"""What stands on the left of ``=`` or after ``for``: names, subscripts, and patterns of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from planlang._nodes import CELL, GLOBAL, ListDisplay, Name, Node, Slice, Starred, Subscript, TupleDisplay

from .context import HEADER, Build, Code, tallest
from .displays import slice_parts
from .iterate import items_of, length_of, native_iterator
from .subscripts import set_item
from .values import Frame, PlanDict, PlanList, new_list, type_name
from .walk import LONG_KEY

__all__ = ["Setter", "name_setter", "target"]


class Setter(NamedTuple):
    """Code that gives a value to a target: ``run(frame, value)``."""

    run: Callable[[Frame, Any], Any]
    waits: bool
    height: int


def target(build: Build, node: Node) -> Setter:
    """Return the setter of a target."""
    if isinstance(node, Name):
        return Setter(name_setter(build, node), False, 1)
    if isinstance(node, Subscript):
        return _subscript(build, node)
    assert isinstance(node, ListDisplay | TupleDisplay), "the parser lets nothing else be a target"
    return _pattern(build, node)


def name_setter(build: Build, node: Name) -> Callable[[Frame, Any], None]:
    """Return a function that binds the name."""
    cells, at = build.globals, node.slot
    slot = node.slot + HEADER

    def set_global(_frame: Frame, value: Any) -> None:
        cells[at] = value

    def set_cell(frame: Frame, value: Any) -> None:
        frame[slot][0] = value

    def set_local(frame: Frame, value: Any) -> None:
        frame[slot] = value

    return set_global if node.kind == GLOBAL else set_cell if node.kind == CELL else set_local


def subscript_parts(build: Build, node: Subscript) -> tuple[list[Code], Callable[[list[Any]], Any]]:
    """Return code for the container and the parts of the index, and a function that makes the index of them."""
    if isinstance(node.index, Slice):
        return [build.code(node.value), *slice_parts(build, node.index)], lambda values: slice(*values[1:])
    return build.codes([node.value, node.index]), lambda values: values[1]


def _subscript(build: Build, node: Subscript) -> Setter:
    parts, index = subscript_parts(build, node)
    fail = build.fail
    height = 6 + tallest(parts)

    def store(frame: Frame, values: list[Any], value: Any) -> None:
        try:
            set_item(frame, values[0], index(values), value)
        except Exception as error:
            raise fail(node.start, error) from error.__cause__

    if not any(part.waits for part in parts):
        return Setter(_store_plain(parts, store), False, height)

    async def run_waiting(frame: Frame, value: Any) -> None:
        values = [await part.run(frame) if part.waits else part.run(frame) for part in parts]
        store(frame, values, value)

    return Setter(run_waiting, True, height)


def _store_plain(parts: list[Code], store: Callable[[Frame, list[Any], Any], None]) -> Callable[[Frame, Any], None]:
    runs = [part.run for part in parts]
    if len(runs) > 2:  # a slice
        return lambda frame, value: store(frame, [run(frame) for run in runs], value)
    container_run, key_run = runs

    def run(frame: Frame, value: Any) -> None:
        container = container_run(frame)
        key = key_run(frame)
        cheap = (type(key) is str and len(key) < LONG_KEY) or type(key) is int
        if cheap and type(container) is PlanDict and key in container and container.owner is frame[0]:
            container[key] = value
        else:
            store(frame, [container, key], value)

    return run


def _pattern(build: Build, node: ListDisplay | TupleDisplay) -> Setter:
    setters = [target(build, item.value if isinstance(item, Starred) else item) for item in node.items]
    star = next((at for at, item in enumerate(node.items) if isinstance(item, Starred)), None)
    height = 4 + max((setter.height for setter in setters), default=0)
    fail = build.fail
    count = len(setters)

    def unpack(frame: Frame, value: Any) -> Any:
        if star is None and type(value) is tuple and len(value) == count:
            return value
        try:
            return _exactly(frame, value, count) if star is None else _around(frame, value, star, count - 1 - star)
        except Exception as error:
            raise fail(node.start, error) from error.__cause__

    def run(frame: Frame, value: Any) -> None:
        for setter, item in zip(setters, unpack(frame, value), strict=True):
            setter.run(frame, item)

    if not any(setter.waits for setter in setters):
        return Setter(run, False, height)

    async def run_waiting(frame: Frame, value: Any) -> None:
        for setter, item in zip(setters, unpack(frame, value), strict=True):
            if setter.waits:
                await setter.run(frame, item)
            else:
                setter.run(frame, item)

    return Setter(run_waiting, True, height)


def _exactly(frame: Frame, value: Any, count: int) -> list[Any]:
    """Return exactly so many items; an iterator is read one item further at most."""
    if length_of(value) is None and not hasattr(value, "iterator"):
        raise TypeError(f"cannot unpack non-iterable {type_name(value)} object")
    items: list[Any] = []
    for item in native_iterator(frame, value):
        if len(items) == count:
            raise ValueError(f"too many values to unpack (expected {count})")
        items.append(item)
    if len(items) < count:
        raise ValueError(f"not enough values to unpack (expected {count}, got {len(items)})")
    # Copied: a target may change the list that is being unpacked.
    return items


def _around(frame: Frame, value: Any, before: int, after: int) -> list[Any]:
    if length_of(value) is None and not hasattr(value, "iterator"):
        raise TypeError(f"cannot unpack non-iterable {type_name(value)} object")
    items = list(items_of(frame, value))
    if len(items) < before + after:
        raise ValueError(f"not enough values to unpack (expected at least {before + after}, got {len(items)})")
    end = len(items) - after
    middle: PlanList = new_list(frame[0], items[before:end])
    return [*items[:before], middle, *items[end:]]
