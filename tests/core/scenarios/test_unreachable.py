"""Servers that cannot be reached: no name, no connection, no encryption, proxies. Nothing was sent, nothing is charged,
and what is said names the reason and the setting."""

from __future__ import annotations

import asyncio
import socket
import ssl
import struct
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs
import pytest

from planloom import ConfigurationError
from planloom.clients import Endpoint, FatalError, ModelError, TransientError
from planloom.questions import Question, message_of
from planloom.testing.loopback import Served, completion, dropped, html, serving
from planloom_openai import open_client

if TYPE_CHECKING:
    from .conftest import Shell

QUESTION = Question(endpoint="test", model="m-1", messages=(message_of("user", "is it so?"),), parameters={})
PROXY_NAMES = (
    "http_proxy",
    "https_proxy",
    "all_proxy",
    "no_proxy",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
)


@pytest.fixture(autouse=True)
def _no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in PROXY_NAMES:
        monkeypatch.delenv(name, raising=False)


def fault_at(url: str, connect_s: float = 20.0, **settings: Any) -> ModelError:
    async def run() -> None:
        timeouts = {**dict.fromkeys(("first_byte", "between_bytes", "total"), 20.0), "connect": connect_s}
        client = open_client(Endpoint(name="test", client="openai", url=url, settings=settings, timeouts=timeouts))
        try:
            await client.ask(QUESTION)
        finally:
            await client.close()

    with pytest.raises(ModelError) as caught:
        asyncio.run(run())
    assert "\n" not in str(caught.value)
    assert "ssl:" not in str(caught.value)
    assert "[None]" not in str(caught.value)
    return caught.value


def unsent(fault: ModelError, *said: str, kind: type[ModelError] = TransientError) -> None:
    assert (type(fault), fault.error_class, fault.maybe_billed) == (kind, "transport", False)
    for text in said:
        assert text in str(fault)


@pytest.mark.parametrize("host", ["no-such-host.invalid", "münchen.invalid"])
def test_a_name_that_nobody_has_is_said(host: str) -> None:
    unsent(fault_at(f"http://{host}/v1"), f"cannot connect to {host}", "that the url of endpoint `test` is right")


@pytest.mark.parametrize("host", ["a..b", "a" * 64 + ".com", ".invalid"])
def test_a_name_that_cannot_be_one_is_a_fault_of_the_configuration(host: str) -> None:
    with pytest.raises(ConfigurationError, match="endpoint `test` needs an http or https url"):
        open_client(Endpoint(name="test", client="openai", url=f"http://{host}/v1"))


@pytest.mark.parametrize("address", ["127.0.0.1", "[::1]", "localhost"])
@pytest.mark.parametrize("scheme", ["http", "https"])
def test_a_port_where_nobody_listens_is_said(address: str, scheme: str) -> None:
    unsent(fault_at(f"{scheme}://{address}:1/v1"), f"cannot connect to {address}:1", "connection refused")


Handler = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


def fault_of_server(handler: Handler, scheme: str, context: ssl.SSLContext | None = None) -> ModelError:
    """Return what a question meets at a server that handles a connection so."""

    async def run() -> ModelError:
        server = await asyncio.start_server(handler, "127.0.0.1", 0, ssl=context)
        async with server:
            url = f"{scheme}://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
            return await asyncio.to_thread(fault_at, url)

    return asyncio.run(run())


