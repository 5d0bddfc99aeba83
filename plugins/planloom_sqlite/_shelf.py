"""Questions and their parts on their way to the disk, packed before the lock is taken."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence

from planloom.questions import Part, Question

from ._asked import Asked
from ._frames import Frames, contents
from ._packing import GONE, pack
from ._rows import PART, QUESTION, Rows, select

__all__ = ["PartShelf", "Questions", "Shelved", "key_of"]

_INLINE_BYTES = 128
"""A shorter part lies in its question's row: a row of its own, with its hash, takes that much beside the text."""


def key_of(fingerprint: str) -> bytes:
    """Return a fingerprint as it is stored; what is not one gives a key that nothing has."""
    try:
        return bytes.fromhex(fingerprint)
    except ValueError:
        return b""


class Shelved:
    """A question on its way to the disk.

    :ivar key: its fingerprint as it is stored. :ivar large: its parts that have rows of their own.
    """

    __slots__ = ("key", "large", "question")

    def __init__(self, question: Question) -> None:
        self.question = question
        self.key = bytes.fromhex(question.fingerprint)
        self.large = [part for part in question.parts if part.size_bytes >= _INLINE_BYTES]


class PartShelf:
    """The parts that one writer knows to be stored, and those of the present batch, packed before its transaction.

    Packing a large part takes as long as hundreds of rows: other processes must not wait for the lock meanwhile.

    :ivar frames: those of questions of late.
    """

    def __init__(self, connection: sqlite3.Connection, rows: Rows) -> None:
        self._connection = connection
        self._rows = rows
        self._stored: dict[bytes, int] = {}
        self._packed: dict[bytes, tuple[bytes, int]] = {}
        self._added: dict[bytes, int] = {}
        self._prunings = 0
        self.frames = Frames()

    def keep_up(self) -> None:
        """Heed, in a transaction, that others wrote: what they pruned is no longer stored."""
        (prunings,) = self._connection.execute("SELECT value FROM meta WHERE key = 'pruned'").fetchone()
        if prunings != self._prunings:
            self._prunings = prunings
            self._stored.clear()

    def missing(self, questions: Iterable[Shelved]) -> list[Part]:
        """Return the large parts of these questions that are not stored, each once."""
        parts = {bytes.fromhex(part.digest): part for question in questions for part in question.large}
        unknown = [key for key in parts if key not in self._stored]
        # Inside a transaction only what others committed is found here: what it added itself is in `_added`.
        self._stored.update(select(self._connection, "SELECT hash, id FROM part WHERE hash IN", unknown))
        return [parts[key] for key in unknown if key not in self._stored]

    def pack_ahead(self, parts: Iterable[Part]) -> None:
        """Pack parts that are missing for the transaction that follows."""
        self._packed = {bytes.fromhex(part.digest): pack(part.text) for part in parts}

    def number(self, part: Part) -> int:
        """Return the number of a large part that :meth:`missing` was asked about; stored where it was missing."""
        key = bytes.fromhex(part.digest)
        known = self._stored.get(key) or self._added.get(key)
        if known is None:
            known = self._added[key] = self._rows.number("part")
            self._rows.add(PART, (known, key, *(self._packed.get(key) or pack(part.text))))
        return known

    def committed(self) -> None:
        """Remember what the transaction added."""
        self._stored.update(self._added)
        self._packed.clear()
        self._added.clear()

    def rolled_back(self) -> None:
        """Forget what the transaction added; what is packed stays for another try."""
        self._added.clear()


class Questions:
    """The questions of one open transaction, stored before it or by it."""

    def __init__(self, connection: sqlite3.Connection, shelf: PartShelf, rows: Rows, asked: Asked) -> None:
        self._connection = connection
        self._shelf = shelf
        self._rows = rows
        self._asked = asked
        self._found: dict[bytes, tuple[int, bool]] = {}

    def look_up(self, questions: Sequence[Shelved]) -> None:
        """Find those of the questions that are stored, and the parts of the others: all that :meth:`number` and
        :meth:`keep` are asked about."""
        keys = list({question.key for question in questions if not self._asked.is_new(question.key)})
        for number, key, codec in select(
            self._connection, "SELECT id, fingerprint, codec FROM question WHERE fingerprint IN", keys
        ):
            self._found[key] = (number, codec == GONE)
        large = [question for question in questions if question.large and self._lacks(question)]
        if large:
            self._shelf.missing(large)

    def _lacks(self, question: Shelved) -> bool:
        return self._found.get(question.key, (0, True))[1]

    def number(self, question: Shelved) -> int | None:
        """Return the number of a question's row, ``None`` when it was never asked."""
        found = self._found.get(question.key)
        return None if found is None else found[0]

    def keep(self, question: Shelved) -> int:
        """Store a question and those of its parts that are not stored; return the number of its row."""
        number, gone = self._found.get(question.key, (0, True))
        if not gone:
            return number
        row = self._row(question)
        if not number:
            number = self._rows.number("question")
            self._rows.add(QUESTION, (number, bytearray(question.key), *row))
            self._asked.add(number, question.key)
        else:
            self._connection.execute("UPDATE question SET frame = ?, body = ?, codec = ? WHERE id = ?", (*row, number))
        self._found[question.key] = (number, False)
        return number

    def _row(self, question: Shelved) -> tuple[int, bytearray, int]:
        frame, sample = self._shelf.frames.of(question.question)
        parts: list[int | str]
        if question.large:
            large = set(question.large)
            parts = [self._shelf.number(part) if part in large else part.text for part in question.question.parts]
        else:
            parts = [part.text for part in question.question.parts]
        body, codec = pack(contents(parts, sample))
        return self._rows.frames.number(frame), bytearray(body), codec
