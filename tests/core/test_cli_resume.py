"""Runs that go on with what is missing, as a person has them go on; real processes and a real server."""

from __future__ import annotations

import json
import os
import signal
from collections import Counter
from typing import Any

import pytest

from planloom.stores import Store
from planloom.testing.loopback import Received, echo, json_answer

from .asking import MANY, MORE_THAN_FORESEEN, MakeFolder, refused, slow_echo

# --- holes and stops


def test_a_resume_asks_the_two_workers_that_failed_and_none_of_the_hundred_that_did_not(
    folder_with: MakeFolder,
) -> None:
    refuse = {"question 3", "question 56"}
    folder = folder_with(lambda r: refused() if r.question in refuse else echo(r), MANY.format(count=102))
    code, _, remarks = folder.run("run", "job.plan")
    assert code == 3
    run = folder.newest().id
    assert f"`planloom resume {run}`" in remarks
    refuse.clear()
    before = Counter(folder.server.asked)
    code, output, remarks = folder.run("resume", run)
    assert (code, json.loads(output)[3]) == (0, "ok: question 3")
    assert folder.asked_more_than(before) == {"question 3": 1, "question 56": 1}
    assert "2 asked, 100 from the ledger | 20.4 credits paid (20.0 before, 0.4 now)" in " ".join(remarks.split())
    assert folder.newest().id == run
    assert folder.newest().facts["counts"] == {"agents": 102, "holes": 0, "asked": 2, "reused": 100}


def test_a_run_that_may_have_fewer_workers_than_it_had_drops_those_beyond_also_where_they_are_known(
    folder_with: MakeFolder,
) -> None:
    refuse = {"question 3"}
    folder = folder_with(lambda r: refused() if r.question in refuse else echo(r), MANY.format(count=10))
    assert folder.run("run", "job.plan")[0] == 3
    refuse.clear()
    before = Counter(folder.server.asked)
    code, output, _ = folder.run("resume", folder.newest().id, "--workers", "6")
    assert (code, json.loads(output)) == (3, [*(f"ok: question {number}" for number in range(6)), *[None] * 4])
    assert folder.asked_more_than(before) == {"question 3": 1}


def test_a_run_that_stopped_at_its_cap_twice_asks_each_question_once(folder_with: MakeFolder) -> None:
    folder = folder_with(echo, MORE_THAN_FORESEEN)
    assert folder.run("run", "job.plan", "--cap", "2")[0] == 5
    run = folder.newest().id
    assert folder.run("resume", run)[0] == 5
    code, _, remarks = folder.run("resume", run, "--cap", "4")
    assert code == 5
    assert "10 questions asked so far, 10 answers known, 2.0 credits paid" in " ".join(remarks.split())
    code, _, remarks = folder.run("resume", run, "--cap", "10")
    assert code == 0
    assert "10 asked, 20 from the ledger | 6.0 credits paid (4.0 before, 2.0 now)" in " ".join(remarks.split())
    assert (len(folder.server.asked), max(folder.server.asked.values())) == (30, 1)


@pytest.mark.slow
def test_a_cancelled_run_goes_on_with_what_is_missing(folder_with: MakeFolder) -> None:
    folder = folder_with(lambda r: echo(r).after(0.1), MANY.format(count=59))
    process = folder.start("run", "job.plan")
    folder.wait_for(process, 30)
    os.kill(process.pid, signal.SIGINT)
    _, remarks = process.communicate(timeout=30)
    run = folder.newest().id
    assert f"`planloom resume {run}`" in remarks
    asked = folder.server.total
    assert folder.run("resume", run)[0] == 0
    assert (folder.server.total, max(folder.server.asked.values())) == (59, 1)
    counts = folder.newest().facts["counts"]
    assert (counts["reused"], counts["asked"]) == (asked, 59 - asked)


