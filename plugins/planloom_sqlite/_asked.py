"""Which questions were ever asked, marked in half a megabyte of memory, so that new ones need no look at the file.

A question that has no row was never asked and has no answer. Rows of questions are never deleted and their numbers
grow, so that what others added since the last look is what stands behind the highest number seen. Many questions share
a mark: one that is marked may have no row, one that is not has none.

Each look at a file whose rows are not all marked takes as long as to mark some tens of them. So each look pays for as
many: a short command reads no large ledger, and a long run has read it after some hundreds of questions.
"""

from __future__ import annotations

import sqlite3

__all__ = ["Asked"]

_PLACES = 2**22
"""Of 50,000 questions 1 new one in 84 falls on another's mark and is looked up, of 1,000,000 1 in 5."""
_HEX_DIGITS = 6

_ROWS_A_LOOK = 50
"""A look takes 25 to 40 us beside a busy writer, and a row 0.5 us to mark (2 shared cores, SQLite 3.40)."""
_FREE_ROWS = 256
_MOST_ROWS = 4_096
"""In one transaction, which others wait for: some 2 ms."""

_BEHIND = "SELECT id, CAST(substr(fingerprint, 1, 3) AS BLOB) FROM question WHERE id > ? ORDER BY id LIMIT ?"


class Asked:
    """The marks of one store's questions.

    All but :meth:`lacks` and :meth:`looked_for_nothing` is for the writer, within its transactions.
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._marks = bytearray(_PLACES // 8)
        self._is_whole = False
        self._last = 0  # the highest number of a committed row up to which all are marked
        self._added = 0
        self._looks = 0
        self._paid_rows = 0
        self._free = _FREE_ROWS

    def lacks(self, fingerprint: str) -> bool:
        """Whether no question of this fingerprint was asked, as far as the writer saw in its last transaction; false
        where that is not known. For any thread."""
        if not self._is_whole:
            return False
        try:
            place = int(fingerprint[:_HEX_DIGITS], 16) % _PLACES
        except ValueError:
            return False
        if self._marks[place >> 3] >> (place & 7) & 1:
            return False
        self._looks += 1
        return True

    def looked_for_nothing(self) -> None:
        """Hear that a question was looked for in the file and had no answer. For any thread."""
        self._looks += 1

    def is_new(self, key: bytes) -> bool:
        """Whether a question has no row, for certain, as the open transaction sees the file."""
        place = int.from_bytes(key[: _HEX_DIGITS // 2], "big") % _PLACES
        return self._is_whole and not self._marks[place >> 3] >> (place & 7) & 1

    def add(self, number: int, key: bytes) -> None:
        """Mark a question that the open transaction adds."""
        self._mark(key)
        self._added = number

    def others_wrote(self) -> None:
        """Hear that another connection wrote since the last transaction."""
        if self._is_whole:
            self._is_whole, self._free = False, _FREE_ROWS

    def catch_up(self) -> None:
        """Mark what others added, or was there before, as far as that is paid for."""
        if self._is_whole:
            return
        most = min(self._free + max(0, self._looks * _ROWS_A_LOOK - self._paid_rows), _MOST_ROWS)
        if not most:
            return
        rows = self._connection.execute(_BEHIND, (self._last, most)).fetchall()
        for number, key in rows:
            self._mark(key)
            self._last = number
        free = min(self._free, len(rows))
        self._free -= free
        self._paid_rows += len(rows) - free
        self._is_whole = len(rows) < most

    def _mark(self, key: bytes) -> None:
        place = int.from_bytes(key[: _HEX_DIGITS // 2], "big") % _PLACES
        self._marks[place >> 3] |= 1 << (place & 7)

    def committed(self) -> None:
        """Hear that what was added is in the file."""
        if self._is_whole and self._added > self._last:
            self._last = self._added
        self._added = 0

    def rolled_back(self) -> None:
        """Hear that what was added is not: another may take its numbers."""
        self._added = 0
