"""The stored replies that an earlier start of a run used, read ahead.

A run that is played again asks its questions in about the order of before, so that they are read so many at a time: one
by one they are a fifth of all that a replay does. What is not where it was expected is read alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice

from .questions import Reply
from .stores import Store

__all__ = ["Recall"]

_AT_ONCE = 128
_MOST_AHEAD = 2 * _AT_ONCE  # replies may be long


class Recall:
    """Gives the replies of one run.

    :param versions: by fingerprint, the number of the stored reply that was used, in the order of use.
    """

    def __init__(self, store: Store, versions: Mapping[str, int]) -> None:
        self._store = store
        self._versions = dict(versions)
        self._to_come = iter(versions.items())
        self._ahead: dict[str, Reply] = {}

    def reply(self, fingerprint: str) -> Reply | None:
        """Return the reply that the run used; ``None`` when it used none, or it is no longer there."""
        version = self._versions.get(fingerprint)
        if version is None:
            return None
        known = self._ahead.pop(fingerprint, None)
        if known is None and len(self._ahead) < _MOST_AHEAD:
            self._ahead.update(self._store.replies(dict(islice(self._to_come, _AT_ONCE))))
            known = self._ahead.pop(fingerprint, None)
        return known or self._store.reply(fingerprint, version)

    def knows(self, fingerprint: str) -> bool:
        """Whether the run has used a reply to this question."""
        return fingerprint in self._versions

    def use(self, fingerprint: str, version: int) -> None:
        """Have the run use this reply from now on."""
        self._versions[fingerprint] = version
        self._ahead.pop(fingerprint, None)
