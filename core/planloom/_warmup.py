"""Questions that share a long beginning: the first is sent alone until its answer begins, then the others.

A provider's prompt cache serves a beginning only once it has read it. Beginnings are counted in whole parts of the
messages, as the provider counts from the first byte. A question leads for each of its beginnings that nobody has sent
lately, and waits for the longest one that somebody else has just sent; when that one fails, the next leads.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections import OrderedDict

from .questions import Question

__all__ = ["LONGEST_WAIT_S", "Lead", "Warmup", "beginnings"]

LONGEST_WAIT_S = 60.0
_SHORTEST_CHARACTERS = 4_096
# Providers keep a beginning for about five minutes after its last use.
_WARM_S = 300.0
_MOST_REMEMBERED = 4_096


def beginnings(question: Question) -> tuple[bytes, ...]:
    """Return keys of the beginnings that are long enough to be worth caching, the shortest first."""
    running = hashlib.sha256(question.model.encode())
    characters = 0
    keys = []
    for message in question.messages:
        running.update(message.role.encode())
        for part in message.parts:
            running.update(bytes.fromhex(part.digest))
            characters += len(part.text)
            if characters >= _SHORTEST_CHARACTERS:
                keys.append(running.digest())
    return tuple(keys)


class Lead:
    """What a question that was sent first does for the others."""

    def __init__(self, warmup: Warmup, keys: tuple[bytes, ...]) -> None:
        self._warmup = warmup
        self._keys = keys
        self.over = asyncio.Event()

    def began(self) -> None:
        """Say that its answer begins, so that the others can follow."""
        if not self.over.is_set():
            self._warmup.warm(self._keys)
            self.end()

    def end(self) -> None:
        """Say that it leads no more; without :meth:`began` the next one leads."""
        if not self.over.is_set():
            self._warmup.forget(self._keys)
            self.over.set()


class Warmup:
    """What one endpoint has read lately."""

    def __init__(self) -> None:
        self._leads: dict[bytes, Lead] = {}
        self._warm_until: OrderedDict[bytes, float] = OrderedDict()

    def leader(self, keys: tuple[bytes, ...]) -> Lead | None:
        """Return the question to wait for: who leads for the longest beginning that is known at all."""
        for key in reversed(keys):
            if key in self._leads:
                return self._leads[key]
            if self._is_warm(key):
                return None
        return None

    def lead(self, keys: tuple[bytes, ...]) -> Lead | None:
        """Lead for these beginnings as far as nobody does and they are not warm; ``None`` when none is left."""
        cold = tuple(key for key in keys if key not in self._leads and not self._is_warm(key))
        self.warm(tuple(key for key in keys if self._is_warm(key)))
        if not cold:
            return None
        lead = Lead(self, cold)
        self._leads.update(dict.fromkeys(cold, lead))
        return lead

    def warm(self, keys: tuple[bytes, ...]) -> None:
        """Remember that the provider has read these beginnings."""
        until = asyncio.get_running_loop().time() + _WARM_S
        for key in keys:
            self._warm_until[key] = until
            self._warm_until.move_to_end(key)
        while len(self._warm_until) > _MOST_REMEMBERED:
            self._warm_until.popitem(last=False)

    def forget(self, keys: tuple[bytes, ...]) -> None:
        """End the lead for these beginnings."""
        for key in keys:
            self._leads.pop(key, None)

    def _is_warm(self, key: bytes) -> bool:
        return self._warm_until.get(key, 0.0) > asyncio.get_running_loop().time()
