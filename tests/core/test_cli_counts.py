"""What a run lacks is the same number wherever it is said: at its end, in `runs`, `show`, `export` and its events."""

from __future__ import annotations

import asyncio
import contextlib
import io
import json
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from planlang import Call, Vocabulary, Word
from planlang import compile as compile_program
from planloom.cli import main
from planloom.data_classes import frozen
from planloom.former import read_former
from planloom.loom import Job, Loom, Outcome, RunControl, open_loom
from planloom.money import micro_of, show_credits
from planloom.plugins import load_plugins
from planloom.runtime import host_of
from planloom.status import status_line
from planloom.terminal import outcome_line
from planloom.testing.looms import settings_at
from planloom.testing.loopback import LoopbackServer, Received, completion, echo, json_answer
from planloom.words import build_vocabulary, signature_of

STRICT = '{"type": "object", "required": ["n"]}'
FATES = ("well", "bad", "same", "misfit", "mended", "busy", "breaks", "open", "raced")
_COUNTS = ("started", "done", "failed", "cancelled", "dropped", "undecided")


def answering() -> Callable[[Received], Any]:
    """Answer as the question says: badly, busily, not as its schema wants, slowly."""
    seen: Counter[str] = Counter()

    def script(request: Received) -> Any:
        first = request.json["messages"][0]["content"]
        seen[first] += 1
        if first.startswith("bad"):
            return json_answer({"error": {"message": "content refused"}}, status=400)
        if first.startswith("locked"):
            return json_answer({"error": {"message": "no such key"}}, status=401)
        if first.startswith("busy") and seen[first] == 1:
            return json_answer({"error": {"message": "busy"}}, status=503, headers={"retry-after": "0"})
        if first.startswith("silent") and seen[first] == 1:
            return completion("never").hanging()
        if first.startswith("misfit"):
            return completion("no")
        if first.startswith("mended"):
            return completion("no" if seen[first] == 1 else '{"n": 1}')
        return echo(request).after(0.3 if first.startswith("slow") else 0.0)

    return script


def task(number: int, fate: str) -> str:
    """Return a task of a plan whose worker meets this fate."""
    question = "same" if fate == "same" else f"{fate} {number}"
    match fate:
        case "misfit" | "mended":
            return f'lambda: agent("{question}", schema={STRICT})'
        case "breaks":
            return f'lambda: agent("{question}")["x"]'
        case "open":
            return f'lambda: leave_open("place {number}")'
        case "raced":
            return f'lambda: race([lambda: agent("quick {number}"), lambda: agent("slow {number}")])'
    return f'lambda: agent("{question}")'


def plan_of(fates: Sequence[str], phases: int = 1) -> str:
    """Return a plan whose tasks meet these fates, in so many phases one after the other."""
    lines = []
    for phase in range(phases):
        tasks = ", ".join(task(number, fate) for number, fate in enumerate(fates) if number % phases == phase)
        lines += [f'phase("Phase {phase}")', f"parallel([{tasks}])"]
    return "\n".join([*lines, "result = 1", ""])


@frozen(kw_only=True)
class Told:
    """What was said of a run at its end, and by whoever looks at it then."""

    outcome: Outcome
    end_line: str
    status_line: str
    runs: str
    show: str
    record: Mapping[str, Any]
    events: Sequence[Mapping[str, Any]]
    threads: Sequence[Mapping[str, Any]]
    has_former_losers: bool


def leave_open(call: Call, place: str) -> None:
    host_of(call).left_undecided(call, place, "nobody knows", {})


def said(*arguments: str) -> str:
    """Run a command in this process and return its output."""
    with contextlib.redirect_stdout(io.StringIO()) as out, pytest.raises(SystemExit):
        main(list(arguments))
    return out.getvalue()


