"""The offline client: which question it answers and how, where the work is done, and how it ends."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from typing import Any

import pytest

from planloom import Usage
from planloom.clients import ClientPlugin, Endpoint, PermanentError, TransientError
from planloom.plugins import load_plugins
from planloom.questions import Question, Reply, message_of
from planloom_code import numbered_lines
from planloom_offline import TIGHT_RULES, TYPE_CHECKER, WIDE_RULES, Hit, OfflineClient, ParsedFile, Rule

MIXED = [
    "def area(width, height):",
    "    return 1",
    "def f(width, height):",
    "    if width > 0:",
    "        raise ValueError('width must be positive')",
    "    total += 1",
    "    total = 0",
    "    return area(height, width)",
]
SMALL = f"### a.py\n{numbered_lines(MIXED)}"
LARGE = f"### a.py\n{numbered_lines(MIXED + ['x = [1, 2, 3, 4]'] * 3_000)}"
ENDPOINT = Endpoint(name="offline", client="offline")


def question(form: str | None, user: str, system: str = "Review this code.") -> Question:
    wanted = {"response_format": {"type": "json_schema", "json_schema": {"name": form}}} if form else {}
    messages = (message_of("system", system), message_of("user", "Read on.", user))
    return Question(endpoint="offline", model="offline", messages=messages, parameters=wanted)


def client(rules: Sequence[Rule] = TIGHT_RULES, endpoint: Endpoint = ENDPOINT) -> OfflineClient:
    return OfflineClient(endpoint, lambda: rules)


def ask(*questions: Question) -> list[Reply]:
    async def run() -> list[Reply]:
        opened = client()
        try:
            return list(await asyncio.gather(*(opened.ask(one) for one in questions)))
        finally:
            await opened.close()

    return asyncio.run(run())


def rules_in(reply: Reply) -> set[str]:
    return {finding["claim"].split("]")[0][1:] for finding in json.loads(reply.text)["findings"]}


def test_the_plugin_brings_a_free_client_and_its_rules() -> None:
    import planloom_offline

    registry = load_plugins([("offline", planloom_offline)], installed=False)
    assert registry.get("client", "offline", ClientPlugin).free
    assert set(registry.names("offline rule")) == {rule.name for rule in (*TIGHT_RULES, TYPE_CHECKER, *WIDE_RULES)}


def found_everywhere(file: ParsedFile) -> list[Hit]:
    return [Hit(line=1, claim="here")]


def test_hook_register_rules_puts_a_rule_of_another_plugin_beside_the_others() -> None:
    import planloom_offline
    from planloom.hookspecs import hookimpl

    class Other:
        @hookimpl
        def register_rules(self, register: Any) -> None:
            register(Rule(name="everywhere", lens="logic", title="t", severity="low", check=found_everywhere))

    registry = load_plugins([("offline", planloom_offline), ("other", Other())], installed=False)
    assert registry.owner("offline rule", "everywhere") == "other"


def test_a_scan_runs_the_rules_of_the_lens_that_its_system_prompt_names() -> None:
    replies = ask(
        *(question("findings", SMALL, f"Review.\n\nLens: {lens}\nMore.") for lens in ("boundaries", "logic", "state"))
    )
    assert [rules_in(reply) for reply in replies] == [
        {"guard-against-message"},
        {"swapped-arguments"},
        {"use-before-definition"},
    ]


@pytest.mark.parametrize("system", ["Review.", "Lens: general\nReview."])
def test_a_scan_without_a_lens_that_rules_know_runs_them_all(system: str) -> None:
    (reply,) = ask(question("findings", SMALL, system))
    assert rules_in(reply) == {"guard-against-message", "swapped-arguments", "use-before-definition"}


def test_a_finding_holds_what_the_schema_names_and_the_printed_line() -> None:
    (reply,) = ask(question("findings", SMALL, "Lens: logic"))
    (finding,) = json.loads(reply.text)["findings"]
    assert (finding["file"], finding["line"], finding["function"]) == ("a.py", 8, "f")
    assert finding["failing_call"] == "area(height, width)"
    assert set(finding) == {"file", "line", "function", "claim", "failing_call", "expected", "confidence"}


def test_a_reply_names_no_tokens_since_no_server_counted_them() -> None:
    (reply,) = ask(question("findings", SMALL))
    assert (reply.model, reply.usage, reply.finish_reason, reply.whole) == ("offline", Usage(), "stop", True)


def test_verdicts_and_reports_are_answered_too() -> None:
    verdicts, report = ask(question("verdicts", "--- report 1 ---\nfile: a.py\ncode:\n"), question("report", "C1 | x"))
    assert [list(json.loads(reply.text)) for reply in (verdicts, report)] == [["verdicts"], ["bugs", "summary"]]


@pytest.mark.parametrize("form", ["plan", None])
def test_another_question_is_refused_with_what_can_be_answered_and_how_to_get_a_model(form: str | None) -> None:
    with pytest.raises(PermanentError, match=r"only findings, verdicts, report.*planloom init"):
        ask(question(form, SMALL))


def test_a_repair_turn_is_answered_from_the_code_that_was_sent_first() -> None:
    first = question("findings", SMALL)
    repair = Question(
        endpoint="offline",
        model="offline",
        messages=(*first.messages, message_of("assistant", "{}"), message_of("user", "Correct it.")),
        parameters=first.parameters,
    )
    one, other = ask(first, repair)
    assert one.text == other.text


# --- processes


def test_a_small_shard_starts_no_process() -> None:
    async def run() -> int:
        opened = client()
        await opened.ask(question("findings", SMALL))
        count = len(opened.process_ids)
        await opened.close()
        return count

    assert asyncio.run(run()) == 0


def test_a_large_shard_is_answered_by_a_process_with_the_same_findings() -> None:
    small, large = ask(question("findings", SMALL), question("findings", LARGE))
    assert json.loads(small.text) == json.loads(large.text)


def test_three_lenses_on_one_large_shard_share_one_analysis() -> None:
    async def run() -> int:
        opened = client()
        lenses = ("boundaries", "logic", "state")
        await asyncio.gather(*(opened.ask(question("findings", LARGE, f"Lens: {lens}")) for lens in lenses))
        count = len(opened.process_ids)
        await opened.close()
        return count

    assert asyncio.run(run()) == 1


def test_the_event_loop_goes_on_while_a_large_shard_is_read() -> None:
    async def run() -> float:
        opened = client()
        asked = asyncio.create_task(opened.ask(question("findings", LARGE)))
        longest = 0.0
        while not asked.done():
            before = time.monotonic()
            await asyncio.sleep(0.005)
            longest = max(longest, time.monotonic() - before)
        await opened.close()
        return longest

    assert asyncio.run(run()) < 0.5


def test_one_worker_that_is_cancelled_does_not_take_the_others_analysis_with_it() -> None:
    async def run() -> Reply:
        opened = client()
        first = asyncio.create_task(opened.ask(question("findings", LARGE)))
        second = asyncio.create_task(opened.ask(question("findings", LARGE)))
        await asyncio.sleep(0.05)
        first.cancel()
        try:
            return await second
        finally:
            await opened.close()

    assert len(json.loads(asyncio.run(run()).text)["findings"]) == 3


async def _pid(opened: OfflineClient) -> int:
    while not opened.process_ids:
        await asyncio.sleep(0.01)
    return opened.process_ids[0]


def _runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_closing_in_the_middle_of_an_analysis_leaves_no_process() -> None:
    async def run() -> int:
        opened = client()
        asked = asyncio.create_task(opened.ask(question("findings", LARGE)))
        pid = await _pid(opened)
        await opened.close()
        await asyncio.gather(asked, return_exceptions=True)
        return pid

    assert not _runs(asyncio.run(run()))


def test_a_process_that_dies_is_a_passing_fault_and_the_next_question_is_answered() -> None:
    async def run() -> Reply:
        opened = client()
        asked = asyncio.create_task(opened.ask(question("findings", LARGE)))
        os.kill(await _pid(opened), signal.SIGKILL)
        try:
            with pytest.raises(TransientError, match="died"):
                await asked
            return await opened.ask(question("findings", LARGE))
        finally:
            await opened.close()

    assert asyncio.run(run()).whole


def test_the_processes_stand_outside_the_terminals_reach_of_an_interrupt() -> None:
    async def run() -> bool:
        opened = client()
        await opened.ask(question("findings", LARGE))
        apart = os.getpgid(opened.process_ids[0]) != os.getpgid(0)
        await opened.close()
        return apart

    assert asyncio.run(run())


PARENT = """
import asyncio
from planloom.clients import Endpoint
from planloom_offline import TIGHT_RULES
from planloom_offline._workers import Workers

