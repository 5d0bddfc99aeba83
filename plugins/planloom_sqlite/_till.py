"""Money inside a transaction: each budget is read once, changed by what call rows went through, written once.

    sent → settled | uncertain | released;  uncertain → settled (a late reply) | released (a person)

Nothing else changes money, so that whatever arrives twice or late changes nothing. What one transaction left, budgets
and calls in flight, is known to the next: who keeps the till forgets it when somebody else wrote.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from typing import Literal

import attrs

from planloom import StoreError
from planloom.stores import Books

from ._names import in_run
from ._rows import CALL, MOVE, NOTHING_OUT, Rows, select

__all__ = ["ALL_BUDGETS", "STORE_CAP", "Account", "Call", "Till"]

State = Literal["sent", "settled", "uncertain", "released"]

_LEADS_TO: dict[State, tuple[State, ...]] = {
    "sent": ("settled", "uncertain", "released"),
    "uncertain": ("settled", "released"),
}
STORE_CAP = "SELECT value FROM meta WHERE key = 'cap'"
ALL_BUDGETS = "SELECT coalesce(sum(spent), 0), coalesce(sum(reserved), 0), coalesce(sum(uncertain), 0) FROM budget"
_CALL = "SELECT id, question, budget, state, worst FROM call"
_ACCOUNT = f"SELECT id, name, cap, spent, reserved, uncertain, ({STORE_CAP}) FROM budget WHERE "  # noqa: S608  a text of this module
_LEFT = "SELECT cap - spent - reserved - uncertain FROM budget WHERE name = ?"


@attrs.define
class Account:
    """One budget as the open transaction sees it; only :class:`Till` changes it.

    :ivar store_cap: the cap of the whole store, if it has one. :ivar found: spent, reserved, uncertain as they
        stand in the file.
    """

    id: int
    name: str
    cap: int
    spent: int
    reserved: int
    uncertain: int
    store_cap: int | None
    found: tuple[int, int, int] = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self.written()

    def written(self) -> None:
        """Note that the file has it as it is."""
        self.found = (self.spent, self.reserved, self.uncertain)

    def books(self) -> Books:
        """Return it as callers see it."""
        return Books(cap=self.cap, spent=self.spent, reserved=self.reserved, uncertain=self.uncertain)

    @property
    def left(self) -> int:
        """What may still be reserved; below 0 where the cap was lowered."""
        return self.cap - self.spent - self.reserved - self.uncertain


class Call:
    """What a transition needs of a call row; only :class:`Till` changes it. As cheap as can be."""

    __slots__ = ("budget", "id", "question", "state", "worst")

    def __init__(self, number: int, question: int, budget: int, state: State, worst: int) -> None:
        self.id = number
        self.question = question
        self.budget = budget
        self.state = state
        self.worst = worst


class Till:
    """The budgets and calls of one store, as the open write transaction sees them.

    Each transaction ends with :meth:`write` and then :meth:`committed`, or :meth:`forget` where it was undone.
    """

    def __init__(self, connection: sqlite3.Connection, rows: Rows, where: str) -> None:
        self._connection = connection
        self._rows = rows
        self._where = where
        self._accounts: dict[int, Account] = {}
        self._calls: dict[int, Call] = {}
        self._closed: set[int] = set()
        self._sent: dict[int, int] = {}
        self._ids: dict[str, int] = {}
        self._all_found: tuple[int, int, int] | None = None
        self._freed: int | None = None
        self._changed = False
        self._touched: dict[int, Account] = {}

    # --- budgets

    def likely_left(self, name: str) -> int:
        """Return what a budget has left as far as is known, which outside a transaction is only a guess."""
        number = self._ids.get(name)
        if number is not None:
            return self._accounts[number].left
        row = self._connection.execute(_LEFT, (name,)).fetchone()
        return 0 if row is None else int(row[0])

    def open_budget(self, name: str, cap: int) -> Account:
        """Return a budget, made when there is none, with its cap raised to this one when it is lower."""
        self._connection.execute(
            "INSERT INTO budget (name, cap) VALUES (?, ?) ON CONFLICT (name) DO NOTHING", (name, cap)
        )
        account = self.account(name)
        if cap > account.cap:
            self.set_cap(account, cap)
        return account

    def set_cap(self, account: Account, cap: int) -> None:
        """Change a budget's cap."""
        account.cap = cap
        self._touched[account.id] = account
        self._changed = True

    def account(self, name: str) -> Account:
        """Return a budget by name.

        :raises StoreError: there is none.
        """
        known = self._ids.get(name)
        if known is not None:
            return self._accounts[known]
        row = self._connection.execute(_ACCOUNT + "name = ?", (name,)).fetchone()
        if row is None:
            raise StoreError(
                f"no budget of the store {self._where} is named `{name}`; open it with a cap first, or check the name"
            )
        # It may have been read by its number before.
        account = self._accounts.setdefault(row[0], Account(*row))
        self._ids[name] = account.id
        return account

    def store_books(self, account: Account) -> Books | None:
        """Return the books of all budgets together as this transaction leaves them so far; ``None`` when the store has
        no cap.

        They are added up once a transaction, and not at all in a store without a cap.

        :param account: a budget of it.
        """
        if account.store_cap is None:
            return None
        if self._all_found is None:
            self._all_found = self._connection.execute(ALL_BUDGETS).fetchone()
        spent, reserved, uncertain = self._all_found
        for changed in self._touched.values():
            before = changed.found
            spent += changed.spent - before[0]
            reserved += changed.reserved - before[1]
            uncertain += changed.uncertain - before[2]
        return Books(cap=account.store_cap, spent=spent, reserved=reserved, uncertain=uncertain)

    def cap_store(self, cap: int | None) -> None:
        """Give the whole store a cap, or none."""
        self._connection.execute("DELETE FROM meta WHERE key = 'cap'")
        if cap is not None:
            self._connection.execute("INSERT INTO meta VALUES ('cap', ?)", (cap,))
        for account in self._accounts.values():
            account.store_cap = cap
        self._changed = True

    def account_of(self, call: Call) -> Account:
        """Return the budget that a call is charged to."""
        return self._account(call.budget)

    def _account(self, number: int) -> Account:
        if number not in self._accounts:
            row = self._connection.execute(_ACCOUNT + "id = ?", (number,)).fetchone()
            self._accounts[number] = Account(*row)
        return self._accounts[number]

    # --- calls

    def look_up(self, numbers: Iterable[int]) -> None:
        """Read calls that are going to be moved."""
        # What this transaction moved is not written yet: what it knows is newer.
        unknown = list({number for number in numbers if number not in self._calls})
        for row in select(self._connection, f"{_CALL} WHERE id IN", unknown):
            call = self._calls[row[0]] = Call(*row)
            if call.state != "sent":
                self._closed.add(call.id)

    def send(
        self, question: int, owner: int, account: Account, *, run: str, thread: str, worst: int, now: float
    ) -> int:
        """Record a call as sent with its worst price reserved; return its number."""
        rows, budget = self._rows, account.id
        number = rows.number("call")
        of_run = rows.runs.number(run)
        rows.add(CALL, (number, question, owner, budget, of_run, in_run(run, thread), "sent", worst, now))
        self._sent[question] = number
        self._calls[number] = Call(number, question, budget, "sent", worst)
        account.reserved += worst
        self._touched[budget] = account
        return number

    def hedge(self, first: Call, owner: int, *, run: int, thread: str, now: float) -> int:
        """Record a second request beside a call in flight, uncertain at the same worst price; return its number.

        :param run: and ``thread``: as they stand in the row of the call.
        """
        number = self._rows.number("call")
        self._rows.add(CALL, (number, first.question, owner, first.budget, run, thread, "uncertain", first.worst, now))
        self._calls[number] = Call(number, first.question, first.budget, "uncertain", first.worst)
        self._closed.add(number)
        account = self._account(first.budget)
        account.uncertain += first.worst
        self._touched[account.id] = account
        return number

    def sent_here(self, question: int) -> int | None:
        """Return the call that this very transaction sent for a question, or ``None``."""
        return self._sent.get(question)

    def move(self, number: int, to: State, price: int = 0) -> Call:
        """Bring a call to a state where its own state allows it; return it.

        :raises StoreError: there is no such call.
        """
        call = self._calls.get(number) or self.call(number)
        before, worst = call.state, call.worst
        if to not in _LEADS_TO.get(before, ()):
            return call
        call.state = to
        self._closed.add(number)
        self._rows.add(MOVE, (number, to, price))
        account = self._accounts.get(call.budget) or self._account(call.budget)
        self._touched[call.budget] = account
        if before == "sent":
            account.reserved -= worst
        else:
            account.uncertain -= worst
        if to == "uncertain":
            account.uncertain += worst
        account.spent += price
        self._changed = True
        return call

    def call(self, number: int) -> Call:
        """Return a call as this transaction leaves it so far.

        :raises StoreError: there is none.
        """
        if number not in self._calls:
            self.look_up([number])
        if number not in self._calls:
            raise StoreError(f"the store {self._where} has no call {number}; settle a call where it was reserved")
        return self._calls[number]

    def give_up(self, owner: int) -> None:
        """Make uncertain whatever an owner sent and never settled, and release that of which nothing is out."""
        sent = self._connection.execute(
            "SELECT id, sent_at FROM call INDEXED BY call_open WHERE state = 'sent' AND owner = ?", (owner,)
        ).fetchall()
        self.look_up(number for number, _ in sent)
        for number, sent_at in sent:
            self.move(number, "released" if sent_at == NOTHING_OUT else "uncertain")

    # --- the end of the transaction

    @property
    def version(self) -> int:
        """The store's version as this transaction leaves it so far."""
        if self._freed is None:
            (self._freed,) = self._connection.execute("SELECT value FROM meta WHERE key = 'freed'").fetchone()
        return self._freed + self._changed

    def write(self) -> None:
        """Write everything; nothing may follow in this transaction."""
        self._rows.flush()
        self._connection.executemany(
            "UPDATE budget SET cap = ?, spent = ?, reserved = ?, uncertain = ? WHERE id = ?",
            [(a.cap, a.spent, a.reserved, a.uncertain, a.id) for a in self._touched.values()],
        )
        if self._changed:
            self._connection.execute("UPDATE meta SET value = value + 1 WHERE key = 'freed'")

    def committed(self) -> None:
        """Keep what stands in the file now and is needed again: the budgets, and the calls in flight; may be done
        twice."""
        for number in self._closed:
            self._calls.pop(number, None)
        for account in self._touched.values():
            account.written()
        self._end()

    def forget(self) -> None:
        """Read everything anew: the transaction was undone, or somebody else wrote."""
        self._calls.clear()
        self._accounts.clear()
        self._ids.clear()
        self._end()

    def _end(self) -> None:
        self._sent.clear()
        self._closed.clear()
        self._touched.clear()
        self._all_found = None
        self._freed, self._changed = None, False
