"""The books of a store added up by other means than its own: plain SQL over the rows that are there."""

from __future__ import annotations

import re
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import attrs

__all__ = ["Ledger", "copy_of", "is_made", "read_ledger"]

_BOOKS = "SELECT name, cap, spent, reserved, uncertain FROM budget"
_SUMS = """
SELECT coalesce(sum(price), 0),
    coalesce(sum(CASE state WHEN 'sent' THEN worst END), 0),
    coalesce(sum(CASE state WHEN 'uncertain' THEN worst END), 0)
FROM call JOIN budget ON budget.id = call.budget WHERE budget.name = ?
"""
_CALLS = "SELECT call.id, question.body, call.state FROM call JOIN question ON question.id = call.question"
_GAPS = "SELECT run, count(*), max(seq) FROM event GROUP BY run HAVING count(*) != max(seq)"
_NUMBER = re.compile(rb'"question (\d+)"')


@attrs.frozen(kw_only=True)
class Ledger:
    """What the rows of a store say.

    :ivar calls: how many calls each question has, by its number. :ivar answered: questions with a settled call.
    :ivar states: the numbers of the calls of each state. :ivar faults: what does not add up, a sentence each.
    """

    calls: dict[str, int]
    answered: frozenset[str]
    states: dict[str, set[int]]
    faults: tuple[str, ...]


def copy_of(store: Path, folder: Path) -> Path:
    """Return a copy of a store as it lies there, its log included: to look at one would tidy it up."""
    folder.mkdir(parents=True, exist_ok=True)
    for file in store.parent.glob(f"{store.name}*"):
        shutil.copy(file, folder / file.name)
    return folder / store.name


def is_made(store: Path) -> bool:
    """Return whether a store has its tables; they come all in one transaction."""
    with closing(sqlite3.connect(store)) as connection:
        (tables,) = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    return bool(tables)


def read_ledger(store: Path) -> Ledger:
    """Return what the rows of a store say of questions that are named ``question 17``."""
    calls: dict[str, int] = {}
    states: dict[str, set[int]] = {}
    answered = set()
    with closing(sqlite3.connect(store)) as connection:
        for call, body, state in connection.execute(_CALLS):
            found = _NUMBER.search(body)
            assert found is not None, body
            number = found[1].decode()
            calls[number] = calls.get(number, 0) + 1
            states.setdefault(state, set()).add(call)
            if state == "settled":
                answered.add(number)
        faults = (*_unbalanced(connection), *_gaps(connection))
    return Ledger(calls=calls, answered=frozenset(answered), states=states, faults=faults)


def _unbalanced(connection: sqlite3.Connection) -> Iterator[str]:
    for name, cap, *kept in connection.execute(_BOOKS).fetchall():
        added = list(connection.execute(_SUMS, (name,)).fetchone())
        if kept != added:
            yield f"budget {name} holds spent, reserved, uncertain {kept}, and its calls add up to {added}"
        if sum(kept) > cap:
            yield f"budget {name} holds {sum(kept)} under a cap of {cap}"


def _gaps(connection: sqlite3.Connection) -> Iterator[str]:
    for run, count, last in connection.execute(_GAPS):
        yield f"the events of {run} have gaps: {count} up to number {last}"
