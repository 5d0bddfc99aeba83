"""What servers and what stands before them do to HTTP itself, byte for byte, and what each client makes of it.

Answers that are odd as JSON or as events are in the contract of clients; here is what comes before: status lines,
headers, lengths, chunks, packing, and connections that are used again.
"""

from __future__ import annotations

import asyncio
import gzip
import zlib
from collections.abc import Callable

import attrs
import pytest

from planloom.clients import Endpoint, FatalError, ModelClient, ModelError, PermanentError, QuotaError, TransientError
from planloom.questions import Question, message_of
from planloom.testing.loopback import LoopbackServer, Served, completion, event_stream, message, message_stream
from planloom_anthropic import open_client as open_messages
from planloom_openai import open_client as open_chat

QUESTION = Question(
    endpoint="test", model="m-1", messages=(message_of("user", "is it so?"),), parameters={"max_tokens": 50}
)


@attrs.frozen
class Way:
    """A client, whether it asks for a stream, and a good answer in its dialect."""

    name: str
    stream: bool
    good: Callable[[str], Served]

    def open(self, url: str, **timeouts: float) -> ModelClient:
        # Half a minute by default: a busy machine is no fault of what is tested.
        patient = dict.fromkeys(("connect", "first_byte", "between_bytes", "total"), 30.0)
        endpoint = Endpoint(
            name="test",
            client=self.name,
            url=url,
            settings={"stream": self.stream},
            timeouts={**patient, **timeouts},
        )
        return open_chat(endpoint) if self.name == "openai" else open_messages(endpoint)

    def body(self, text: str = "yes") -> bytes:
        return self.good(text).body

    def response(self, body: bytes | None = None, *headers: str, first: str = "HTTP/1.1 200 OK") -> bytes:
        """Return an answer whose head has no more than these headers, and the length where none is given."""
        content = self.body() if body is None else body
        said = any(header.lower().startswith(("content-length", "transfer-encoding")) for header in headers)
        lines = [first, *headers, *([] if said else [f"content-length: {len(content)}"])]
        return "\r\n".join(lines).encode("utf-8") + b"\r\n\r\n" + content

    def ask_once(self, *answers: Served, **timeouts: float) -> str:
        """Return the text that the first of the questions brings."""
        return self.ask(*answers, times=1, **timeouts)[0]

    def ask(self, *answers: Served, times: int, **timeouts: float) -> list[str]:
        async def run() -> list[str]:
            async with LoopbackServer(answers) as server:
                client = self.open(server.url, **timeouts)
                try:
                    texts = []
                    for _ in range(times):
                        texts.append((await client.ask(QUESTION)).text)
                        await asyncio.sleep(0.05 if any(x.unasked for x in answers) else 0)
                    return texts
                finally:
                    await client.close()

        return asyncio.run(run())


WAYS = [
    Way("openai", stream=False, good=completion),
    Way("openai", stream=True, good=lambda text: event_stream([text])),
    Way("anthropic", stream=False, good=message),
    Way("anthropic", stream=True, good=lambda text: message_stream([text])),
]
pytestmark = pytest.mark.parametrize(
    "way", WAYS, ids=[f"{way.name}{', streamed' if way.stream else ''}" for way in WAYS]
)

EVENTS = "content-type: text/event-stream"


def wire(make: Callable[[Way], bytes], *, hang_up: bool = False) -> Callable[[Way], Served]:
    return lambda way: Served(wire=make(way), hang_up=hang_up)


def chunks(way: Way, extension: bytes = b"", end: bytes = b"0\r\n\r\n") -> bytes:
    body = way.body()
    return b"%x%b\r\n%b\r\n" % (len(body), extension, body) + end


CHUNKED = "transfer-encoding: chunked"

# --- odd, and an answer all the same

