"""A hand on a run, for whoever started it; other processes ask its driver through the store."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from ._abort import Abort
from ._errors import RunCancelled
from .wording import counted

if TYPE_CHECKING:
    from ._phases import Phases
    from .front_door import FrontDoor

__all__ = ["CANCEL", "DRAIN_S", "RunControl", "calls_left_text"]

CANCEL = "cancel"
"""What another process posts to a run's driver to have the run cancelled."""

DRAIN_S = 30.0
"""How long a call in flight may take to end once its run, or the worker that asked, is cancelled."""


def calls_left_text(calls: int) -> str:
    """Return what a run waits for whose plan has ended, and how to have it end now."""
    return (
        f"the plan has ended, and the run waits up to {DRAIN_S:.0f} s for {counted(calls, 'call')} in flight whose "
        "workers were cancelled, to keep what is paid for; to end it now press Ctrl-C or cancel it, which leaves what "
        "they cost uncertain"
    )


def _cancelled_text(calls: int) -> str:
    """Return what a run that is cancelled still waits for, and how to have it end now."""
    have = "has" if calls == 1 else "have"
    return (
        f"cancelled: no worker starts any more, and {counted(calls, 'call')} in flight {have} "
        f"up to {DRAIN_S:.0f} s to end, to keep what is paid for; to end it now press Ctrl-C again or cancel it again, "
        "which leaves what they cost uncertain"
    )


def _cut_text(calls: int) -> str:
    are, them = ("is", "it") if calls == 1 else ("are", "them")
    return (
        f"{counted(calls, 'call')} in flight {are} cut off now; what of {them} was sent and is not answered stays "
        "charged, since the provider may bill it"
    )


class RunControl:
    """A hand on a run: cancel it once to let the calls in flight end, twice to cut them off.

    :ivar only_calls_left: the plan has ended, and the run waits for nothing but calls that no worker waits for.
    :ivar states: each kit's state of the run, by kit name, once it has begun. :ivar phases: its phases and what is
        counted in them, likewise.
    :ivar say: tells whoever looks on what it does, likewise.
    :ivar winds_down: told when the run begins to end, with the number of calls that are let end first, likewise.
    :ivar run_id: the run that it is a hand on, once there is one. :ivar begun: set when the run is this process's.
    """

    def __init__(self) -> None:
        self.abort = Abort()
        self.door: FrontDoor | None = None
        self.states: Mapping[str, object] = {}
        self.phases: Phases | None = None
        self.say: Callable[[str], None] = lambda text: None
        self.winds_down: Callable[[int], None] = lambda calls: None
        self.run_id = ""
        self.begun = asyncio.Event()
        self.only_calls_left = False
        self._asked = 0
        self._is_cut_said = False

    def cancel(self) -> None:
        """Stop the run: no new worker starts, waiting ones end; calls in flight get 30 s, or none the second time.

        Once only such calls are left, the first time is enough, and takes nothing from what the plan came to.
        """
        self._asked += 1
        how = f"`planloom resume {self.run_id}` goes on" if self.run_id else "run the same command again to go on"
        self.abort.set(RunCancelled(f"the run was cancelled and every answer that came is kept; {how}"))
        if self._asked == 1 and not self.only_calls_left:
            if self.door is not None and self.door.in_flight:
                self.say(_cancelled_text(self.door.in_flight))
                self.winds_down(self.door.in_flight)
            asyncio.get_running_loop().call_later(DRAIN_S, self._cut)
        else:
            self._cut()

    def _cut(self) -> None:
        if self.door is None:
            return
        calls, is_said, self._is_cut_said = self.door.in_flight, self._is_cut_said, True
        self._cutting = asyncio.ensure_future(self.door.cut())
        if calls and not is_said:  # once, however often it is cancelled; who hears it may cancel it too
            self.say(_cut_text(calls))
