"""Coroutines whose first step is taken by hand."""

from __future__ import annotations

import types
from collections.abc import Awaitable, Coroutine, Generator
from typing import Any

__all__ = ["awaited", "rest_of"]


@types.coroutine
def rest_of(work: Coroutine[Any, Any, Any], asked: Any) -> Generator[Any, Any, Any]:
    """Return what a coroutine returns whose first step was taken.

    :param asked: what that step gave, which the event loop has not seen yet.
    """
    while True:
        try:
            yield asked
        except BaseException as error:  # a cancel, which it may answer by waiting for something else
            try:
                asked = work.throw(error)
            except StopIteration as ended:
                return ended.value
        else:
            return (yield from work)


async def awaited(value: Awaitable[Any]) -> Any:
    """Return what anything that can be awaited gives."""
    return await value
