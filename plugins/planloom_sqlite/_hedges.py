"""What the writer can be asked to do about a second request for a question that is in flight already."""

from __future__ import annotations

from typing import ClassVar

from planloom.data_classes import frozen
from planloom.stores import Granted

from ._operations import TAKES, Transaction, call_number

__all__ = ["Hedge"]


@frozen
class Hedge:
    """Charge a call's worst price once more.

    The call that this makes is uncertain from the start: of two requests one is cut off and may have been billed, and
    a process that dies leaves nothing to do. It is no open call, of which a question has one.
    """

    rank: ClassVar[int] = TAKES
    call_id: str

    def apply(self, to: Transaction) -> Granted | None:
        """Return the call that the second request is charged to, or ``None`` when there is no room or no need."""
        first = to.till.call(call_number(self.call_id, to.where))
        account = to.till.account_of(first)
        if first.state != "sent" or first.worst > account.left:
            return None
        whole = to.till.store_books(account)
        if whole is not None and first.worst > whole.left:
            return None
        run, thread = to.connection.execute("SELECT run, thread FROM call WHERE id = ?", (first.id,)).fetchone()
        return Granted(str(to.till.hedge(first, to.owner.id, run=run, thread=thread, now=to.now)))
