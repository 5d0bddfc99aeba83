"""What a run takes from the ledger in place of asking: by its mode, and by what an earlier start of it used."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from ._recall import Recall
from .questions import Question, Reply
from .stores import Store

__all__ = ["Known", "Mode"]

Mode = Literal["collect", "replay", "refresh"]


class Known:
    """The answers that one run may have for nothing.

    :param versions: by fingerprint, the number of the stored reply that an earlier start of this run used, in order.
    :ivar again: by fingerprint, the number of a stored reply that was cut, filtered or empty, and was not taken.
    :ivar payable: endpoints whose client was there when it was needed.
    """

    def __init__(self, store: Store, mode: Mode, versions: Mapping[str, int]) -> None:
        self._store = store
        self._mode = mode
        self._recall = Recall(store, versions)
        self.again: dict[str, int | None] = {}
        self.payable: set[str] = set()

    def answer(self, question: Question) -> Reply | None:
        """Return the answer to a question, ``None`` where it is to be asked."""
        fingerprint = question.fingerprint
        reply = self._recall.reply(fingerprint)
        if reply is None and self._mode != "refresh" and not self._is_surely_new(question):
            reply = self._store.reply(fingerprint)
        if reply is None or reply.whole or self._mode == "replay":
            return reply
        # A stored reply that was cut, filtered or empty is no answer: it is asked again, once a run.
        if fingerprint in self.again:
            return self._store.reply(fingerprint)
        self.again[fingerprint] = reply.version
        return None

    def news(self, question: Question) -> Reply | None:
        """Return the answer that came to a question since this run found it was to be asked, ``None`` for none."""
        fingerprint = question.fingerprint
        if fingerprint not in self.again:
            return self.answer(question)
        reply = self._recall.reply(fingerprint) if self._mode == "refresh" else self._store.reply(fingerprint)
        return None if reply is None or reply.version == self.again[fingerprint] else reply

    def _is_surely_new(self, question: Question) -> bool:
        """Whether no look into the ledger is needed: should another process have answered it in this moment, then the
        reservation finds that, and until then nothing rests on it. Where nobody can pay something does."""
        return question.endpoint in self.payable and self._store.lacks(question.fingerprint)

    def is_looked_for(self, question: Question) -> bool:
        """Whether the ledger is to be looked into once more when a question is about to be asked."""
        return self._mode != "refresh" and question.fingerprint not in self.again

    def recalled(self, fingerprint: str, version: int) -> Reply | None:
        """Return the reply that an earlier start used for a question, if it has this number and is whole."""
        reply = self._recall.reply(fingerprint)
        return reply if reply is not None and reply.version == version and reply.whole else None

    def was_used(self, fingerprint: str) -> bool:
        """Whether an earlier start used an answer to this question."""
        return self._recall.knows(fingerprint)

    def has(self, fingerprint: str) -> bool:
        """Whether the ledger has an answer that this run would take for its own."""
        reply = None if self._mode == "refresh" else self._store.reply(fingerprint)
        return reply is not None and reply.whole

    def came(self, fingerprint: str, version: int) -> None:
        """Hear of an answer that this run paid for: one that asks again does so once, whoever waits for it."""
        if self._mode == "refresh":
            self._recall.use(fingerprint, version)
