"""A kit that asks very many questions: short ones of 2 KB, and long ones of 250 KB that share their first 240 KB.

The texts are made by the kit when they are asked, as an audit renders its shards: a plan that held them all itself
would meet the language's limit on memory at some forty thousand.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from planlang import Call, Value, Word
from planloom.kits import Kit
from planloom.plugins import Registry
from planloom.questions import Part
from planloom.runtime import host_of
from planloom.settings import Settings
from planloom.words import signature_of
from planloom.workers import Conversation, WorkerRequest

__all__ = ["MANY", "distinct_texts"]

SHORT, SHARED, TAIL = 2_000, 240_000, 10_000
_BOOK = 2_000_000
_WORDS = [f"word{n}" for n in range(3_000)]


def _written(characters: int) -> str:
    """Return words that compress about as prose does."""
    return " ".join(random.Random(0).choices(_WORDS, k=characters // 6))[:characters]


class ManyTexts:
    """Every text that is asked, cut from one book."""

    def __init__(self) -> None:
        self._book = _written(_BOOK)
        self.shared = Part(self._book[:SHARED])

    def short(self, number: int) -> str:
        """Return a question of its own."""
        return self._cut(number, SHORT)

    def tail(self, number: int) -> str:
        """Return what a long question does not share."""
        return self._cut(number, TAIL)

    def _cut(self, number: int, characters: int) -> str:
        start = number * 7_919 % (_BOOK - characters)
        return f"{number}: {self._book[start : start + characters]}"

    def manifest(self) -> Mapping[str, Any]:
        """Return what there is."""
        return {"book": len(self._book)}

    def digest(self) -> str:
        """Return a hash of all texts."""
        return hashlib.sha256(self._book.encode()).hexdigest()

    def new_run(self, *, rehearsal: bool) -> ManyTexts:
        """Return the texts: nothing is kept of a run."""
        return self


def distinct_texts(short: int, long: int) -> Iterator[str]:
    """Yield each text of so many questions once."""
    texts = ManyTexts()
    yield from (texts.short(number) for number in range(short))
    yield from (texts.tail(number) for number in range(long))
    yield texts.shared.text


def _shape(number: int) -> None: ...


async def _short(call: Call, number: int) -> Any:
    texts = _texts(call)
    return await _ask(call, "short", number, lambda: Conversation(prompt=texts.short(number)))


async def _long(call: Call, number: int) -> Any:
    texts = _texts(call)
    return await _ask(call, "long", number, lambda: Conversation(system=(texts.shared,), prompt=texts.tail(number)))


async def _ask(call: Call, word: str, number: int, build: Any) -> Any:
    request = WorkerRequest(
        word=word, identity=(number,), role="worker", label=f"{word} {number}", build=build, input_tokens=500
    )
    return await host_of(call).work(call, request)


def _texts(call: Call) -> ManyTexts:
    return host_of(call).state(MANY.name, ManyTexts)


def _vocabulary(_registry: Registry, _settings: Settings) -> Sequence[Word | Value]:
    return [
        Word(name, ask, signature=signature_of(_shape), doc="asks one question", spends=True, suspends=True)
        for name, ask in (("ask_short", _short), ("ask_long", _long))
    ]


MANY = Kit(
    name="many",
    version="1",
    summary="asks very many questions",
    vocabulary=_vocabulary,
    open=lambda target, options: ManyTexts(),
)
