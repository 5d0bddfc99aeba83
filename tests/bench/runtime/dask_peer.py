"""Dask distributed: two processes, coroutine tasks, and a SQLite row an answer, since it stores no results."""

import time

from distributed import Client, LocalCluster, as_completed
from tests.bench.runtime._contestant import AT_ONCE, CALLS, Asker, answers_table, delivered, finish

_askers: list[Asker] = []


async def ask(number: int) -> tuple[int, str]:
    """Run in a worker process: one session a process."""
    if not _askers:
        _askers.append(Asker())
    return number, await _askers[0].ask(number)


def main() -> None:
    """Fan out what has no row yet."""
    began = time.perf_counter()
    cluster = LocalCluster(
        n_workers=2, threads_per_worker=AT_ONCE // 2, processes=True, dashboard_address=None, silence_logs=50
    )
    with cluster, Client(cluster) as client:
        table = answers_table()
        known = dict(table.execute("SELECT number, text FROM answer"))
        tasks = client.map(ask, [number for number in range(CALLS) if number not in known], pure=False)
        for batch in as_completed(tasks, with_results=True).batches():
            for _, (number, text) in batch:
                table.execute("INSERT INTO answer VALUES (?, ?)", (number, text))
                delivered(number)
                known[number] = text
    finish(len(known), began)


if __name__ == "__main__":
    main()