ANSWERS: dict[str, Callable[[Way], Served]] = {
    "HTTP/1.0, its end the end of the connection": wire(lambda w: b"HTTP/1.0 200 OK\r\n\r\n" + w.body(), hang_up=True),
    "HTTP/1.0 with a length": wire(lambda w: w.response(first="HTTP/1.0 200 OK"), hang_up=True),
    "no length, its end the end of the connection": wire(lambda w: b"HTTP/1.1 200 OK\r\n\r\n" + w.body(), hang_up=True),
    "the connection closes, as was said": wire(lambda w: w.response(None, "connection: close"), hang_up=True),
    "go on, before the answer": wire(lambda w: b"HTTP/1.1 100 Continue\r\n\r\n" + w.response()),
    "early hints, before the answer": wire(lambda w: b"HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n" + w.response()),
    "another success than 200": wire(lambda w: w.response(first="HTTP/1.1 201 Created")),
    "no words behind the status": wire(lambda w: w.response(first="HTTP/1.1 200")),
    "lines that end without a carriage return": wire(lambda w: w.response().replace(b"\r\n", b"\n")),
    "a header over two lines": wire(lambda w: w.response(None, "x-note: a", "  b")),
    "a header that is not ASCII": wire(lambda w: w.response(None, "x-note: é")),
    "a byte order mark": wire(lambda w: w.response(b"\xef\xbb\xbf" + w.body())),
    "an empty line behind it": wire(lambda w: w.response() + b"\r\n"),
    "chunks with extensions and a header behind them": wire(
        lambda w: w.response(chunks(w, b";a=b", b"0\r\nx-sum: 1\r\n\r\n"), CHUNKED)
    ),
    "packed as nothing": wire(lambda w: w.response(None, "content-encoding: identity")),
    "packed twice": wire(lambda w: w.response(gzip.compress(gzip.compress(w.body())), "content-encoding: gzip, gzip")),
    "packed without its frame": wire(lambda w: w.response(zlib.compress(w.body())[2:-4], "content-encoding: deflate")),
    "packed as nobody knows, and not packed": wire(lambda w: w.response(None, "content-encoding: none-such")),
    "a charset that is said": wire(lambda w: w.response(None, "content-type: application/json; charset=utf-8")),
}


@pytest.mark.parametrize("served", ANSWERS.values(), ids=ANSWERS.keys())
def test_an_answer_in_odd_http_is_had_and_the_next_one_too(way: Way, served: Callable[[Way], Served]) -> None:
    assert way.ask(served(way), way.good("yes"), times=2) == ["yes", "yes"]


# --- no answer


@attrs.frozen
class Fault:
    """What a client makes of it."""

    served: Callable[[Way], Served]
    kind: type[ModelError]
    error_class: str
    said: str
    billed: bool


def broken(served: Callable[[Way], Served], said: str = "is no answer in HTTP") -> Fault:
    return Fault(served, TransientError, "malformed", said, billed=True)


def unfinished(served: Callable[[Way], Served]) -> Fault:
    return Fault(served, TransientError, "transport", "broke before the answer was whole", billed=True)


def status(number: int, kind: type[ModelError], error_class: str, said: str, *, billed: bool = False) -> Fault:
    return Fault(
        wire(lambda w: w.response(b"", first=f"HTTP/1.1 {number} Odd")), kind, error_class, said, billed=billed
    )


