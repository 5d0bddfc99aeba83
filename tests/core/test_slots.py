"""How many calls an endpoint gets at once; in virtual time, where a round trip is a second."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Coroutine
from typing import Any

import pytest

from planloom._slots import Share, Slots
from planloom._virtual_time import run_in_virtual_time
from planloom.clients import QuotaError

ROUND_TRIP_S = 1.0
REFUSAL_S = 0.1


class Server:
    """Answers after a second; refuses soon whatever comes while it is busy with as many as it takes."""

    def __init__(self, slots: Slots, takes: float = 10**9, retry_after_s: float | None = None) -> None:
        self.slots = slots
        self.takes = takes
        self.retry_after_s = retry_after_s
        self.busy = self.most_busy = self.refused = 0
        self.sizes: list[int] = []

    async def call(self, share: Share) -> int:
        """Be answered; return how often the server refused before."""
        refusals = 0
        number = await self.slots.acquire(share)
        while self.busy >= self.takes:
            refusals += 1
            self.refused += 1
            await asyncio.sleep(REFUSAL_S)
            self.slots.refused(number, self.retry_after_s)
            self.slots.release(share, number)
            number = await self.slots.acquire(share, again=True)
        self.busy += 1
        self.most_busy = max(self.most_busy, self.busy)
        await asyncio.sleep(ROUND_TRIP_S)
        self.busy -= 1
        self.sizes.append(self.slots.in_flight)
        self.slots.answered(number)
        self.slots.release(share, number)
        return refusals


def played(scenario: Coroutine[Any, Any, None]) -> None:
    run_in_virtual_time(scenario)


async def busy_after(server: Server, share: Share, calls: int, seconds: list[float]) -> list[int]:
    working = [asyncio.ensure_future(server.call(share)) for _ in range(calls)]
    began = asyncio.get_running_loop().time()
    seen = []
    for second in seconds:
        await asyncio.sleep(began + second - asyncio.get_running_loop().time())
        seen.append(server.busy)
    await asyncio.gather(*working)
    return seen


@pytest.mark.parametrize(("limit", "busy"), [(20, [16, 20]), (100, [50, 100]), (501, [250, 500, 501])])
def test_calls_in_flight_double_each_round_trip_from_half_the_limit(limit: int, busy: list[int]) -> None:
    async def scenario() -> None:
        server = Server(Slots(limit))
        seconds = [number + 0.5 for number in range(len(busy))]
        assert await busy_after(server, Share(1_000), 5 * limit, seconds) == busy

    played(scenario())


def test_each_of_the_answers_that_come_before_any_slot_is_given_back_counts() -> None:
    async def scenario() -> None:
        slots, share = Slots(32), Share(100)
        first = [await slots.acquire(share) for _ in range(16)]
        waiting = [asyncio.ensure_future(slots.acquire(share)) for _ in range(16)]
        await asyncio.sleep(0)
        for number in first:
            slots.answered(number)
        assert (slots.most, slots.in_flight) == (32, 32)
        for number in first:
            slots.release(share, number)
        for number in await asyncio.gather(*waiting):
            slots.release(share, number)

    played(scenario())


def test_a_limit_below_sixteen_is_where_it_starts_and_stays() -> None:
    async def scenario() -> None:
        server = Server(Slots(4))
        assert await busy_after(server, Share(1_000), 30, [0.5, 1.5, 2.5]) == [4, 4, 4]

    played(scenario())


def test_refusals_of_one_round_trip_halve_once() -> None:
    async def scenario() -> None:
        slots, share = Slots(16), Share(16)
        numbers = [await slots.acquire(share) for _ in range(16)]
        slots.answered(numbers[0])
        for number in numbers[1:]:
            slots.refused(number)
        assert slots.most == 8

    played(scenario())


def test_a_server_that_takes_two_at_a_time_is_found_out_and_then_left_in_peace() -> None:
    async def scenario() -> None:
        server = Server(Slots(32), takes=2, retry_after_s=2.0)
        share = Share(32)
        refusals = await asyncio.gather(*(server.call(share) for _ in range(40)))
        assert len(server.sizes) == 40
        assert sum(size > 2 for size in server.sizes) <= 4
        assert sum(server.sizes) / 40 > 1.5
        assert max(refusals) <= 4
        assert server.refused < 40

    played(scenario())


def test_after_a_refusal_the_number_grows_by_one_a_round_trip() -> None:
    async def scenario() -> None:
        server = Server(Slots(64), takes=40)
        seen = await busy_after(server, Share(64), 600, [3.5, 4.5, 5.5, 6.5])
        assert 16 <= seen[0] <= 40
        assert {later - former for former, later in itertools.pairwise(seen)} == {1}

    played(scenario())


def test_a_server_that_refuses_everybody_is_not_asked_one_at_a_time() -> None:
    async def scenario() -> None:
        slots, share = Slots(32), Share(32)
        for _ in range(4):
            numbers = await asyncio.gather(*(slots.acquire(share) for _ in range(16)))
            for number in numbers:
                slots.refused(number, 1.0)
                slots.release(share, number)
        assert asyncio.get_running_loop().time() == 3.0

    played(scenario())


def test_a_hold_keeps_every_slot_waiting() -> None:
    async def scenario() -> None:
        clock = asyncio.get_running_loop().time
        slots, share = Slots(2), Share(2)
        slots.hold(30.0)
        await asyncio.gather(slots.acquire(share), slots.acquire(share))
        assert clock() == 30.0

    played(scenario())


def test_a_hold_that_is_extended_holds_until_its_later_end() -> None:
    async def scenario() -> None:
        clock = asyncio.get_running_loop().time
        slots, share = Slots(2), Share(2)
        slots.hold(5.0)
        waiting = asyncio.ensure_future(slots.acquire(share))
        await asyncio.sleep(3.0)
        slots.hold(10.0)
        await waiting
        assert clock() == 13.0

    played(scenario())


def test_two_runs_take_turns_whoever_came_first() -> None:
    async def scenario() -> None:
        server = Server(Slots(2))
        first, second = Share(10), Share(10)
        ended: list[str] = []

        async def call(share: Share, name: str) -> None:
            await server.call(share)
            ended.append(name)

        calls = [call(first, "first") for _ in range(20)] + [call(second, "second") for _ in range(3)]
        await asyncio.gather(*calls)
        assert ended.index("second") <= 3
        assert [name for name in ended[:8] if name == "second"] == ["second"] * 3

    played(scenario())


def test_a_run_never_has_more_in_flight_than_its_share_at_all_endpoints_together() -> None:
    async def scenario() -> None:
        one, other = Server(Slots(16)), Server(Slots(16))
        share = Share(3)
        working = asyncio.gather(*(server.call(share) for server in (one, other) for _ in range(10)))
        while not working.done():
            assert one.busy + other.busy <= 3
            await asyncio.sleep(0.25)
        assert len(one.sizes) == len(other.sizes) == 10

    played(scenario())


def test_a_run_that_is_held_at_one_endpoint_goes_on_at_another() -> None:
    async def scenario() -> None:
        held, free = Server(Slots(16)), Server(Slots(16))
        share = Share(2)
        held.slots.hold(1_000.0)
        late = [asyncio.ensure_future(held.call(share)) for _ in range(10)]
        await asyncio.gather(*(free.call(share) for _ in range(10)))
        assert asyncio.get_running_loop().time() < 10
        await asyncio.gather(*late)

    played(scenario())


@pytest.mark.parametrize("leaving", [range(10_000), range(9_999, -1, -1)], ids=["first to last", "last to first"])
def test_ten_thousand_that_wait_can_leave_and_nothing_is_lost(leaving: range) -> None:
    async def scenario() -> None:
        slots, share = Slots(1), Share(1)
        number = await slots.acquire(share)
        waiting = [asyncio.ensure_future(slots.acquire(share)) for _ in range(10_000)]
        await asyncio.sleep(0)
        for position in leaving:
            waiting[position].cancel()
        await asyncio.wait(waiting)
        slots.release(share, number)
        await slots.acquire(share)
        assert slots.in_flight == 1

    played(scenario())


@pytest.mark.parametrize("turns", range(5))
def test_a_slot_granted_in_the_turn_of_a_cancel_goes_to_the_next(turns: int) -> None:
    async def scenario() -> None:
        slots, share = Slots(1), Share(1)
        number = await slots.acquire(share)
        leaving = asyncio.ensure_future(slots.acquire(share))
        staying = asyncio.ensure_future(slots.acquire(share))
        await asyncio.sleep(0)
        slots.release(share, number)
        for _ in range(turns):
            await asyncio.sleep(0)
        if not leaving.cancel():
            slots.release(share, leaving.result())
        await staying
        assert slots.in_flight == 1

    played(scenario())


# --- an account that is used up


def used_up(retry_after_s: float | None = None) -> QuotaError:
    return QuotaError("no credit left", error_class="quota", http_status=402, retry_after_s=retry_after_s)


async def probes(slots: Slots, share: Share, calls: int, retry_after_s: float | None = None) -> list[float]:
    """Return when calls were let through to an account that stays used up, after the first."""
    clock = asyncio.get_running_loop().time
    times = []
    for _ in range(calls):
        number = await slots.acquire(share, again=True)
        times.append(clock())
        slots.out_of_quota(share, number, used_up(retry_after_s))
        slots.release(share, number)
    return times[1:]


def test_an_account_without_a_time_of_reset_is_tried_after_one_minute_two_four_and_so_on_for_half_an_hour() -> None:
    hopeless: list[bool] = []

    async def scenario() -> None:
        share = Share(8, lambda endpoint, outage: hopeless.append(outage is not None and outage.hopeless))
        assert await probes(Slots(8), share, 6) == [60.0, 180.0, 420.0, 900.0, 1_800.0]

    played(scenario())
    assert hopeless == [False] * 5 + [True]


def test_an_account_is_asked_again_when_the_server_said_it_is_reset() -> None:
    async def scenario() -> None:
        assert await probes(Slots(8), Share(8), 3, retry_after_s=3_600.0) == [3_600.0, 7_200.0]

    played(scenario())


def test_one_call_is_let_through_and_its_answer_lets_the_others_follow() -> None:
    async def scenario() -> None:
        slots, share = Slots(8), Share(8)
        number = await slots.acquire(share)
        slots.out_of_quota(share, number, used_up())
        slots.release(share, number)
        server = Server(slots)
        working = asyncio.gather(*(server.call(share) for _ in range(20)))
        await asyncio.sleep(59.9)
        assert server.busy == 0
        await asyncio.sleep(0.2)
        assert server.busy == 1
        await asyncio.sleep(1.0)
        assert server.busy == 8
        await working

    played(scenario())


def test_an_answer_to_what_was_sent_before_says_nothing_of_the_account() -> None:
    async def scenario() -> None:
        slots, share = Slots(8), Share(8)
        early, late = await slots.acquire(share), await slots.acquire(share)
        slots.out_of_quota(share, late, used_up())
        slots.release(share, late)
        slots.answered(early)
        slots.release(share, early)
        await slots.acquire(share)
        assert asyncio.get_running_loop().time() == 60.0

    played(scenario())


def test_a_probe_that_brings_no_news_is_followed_by_another() -> None:
    async def scenario() -> None:
        slots, share = Slots(8), Share(8)
        number = await slots.acquire(share)
        slots.out_of_quota(share, number, used_up())
        slots.release(share, number)
        slots.release(share, await slots.acquire(share))
        await slots.acquire(share)
        assert asyncio.get_running_loop().time() == 65.0

    played(scenario())


def test_a_probe_that_asked_nothing_is_followed_by_another_at_once() -> None:
    async def scenario() -> None:
        slots, share = Slots(8), Share(8)
        number = await slots.acquire(share)
        slots.out_of_quota(share, number, used_up())
        slots.release(share, number)
        for _ in range(100):  # as what the ledger has answers to by then
            slots.release(share, await slots.acquire(share), asked=False)
        await slots.acquire(share)
        assert asyncio.get_running_loop().time() == 60.0

    played(scenario())


@pytest.mark.parametrize("turns", range(3))
def test_a_probe_whose_worker_left_in_that_turn_is_followed_by_another_at_once(turns: int) -> None:
    async def scenario() -> None:
        slots, share = Slots(8), Share(8)
        number = await slots.acquire(share)
        slots.out_of_quota(share, number, used_up())
        slots.release(share, number)
        leaving = asyncio.ensure_future(slots.acquire(share))
        staying = asyncio.ensure_future(slots.acquire(share))
        await asyncio.sleep(60.0)
        for _ in range(turns):
            await asyncio.sleep(0)
        if not leaving.cancel():
            slots.release(share, leaving.result(), asked=False)
        await staying
        assert asyncio.get_running_loop().time() == 60.0

    played(scenario())


def test_a_run_that_comes_while_an_account_is_used_up_is_told() -> None:
    told: list[tuple[str, bool]] = []

    async def scenario() -> None:
        slots, share = Slots(8, name="main"), Share(8)
        number = await slots.acquire(share)
        slots.out_of_quota(share, number, used_up())
        slots.release(share, number)
        late = Share(8, lambda endpoint, outage: told.append((endpoint, outage is not None)))
        number = await slots.acquire(late)
        assert told == [("main", True)]
        slots.answered(number)
        assert told == [("main", True), ("main", False)]

    played(scenario())
