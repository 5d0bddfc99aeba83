"""The run that a person or a program names."""

from __future__ import annotations

from ._errors import Misuse, UnknownNameError
from .status import was_refused
from .stores import RunRow, Store

__all__ = ["find_run"]

_CANDIDATES_SHOWN = 20
# Of more nobody can mean one by their common beginning, whichever were refused.
_CANDIDATES = 200


def find_run(store: Store, run_id: str) -> RunRow:
    """Return a run's row.

    :param run_id: its id, or the beginning of its id alone. A whole id stands for its run, also where others go on
        from it. Of several that begin so the one is meant that ran, where all others were refused.
    :raises UnknownNameError: there is no such run.
    :raises Misuse: the ids of several begin so.
    """
    row = store.run(run_id)
    if row is None and run_id:
        row = _begun_so(store, run_id)
    if row is None:
        raise UnknownNameError(
            "run",
            run_id,
            [known.id for known in store.runs(200)],
            f"the store {store.where} has none: go to the folder where it was begun, or name its store with --store",
        )
    return row


def _begun_so(store: Store, beginning: str) -> RunRow | None:
    """Return the one run whose id begins so.

    :raises Misuse: there are several, and not one alone that ran.
    """
    ids = store.run_ids(beginning, _CANDIDATES + 1)
    rows = [row for row in map(store.run, ids[:_CANDIDATES]) if row is not None]
    ran = [row for row in rows if not was_refused(row)]
    if len(ids) <= _CANDIDATES and 1 in (len(ran), len(rows)):
        return (ran or rows)[0]
    if not rows:
        return None
    named = [row.id for row in ran or rows]
    more = ", and more" if len(named) > _CANDIDATES_SHOWN else ""
    raise Misuse(
        f"the ids of several runs begin with `{beginning}`: {', '.join(named[:_CANDIDATES_SHOWN])}{more}; "
        "write as much of the id as tells the run from the others"
    )
