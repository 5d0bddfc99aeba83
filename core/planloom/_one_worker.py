"""One worker from its start to what it leaves behind: its thread, its events, its place in its phase's counts.

Of a worker that an earlier start of its run ended nothing is said or written as long as it asks nothing; when it comes
to what it came to then, from the same answers, what is stored of it holds, and it is counted alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._errors import PlanloomError, RunAborted, RunFailed
from .money import credits_of
from .stores import ThreadRow
from .workers import Asker, Performed, WorkerRequest

if TYPE_CHECKING:
    from ._phases import Phase
    from ._recorder import Recorder
    from .runtime import Perform
    from .stores import ThreadTrace

__all__ = ["OneWorker", "label_of"]

_LABEL_LENGTH = 120
_ERROR_LENGTH = 300
_ENDED = ("done", "failed")
_NOTHING = Performed(value=None)


def label_of(request: WorkerRequest) -> str:
    """Return what a worker is called in its row and its events."""
    return (request.label or "worker")[:_LABEL_LENGTH]


class OneWorker:
    """A worker of a run.

    :param thread: the id of what it leaves behind. :param place: its address in the plan.
    :param former: what an earlier start of the run left of it.
    :ivar ended_at: when it ended, in seconds since the run began.
    """

    __slots__ = (
        "_began",
        "_former",
        "_is_quiet",
        "_label",
        "_left",
        "_phase",
        "_place",
        "_recorder",
        "_request",
        "_run",
        "_status",
        "_thread",
        "ended_at",
    )

    def __init__(
        self,
        run: str,
        recorder: Recorder,
        request: WorkerRequest,
        phase: Phase,
        thread: str,
        place: str,
        former: ThreadTrace | None = None,
    ) -> None:
        self._run, self._recorder, self._request, self._phase = run, recorder, request, phase
        self._label = label_of(request)
        self._thread, self._place, self._former = thread, place, former
        self._is_quiet = former is not None and former.status in _ENDED and recorder.keeps
        self._status = "waiting"
        self._began: float | None = None
        self._left: Performed | None = None
        self.ended_at: float | None = None

    async def perform(self, perform: Perform) -> Performed:
        """Have the request carried out and return what came of it.

        :raises RunAborted: the run must end.
        """
        if not (self._is_quiet or self._recorder.is_silent):
            self._recorder.waits(self._thread, self._row)
        asker = Asker(run=self._run, thread=self._thread, started=self._started, asks=self._asks)
        try:
            performed = await perform(self._request, asker)
        except PlanloomError as error:
            self._stopped(str(error))
            if isinstance(error, RunAborted):
                raise
            raise RunFailed(error) from error
        except BaseException as error:
            self._stopped(str(error) or "cancelled: its answer is not waited for")
            raise
        self._count(performed)
        return performed

    def drop(self, limit: int) -> None:
        """Note that it is not started, since the run has started that many already."""
        self._phase.dropped += 1
        self._status, self._left = "dropped", Performed(value=None, error=f"beyond {limit} workers")
        if not self._is_as_before(self._left):
            self._recorder.thread(self._thread, self._row)
        self._recorder.emit("run.dropped", {"label": self._request.label, "limit": limit})

    def _started(self) -> None:
        if self._status != "waiting":
            return
        self._phase.started += 1
        self._phase.running += 1
        self._status = "running"
        if not self._is_quiet:
            self._say_started()

    def _asks(self) -> None:
        """Hear that it has something to ask, so that it is not what it was before."""
        if not self._is_quiet:
            return
        self._is_quiet = False
        if self._status == "waiting":
            self._recorder.waits(self._thread, self._row)
        else:
            self._say_started()

    def _say_started(self) -> None:
        self._began = self._recorder.seconds()
        if self._recorder.is_silent:
            return
        self._recorder.waits_no_more(self._thread)
        fields = {"thread": self._thread, "label": self._label, "phase": self._phase.name}
        self._recorder.emit("run.agent_started", fields, at_s=self._began)
        self._recorder.thread(self._thread, self._row)

    def _count(self, performed: Performed) -> None:
        if self._status == "waiting":
            self._started()
        ok, phase = performed.error is None, self._phase
        phase.running -= 1
        phase.done += ok
        phase.failed += not ok
        phase.calls += performed.calls
        phase.prompt_tokens += performed.prompt_tokens
        phase.cached_prompt_tokens += performed.cached_prompt_tokens
        phase.completion_tokens += performed.completion_tokens
        phase.full_price += performed.full_price
        if self._is_quiet:
            self._status = "done" if ok else "failed"
            if self._is_as_before(performed):
                self.ended_at = self._recorder.lasted()
                return
            self._say_started()
        self._finish("done" if ok else "failed", performed)

    def _is_as_before(self, left: Performed) -> bool:
        """Whether an earlier start stored the same of it; its value follows from the replies that it used."""
        former = self._former
        return former is not None and (
            former.versions == left.versions
            and former.fingerprints == left.fingerprints
            and former.status == self._status
            and former.error == left.error
            and former.phase == self._phase.name
            and former.label == self._label
        )

    def _stopped(self, why: str) -> None:
        if self._status == "running":
            self._phase.running -= 1
            self._phase.cancelled += 1
            if not self._is_quiet:
                self._finish("cancelled", Performed(value=None, error=why[:_ERROR_LENGTH]))
        elif self._status == "waiting":
            self._phase.unstarted += 1
            if not self._is_quiet:
                self._left_waiting(why)

    def _left_waiting(self, why: str) -> None:
        self._status, self._left = "cancelled", Performed(value=None, error=why[:_ERROR_LENGTH])
        if self._recorder.waits_no_more(self._thread):
            self._recorder.thread(self._thread, self._row)

    def _finish(self, status: str, left: Performed) -> None:
        self._status, self._left, self.ended_at = status, left, self._recorder.seconds()
        if self._recorder.is_silent:
            return
        self._recorder.thread(self._thread, self._row)
        self._recorder.emit(
            "run.agent_ended",
            {
                "thread": self._thread,
                "label": self._label,
                "phase": self._phase.name,
                "ok": None if status == "cancelled" else left.error is None,
                "credits": credits_of(left.cost),
                "seconds": round(self.ended_at - (self._began or 0.0), 3),
                "cached": left.cached,
            },
            at_s=self.ended_at,
        )

    def _row(self) -> ThreadRow:
        left = self._left or _NOTHING
        return ThreadRow(
            id=self._thread,
            run=self._run,
            place=self._place,
            phase=self._phase.name,
            label=self._label,
            role=self._request.role,
            status=self._status,
            started=self._began,
            model=left.model,
            ended=self.ended_at,
            cost=left.cost,
            fingerprints=left.fingerprints,
            versions=left.versions,
            result=left.value,
            error=left.error,
            raw=left.raw if left.error else None,
        )
