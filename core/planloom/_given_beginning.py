"""How a run is to be begun, as a program says it: looked at before anything is priced, asked or stored."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from ._errors import Misuse
from ._given_values import given_at_cap
from .control import RunControl
from .listeners import Listener

if TYPE_CHECKING:
    from ._proposals import Approve

__all__ = ["given_beginning"]


def given_beginning(
    at_cap: str, approve: Approve | bool, control: RunControl | None, listeners: Iterable[Listener]
) -> tuple[Listener, ...]:
    """Return the listeners of a run that is to be begun; each may be given once only, as an iterator gives them.

    :raises Misuse: one of these can be used for no run.
    """
    given_at_cap(at_cap)
    if not callable(approve) and not isinstance(approve, bool):
        raise Misuse(f"`approve` must be True, False or a function that returns one of them, got {approve!r:.80}")
    if control is not None and not isinstance(control, RunControl):
        raise Misuse(f"`control` must be a planloom.control.RunControl, got {control!r:.80}")
    return _given_listeners(listeners)


def _given_listeners(listeners: Iterable[Listener]) -> tuple[Listener, ...]:
    what = '`listeners` must be a list of planloom.listeners.Listener(name="...", on_event=...)'
    if not isinstance(listeners, Iterable):
        raise Misuse(f"{what}, got {listeners!r:.80}")
    heard = tuple(listeners)
    for listener in heard:
        if not isinstance(listener, Listener):
            raise Misuse(f"{what}, and one of them is {listener!r:.80}")
    return heard
