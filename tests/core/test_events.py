"""The event stream of whole runs, held to its published schema."""

from __future__ import annotations

import asyncio
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import attrs
import pytest
from jsonschema import Draft202012Validator

from planlang import compile as compile_program
from planloom._recorder import Recorder
from planloom.exporting import event_line
from planloom.former import read_former
from planloom.kits import Kit
from planloom.listeners import Listener
from planloom.loom import Job, Loom, Outcome, RunControl, open_loom
from planloom.money import micro_of
from planloom.plugins import Registry, load_plugins
from planloom.stores import Event
from planloom.testing.looms import loom_at, run_plan, settings_at
from planloom.testing.loopback import LoopbackServer, Received, Script, completion, echo, json_answer
from planloom.words import build_vocabulary
from planloom_data import schema

DOCS = Path(__file__).parents[2] / "docs" / "reference" / "events.md"
SCHEMA: Mapping[str, Any] = json.loads(schema("events-1.schema"))
VALIDATOR = Draft202012Validator(SCHEMA)
TYPES = tuple(SCHEMA["properties"]["type"]["enum"])

Play = Callable[..., list[Event]]


@pytest.fixture(scope="module")
def registry() -> Registry:
    return load_plugins()


@pytest.fixture
def play(registry: Registry, tmp_path: Path) -> Play:
    """Run a plan and return its stored events."""

    def run(source: str, script: Script, *, settings: Mapping[str, Any] | None = None, **options: Any) -> list[Event]:
        async def main() -> list[Event]:
            async with (
                LoopbackServer(script) as server,
                loom_at(server.url, tmp_path / "store.db", registry=registry, **(settings or {})) as loom,
            ):
                return loom.store.events((await run_plan(loom, source, **options)).run_id)

        return asyncio.run(main())

    return run


def refused(status: int, **headers: str) -> Any:
    return json_answer({"error": {"message": "no"}}, status=status, headers=headers)


def assert_fits(events: Iterable[Event]) -> Counter[str]:
    """Check every line and its place in the stream; return how many there are of each type."""
    stream = list(events)
    lines = [json.loads(event_line(event)) for event in stream]
    for line in lines:
        problems = [error.message for error in VALIDATOR.iter_errors(line)]
        assert not problems, (line, problems)
        assert set(line) == {"seq", "t", *SCHEMA["$defs"][line["type"]]["properties"]}
    assert [line["seq"] for line in lines] == list(range(1, len(lines) + 1))
    times = [line["t"] for line in lines]
    assert times == sorted(times)
    assert all(round(t, 3) == t for t in times)
    assert lines[-1]["type"] == "run.ended"
    return Counter(line["type"] for line in lines)


PHASES = """
phase("Find")
found = parallel([lambda i=i: agent(f"find {i}") for i in range(3)])
log("x" * 900)
phase(None)
result = agent("last")
"""


def test_a_whole_run_fits(play: Play) -> None:
    kinds = assert_fits(play(PHASES, echo))
    assert kinds["run.agent_started"] == kinds["run.agent_ended"] == 4
    assert kinds["run.log"] == 1


def test_a_run_that_failed_fits(play: Play) -> None:
    kinds = assert_fits(play('phase("A")\nx = agent("q")\nresult = x["key"]\n', echo))
    assert kinds["run.phase_started"] == kinds["run.phase_ended"] == 1


def test_attempts_and_a_failed_worker_fit(play: Play) -> None:
    first = iter([True, False])

    def script(request: Received) -> Any:
        if request.question == "bad":
            return refused(400)
        return refused(503) if next(first) else echo(request)

    stream = play('result = [agent("a"), agent("bad")]\n', script)
    kinds = assert_fits(stream)
    assert kinds["run.attempt"] >= 1
    assert [event.data["ok"] for event in stream if event.type == "run.agent_ended"] == [True, False]


def test_a_question_that_two_workers_share_fits(play: Play) -> None:
    source = 'result = parallel([lambda: agent("same"), lambda: agent("same")])\n'
    assert assert_fits(play(source, lambda request: echo(request).after(0.1)))["run.shared"] == 1


def test_a_hedged_call_fits(play: Play) -> None:
    script = [completion("never").hanging(), completion("second")]
    assert assert_fits(play('result = agent("a")\n', script, settings={"hedge_after_s": 0.05}))["run.hedged"] == 1


def test_dropped_workers_fit(play: Play) -> None:
    source = 'result = parallel([lambda i=i: agent(f"q{i}") for i in range(5)])\n'
    assert assert_fits(play(source, echo, settings={"workers": 3}))["run.dropped"] == 2


def test_a_race_with_a_cancelled_worker_fits(play: Play) -> None:
    source = 'result = race([lambda: agent("slow"), lambda: agent("quick")])\n'
    stream = play(source, lambda request: echo(request).after(0.2 if request.question == "slow" else 0))
    assert assert_fits(stream)["run.agent_ended"] == 2
    assert [event.data["ok"] for event in stream if event.type == "run.agent_ended"] == [True, None]


