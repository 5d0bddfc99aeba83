"""What the writer can be asked to do about a call that waits between two attempts: nothing of it is out meanwhile.

It stays the open call of its question, with its money reserved, and is told from others by ``sent_at`` alone, which is
:data:`planloom_sqlite._rows.NOTHING_OUT` then. Should its owner die, it is released in place of becoming uncertain.
"""

from __future__ import annotations

from typing import ClassVar

from planloom.data_classes import frozen

from ._operations import FREES, Transaction, call_number
from ._rows import NOTHING_OUT, SENT

__all__ = ["MarkSent", "MarkWaiting"]


@frozen
class MarkWaiting:
    """Note that nothing of a call is out."""

    rank: ClassVar[int] = FREES
    call_id: str

    def apply(self, to: Transaction) -> None:
        """Note it, unless the call is over."""
        _note(to, self.call_id, NOTHING_OUT)


@frozen
class MarkSent:
    """Note that a call's next request goes out."""

    rank: ClassVar[int] = FREES
    call_id: str

    def apply(self, to: Transaction) -> bool:
        """Return whether it may: not when the call is over, as one whose owner was taken for dead is."""
        return _note(to, self.call_id, to.now)


def _note(to: Transaction, call_id: str, sent_at: float) -> bool:
    call = to.till.call(call_number(call_id, to.where))
    if call.state != "sent":
        return False
    to.rows.add(SENT, (call.id, sent_at))
    return True
