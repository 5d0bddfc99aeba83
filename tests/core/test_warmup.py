"""Questions with a long common beginning: one is sent ahead, and the others follow when its answer begins."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from planloom._virtual_time import run_in_virtual_time
from planloom._warmup import Warmup, beginnings
from planloom.money import MICRO, Price
from planloom.questions import Part, Question, Reply, message_of
from planloom.testing.doors import Doorway, at_the_door, worker_role
from planloom.testing.loopback import LoopbackServer, Received, Served, completion, json_answer

SPEED = 10.0
SHARED = "def area(width, height): ...\n" * 200
CACHING = worker_role(Price(input=MICRO, cached_input=MICRO // 10, output=MICRO))


class Watched:
    """Answers each request after a second, the first as told, and notes when each came."""

    def __init__(self, *first: Served) -> None:
        self.first = list(first)
        self.came: list[float] = []

    def __call__(self, request: Received) -> Served:
        self.came.append(asyncio.get_running_loop().time())
        if self.first:
            return self.first.pop(0)
        return completion("yes").after(1.0)

    def gaps(self) -> list[float]:
        return [later - self.came[0] for later in self.came[1:]]


async def ask_ten(door: Doorway, before: str = SHARED) -> list[Reply | BaseException]:
    asking = (door.ask(f"q{n}", before=before) for n in range(10))
    return await asyncio.gather(*asking, return_exceptions=True)


def test_the_first_is_sent_alone_until_its_answer_begins(tmp_path: Path) -> None:
    script = Watched(completion("first").after(3.0))

    async def scenario(door: Doorway, server: LoopbackServer) -> None:
        assert all(isinstance(reply, Reply) for reply in await ask_ten(door))
        assert min(script.gaps()) >= 3.0
        assert server.max_in_flight > 1

    at_the_door(tmp_path / "store.db", script, scenario, speed=SPEED, role=CACHING)


def test_the_others_follow_while_the_first_answer_is_still_coming(tmp_path: Path) -> None:
    script = Watched(completion("first" * 400).trickled(100, 1.0))

    async def scenario(door: Doorway, server: LoopbackServer) -> None:
        assert all(isinstance(reply, Reply) for reply in await ask_ten(door))
        assert max(script.gaps()) < 10.0

    at_the_door(tmp_path / "store.db", script, scenario, speed=SPEED, role=CACHING)


def test_when_the_first_fails_the_next_leads(tmp_path: Path) -> None:
    script = Watched(json_answer({"error": {"message": "no"}}, status=400), completion("second").after(3.0))

    async def scenario(door: Doorway, server: LoopbackServer) -> None:
        outcomes = await ask_ten(door)
        assert sum(isinstance(outcome, Reply) for outcome in outcomes) == 9
        assert min(later - script.came[1] for later in script.came[2:]) >= 3.0

    at_the_door(tmp_path / "store.db", script, scenario, speed=SPEED, role=CACHING)


def test_nobody_waits_longer_than_a_minute_for_another(tmp_path: Path) -> None:
    script = Watched(completion("first").after(200.0))

    async def scenario(door: Doorway, server: LoopbackServer) -> None:
        assert all(isinstance(reply, Reply) for reply in await ask_ten(door))
        # The minute begins a little before the first question reaches the server.
        assert 55.0 <= min(script.gaps()) <= max(script.gaps()) < 200.0

    at_the_door(tmp_path / "store.db", script, scenario, speed=100.0, role=CACHING)


@pytest.mark.parametrize(
    ("before", "warms", "cached_input"),
    [("short", None, MICRO), (SHARED, None, None), (SHARED, False, MICRO)],
    ids=["a short beginning", "no price for cached input", "switched off"],
)
def test_otherwise_nobody_waits(tmp_path: Path, before: str, warms: bool | None, cached_input: int | None) -> None:
    script = Watched(completion("first").after(15.0))
    role = worker_role(Price(input=MICRO, cached_input=cached_input, output=MICRO))

    async def scenario(door: Doorway, server: LoopbackServer) -> None:
        await ask_ten(door, before)
        assert max(script.gaps()) < 15.0

    at_the_door(tmp_path / "store.db", script, scenario, speed=SPEED, role=role, warms=warms)


def asked(*texts: str) -> Question:
    return Question(
        endpoint="main", model="m-1", messages=(message_of("user", *map(Part, texts)),), parameters={"max_tokens": 1}
    )


def keys(*texts: str) -> tuple[bytes, ...]:
    return beginnings(asked(*texts))


LONG, OTHER, THIRD = "a" * 5_000, "b" * 5_000, "c" * 5_000


def test_beginnings_are_counted_from_4096_characters_on() -> None:
    assert len(keys("a" * 4_095)) == 0
    assert len(keys("a" * 4_095, "b")) == 1
    assert len(keys(LONG, OTHER, "q")) == 3


def test_equal_beginnings_have_equal_keys_whatever_follows() -> None:
    one, other = keys(LONG, OTHER, "q1"), keys(LONG, OTHER, "q2")
    assert one[:2] == other[:2]
    assert one[2] != other[2]


def test_a_question_waits_only_for_the_longest_beginning_that_is_known() -> None:
    async def play() -> None:
        warmup = Warmup()
        first = warmup.lead(keys(LONG, OTHER, "q1"))
        assert first is not None
        assert warmup.leader(keys(LONG, THIRD, "q2")) is first
        first.began()
        assert warmup.leader(keys(LONG, THIRD, "q2")) is None
        second = warmup.lead(keys(LONG, THIRD, "q2"))
        assert warmup.leader(keys(LONG, THIRD, "q3")) is second
        assert warmup.leader(keys(LONG, OTHER, "q4")) is None

    run_in_virtual_time(play())


def test_after_five_minutes_without_use_a_beginning_is_read_again() -> None:
    async def play() -> None:
        warmup = Warmup()
        first = warmup.lead(keys(LONG))
        assert first is not None
        first.began()
        await asyncio.sleep(299.0)
        assert warmup.lead(keys(LONG)) is None
        await asyncio.sleep(299.0)
        assert warmup.lead(keys(LONG)) is None
        await asyncio.sleep(301.0)
        assert warmup.lead(keys(LONG)) is not None

    run_in_virtual_time(play())
