"""Questions and their parts on their way to the disk, packed before the lock is taken."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable

from planloom.questions import Part, Question

from ._packing import GONE, encode, pack
from ._rows import QUESTION, Rows, select

__all__ = ["PartShelf", "Questions", "Shelved", "key_of"]

_INLINE_BYTES = 512
"""A shorter part lies in its question's row: a row of its own would cost more than it saves."""


def key_of(fingerprint: str) -> bytes:
    """Return a fingerprint as it is stored; what is not one gives a key that nothing has."""
    try:
        return bytes.fromhex(fingerprint)
    except ValueError:
        return b""


class Shelved:
    """A question on its way to the disk. Changed by the writer that stores it.

    :ivar key: its fingerprint as it is stored. :ivar large: its parts that have rows of their own.
    """

    __slots__ = ("_row", "key", "large", "question")

    def __init__(self, question: Question) -> None:
        self.question = question
        self.key = key_of(question.fingerprint)
        self.large = tuple([part for part in question.parts if part.size_bytes >= _INLINE_BYTES])
        self._row: tuple[bytes, int] | None = None

    @property
    def row(self) -> tuple[bytes, int]:
        """The stored form of its own row; packed once."""
        if self._row is None:
            self._row = pack(_row_text(self.question))
        return self._row


class PartShelf:
    """The parts that one writer knows to be stored, and those of the present batch, packed before its transaction.

    Packing a large part takes as long as hundreds of rows: other processes must not wait for the lock meanwhile.
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._stored: set[bytes] = set()
        self._packed: dict[bytes, tuple[bytes, int]] = {}
        self._added: set[bytes] = set()
        self._prunings = 0

    def keep_up(self) -> None:
        """Heed, in a transaction, that others wrote: what they pruned is no longer stored."""
        (prunings,) = self._connection.execute("SELECT value FROM meta WHERE key = 'pruned'").fetchone()
        if prunings != self._prunings:
            self._prunings = prunings
            self._stored.clear()

    def missing(self, questions: Iterable[Shelved]) -> list[Part]:
        """Return the large parts of these questions that are not stored, each once."""
        found: dict[bytes, Part] = {}
        for question in questions:
            for part in question.large:
                key = bytes.fromhex(part.digest)
                if key not in found and not self._has(key):
                    found[key] = part
        return list(found.values())

    def pack_ahead(self, parts: Iterable[Part]) -> None:
        """Pack parts that are missing for the transaction that follows."""
        self._packed = {bytes.fromhex(part.digest): pack(part.text) for part in parts}

    def add(self, part: Part) -> None:
        """Store a large part in the open transaction, where it is not stored."""
        key = bytes.fromhex(part.digest)
        if self._has(key):
            return
        body, codec = self._packed.get(key) or pack(part.text)
        self._connection.execute("INSERT INTO part (hash, body, codec) VALUES (?, ?, ?)", (key, body, codec))
        self._added.add(key)

    def committed(self) -> None:
        """Remember what the transaction added."""
        self._stored.update(self._added)
        self._packed.clear()
        self._added.clear()

    def rolled_back(self) -> None:
        """Forget what the transaction added; what is packed stays for another try."""
        self._added.clear()

    def _has(self, key: bytes) -> bool:
        if key in self._stored or key in self._added:
            return True
        if self._connection.execute("SELECT 1 FROM part WHERE hash = ?", (key,)).fetchone() is None:
            return False
        # Inside a transaction only what others committed is found here: what it added itself is in `_added`.
        self._stored.add(key)
        return True


def _row_text(question: Question) -> str:
    """Return what a question's own row holds: its skeleton, and its short parts by hash."""
    inline = {part.digest: part.text for part in question.parts if part.size_bytes < _INLINE_BYTES}
    # Canonical JSON has no line breaks, so the skeleton is the first line.
    return question.skeleton.decode() + "\n" + encode(inline)


class Questions:
    """The questions of one open transaction, stored before it or by it."""

    def __init__(self, connection: sqlite3.Connection, shelf: PartShelf, rows: Rows) -> None:
        self._connection = connection
        self._shelf = shelf
        self._rows = rows
        self._found: dict[bytes, tuple[int, bool]] = {}

    def look_up(self, questions: Iterable[Shelved]) -> None:
        """Find those of the questions that are stored: all that :meth:`number` and :meth:`keep` are asked about."""
        keys = list({question.key for question in questions})
        for number, key, codec in select(
            self._connection, "SELECT id, fingerprint, codec FROM question WHERE fingerprint IN", keys
        ):
            self._found[key] = (number, codec == GONE)

    def number(self, question: Shelved) -> int | None:
        """Return the number of a question's row, ``None`` when it was never asked."""
        found = self._found.get(question.key)
        return None if found is None else found[0]

    def keep(self, question: Shelved) -> int:
        """Store a question and those of its parts that are not stored; return the number of its row."""
        number, gone = self._found.get(question.key, (0, True))
        if gone:
            for part in question.large:
                self._shelf.add(part)
        if not number:
            number = self._rows.number("question")
            self._rows.add(QUESTION, (number, question.key, *question.row))
        elif gone:
            self._connection.execute("UPDATE question SET body = ?, codec = ? WHERE id = ?", (*question.row, number))
        self._found[question.key] = (number, False)
        return number
