"""What goes over the wire to ask a question, byte for byte, and over which connection: straight, through a proxy, or
through a tunnel with TLS."""

from __future__ import annotations

import asyncio
import re
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from planloom.clients import Endpoint, ModelError, TransientError, was_unsent
from planloom.questions import Parameters, Question, message_of
from planloom.testing.loopback import LoopbackServer, Script, completion, json_answer, serving
from planloom_openai import open_client

from .ways import IDS, KEY, WAYS, Way, question

Reader = asyncio.StreamReader
Writer = asyncio.StreamWriter
ROOT = Path(__file__).parent / "server_invalid.pem"
ANSWER = completion("yes").body
WHOLE = b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n%b" % (len(ANSWER), ANSWER)


async def asked(url: str, *questions: Question, proxy: str = "off") -> list[str]:
    """Return the texts of the answers to questions that are asked one after the other."""
    endpoint = Endpoint(
        name="test",
        client="openai",
        url=url,
        key_env="TEST_KEY",
        settings={"proxy": proxy},
        timeouts={"first_byte": 20.0},
    )
    client = open_client(endpoint)
    try:
        return [(await client.ask(each)).text for each in questions]
    finally:
        await client.close()


@asynccontextmanager
async def listening(handler: Callable[[Reader, Writer], Awaitable[None]]) -> AsyncIterator[int]:
    """Handle every connection to a port so, until clients have left; gives the port."""
    tasks: list[asyncio.Task[None] | None] = []

    async def handled(reader: Reader, writer: Writer) -> None:
        tasks.append(asyncio.current_task())
        try:
            await handler(reader, writer)
        finally:
            writer.close()
            await writer.wait_closed()

    server = await asyncio.start_server(handled, "127.0.0.1", 0)
    async with server:
        yield server.sockets[0].getsockname()[1]
        await asyncio.gather(*(task for task in tasks if task))


async def asked_of(handler: Callable[[Reader, Writer], Awaitable[None]], *questions: Question) -> list[str]:
    async with listening(handler) as port:
        return await asked(f"http://127.0.0.1:{port}/v1", *questions)


