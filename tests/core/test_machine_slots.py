"""Slots that processes share: real files, real processes, real kills."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import pytest

from planloom._lanes import Lanes
from planloom._machine_slots import MachineSlots, SlotFile, open_slot_file
from planloom._slots import Share, Slots
from planloom._virtual_time import run_in_virtual_time
from planloom.clients import Endpoint
from planloom.loom import Loom, open_loom
from planloom.plugins import load_plugins
from planloom.testing.looms import run_plan, settings_at
from planloom.testing.loopback import LoopbackServer, echo

SCRIPT = Path(__file__).with_name("slots_process.py")
ADDRESS = "http://127.0.0.1:1/v1"
Opener = Callable[[], MachineSlots]


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Callable[..., MachineSlots]]:
    """Open the slots of an endpoint as another process would."""
    with ExitStack() as stack:

        def open_one(limit: int = 4, address: str = ADDRESS) -> MachineSlots:
            file = open_slot_file(tmp_path)
            assert isinstance(file, SlotFile), file
            stack.callback(file.close)
            return MachineSlots(file, address, limit)

        yield open_one


@contextmanager
def another_process(
    folder: Path, limit: int, wanted: int, address: str = ADDRESS
) -> Iterator[tuple[subprocess.Popen[str], int]]:
    command = [sys.executable, str(SCRIPT), str(folder), address, str(limit), str(wanted)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process, int(process.stdout.readline())
        finally:
            process.kill()


def taken(slots: MachineSlots, wanted: int) -> int:
    return sum(slots.take(0.0) for _ in range(wanted))


def test_a_process_alone_gets_every_slot(opened: Callable[..., MachineSlots]) -> None:
    assert taken(opened(limit=4), 6) == 4


def test_what_another_process_holds_cannot_be_had(opened: Callable[..., MachineSlots], tmp_path: Path) -> None:
    slots = opened(limit=4)
    with another_process(tmp_path, 4, 3) as (_, held):
        assert (held, taken(slots, 4)) == (3, 1)


def test_a_killed_process_holds_nothing(opened: Callable[..., MachineSlots], tmp_path: Path) -> None:
    slots = opened(limit=4)
    with another_process(tmp_path, 4, 4) as (process, held):
        assert (held, taken(slots, 4)) == (4, 0)
        process.kill()
        process.wait()
        assert taken(slots, 4) == 4


def test_a_process_that_is_suspended_keeps_nobody_waiting_for_ever(
    opened: Callable[..., MachineSlots], tmp_path: Path
) -> None:
    slots = opened(limit=4)
    with another_process(tmp_path, 4, 4) as (process, _):
        os.kill(process.pid, signal.SIGSTOP)
        assert [slots.take(now) for now in (0.0, 599.0)] == [False, False]
        assert [slots.take(601.0), slots.take(602.0)] == [True, False]
        slots.put_down()
        assert [slots.take(603.0), slots.take(604.0)] == [True, False]
        slots.put_down()
        process.kill()
        process.wait()
        assert [slots.take(605.0) for _ in range(5)] == [True] * 4 + [False]


def waits_and_hears(slots: Slots, waits_s: list[float], *, breaks_s: float = 0.0) -> list[str]:
    """Return what a run hears that waits for a slot so long, and again, until it gives up."""
    heard: list[str] = []

    async def play() -> None:
        share = Share(8, tell_crowded=heard.append)
        for wait_s in waits_s:
            with suppress(TimeoutError):
                async with asyncio.timeout(wait_s):
                    slots.release(share, await slots.acquire(share))
            await asyncio.sleep(breaks_s)

    run_in_virtual_time(play())
    return heard


def test_a_run_that_has_no_slot_since_others_hold_them_all_says_so_once(
    opened: Callable[..., MachineSlots], tmp_path: Path
) -> None:
    with another_process(tmp_path, 4, 4) as (process, _):
        os.kill(process.pid, signal.SIGSTOP)
        assert waits_and_hears(Slots(4, name="main", machine=opened(limit=4)), [300.0, 300.0]) == ["main"]


def test_a_run_that_waits_shortly_or_for_its_own_calls_says_nothing_of_others(
    opened: Callable[..., MachineSlots], tmp_path: Path
) -> None:
    with another_process(tmp_path, 4, 4):
        assert waits_and_hears(Slots(4, machine=opened(limit=4)), [4.0] * 3, breaks_s=2.0) == []
    mine = opened(limit=1)
    assert mine.take(0.0)
    assert waits_and_hears(Slots(1, machine=mine), [60.0]) == []


def test_endpoints_do_not_share_slots(opened: Callable[..., MachineSlots]) -> None:
    one, other = opened(address="http://one"), opened(address="http://other")
    assert (taken(one, 4), taken(other, 4)) == (4, 4)


def test_a_slot_that_was_put_down_stays_with_its_process_while_nobody_else_waits(
    opened: Callable[..., MachineSlots],
) -> None:
    one = opened(limit=1)
    assert one.take(0.0)
    one.put_down()
    assert one.take(1.0)


def test_a_slot_that_was_put_down_goes_to_the_process_that_waits(opened: Callable[..., MachineSlots]) -> None:
    one, other = opened(limit=1), opened(limit=1)
    assert (one.take(0.0), other.take(0.0)) == (True, False)
    one.put_down()
    assert (one.take(1.0), other.take(1.0)) == (False, True)


def test_two_processes_that_both_wait_take_turns(opened: Callable[..., MachineSlots]) -> None:
    one, other = opened(limit=1), opened(limit=1)
    assert (one.take(0.0), other.take(0.0)) == (True, False)
    turns = []
    for now in range(1, 7):
        one.put_down()
        other.put_down()
        got = (one.take(now), other.take(now))
        turns.append(got)
        if not any(got):
            turns[-1] = (one.take(now), other.take(now))
    assert {(True, False), (False, True)} >= set(turns)
    assert len(set(turns)) == 2


def test_who_waits_no_longer_is_not_waited_for(opened: Callable[..., MachineSlots]) -> None:
    one, other = opened(limit=1), opened(limit=1)
    assert (one.take(0.0), other.take(0.0)) == (True, False)
    other.give_spare(waiting=False)
    one.put_down()
    assert one.take(1.0)


def test_two_runs_of_two_processes_never_pass_the_limit_together(opened: Callable[..., MachineSlots]) -> None:
    in_flight = most = 0

    async def call(slots: Slots, share: Share) -> None:
        nonlocal in_flight, most
        number = await slots.acquire(share)
        in_flight += 1
        most = max(most, in_flight)
        await asyncio.sleep(0.01)
        in_flight -= 1
        slots.answered(number)
        slots.release(share, number)

    async def play() -> None:
        pair = [(Slots(3, machine=opened(limit=3)), Share(8)) for _ in range(2)]
        await asyncio.gather(*(call(slots, share) for slots, share in pair for _ in range(20)))

    asyncio.run(play())
    assert most == 3


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is unwritable for root")
def test_a_folder_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    assert "calls in flight are not counted across processes" in str(open_slot_file(tmp_path / "state"))


def test_a_state_folder_that_is_a_file_is_said(tmp_path: Path) -> None:
    (tmp_path / "state").write_text("")
    assert "calls in flight are not counted across processes" in str(open_slot_file(tmp_path / "state"))


def test_without_a_state_folder_each_process_counts_for_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "state").write_text("")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    lanes = Lanes({"main": Endpoint(name="main", client="openai", url=ADDRESS)}, in_flight=2)

    async def play() -> int:
        slots, share = lanes.of("main").slots, Share(8)
        await slots.acquire(share)
        return await slots.acquire(share)

    assert asyncio.run(play()) == 2
    lanes.close()


@pytest.mark.command
def test_the_events_of_a_run_say_that_it_waits_for_slots_which_others_hold(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))

    def said(loom: Loom) -> list[str]:
        runs = loom.store.runs(1)
        events = loom.store.events(runs[0].id) if runs else []
        return [event.data["message"] for event in events if event.type == "run.log"]

    async def play() -> tuple[object, list[str]]:
        async with LoopbackServer(echo) as server:
            settings = settings_at(server.url, tmp_path / "store.db")
            (tmp_path / "planloom").mkdir()
            with another_process(tmp_path / "planloom", 64, 64, server.url) as (process, held):
                assert held == 64
                async with open_loom(load_plugins(), settings) as loom:
                    running = asyncio.ensure_future(run_plan(loom, 'result = agent("a")\n'))
                    while not said(loom) and not running.done():
                        await asyncio.sleep(0.05)
                    process.kill()
                    return (await running).result, said(loom)

    waits = "waits for slots at endpoint `main` that other processes of this machine hold"
    assert asyncio.run(play()) == ("ok: a", [waits])