@pytest.mark.slow
def test_a_run_that_goes_on_keeps_its_id_its_threads_and_the_numbers_of_its_events(folder_with: MakeFolder) -> None:
    refuse = {"question 1"}
    folder = folder_with(lambda r: refused() if r.question in refuse else echo(r), MANY.format(count=4))
    folder.run("run", "job.plan")
    run = folder.newest().id
    before = folder.store(lambda store: {t.place: t.id for t in store.threads(run)})
    refuse.clear()
    folder.run("resume", run)
    assert folder.store(lambda store: {t.place: t.id for t in store.threads(run)}) == before
    events = folder.store(lambda store: store.events(run))
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    assert [event.t for event in events] == sorted(event.t for event in events)
    kinds = [event.type for event in events]
    assert (kinds.count("run.created"), kinds.count("run.resumed"), kinds.count("run.ended")) == (1, 1, 2)
    resumed = next(event for event in events if event.type == "run.resumed")
    assert resumed.data == {"reused": 3, "asked": 3}


@pytest.mark.slow
def test_a_killed_run_goes_on_under_its_id(folder_with: MakeFolder) -> None:
    folder = folder_with(slow_echo, MANY.format(count=60))
    process = folder.start("run", "job.plan")
    folder.wait_for(process, 30)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    run = folder.newest().id
    assert " | interrupted | " in folder.run("show", run)[1]
    answered = folder.store(lambda store: _answered(store, run))
    before = Counter(folder.server.asked)
    code, _, remarks = folder.run("resume", run)
    assert code == 0, remarks
    assert "of unknown outcome keep" in " ".join(remarks.split())
    assert not answered & set(folder.asked_more_than(before))
    assert [row.id for row in folder.store(lambda store: store.runs())] == [run]


def _told(store: Store) -> tuple[Counter[str], set[str]]:
    """Return how often the end of each thread is told, and the threads whose row says that they ended."""
    (run,) = (row.id for row in store.runs())
    events = store.events(run)
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    told = Counter(str(event.data["thread"]) for event in events if event.type == "run.agent_ended")
    return told, {thread.id for thread in store.threads(run, status="done")}


@pytest.mark.slow
def test_a_run_that_is_killed_again_and_again_while_it_goes_on_tells_of_each_worker_whose_end_is_stored_once(
    folder_with: MakeFolder,
) -> None:
    folder = folder_with(slow_echo, MANY.format(count=80))
    run, ended = "", set[str]()
    for command, requests in ((["run", "job.plan"], 20), (["resume"], 45), (["resume"], 65)):
        process = folder.start(*command, *([run] if run else []))
        folder.wait_for(process, requests)
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        run = folder.newest().id
        told, now_ended = folder.store(_told)
        assert ended <= now_ended <= told.keys()
        ended = now_ended
    sure = {thread for thread in ended if told[thread] == 1}
    code, _, remarks = folder.run("resume", run)
    assert code == 0, remarks
    told, now_ended = folder.store(_told)
    assert len(sure) > 20
    assert {thread for thread in sure if told[thread] > 1} == set()
    assert now_ended == told.keys()
    assert len(now_ended) == 80
    assert folder.newest().facts["counts"]["agents"] == 80


def _answered(store: Store, run: str) -> set[str]:
    asked = [(store.question(f), store.reply(f)) for t in store.threads(run) for f in t.fingerprints]
    return {question.messages[-1].text for question, reply in asked if question is not None and reply is not None}


@pytest.mark.slow
def test_what_calls_of_unknown_outcome_keep_charged_is_released_when_a_person_says_so(folder_with: MakeFolder) -> None:
    hang = {f"question {n}" for n in range(8, 16)}
    folder = folder_with(lambda r: echo(r).hanging() if r.question in hang else echo(r), MANY.format(count=16))
    process = folder.start("run", "job.plan")
    folder.wait_for(process, 16)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    hang.clear()
    run = folder.newest().id
    code, _, remarks = folder.run("resume", run, "--release-uncertain")
    assert code == 0, remarks
    assert "released 8 calls of unknown outcome: 1.6 credits are free again" in " ".join(remarks.split())
    assert folder.store(lambda store: store.books(store.runs(1)[0].budget).uncertain) == 0


