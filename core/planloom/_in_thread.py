"""Work that would hold up an event loop, in a thread of its own that nobody has to wait for."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from threading import Thread
from typing import ParamSpec, TypeVar

__all__ = ["in_thread"]

P = ParamSpec("P")
T = TypeVar("T")


async def in_thread(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Return what a function returns, called in a thread.

    Who is cancelled meanwhile goes on at once, and the thread ends by itself: unlike :func:`asyncio.to_thread`, whose
    threads both the event loop and the process wait for, so that Ctrl-C would end a long rehearsal only with it.
    """
    loop = asyncio.get_running_loop()
    done: asyncio.Future[T] = loop.create_future()
    name = getattr(function, "__name__", "work")

    def tell(value: T | None, fault: BaseException | None) -> None:
        if done.cancelled():
            return
        if fault is None:
            done.set_result(value)  # type: ignore[arg-type]  # what the function returned
        else:
            done.set_exception(fault)

    def work() -> None:
        value: T | None = None
        fault: BaseException | None = None
        try:
            value = function(*args, **kwargs)
        except BaseException as error:
            fault = error
            if isinstance(error, StopIteration):  # which no future takes, so that who waits would wait for ever
                fault = RuntimeError(f"{name} raised StopIteration")
                fault.__cause__ = error
        with suppress(RuntimeError):  # the loop has closed: nobody waits any more
            loop.call_soon_threadsafe(tell, value, fault)

    Thread(target=work, name=name, daemon=True).start()
    return await done
