"""Clients of strangers that break as no contract foresees: the worker fails, its siblings and the run go on."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from planloom import RunCancelled, Usage
from planloom._effort import Effort
from planloom.clients import PermanentError
from planloom.plugins import load_plugins
from planloom.questions import Question, Reply
from planloom.stores import StorePlugin
from planloom.testing.doors import BUDGET, Doorway, at_the_door, doorway
from planloom.testing.loopback import LoopbackServer, completion
from planloom.workers import Asker

MONEY_OF_ONE = 200_000


class Breaks:
    """A client that answers what a function gives, and raises what it raises."""

    def __init__(self, answer: Callable[[str], Any]) -> None:
        self._answer = answer

    async def ask(self, question: Question, *, began: Callable[[], None] | None = None) -> Reply:
        await asyncio.sleep(0)
        return self._answer(question.messages[-1].text)  # type: ignore[no-any-return]  # which is the point

    async def close(self) -> None:
        """Nothing is open."""


def play(path: Path, answer: Callable[[str], Any], scenario: Callable[[Doorway], Any]) -> None:
    async def run() -> None:
        store = load_plugins().get("store", "sqlite", StorePlugin).open(path)
        try:
            async with doorway(store, {"main": Breaks(answer)}) as door:
                await scenario(door)
        finally:
            await store.close()

    asyncio.run(run())


def raising(error: BaseException) -> Callable[[str], Any]:
    def answer(text: str) -> Any:
        if text == "bad":
            raise error
        return Reply(text=f"ok: {text}", finish_reason="stop", usage=Usage(), seconds=0.0, model="m-1")

    return answer


@pytest.mark.parametrize(
    "error",
    [
        ZeroDivisionError("division by zero"),
        UnicodeError("no such letter"),
        OSError(5, "Input/output error"),
        KeyError("x"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_a_client_that_raises_what_it_should_not_fails_that_worker_alone(tmp_path: Path, error: Exception) -> None:
    async def scenario(door: Doorway) -> None:
        good, bad, again = await door.ask_all(["good", "bad", "good too"])
        assert isinstance(good, Reply)
        assert isinstance(again, Reply)
        assert isinstance(bad, PermanentError)
        assert bad.error_class == "client"
        assert f"the client of endpoint `main` broke ({type(error).__name__}" in str(bad)
        money = door.store.money("run")
        assert (money["spent"], money["uncertain"]) == (2 * MONEY_OF_ONE, MONEY_OF_ONE)

    play(tmp_path / "store.db", raising(error), scenario)


@pytest.mark.parametrize("given", [None, "yes", {"text": "yes"}], ids=lambda given: type(given).__name__)
def test_a_client_that_gives_no_reply_fails_that_worker_alone(tmp_path: Path, given: Any) -> None:
    async def scenario(door: Doorway) -> None:
        (bad,) = await door.ask_all(["q"])
        assert isinstance(bad, PermanentError)
        assert f"it gave a {type(given).__name__} for a reply" in str(bad)
        assert door.store.books(BUDGET).reserved == 0

    play(tmp_path / "store.db", lambda text: given, scenario)


def test_who_was_cancelled_in_the_turn_in_which_it_was_let_through_sends_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def scenario(door: Doorway, server: LoopbackServer) -> None:
        reserve = door.store.reserve

        async def granted_and_cancelled(*args: Any, **options: Any) -> Any:
            granted = await reserve(*args, **options)
            asyncio.get_running_loop().call_soon(asking.cancel)
            return granted

        monkeypatch.setattr(door.store, "reserve", granted_and_cancelled)
        asker = Asker(run="run", thread="run/t001", started=lambda: None)
        asking = asyncio.ensure_future(door.door.ask(door.question("q"), door.role, asker, Effort(100.0)))
        with pytest.raises(asyncio.CancelledError):
            await asking
        assert await door.door.drain(10.0) == 0
        assert (door.door.asked, server.total) == (0, 0)
        assert door.store.money("run") == {"calls": 0, "spent": 0, "uncertain": 0, "reserved": 0}

    at_the_door(tmp_path / "store.db", completion("yes"), scenario)


@pytest.mark.parametrize("at_once", [True, False])
def test_who_was_let_through_as_the_run_ended_was_not_asked(tmp_path: Path, at_once: bool) -> None:
    async def scenario(door: Doorway, server: LoopbackServer) -> None:
        def end() -> None:
            ended = RunCancelled("stopped")
            if at_once:
                door.abort.set(ended)
            else:
                asyncio.get_running_loop().call_soon(door.abort.set, ended)

        asker = Asker(run="run", thread="run/t001", started=end)
        with pytest.raises(RunCancelled):
            await door.door.ask(door.question("q"), door.role, asker, Effort(100.0))
        assert (door.door.asked, server.total) == (0, 0)
        assert door.store.books(BUDGET).reserved == 0

    at_the_door(tmp_path / "store.db", completion("yes"), scenario)
