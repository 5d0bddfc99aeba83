"""What a run may spend when it starts: what its job's cap allows, and what a cap of the store leaves for it.

All of it is at full price. What the job paid before brings answers that cost nothing now, so that it stands in the
store's books and is no other job's: it is added to what the store has left, from which the run takes its answers at the
price they once had. So a run that is begun again sees what it saw before, whatever it paid since.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import attrs

from .data_classes import frozen
from .job import Job
from .stores import Store

if TYPE_CHECKING:
    from .loom import Loom

__all__ = ["Room", "room_for", "store_room", "unspent"]


@frozen(kw_only=True)
class Room:
    """What the next run of a job may spend, in micro-credits at full price; planning is paid from the same.

    :ivar job: what the job's cap allows. :ivar store: what the store's cap leaves for it, below 0 where that was
        lowered; ``None`` when the store has no cap. :ivar store_cap: that cap. :ivar planned: what planning cost.
    :ivar recorded: what ``budget()`` returned in the unfinished run that this one takes the journal of, by place.
    """

    job: int
    store: int | None = None
    store_cap: int = 0
    planned: int = 0
    recorded: Mapping[str, Any] = attrs.field(factory=dict)

    @property
    def budget(self) -> int:
        """What the job may spend in all: the smaller of the two, never below 0."""
        return max(0, self.job if self.store is None else min(self.job, self.store))

    @property
    def left(self) -> int:
        """What ``budget()`` starts from."""
        return max(0, self.budget - self.planned)

    @property
    def left_of_job(self) -> int:
        """What the job's cap alone would leave."""
        return max(0, self.job - self.planned)

    def enough(self, price: int) -> int:
        """Return the cap of the store under which a run of that price could be paid."""
        assert self.store is not None
        return self.store_cap + self.planned + price - self.store


def room_for(loom: Loom, job: Job, source: str, budget: str = "") -> Room:
    """Return what a run of this plan may spend if it were begun now.

    :param budget: its books, where it has some already; else those of the job's unfinished run.
    """
    before = loom.unfinished(job)
    books = budget or (before.budget if before is not None else "")
    configured = loom.settings.store_cap
    whole = loom.store.store_books(configured)
    return Room(
        job=job.cap,
        store=store_room(loom.store, job, books, configured),
        store_cap=0 if whole is None else whole.cap,
        recorded={place: entry for place, entry in loom.recorded(job, source).items() if entry["word"] == "budget"},
    )


def store_room(store: Store, job: Job, budget: str, configured: int | None = None) -> int | None:
    """Return what the store's cap leaves for a job, before its run took anything; ``None`` when there is no such cap.

    :param budget: the books of its run. What other runs of it paid for counts as the job's own, unless it asks anew
        what they have answers to.
    :param configured: the cap that the configuration says, which a store that is only read does not have yet.
    """
    whole = store.store_books(configured)
    if whole is None:
        return None
    own = store.books(budget).spent if job.refresh else store.paid(job.key, budget)
    return whole.cap - whole.spent - whole.reserved - whole.uncertain + own


def unspent(store: Store, budget: str) -> int:
    """Return what may still be spent from these books as they stand, whatever its answers once cost."""
    whole, own = store.store_books(), store.books(budget)
    left = [books.cap - books.spent - books.reserved - books.uncertain for books in (own, whole) if books is not None]
    return min(left)
