"""When an endpoint whose account is used up is asked again.

Where the server says when the account is reset, then; otherwise after a minute, two, four, and so on up to sixteen, for
half an hour in all. Each time one call is let through, and what it meets decides for the others. A server whose time
came and which refuses again is believed only where it names a longer wait than these: one that says "now" each time
would be asked without a pause.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from .clients import QuotaError
from .data_classes import frozen

__all__ = ["Breaker", "Outage"]

_FIRST_WAIT_S = 60.0
_LONGEST_WAIT_S = 960.0
_PATIENCE_S = 1_800.0
_NEXT_PROBE_S = 5.0


@frozen(kw_only=True)
class Outage:
    """Why an endpoint's breaker is open.

    :ivar until: when the account is reset, where the server said so.
    :ivar hopeless: it has been asked for long enough.
    """

    reason: str
    until: datetime | None
    hopeless: bool = False


class Breaker:
    """The state of one endpoint's account; closed until it trips. Times are those of the event loop.

    :ivar probe_at: when the next call may be let through. :ivar probing: one is under way.
    :ivar outage: why it is open, ``None`` while it is closed.
    """

    def __init__(self) -> None:
        self.outage: Outage | None = None
        self.probe_at = 0.0
        self.probing = False
        self._wait_s = _FIRST_WAIT_S
        self._give_up_at = 0.0

    @property
    def is_open(self) -> bool:
        """Whether the account is used up, as far as is known."""
        return self.outage is not None

    def trip(self, now: float, error: QuotaError) -> None:
        """Open it, or keep it open after a probe that met the same."""
        asked_s, until = error.retry_after_s, None
        if not self.is_open:
            self._give_up_at = now + _PATIENCE_S
        hopeless = self.is_open and now >= self._give_up_at
        if asked_s is not None and (asked_s >= self._wait_s or not self.is_open):
            until = datetime.now(UTC) + timedelta(seconds=asked_s)
            self.probe_at = now + asked_s
            self._give_up_at = max(self._give_up_at, self.probe_at + _PATIENCE_S)
            hopeless = False
        else:
            self.probe_at = min(now + self._wait_s, max(now, self._give_up_at))
            self._wait_s = min(2 * self._wait_s, _LONGEST_WAIT_S)
        self.outage = Outage(reason=str(error), until=until, hopeless=hopeless)
        self.probing = False

    def try_again(self, now: float, *, asked: bool) -> None:
        """Let another call through, since the last one brought no news: soon, or at once where it asked nothing."""
        if asked:
            self.probe_at = max(self.probe_at, now + _NEXT_PROBE_S)
        self.probing = False

    def close(self) -> None:
        """The account answers again."""
        self.outage = None
        self.probing = False
        self._wait_s = _FIRST_WAIT_S
