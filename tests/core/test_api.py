"""planloom from Python: runs started, followed, cancelled, raised, resumed and replayed in one process."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Callable, Coroutine
from itertools import count
from pathlib import Path
from typing import Any

import pytest

import planloom
from planloom import JournalDiverged, Misuse, Outcome, PlanHeld, Planloom, PlanRefused
from planloom.testing.folders import CONFIG
from planloom.testing.loopback import LoopbackServer, Received, Script, completion, echo

from .asking import opened, refused

Scenario = Callable[[Planloom, LoopbackServer], Coroutine[Any, Any, None]]
Play = Callable[[Script, Scenario], None]

ROOT = Path(__file__).parents[2]
TWENTY = 'result = parallel([lambda i=i: agent(f"question {i}") for i in range(20)])\n'
HUNDRED = TWENTY.replace("20", "100")
MORE_THAN_FORESEEN = """
many = 19 if agent("how many") == "ok: how many" else 2
result = parallel([lambda i=i: agent(f"question {i}") for i in range(many)])
"""


@pytest.fixture
def play(tmp_path: Path) -> Play:
    """Play a scenario in a folder whose workers are answered by a scripted server."""

    def play_one(script: Script, scenario: Scenario) -> None:
        async def main() -> None:
            async with opened(tmp_path, script) as (loom, server):
                await scenario(loom, server)

        asyncio.run(main())

    return play_one


def test_a_run_is_started_and_awaited(play: Play) -> None:
    async def scenario(loom: Planloom, server: LoopbackServer) -> None:
        run = await loom.start('result = agent(args["q"])\n', args={"q": "a"}, title="One question")
        assert run.id.startswith("one-question-")
        outcome = await run
        assert isinstance(outcome, Outcome)
        assert (outcome.status, outcome.result, outcome.exit_code) == ("completed", "ok: a", 0)
        assert (run.status, run.title, [other.id for other in loom.runs()]) == ("completed", "One question", [run.id])

    play(echo, scenario)


def test_the_events_of_a_run_come_while_it_goes_on_and_end_with_it(play: Play) -> None:
    async def scenario(loom: Planloom, server: LoopbackServer) -> None:
        run = await loom.start(TWENTY)
        kinds = [event.type async for event in run.events()]
        assert (kinds[0], kinds[-1], kinds.count("run.agent_ended")) == ("run.created", "run.ended", 20)
        assert [event.type async for event in run.events(after=len(kinds) - 1)] == ["run.ended"]

    play(lambda request: echo(request).after(0.02), scenario)


def test_a_plan_is_read_from_a_file_and_a_saved_one_by_its_name(play: Play, tmp_path: Path) -> None:
    (tmp_path / "plans").mkdir()
    (tmp_path / "plans" / "ask.plan").write_text('result = agent("saved")\n')
    (tmp_path / "here.plan").write_text('result = agent("file")\n')

    async def scenario(loom: Planloom, server: LoopbackServer) -> None:
        assert (await (await loom.start("ask"))).result == "ok: saved"
        assert (await (await loom.start(tmp_path / "here.plan"))).result == "ok: file"
        with pytest.raises(Misuse, match=r"cannot read the plan asks: No such file or directory; .*did you mean `ask`"):
            await loom.start("asks")
        with pytest.raises(PlanRefused, match=r"plan:1:1: PL\d+ .*`result`"):
            await loom.start("")

    play(echo, scenario)


def test_a_folder_that_is_not_there_is_refused_and_not_made(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with planloom.open(tmp_path / "gone"):
            pass

    with pytest.raises(Misuse, match="there is no folder"):
        asyncio.run(scenario())
    assert not (tmp_path / "gone").exists()


def test_a_plan_that_fails_the_check_is_refused_before_anything_is_asked(play: Play) -> None:
    async def scenario(loom: Planloom, server: LoopbackServer) -> None:
        with pytest.raises(PlanRefused, match="PL031"):
            await loom.start("while True:\n    agent('x')\n")
        assert (server.total, loom.runs()) == (0, [])

    play(echo, scenario)


def test_a_target_that_nothing_works_on_is_refused(play: Play) -> None:
    async def scenario(loom: Planloom, server: LoopbackServer) -> None:
        with pytest.raises(Misuse, match=r"plan uses no word of a kit, .* leave `target` out"):
            await loom.start(TWENTY, target="nosuch")
        assert (server.total, loom.runs()) == (0, [])

    play(echo, scenario)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"args": ["a"]}, "`args` must map the names of a plan's arguments to their values, got ['a']"),
        ({"args": {1: "a"}}, "`args` must map the names of a plan's arguments to their values, got {1: 'a'}"),
        ({"args": {"q": {1}}}, "the argument `q` has no form that can be kept with a run (unsupported type: "),
        ({"args": {"q": float("nan")}}, "the argument `q` has no form that can be kept with a run (nan is not "),
        ({"cap": -1}, "`cap` must be a finite number of credits of at least 0, got -1"),
        ({"cap": "5"}, "`cap` must be a finite number of credits of at least 0, got '5'"),
        ({"cap": float("nan")}, "`cap` must be a finite number of credits of at least 0, got nan"),
        ({"repeat": 0}, "`repeat` must be a whole number of at least 1, got 0"),
        ({"at_cap": "end"}, "`at_cap` must be one of stop, wait, got 'end'"),
    ],
)
def test_a_value_that_no_run_can_have_is_refused_by_its_name(play: Play, given: dict[str, Any], told: str) -> None:
    async def scenario(loom: Planloom, server: LoopbackServer) -> None:
        with pytest.raises(Misuse) as refusal:
            await loom.start('result = agent("a")\n', **given)
        assert str(refusal.value).startswith(told)
        assert loom.runs() == []

    play(echo, scenario)


def test_what_a_run_is_given_later_is_refused_by_its_name_too(play: Play) -> None:
    async def scenario(loom: Planloom, server: LoopbackServer) -> None:
        run = await loom.start('result = agent("a")\n')
        await run
        with pytest.raises(Misuse, match=r"`workers` must be a whole number of at least 1, got 0$"):
            await loom.resume(run.id, workers=0)
        with pytest.raises(Misuse, match=r"`cap` must be a finite number of credits of at least 0, got inf$"):
            await loom.resume(run.id, cap=float("inf"))
        with pytest.raises(Misuse, match=r"`credit_amount` must be a finite number of credits"):
            await run.raise_cap(-1)

    play(echo, scenario)


def test_a_plan_sees_its_arguments_as_they_are_kept(play: Play) -> None:
    async def scenario(loom: Planloom, server: LoopbackServer) -> None:
        run = await loom.start('result = args["pair"] == [1, 2.0]\n', args={"pair": (1, 2.0)})
        assert (await run).result is True

    play(echo, scenario)


def test_a_plan_above_the_gate_is_held_unless_somebody_approves(play: Play) -> None:
    source = TWENTY.replace("20", "400")

    async def scenario(loom: Planloom, server: LoopbackServer) -> None:
        with pytest.raises(PlanHeld, match=r"above the 40\.0 that pass by themselves"):
            await loom.start(source)
        (held,) = loom.runs()
        assert (held.status, server.total) == ("held", 0)
        assert await held.cancel() == "cancelled"
        with pytest.raises(PlanHeld, match=r"above the 40\.0 that pass by themselves"):
            await loom.resume(held.id)
        run = await loom.resume(held.id, approve=lambda priced, decision: priced.rehearsal.agents == 400)
        assert (await run).status == "completed"
        assert (run.id, server.total) == (held.id, 400)

    play(echo, scenario)


def test_a_cancelled_run_is_resumed_and_asks_what_is_missing(play: Play) -> None:
    async def scenario(loom: Planloom, server: LoopbackServer) -> None:
        run = await loom.start(HUNDRED)
        while not server.total:
            await asyncio.sleep(0.005)
        assert await run.cancel() == "cancelled"
        assert (await run).exit_code == 130
        before = server.total
        outcome = await (await loom.resume(run.id))
        assert (outcome.status, outcome.asked, outcome.reused) == ("completed", 100 - before, before)
        assert max(server.asked.values()) == 1

    play(lambda request: echo(request).after(0.3), scenario)


def test_a_run_of_this_process_is_cancelled_without_a_word_through_the_store(play: Play) -> None:
    async def scenario(loom: Planloom, server: LoopbackServer) -> None:
        run = await loom.start(TWENTY)
        assert await run.cancel() == "cancelled"
        assert loom.loom.store.requests(run.id) == []

    play(lambda request: echo(request).after(0.1), scenario)


def test_a_start_that_is_cancelled_as_its_run_begins_leaves_nothing_behind(tmp_path: Path) -> None:
    async def main() -> None:
        async with LoopbackServer(echo) as server:
            (tmp_path / "planloom.toml").write_text(CONFIG.format(url=server.url))
            async with planloom.open(tmp_path) as loom:

                def approve(priced: object, decision: object) -> bool:
                    # It ends at the first wait from here, by which time its run has a task of its own.
                    return starting.cancel()

                source = TWENTY.replace("20", "400")
                starting: asyncio.Task[planloom.Run] = asyncio.ensure_future(loom.start(source, approve=approve))
                with pytest.raises(asyncio.CancelledError):
                    await starting
            async with planloom.open(tmp_path) as loom:
                assert [run.status for run in loom.runs()] == ["cancelled"]
            assert server.total == 0

    asyncio.run(main())


def test_a_run_that_waits_at_its_cap_goes_on_when_that_is_raised(play: Play) -> None:
    async def scenario(loom: Planloom, server: LoopbackServer) -> None:
        run = await loom.start(MORE_THAN_FORESEEN, cap=2, at_cap="wait")
        while run.status != "paused":
            await asyncio.sleep(0.01)
        assert run.status_line.endswith("PAUSED at the budget")
        with pytest.raises(Misuse, match=r"the cap of .* is 2\.0 credits already"):
            await run.raise_cap(1)
        await run.raise_cap(10)
        assert (await run).status == "completed"
        assert (server.total, max(server.asked.values())) == (20, 1)

    play(echo, scenario)


def test_leaving_the_block_waits_for_what_was_started(tmp_path: Path) -> None:
    async def main() -> None:
        async with LoopbackServer(lambda request: echo(request).after(0.05)) as server:
            (tmp_path / "planloom.toml").write_text(CONFIG.format(url=server.url))
            async with planloom.open(tmp_path) as loom:
                run = await loom.start(TWENTY)
            async with planloom.open(tmp_path) as loom:
                assert loom.run(run.id).status == "completed"

    asyncio.run(main())


def test_an_exception_in_the_block_cancels_what_was_started(tmp_path: Path) -> None:
    async def fails() -> None:
        async with planloom.open(tmp_path) as loom:
            await loom.start(TWENTY)
            raise ZeroDivisionError

    async def main() -> None:
        async with LoopbackServer(lambda request: echo(request).after(0.2)) as server:
            (tmp_path / "planloom.toml").write_text(CONFIG.format(url=server.url))
            with pytest.raises(ZeroDivisionError):
                await fails()
            async with planloom.open(tmp_path) as loom:
                assert [run.status for run in loom.runs()] == ["cancelled"]
            assert server.abandoned == 0

    asyncio.run(main())


def test_a_run_that_is_driven_is_not_resumed(play: Play) -> None:
    async def scenario(loom: Planloom, server: LoopbackServer) -> None:
        run = await loom.start(TWENTY)
        with pytest.raises(Misuse, match=f"the run {run.id} is driven by process"):
            await loom.resume(run.id)
        await run

    play(lambda request: echo(request).after(0.05), scenario)


def test_other_arguments_diverge_with_both_sides_and_may_be_a_new_run(play: Play) -> None:
    refuse = {"last"}

    async def scenario(loom: Planloom, server: LoopbackServer) -> None:
        run = await loom.start('result = agent("last")\nlog(args["mode"])\n', args={"mode": "a"})
        await run
        refuse.clear()
        with pytest.raises(JournalDiverged) as raised:
            await loom.resume(run.id, args={"mode": "b"})
        assert (raised.value.place, raised.value.then, raised.value.now) == ("argument mode", "a", "b")
        new = await loom.resume(run.id, args={"mode": "b"}, as_new_run=True)
        assert new.id != run.id
        assert (await new).status == "completed"

    play(lambda request: refused() if request.question in refuse else echo(request), scenario)


def test_a_replay_gives_the_stored_result_and_asks_nothing(play: Play) -> None:
    async def scenario(loom: Planloom, server: LoopbackServer) -> None:
        run = await loom.start("left = budget()\n" + TWENTY)
        outcome = await run
        replayed = await loom.replay(run.id)
        assert (replayed.equal, replayed.outcome.result, server.total) == (True, outcome.result, 20)

    play(echo, scenario)


def test_a_repeat_draws_answers_of_its_own(play: Play) -> None:
    async def scenario(loom: Planloom, server: LoopbackServer) -> None:
        for repeat in (1, 2, 2):
            await (await loom.start('result = agent("a")\n', repeat=repeat))
        assert server.total == 2

    play(echo, scenario)


def test_how_a_run_of_another_process_ended_is_read_from_its_record(play: Play, tmp_path: Path) -> None:
    async def scenario(loom: Planloom, server: LoopbackServer) -> None:
        run = await loom.start(TWENTY)
        outcome = await run
        async with planloom.open(tmp_path) as other:
            read = await other.run(run.id)
        for name in ("status", "exit_code", "result", "holes", "paid", "full_price", "asked", "agents", "failures"):
            assert getattr(read, name) == getattr(outcome, name), name
        assert read.holes == 1

    play(lambda request: refused() if request.question == "question 7" else echo(request), scenario)


@pytest.mark.skipif(not (ROOT / "docs").is_dir(), reason="the documents are not beside these tests")
def test_the_code_of_the_how_to_runs(play: Play, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = (ROOT / "docs/how-to/use-from-python.md").read_text()
    first, second, third = re.findall(r"^```python\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    monkeypatch.chdir(tmp_path)

    async def scenario(loom: Planloom, server: LoopbackServer) -> None:
        def run_page() -> dict[str, Any]:
            names: dict[str, Any] = {}
            exec(first + second + third, names)
            return names

        names = await asyncio.to_thread(run_page)
        outcome = names["outcome"]
        assert len(outcome.result) == 2
        assert outcome.status == "completed"
        again, equal = await asyncio.to_thread(lambda: asyncio.run(names["go_on"](outcome.run_id)))
        assert (again.holes, len(again.result), equal) == (0, 3, True)
        within = await asyncio.to_thread(lambda: asyncio.run(names["within"](TWENTY.replace("20", "400"), 100)))
        assert within.status == "completed"
        assert await asyncio.to_thread(lambda: asyncio.run(names["within"](TWENTY.replace("20", "500"), 1))) is None
        assert loom.runs()[0].record.error == "it costs more than was said"

    answers: list[Any] = [refused()]
    play(lambda request: answers.pop() if answers else echo(request), scenario)


def numbered() -> Callable[[Received], Any]:
    """Return a script that gives another answer each time."""
    numbers = count(1)
    return lambda request: completion(f"answer {next(numbers)}")


def test_a_refresh_asks_again_and_earlier_runs_still_replay_their_own_answers(play: Play) -> None:
    async def scenario(loom: Planloom, server: LoopbackServer) -> None:
        source = 'result = [agent("a"), agent("a", sample=1), agent("a")]\n'
        first = await loom.start(source)
        assert (await first).result == ["answer 1", "answer 2", "answer 1"]
        again = await loom.start(source, refresh=True)
        assert (await again).result == ["answer 3", "answer 4", "answer 3"]
        for run in (first, again):
            assert (await loom.replay(run.id)).equal
        assert server.total == 4

    play(numbered(), scenario)


def test_a_refresh_that_is_resumed_asks_only_what_it_did_not_ask_itself(play: Play) -> None:
    async def scenario(loom: Planloom, server: LoopbackServer) -> None:
        first = await loom.start(HUNDRED)
        await first
        again = await loom.start(HUNDRED, refresh=True)
        while server.total < 120:
            await asyncio.sleep(0.005)
        assert await again.cancel() == "cancelled"
        assert server.total < 200
        resumed = await loom.resume(again.id)
        assert (await resumed).status == "completed"
        assert (server.total, set(server.asked.values())) == (200, {2})
        for run in (first, again):
            assert (await loom.replay(run.id)).equal

    play(numbered(), scenario)


@pytest.mark.parametrize(("limits", "most"), [("", 16), ("in_flight = 20", 20)])
def test_a_run_without_a_kit_has_sixteen_calls_in_flight_unless_told(tmp_path: Path, limits: str, most: int) -> None:
    open_s = 0.5
    arrived: list[float] = []
    at_once: list[int] = []

    def script(request: Received) -> Any:
        # What came within the last half second is not answered yet.
        arrived.append(time.monotonic())
        at_once.append(sum(arrived[-1] - moment < open_s for moment in arrived))
        return echo(request).after(open_s)

    async def main() -> None:
        async with LoopbackServer(script) as server:
            config = CONFIG.format(url=server.url).replace("in_flight = 8", limits)
            (tmp_path / "planloom.toml").write_text(config)
            async with planloom.open(tmp_path) as loom:
                await (await loom.start(TWENTY.replace("20", "60")))

    asyncio.run(main())
    assert max(at_once) == most