def told(folder: Path, source: str, starts: Sequence[Mapping[str, Any]]) -> Told:
    """Run a plan, go on with it as often as there are further starts, and return what is said of it."""

    async def start(loom: Loom, run: str, cap: float = 100.0, workers: int = 1_000, **options: Any) -> Outcome:
        word = Word("leave_open", leave_open, signature=signature_of(lambda place: None), doc="")
        known = build_vocabulary(loom.registry, loom.settings, ())
        program = compile_program(source, Vocabulary([*known.words.values(), *known.values.values(), word]))
        row = loom.store.run(run) if run else None
        former = read_former(loom.store, row) if row is not None else None
        job = Job(title="A job", cap=micro_of(cap))
        return await loom.run(
            job, program, source, former=former, workers=workers, budget=row.budget if row else None, **options
        )

    async def play() -> tuple[Outcome, str]:
        run, outcome = "", None
        async with LoopbackServer(answering()) as server:
            for options in starts:
                given = dict(options)
                hedges, in_flight = given.pop("hedge_after_s", None), given.pop("in_flight", 4)
                after = given.pop("cancel_after", None)
                known = settings_at(
                    server.url, folder / ".planloom" / "store.db", in_flight=in_flight, hedge_after_s=hedges
                )
                async with open_loom(load_plugins(), known) as loom:
                    control = RunControl()
                    cancelling = asyncio.ensure_future(cancel(control, server, after)) if after else None
                    outcome = await start(loom, run, control=control, **given)
                    run = outcome.run_id
                    row = loom.store.run(run)
                    assert row is not None
                    line = status_line(loom.store, row)
                    if cancelling is not None:
                        cancelling.cancel()
        assert outcome is not None
        return outcome, line

    async def cancel(control: RunControl, server: LoopbackServer, after: int) -> None:
        while server.total < after:
            await asyncio.sleep(0.002)
        control.cancel()

    outcome, line = asyncio.run(play())
    with contextlib.chdir(folder):
        said("export", outcome.run_id, "--out", "out")
        return Told(
            outcome=outcome,
            end_line=outcome_line(outcome),
            status_line=line,
            runs=said("runs"),
            show=said("show", outcome.run_id),
            record=json.loads((folder / "out" / "run.json").read_text()),
            events=_lines(folder / "out" / "events.jsonl"),
            threads=_lines(folder / "out" / "transcripts.jsonl"),
            has_former_losers=len(starts) > 1 and "race(" in source,
        )


