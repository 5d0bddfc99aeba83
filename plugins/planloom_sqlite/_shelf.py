"""Questions and their parts on their way to the disk, packed before the lock is taken."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable

from planloom.questions import Part, Question

from ._packing import GONE, pack
from ._rows import QUESTION, Rows, select

__all__ = ["PartShelf", "Questions", "key_of"]

_INLINE_BYTES = 512
"""A shorter part lies in its question's row: a row of its own would cost more than it saves."""


def key_of(fingerprint: str) -> bytes:
    """Return a fingerprint as it is stored; what is not one gives a key that nothing has."""
    try:
        return bytes.fromhex(fingerprint)
    except ValueError:
        return b""


class PartShelf:
    """The parts that one writer knows to be stored, and the texts of the present batch, packed before its transaction.

    Packing a large part takes as long as hundreds of rows: other processes must not wait for the lock meanwhile.
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._stored: set[bytes] = set()
        self._packed: dict[bytes, tuple[bytes, int]] = {}
        self._added: set[bytes] = set()
        self._prunings = 0

    def keep_up(self) -> None:
        """Begin a transaction: what others pruned meanwhile is no longer stored."""
        (prunings,) = self._connection.execute("SELECT value FROM meta WHERE key = 'pruned'").fetchone()
        if prunings != self._prunings:
            self._prunings = prunings
            self._stored.clear()

    def missing(self, questions: Iterable[Question]) -> list[Part]:
        """Return the large parts of these questions that are not stored, each once."""
        found: dict[bytes, Part] = {}
        for question in questions:
            for part in _large_parts(question):
                key = bytes.fromhex(part.digest)
                if key not in found and not self._has(key):
                    found[key] = part
        return list(found.values())

    def pack_ahead(self, questions: Iterable[Question], parts: Iterable[Part]) -> None:
        """Pack the texts of questions, and parts that are missing, for the transaction that follows."""
        self._packed = {key_of(question.fingerprint): pack(_row_text(question)) for question in questions}
        self._packed.update((bytes.fromhex(part.digest), pack(part.text)) for part in parts)

    def packed(self, question: Question) -> tuple[bytes, int]:
        """Store the large parts of a question, where they are not stored, in the open transaction; return the stored
        form of its row."""
        for part in _large_parts(question):
            self._add(part)
        return self._packed.get(key_of(question.fingerprint)) or pack(_row_text(question))

    def _add(self, part: Part) -> None:
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


def _large_parts(question: Question) -> Iterable[Part]:
    return (part for part in question.parts if part.size_bytes >= _INLINE_BYTES)


def _row_text(question: Question) -> str:
    """Return what a question's own row holds: its skeleton, and its short parts by hash."""
    inline = {part.digest: part.text for part in question.parts if part.size_bytes < _INLINE_BYTES}
    # Canonical JSON has no line breaks, so the skeleton is the first line.
    return question.skeleton.decode() + "\n" + json.dumps(inline)


class Questions:
    """The questions of one open transaction, stored before it or by it."""

    def __init__(self, connection: sqlite3.Connection, shelf: PartShelf, rows: Rows) -> None:
        self._connection = connection
        self._shelf = shelf
        self._rows = rows
        self._found: dict[bytes, tuple[int, bool]] = {}

    def look_up(self, questions: Iterable[Question]) -> None:
        """Find those of the questions that are stored: all that :meth:`number` and :meth:`keep` are asked about."""
        keys = list({key_of(question.fingerprint) for question in questions})
        if keys:
            self._shelf.keep_up()
        for number, key, codec in select(
            self._connection, "SELECT id, fingerprint, codec FROM question WHERE fingerprint IN", keys
        ):
            self._found[key] = (number, codec == GONE)

    def number(self, question: Question) -> int | None:
        """Return the number of a question's row, ``None`` when it was never asked."""
        found = self._found.get(key_of(question.fingerprint))
        return None if found is None else found[0]

    def keep(self, question: Question) -> int:
        """Store a question and those of its parts that are not stored; return the number of its row."""
        key = key_of(question.fingerprint)
        number, gone = self._found.get(key, (0, True))
        if not number:
            number = self._rows.number("question")
            self._rows.add(QUESTION, (number, key, *self._shelf.packed(question)))
        elif gone:
            self._connection.execute(
                "UPDATE question SET body = ?, codec = ? WHERE id = ?", (*self._shelf.packed(question), number)
            )
        self._found[key] = (number, False)
        return number
