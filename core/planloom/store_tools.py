"""Looking after a store as a whole: is it intact, what does it weigh, what may go, what does it hold.

A kind of store brings these tools beside the store itself (:attr:`planloom.stores.StorePlugin.tools`); they work on a
store that nobody need have open, and read in short steps, so that they can be used while runs go on.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Protocol

from .data_classes import frozen
from .stores import Books

__all__ = ["DOCTOR", "EXPORTED_KINDS", "Pruned", "Pruning", "Spender", "StoreStats", "StoreTools", "Weight"]

EXPORTED_KINDS = ("budget", "run", "thread", "event", "call", "part", "question", "reply")
"""What an export can hold, in the order it comes."""

DOCTOR = "doctor-"
"""What names of budgets begin with from which ``planloom doctor`` asks, which keeps no run."""


@frozen(kw_only=True)
class Weight:
    """One kind of content: how many there are, and what they take, near enough."""

    kind: str
    count: int
    size_bytes: int


@frozen(kw_only=True)
class Spender:
    """A run, as those know it who began it."""

    run: str
    title: str


@frozen(kw_only=True)
class StoreStats:
    """What a store holds and weighs.

    :ivar size_bytes: all of it. :ivar log_bytes: of these, what is committed and not yet in its place.
    :ivar free_bytes: of these, what is unused since something was pruned.
    :ivar budgets: the books by the budget's name. :ivar spenders: who spends from a budget: the runs that are kept,
        newest first, and what they are called.
    :ivar cap: what all jobs together may spend, ``None`` where only each of them has a cap.
    :ivar uncertain: calls of unknown outcome. :ivar oldest_at: when the first reply came, ``newest_at`` the last.
    """

    format: int
    size_bytes: int
    log_bytes: int
    free_bytes: int
    weights: tuple[Weight, ...]
    budgets: Mapping[str, Books]
    spenders: Mapping[str, tuple[Spender, ...]]
    cap: int | None
    uncertain: int
    oldest_at: datetime | None
    newest_at: datetime | None


@frozen(kw_only=True)
class Pruning:
    """Which runs may go: those that fit everything that is named here, at least one thing.

    :ivar before: created before this instant. :ivar statuses: of one of these; ``interrupted`` is also a
        run that says it runs and that nobody alive drives. :ivar runs: one of these.
    :ivar answers: also the texts of questions and answers of these runs that no other run uses; where ``before`` alone
        is named, all such texts from before it.
    """

    before: datetime | None = None
    runs: tuple[str, ...] = ()
    statuses: tuple[str, ...] = ()
    answers: bool = False


@frozen(kw_only=True)
class Pruned:
    """What went, or would go.

    :ivar runs: their ids. :ivar driven: runs that would have gone and stay, since a process drives them.
    :ivar size_bytes: of the rows and texts, as they are stored.
    :ivar shrunk: whether the room was given back to the disk; otherwise it is used for what comes next.
    """

    runs: tuple[str, ...]
    driven: tuple[str, ...]
    threads: int
    events: int
    replies: int
    questions: int
    parts: int
    size_bytes: int
    shrunk: bool


class StoreTools(Protocol):
    """The tools of one store. Every method raises :class:`planloom.StoreError` when there is no such store, it is of
    another format, or it cannot be read."""

    def check(self) -> Iterator[str]:
        """Yield what is wrong, a sentence a fault; nothing when all is whole.

        Every text is held against its hash, the books against the calls, the counts against what they count.
        """

    def stats(self) -> StoreStats:
        """Return what the store holds and weighs."""

    def prune(self, pruning: Pruning, *, apply: bool) -> Pruned:
        """Remove runs with their threads, events and journals; return what went, or with ``apply`` off would go.

        The lines about money stay: every call with its price, every budget. A run that a living process drives stays.

        :raises StoreError: answers are to go while another process has the store open.
        """

    def export(self, kinds: Sequence[str] = EXPORTED_KINDS) -> Iterator[Mapping[str, Any]]:
        """Yield everything of these kinds as plain data with the key ``kind``, amounts in micro-credits; see
        ``docs/reference/store.md``. Never more than a few hundred records are in memory."""
