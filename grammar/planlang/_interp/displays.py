"""Displays of lists, tuples, sets and dicts, f-strings, subscripts and slices."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from planlang._nodes import (
    DictDisplay,
    Field,
    FString,
    ListDisplay,
    Node,
    SetDisplay,
    Slice,
    Starred,
    Subscript,
    TupleDisplay,
)

from .context import Build, Code, Run, eager, tallest
from .iterate import items_of
from .meter import LIST_BYTES, LIST_ITEM_BYTES, TEXT_BYTES, TUPLE_BYTES, TUPLE_ITEM_BYTES
from .subscripts import get_item
from .text import format_value, str_of
from .values import Frame, PlanDict, PlanList, new_dict, new_list, new_set, type_name
from .walk import LONG_KEY, check_key

__all__ = [
    "dict_display",
    "fstring",
    "list_display",
    "set_display",
    "slice_parts",
    "subscript",
    "tuple_display",
]

_SHORT: Final = 4_096  # characters that may be joined before they are paid for


def _spread(build: Build, nodes: list[Node]) -> tuple[list[Code], Callable[[Frame, list[Any]], list[Any]]]:
    """Return code for each item and a function that puts the items of starred ones in their place."""
    starred = [type(node) is Starred for node in nodes]
    parts = [build.code(node.value if isinstance(node, Starred) else node) for node in nodes]
    if not any(starred):
        return parts, lambda _frame, values: values

    def spread(frame: Frame, values: list[Any]) -> list[Any]:
        items: list[Any] = []
        for value, is_starred in zip(values, starred, strict=True):
            if is_starred:
                items.extend(items_of(frame, value))
            else:
                items.append(value)
        return items

    return parts, spread


def _fixed(
    build: Build, node: ListDisplay | TupleDisplay, parts: list[Code], size_bytes: int, make: Callable[..., Any]
) -> Code | None:
    """Return the code of a display whose length is known and whose items cannot wait, else ``None``."""
    if any(part.waits for part in parts) or any(isinstance(item, Starred) for item in node.items):
        return None
    memory, meter, fail, offset = build.meter.bytes, build.meter, build.fail, node.start
    runs = [part.run for part in parts]

    def run(frame: Frame) -> Any:
        left = memory[0] = memory[0] - size_bytes
        if left < 0:
            raise fail(offset, meter.memory_error())
        return make(frame, [part(frame) for part in runs])

    return Code(run, False, 3 + tallest(parts))


def _make_list(frame: Frame, items: list[Any]) -> PlanList:
    made = PlanList(items)
    made.owner = frame[0]
    made.locks = 0
    return made


def list_display(build: Build, node: ListDisplay) -> Code:
    """Return code for ``[...]``."""
    parts, spread = _spread(build, node.items)
    fixed = _fixed(build, node, parts, LIST_BYTES + LIST_ITEM_BYTES * len(parts), _make_list)
    if fixed is not None:
        return fixed

    def finish(frame: Frame, values: list[Any]) -> PlanList:
        items = spread(frame, values)
        frame[0].meter.list_of(len(items))
        return new_list(frame[0], items)

    return eager(build, node.start, parts, finish)


def tuple_display(build: Build, node: TupleDisplay) -> Code:
    """Return code for ``(...)``."""
    parts, spread = _spread(build, node.items)
    size_bytes = TUPLE_BYTES + TUPLE_ITEM_BYTES * len(parts)
    fixed = _fixed(build, node, parts, size_bytes, lambda _frame, items: tuple(items))
    if fixed is not None:
        return fixed

    def finish(frame: Frame, values: list[Any]) -> tuple[Any, ...]:
        items = spread(frame, values)
        frame[0].meter.tuple_of(len(items))
        return tuple(items)

    return eager(build, node.start, parts, finish)


def set_display(build: Build, node: SetDisplay) -> Code:
    """Return code for ``{...}`` without colons."""
    parts, spread = _spread(build, node.items)

    def finish(frame: Frame, values: list[Any]) -> Any:
        items = spread(frame, values)
        meter = frame[0].meter
        meter.dict_of(len(items))
        for item in items:
            check_key(meter, item)
        return new_set(frame[0], items)

    return eager(build, node.start, parts, finish)


def dict_display(build: Build, node: DictDisplay) -> Code:
    """Return code for ``{key: value, **more}``."""
    parts: list[Code] = []
    for key, value in zip(node.keys, node.values, strict=True):
        if key is not None:
            parts.append(build.code(key))
        parts.append(build.code(value))
    spreads = [key is None for key in node.keys]

    def finish(frame: Frame, values: list[Any]) -> PlanDict:
        made = new_dict(frame[0])
        meter = frame[0].meter
        meter.dict_of(len(spreads))
        remaining = iter(values)
        for is_spread in spreads:
            first = next(remaining)
            if is_spread:
                _merge(frame, made, first)
            else:
                check_key(meter, first)
                made[first] = next(remaining)
        return made

    return eager(build, node.start, parts, finish)


def _merge(frame: Frame, made: PlanDict, source: Any) -> None:
    if type(source) is not PlanDict:
        raise TypeError(f"'{type_name(source)}' object is not a mapping")
    frame[0].meter.grow_dict(len(made), len(source))
    frame[0].meter.match_keys(min(len(made), len(source)))
    made.update(source)


def fstring(build: Build, node: FString) -> Code:
    """Return code for an f-string; values are formatted one by one, as they are read."""
    parts = [part if isinstance(part, str) else _field(build, part) for part in node.parts]
    fields = [part for part in parts if isinstance(part, Code)]
    if any(field.waits for field in fields):
        return eager(build, node.start, [_text(part) if isinstance(part, str) else part for part in parts], _joined)
    fail = build.fail
    pieces = [part if isinstance(part, str) else part.run for part in parts]

    def run(frame: Frame) -> str:
        texts = [piece if type(piece) is str else piece(frame) for piece in pieces]  # type: ignore[operator] # type() does not narrow
        try:
            return _joined(frame, texts)
        except Exception as error:
            raise fail(node.start, error) from error.__cause__

    return Code(run, False, 4 + tallest(fields))


def _text(text: str) -> Code:
    return Code(lambda _frame: text, False, 1)


def _joined(frame: Frame, texts: list[Any]) -> str:
    meter = frame[0].meter
    length = sum(map(len, texts))
    if length > _SHORT:
        meter.text_of(length, wide=not all(text.isascii() for text in texts))
        return "".join(texts)
    joined = "".join(texts)
    meter.store(TEXT_BYTES + (length if joined.isascii() else 4 * length))
    return joined


def _field(build: Build, field: Field) -> Code:
    value = build.code(field.value)
    conversion = field.conversion
    if field.spec is None and not conversion and not value.waits:
        return Code(_plain_field(build, value.run, field.start), False, 5 + value.height)
    parts = [value] if field.spec is None else [value, fstring(build, field.spec)]

    def finish(frame: Frame, values: list[Any]) -> str:
        return format_value(frame[0].meter, values[0], conversion, values[1] if len(values) > 1 else "")

    return eager(build, field.start, parts, finish, 6)


def _plain_field(build: Build, evaluate: Run, offset: int) -> Run:
    """Return the closure of a field without conversion and specification; short texts are paid for when joined."""
    fail = build.fail

    def run(frame: Frame) -> str:
        value = evaluate(frame)
        kind = type(value)
        if kind is str:
            return value  # type: ignore[no-any-return] # type() does not narrow
        if kind is int:
            return str(value)
        try:
            return str_of(frame[0].meter, value)
        except Exception as error:
            raise fail(offset, error) from error.__cause__

    return run


def subscript(build: Build, node: Subscript) -> Code:
    """Return code for ``value[index]``."""
    fail = build.fail
    offset = node.start
    if isinstance(node.index, Slice):
        parts = [build.code(node.value), *slice_parts(build, node.index)]
        return eager(build, offset, parts, lambda frame, v: get_item(frame, v[0], slice(v[1], v[2], v[3])))
    value, index = build.codes([node.value, node.index])
    if value.waits or index.waits:
        return eager(build, offset, [value, index], lambda frame, v: get_item(frame, v[0], v[1]), 6)
    value_run, index_run = value.run, index.run

    def run(frame: Frame) -> Any:
        container = value_run(frame)
        key = index_run(frame)
        kind = type(container)
        if kind is PlanList:
            if type(key) is int and -len(container) <= key < len(container):
                return container[key]
        elif kind is PlanDict:
            cheap = (type(key) is str and len(key) < LONG_KEY) or type(key) is int
            if cheap and key in container:
                return container[key]
        try:
            return get_item(frame, container, key)
        except Exception as error:
            raise fail(offset, error) from error.__cause__

    return Code(run, False, 6 + max(value.height, index.height))


def slice_parts(build: Build, node: Slice) -> list[Code]:
    """Return code for the three parts of a slice; a missing one gives ``None``."""
    nothing = Code(lambda _frame: None, False, 1)
    return [nothing if part is None else build.code(part) for part in (node.lower, node.upper, node.step)]
