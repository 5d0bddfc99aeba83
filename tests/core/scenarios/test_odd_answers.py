"""What becomes of a whole run when its server answers oddly: outcome, exit code, requests, money, and what is said.

One worker, real sockets, a real store; the loop's clock runs fast, so that waits between attempts take no time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs
import pytest

from planloom.loom import Outcome
from planloom.plugins import Registry, load_plugins
from planloom.stores import Event, ThreadRow
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
    tool_call,
)

TEXT = 'result = agent("is it so?")\n'
SHAPE = 'result = agent("is it so?", schema={"type": "object", "properties": {"n": {"type": "integer"}}})\n'
CALL = 200_000  # the price of one, in micro-credits
GOOD = completion('{"n": 1}')


@attrs.frozen(kw_only=True)
class Played:
    """What a run left."""

    outcome: Outcome
    requests: int
    money: Mapping[str, int]
    threads: Sequence[ThreadRow]
    events: Sequence[Event]

    @property
    def said(self) -> str:
        """What the person and the record are told."""
        return " ".join(filter(None, (self.outcome.error, *(thread.error for thread in self.threads))))


@pytest.fixture(scope="module")
def registry() -> Registry:
    return load_plugins()


def play(registry: Registry, store: Path, script: Script, plan: str = TEXT, speed: float = 100.0) -> Played:
    async def run() -> Played:
        async with LoopbackServer(script) as server, loom_at(server.url, store, registry=registry) as loom:
            outcome = await run_plan(loom, plan)
            run_id = outcome.run_id
            return Played(
                outcome=outcome,
                requests=server.total,
                money=loom.store.money(run_id),
                threads=tuple(loom.store.threads(run_id)),
                events=tuple(loom.store.events(run_id, 0)),
            )

    return run_fast(run(), speed=speed)


@attrs.frozen
class Outcomes:
    """What should become of it.

    :ivar billed: calls that are charged as uncertain. :ivar paid: calls that are.
    """

    exit_code: int
    requests: int
    paid: int
    billed: int
    said: str = ""
    result: Any = None


def whole(result: Any, requests: int = 1, paid: int = 1, billed: int = 0) -> Outcomes:
    return Outcomes(0, requests, paid, billed, "", result)


def hole(said: str, requests: int, *, paid: int = 0, billed: int = 0) -> Outcomes:
    return Outcomes(3, requests, paid, billed, said)


def ended(exit_code: int, said: str) -> Outcomes:
    """The first answer ends the run, and nothing was paid."""
    return Outcomes(exit_code, 1, 0, 0, said)


def error(status: int, message: str = "no such luck", **headers: str) -> Served:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return json_answer({"error": {"message": message}}, status, named)


def chat(choice: Mapping[str, Any], **more: Any) -> Served:
    return json_answer({"choices": [choice], **more})


TEXTS: dict[str, tuple[Script, Outcomes]] = {
    "an answer": (GOOD, whole('{"n": 1}')),
    "a page": (html("Sign in"), hole("check the url", 2, billed=2)),
    "a page once": ([html("Sign in"), GOOD], whole('{"n": 1}', 2, billed=1)),
    "nothing": (Served(), hole("(nothing)", 2, billed=2)),
    "no content": (Served(status=204), hole("(nothing)", 2, billed=2)),
    "not UTF-8": (Served(body=b'{"choices": "\xff"}'), hole("not JSON", 2, billed=2)),
    "not UTF-8 once": ([Served(body=b"\xff"), GOOD], whole('{"n": 1}', 2, billed=1)),
    "no HTTP": (Served(wire=b"220 mail\r\n", hang_up=True), hole("is no answer in HTTP", 2, billed=2)),
    "a stream that stops early": (event_stream(["y"], finish_reason=None, done=False), hole("stopped", 2, billed=2)),
    "a stream that nobody asked for": (event_stream(["ye", "s"]), whole("yes")),
    "a body without end": (completion("x").padded(1_000_000_000), hole("was not read further", 1, billed=1)),
    "no answer at all": (dropped(), hole("may have been billed", 4, billed=4)),
    "cut in the middle": (GOOD.cut(30), hole("broke before the answer was whole", 4, billed=4)),
    "cut once": ([GOOD.cut(30), GOOD], whole('{"n": 1}', 2, billed=1)),
    "an error with 200": (json_answer({"error": {"message": "Overloaded"}}), hole("with an error", 4, billed=4)),
    "408": (error(408), hole("timeout: ", 4)),
    "409": (error(409), hole("server: ", 4)),
    "425": (error(425), hole("server: ", 4)),
    "429": (error(429), hole("rate_limited: ", 4)),
    "429 that asks for a moment": ([error(429, retry_after="3"), GOOD], whole('{"n": 1}', 2)),
    "429 that asks for a day long gone": (
        [error(429, retry_after="Sun, 29 Nov 2020 12:00:00 GMT"), GOOD],
        whole('{"n": 1}', 2),
    ),
    "429 that asks for nonsense": ([error(429, retry_after="soon"), GOOD], whole('{"n": 1}', 2)),
    "429 that asks for ever": (error(429, retry_after="9" * 30), hole("rate_limited: ", 1)),
    "500": (html("Internal Server Error", 500), hole("server: ", 4)),
    "502 of a gateway": (html("Bad Gateway", 502), hole("may have been billed", 4, billed=4)),
    "529": (error(529, "Overloaded"), hole("overloaded: ", 4)),
    "400": (error(400), hole("bad_request: ", 1)),
    "404": (html("Not found", 404), hole("check the url", 1)),
    "413": (error(413), hole("send less at once", 1)),
    "the context is too long": (error(400, "maximum context length is 8192 tokens"), hole("send less at once", 1)),
    "refused for its content": (error(400, "content policy"), hole("refuses this content", 1)),
    "401": (error(401), ended(2, "set key_env of endpoint `main`")),
    "403": (error(403), ended(2, "set key_env of endpoint `main`")),
    "an unknown model": (
        error(404, "The model `m-1` does not exist"),
        ended(2, "set a model that endpoint `main` has"),
    ),
    "a redirect to itself": (Served(status=307, headers={"location": "/v1/chat/completions"}), ended(2, "redirect")),
    "304": (Served(status=304), ended(2, "neither an answer nor a refusal")),
    "two choices": (json_answer({"choices": [{"message": {"content": t}} for t in ("a", "b")]}), whole("a")),
    "content null": (completion(None), hole("empty: ", 2, paid=2)),
    "content null once": ([completion(None), GOOD], whole('{"n": 1}', 2, 2)),
    "content a number": (chat({"message": {"content": 42}}), hole("empty: ", 2, paid=2)),
    "content in parts": (completion([{"type": "text", "text": "ye"}, {"type": "text", "text": "s"}]), whole("yes")),
    "a tool call": (completion(None, tool_calls=[tool_call("x", '{"n": 1}')]), whole('{"n": 1}')),
    "no finish reason": (chat({"message": {"content": "yes"}}), whole("yes")),
    "an unknown finish reason": (completion("yes", finish_reason="odd"), hole("finish reason `odd`", 1, paid=1)),
    "another word for stop": (completion("yes", finish_reason="eos"), whole("yes")),
    "cut at its limit": (completion("ye", finish_reason="length"), hole("max_tokens", 1, paid=1)),
    "filtered": (completion("", finish_reason="content_filter"), hole("empty: ", 1, paid=1)),
    "no counts": (completion("yes", usage=None), whole("yes")),
    "counts below nothing": (completion("yes", usage={"prompt_tokens": -1, "completion_tokens": -1}), whole("yes")),
    "counts that are texts": (completion("yes", usage={"prompt_tokens": "1"}), whole("yes")),
    "counts beyond all numbers": (completion("yes", usage={"prompt_tokens": 10**40}), whole("yes")),
    "half a pair of surrogates": (completion("a\ud800"), whole("a\ufffd")),
    "a NUL": (completion("a\0b"), whole("a\0b")),
    "one key twice": (
        Served(body=b'{"choices": [{"message": {"content": "a", "content": "b"}}]}'),
        hole("stands twice", 2, billed=2),
    ),
}


@pytest.mark.parametrize(("script", "right"), TEXTS.values(), ids=TEXTS.keys())
def test_a_worker_that_is_answered_oddly_has_one_named_outcome(
    registry: Registry, tmp_path: Path, script: Script, right: Outcomes
) -> None:
    check(play(registry, tmp_path / "store.db", script), right)


def check(played: Played, right: Outcomes) -> None:
    outcome, money = played.outcome, played.money
    assert (outcome.exit_code, played.requests, outcome.result) == (right.exit_code, right.requests, right.result)
    assert (money["spent"], money["uncertain"]) == (CALL * right.paid, CALL * right.billed)
    assert money["reserved"] == 0
    assert right.said in played.said
    assert "\n" not in played.said
    assert "Traceback" not in played.said
    attempts = [event.data["attempt"] for event in played.events if event.type == "run.attempt"]
    assert attempts == list(range(1, right.requests - right.paid + 1))


SHAPES: dict[str, tuple[Script, Outcomes]] = {
    "it fits": (GOOD, whole({"n": 1})),
    "mended": ([completion("one"), GOOD], whole({"n": 1}, 2, 2)),
    "prose for ever": (completion("one"), hole("schema: ", 2, paid=2)),
    "NaN": (completion('{"n": NaN}'), hole("NaN is not a JSON number", 2, paid=2)),
    "a key twice": (completion('{"n": 1, "n": 2}'), hole("stands twice", 2, paid=2)),
    "an integer that no plan can hold": (completion(f'{{"n": {10**30}}}'), hole("too large a number", 2, paid=2)),
    "one that is mended": ([completion(f'{{"n": {10**30}}}'), GOOD], whole({"n": 1}, 2, 2)),
    "nested as no plan can hold it": (
        completion('{"n": 1, "x": ' + "[" * 500 + "]" * 500 + "}"),
        hole("nested too deeply", 2, paid=2),
    ),
    "nested as no program can read it": (
        completion('{"x": ' + "[" * 100_000 + "]" * 100_000 + "}"),
        hole("schema: ", 2, paid=2),
    ),
    "half a pair of surrogates": (completion(r'{"n": 1, "x": "\ud800"}'), whole({"n": 1, "x": "\ufffd"})),
    "two answers": (completion('{"n": 1} or {"n": 2}'), hole("two different JSON values", 2, paid=2)),
    "half of one": (completion('{"n": '), hole("breaks off", 2, paid=2)),
    "cut at its limit": (completion('{"n": ', finish_reason="length"), hole("max_tokens", 1, paid=1)),
    "mended with a page": ([completion("one"), html("Sign in")], hole("check the url", 3, paid=1, billed=2)),
    "refused when it is to be mended": ([completion("one"), error(400)], hole("bad_request", 2, paid=1)),
}


@pytest.mark.parametrize(("script", "right"), SHAPES.values(), ids=SHAPES.keys())
def test_a_worker_with_a_schema_that_is_answered_oddly_has_one_named_outcome(
    registry: Registry, tmp_path: Path, script: Script, right: Outcomes
) -> None:
    check(play(registry, tmp_path / "store.db", script, SHAPE), right)


def test_a_text_with_half_a_pair_can_be_asked_about_again(registry: Registry, tmp_path: Path) -> None:
    plan = SHAPE.replace("result", "first") + 'log(first["x"])\nresult = agent(first["x"], label=first["x"])\n'
    played = play(registry, tmp_path / "store.db", completion(r'{"n": 1, "x": "\udcff"}'), plan)
    assert (played.outcome.exit_code, played.requests) == (0, 2)
    assert played.threads[-1].label == "\ufffd"


def test_a_key_that_is_refused_in_the_middle_ends_the_run_and_keeps_what_came(
    registry: Registry, tmp_path: Path
) -> None:
    plan = 'result = [agent(f"question {n}") for n in range(5)]\n'
    store = tmp_path / "store.db"
    refused = play(registry, store, [GOOD, GOOD, error(401)], plan)
    assert (refused.outcome.status, refused.outcome.exit_code, refused.requests) == ("failed", 2, 3)
    assert refused.money["spent"] == 2 * CALL
    again = play(registry, store, GOOD, plan)
    assert (again.outcome.exit_code, again.requests) == (0, 3)
