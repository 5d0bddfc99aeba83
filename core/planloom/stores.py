"""The contract of a store: ledger, books, journal and runs in one place, for every process that shares it.

Reads are synchronous, short and on the caller's thread. Writes are awaited: the answer comes back when the transaction
that holds it is committed, and not before. Money changes only by what a call row's own transition returned:

    reserve → sent → settled | released | uncertain;  uncertain → settled (a late reply) | released (a person)
    sent → waits, with nothing out → sent | released
    hedge → uncertain

so that a second settle changes nothing. Amounts are micro-credits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from ._stored import (
    Answered,
    Books,
    Event,
    Granted,
    OpenElsewhere,
    OverCap,
    Request,
    ReserveResult,
    RunHolder,
    RunProgress,
    RunRow,
    ThreadRow,
    ThreadTrace,
    UncertainCall,
)
from .data_classes import frozen
from .questions import Question, Reply

if TYPE_CHECKING:
    from .store_tools import StoreTools

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
    "Store",
    "StorePlugin",
    "ThreadRow",
    "ThreadTrace",
    "UncertainCall",
]


class Store(Protocol):
    """One open store. Made by a :class:`StorePlugin`; used from one event loop."""

    @property
    def where(self) -> str:
        """What to call it in messages: a path or an address without secrets."""

    # --- ledger and books
    def reply(self, fingerprint: str, version: int | None = None) -> Reply | None:
        """Return the answer to a question, with ``cached`` and ``version`` set, or ``None``.

        :param version: the stored reply to return in place of the answer; ``None`` comes back when this question has
            no such reply, or its text was pruned.

        The answer is the first reply to the newest call that has one: asking again on purpose replaces an answer, a
        late or doubled reply to an older call is kept and does not change what runs were told.
        """

    def lacks(self, fingerprint: str) -> bool:
        """Whether a question certainly has no answer, told from memory; false where that is not known at once.

        What another process stored since this store last wrote may be missing: for who looks again as it reserves, and
        can pay.
        """

    def replies(self, versions: Mapping[str, int]) -> dict[str, Reply]:
        """Return stored replies by fingerprint, of these versions, as :meth:`reply` does one by one; those that are
        not there are left out."""

    def own_versions(self, run_id: str) -> dict[str, int]:
        """Return, by fingerprint, the version of the last reply to a call that this run sent itself, also where no
        thread names it yet."""

    def question(self, fingerprint: str) -> Question | None:
        """Return a question that was once sent, or ``None``."""

    async def reserve(
        self, question: Question, *, budget: str, run: str, thread: str, worst: int, look: bool = True
    ) -> ReserveResult:
        """Reserve the worst price of a call and record it as sent, in one transaction.

        In that transaction the ledger is looked at again (unless ``look`` is false) and one open call a question is
        enforced, so that two processes can never both ask. When the caller is cancelled meanwhile, whatever was
        granted is released.

        :raises StoreError: there is no such budget; locked, full.
        :raises ValueError: ``worst`` is below 0 or above 2**53.
        """

    async def hedge(self, call_id: str) -> str | None:
        """Charge the worst price of a call in flight once more, for a second request of its question; return what to
        settle or release that one by. ``None``, and nothing changes, when a cap would be passed or the call is not in
        flight.

        The second is uncertain from the start, so that whichever of the two is cut off stays charged. When the caller
        is cancelled meanwhile, it is released.

        :raises StoreError: there is no such call; locked, full.
        """

    async def settle(self, call_id: str, reply: Reply) -> int:
        """Store the reply, bill its price and free the reservation, in one transaction; return the reply's version.
        A second settle only keeps the reply as a further version.

        :raises StoreError: there is no such call; locked, full.
        """

    async def release(self, call_id: str) -> None:
        """Free the reservation of a call that was never sent, or that the server refused, or a person's word that an
        uncertain one was not billed."""

    async def mark_uncertain(self, call_id: str) -> None:
        """Keep a call's worst price charged, since its outcome is unknown."""

    async def mark_waiting(self, call_id: str) -> None:
        """Note that nothing of a call is out, which was refused and waits for its next attempt. Its money stays
        reserved and its question open; should its owner die meanwhile, the call is released."""

    async def mark_sent(self, call_id: str) -> bool:
        """Note that the next request of such a call goes out; return whether it may. It must not where the call is
        over, since its owner was taken for dead: it is to be reserved anew."""

    def uncertain_calls(self, budget: str) -> tuple[UncertainCall, ...]:
        """Return the calls of unknown outcome, oldest first: what a person may :meth:`release`."""

    async def open_budget(self, budget: str, cap: int) -> Books:
        """Make a budget, or give an existing one that cap if it is higher; return its books."""

    async def set_cap(self, budget: str, cap: int) -> Books:
        """Change a budget's cap; waiters of every process wake up.

        :raises StoreError: there is no such budget.
        """

    def books(self, budget: str) -> Books:
        """Return the books of a budget (all zero when there is none)."""

    def store_books(self, configured: int | None = None) -> Books | None:
        """Return the books of all budgets together, under the store's own cap; ``None`` when it has none.

        :param configured: the cap that a configuration says, for who writes nothing: it counts where it is news, as it
            would once it was given to :meth:`configure_cap`.
        """

    def paid(self, job: str, budget: str) -> int:
        """Return what the runs of a job have paid together, and what was paid from this budget, each amount once.

        :param job: as :attr:`RunRow.job` says it.
        """

    async def cap_store(self, cap: int | None) -> None:
        """Give the whole store a cap beside those of its budgets, or none; waiters of every process wake up."""

    async def configure_cap(self, cap: int) -> None:
        """Give the whole store a cap as a configuration says it: nothing happens where the same was said last, so that
        what a person set since stays."""

    def version(self) -> int:
        """Return a number that changes whenever money may have become free or an open question closed, whoever did
        it."""

    # --- runs
    # Records of a run are written by its driver alone, whom the transaction that holds them looks up: each of the next
    # four raises `RunTaken` and writes nothing while another living store drives the run, and for ever where this one
    # claimed it and somebody else claimed it since. A run that nobody drives may be written by anybody.

    async def save_run(self, row: RunRow) -> None:
        """Insert or replace a run."""

    async def save_threads(self, rows: Sequence[ThreadRow]) -> None:
        """Insert or replace threads, all or none."""

    async def append_events(self, run: str, events: Sequence[Event]) -> None:
        """Append to a run's event stream; ``seq`` is the caller's, and one that is there already stays as it is, so
        that a failed write may be tried again. Without events it only tells whether the run may be written."""

    async def write_journal(self, run: str, place: str, value: Any) -> None:
        """Record what a word that is not pure returned; durable when this returns."""

    def run(self, run_id: str) -> RunRow | None:
        """Return a run, or ``None``."""

    def runs(self, limit: int = 50, job: str | None = None) -> list[RunRow]:
        """Return the newest runs, of one job where it is named, newest first."""

    def run_ids(self, beginning: str, limit: int) -> list[str]:
        """Return the ids of the newest runs whose ids begin so, capitals told apart, newest first."""

    def threads(
        self, run_id: str, *, status: str | None = None, after: str | None = None, limit: int | None = None
    ) -> list[ThreadRow]:
        """Return a run's threads, in the order they started; those that wait come last.

        :param status: only those of this status. :param after: only those that come after the thread of this id.
        """

    def traces(self, run_id: str) -> Iterator[ThreadTrace]:
        """Yield what a later start needs of a run's threads, in the order they were first saved."""

    def newest_thread(self, run_id: str) -> int:
        """Return the highest number of a thread that a row or a call of a run names (``<run>/t012``: 12), 0 when none
        does. A call may be on the disk before its worker's row is."""

    def events(self, run_id: str, after: int = 0, limit: int | None = None) -> list[Event]:
        """Return a run's events with a higher ``seq``, in order; the first ``limit`` of them."""

    def progress(self, run_id: str) -> RunProgress:
        """Return how far a run is, in time that hardly grows with the run."""

    def journal(self, run_id: str) -> dict[str, Any]:
        """Return a run's journal by place."""

    def money(self, run_id: str) -> Mapping[str, int]:
        """Return what a run's calls cost: ``calls`` (released ones left out), ``spent``, ``uncertain``,
        ``reserved``."""

    async def claim_run(self, run_id: str) -> RunHolder | None:
        """Make this open store the driver of a run and return ``None``; or return who drives it already.

        A driver that lives keeps its run, this very store included. One whose lease is over or whose process is gone
        holds nothing, but has its run again with its next write when nobody claimed it meanwhile. Of several that claim
        a run at once exactly one gets it.
        """

    async def release_run(self, run_id: str) -> None:
        """Give a run up that this store drives; of any other run nothing happens. Closing gives up all."""

    def driver(self, run_id: str) -> RunHolder | None:
        """Return who drives a run, or ``None`` when nobody alive does."""

    async def post_request(self, run_id: str, what: str, data: Any = None) -> int:
        """Ask something of a run's driver, in whatever process it is; return the request's number."""

    def requests(self, run_id: str, after: int = 0) -> list[Request]:
        """Return what was asked of a run's driver with a higher number, in order."""

    async def close(self) -> None:
        """Commit what waits and let go."""


@frozen(kw_only=True)
class StorePlugin:
    """A kind of store that configuration can name.

    :ivar name: what ``store.kind`` says.
    :ivar open: opens (and where needed makes or migrates) the store at a location; the location is a path for embedded
        stores. ``:memory:`` gives one that ends with the process.
    :ivar read: opens one to be read, also where it cannot be written, and there refuses each write with a
        :class:`planloom.StoreError`; ``None`` when this kind has no other way than ``open``.
    :ivar tools: gives the tools to look after the store at a location; ``None`` when this kind has none.
    :ivar embedded: whether the location is a file of this machine, and not where a server is.
    :raises StoreError: from ``open`` and ``read``: locked, too new, unreadable, no room.
    """

    name: str
    summary: str
    open: Callable[[str | Path], Store]
    read: Callable[[str | Path], Store] | None = None
    tools: Callable[[str | Path], StoreTools] | None = None
    embedded: bool = True

    def opened(self, location: str | Path, *, read_only: bool = False) -> Store:
        """Return the store at a location, opened to be read alone where that is said."""
        return (self.read or self.open)(location) if read_only else self.open(location)
