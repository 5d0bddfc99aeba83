"""Texts of a plan's values, as CPython's ``str``, ``repr`` and ``format`` give them, charged before they grow."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from .meter import LimitHitError, Meter
from .values import (
    SCALARS,
    Builtin,
    DictView,
    GuestFunction,
    PlanDict,
    PlanList,
    PlanSet,
    WordValue,
    type_name,
)

__all__ = ["format_value", "repr_of", "str_of"]

_WIDTH: Final = re.compile(r"(?:.?[<>=^])?[ +-]?z?#?0?(\d*)[,_]?(?:\.(\d+))?[a-zA-Z%]?", re.DOTALL)
_OPEN: Final[dict[type, str]] = {PlanList: "[", tuple: "(", PlanDict: "{", PlanSet: "{"}
_AGAIN: Final[dict[type, str]] = {PlanList: "[...]", tuple: "(...)", PlanDict: "{...}", PlanSet: "{...}"}
_NUMBER_TEXT: Final = 32


def str_of(meter: Meter, value: Any) -> str:
    """Return ``str(value)``."""
    kind = type(value)
    if kind is str:
        return str(value)
    if kind in SCALARS:
        meter.text_of(_NUMBER_TEXT, wide=False)
        return str(value)
    return repr_of(meter, value)


def repr_of(meter: Meter, value: Any) -> str:
    """Return ``repr(value)``; a container inside itself shows as ``[...]``."""
    if type(value) in SCALARS:
        return _scalar(meter, value)
    pieces: list[str] = []
    length = 0
    for piece in _pieces(meter, value):
        length += len(piece)
        meter.text_of(len(piece), wide=not piece.isascii())
        if length > meter.limits.text_length:
            raise LimitHitError("text_length", length, meter.limits.text_length)
        pieces.append(piece)
    return "".join(pieces)


def _scalar(meter: Meter, value: Any) -> str:
    if type(value) is str:
        meter.text_of(len(value) + 2)
    return repr(value)


def _pieces(meter: Meter, value: Any) -> Iterator[str]:
    stack = [_shape(value)]
    active = [id(value)]
    while stack:
        for text, child in stack[-1]:
            meter.work(1)
            if text is not None:
                yield text
            elif type(child) in SCALARS:
                yield _scalar(meter, child)
            elif id(child) in active:
                yield _AGAIN.get(type(child), "...")
            else:
                if len(stack) > meter.limits.data_depth:
                    raise LimitHitError("data_depth", len(stack), meter.limits.data_depth)
                stack.append(_shape(child))
                active.append(id(child))
                break
        else:
            stack.pop()
            active.pop()


def _shape(value: Any) -> Iterator[tuple[str | None, Any]]:
    """Yield ``(text, None)`` for punctuation and ``(None, child)`` for what stands between it."""
    kind = type(value)
    if kind is PlanDict:
        return _dict_shape(value)
    if kind is PlanSet and not value:
        return iter((("set()", None),))
    if kind in _OPEN:
        close = {"[": "]", "(": ",)" if len(value) == 1 else ")", "{": "}"}[_OPEN[kind]]
        return _row(_OPEN[kind], value, close)
    if kind is DictView:
        return _row(f"dict_{value.kind}([", value.native(), "])")
    return iter(((_name(value), None),))


def _row(open_text: str, items: Any, close_text: str) -> Iterator[tuple[str | None, Any]]:
    yield open_text, None
    for number, item in enumerate(items):
        if number:
            yield ", ", None
        yield None, item
    yield close_text, None


def _dict_shape(value: PlanDict) -> Iterator[tuple[str | None, Any]]:
    yield "{", None
    for number, (key, item) in enumerate(value.items()):
        if number:
            yield ", ", None
        yield None, key
        yield ": ", None
        yield None, item
    yield "}", None


def _name(value: Any) -> str:
    if isinstance(value, range):
        return repr(value)
    if isinstance(value, GuestFunction | WordValue):
        return f"<function {value.name}>"
    if isinstance(value, Builtin):
        return f"<class '{value.name}'>" if value.holds else f"<built-in function {value.name}>"
    return f"<{type_name(value)}>"


def format_value(meter: Meter, value: Any, conversion: str, spec: str) -> str:
    """Return a field of an f-string.

    :param conversion: ``""``, ``"s"``, ``"r"`` or ``"a"``.
    """
    if conversion in ("r", "a"):
        value = repr_of(meter, value)
        if conversion == "a":
            value = value.encode("ascii", "backslashreplace").decode("ascii")
    elif conversion == "s" or (not spec and type(value) not in SCALARS):
        value = str_of(meter, value)
    if not spec:
        return value if type(value) is str else str_of(meter, value)
    if type(value) not in SCALARS or value is None:
        raise TypeError(f"unsupported format string passed to {type_name(value)}.__format__")
    length = len(value) if type(value) is str else _NUMBER_TEXT
    meter.text_of(length + _asked_length(spec))
    return format(value, spec)


def _asked_length(spec: str) -> int:
    """Return how long the specification can make a text; a malformed one is left to ``format`` to refuse."""
    found = _WIDTH.fullmatch(spec)
    if found is None:
        digits = re.findall(r"\d+", spec)
        return max((int(d[:18]) for d in digits), default=0)
    width, precision = found.groups()
    fixed = 310 if spec[-1:] in ("f", "F", "%") else 0
    return int((width or "0")[:18]) + int((precision or "0")[:18]) + fixed
