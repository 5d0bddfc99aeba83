"""What every client of a model server makes of servers that give no answer: one table of them, asked in each dialect,
streamed and not, over real sockets."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping

import attrs
import pytest

from planloom.clients import FatalError, ModelError, PermanentError, QuotaError, TransientError
from planloom.testing.loopback import (
    Served,
    dropped,
    html,
    json_answer,
    serving,
)

from .ways import IDS, KEY, WAYS, Way, fault, length_said, packed_blanks, question

pytestmark = pytest.mark.parametrize("way", WAYS, ids=IDS)


@attrs.frozen
class Odd:
    """A server that gives no answer, and what that is."""

    served: Callable[[Way], Served]
    kind: type[ModelError]
    error_class: str
    billed: bool


def _odd(served: Callable[[Way], Served], kind: type[ModelError], error_class: str, billed: bool = False) -> Odd:
    return Odd(served, kind, error_class, billed)


def _refused(status: int, text: str = "no", kind: str = "error") -> Callable[[Way], Served]:
    return lambda way: way.error(kind, text, status)


ODD_SERVERS = {
    "nothing at all": _odd(lambda way: dropped(), TransientError, "transport", True),
    "cut before the body": _odd(lambda way: way.answer().cut(0), TransientError, "transport", True),
    "cut in the body": _odd(lambda way: way.answer().cut(30), TransientError, "transport", True),
    "cut in a chunk": _odd(lambda way: way.answer().in_chunks().cut(30), TransientError, "transport", True),
    "shorter than it said": _odd(lambda way: length_said(way, 10), TransientError, "transport", True),
    # Whether the surplus is seen before the part that was announced has been read is the network's to say.
    "longer than it said": _odd(lambda way: length_said(way, -10), TransientError, "transport or malformed", True),
    "a stream that stops early": _odd(Way.unfinished, TransientError, "malformed", True),
    "a page with 200": _odd(lambda way: html("Sign in"), TransientError, "malformed", True),
    "a page as JSON": _odd(lambda way: html("x", 200, "application/json"), TransientError, "malformed", True),
    "an empty body": _odd(lambda way: Served(), TransientError, "malformed", True),
    "other JSON": _odd(lambda way: json_answer({"ok": True}), TransientError, "malformed", True),
    "no list where one should be": _odd(
        lambda way: json_answer({"type": "message", "content": "x", "choices": "x"}), TransientError, "malformed", True
    ),
    "not UTF-8": _odd(lambda way: Served(body=b'{"content": "\xff"}'), TransientError, "malformed", True),
    "events that are no JSON": _odd(lambda way: Served(body=b"data: {\n\n"), TransientError, "malformed", True),
    "not what it is packed as": _odd(
        lambda way: Served(body=b"x", headers={"content-encoding": "gzip"}), TransientError, "malformed", True
    ),
    "overloaded in the middle": _odd(
        lambda way: way.error_in_stream("overloaded_error", "Overloaded"), TransientError, "overloaded", True
    ),
    "refused in the middle": _odd(
        lambda way: way.error_in_stream("invalid_request_error", "no"), PermanentError, "bad_request"
    ),
    "an error with 200": _odd(_refused(200, "Overloaded", "overloaded_error"), TransientError, "overloaded", True),
    "408": _odd(_refused(408), TransientError, "timeout"),
    "409": _odd(_refused(409), TransientError, "server"),
    "429": _odd(_refused(429, "slow down", "rate_limit_error"), TransientError, "rate_limited"),
    "500": _odd(_refused(500, "Internal server error", "api_error"), TransientError, "server"),
    "502 page": _odd(lambda way: html("Bad gateway", 502), TransientError, "server", True),
    "503": _odd(_refused(503), TransientError, "overloaded"),
    "529": _odd(_refused(529, "Overloaded", "overloaded_error"), TransientError, "overloaded"),
    "400": _odd(_refused(400, "temperature: too high", "invalid_request_error"), PermanentError, "bad_request"),
    "404": _odd(lambda way: html("Not found", 404), PermanentError, "bad_request"),
    "422": _odd(_refused(422), PermanentError, "bad_request"),
    "413": _odd(_refused(413, "too large", "request_too_large"), PermanentError, "context_too_long"),
    "too long a question": _odd(
        _refused(400, "prompt is too long: 210000 tokens > 200000 maximum", "invalid_request_error"),
        PermanentError,
        "context_too_long",
    ),
    "flagged": _odd(_refused(400, "flagged by our usage policy"), PermanentError, "filtered"),
    "401": _odd(_refused(401, "invalid x-api-key", "authentication_error"), FatalError, "auth"),
    "403": _odd(_refused(403, "your key may not", "permission_error"), FatalError, "auth"),
    "an unknown model": _odd(_refused(404, "model: m-1", "not_found_error"), FatalError, "unknown_model"),
    "a redirect": _odd(
        lambda way: Served(status=307, headers={"location": "https://x.test/"}), FatalError, "bad_request"
    ),
    "402": _odd(_refused(402, "pay first", "billing_error"), QuotaError, "quota"),
    "no credit left, with 400": _odd(
        _refused(400, "Your credit balance is too low to access the API.", "invalid_request_error"), QuotaError, "quota"
    ),
    "429 that says quota": _odd(_refused(429, "You exceeded your current quota"), QuotaError, "quota"),
}


@pytest.mark.parametrize("odd", ODD_SERVERS.values(), ids=ODD_SERVERS.keys())
def test_each_odd_server_is_the_fault_it_should_be(way: Way, odd: Odd) -> None:
    caught = fault(way, odd.served(way))
    assert (type(caught), caught.maybe_billed) == (odd.kind, odd.billed)
    assert caught.error_class in odd.error_class.split(" or ")


@pytest.mark.parametrize(
    ("served", "phase"),
    [
        (lambda way: way.answer().hanging(), "first_byte"),
        (lambda way: way.answer().stuck(30), "between_bytes"),
        (lambda way: way.answer().in_chunks().stuck(30), "between_bytes"),
        (lambda way: way.answer("x" * 2_000).trickled(10, 0.05), "total"),
    ],
    ids=["before the body", "in the body", "in a chunk", "without end"],
)
def test_a_server_that_hangs_is_given_up_in_the_phase_it_hangs_in(
    way: Way, served: Callable[[Way], Served], phase: str
) -> None:
    caught = fault(way, served(way), **{"first_byte": 5.0, "between_bytes": 5.0, "total": 8.0, phase: 0.2})
    assert (caught.error_class, caught.maybe_billed) == ("timeout", True)
    assert f"`{phase}`" in str(caught)


def test_a_body_without_end_is_refused_while_it_is_read(way: Way) -> None:
    caught = fault(way, way.answer().padded(1_000_000_000))
    assert (type(caught), caught.error_class, caught.maybe_billed) == (PermanentError, "malformed", True)


def test_a_small_body_that_unpacks_to_a_huge_one_is_refused_while_it_is_unpacked(way: Way) -> None:
    caught = fault(way, Served(body=packed_blanks(200), headers={"content-encoding": "gzip"}))
    assert (type(caught), caught.error_class) == (PermanentError, "malformed")


@pytest.mark.parametrize(
    ("headers", "wait_s"),
    [({"retry-after": "7"}, 7.0), ({"retry-after": "Sun, 29 Nov 2020 12:00:00 GMT"}, 0.0), ({}, None)],
)
def test_the_wait_that_a_refusal_asks_for_is_told(way: Way, headers: Mapping[str, str], wait_s: float | None) -> None:
    assert fault(way, way.error("rate_limit_error", "slow down", 429, headers)).retry_after_s == wait_s


def test_models_that_the_server_names_are_told_when_it_does_not_know_the_one_asked(way: Way) -> None:
    error = {"type": "not_found_error", "message": "model: m-1", "available_models": ["m-2", "m-3"]}
    caught = fault(way, json_answer({"type": "error", "error": error}, 404))
    assert "set a model that endpoint `test` has, it names: m-2, m-3" in str(caught)


@pytest.mark.parametrize(
    ("text", "step"),
    [
        (
            "Unsupported parameter: 'max_tokens' is not supported. Use 'max_completion_tokens' instead.",
            'write rename = { max_tokens = "max_completion_tokens" } under endpoint `test`',
        ),
        (
            "Unsupported value: 'temperature' does not support 0.6 with this model.",
            'write drop = ["temperature", "top_p"] under its role',
        ),
        ("`temperature` is deprecated for this model.", 'write drop = ["temperature", "top_p"] under its role'),
        (
            "`temperature` and `top_p` cannot both be specified for this model.",
            'write drop = ["temperature", "top_p"] under its role',
        ),
        ("body.stream_options: Extra inputs are not permitted", "write stream_usage = false under endpoint `test`"),
        ("Thinking may not be enabled when tool_choice forces tool use.", "write another json_mode under endpoint"),
        ("seed must be positive", "check the model's parameters against what the server takes"),
    ],
)
def test_a_default_that_the_server_refuses_is_told_with_the_setting_that_changes_it(
    way: Way, text: str, step: str
) -> None:
    assert step in str(fault(way, way.error("invalid_request_error", text, 400)))


def test_the_key_is_in_one_header_and_in_no_message(way: Way) -> None:
    with serving(way.error("authentication_error", f"bad key {KEY}", 401)) as server:

        async def run() -> None:
            client = way.open(server.url)
            try:
                await client.ask(question())
            finally:
                await client.close()

        with pytest.raises(FatalError) as caught:
            asyncio.run(run())
    sent = server.received[0]
    assert [name for name, value in sent.headers.items() if KEY in value] == [
        "authorization" if way.client == "openai" else "x-api-key"
    ]
    assert KEY not in str(caught.value)
    assert KEY.encode() not in sent.body
