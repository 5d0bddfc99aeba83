"""Slots that processes share: real files, real processes, real kills."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from planloom._lanes import Lanes
from planloom._machine_slots import MachineSlots, SlotFile, open_slot_file
from planloom._slots import Share, Slots
from planloom.clients import Endpoint

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
def another_process(folder: Path, limit: int, wanted: int) -> Iterator[tuple[subprocess.Popen[str], int]]:
    command = [sys.executable, str(SCRIPT), str(folder), ADDRESS, str(limit), str(wanted)]
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
