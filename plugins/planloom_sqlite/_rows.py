"""Rows on their way into tables, many a statement.

Every statement lets go of the interpreter's lock and must get it back from a busy event loop, which may take longer
than the statement itself: what counts is how many there are. So a transaction gathers its rows and writes them in as
few statements as may be, of few sizes, so that each is prepared once.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import chain
from typing import Any

from planloom.data_classes import frozen

from ._names import Names

__all__ = [
    "CALL",
    "EVENT",
    "MOVE",
    "NOTHING_OUT",
    "PART",
    "QUESTION",
    "REPLY",
    "SENT",
    "TALLY",
    "THREAD",
    "Form",
    "Rows",
    "in_lots",
    "select",
    "write",
]

_LARGEST = 128
"""Processor time to write a question, a call, its settlement, a reply and an event, in us, by rows a statement:
1: 32, 4: 19, 16: 14, 64: 12, 256: 12 (2 shared cores, SQLite 3.40). To prepare the statements takes some 20 us more a
row, once: so there are few sizes, the powers of two, and a lot that is short of one is filled up, for 0.1 to 0.4 us a
row. Up to 128 rows take two statements at most."""

Row = tuple[Any, ...]

NO_TEXT = 0
"""Stands for null in a column ``name?`` of a form, which holds texts or bytes; see :func:`_insert`."""
NO_NUMBER = ""
"""The same in a column ``name#``, which holds numbers."""


@frozen(eq=False)
class Form:
    """A statement over any number of rows: what comes before them, how many values each has, and what comes after.

    Compared by identity: forms are constants of this module.

    A row of zeros is written nowhere.

    :ivar key: how many of a row's values, the first ones, tell it from the others; 0 when no two are of one key.
    """

    head: str
    width: int
    tail: str
    key: int = 1


_STANDS_FOR_NULL = {"?": str(NO_TEXT), "#": f"'{NO_NUMBER}'"}


def _insert(table: str, columns: str, tail: str = "", *, key: int = 0) -> Form:
    """Return the form that inserts rows of these columns.

    Python's module hands a number or a text over in 20 to 80 ns, but None, a truth value and bytes in 270 to 360, since
    it looks for an adapter of theirs first (Python 3.11). So what may be null stands for it by a value that the column
    never has, and bytes are given as a ``bytearray``.

    :param columns: with ``?`` behind the name of one of texts or bytes that may be null, ``#`` behind one of numbers;
        the first is a number above 0.
    """
    names = columns.split(", ")
    bare = ", ".join([name.rstrip("?#") for name in names])
    values = ", ".join([_value(place, name) for place, name in enumerate(names, 1)])
    head = f"INSERT INTO {table} ({bare}) SELECT {values} FROM (VALUES"  # noqa: S608  names of this module
    return Form(head, len(names), f") WHERE column1 {tail}", key)


def _value(place: int, name: str) -> str:
    null = _STANDS_FOR_NULL.get(name[-1])
    # Here and not beside each mark, where it would double the time to prepare the statement.
    return f"column{place}" if null is None else f"nullif(column{place}, {null})"


def _upsert(table: str, columns: str, key: int) -> Form:
    """Return the form that inserts a row, or replaces its values and keeps its number, hence its order."""
    names = [name.rstrip("?#") for name in columns.split(", ")]
    updates = ", ".join(f"{name} = excluded.{name}" for name in names[key:])
    conflict = f"ON CONFLICT ({', '.join(names[:key])}) DO UPDATE SET {updates}"
    return _insert(table, columns, conflict, key=key)


MOVE = Form(
    "WITH news (id, state, price) AS (VALUES",
    3,
    ") UPDATE call SET state = news.state, price = news.price FROM news WHERE call.id = news.id",
)
SENT = Form(
    "WITH news (id, sent_at) AS (VALUES",
    2,
    ") UPDATE call SET sent_at = news.sent_at FROM news WHERE call.id = news.id",
)
NOTHING_OUT = 0.0
"""When a call was sent of which nothing is out: it waits for its next attempt."""