async def one_request(reader: Reader) -> tuple[bytes, bytes]:
    """Return the head and the body of a request."""
    head = await reader.readuntil(b"\r\n\r\n")
    length = next((line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length: ")), b": 0")
    return head, await reader.readexactly(int(length.split(b": ")[1]))


def test_a_request_says_each_thing_once_and_its_length_last() -> None:
    heads: list[bytes] = []

    async def answered(reader: Reader, writer: Writer) -> None:
        for _ in range(2):
            heads.append((await one_request(reader))[0])
            writer.write(WHOLE)

    assert asyncio.run(asked_of(answered, question(), question())) == ["yes", "yes"]
    first, *lines = heads[0].decode().removesuffix("\r\n\r\n").split("\r\n")
    said = dict(line.lower().split(": ") for line in lines)
    assert first == "POST /v1/chat/completions HTTP/1.1"
    assert len(said) == len(lines)
    assert said.pop("host").startswith("127.0.0.1:")
    assert list(said.items())[-1] == ("content-length", said.pop("content-length"))
    assert said == {
        "accept": "application/json",
        "accept-encoding": "gzip, deflate",
        "authorization": f"Bearer {KEY}".lower(),
        "content-type": "application/json",
        "user-agent": "planloom",
    }
    assert heads[1] == heads[0]


@pytest.mark.parametrize("way", WAYS, ids=IDS)
def test_each_question_goes_with_its_own_model_and_parameters_however_many_kinds_there_are(way: Way) -> None:
    async def run() -> list[tuple[str, int, str]]:
        async with LoopbackServer(way.answer()) as server:
            client = way.open(server.url)
            for number in range(220):
                shared = Parameters({"max_tokens": number})
                for model in ("m-1", "m-2", "m-1"):
                    messages = (message_of("user", f"{model} and {number}"),)
                    await client.ask(Question(endpoint="test", model=model, messages=messages, parameters=shared))
            await client.close()
            return [(sent.json["model"], sent.json["max_tokens"], sent.question) for sent in server.received]

    kinds = [(model, number) for number in range(220) for model in ("m-1", "m-2", "m-1")]
    assert asyncio.run(run()) == [(model, number, f"{model} and {number}") for model, number in kinds[-100:]]


def test_a_host_that_is_not_ascii_is_called_as_names_are_written_on_the_wire() -> None:
    with serving(completion("yes")) as proxy:
        url = "http://münchen.localhost:8000/v1?a=ü"
        assert asyncio.run(asked(url, question(), proxy=f"http://127.0.0.1:{proxy.port}")) == ["yes"]
    sent = proxy.received[0]
    assert sent.target == "http://xn--mnchen-3ya.localhost:8000/v1/chat/completions?a=%C3%BC"
    assert sent.headers["host"] == "xn--mnchen-3ya.localhost:8000"


def test_an_answer_before_the_question_is_sent_whole_counts_and_its_connection_is_not_used_again() -> None:
    long = Question(
        endpoint="test", model="m-1", messages=(message_of("user", "x" * 30_000_000),), parameters={"max_tokens": 50}
    )
    connections: list[None] = []

    async def early(reader: Reader, writer: Writer) -> None:
        connections.append(None)
        await reader.readuntil(b"\r\n\r\n")
        writer.write(WHOLE)
        while await reader.read(2**20):
            pass

    assert asyncio.run(asked_of(early, long, question())) == ["yes", "yes"]
    assert len(connections) == 2


def test_one_tunnel_takes_one_question_after_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(ROOT))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(ROOT)
    told: list[bytes] = []

    async def tunnel(reader: Reader, writer: Writer) -> None:
        told.append((await one_request(reader))[0])
        writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
        await writer.drain()
        await writer.start_tls(context)
        for _ in range(3):
            told.append((await one_request(reader))[0])
            writer.write(WHOLE)

    async def run() -> list[str]:
        async with listening(tunnel) as port:
            proxy = f"http://me:secret-word@127.0.0.1:{port}"
            return await asked("https://server.invalid/v1", *[question()] * 3, proxy=proxy)

    assert asyncio.run(run()) == ["yes"] * 3
    assert [head.split(b" ", 2)[:2] for head in told] == [
        [b"CONNECT", b"server.invalid:443"],
        *[[b"POST", b"/v1/chat/completions"]] * 3,
    ]
    assert [b"proxy-authorization" in head.lower() for head in told] == [True, False, False, False]
    assert [KEY.encode() in head for head in told] == [False, True, True, True]


@pytest.mark.parametrize("script", [json_answer({"error": "no"}, 401), completion("yes").cut(0), completion().cut(9)])
def test_a_fault_holds_neither_what_the_libraries_raised_nor_the_request(script: Script) -> None:
    async def run() -> None:
        async with LoopbackServer(script) as server:
            await asked(server.url, question())

    with pytest.raises(ModelError) as caught:
        asyncio.run(run())
    assert (caught.value.__cause__, caught.value.__context__) == (None, None)


@pytest.mark.parametrize(("scheme", "is_out"), [("https", False), ("http", True)], ids=["connects", "is out"])
def test_a_call_that_is_cancelled_says_whether_nothing_of_it_was_sent(scheme: str, is_out: bool) -> None:
    """Connected to, a server that never agrees on TLS has heard nothing of a question."""
    heard = asyncio.Event()

    async def silent(reader: Reader, writer: Writer) -> None:
        await reader.read(1)
        heard.set()
        await reader.read()

    async def run() -> asyncio.CancelledError:
        async with listening(silent) as port:
            asking = asyncio.ensure_future(marked(asked(f"{scheme}://127.0.0.1:{port}/v1", question())))
            await heard.wait()
            asking.cancel()
            return await asking

    async def marked(asking: Awaitable[object]) -> asyncio.CancelledError:
        with pytest.raises(asyncio.CancelledError) as caught:
            await asking
        return caught.value

    assert was_unsent(asyncio.run(run())) is not is_out


@pytest.mark.parametrize("phase", ["first_byte", "total"])
def test_a_limit_that_ends_before_there_is_a_connection_is_no_call_that_may_be_billed(phase: str) -> None:
    async def silent(reader: Reader, writer: Writer) -> None:
        await reader.read()

    async def run() -> None:
        async with listening(silent) as port:
            endpoint = Endpoint(name="test", client="openai", url=f"https://127.0.0.1:{port}", timeouts={phase: 0.05})
            client = open_client(endpoint)
            try:
                await client.ask(question())
            finally:
                await client.close()

    with pytest.raises(TransientError) as caught:
        asyncio.run(run())
    assert (caught.value.error_class, caught.value.maybe_billed) == ("timeout", False)
    assert re.sub(":[0-9]+:", ":PORT:", str(caught.value)) == (
        "cannot connect to 127.0.0.1:PORT: no connection within 0.05 s; raise the timeout "
        f"`{phase}` of endpoint `test` if it is only slow"
    )


def test_a_server_that_is_not_there_is_no_fault_that_holds_the_request() -> None:
    with pytest.raises(TransientError) as caught:
        asyncio.run(asked("http://127.0.0.1:1/v1", question()))
    assert (caught.value.__cause__, caught.value.__context__) == (None, None)
