"""What every client of a model server makes of connections and streams: used again, begun, ended, cancelled; over real
sockets."""

from __future__ import annotations

import asyncio
import time

import attrs
import pytest

from planloom.clients import ModelError, TransientError
from planloom.plugins import load_plugins
from planloom.testing.loopback import (
    LoopbackServer,
    Script,
    Served,
    dropped,
    html,
    json_answer,
    serving,
)

from .ways import IDS, WAYS, Way, ask, length_said, question

pytestmark = pytest.mark.parametrize("way", WAYS, ids=IDS)


def test_a_connection_serves_one_answer_after_the_other(way: Way) -> None:
    async def run() -> int:
        async with LoopbackServer(way.answer().in_chunks()) as server:
            client = way.open(server.url)
            for _ in range(3):
                await client.ask(question())
            await client.close()
            return server.connections

    assert asyncio.run(run()) == 1


def test_a_server_that_hangs_up_behind_each_answer_loses_none(way: Way) -> None:
    async def run() -> list[str]:
        async with LoopbackServer(way.answer().hanging_up()) as server:
            client = way.open(server.url)
            texts = []
            for _ in range(3):
                texts.append((await client.ask(question())).text)
                while any(not c._transport.is_closing() for c in server._open):
                    await asyncio.sleep(0.001)
                await asyncio.sleep(0.01)
            await client.close()
            return texts

    assert asyncio.run(run()) == ["yes"] * 3


@pytest.mark.parametrize("what", ["another answer", "its end"])
def test_what_came_over_a_connection_while_the_loop_was_busy_is_no_answer_to_the_next_question(
    way: Way, what: str
) -> None:
    body = way.answer("no").body
    other = b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n%b" % (len(body), body)
    first = way.answer("one").hanging_up() if what == "its end" else attrs.evolve(way.answer("one"), unasked=other)

    async def run(url: str) -> list[str]:
        client = way.open(url)
        texts = [(await client.ask(question())).text]
        time.sleep(0.2)  # nothing is read meanwhile
        texts.append((await client.ask(question())).text)
        await client.close()
        return texts

    with serving([first, way.answer("two")]) as server:
        assert asyncio.run(run(server.url)) == ["one", "two"]


def test_a_length_that_was_a_lie_does_not_spoil_the_next_answer(way: Way) -> None:
    async def run() -> str:
        async with LoopbackServer([attrs.evolve(length_said(way, -10), hang_up=False), way.answer()]) as server:
            client = way.open(server.url)
            with pytest.raises(TransientError):
                await client.ask(question())
            text = (await client.ask(question())).text
            await client.close()
            return text

    assert asyncio.run(run()) == "yes"


def beginnings(way: Way, script: Script, **timeouts: float) -> int:
    began: list[None] = []

    async def run(url: str) -> None:
        client = way.open(url, **timeouts)
        try:
            await client.ask(question(), began=lambda: began.append(None))
        except ModelError:
            pass
        finally:
            await client.close()

    with serving(script) as server:
        asyncio.run(run(server.url))
    return len(began)


def test_that_an_answer_begins_is_said_once(way: Way) -> None:
    assert beginnings(way, way.answer().trickled(5, 0.0)) == 1


@pytest.mark.parametrize("served", [dropped(), json_answer({}, 500), html("x", 503)])
def test_what_is_no_answer_does_not_begin(way: Way, served: Served) -> None:
    assert beginnings(way, served) == 0


def test_comments_that_keep_a_stream_open_are_no_beginning(way: Way) -> None:
    waiting = Served(body=b": still queued\n\n" * 3 + b"data", headers={"content-type": "text/event-stream"})
    assert beginnings(way, waiting.in_chunks().stuck(47), between_bytes=0.1) == 0


def test_a_stream_that_said_its_end_is_whole_whatever_its_connection_does(way: Way) -> None:
    streamed = Way(way.client, stream=True).answer()
    began = time.perf_counter()
    assert ask(way, streamed.in_chunks().stuck(len(streamed.body))).text == "yes"
    assert ask(way, streamed.in_chunks().cut(len(streamed.body))).text == "yes"
    assert time.perf_counter() - began < 5


def test_a_call_that_is_cancelled_leaves_the_client_usable(way: Way) -> None:
    async def run() -> tuple[str, int]:
        async with LoopbackServer([way.answer().stuck(20), way.answer()]) as server:
            client = way.open(server.url)
            call = asyncio.create_task(client.ask(question()))
            while server.total == 0:
                await asyncio.sleep(0.001)
            call.cancel()
            with pytest.raises(asyncio.CancelledError):
                await call
            text = (await client.ask(question())).text
            await client.close()
            return text, server.abandoned

    assert asyncio.run(run()) == ("yes", 1)


def test_the_client_is_installed_under_its_name(way: Way) -> None:
    assert way.client in load_plugins().names("client")
