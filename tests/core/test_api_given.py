"""planloom from Python used wrongly: told before anything is asked, paid or stored."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import planloom
from planloom import Misuse, Planloom
from planloom.listeners import Listener
from planloom.stores import Event
from planloom.testing.loopback import LoopbackServer, echo

from .asking import opened, refused

TWO = 'result = [agent("a"), agent("b")]\n'


@asynccontextmanager
async def looking(folder: Path) -> AsyncIterator[tuple[Planloom, LoopbackServer, str]]:
    """Give a planloom that is opened to look only, at a store with a run that lacks something, and that run's id."""

    def script(request: Any) -> Any:
        return refused() if request.question == "b" else echo(request)

    async with opened(folder, script) as (loom, server):
        run = await loom.start(TWO)
        await run
        async with planloom.open(folder, read_only=True) as looker:
            yield looker, server, run.id


STEPS: dict[str, Callable[[Planloom, str], Any]] = {
    "start": lambda loom, run: loom.start(TWO, repeat=2),
    "resume": lambda loom, run: loom.resume(run),
    "reopen": lambda loom, run: loom.reopen(run, cap=200),
    "cancel": lambda loom, run: loom.run(run).cancel(),
    "raise_cap": lambda loom, run: loom.run(run).raise_cap(200),
    "remember": lambda loom, run: loom.run(run).remember("name", "key", 1),
}


@pytest.mark.parametrize("step", STEPS)
def test_what_is_opened_to_look_only_writes_nothing_to_a_store_that_could_be_written(tmp_path: Path, step: str) -> None:
    async def main() -> None:
        async with looking(tmp_path) as (loom, server, run):
            before, asked = json.dumps(loom.run(run).as_json()), server.total
            with pytest.raises(Misuse) as refusal:
                await STEPS[step](loom, run)
            told = f"`{step}` writes to the store, and this was opened with `read_only`; open it without that"
            assert str(refusal.value) == told
            assert (server.total, json.dumps(loom.run(run).as_json()), len(loom.runs())) == (asked, before, 1)

    asyncio.run(main())


def test_a_resume_as_a_new_run_and_a_proposal_cannot_be_begun_by_who_looks_only(tmp_path: Path) -> None:
    async def main() -> None:
        async with looking(tmp_path) as (loom, _, run):
            with pytest.raises(Misuse, match="`resume` writes"):
                await loom.resume(run, as_new_run=True)
            proposal = await loom.propose(TWO, repeat=2)
            for step in (loom.begin(proposal), loom.keep(proposal, "no"), loom.leave(proposal)):
                with pytest.raises(Misuse, match="opened with `read_only`"):
                    await step
            assert len(loom.runs()) == 1

    asyncio.run(main())


def test_who_looks_only_lists_follows_prices_and_replays(tmp_path: Path) -> None:
    async def main() -> None:
        async with looking(tmp_path) as (loom, server, run):
            asked = server.total
            assert [one.id for one in loom.runs()] == [run]
            assert [event.type async for event in loom.run(run).events()][-1] == "run.ended"
            assert (await loom.replay(run)).equal
            assert (await loom.rehearse(TWO)).roles
            assert server.total == asked

    asyncio.run(main())


async def hears(run: str, event: Event) -> None:
    """Hear an event, as nobody would wait for."""


class Hearer:
    async def __call__(self, run: str, event: Event) -> None:
        """Hear likewise."""


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"listeners": [print]}, "`listeners` must be a list of planloom.listeners.Listener("),
        ({"listeners": print}, "`listeners` must be a list of planloom.listeners.Listener("),
        ({"listeners": Listener(name="one", on_event=print)}, "`listeners` must be a list of "),
        ({"approve": "yes"}, "`approve` must be True, False or a function that returns one of them, got 'yes'"),
        ({"control": "mine"}, "`control` must be a planloom.control.RunControl, got 'mine'"),
    ],
)
@pytest.mark.parametrize("step", ["start", "resume", "begin"])
def test_a_wish_that_no_run_can_be_granted_is_refused_before_anything(
    tmp_path: Path, given: dict[str, Any], told: str, step: str
) -> None:
    async def main() -> None:
        async with opened(tmp_path, echo) as (loom, server):
            first = await loom.start("result = 1\n")
            await first
            steps: dict[str, Callable[[], Any]] = {
                "start": lambda: loom.start(TWO, **given),
                "resume": lambda: loom.resume(first.id, **given),
                "begin": lambda: loom.begin(proposal, **given),
            }
            proposal = await loom.propose(TWO)
            with pytest.raises(Misuse) as refusal:
                await steps[step]()
            assert str(refusal.value).startswith(told)
            assert (server.total, [run.id for run in loom.runs()]) == (0, [first.id])

    asyncio.run(main())


@pytest.mark.parametrize("on_event", [hears, Hearer(), Hearer().__call__, partial(hears)])
def test_a_listener_that_nobody_would_wait_for_is_none(on_event: Any) -> None:
    with pytest.raises(Misuse) as refusal:
        Listener(name="mine", on_event=on_event)
    assert str(refusal.value).startswith("`on_event` of the listener mine is `async`, and is never awaited: ")


def test_a_listener_that_cannot_be_called_is_none() -> None:
    with pytest.raises(Misuse, match=r"must be a function of run id and event, got 3$"):
        Listener(name="mine", on_event=3)  # type: ignore[arg-type]  # as who writes without a type checker does


def test_listeners_that_are_given_as_an_iterator_hear_all(tmp_path: Path) -> None:
    heard: list[str] = []

    async def main() -> None:
        async with opened(tmp_path, echo) as (loom, _):
            listener = Listener(name="mine", on_event=lambda run, event: heard.append(event.type))
            await (await loom.start("result = 1\n", listeners=iter([listener])))

    asyncio.run(main())
    assert (heard[0], heard[-1]) == ("run.created", "run.ended")
