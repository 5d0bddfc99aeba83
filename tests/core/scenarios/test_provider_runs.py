"""What becomes of a run at providers' servers: outcome, requests, money and attempts; and what its tokens cost."""

from __future__ import annotations

import gzip
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import attrs
import pytest

from planloom.money import Price, micro_of
from planloom.plugins import Registry, load_plugins
from planloom.testing.clocks import run_fast
from planloom.testing.looms import loom_at, run_plan
from planloom.testing.loopback import (
    LoopbackServer,
    Script,
    Served,
    completion,
    dropped,
    event_stream,
    html,
    json_answer,
)

PLAN = 'result = agent("is it so?")\n'
CALL = 200_000  # the price of one, in micro-credits
GOOD = completion("yes")
LOST = {"code": 502, "message": "Upstream error"}


@pytest.fixture(scope="module")
def registry() -> Registry:
    return load_plugins()


@attrs.frozen(kw_only=True)
class Played:
    """What a run left; each attempt as its class, whether another follows, and its status."""

    exit_code: int
    result: Any
    requests: int
    money: Mapping[str, int]
    attempts: list[tuple[str, bool, int | None]]
    said: str


def play(registry: Registry, store: Path, script: Script, speed: float = 200.0, **settings: Any) -> Played:
    async def run() -> Played:
        async with LoopbackServer(script) as server, loom_at(server.url, store, registry=registry, **settings) as loom:
            outcome = await run_plan(loom, PLAN)
            told = [event.data for event in loom.store.events(outcome.run_id, 0) if event.type == "run.attempt"]
            threads = loom.store.threads(outcome.run_id)
            assert [fields["attempt"] for fields in told] == list(range(1, len(told) + 1))
            return Played(
                exit_code=outcome.exit_code,
                result=outcome.result,
                requests=server.total,
                money=loom.store.money(outcome.run_id),
                attempts=[(each["class"], each["next_wait"] is not None, each["http_status"]) for each in told],
                said=" ".join(filter(None, (outcome.error, *(thread.error for thread in threads)))),
            )

    return run_fast(run(), speed=speed)


def error(status: int, text: str = "no such luck", **more: str) -> Served:
    return json_answer({"error": {"message": text, **more}}, status)


def behind_the_reason(how: str) -> Served:
    served = event_stream(["yes"], done=False, usage=None).in_chunks()
    return getattr(served, how)(len(served.body))  # type: ignore[no-any-return]  # cut or stuck


@attrs.frozen
class Right:
    """What should become of it: attempts that brought nothing, calls that are paid, and charged as uncertain."""

    script: Script
    attempts: list[tuple[str, bool, int | None]]
    paid: int = 1
    billed: int = 0
    exit_code: int = 0
    said: str = ""


RUNS = {
    "silent behind its reason": Right(behind_the_reason("stuck"), []),
    "cut behind its reason": Right(behind_the_reason("cut"), []),
    "packed in members": Right(
        Served(
            body=gzip.compress(GOOD.body[:40]) + gzip.compress(GOOD.body[40:]), headers={"content-encoding": "gzip"}
        ),
        [],
    ),
    "an error in the choice, once": Right(
        [json_answer({"choices": [{"finish_reason": "error", "message": {"content": ""}, "error": LOST}]}), GOOD],
        [("server", True, 502)],
        billed=1,
    ),
    "a connection that was closed while it was idle, once": Right(
        [dropped(), GOOD], [("transport", True, None)], billed=1
    ),
    "a day's limit": Right([error(429, "Rate limit reached on tokens per day (TPD)"), GOOD], [("quota", True, 429)]),
    "used up, in an event": Right(
        [Served(status=429, body=b'data: {"error": "insufficient_quota"}\n\n'), GOOD], [("quota", True, 429)]
    ),
    "used up, under 200": Right(
        [json_answer({"base_resp": {"status_code": 1008, "status_msg": "insufficient balance"}}), GOOD],
        [("quota", True, 200)],
    ),
    "throttled, with 400": Right(
        [error(400, "slow down", code="ThrottlingException"), GOOD], [("rate_limited", True, 400)]
    ),
    "loading": Right([error(503, "Loading model")] * 3 + [GOOD], [("overloaded", True, 503)] * 3),
    "no JSON could be made of it": Right(
        error(400, "Failed to generate JSON.", code="json_validate_failed"),
        [("malformed", True, 400), ("malformed", False, 400)],
        paid=0,
        billed=2,
        exit_code=3,
        said="write another json_mode",
    ),
    "packed as nobody asked": Right(
        Served(body=b"\x0b\x02\x80", headers={"content-encoding": "br"}),
        [("malformed", True, None), ("malformed", False, None)],
        paid=0,
        billed=2,
        exit_code=3,
        said="it is packed as br",
    ),
    "a refusal": Right(completion(None, refusal="no"), [], exit_code=3, said="finish reason `content_filter`"),
    "a filter that leaves a reason": Right(
        json_answer({"choices": [{"message": None, "finish_reason": "content_filter: SAFETY"}]}),
        [],
        exit_code=3,
        said="empty: the reply holds no text (finish reason content_filter)",
    ),
    "a wall": Right(
        html("Just a moment...", 403), [("auth", False, 403)], paid=0, exit_code=2, said="a page and not a model server"
    ),
    "a key that is refused with 400": Right(
        error(400, "API key not valid."), [("auth", False, 400)], paid=0, exit_code=2, said="key"
    ),
    "a key that is refused once": Right([error(401), GOOD], [("auth", False, 401)], paid=0, exit_code=2, said="key"),
    "a model that is gone": Right(
        error(404, "models/m-1 is not found for API version v1"),
        [("unknown_model", False, 404)],
        paid=0,
        exit_code=2,
        said="set a model that endpoint `main` has",
    ),
    "an echo of the question in a refusal": Right(
        json_answer({"detail": [{"loc": ["body", "seed"], "msg": "too low", "input": "insufficient_quota"}]}, 422),
        [("bad_request", False, 422)],
        paid=0,
        exit_code=3,
        said="body.seed: too low",
    ),
}


