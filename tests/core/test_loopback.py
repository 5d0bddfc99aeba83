"""The loopback server says what its script says, over a real socket."""

from __future__ import annotations

import contextlib
import http.client
import json
import socket
import threading
import time
from urllib.parse import urlsplit

import pytest

from planloom.testing.loopback import (
    LoopbackServer,
    Received,
    Served,
    completion,
    dropped,
    html,
    json_answer,
    serving,
)


def ask(server: LoopbackServer, text: str = "hello", timeout_s: float = 5.0) -> tuple[int, bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=timeout_s)
    try:
        body = json.dumps({"messages": [{"role": "user", "content": text}]})
        connection.request("POST", "/v1/chat/completions", body)
        response = connection.getresponse()
        return response.status, response.read()
    finally:
        connection.close()


def text_of(body: bytes) -> str:
    return str(json.loads(body)["choices"][0]["message"]["content"])


def test_without_a_script_the_server_repeats_the_question() -> None:
    with serving() as server:
        assert text_of(ask(server, "who?")[1]) == "ok: who?"


def test_a_list_is_answered_in_turn_and_its_last_answer_again_and_again() -> None:
    with serving([json_answer({}, 500), completion("b")]) as server:
        assert [ask(server)[0] for _ in range(4)] == [500, 200, 200, 200]


def test_a_function_answers_by_the_request() -> None:
    with serving(lambda request: completion(request.question.upper())) as server:
        assert text_of(ask(server, "loud")[1]) == "LOUD"


def test_questions_are_counted_by_their_last_message() -> None:
    with serving() as server:
        for text in ("a", "b", "a"):
            ask(server, text)
        assert (server.total, dict(server.asked)) == (3, {"a": 2, "b": 1})


def test_a_connection_is_kept_for_the_next_request() -> None:
    with serving() as server:
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=5)
        for _ in range(3):
            connection.request("POST", "/", b"{}")
            connection.getresponse().read()
        connection.close()
        assert (server.total, server.connections) == (3, 1)


def test_the_most_requests_in_flight_are_known() -> None:
    with serving(completion().after(0.2)) as server:
        threads = [threading.Thread(target=ask, args=(server, str(i))) for i in range(5)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        until = time.monotonic() + 10
        while server.in_flight and time.monotonic() < until:  # a client may have its answer before the server counts
            time.sleep(0.01)
        assert (server.max_in_flight, server.in_flight) == (5, 0)


def test_a_cut_answer_ends_before_its_announced_length() -> None:
    with serving(completion("a long answer").cut(10)) as server, pytest.raises(http.client.IncompleteRead) as caught:
        ask(server)
    assert len(caught.value.partial) == 10


def test_a_dropped_request_gets_not_one_byte() -> None:
    with serving(dropped()) as server, pytest.raises((http.client.RemoteDisconnected, ConnectionResetError)):
        ask(server)


def test_a_hanging_answer_never_begins_and_its_client_counts_as_gone() -> None:
    with serving(completion().hanging()) as server, pytest.raises(TimeoutError):
        ask(server, timeout_s=0.1)
    assert (server.abandoned, server.in_flight) == (1, 0)


def test_a_trickled_answer_arrives_whole() -> None:
    with serving(completion("drip").trickled(50, 0.001)) as server:
        assert text_of(ask(server)[1]) == "drip"


def test_padding_follows_the_body_and_counts_in_its_length() -> None:
    with serving(completion("x").padded(300_000)) as server:
        body = ask(server)[1]
    assert len(body) > 300_000
    assert text_of(body) == "x"


def test_a_page_is_served_as_html_with_any_status() -> None:
    with serving(html("Bad gateway", 502)) as server:
        status, body = ask(server)
    assert status == 502
    assert body.startswith(b"<html>")


def test_a_request_that_arrives_in_two_pieces_is_answered() -> None:
    with serving() as server, socket.create_connection(("127.0.0.1", server.port), timeout=5) as client:
        client.sendall(b"POST / HTTP/1.1\r\ncontent-le")
        client.sendall(b"ngth: 2\r\n\r\n{")
        client.sendall(b"}")
        assert client.recv(100).startswith(b"HTTP/1.1 200 OK")


def test_what_the_script_raises_is_raised_when_the_server_closes() -> None:
    def script(_request: Received) -> Served:
        raise LookupError("no such answer")

    def ask_once() -> None:
        with serving(script) as server, contextlib.suppress(http.client.RemoteDisconnected, ConnectionError):
            ask(server)

    with pytest.raises(LookupError, match="no such answer"):
        ask_once()


def test_the_url_is_the_base_address_of_an_endpoint() -> None:
    with serving() as server:
        assert urlsplit(server.url)[:3] == ("http", f"127.0.0.1:{server.port}", "/v1")