async def plain_refusal(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.read(10)
    writer.write(b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n")
    writer.close()


async def hang_up(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.read(10)
    writer.close()


async def reset(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    connection: socket.socket = writer.get_extra_info("socket")
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


def test_a_plain_server_that_is_asked_over_tls_is_said() -> None:
    unsent(fault_of_server(plain_refusal, "https"), "no encryption could be agreed on", "speaks TLS")


def test_a_server_that_hangs_up_on_a_greeting_is_said() -> None:
    unsent(fault_of_server(hang_up, "https"), "it hung up before the connection was made", "speaks TLS")


def test_a_reset_is_named() -> None:
    fault = fault_of_server(reset, "http")
    assert fault.error_class == "transport"  # before or after the question was sent: the network decides
    assert "[Errno None]" not in str(fault)


def test_a_certificate_that_nobody_trusts_is_said_with_where_to_name_its_root(tls: ssl.SSLContext) -> None:
    unsent(fault_of_server(hang_up, "https", tls), "its certificate is not trusted: self-signed", "SSL_CERT_FILE")


@pytest.fixture
def tls() -> ssl.SSLContext:
    """A server's side of TLS, with a certificate that it signed itself."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(Path(__file__).parent / "self_signed.pem")
    return context


@pytest.mark.parametrize("content", [None, b"", b"no certificate\n"], ids=["gone", "empty", "something else"])
def test_roots_that_cannot_be_read_end_the_run_and_charge_nothing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, content: bytes | None
) -> None:
    roots = tmp_path / "roots.pem"
    if content is not None:
        roots.write_bytes(content)
    monkeypatch.setenv("SSL_CERT_FILE", str(roots))
    monkeypatch.delenv("SSL_CERT_DIR", raising=False)
    unsent(fault_at("https://127.0.0.1:1/v1"), "cannot be read", "correct SSL_CERT_FILE", kind=FatalError)


# --- proxies


@attrs.frozen
class Refused:
    """What a proxy says to the request for a tunnel."""

    served: Served
    said: str
    kind: type[ModelError] = TransientError


REFUSALS = {
    "wants a name": Refused(Served(status=407), "it answered 407", FatalError),
    "forbids": Refused(html("Blocked", 403), "it answered 403"),
    "cannot reach it": Refused(Served(status=502), "it answered 502"),
    "no tunnel behind it": Refused(
        Served(wire=b"HTTP/1.1 200 OK\r\n\r\nhello", hang_up=True), "cannot connect to server.invalid"
    ),
    "hangs up": Refused(dropped(), "it hung up before it answered"),
    "is no proxy": Refused(Served(wire=b"SSH-2.0-a\r\n\r\n", hang_up=True), "what it answered is no HTTP"),
}


@pytest.mark.parametrize("refused", REFUSALS.values(), ids=REFUSALS.keys())
def test_a_proxy_that_gives_no_tunnel_is_named_without_its_password(
    monkeypatch: pytest.MonkeyPatch, refused: Refused
) -> None:
    with serving(refused.served) as proxy:
        monkeypatch.setenv("HTTPS_PROXY", f"http://me:secret-word@127.0.0.1:{proxy.port}")
        fault = fault_at("https://server.invalid/v1")
    unsent(fault, refused.said, kind=refused.kind)
    asked = proxy.received[0]
    assert (asked.method, asked.target) == ("CONNECT", "server.invalid:443")
    assert asked.headers["proxy-authorization"] == "Basic bWU6c2VjcmV0LXdvcmQ="
    assert "secret-word" not in str(fault)
    if "answered" in refused.said:
        assert f"through the proxy 127.0.0.1:{proxy.port}" in str(fault)
        assert "proxy of endpoint `test`" in str(fault)


def test_a_proxy_that_never_answers_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(completion("late").hanging()) as proxy:
        monkeypatch.setenv("HTTPS_PROXY", f"http://me:secret-word@127.0.0.1:{proxy.port}")
        fault = fault_at("https://server.invalid/v1", connect_s=0.3)
    unsent(fault, f"through the proxy 127.0.0.1:{proxy.port}: no connection within 0.3 s", 'to "off" for none')


def test_a_proxy_that_is_not_there_is_named_without_its_password(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALL_PROXY", "http://me:secret-word@127.0.0.1:1")
    fault = fault_at("https://server.invalid/v1")
    unsent(fault, "through the proxy 127.0.0.1:1: connection refused", 'to "off" for none')
    assert "secret-word" not in str(fault)


def test_a_plain_question_is_not_shown_to_the_proxy_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")

    async def run(url: str) -> str:
        client = open_client(Endpoint(name="test", client="openai", url=url))
        try:
            return (await client.ask(QUESTION)).text
        finally:
            await client.close()

    with serving(completion("yes")) as server:
        assert asyncio.run(run(server.url)) == "yes"


def test_a_proxy_of_a_plain_question_is_given_its_name_and_password() -> None:
    async def run(proxy: str) -> str:
        client = open_client(
            Endpoint(name="test", client="openai", url="http://gpu.invalid/v1", settings={"proxy": proxy})
        )
        try:
            return (await client.ask(QUESTION)).text
        finally:
            await client.close()

    with serving(completion("yes")) as proxy:
        assert asyncio.run(run(f"http://m%65:secret%2Dword@127.0.0.1:{proxy.port}")) == "yes"
    assert proxy.received[0].headers["proxy-authorization"] == "Basic bWU6c2VjcmV0LXdvcmQ="


@pytest.mark.parametrize(
    "proxy", ["garbage", "socks5://me:secret-word@a:1", "http://", "http://a..b:1", "http://a:99999"]
)
def test_a_proxy_that_can_be_none_is_a_fault_of_the_configuration(proxy: str) -> None:
    with pytest.raises(ConfigurationError, match="is not an http or https one") as caught:
        open_client(Endpoint(name="test", client="openai", url="https://a.invalid/v1", settings={"proxy": proxy}))
    assert "secret-word" not in str(caught.value)


# --- as a person meets it


def test_a_run_without_a_server_says_why_and_charges_nothing(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", "/nowhere/roots.pem")
    shell.configure(**{shell.server.url: "https://127.0.0.1:1/v1"})
    ended = shell.here("run", "job.plan")
    assert ended.code == 2
    assert "correct SSL_CERT_FILE" in ended.remarks
    assert "unknown outcome" not in ended.remarks
    monkeypatch.delenv("SSL_CERT_FILE")
    shell.configure()
    assert shell.here("resume", shell.newest().id).code == 0
