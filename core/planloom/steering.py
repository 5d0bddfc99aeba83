"""Steering a run from any process: its driver is asked through the store, and what nobody drives is changed itself.

Reads are short, so that who looks on holds nothing up.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any

import attrs

from ._errors import Misuse
from .control import CANCEL, DRAIN_S
from .money import credits_of, show_credits
from .outcomes import ENDED_FACTS
from .status import ENDED, cancelling_now, left_off, status_now
from .stores import Books, Event, RunRow, Store

__all__ = ["Heard", "cancel_run", "follow_events", "raise_cap"]

_POLL_S = 0.1
_PAGE = 1_000
_CANCEL_S = DRAIN_S + 5.0
_ANSWERS_WITHIN_S = 1.0
_CANCELLED = "the run was cancelled while nobody drove it; `planloom resume {id}` goes on"


async def follow_events(store: Store, run_id: str, after: int = 0, poll_s: float = _POLL_S) -> AsyncIterator[Event]:
    """Yield a run's events with a higher number, as they come, until nobody drives the run."""
    while True:
        # Read first: what its driver wrote before it went is there then.
        driven = store.driver(run_id) is not None
        while page := store.events(run_id, after, _PAGE):
            for event in page:
                yield event
            after = page[-1].seq
        if not driven:
            return
        await asyncio.sleep(poll_s)


Heard = Callable[[Mapping[str, Any] | None], None]
"""Takes what :func:`planloom.status.cancelling_now` says once a driver heard; ``None`` when it has not by then."""


async def cancel_run(
    store: Store, row: RunRow, timeout_s: float = _CANCEL_S, heard: Heard = lambda cancelling: None
) -> str:
    """Cancel a run, whoever drives it; return its status then.

    A driver lets the calls in flight end, for up to 30 s. A run that has ended stays as it is.

    :param timeout_s: how long to wait for its driver.
    :param heard: told once what the driver lets end first, where it does, or that it has not answered for a second.
    """
    if store.driver(row.id) is not None:
        await store.post_request(row.id, CANCEL)
        await _until_undriven(store, row.id, timeout_s, heard)
        newest = store.run(row.id)
        assert newest is not None
        # A driver that died meanwhile left it running.
        return await _cancel_undriven(store, newest, heard) if store.driver(row.id) is None else newest.status
    return await _cancel_undriven(store, row, heard)


async def _until_undriven(store: Store, run_id: str, timeout_s: float, heard: Heard) -> None:
    clock = asyncio.get_running_loop().time
    asked_at, is_told, is_unheard = clock(), False, False
    while store.driver(run_id) is not None and clock() < asked_at + timeout_s:
        if not is_told:
            row = store.run(run_id)
            cancelling = None if row is None else cancelling_now(row, row.status)
            if cancelling is not None:
                is_told = True
                heard(cancelling)
            elif not is_unheard and clock() > asked_at + _ANSWERS_WITHIN_S:
                is_unheard = True
                heard(None)
        await asyncio.sleep(_POLL_S)


async def _cancel_undriven(store: Store, row: RunRow, heard: Heard) -> str:
    """Cancel a run as its driver, so that no other process can go on with it meanwhile."""
    if await store.claim_run(row.id) is not None:
        return await cancel_run(store, row, heard=heard)
    try:
        newest = store.run(row.id)
        assert newest is not None
        if newest.status in ENDED:
            return newest.status
        # What it kept of how it ended is of an earlier start, where it went on since and died.
        stale = ENDED_FACTS if left_off(store, newest) else ()
        facts = {name: fact for name, fact in newest.facts.items() if name not in stale}
        await store.append_events(row.id, [_ended(store, newest)])
        error = _CANCELLED.format(id=row.id)
        await store.save_run(attrs.evolve(newest, status="cancelled", error=error, facts=facts))
        return "cancelled"
    finally:
        await store.release_run(row.id)


def _ended(store: Store, row: RunRow) -> Event:
    progress = store.progress(row.id)
    fields = {
        "status": "cancelled",
        "seconds": progress.t,
        "agents": progress.agents,
        "credits": credits_of(store.money(row.id)["spent"]),
        "holes": progress.holes,
    }
    return Event(seq=progress.seq + 1, t=progress.t, type="run.ended", data=fields)


async def raise_cap(store: Store, row: RunRow, cap: int) -> Books:
    """Give a run's job a higher cap; who waits for money goes on. Return the books.

    :raises Misuse: the cap is not higher, or the run will spend nothing any more.
    """
    from .job import books_of  # brings all that runs one

    status = status_now(store, row)
    if status in ENDED and status not in ("failed", "cancelled"):
        raise Misuse(
            f"the run {row.id} is {status} and spends nothing any more; `planloom show {row.id}` has what it came to"
        )
    books = await store.open_budget(books_of(row), row.facts["cap"])
    if cap <= books.cap:
        raise Misuse(f"the cap of {row.id} is {show_credits(books.cap)} credits already; name a higher one with --cap")
    return await store.set_cap(books_of(row), cap)
