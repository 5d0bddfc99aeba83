"""Each attempt that brought no answer is told in one event, whatever becomes of its worker and its run."""

from __future__ import annotations

from pathlib import Path

import pytest

from planloom import PlanloomError
from planloom.testing.doors import Doorway, at_the_door
from planloom.testing.loopback import LoopbackServer, Served, completion, html, json_answer


def refused(status: int, message: str = "no", **headers: str) -> Served:
    return json_answer({"error": {"message": message}}, status, headers)


@pytest.mark.parametrize(
    ("served", "error_class", "status"),
    [
        (refused(400), "bad_request", 400),
        (refused(400, "maximum context length is 8192 tokens"), "context_too_long", 400),
        (refused(400, "content policy"), "filtered", 400),
        (html("Not found", 404), "bad_request", 404),
        (refused(401), "auth", 401),
        (refused(404, "the model `m-1` does not exist"), "unknown_model", 404),
        (refused(503, **{"retry-after": "600"}), "overloaded", 503),
        (Served(status=307, headers={"location": "/elsewhere"}), "bad_request", 307),
    ],
)
def test_an_attempt_that_no_other_follows_says_why_and_that_none_does(
    tmp_path: Path, served: Served, error_class: str, status: int
) -> None:
    async def scenario(door: Doorway, server: LoopbackServer) -> None:
        with pytest.raises(PlanloomError):
            await door.ask("q", thread="run/t007")
        told = {"class": error_class, "http_status": status, "waited": 0.0, "next_wait": None}
        assert door.fields("run.attempt") == [{"thread": "run/t007", "attempt": 1, **told}]
        assert server.total == 1

    at_the_door(tmp_path / "store.db", served, scenario)


def test_a_refusal_after_a_fault_is_the_second_attempt(tmp_path: Path) -> None:
    async def scenario(door: Doorway, server: LoopbackServer) -> None:
        with pytest.raises(PlanloomError):
            await door.ask("q")
        attempts = door.fields("run.attempt")
        assert [fields["class"] for fields in attempts] == ["server", "bad_request"]
        assert attempts[1]["waited"] == attempts[0]["next_wait"]
        assert attempts[1]["next_wait"] is None

    at_the_door(tmp_path / "store.db", [refused(500), refused(400)], scenario, speed=100.0)


def test_an_attempt_that_took_all_of_its_worker_s_time_is_told(tmp_path: Path) -> None:
    async def scenario(door: Doorway, server: LoopbackServer) -> None:
        with pytest.raises(PlanloomError, match="the worker had no answer within its 5 s"):
            await door.ask("q", worker_timeout_s=5)
        (attempt,) = door.fields("run.attempt")
        assert (attempt["class"], attempt["http_status"], attempt["next_wait"]) == ("timeout", None, None)

    at_the_door(tmp_path / "store.db", completion().hanging(), scenario, speed=100.0)


def test_an_account_that_is_used_up_has_no_next_attempt_where_the_run_stops_at_it(tmp_path: Path) -> None:
    async def scenario(door: Doorway, server: LoopbackServer) -> None:
        with pytest.raises(PlanloomError):
            await door.ask("q")
        (attempt,) = door.fields("run.attempt")
        assert (attempt["class"], attempt["next_wait"]) == ("quota", None)

    at_the_door(tmp_path / "store.db", refused(402), scenario, at_quota="stop")


def test_an_answer_is_no_such_attempt(tmp_path: Path) -> None:
    async def scenario(door: Doorway, server: LoopbackServer) -> None:
        await door.ask("q")
        assert door.fields("run.attempt") == []

    at_the_door(tmp_path / "store.db", completion(), scenario)
