"""The lead: asked over a real connection, corrected in the checker's words, at most twice."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest

from planlang import Vocabulary
from planloom import RunCancelled, RunStopped
from planloom.clients import ModelError
from planloom.jobs import write_plan
from planloom.kits import Kit
from planloom.lead import WrittenPlan, plan_in_reply
from planloom.loom import Job, Loom, RunControl
from planloom.money import micro_of
from planloom.plugins import Registry, load_plugins
from planloom.scouts import ScoutReport, compose_sheet
from planloom.testing.looms import loom_at
from planloom.testing.loopback import LoopbackServer, Script, completion, json_answer
from planloom.tokens import estimate_text_tokens
from planloom.words import build_vocabulary

GOOD = 'phase("Ask")\nresult = agent("what is wrong?")\n'
MISSPELLED = 'result = agnet("what is wrong?")\n'
BREAKS = 'result = agent("what is wrong?").upper()\n'

Scenario = Callable[[Callable[[], Coroutine[Any, Any, WrittenPlan]], LoopbackServer], Coroutine[Any, Any, None]]


@pytest.fixture(scope="module")
def registry() -> Registry:
    return load_plugins()


@pytest.fixture(scope="module")
def kit(registry: Registry) -> Kit:
    return registry.get("kit", "audit", Kit)


@pytest.fixture
def planning(registry: Registry, kit: Kit, tmp_path: Path) -> Callable[..., None]:
    """Play a scenario with a function that has a scripted lead write a plan."""

    def play(script: Script, scenario: Scenario, cap: float = 10) -> None:
        async def main() -> None:
            async with (
                LoopbackServer(script) as server,
                loom_at(server.url, tmp_path / "store.db", registry=registry) as loom,
            ):
                await scenario(lambda: _written(loom, kit, cap), server)

        asyncio.run(main())

    return play


def _vocabulary(loom: Loom, kit: Kit) -> Vocabulary:
    return build_vocabulary(loom.registry, loom.settings, [kit])


async def _written(loom: Loom, kit: Kit, cap: float, control: RunControl | None = None) -> WrittenPlan:
    job = Job(title="A job", kits=(kit,), text="Find what is wrong.", cap=micro_of(cap))
    return await write_plan(loom, job, kit, _vocabulary(loom, kit), "THE WORK\n3 files", "books", control)


def fenced(plan: str) -> Any:
    return completion(f"Here it is.\n\n```python\n{plan}```\nGood luck!")


def test_a_good_plan_is_taken_at_once_with_its_rehearsal(planning: Callable[..., None]) -> None:
    async def scenario(write: Any, server: LoopbackServer) -> None:
        written = await write()
        assert (written.source, server.total) == (GOOD, 1)
        assert written.rehearsal.agents == 1
        assert [attempt.problems for attempt in written.attempts] == [()]

    planning(fenced(GOOD), scenario)


def test_a_bad_plan_is_mended_from_the_checkers_words_and_both_attempts_are_kept(
    planning: Callable[..., None],
) -> None:
    async def scenario(write: Any, server: LoopbackServer) -> None:
        written = await write()
        assert (written.source, server.total) == (GOOD, 2)
        assert [attempt.source for attempt in written.attempts] == [MISSPELLED, GOOD]
        (problem,) = written.attempts[0].problems
        assert "PL101 nothing is named `agnet`" in problem
        *_, answer, request = server.received[1].json["messages"]
        assert (answer["role"], request["role"]) == ("assistant", "user")
        assert MISSPELLED in answer["content"]
        assert problem in request["content"]

    planning([fenced(MISSPELLED), fenced(GOOD)], scenario)


def test_a_lead_that_said_nothing_is_asked_again_without_an_empty_message(planning: Callable[..., None]) -> None:
    async def scenario(write: Any, server: LoopbackServer) -> None:
        assert (await write()).source == GOOD
        assert [m["role"] for m in server.received[1].json["messages"]] == ["system", "user", "user"]

    planning([completion(""), fenced(GOOD)], scenario)


def test_a_plan_that_the_rehearsal_refuses_is_mended_too(planning: Callable[..., None]) -> None:
    async def scenario(write: Any, server: LoopbackServer) -> None:
        written = await write()
        assert written.source == GOOD
        assert "line 1: AttributeError" in written.attempts[0].problems[0]

    planning([fenced(BREAKS), fenced(GOOD)], scenario)


def test_after_two_repairs_there_is_no_plan_and_every_attempt_is_kept(planning: Callable[..., None]) -> None:
    async def scenario(write: Any, server: LoopbackServer) -> None:
        written = await write()
        assert (written.source, written.rehearsal, server.total) == (None, None, 3)
        assert len(written.attempts) == 3
        assert all(attempt.problems for attempt in written.attempts)

    planning(fenced(MISSPELLED), scenario)


def test_prompt_tokens_and_prices_are_summed_over_all_attempts(planning: Callable[..., None]) -> None:
    async def scenario(write: Any, server: LoopbackServer) -> None:
        written = await write()
        assert (written.prompt_tokens, written.spent.full_price) == (3_500, 400_000)

    def used(plan: str, tokens: int) -> Any:
        return completion(plan, usage={"prompt_tokens": tokens, "completion_tokens": 9})

    planning([used(MISSPELLED, 1_500), used(GOOD, 2_000)], scenario)


def test_a_job_that_was_planned_before_is_planned_from_the_ledger(planning: Callable[..., None]) -> None:
    async def scenario(write: Any, server: LoopbackServer) -> None:
        first, again = await write(), await write()
        assert (again.source, server.total) == (first.source, 2)
        assert [attempt.cached for attempt in again.attempts] == [True, True]
        assert (first.spent.paid, again.spent.paid, again.spent.full_price) == (400_000, 0, 400_000)

    planning([fenced(MISSPELLED), fenced(GOOD)], scenario)


def test_a_lead_is_shown_at_most_eight_problems(planning: Callable[..., None]) -> None:
    many = "".join(f"x{n} = unknown_{n}(1)\n" for n in range(20)) + "result = 1\n"

    async def scenario(write: Any, server: LoopbackServer) -> None:
        await write()
        assert server.received[1].json["messages"][-1]["content"].count("PL101") == 8

    planning([fenced(many), fenced(GOOD)], scenario)


def test_a_lead_reads_the_words_the_job_and_the_sheet_in_under_two_thousand_tokens(
    planning: Callable[..., None], registry: Registry, kit: Kit
) -> None:
    async def scenario(write: Any, server: LoopbackServer) -> None:
        await write()
        system, user = (message["content"] for message in server.received[0].json["messages"])
        assert user == "THE JOB\nFind what is wrong.\n\nTHE WORK\n3 files"
        assert "{{" not in system
        assert all(word in system for word in ("agent(", "parallel(", "scan(", "vote("))
        assert estimate_text_tokens(len(system) + len(user)) < 2_000

    planning(fenced(GOOD), scenario)


def test_planning_is_paid_from_the_jobs_budget(planning: Callable[..., None]) -> None:
    async def scenario(write: Any, server: LoopbackServer) -> None:
        with pytest.raises(RunStopped, match=r"has spent 0\.2 of 0\.3 credits"):
            await write()
        assert server.total == 1

    planning(fenced(MISSPELLED), scenario, cap=0.3)


def test_a_rehearsal_for_a_lead_starts_at_what_planning_left(planning: Callable[..., None]) -> None:
    plan = 'phase("whole" if budget() > 9.9 else "less")\nresult = agent("q")\n'

    async def scenario(write: Any, server: LoopbackServer) -> None:
        assert list((await write()).rehearsal.phases) == ["less"]

    planning(fenced(plan), scenario)


def test_what_the_lead_was_writing_when_it_was_cancelled_is_kept(registry: Registry, kit: Kit, tmp_path: Path) -> None:
    async def main() -> None:
        async with (
            LoopbackServer(fenced(GOOD).after(0.2)) as server,
            loom_at(server.url, tmp_path / "store.db", registry=registry) as loom,
        ):
            control = RunControl()
            asyncio.get_running_loop().call_later(0.1, control.cancel)
            with pytest.raises(RunCancelled, match="run the same command again"):
                await _written(loom, kit, 10, control)
            assert (await _written(loom, kit, 10)).spent.paid == 0
            assert server.total == 1

    asyncio.run(main())


def test_a_lead_that_cannot_be_asked_is_an_error_of_its_class(planning: Callable[..., None]) -> None:
    async def scenario(write: Any, server: LoopbackServer) -> None:
        with pytest.raises(ModelError) as caught:
            await write()
        assert caught.value.error_class == "bad_request"

    planning(json_answer({"error": {"message": "no"}}, status=400), scenario)


REPLIES = {
    "alone": (GOOD, GOOD),
    "in a fence": (f"```\n{GOOD}```", GOOD),
    "in a named fence": (f"Sure:\n```plan\n{GOOD}```\n", GOOD),
    "in tildes": (f"~~~~python\n{GOOD}~~~~", GOOD),
    "in the first of two fences": (f"```\n{GOOD}```\nor\n```\nresult = 2\n```", GOOD),
    "a longer fence around a shorter one": ('````\nx = "```"\n```\n````\n', 'x = "```"\n```\n'),
    "after a draft that was only thought of": (f"<think>\n```\ndraft = 1\n```\n</think>\n```\n{GOOD}```", GOOD),
    "an indented fence": (f"  ```\n{GOOD}  ```", GOOD),
}


@pytest.mark.parametrize(("reply", "plan"), REPLIES.values(), ids=REPLIES.keys())
def test_the_plan_is_found_in_a_reply(reply: str, plan: str) -> None:
    assert plan_in_reply(reply) == plan


@pytest.mark.parametrize("reply", ["", "no plan", "```", "```python\nunfinished = 1\n", "`" * 10_000])
def test_a_reply_without_a_whole_fence_is_judged_as_it_is(reply: str) -> None:
    assert plan_in_reply(reply) == reply.strip() + "\n"


# --- the fact sheet


def test_a_section_of_the_fact_sheet_is_cut_to_its_share_and_says_so() -> None:
    report = ScoutReport(heading="FOLDERS", lines=tuple(f"folder {n:04d}: 12 files" for n in range(100)))
    lines = compose_sheet([(60, report)]).splitlines()
    assert lines[0] == "FOLDERS"
    assert lines[-1] == f"(and {100 - len(lines) + 2} more lines)"
    assert estimate_text_tokens(len("\n".join(lines[:-1]))) <= 60
