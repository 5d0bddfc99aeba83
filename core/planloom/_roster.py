"""The workers of a run: each is counted, gets its thread, is performed, and leaves its mark on phase and group.

Of a run that is played again nearly every worker came to its value before. Such a one is not started: its question is
worked out and compared, its answer read, and it is counted.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any

from ._errors import Runaway
from ._groups import Group
from ._lacks import Lacks
from ._one_worker import OneWorker, label_of
from .former import worker_address
from .workers import Asker, Performed, WorkerRequest

if TYPE_CHECKING:
    from ._phases import Phase
    from ._recorder import Recorder
    from .questions import Reply
    from .settings import Settings
    from .stores import ThreadTrace

__all__ = ["Perform", "Recall", "Roster", "Scope", "count_in"]

Scope = dict[str, object]
Perform = Callable[[WorkerRequest, Asker], Awaitable[Performed]]
Recall = Callable[[WorkerRequest, "ThreadTrace"], "tuple[Any, Reply] | None"]

# Key of a task's scope: the last place there that workers were started at, with how many.
_WORKERS = "workers"


class Roster:
    """The workers of one run, and of the saved plans inside it.

    :param perform: how a worker's request is carried out. :param recall: gives the value that a worker came to at an
        earlier start, and the reply it rests on; ``None`` sends to ``perform``.
    :param threads: the threads of an earlier start, by the address of their worker.
    :param newest: the highest number of any of them.
    :param lacks: is told of workers that brought nothing.
    :ivar full_price: what the answers so far cost at full price, in micro-credits.
    """

    def __init__(
        self,
        run_id: str,
        settings: Settings,
        recorder: Recorder,
        lacks: Lacks,
        *,
        perform: Perform,
        recall: Recall,
        threads: Mapping[str, ThreadTrace] | None = None,
        newest: int = 0,
    ) -> None:
        self._run_id, self._limit, self._recorder, self._lacks = run_id, settings.workers, recorder, lacks
        self._perform, self._recall = perform, recall
        self._threads, self._newest_thread = dict(threads or {}), newest
        self._asked_for = 0
        self.full_price = 0

    def begin(self, request: WorkerRequest, place: str, scope: Scope, phase: Phase, group: Group | None) -> Any:
        """Return the value of a worker that an earlier start knows, else a coroutine that starts it and returns it.

        :param place: where the plan asks for it. :param scope: of the task that asks, which is in ``phase`` and
            ``group``.
        """
        self._asked_for += 1
        former = self._threads.pop(worker_address(place, count_in(scope, _WORKERS, place)), None)
        if former is not None and former.status == "done" and self._asked_for <= self._limit:
            known = self._known(request, scope, phase, group, former)
            if known is not None:
                return known[0]
        return self._started(request, place, scope, phase, group, former)

    def _known(
        self, request: WorkerRequest, scope: Scope, phase: Phase, group: Group | None, former: ThreadTrace
    ) -> tuple[Any, Reply] | None:
        """Return what a worker came to at an earlier start, counted, where its stored row holds and nobody need hear.

        The ledger, and not the row, says what it came to, and the question is made anew to be compared.
        """
        recorder = self._recorder
        if recorder.keeps:
            if former.phase != phase.name or former.label != label_of(request):
                return None
        elif not recorder.is_silent:
            return None
        known = self._recall(request, former)
        if known is not None:
            reply = known[1]
            phase.recall(reply)
            self.full_price += reply.price
            if group is not None:
                group.worker_ended(scope, recorder.lasted())
        return known

    async def _started(
        self,
        request: WorkerRequest,
        place: str,
        scope: Scope,
        phase: Phase,
        group: Group | None,
        former: ThreadTrace | None,
    ) -> Any:
        thread = self._new_thread() if former is None else former.id
        worker = OneWorker(self._run_id, self._recorder, request, phase, thread, place, former)
        if self._asked_for > self._limit:
            if group is not None:
                group.answer_lost(place)
            return self._drop(request, worker)
        try:
            performed = await worker.perform(self._perform)
        finally:
            if group is not None and worker.ended_at is not None:
                group.worker_ended(scope, worker.ended_at)
        self.full_price += performed.full_price
        if performed.error is not None:
            self._lacks.worker(request.label or request.word, performed.error)
            if group is not None:
                group.answer_lost(place)
        return performed.value

    def _new_thread(self) -> str:
        self._newest_thread += 1
        return f"{self._run_id}/t{self._newest_thread:03d}"

    def _drop(self, request: WorkerRequest, worker: OneWorker) -> None:
        limit = self._limit
        worker.drop(limit)
        self._lacks.add("worker", request.label or request.word, f"dropped: beyond {limit} workers")
        if self._asked_for > 2 * limit:
            raise Runaway(
                f"the plan asked for {self._asked_for} workers, twice the limit of {limit} a run; bound its "
                "loops, or raise `limits.workers` in the configuration"
            )


def count_in(scope: Scope, key: str, place: str) -> int:
    """Return how many were counted at this place before. A task is at one place at a time, so it keeps one count."""
    last = scope.get(key)
    count = last[1] + 1 if isinstance(last, tuple) and last[0] == place else 0
    scope[key] = (place, count)
    return count
