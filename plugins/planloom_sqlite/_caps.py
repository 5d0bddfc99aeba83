"""What the writer can be asked to do about caps: those of budgets, and that of the whole store."""

from __future__ import annotations

from typing import ClassVar

from planloom.data_classes import frozen
from planloom.stores import Books

from ._operations import FREES, Transaction
from ._packing import clean

__all__ = ["CONFIGURED_CAP", "CapStore", "ConfigureCap", "OpenBudget", "SetCap"]

CONFIGURED_CAP = "SELECT value FROM meta WHERE key = 'cap_configured'"


@frozen
class OpenBudget:
    """Make a budget, or raise its cap."""

    rank: ClassVar[int] = FREES
    budget: str
    cap: int

    def apply(self, to: Transaction) -> Books:
        """Return its books."""
        return to.till.open_budget(clean(self.budget), self.cap).books()


@frozen
class SetCap:
    """Change a budget's cap."""

    rank: ClassVar[int] = FREES
    budget: str
    cap: int

    def apply(self, to: Transaction) -> Books:
        """Return its books."""
        account = to.till.account(clean(self.budget))
        to.till.set_cap(account, self.cap)
        return account.books()


@frozen
class CapStore:
    """Give the whole store a cap, or none."""

    rank: ClassVar[int] = FREES
    cap: int | None

    def apply(self, to: Transaction) -> None:
        """Change it."""
        to.till.cap_store(self.cap)


@frozen
class ConfigureCap:
    """Give the whole store the cap that a configuration says, unless it said that before."""

    rank: ClassVar[int] = FREES
    cap: int

    def apply(self, to: Transaction) -> None:
        """Change it where it is news."""
        if to.connection.execute(CONFIGURED_CAP).fetchone() == (self.cap,):
            return
        to.connection.execute("INSERT OR REPLACE INTO meta VALUES ('cap_configured', ?)", (self.cap,))
        to.till.cap_store(self.cap)