def _lines(path: Path) -> list[Mapping[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def by_events(told: Told) -> dict[str, int]:
    """Count workers by the last word that the events have of each, and what was dropped or left open at last."""
    ended = {event["thread"]: event["ok"] for event in told.events if event["type"] == "run.agent_ended"}
    resumed = [place for place, event in enumerate(told.events) if event["type"] == "run.resumed"]
    kinds = Counter(event["type"] for event in told.events[resumed[-1] if resumed else 0 :])
    last = Counter(ended.values())
    return {
        "started": len(ended),
        "done": last[True],
        "failed": last[False],
        "cancelled": last[None],
        "dropped": kinds["run.dropped"],
        "undecided": kinds["run.undecided"],
    }


def by_threads(told: Told) -> dict[str, int]:
    """Count the workers by what the transcripts have of each; a question left open is none of them."""
    begun = Counter(thread["status"] for thread in told.threads if thread["started"] is not None)
    dropped = sum(thread["status"] == "dropped" for thread in told.threads)
    return {"started": begun.total(), **{name: begun[name] for name in ("done", "failed", "cancelled")}} | {
        "dropped": dropped
    }


def by_show(told: Told) -> dict[str, int]:
    """Add up the table of phases that `show` prints."""
    lines = told.show.splitlines()
    head = next(line for line in lines if line.startswith("phase "))
    names = ["started", "done", *[name for name in ("failed", "cancelled", "not started") if name in head]]
    names += ["dropped", "undecided"]
    counts: Counter[str] = Counter()
    for line in lines[lines.index(head) + 1 :]:
        row = re.match(r"(?:Phase \d+|\(no phase\)) +((?:\d+(?: of \d+)? *)+)", line)
        if row is None:
            break
        for name, number in zip(names, re.findall(r"(\d+)(?: of \d+)?", row.group(1)), strict=True):
            counts[name] += int(number)
    return {name: counts[name] for name in _COUNTS}


def assert_agree(told: Told) -> None:
    """Check that every place that counts what a run came to counts the same."""
    outcome, ended = told.outcome, told.events[-1]
    phases = {name: sum(phase[name] for phase in outcome.phases) for name in _COUNTS}
    assert phases["started"] == phases["done"] + phases["failed"] + phases["cancelled"]
    assert by_show(told) == phases
    if not told.has_former_losers:  # they do not begin again where their winner is known, and leave what they left then
        assert by_threads(told) == {name: phases[name] for name in by_threads(told)}
        assert by_events(told) == phases
    tasks_failed = sum(phase["tasks_failed"] for phase in outcome.phases)
    holes = phases["failed"] + phases["dropped"] + phases["undecided"] + tasks_failed
    agents = phases["started"]
    assert (outcome.holes, outcome.agents) == (holes, agents)
    assert (ended["type"], ended["holes"], ended["agents"]) == ("run.ended", holes, agents)
    assert {name: told.record["facts"]["counts"][name] for name in ("holes", "agents")} == {
        "holes": holes,
        "agents": agents,
    }
    last = {event["phase"]: event for event in told.events if event["type"] == "run.phase_ended"}
    for phase in outcome.phases:
        if phase["name"]:
            counted = {"agents": phase["started"], **{name: phase[name] for name in (*_COUNTS[1:], "unstarted")}}
            assert {name: last[phase["name"]][name] for name in counted} == counted
    assert sum(event["holes"] for event in last.values()) == holes
    came_to = {name: phases[name] for name in ("done", "failed", "dropped")}
    assert told.record["workers"] == {"running": 0, **came_to, "waiting": 0}
    assert (told.record["holes"], told.record["seconds"]) == (holes, ended["t"])
    assert f"{agents:,} worker" in told.end_line
    assert (f"with {holes:,} hole" in told.end_line) == bool(holes)
    middle = f"| 0 running, {phases['done']} done, {phases['failed']} failed, {phases['dropped']} dropped | "
    assert middle in told.status_line
    assert told.status_line in told.show
    assert (f"HOLES {holes}" in told.status_line) == bool(holes)
    row = told.runs.splitlines()[1]
    assert (f"{holes:,} hole" in row) == bool(holes)
    assert re.search(rf" {agents} +{re.escape(show_credits(outcome.paid))} ", row)
    assert f"{show_credits(outcome.paid)} credits paid" in told.show
    assert ended["credits"] * 1_000_000 == pytest.approx(outcome.paid)


KINDS: dict[str, tuple[str, list[dict[str, Any]]]] = {
    "whole": (plan_of(["well"] * 6, 2), [{}]),
    "refused questions": (plan_of(["well", "bad", "bad", "well"]), [{}]),
    "answers that never fit, and one that is mended": (plan_of(["misfit", "mended", "well"]), [{}]),
    "shared answers": (plan_of(["same"] * 5), [{}]),
    "a hedged call": (plan_of(["silent", "well"]), [{"hedge_after_s": 0.1}]),
    "busy servers": (plan_of(["busy"] * 4), [{}]),
    "dropped workers": (plan_of(["well"] * 9), [{"workers": 5}]),
    "a task that breaks on a good answer": (plan_of(["breaks", "well"]), [{}]),
    "questions left open": (plan_of(["open", "well", "open"]), [{}]),
    "losers of races": (plan_of(["raced", "well", "raced"]), [{}]),
    "stopped at the budget after a task broke": (plan_of(["well", "well", "breaks", "well"]), [{"cap": 0.6}]),
    "all at once": (plan_of(FATES * 2, 3), [{"workers": 16}]),
    "stopped at the budget": (plan_of(["well"] * 9), [{"cap": 1.0}]),
    "stopped at the budget in a second turn": (plan_of(["mended", "mended"]), [{"cap": 0.4}]),
    "stopped and gone on": (plan_of(["well", "bad"] * 5, 2), [{"cap": 1.0}, {"cap": 9.0}]),
    "stopped twice": (plan_of(["well"] * 9), [{"cap": 0.6}, {"cap": 1.2}]),
    "cancelled": (plan_of(["slow"] * 20), [{"cancel_after": 6}]),
    "cancelled and gone on": (plan_of(["slow"] * 12), [{"cancel_after": 6}, {"in_flight": 16}]),
    "holes that a resume asks again": (plan_of(["bad", "well", "misfit"]), [{}, {}]),
    "dropped, then given more workers": (plan_of(["well"] * 9), [{"workers": 5}, {"workers": 7}, {"workers": 9}]),
    "a plan that fails": (plan_of(["well"] * 3) + 'result = "a"["b"]\n', [{}]),
    "a key that is refused": (plan_of(["well", "locked", "well"]), [{"in_flight": 1}]),
    "a runaway": (plan_of(["well"] * 12), [{"workers": 4}]),
    "a dropped loser, stopped and gone on": (
        plan_of(["well", "well", "well", "raced"]),
        [{"cap": 0.6, "workers": 4}, {"workers": 4}],
    ),
    "losers, stopped and gone on": (plan_of(["raced"] * 4, 2), [{"cap": 0.8}, {"cap": 9.0}]),
}


@pytest.mark.parametrize("kind", KINDS)
def test_all_that_is_said_of_a_run_agrees(tmp_path: Path, kind: str) -> None:
    assert_agree(told(tmp_path, *KINDS[kind]))


@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    fates=st.lists(st.sampled_from(FATES), min_size=1, max_size=12),
    phases=st.integers(1, 3),
    workers=st.integers(4, 20),
    caps=st.lists(st.sampled_from([0.6, 1.2, 50.0]), min_size=1, max_size=3),
    in_flight=st.sampled_from([1, 4]),
)
def test_all_that_is_said_of_any_run_agrees(
    tmp_path_factory: pytest.TempPathFactory,
    fates: list[str],
    phases: int,
    workers: int,
    caps: list[float],
    in_flight: int,
) -> None:
    starts = [{"cap": cap, "workers": workers, "in_flight": in_flight} for cap in sorted(set(caps))]
    assert_agree(told(tmp_path_factory.mktemp("any"), plan_of(fates, min(phases, len(fates))), starts))
