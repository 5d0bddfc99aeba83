"""What a kit's word asks of a worker, and what comes back.

A request says what identifies the question without building it, so that a rehearsal prices a plan of a thousand workers
without rendering one shard; the messages are built only when a model is really asked.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ._often_made import often_made
from .data_classes import frozen
from .questions import Message, Part, canonical_json, head_of, message_of

if TYPE_CHECKING:
    from jsonschema.protocols import Validator

__all__ = ["Asker", "Conversation", "Performed", "Schema", "WorkerRequest"]


@often_made(kw_only=True)
class Conversation:
    """What a worker is shown: ``prompt``, a blank line, ``data``; either may be empty. No system message when empty."""

    system: tuple[Part | str, ...] = ()
    prompt: Part | str = ""
    data: tuple[Part | str, ...] = ()

    def messages(self) -> tuple[Message, ...]:
        """Return the messages as they are sent."""
        user = message_of("user", self.prompt, *self.data)
        asked = (user,) if user.parts else ()
        for part in self.system:
            if part:
                return (message_of("system", *self.system), *asked)
        return asked

    def heads(self) -> str | None:
        """Return what a fingerprint takes of the messages; ``None`` where that would take long to work out.

        :raises Misuse: a text cannot be sent.
        """
        asked = head_of("user", (self.prompt, *self.data))
        for part in self.system:
            if part:
                before = head_of("system", self.system)
                return None if before is None or asked is None else f"{before},{asked}" if asked else before
        return asked


@frozen(kw_only=True)
class Schema:
    """A JSON Schema (2020-12) that a worker's answer must satisfy.

    :ivar name: what it is called where a server wants a name: letters, digits, ``_`` and ``-``.
    :ivar shown: what the worker is shown.
    :ivar read: what the answer is judged by; more lenient where a kit mends items one by one; ``shown`` if ``None``.
    """

    name: str
    shown: Mapping[str, Any]
    read: Mapping[str, Any] | None = None

    @cached_property
    def canonical(self) -> bytes:
        """Canonical JSON of what the worker is shown."""
        return canonical_json([self.name, dict(self.shown)])

    @cached_property
    def validator(self) -> Validator:
        """What judges answers. Making one costs more than judging a short answer, so there is one for all."""
        # It takes 60 ms to import, and a run that only replays text answers never needs it.
        from jsonschema import Draft202012Validator

        return Draft202012Validator(self.read or self.shown)


@often_made(kw_only=True)
class WorkerRequest:
    """One worker to start.

    :ivar word: the word that asks (``scan``).
    :ivar identity: what identifies the question without building it: JSON data that differs whenever the question does.
    :ivar role: lead, worker, judge, fast, or one that a kit adds.
    :ivar schema: what the answer must satisfy; text is returned as it is when ``None``.
    :ivar build: makes the conversation; called only when a model is really asked. What it raises as
        :class:`planloom.Misuse` is this worker's failure and no other's.
    :ivar input_tokens: estimated size of the conversation. :ivar system: what it begins with, which others may share.
    :ivar sample: which of several independent answers to one question.
    :ivar phase: the phase it belongs to; that of the calling task when ``None``.
    """

    word: str
    identity: tuple[Any, ...]
    role: str
    label: str
    build: Callable[[], Conversation]
    input_tokens: int
    system: str = ""
    schema: Schema | None = None
    sample: int = 0
    phase: str | None = None


@often_made(kw_only=True)
class Asker:
    """Who asks, for the books and the events.

    :ivar started: called once, when the worker stops waiting: it has a slot and money, or the ledger answered.
    :ivar asks: called whenever the worker has a question that the ledger has no answer to at hand.
    :ivar sends: called when a question would be sent next; a :class:`planloom.clients.ModelError` from it is the
        worker's, and nothing is sent.
    """

    run: str
    thread: str
    started: Callable[[], None]
    asks: Callable[[], None] = lambda: None
    sends: Callable[[], None] = lambda: None


@often_made(kw_only=True)
class Performed:
    """What a worker brought back.

    :ivar value: the checked value or the text; ``None`` when it failed.
    :ivar error: why it failed, at most 300 characters; ``None`` when it did not.
    :ivar raw: the raw text of the last answer.
    :ivar cost: what was paid for it, in micro-credits. :ivar full_price: what it would cost without the ledger.
    :ivar cached_prompt_tokens: those of ``prompt_tokens`` that the provider served from its cache.
    :ivar versions: the numbers of the stored replies to ``fingerprints``; 0 where there is none.
    :ivar calls: questions it took. :ivar cached: every reply came from the ledger.
    """

    value: Any
    error: str | None = None
    raw: str | None = None
    cost: int = 0
    full_price: int = 0
    calls: int = 0
    cached: bool = False
    prompt_tokens: int = 0
    cached_prompt_tokens: int = 0
    completion_tokens: int = 0
    model: str = ""
    fingerprints: tuple[str, ...] = ()
    versions: tuple[int, ...] = ()
