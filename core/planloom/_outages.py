"""What is said of a run that waits at an endpoint: for an account that is used up, or for slots that others hold."""

from __future__ import annotations

from typing import Any

from ._abort import Abort
from ._breaker import Outage
from ._call import EventSink
from ._errors import RunStopped
from ._pauses import Pauses
from .settings import AtQuota

__all__ = ["Outages"]


class Outages:
    """Tells of one run, and ends it where it is not to wait.

    :param emit: takes the events ``run.breaker`` and ``run.log``. :param pauses: where the run is said to be paused.
    :param at_quota: what to do when an account is used up: wait until it is reset, or stop the run.
    """

    def __init__(self, emit: EventSink, pauses: Pauses, abort: Abort, at_quota: AtQuota) -> None:
        self._emit = emit
        self._pauses = pauses
        self._abort = abort
        self._at_quota = at_quota

    def tell(self, endpoint: str, outage: Outage | None) -> None:
        """Hear that an account is used up, or answers again."""
        at = f"the account behind `{endpoint}`"
        if outage is None:
            self._emit("run.breaker", _fields(endpoint, None, "the account answers again", is_open=False))
            self._pauses.leave(at)
            return
        until = None if outage.until is None else outage.until.isoformat(timespec="seconds")
        self._emit("run.breaker", _fields(endpoint, until, outage.reason, is_open=True))
        self._pauses.enter(at)
        if self._at_quota == "stop" or outage.hopeless:
            self._abort.set(RunStopped(_used_up(at, outage, until)))

    def tell_crowded(self, endpoint: str) -> None:
        """Hear that the run waits since others hold all slots of an endpoint."""
        said = f"waits for slots at endpoint `{endpoint}` that other processes of this machine hold"
        self._emit("run.log", {"message": said})


def _fields(endpoint: str, until: str | None, reason: str, *, is_open: bool) -> dict[str, Any]:
    return {"endpoint": endpoint, "until": until, "reason": reason, "open": is_open}


def _used_up(at: str, outage: Outage, until: str | None) -> str:
    when = f" after {until}" if until else ""
    return f"{at} is used up: {outage.reason}; then run it again{when}: what is answered is not asked again"
