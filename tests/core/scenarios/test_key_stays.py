"""The key of an endpoint shows nowhere, whatever a server does with what it was sent: on no stream, in no file."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from planloom.testing.loopback import Received, Served, completion, event_stream, json_answer, tool_call

if TYPE_CHECKING:
    from .conftest import Shell

KEY = "sk-Loopback-0123456789"
BEARER = f"Bearer {KEY}"
STREAM = {"content-type": "text/event-stream"}


def says(status: int, text: str = f"no {BEARER}", **headers: str) -> Served:
    return json_answer({"error": {"message": text, "code": text}}, status, headers)


def event(**fields: object) -> Served:
    return Served(body=f"data: {json.dumps(fields)}\n\n".encode(), headers=STREAM)


ECHOES: dict[str, Served] = {
    "in a text": completion(f"you sent {BEARER}"),
    "in a text, piece by piece": event_stream(["you sent sk-Loop", "back-01234", "56789"]),
    "as the model": completion("yes", model=KEY),
    "as the reason": completion("yes", finish_reason=KEY),
    "as a refusal": completion(None, refusal=f"not for {KEY}"),
    "in a call of a tool": completion(None, tool_calls=[tool_call("x", json.dumps({"key": KEY}))]),
    "in headers": Served(body=completion("yes").body, headers={"x-key": KEY, "set-cookie": f"k={KEY}"}),
    "400": says(400),
    "400 in plain text": Served(status=400, body=f"no {BEARER}".encode()),
    "400 behind 4,000 blanks": Served(status=400, body=b" " * 3_990 + KEY.encode()),
    "400 in a list": json_answer({"detail": [{"loc": ["header", KEY], "msg": f"no {KEY}"}]}, 400),
    "400 in an event": Served(status=400, body=f'data: {{"error": "{KEY}"}}\n\n'.encode(), headers=STREAM),
    "401": says(401),
    "402": says(402),
    "404 with names of models": json_answer({"error": {"message": f"model `{KEY}` not found", "models": [KEY]}}, 404),
    "429 with a time": says(429, **{"retry-after": KEY}),
    "503": says(503),
    "a page": Served(body=f"<html>{KEY}</html>".encode()),
    "an error with 200": json_answer({"error": {"message": KEY}}),
    "an error in a stream": event(error={"message": KEY}),
    "a redirect": Served(status=307, headers={"location": f"/{KEY}/x"}),
    "no HTTP": Served(wire=f"{KEY}\r\n\r\n".encode(), hang_up=True),
    "a status line": Served(wire=f"HTTP/1.1 9x9 {KEY}\r\n\r\n".encode(), hang_up=True),
    "a header": Served(wire=f"HTTP/1.1 200 OK\r\nx-a: \0{KEY}\r\n\r\n".encode(), hang_up=True),
    "packed as it": Served(body=b"x", headers={"content-encoding": f"br, {KEY}"}),
}


@pytest.mark.command  # between two attempts it waits in real time
@pytest.mark.parametrize("served", ECHOES.values(), ids=ECHOES.keys())
def test_a_server_that_sends_the_key_back_makes_nobody_show_it(
    shell_with: Callable[..., Shell],
    served: Served,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setenv("LOOPBACK_KEY", KEY)
    caplog.set_level(logging.DEBUG)
    shell = shell_with([served, completion("yes")])
    keyed = {'client = "openai"': 'client = "openai"\nkey_env = "LOOPBACK_KEY"'}
    shell.configure(**keyed, **{"[limits]": '[limits]\nat_quota = "stop"'})
    said = [shell.here("run", "job.plan")]
    received: Received = shell.server.received[0]
    assert received.headers["authorization"] == BEARER
    run = shell.newest().id
    said += [shell.here(*command) for command in (("show", run), ("export", run), ("store", "export"))]
    assert all(KEY not in ended.output + ended.remarks for ended in said)
    assert KEY not in caplog.text
    files = [path for path in shell.path.rglob("*") if path.is_file()]
    assert any(path.name == "events.jsonl" for path in files)
    assert [path for path in files if KEY.encode() in path.read_bytes()] == []