@pytest.mark.parametrize("right", RUNS.values(), ids=RUNS.keys())
def test_a_run_at_an_odd_provider_has_one_outcome_and_tells_each_attempt(
    registry: Registry, tmp_path: Path, right: Right
) -> None:
    played = play(registry, tmp_path / "store.db", right.script)
    assert (played.exit_code, played.attempts) == (right.exit_code, right.attempts)
    assert played.requests == len(right.attempts) + right.paid <= 4
    assert (played.money["spent"], played.money["uncertain"]) == (CALL * right.paid, CALL * right.billed)
    assert played.money["reserved"] == 0
    assert played.result == ("yes" if right.exit_code == 0 else None)
    assert right.said in played.said
    assert "\n" not in played.said


# --- by tokens: 1 credit a question's token, 4 an answer's, half for what is cached

BY_TOKENS = Price(input=micro_of(1_000_000), cached_input=micro_of(500_000), output=micro_of(4_000_000))
PROMPT = 2  # what "is it so?" is estimated at
ANSWER = 1  # and "yes"


@pytest.mark.parametrize(
    ("usage", "credits_paid"),
    [
        ({"prompt_tokens": 20, "completion_tokens": 5}, 40),
        ({"prompt_tokens": "20", "completion_tokens": 5.0}, 40),
        ({"prompt_tokens": 20, "completion_tokens": 5, "total_tokens": 125}, 440),
        (
            {"prompt_tokens": 20, "completion_tokens": 5, "completion_tokens_details": {"reasoning_tokens": 100}},
            440,
        ),
        ({"prompt_tokens": 20, "completion_tokens": 5, "prompt_tokens_details": {"cached_tokens": 10}}, 35),
        ({"prompt_tokens": 20, "completion_tokens": 5, "prompt_tokens_details": {"cached_tokens": 10**6}}, 40),
        ({"prompt_tokens": 20, "completion_tokens": 5, "prompt_tokens_details": {"cached_tokens": -10}}, 40),
        ({"prompt_tokens": -20, "completion_tokens": -5}, PROMPT + 4 * ANSWER),
        ({"prompt_tokens": 10**40, "completion_tokens": True}, PROMPT + 4 * ANSWER),
        ({"prompt_tokens": 0, "completion_tokens": 0}, PROMPT + 4 * ANSWER),
        (None, PROMPT + 4 * ANSWER),
    ],
)
def test_an_answer_costs_what_its_tokens_cost_however_they_are_counted(
    registry: Registry, tmp_path: Path, usage: Mapping[str, Any] | None, credits_paid: int
) -> None:
    served = json_answer({**completion("yes", usage=None).json, "usage": usage})
    played = play(registry, tmp_path / "store.db", served, price=BY_TOKENS)
    assert played.money["spent"] == micro_of(credits_paid)
    assert (played.money["uncertain"], played.money["reserved"]) == (0, 0)
