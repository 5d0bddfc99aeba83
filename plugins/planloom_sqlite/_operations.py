"""What the writer can be asked to do, one class an operation; here what concerns the ledger, and the writer itself.

``rank`` is the order within a batch: first what frees money, then what takes some, then the rest, then the end.
``apply`` runs inside the batch's transaction. It raises :class:`planloom.StoreError` before it has changed anything, or
returns what the caller awaits.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from typing import Any, ClassVar, Protocol

from planloom import StoreError
from planloom.data_classes import frozen
from planloom.questions import Question, Reply
from planloom.stores import Answered, Granted, OpenElsewhere, OverCap, ReserveResult

from . import _drivers
from ._ledger import ANSWER, add_reply, reply_from
from ._owners import Owner, give_up_expired, has_expired
from ._packing import clean, digest_of, pack
from ._rows import Rows
from ._shelf import Questions, Shelved
from ._till import Till

__all__ = [
    "FREES",
    "RECORDS",
    "TAKES",
    "End",
    "Flush",
    "MarkUncertain",
    "Operation",
    "Release",
    "Reserve",
    "Settle",
    "Transaction",
    "call_number",
    "check_amount",
    "is_call_id",
    "likely_granted",
]

FREES, TAKES, RECORDS, ENDS = range(4)

_MOST = 2**53
"""Amounts stay exact in JSON and far from the largest integer of a column."""


def check_amount(name: str, amount: int) -> int:
    """Return an amount of micro-credits that the books can hold.

    :raises ValueError: it is below 0 or above 2**53.
    """
    if not 0 <= amount <= _MOST:
        raise ValueError(f"{name} must be between 0 and 2**53 micro-credits, got {amount}")
    return amount


@frozen(kw_only=True)
class Transaction:
    """What an operation works with while the store's write lock is held.

    :ivar rows: what is gathered and not written yet. :ivar now: seconds of the wall clock, which all processes share.
    """

    connection: sqlite3.Connection
    rows: Rows
    where: str
    till: Till
    questions: Questions
    owner: Owner
    now: float

    def check_driver(self, run: str) -> None:
        """Return when this store may write a run's records.

        :raises RunTaken: it may not.
        """
        run, owner = clean(run), self.owner
        if run in owner.seen_driving:
            return
        if _drivers.check_driver(self.connection, run, owner.id, self.now, claimed=run in owner.drives):
            owner.seen_driving.add(run)


class Operation(Protocol):
    """One thing to write."""

    rank: ClassVar[int]

    def apply(self, to: Transaction) -> Any:
        """Write it; return the awaited answer."""


# --- ledger and books


class Reserve:
    """Reserve a call's worst price and record it as sent."""

    rank: ClassVar[int] = TAKES
    __slots__ = ("budget", "look", "question", "run", "thread", "worst")

    def __init__(self, question: Question, *, budget: str, run: str, thread: str, worst: int, look: bool) -> None:
        self.question = Shelved(question)
        self.budget = clean(budget)
        self.run = clean(run)
        self.thread = clean(thread)
        self.worst = worst
        self.look = look

    def apply(self, to: Transaction) -> ReserveResult:
        """Return what came of it."""
        number = to.questions.number(self.question)
        if number is not None:
            known = self._known(to, number)
            if known is not None:
                return known
        till = to.till
        account = till.account(self.budget)
        if self.worst > account.left:
            return OverCap(account.books(), till.version)
        if account.store_cap is not None:
            whole = till.store_books(account)
            if whole is not None and self.worst > whole.left:
                return OverCap(whole, till.version, of_store=True)
        call = till.send(
            to.questions.keep(self.question),
            to.owner.id,
            account,
            run=self.run,
            thread=self.thread,
            worst=self.worst,
            now=to.now,
        )
        return Granted(str(call))

    def _known(self, to: Transaction, number: int) -> Answered | OpenElsewhere | None:
        sent = to.till.sent_here(number)
        if sent is not None:
            return OpenElsewhere(str(sent))
        if self.look:
            answer = to.connection.execute(ANSWER, (self.question.key,)).fetchone()
            if answer is not None:
                return Answered(reply_from(answer))
        row = to.connection.execute(
            "SELECT id, owner FROM call WHERE question = ? AND state = 'sent'", (number,)
        ).fetchone()
        if row is None:
            return None
        call, owner = row
        if not has_expired(to.connection, owner, to.now):
            return OpenElsewhere(str(call))
        give_up_expired(to.connection, to.till, to.now)
        return None


def likely_granted(till: Till, reserves: Iterable[Reserve]) -> list[Reserve]:
    """Return the reservations that fit as the books stand; outside a transaction this is only a guess."""
    left: dict[str, int] = {}
    fitting = []
    for reserve in reserves:
        budget = reserve.budget
        if budget not in left:
            left[budget] = till.likely_left(budget)
        if reserve.worst <= left[budget]:
            left[budget] -= reserve.worst
            fitting.append(reserve)
    return fitting


class Settle:
    """Store a reply, bill its price, free the reservation."""

    rank: ClassVar[int] = FREES
    __slots__ = ("_packed", "call_id", "number", "reply")

    def __init__(self, call_id: str, reply: Reply) -> None:
        self.call_id = call_id
        self.number = int(call_id) if is_call_id(call_id) else None
        self.reply = reply
        self._packed: tuple[bytes, int, bytes] | None = None

    def prepare(self) -> None:
        """Pack the text, and hash it, before the lock is taken."""
        if self._packed is None:
            text = self.reply.text
            self._packed = (*pack(text), digest_of(text))

    def apply(self, to: Transaction) -> int:
        """Bill once; keep the reply in any case and return its version."""
        number = call_number(self.call_id, to.where) if self.number is None else self.number
        call = to.till.move(number, "settled", self.reply.price)
        self.prepare()  # where another operation of its batch failed at that
        assert self._packed is not None
        return add_reply(to.rows, call.question, number, self.reply, self._packed)


@frozen
class Release:
    """Free the reservation of a call that was not billed."""

    rank: ClassVar[int] = FREES
    call_id: str

    def apply(self, to: Transaction) -> None:
        """Free it, unless it is settled or free already."""
        to.till.move(call_number(self.call_id, to.where), "released")


@frozen
class MarkUncertain:
    """Keep a call's worst price charged."""

    rank: ClassVar[int] = FREES
    call_id: str

    def apply(self, to: Transaction) -> None:
        """Charge it, unless its outcome is known."""
        to.till.move(call_number(self.call_id, to.where), "uncertain")


def is_call_id(call_id: str) -> bool:
    """Whether a call can have that name."""
    return call_id.isascii() and call_id.isdigit() and len(call_id) < 19


def call_number(call_id: str, where: str) -> int:
    """Return the number of a call.

    :raises StoreError: no call can have that name.
    """
    if not is_call_id(call_id):
        raise StoreError(f"the store {where} has no call `{call_id}`; settle a call where it was reserved")
    return int(call_id)


# --- the writer itself


@frozen
class Flush:
    """Nothing: its commit says that everything asked before is committed."""

    rank: ClassVar[int] = RECORDS

    def apply(self, to: Transaction) -> None:
        """Write nothing."""


@frozen
class End:
    """End the owner's lease; the writer stops after it."""

    rank: ClassVar[int] = ENDS

    def apply(self, to: Transaction) -> None:
        """Let the lease run out."""
        to.owner.end(to.connection)