ADDRESS = "check the url of endpoint `test`"
NO_ANSWERS = {
    "no HTTP at all": broken(wire(lambda w: b"220 mail.example ESMTP\r\n", hang_up=True)),
    "a body without a head": broken(wire(lambda w: b"{}" + w.body(), hang_up=True)),
    "the start of HTTP/2": broken(wire(lambda w: bytes([0, 0, 18, 4, 0, 0, 0, 0, 0, 0, 3]), hang_up=True)),
    "the start of a TLS alert": broken(wire(lambda w: b"\x15\x03\x01\x00\x02\x02\x16", hang_up=True)),
    "HTTP/3 in a status line": broken(wire(lambda w: w.response(first="HTTP/3.0 200 OK"))),
    "a status that is no number": broken(wire(lambda w: w.response(first="HTTP/1.1 abc OK"))),
    "a header without a colon": broken(wire(lambda w: w.response(None, "content-type application/json"))),
    "a NUL in a header": broken(wire(lambda w: w.response(None, "x-note: a\0b"))),
    "a header of 100,000 characters": broken(wire(lambda w: w.response(None, "x-note: " + "a" * 100_000))),
    "10,000 headers": broken(wire(lambda w: w.response(None, *(f"x-{n}: a" for n in range(10_000))))),
    "two lengths": broken(wire(lambda w: w.response(None, "content-length: 3", "content-length: 4"))),
    "a length below nothing": broken(wire(lambda w: w.response(None, "content-length: -3"))),
    "a length that is no number": broken(wire(lambda w: w.response(None, "content-length: much"))),
    "a length beyond all numbers": broken(wire(lambda w: w.response(None, "content-length: " + "9" * 30))),
    "a length and chunks": broken(wire(lambda w: w.response(chunks(w), CHUNKED, "content-length: 5"))),
    "a chunk whose size is no number": broken(wire(lambda w: w.response(b"zz\r\nab\r\n", CHUNKED))),
    "a chunk of a size below nothing": broken(wire(lambda w: w.response(b"-5\r\nab\r\n", CHUNKED))),
    "a chunk of a size beyond all numbers": broken(wire(lambda w: w.response(b"f" * 20 + b"\r\nab\r\n", CHUNKED))),
    "packed in a way that is not packed": broken(
        wire(lambda w: w.response(b"no gzip", "content-encoding: gzip")), "cannot be unpacked"
    ),
    "packed, and cut": broken(
        wire(lambda w: w.response(gzip.compress(w.body())[:20], "content-encoding: gzip")), "check the url"
    ),
    "a charset that is not UTF-8": broken(
        wire(lambda w: w.response(w.body("é").replace(b"\\u00e9", b"\xe9"), "content-type: x/y; charset=latin-1")),
        "answered 200 with something that is no",
    ),
    "empty lines": unfinished(wire(lambda w: b"\r\n\r\n", hang_up=True)),
    "half a head": unfinished(wire(lambda w: b"HTTP/1.1 200 OK\r\ncontent-", hang_up=True)),
    "half a chunk": unfinished(wire(lambda w: w.response(chunks(w)[:40], CHUNKED), hang_up=True)),
    "chunks without the last": unfinished(
        wire(lambda w: w.response(b"%x\r\n%b\r\n" % (40, w.body()[:40]), CHUNKED), hang_up=True)
    ),
    "204": status(204, TransientError, "malformed", "(nothing)", billed=True),
    "205": status(205, TransientError, "malformed", "(nothing)", billed=True),
    "101": status(101, FatalError, "bad_request", ADDRESS),
    "300 without a place": status(300, FatalError, "bad_request", ADDRESS),
    "304": status(304, FatalError, "bad_request", ADDRESS),
    "402": status(402, QuotaError, "quota", "raise the account's limit"),
    "404": status(404, PermanentError, "bad_request", ADDRESS),
    "405": status(405, PermanentError, "bad_request", ADDRESS),
    "407": status(407, FatalError, "bad_request", "put them into proxy of endpoint `test`"),
    "408": status(408, TransientError, "timeout", "try again later"),
    "409": status(409, TransientError, "server", "try again later"),
    "410": status(410, PermanentError, "bad_request", ADDRESS),
    "411": status(411, PermanentError, "bad_request", "against what the server takes"),
    "413": status(413, PermanentError, "context_too_long", "send less at once"),
    "415": status(415, PermanentError, "bad_request", "against what the server takes"),
    "421": status(421, PermanentError, "bad_request", ADDRESS),
    "425": status(425, TransientError, "server", "try again later"),
    "426": status(426, PermanentError, "bad_request", ADDRESS),
    "429": status(429, TransientError, "rate_limited", "try again later"),
    "451": status(451, PermanentError, "bad_request", "against what the server takes"),
    "500": status(500, TransientError, "server", "try again later"),
    "502": status(502, TransientError, "server", "try again later", billed=True),
    "504": status(504, TransientError, "server", "try again later", billed=True),
    "524": status(524, TransientError, "server", "try again later", billed=True),
    "529": status(529, TransientError, "overloaded", "try again later"),
    "999": status(999, TransientError, "server", "try again later"),
}


