"""What the earlier starts of a run left behind, for the next one to go on from.

A run that goes on keeps everything by which its answers, its decisions and its workers are known: the journal, which
stored reply each question was answered with, the ids of its threads by place in the plan, and the numbers of its
events.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .data_classes import frozen
from .stores import RunRow, Store, ThreadTrace

__all__ = ["Former", "read_former", "worker_address"]


@frozen(kw_only=True)
class Former:
    """What a run is so far.

    :ivar threads: its threads by the address of their worker; see :func:`worker_address`.
    :ivar newest_thread: the highest number that one of its threads had, written down or not.
    :ivar versions: by fingerprint, the number of the stored reply that was used.
    :ivar failures: why workers failed, by thread id.
    :ivar seq: number of its last event, ``t`` the seconds it stands at.
    :ivar calls: questions it sent. :ivar paid: what they cost, in micro-credits.
    """

    row: RunRow
    journal: Mapping[str, Any]
    threads: Mapping[str, ThreadTrace]
    newest_thread: int
    versions: Mapping[str, int]
    failures: Mapping[str, str]
    seq: int
    t: float
    calls: int
    paid: int


def worker_address(place: str, nth: int) -> str:
    """Return what tells a worker from all others of a run: its place in the plan, and which one it is there, from 0."""
    return f"{place}#{nth}" if nth else place


def read_former(store: Store, row: RunRow) -> Former:
    """Return what a run is so far, from the store."""
    threads, versions, failures = _read_traces(store, row.id)
    if row.facts.get("refresh"):
        # What was answered just before the run died is its own too; any other stored answer would be asked again.
        versions = store.own_versions(row.id) | versions
    if 0 in versions.values():
        versions = {fingerprint: version for fingerprint, version in versions.items() if version}
    progress, money = store.progress(row.id), store.money(row.id)
    return Former(
        row=row,
        journal=store.journal(row.id),
        threads=threads,
        newest_thread=store.newest_thread(row.id),
        versions=versions,
        failures=failures,
        seq=progress.seq,
        t=progress.t,
        calls=money["calls"],
        paid=money["spent"],
    )


def _read_traces(store: Store, run_id: str) -> tuple[dict[str, ThreadTrace], dict[str, int], dict[str, str]]:
    """Return a run's threads by address, versions by fingerprint, failures by thread; quick, since a replay of very
    many workers waits for it."""
    threads: dict[str, ThreadTrace] = {}
    several: dict[str, list[ThreadTrace]] = {}
    versions: dict[str, int] = {}
    failures: dict[str, str] = {}
    for trace in store.traces(run_id):
        thread, place, _, _, status, error, asked, used = trace
        if place in threads:
            several.setdefault(place, [threads[place]]).append(trace)
        else:
            threads[place] = trace
        if len(asked) == len(used) == 1:
            versions[asked[0]] = used[0]
        else:
            versions.update(zip(asked, used, strict=False))
        if status == "failed":
            failures[thread] = error or ""
    digits = len(run_id) + len("/t")
    for place, traces in several.items():
        traces.sort(key=lambda trace: int(trace.id[digits:]))
        threads.update((worker_address(place, nth), trace) for nth, trace in enumerate(traces))
    return threads, versions, failures
