"""What a store is given and gives back: books, outcomes of a reservation, runs, threads, events.

Amounts are micro-credits.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, NamedTuple

import attrs

from ._often_made import often_made
from .data_classes import frozen
from .questions import Reply

__all__ = [
    "Answered",
    "Books",
    "Event",
    "Granted",
    "OpenElsewhere",
    "OverCap",
    "Request",
    "ReserveResult",
    "RunHolder",
    "RunProgress",
    "RunRow",
    "ThreadRow",
    "ThreadTrace",
    "UncertainCall",
]


@frozen(kw_only=True)
class Books:
    """One budget: its cap, and what is spent, reserved for calls in flight, and of unknown outcome."""

    cap: int
    spent: int
    reserved: int
    uncertain: int

    @property
    def left(self) -> int:
        """What may still be reserved; never below 0. Uncertain money counts as spent."""
        return max(0, self.cap - self.spent - self.reserved - self.uncertain)


@often_made
class Granted:
    """The call may be sent; ``call_id`` names it until it is settled."""

    call_id: str


@frozen
class Answered:
    """The ledger has an answer after all."""

    reply: Reply


@frozen
class OpenElsewhere:
    """Another owner has this very question in flight."""

    call_id: str


@frozen
class OverCap:
    """The call would pass a cap; ``version`` is what :meth:`planloom.stores.Store.version` said then.

    :ivar books: those whose cap it is: the job's, or the whole store's. :ivar of_store: whether it is the store's.
    """

    books: Books
    version: int
    of_store: bool = False


ReserveResult = Granted | Answered | OpenElsewhere | OverCap


@frozen(kw_only=True)
class UncertainCall:
    """A call of unknown outcome: what a person needs to decide whether it was billed.

    :ivar worst: what stays charged for it. :ivar sent_at: ``None`` where an older planloom sent it.
    """

    call_id: str
    run: str
    thread: str
    worst: int
    sent_at: datetime | None


@often_made(kw_only=True)
class Event:
    """One line of a run's event stream; ``data`` holds the fields of its type as ``records`` name them.

    :ivar seq: from 1, without gaps. :ivar t: seconds since the run began.
    """

    seq: int
    t: float
    type: str
    data: Mapping[str, Any]


@frozen(kw_only=True)
class RunRow:
    """A run as stored. JSON columns are plain data.

    :ivar job: what makes two runs runs of the same job; see :meth:`planloom.stores.Store.runs`.
    :ivar status: created, held, refused, running, paused, completed, failed, cancelled, interrupted, runaway.
    :ivar facts: everything else that a run keeps: kits with versions, arguments, manifest, fact sheet, estimate, gate
        decision, phases, counts, cost.
    """

    id: str
    title: str
    status: str
    plan: str
    plan_hash: str
    budget: str
    created_at: str
    job: str = ""
    facts: Mapping[str, Any] = attrs.field(factory=dict)
    result: Any = None
    error: str | None = None


@often_made(kw_only=True)
class ThreadRow:
    """What a worker leaves behind.

    :ivar place: its path in the plan. :ivar fingerprints: the questions it asked, in order.
    :ivar versions: the stored reply it used for each of them; see :attr:`planloom.questions.Reply.version`.
    :ivar raw: the raw text of its last answer, kept whole.
    """

    id: str
    run: str
    place: str
    phase: str
    label: str
    model: str
    role: str
    status: str
    started: float | None = None
    ended: float | None = None
    cost: int = 0
    fingerprints: tuple[str, ...] = ()
    versions: tuple[int, ...] = ()
    result: Any = None
    error: str | None = None
    raw: str | None = None


class ThreadTrace(NamedTuple):
    """What a later start of a run needs of a thread; as cheap as can be, since there may be very many."""

    id: str
    place: str
    phase: str
    label: str
    status: str
    error: str | None
    fingerprints: tuple[str, ...]
    versions: tuple[int, ...]


@frozen(kw_only=True)
class RunHolder:
    """The open store that drives a run.

    :ivar machine: as :func:`planloom.processes.this_machine` names it. :ivar alive_since: when it took the run.
    :ivar here: whether it is the store that was asked.
    """

    machine: str
    pid: int
    alive_since: datetime
    here: bool


@frozen(kw_only=True)
class Request:
    """What another process asks of a run's driver.

    :ivar number: from 1, without gaps within a run. :ivar what: such as ``cancel``.
    """

    number: int
    what: str
    data: Any = None


@frozen(kw_only=True)
class RunProgress:
    """How far a run is, counted by the store; cheap however long the run.

    :ivar threads: how many are of each status. :ivar agents: those of them that ever started.
    :ivar events: how many are of each type, from all its starts.
    :ivar seq: number of the last event, 0 when there is none. :ivar t: its time.
    :ivar phase: the event of the last phase that started.
    :ivar pause: the last event about the budget, a breaker or the disk.
    :ivar holes: failed workers, and what was dropped or left undecided since the run last started.
    """

    threads: Mapping[str, int]
    events: Mapping[str, int]
    seq: int = 0
    t: float = 0.0
    phase: Event | None = None
    pause: Event | None = None
    holes: int = 0
    agents: int = 0