@pytest.mark.slow
def test_what_calls_of_unknown_outcome_keep_charged_is_released_also_once_the_run_is_whole(
    folder_with: MakeFolder,
) -> None:
    hang = {"question 2"}
    folder = folder_with(lambda r: echo(r).hanging() if r.question in hang else echo(r), MANY.format(count=3))
    process = folder.start("run", "job.plan")
    folder.wait_for(process, 3)
    folder.wait_until(lambda: folder.store(lambda store: store.money(store.runs(1)[0].id)["spent"]) == 400_000)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    hang.clear()
    run = folder.newest().id
    says = f"credits charged, since the provider may have billed it; `planloom resume {run} --release-uncertain` frees"
    assert f"1 call of unknown outcome keeps 0.2 {says} it" in " ".join(folder.run("show", run)[1].split())
    code, _, remarks = folder.run("resume", run)
    assert (code, "1 call of unknown outcome keeps 0.2 credits charged" in " ".join(remarks.split())) == (0, True)
    code, output, remarks = folder.run("resume", run, "--release-uncertain")
    assert (code, "nothing is missing" in output) == (0, True)
    assert "released 1 call of unknown outcome: 0.2 credits are free again" in " ".join(remarks.split())
    assert folder.store(lambda store: store.books(store.runs(1)[0].budget).uncertain) == 0


@pytest.mark.slow
def test_a_refused_run_names_what_runs_it_after_all(folder_with: MakeFolder) -> None:
    folder = folder_with(echo, MANY.format(count=3))
    assert folder.run("run", "job.plan", "--cap", "0.3")[0] == 6
    run = folder.newest().id
    code, _, remarks = folder.run("resume", run, "--cap", "5")
    assert (code, f"`planloom resume {run} --as-new-run`" in " ".join(remarks.split())) == (6, True)
    code, _, remarks = folder.run("replay", run)
    assert (code, f"`planloom show {run}` says why" in " ".join(remarks.split())) == (2, True)
    assert folder.server.total == 0
    assert folder.run("resume", run, "--as-new-run", "--cap", "5", "--yes")[0] == 0
    assert folder.server.total == 3


@pytest.mark.slow
def test_a_whole_run_says_that_nothing_is_missing_and_names_replay(folder_with: MakeFolder) -> None:
    folder = folder_with(echo, MANY.format(count=3))
    folder.run("run", "job.plan")
    run = folder.newest().id
    code, output, _ = folder.run("resume", run)
    assert (code, folder.server.total) == (0, 3)
    assert f"nothing is missing; `planloom replay {run}`" in output


@pytest.mark.slow
def test_a_run_that_is_held_asks_for_approval_again_and_keeps_its_id(folder_with: MakeFolder) -> None:
    folder = folder_with(echo, MANY.format(count=400))
    code, _, remarks = folder.run("run", "job.plan")
    run = folder.newest().id
    assert (code, folder.newest().status) == (4, "held")
    assert f"`planloom resume {run}`" in " ".join(remarks.split())
    assert folder.run("resume", run)[0] == 4
    assert folder.run("resume", run, "--yes")[0] == 0
    assert [(row.id, row.status) for row in folder.store(lambda store: store.runs())] == [(run, "completed")]


@pytest.mark.slow
def test_a_run_that_was_held_and_then_cancelled_asks_for_approval_too(folder_with: MakeFolder) -> None:
    folder = folder_with(echo, MANY.format(count=400))
    assert folder.run("run", "job.plan")[0] == 4
    run = folder.newest().id
    assert folder.run("cancel", run)[0] == 0
    assert folder.run("resume", run)[0] == 4
    assert (folder.newest().status, folder.server.total) == ("held", 0)
    folder.run("cancel", run)
    assert folder.run("resume", run, "--yes")[0] == 0


@pytest.mark.slow
def test_a_cap_that_was_raised_while_a_run_was_held_holds_for_it_and_for_a_new_run_of_its_job(
    folder_with: MakeFolder,
) -> None:
    folder = folder_with(echo, MANY.format(count=400))
    folder.run("run", "job.plan")
    run = folder.newest().id
    assert "600.0 of 600.0 credits are free" in folder.run("raise", run, "--cap", "600")[1]
    assert folder.run("resume", run, "--cap", "300")[0] == 4
    assert folder.run("resume", run, "--yes")[0] == 0
    assert folder.store(lambda store: store.books(store.runs(1)[0].budget).cap) == 300_000_000
    assert folder.run("resume", run, "--as-new-run", "--yes")[0] == 0
    assert folder.newest().facts["cap"] == 300_000_000


