"""What the earlier starts of a run left behind, for the next one to go on from.

A run that goes on keeps everything by which its answers, its decisions and its workers are known: the journal, which
stored reply each question was answered with, the ids of its threads by place in the plan, and the numbers of its
events.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

import attrs

from .stores import RunRow, Store

__all__ = ["Former", "read_former"]


@attrs.frozen(kw_only=True)
class Former:
    """What a run is so far.

    :ivar threads: its threads' ids by place in the plan and which worker at that place, from 0.
    :ivar versions: by fingerprint, the number of the stored reply that was used.
    :ivar failures: why workers failed, by thread id.
    :ivar seq: number of its last event, ``t`` the seconds it stands at.
    :ivar calls: questions it sent. :ivar paid: what they cost, in micro-credits.
    """

    row: RunRow
    journal: Mapping[str, Any]
    threads: Mapping[tuple[str, int], str]
    versions: Mapping[str, int]
    failures: Mapping[str, str]
    seq: int
    t: float
    calls: int
    paid: int


def read_former(store: Store, row: RunRow) -> Former:
    """Return what a run is so far, from the store."""
    ids: dict[str, list[str]] = defaultdict(list)
    versions: dict[str, int] = {}
    failures: dict[str, str] = {}
    for thread, place, status, error, asked, used in store.traces(row.id):
        ids[place].append(thread)
        versions.update(zip(asked, used, strict=False))
        if status == "failed":
            failures[thread] = error or ""
    if row.facts.get("refresh"):
        # What was answered just before the run died is its own too; any other stored answer would be asked again.
        versions = store.own_versions(row.id) | versions
    progress, money = store.progress(row.id), store.money(row.id)
    return Former(
        row=row,
        journal=store.journal(row.id),
        threads={(place, n): one for place, all_ in ids.items() for n, one in enumerate(_in_order(all_))},
        versions={fingerprint: version for fingerprint, version in versions.items() if version},
        failures=failures,
        seq=progress.seq,
        t=progress.t,
        calls=money["calls"],
        paid=money["spent"],
    )


def _in_order(ids: list[str]) -> list[str]:
    return sorted(ids, key=_number) if len(ids) > 1 else ids


def _number(thread_id: str) -> int:
    return int(thread_id.rpartition("/t")[2])
