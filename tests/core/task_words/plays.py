"""Plans played in virtual time, whose workers are told what to answer and after how long."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

import attrs
from hypothesis import settings

from planlang import Limits
from planlang import compile as compile_program
from planloom._recorder import Recorder
from planloom._virtual_time import run_in_virtual_time
from planloom.listeners import Listener
from planloom.plugins import load_plugins
from planloom.runtime import RunHost
from planloom.stores import Event, ThreadTrace
from planloom.testing.looms import settings_at
from planloom.words import build_vocabulary
from planloom.workers import Asker, Performed, WorkerRequest

REGISTRY = load_plugins()

SETTINGS = settings_at("http://127.0.0.1:9/v1", ":memory:")

VOCABULARY = build_vocabulary(REGISTRY, SETTINGS, ())

FAILS = "fails"

few = settings(max_examples=30)


@attrs.frozen(kw_only=True)
class Answer:
    """What a question brings, and after how long; ``FAILS`` for a worker that fails."""

    value: Any
    delay_s: float = 1.0


@attrs.define
class Played:
    """What a plan did: its result, when it ended, what it asked and said, and its journal."""

    host: RunHost
    result: Any = None
    seconds: float = 0.0
    asked: list[str] = attrs.field(factory=list)
    answered: list[str] = attrs.field(factory=list)
    places: dict[str, str] = attrs.field(factory=dict)
    events: list[Event] = attrs.field(factory=list)
    journal: dict[str, Any] = attrs.field(factory=dict)


def play(
    source: str,
    answers: Mapping[str, Answer] | Callable[[str], Answer] | None = None,
    *,
    recorded: Mapping[str, Any] | None = None,
    seats: int = 1_000,
    threads: Mapping[str, ThreadTrace] | None = None,
) -> Played:
    """Run a plan in virtual time; a question that no answer is given for is answered by itself after a second."""
    of = answers if callable(answers) else (answers or {}).get

    async def main() -> Played:
        loop = asyncio.get_running_loop()
        listener = Listener(name="test", on_event=lambda run, event: played.events.append(event))

        async def perform(request: WorkerRequest, asker: Asker) -> Performed:
            question = str(request.identity[0])
            played.asked.append(question)
            played.places[question] = asker.thread
            asker.started()
            answer = of(question) or Answer(value=question)
            await asyncio.sleep(answer.delay_s)
            played.answered.append(question)
            failed = answer.value == FAILS
            return Performed(value=None if failed else answer.value, error="no answer" if failed else None, calls=1)

        host = RunHost(
            "r",
            registry=REGISTRY,
            settings=SETTINGS,
            recorder=Recorder("r", None, [listener], loop.time),
            perform=perform,
            budget_left=lambda full_price: 10_000_000 - full_price,
            args={},
            states={},
            journal=lambda place, entry: played.journal.update({place: entry}),
            recorded=recorded,
            threads=threads,
        )
        played = Played(host=host)
        program = compile_program(source, VOCABULARY)
        played.result = (await program.run({}, Limits(tasks_in_flight=seats), host)).result
        host.close()
        played.seconds = loop.time()
        return played

    return run_in_virtual_time(main())


def kinds(played: Played) -> Counter[str]:
    return Counter(event.type for event in played.events)