def test_a_run_that_waits_at_the_budget_and_goes_on_fits(registry: Registry, tmp_path: Path) -> None:
    source = 'result = parallel([lambda i=i: agent(f"q{i}") for i in range(6)])\n'

    async def main() -> list[Event]:
        async with (
            LoopbackServer(echo) as server,
            loom_at(server.url, tmp_path / "store.db", registry=registry) as loom,
        ):
            control = RunControl()
            running = asyncio.ensure_future(run_plan(loom, source, cap=0.6, on_cap="wait", control=control))
            while not (loom.store.runs() and loom.store.runs()[0].status == "paused"):
                await asyncio.sleep(0.01)
            (row,) = loom.store.runs()
            await loom.store.set_cap(row.budget, micro_of(5))
            return loom.store.events((await running).run_id)

    stream = asyncio.run(main())
    kinds = assert_fits(stream)
    assert kinds["run.budget_paused"] == kinds["run.budget_raised"] == 1
    (paused,) = [event.data for event in stream if event.type == "run.budget_paused"]
    assert (paused["spent"], paused["cap"], paused["asked"]) == (0.6, 0.6, 0.2)


def test_an_account_that_is_used_up_fits(registry: Registry, tmp_path: Path) -> None:
    async def main() -> list[Event]:
        async with LoopbackServer(lambda request: refused(402)) as server:
            settings = attrs.evolve(settings_at(server.url, tmp_path / "store.db"), at_quota="stop")
            async with open_loom(registry, settings) as loom:
                outcome = await run_plan(loom, 'result = agent("q")\n')
                assert (outcome.status, outcome.exit_code) == ("paused", 5)
                return loom.store.events(outcome.run_id)

    assert assert_fits(asyncio.run(main()))["run.breaker"] == 1


def test_a_run_that_goes_on_counts_on_in_one_stream(registry: Registry, tmp_path: Path) -> None:
    source = 'phase("A")\nresult = parallel([lambda i=i: agent(f"q{i}") for i in range(4)])\n'

    async def start(loom: Loom, cap: float, former: Any = None) -> Outcome:
        kits = tuple(loom.registry.all("kit", Kit).values())
        program = compile_program(source, build_vocabulary(loom.registry, loom.settings, kits))
        return await loom.run(Job(title="A job", cap=micro_of(cap)), program, source, former=former)

    async def main() -> tuple[list[Event], list[str]]:
        async with (
            LoopbackServer(echo) as server,
            loom_at(server.url, tmp_path / "store.db", registry=registry, in_flight=1) as loom,
        ):
            stopped = await start(loom, 0.4)
            row = loom.store.run(stopped.run_id)
            assert row is not None
            assert row.status == "paused"
            whole = await start(loom, 5.0, read_former(loom.store, row))
            assert (whole.run_id, whole.status, server.total) == (stopped.run_id, "completed", 4)
            return loom.store.events(whole.run_id), [thread.id for thread in loom.store.threads(whole.run_id)]

    stream, threads = asyncio.run(main())
    kinds = assert_fits(stream)
    assert (kinds["run.created"], kinds["run.resumed"], kinds["run.ended"]) == (1, 1, 2)
    assert len(set(threads)) == len(threads) == 4


# --- the recorder


def test_a_listener_that_breaks_is_dropped_and_the_others_hear_on(caplog: pytest.LogCaptureFixture) -> None:
    heard: list[int] = []

    def breaks(run: str, event: Event) -> None:
        raise ZeroDivisionError

    listeners = [
        Listener(name="bad", on_event=breaks),
        Listener(name="good", on_event=lambda _, e: heard.append(e.seq)),
    ]
    recorder = Recorder("r", None, listeners, lambda: 0.0)
    for _ in range(3):
        recorder.emit("run.log", {"message": "x"})
    assert heard == [1, 2, 3]
    assert [record.getMessage() for record in caplog.records] == [
        "listener bad failed and hears no more events of run r"
    ]


def test_a_recorder_of_a_run_that_goes_on_counts_from_where_it_stood() -> None:
    heard: list[Event] = []
    listener = Listener(name="hears", on_event=lambda run, event: heard.append(event))
    seconds = iter([100.0, 100.5])
    recorder = Recorder("r", None, [listener], lambda: next(seconds), first_seq=8, began_s=3.25)
    recorder.emit("run.resumed", {"reused": 1, "asked": 1})
    assert [(event.seq, event.t) for event in heard] == [(8, 3.75)]


# --- the schema and its page


@pytest.mark.parametrize(
    "line",
    [
        {"seq": 1, "t": 0.0, "type": "run.created"},
        {"seq": 1, "t": 0.0, "type": "run.created", "title": "a", "more": 1},
        {"seq": 0, "t": 0.0, "type": "run.created", "title": "a"},
        {"seq": 1, "t": 0.0, "type": "run.made_up"},
    ],
)
def test_a_line_that_lacks_a_field_or_has_one_too_many_does_not_fit(line: Mapping[str, Any]) -> None:
    assert not VALIDATOR.is_valid(line)


def test_the_schema_is_a_schema() -> None:
    Draft202012Validator.check_schema(SCHEMA)
    assert len(TYPES) == len(SCHEMA["$defs"]) == 18


@pytest.mark.skipif(not DOCS.exists(), reason="the documents are not beside these tests")
def test_the_page_lists_every_type_with_its_fields() -> None:
    rows = re.findall(r"^\| `(run\.\w+)` \| (.+) \| (.+) \|$", DOCS.read_text(), re.MULTILINE)
    listed = {kind: (when, re.findall(r"`(\w+)`", fields)) for kind, when, fields in rows}
    assert listed == {
        kind: (entry["description"], [name for name in entry["properties"] if name != "type"])
        for kind, entry in SCHEMA["$defs"].items()
    }
