"""Calls a function value from code that cannot wait: keys, ``map``, ``filter``."""

from __future__ import annotations

from typing import Any

from .values import Builtin, Frame, GuestFunction, WordValue, type_name

__all__ = ["call_builtin", "call_value"]


def call_value(frame: Frame, function: Any, *args: Any) -> Any:
    """Return what a function value returns; :raises TypeError: it is none, or it may wait."""
    kind = type(function)
    if kind is GuestFunction:
        code = function.code
        if code.waits:
            raise TypeError(f"`{code.name}` may wait for a worker here; make a list of its results first")
        return code.run(code.enter(frame, function, args))
    if kind is Builtin:
        return call_builtin(frame, function, args, {})
    if kind is WordValue:
        if function.waits:
            raise TypeError(f"`{function.name}` may wait for a worker here; make a list of its results first")
        return function.call(frame, args, {}, frame[0].offset)
    raise TypeError(f"'{type_name(function)}' object is not callable")


def call_builtin(frame: Frame, builtin: Builtin, args: Any, keywords: dict[str, Any]) -> Any:
    """Return what a builtin returns; :raises TypeError: it does not take these arguments."""
    given = len(args)
    if not builtin.least <= given <= builtin.most:
        raise TypeError(f"{builtin.name} expected {builtin.expects()}, got {given}")
    for name in keywords:
        if builtin.keywords is not None and name not in builtin.keywords:
            raise TypeError(f"{builtin.name}() got an unexpected keyword argument '{name}'")
    return builtin.call(frame, *args, **keywords)