@pytest.mark.parametrize("fault", NO_ANSWERS.values(), ids=NO_ANSWERS.keys())
def test_what_is_no_answer_is_a_named_fault_on_one_line_and_the_client_goes_on(way: Way, fault: Fault) -> None:
    async def run() -> tuple[ModelError, str]:
        async with LoopbackServer([fault.served(way), way.good("yes")]) as server:
            client = way.open(server.url)
            try:
                with pytest.raises(ModelError) as caught:
                    await client.ask(QUESTION)
                return caught.value, (await client.ask(QUESTION)).text
            finally:
                await client.close()

    caught, text = asyncio.run(run())
    assert (type(caught), caught.error_class, caught.maybe_billed) == (fault.kind, fault.error_class, fault.billed)
    assert fault.said in str(caught)
    assert "\n" not in str(caught)
    assert len(str(caught)) < 600
    assert text == "yes"


def test_headers_without_end_are_not_read_for_ever(way: Way) -> None:
    head = b"HTTP/1.1 200 OK\r\n" + b"x-note: a\r\n" * 200_000
    with pytest.raises(TransientError) as caught:
        way.ask_once(Served(wire=head))
    assert caught.value.error_class == "malformed"


@pytest.mark.parametrize("head", [b"", b"HTTP/1.1 200 OK\r\n", b"HTTP/1.1 100 Continue\r\n\r\n"])
def test_a_head_that_never_ends_is_given_up_after_the_time_for_the_first_byte(way: Way, head: bytes) -> None:
    with pytest.raises(TransientError) as caught:
        way.ask_once(Served(wire=head), first_byte=0.1)
    assert caught.value.error_class == "timeout"
    assert "`first_byte`" in str(caught.value)


# --- connections that are used again


@pytest.mark.parametrize("unasked", ["another answer", "no HTTP", "a timeout of the idle connection"])
def test_what_a_server_says_unasked_is_never_the_answer_to_the_next_question(way: Way, unasked: str) -> None:
    said = {
        "another answer": way.response(way.body("no")),
        "no HTTP": b"junk\r\n\r\n",
        "a timeout of the idle connection": way.response(b"", first="HTTP/1.1 408 Request Timeout"),
    }
    answers = [attrs.evolve(way.good("one"), unasked=said[unasked]), way.good("two"), way.good("three")]
    assert way.ask(*answers, times=3) == ["one", "two", "three"]


def test_two_answers_to_one_question_are_one(way: Way) -> None:
    both = way.response(way.body("one")) + way.response(way.body("no"))
    assert way.ask(Served(wire=both), way.good("two"), times=2) == ["one", "two"]


def test_a_server_that_takes_few_questions_a_connection_answers_all(way: Way) -> None:
    answers = [attrs.evolve(way.good(str(n)), hang_up=n % 3 == 2) for n in range(9)]

    async def run() -> tuple[list[str], int]:
        async with LoopbackServer(answers) as server:
            client = way.open(server.url)
            texts = []
            try:
                for n in range(9):
                    texts.append((await client.ask(QUESTION)).text)
                    while n % 3 == 2 and server.open_connections:
                        await asyncio.sleep(0.001)
                    await asyncio.sleep(0.005)
            finally:
                await client.close()
            return texts, server.connections

    assert asyncio.run(run()) == ([str(n) for n in range(9)], 3)
