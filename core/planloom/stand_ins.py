"""Stand-ins: what answers a plan's questions in a rehearsal, for free."""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from .data_classes import frozen
from .questions import LONG_CHARACTERS

if TYPE_CHECKING:
    from .workers import WorkerRequest

__all__ = ["StandIn", "StandInAnswer", "identified", "request_random"]


@frozen(kw_only=True)
class StandInAnswer:
    """A made-up answer: the value a worker would bring back, and the tokens a model would have written."""

    value: Any
    completion_tokens: int


@frozen(kw_only=True)
class StandIn:
    """Answers a kit's questions from a hash of what identifies them.

    :ivar name: the kit whose words it answers; the state that ``answer`` gets is that kit's.
    :ivar words: the words whose requests it answers.
    :ivar answer: gives the made-up answer from the request, the run's kit state and a generator that is seeded by the
        question and the rehearsal's seed; a pure function of them, or ``None`` for a question it does not know.
    """

    name: str
    words: tuple[str, ...]
    answer: Callable[[WorkerRequest, object, random.Random], StandInAnswer | None]


def identified(request: WorkerRequest) -> list[Any]:
    """Return what tells a request from others, as JSON data; a long text, which may be in hundreds, by its digest."""
    return [request.word, [_shortened(item) for item in request.identity], request.role, request.sample]


def _shortened(item: Any) -> Any:
    return _digest(item) if isinstance(item, str) and len(item) > LONG_CHARACTERS else item


@lru_cache(maxsize=4)  # the texts of the request that is just looked at, more than once
def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def request_random(request: WorkerRequest, seed: int) -> random.Random:
    """Return a generator seeded by what identifies a request, its sample and a seed; the same on every machine."""
    # Nothing here is ever compared with another program's form, so the quick serialiser does.
    key = json.dumps([*identified(request), seed], sort_keys=True)
    return random.Random(int.from_bytes(hashlib.sha256(key.encode()).digest()[:8], "big"))