@pytest.mark.slow
def test_a_runaway_goes_on_when_it_may_have_more_workers(folder_with: MakeFolder) -> None:
    folder = folder_with(echo, MORE_THAN_FORESEEN)
    folder.configure(**{"in_flight = 8": "in_flight = 8\nworkers = 5"})
    code, _, remarks = folder.run("run", "job.plan")
    run = folder.newest().id
    assert (code, f"`planloom resume {run} --workers N` goes on" in remarks) == (9, True)
    code, _, remarks = folder.run("resume", run)
    assert (code, "twice the 5 workers" in remarks) == (2, True)
    assert folder.run("resume", run, "--workers", "40")[0] == 0
    assert (len(folder.server.asked), max(folder.server.asked.values())) == (30, 1)


@pytest.mark.slow
def test_a_runaway_goes_on_where_the_configuration_allows_more_workers_by_now(folder_with: MakeFolder) -> None:
    folder = folder_with(echo, MORE_THAN_FORESEEN)
    folder.configure(**{"in_flight = 8": "in_flight = 8\nworkers = 5"})
    assert folder.run("run", "job.plan")[0] == 9
    run = folder.newest().id
    assert folder.run("resume", run)[0] == 2
    folder.configure(**{"in_flight = 8": "in_flight = 8\nworkers = 40"})
    assert folder.run("resume", run)[0] == 0
    assert (len(folder.server.asked), max(folder.server.asked.values())) == (30, 1)


def test_a_model_that_the_server_does_not_know_may_be_mended_before_the_run_is_resumed(
    folder_with: MakeFolder,
) -> None:
    def knows_only_m_2(request: Received) -> Any:
        unknown = json_answer({"error": {"message": "no model m-1", "code": "model_not_found"}}, status=404)
        return echo(request) if request.json["model"] == "m-2" else unknown

    folder = folder_with(knows_only_m_2, MANY.format(count=3))
    code, _, remarks = folder.run("run", "job.plan")
    assert code == 2, remarks
    folder.configure(**{'"m-1"': '"m-2"'})
    run = folder.newest().id
    code, _, remarks = folder.run("resume", run)
    assert code == 0, remarks
    assert folder.newest().facts["roles"]["worker"]["model"] == "m-2"
    assert folder.run("replay", run)[0] == 0


# --- asked again on purpose


def test_a_refresh_that_was_killed_is_resumed_without_asking_its_own_answers_again(folder_with: MakeFolder) -> None:
    folder = folder_with(slow_echo, MANY.format(count=60))
    assert folder.run("run", "job.plan", "--yes")[0] == 0
    process = folder.start("run", "job.plan", "--refresh", "--yes")
    folder.wait_for(process, 90)
    process.kill()
    process.communicate()
    run = folder.newest().id
    code, _, remarks = folder.run("resume", run)
    assert code == 0, remarks
    # Nobody knows how the calls in flight ended, so that they are made again.
    assert 120 <= folder.server.total <= 128
    assert max(folder.server.asked.values()) <= 3
    assert folder.run("replay", run)[0] == 0


# --- two at once


def test_of_two_processes_that_resume_a_run_one_is_told_who_has_it(folder_with: MakeFolder) -> None:
    fail = {f"question {n}" for n in range(20)}
    folder = folder_with(lambda r: refused() if r.question in fail else echo(r).after(0.3), MANY.format(count=22))
    folder.run("run", "job.plan")
    run = folder.newest().id
    fail.clear()
    before = Counter(folder.server.asked)
    both = [folder.start("resume", run) for _ in range(2)]
    ended = [(process.communicate(timeout=60)[1], process.returncode) for process in both]
    assert sorted(code for _, code in ended) == [0, 2]
    (told,) = [remarks for remarks, code in ended if code == 2]
    assert f"the run {run} is driven by process" in told
    assert sum(folder.asked_more_than(before).values()) == 20