async def main():
    workers = Workers(TIGHT_RULES, timeout_s=60)
    await workers.run("report", "x" * 50_000)
    print(*workers.process_ids, flush=True)
    await workers.run("findings", "### a.py\\n" + "    1| x = 1\\n" * 20_000)
    await asyncio.sleep(60)

asyncio.run(main())
"""


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGKILL], ids=["interrupted", "killed"])
def test_a_parent_that_is_ended_leaves_no_process_behind(end: signal.Signals) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", PARENT], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True
    ) as parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        os.killpg(parent.pid, end)
    deadline = time.monotonic() + 10
    while _runs(pid) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not _runs(pid)


def test_an_analysis_that_takes_too_long_is_stopped() -> None:
    async def run() -> None:
        opened = client(endpoint=Endpoint(name="offline", client="offline", timeouts={"total": 0.01}))
        try:
            await opened.ask(question("findings", LARGE))
        finally:
            await opened.close()

    with pytest.raises(TransientError, match="longer than"):
        asyncio.run(run())


def broken(file: ParsedFile) -> list[Hit]:
    raise KeyError(file.path)


def test_a_rule_that_fails_refuses_the_question_and_names_itself() -> None:
    rule = Rule(name="broken", lens="logic", title="t", severity="low", check=broken)
    with pytest.raises(PermanentError, match="offline rule broken failed"):
        asyncio.run(client([rule]).ask(question("findings", SMALL)))
