"""The run that a person or a program names."""

from __future__ import annotations

from ._errors import Misuse, UnknownNameError
from .stores import RunRow, Store

__all__ = ["find_run"]

_CANDIDATES_SHOWN = 20


def find_run(store: Store, run_id: str) -> RunRow:
    """Return a run's row.

    :param run_id: its id, or the beginning of its id alone. A whole id stands for its run, also where others go on
        from it.
    :raises UnknownNameError: there is no such run.
    :raises Misuse: the ids of several begin so.
    """
    row = store.run(run_id)
    if row is None and run_id:
        begun_so = store.run_ids(run_id, _CANDIDATES_SHOWN + 1)
        if len(begun_so) > 1:
            more = ", and more" if len(begun_so) > _CANDIDATES_SHOWN else ""
            raise Misuse(
                f"the ids of several runs begin with `{run_id}`: {', '.join(begun_so[:_CANDIDATES_SHOWN])}{more}; "
                "write as much of the id as tells the run from the others"
            )
        row = store.run(begun_so[0]) if begun_so else None
    if row is None:
        raise UnknownNameError(
            "run",
            run_id,
            [known.id for known in store.runs(200)],
            f"the store {store.where} has none: go to the folder where it was begun, or name its store with --store",
        )
    return row