PART = _insert("part", "id, hash, body, codec")
QUESTION = _insert("question", "id, fingerprint, frame, body, codec")
CALL = _insert("call", "id, question, owner, budget, run, thread, state, worst, sent_at")
REPLY = _insert(
    "reply",
    "id, question, call, hash, codec, body, finish_reason?, prompt_tokens#, cached_prompt_tokens#, completion_tokens#, "
    "reasoning_tokens#, seconds, model, price, estimated, role, key_version, created_at",
)
THREAD = _upsert(
    "thread",
    "run, id, place, phase, label, model, role, status, started#, ended#, cost, fingerprints, versions, error?, "
    "result, result_codec, raw?, raw_codec#",
    key=2,
)
EVENT = _insert("event", "run, seq, t, shape, data")
TALLY = _insert(
    "tally",
    "run, type, count, last",
    "ON CONFLICT (run, type) DO UPDATE SET count = count + excluded.count, last = max(last, excluded.last)",
)


@cache
def _statement(form: Form, rows: int) -> str:
    row = f"({', '.join('?' * form.width)})"
    return f"{form.head} {', '.join([row] * rows)} {form.tail}"


def in_lots(values: Sequence[Any], filler: Any = None) -> Iterator[Sequence[Any]]:
    """Yield the values in lots of the sizes that statements are prepared for, the last of them filled up.

    :param filler: what with; their last one when it is ``None``.
    """
    start, left, is_split = 0, len(values), False
    while left > 0:
        size = min(_LARGEST, 1 << (left - 1).bit_length())
        if size - left > left // 2 and not is_split:  # too much to fill
            size, is_split = size // 2, True
        lot = values[start : start + size]
        yield lot if left >= size else [*lot, *[values[-1] if filler is None else filler] * (size - left)]
        start, left = start + size, left - size


def write(connection: sqlite3.Connection, form: Form, rows: Sequence[Row]) -> None:
    """Write rows at once."""
    for lot in in_lots(rows, (0,) * form.width):
        connection.execute(_statement(form, len(lot)), list(chain.from_iterable(lot)))


def select(connection: sqlite3.Connection, query: str, keys: Sequence[Any]) -> Iterator[Row]:
    """Yield the rows of a query that ends with ``IN``, for these keys."""
    for lot in in_lots(keys):
        yield from connection.execute(f"{query} ({', '.join('?' * len(lot))})", tuple(lot))


class Rows:
    """The rows of one transaction that are not written yet, each known by its key: the newest one counts.

    The last number of each table stays known from one transaction to the next, until :meth:`forget`.

    :ivar runs: numbers of runs. :ivar frames: those of frames of questions. :ivar shapes: those of shapes of events.
    :ivar newest_events: the highest ``seq`` of a run's events, by the run's number.
    """

    _ORDER = (MOVE, SENT, PART, QUESTION, CALL, REPLY, THREAD)
    """A call is closed before another is opened for its question, and what is referred to comes first."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._rows: dict[Form, dict[Any, Row]] = {form: {} for form in self._ORDER}
        self._last: dict[str, int] = {}
        self.runs = Names(connection, "run_name")
        self.frames = Names(connection, "frame")
        self.shapes = Names(connection, "shape")
        self.newest_events: dict[int, int] = {}

    def add(self, form: Form, row: Row) -> None:
        """Have a row written with the next :meth:`flush`."""
        gathered = self._rows[form]
        gathered[row[: form.key] if form.key else len(gathered)] = row

    def number(self, table: str) -> int:
        """Return the number of a new row: one more than the highest. Rows that are named by it elsewhere must not be
        deleted while they are."""
        if table not in self._last:
            (last,) = self._connection.execute(f"SELECT coalesce(max(id), 0) FROM {table}").fetchone()  # noqa: S608  a name of this package
            self._last[table] = last
        self._last[table] += 1
        return self._last[table]

    def flush(self) -> None:
        """Write what is gathered."""
        for form, rows in self._rows.items():
            if rows:
                write(self._connection, form, list(rows.values()))
                rows.clear()

    def forget(self) -> None:
        """Drop what is gathered, and read numbers anew."""
        for rows in self._rows.values():
            rows.clear()
        self._last.clear()
        self.newest_events.clear()
        for names in (self.runs, self.frames, self.shapes):
            names.forget()
