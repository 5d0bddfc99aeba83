"""Where questions go, and where the key never goes."""

from __future__ import annotations

import asyncio
import logging
import subprocess
import sys
import traceback
from typing import Any

import attrs
import pytest

from planloom import ConfigurationError
from planloom.clients import ClientPlugin, Endpoint, FatalError, ModelError
from planloom.questions import Question, Reply, message_of
from planloom.testing.loopback import Script, Served, completion, dropped, json_answer, serving
from planloom.wire import Origin, Timeouts, read_origin
from planloom_openai import CLIENT, open_client, register_clients
from planloom_openai._client import INTERFACE

KEY = "sk-secret-0123456789"
QUESTION = Question(endpoint="test", model="m", messages=(message_of("user", "hello"),), parameters={})
PROXY_VARIABLES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY")


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """A key, and no proxy, in the environment."""
    monkeypatch.setenv("TEST_KEY", KEY)
    for name in PROXY_VARIABLES:
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


def endpoint(url: str = "https://api.test/v1", key_env: str = "TEST_KEY", **settings: Any) -> Endpoint:
    return Endpoint(name="test", client="openai", url=url, key_env=key_env, settings=settings)


def origin_of(configured: Endpoint) -> Origin:
    return read_origin(configured, INTERFACE)


def refusal(configured: Endpoint) -> str:
    with pytest.raises(ConfigurationError) as caught:
        open_client(configured)
    return str(caught.value)


async def asked(configured: Endpoint) -> Reply:
    client = open_client(configured)
    try:
        return await client.ask(QUESTION)
    finally:
        await client.close()


# --- the address


@pytest.mark.parametrize(
    ("url", "posted_to"),
    [
        ("https://api.test/v1", "https://api.test/v1/chat/completions"),
        ("https://api.test/v1/", "https://api.test/v1/chat/completions"),
        ("https://api.test", "https://api.test/chat/completions"),
        ("https://api.test/v1/chat/completions", "https://api.test/v1/chat/completions"),
        ("https://api.test/v1?api-version=2", "https://api.test/v1/chat/completions?api-version=2"),
        ("http://[::1]:8000/v1", "http://[::1]:8000/v1/chat/completions"),
    ],
)
def test_questions_are_posted_below_the_configured_address(url: str, posted_to: str) -> None:
    assert origin_of(endpoint(url)).url == posted_to


@pytest.mark.parametrize(
    "url", ["", "api.test/v1", "ftp://api.test", "https://", "https://api.test:x/v1", "http://[::1"]
)
def test_an_address_that_cannot_be_asked_is_refused_with_its_value(url: str) -> None:
    assert f"needs an http or https url, got `{url}`" in refusal(endpoint(url))


def test_a_password_in_the_address_is_refused_and_not_repeated() -> None:
    message = refusal(endpoint("https://me:hunter2@api.test/v1"))
    assert "hunter2" not in message


@pytest.mark.parametrize("name", ["key", "api-key", "Access_Token"])
def test_a_key_in_the_addresss_query_is_refused_and_not_repeated(name: str) -> None:
    message = refusal(endpoint(f"https://api.test/v1?api-version=2&{name}=hunter2"))
    assert f"`{name.lower()}=` behind `?`" in message
    assert "hunter2" not in message


# --- the key


def test_the_key_is_sent_as_a_bearer_token() -> None:
    with serving() as server:
        asyncio.run(asked(endpoint(server.url)))
    assert server.received[0].headers["authorization"] == f"Bearer {KEY}"


def test_without_a_key_variable_no_key_is_sent() -> None:
    with serving() as server:
        asyncio.run(asked(endpoint(server.url, key_env="")))
    assert "authorization" not in server.received[0].headers


def test_blanks_around_the_key_are_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_KEY", f" {KEY}\n")
    assert origin_of(endpoint()).key == KEY


@pytest.mark.parametrize("value", [None, "", "  \n"])
def test_a_missing_key_names_its_variable(monkeypatch: pytest.MonkeyPatch, value: str | None) -> None:
    monkeypatch.delenv("TEST_KEY")
    if value is not None:
        monkeypatch.setenv("TEST_KEY", value)
    assert "the environment variable TEST_KEY, which is not set" in refusal(endpoint())


@pytest.mark.parametrize("value", ["two words", "line\nbreak", "schlüssel"])
def test_a_key_no_header_can_hold_is_refused_and_not_repeated(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("TEST_KEY", value)
    message = refusal(endpoint())
    assert "TEST_KEY" in message
    assert value not in message


@pytest.mark.parametrize("url", ["http://api.test/v1", "http://10.0.0.1/v1", "http://localhost.evil.test/v1"])
def test_a_key_is_not_sent_unencrypted_to_another_machine(url: str) -> None:
    assert "unencrypted" in refusal(endpoint(url))


@pytest.mark.parametrize(
    "url", ["http://localhost:8000", "http://127.0.0.2/v1", "http://[::1]/v1", "http://a.localhost"]
)
def test_a_key_may_go_unencrypted_to_this_machine(url: str) -> None:
    assert origin_of(endpoint(url)).key == KEY


def test_a_key_may_go_unencrypted_where_the_settings_say_so() -> None:
    assert origin_of(endpoint("http://gpu.lan/v1", allow_insecure=True)).key == KEY


def test_without_a_key_any_address_may_be_unencrypted() -> None:
    assert origin_of(endpoint("http://gpu.lan/v1", key_env="")).key == ""


def test_a_setting_that_is_no_truth_value_is_refused() -> None:
    assert "allow_insecure of endpoint `test` must be true or false, got 'yes'" in refusal(
        endpoint(allow_insecure="yes")
    )


@pytest.mark.parametrize(
    "script",
    [
        json_answer({"error": {"message": f"Incorrect API key provided: {KEY}."}}, 401),
        json_answer({"error": {"type": KEY, "x": [KEY]}}, 500),
        Served(body=f"<html>{KEY}</html>".encode(), status=502),
        Served(body=f"{'x' * 190}{KEY}".encode()),
        Served(status=302, headers={"location": f"https://x.test/{KEY}"}),
        dropped(),
        completion().cut(5),
    ],
    ids=["message", "fields", "page", "cut in the key", "redirect", "dropped", "cut"],
)
def test_the_key_is_in_no_error_no_log_and_no_repr(script: Script, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    with serving(script) as server, pytest.raises(ModelError) as caught:
        asyncio.run(asked(endpoint(server.url)))
    shown = "".join(traceback.format_exception(caught.value)) + caplog.text + repr(caught.value)
    chained = [caught.value.__cause__, caught.value.__context__]
    assert KEY[:12] not in shown + repr(chained)
    assert KEY not in repr(origin_of(endpoint()))
    assert KEY not in repr(open_client(endpoint()))


def test_an_answer_that_repeats_the_key_is_kept_without_it() -> None:
    with serving(completion(f"you sent Bearer {KEY}", model=f"echo-{KEY}")) as server:
        reply = asyncio.run(asked(endpoint(server.url)))
    assert (reply.text, reply.model) == ("you sent Bearer [key]", "echo-[key]")


def test_a_short_key_is_a_word_that_answers_may_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_KEY", "none")
    with serving(completion("there are none")) as server:
        assert asyncio.run(asked(endpoint(server.url))).text == "there are none"


# --- proxies


def test_an_http_address_is_not_sent_through_a_proxy_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving() as proxy, serving() as server:
        monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{proxy.port}")
        monkeypatch.setenv("ALL_PROXY", f"http://127.0.0.1:{proxy.port}")
        asyncio.run(asked(endpoint(server.url)))
    assert (proxy.total, server.total) == (0, 1)


def test_an_https_address_is_tunnelled_through_the_proxy_of_the_environment_without_showing_the_key(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with serving(Served(status=403)) as proxy:
        monkeypatch.setenv("HTTPS_PROXY", f"http://127.0.0.1:{proxy.port}")
        with pytest.raises(ModelError) as caught:
            asyncio.run(asked(endpoint("https://api.test/v1")))
    seen = proxy.received[0]
    assert (seen.method, seen.target) == ("CONNECT", "api.test:443")
    assert KEY not in str(seen)
    assert not caught.value.maybe_billed


@pytest.mark.parametrize("no_proxy", ["*", "api.test", ".test", "other.test, test", "api.test:443, x"])
def test_no_proxy_excepts_hosts_and_the_domains_above_them(monkeypatch: pytest.MonkeyPatch, no_proxy: str) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy.test")
    monkeypatch.setenv("NO_PROXY", no_proxy)
    assert origin_of(endpoint("https://api.test:443/v1")).proxy == ""


def test_no_proxy_leaves_hosts_that_only_end_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy.test")
    monkeypatch.setenv("NO_PROXY", "pi.test, ,i.test")
    assert origin_of(endpoint("https://api.test/v1")).proxy == "http://proxy.test"


def test_the_setting_off_connects_without_a_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy.test")
    assert origin_of(endpoint(proxy="off")).proxy == ""


def test_a_proxy_of_the_settings_is_used_for_http_too() -> None:
    with serving() as proxy:
        via = f"http://127.0.0.1:{proxy.port}"
        asyncio.run(asked(endpoint("http://gpu.lan/v1", key_env="", proxy=via)))
    assert proxy.received[0].target == "http://gpu.lan/v1/chat/completions"


def test_a_key_is_not_shown_to_a_proxy_on_another_machine() -> None:
    assert "unencrypted to proxy.lan" in refusal(endpoint("http://localhost/v1", proxy="http://proxy.lan:3128"))


def test_a_kind_of_proxy_that_cannot_be_used_is_refused() -> None:
    assert "`socks5://proxy.test`" in refusal(endpoint(proxy="socks5://proxy.test"))


def test_a_server_that_speaks_no_tls_is_not_told_the_key() -> None:
    with serving() as server, pytest.raises(ModelError, match="cannot connect") as caught:
        asyncio.run(asked(endpoint(server.url.replace("http:", "https:"))))
    assert (server.total, caught.value.maybe_billed) == (0, False)


# --- timeouts and messages


def test_the_timeouts_are_the_configured_ones_over_the_defaults() -> None:
    configured = attrs.evolve(endpoint(), timeouts={"first_byte": 5})
    assert origin_of(configured).timeouts == Timeouts(connect=10, first_byte=5, between_bytes=120, total=600)


@pytest.mark.parametrize("value", [0, -1, float("nan"), float("inf"), True, "5"])
def test_a_timeout_must_be_above_zero(value: Any) -> None:
    assert "must be above 0 seconds" in refusal(attrs.evolve(endpoint(), timeouts={"total": value}))


def test_a_misspelled_timeout_is_answered_with_the_near_one() -> None:
    message = refusal(attrs.evolve(endpoint(), timeouts={"frist_byte": 5}))
    assert "has no timeout `frist_byte`; did you mean `first_byte`?" in message


@pytest.mark.parametrize(
    ("key_env", "next_step"),
    [("TEST_KEY", "check the key in TEST_KEY"), ("", "set key_env of endpoint `test`")],
)
def test_a_refused_key_says_what_to_look_at(key_env: str, next_step: str) -> None:
    answer = json_answer({"error": {"message": "no"}}, 401)
    with serving(answer) as server, pytest.raises(FatalError, match=next_step):
        asyncio.run(asked(endpoint(server.url, key_env=key_env)))


# --- the plugin


def test_the_plugin_registers_one_client_named_openai() -> None:
    found: list[ClientPlugin] = []
    register_clients(found.append)
    assert found == [CLIENT]
    assert (CLIENT.name, CLIENT.settings, CLIENT.free) == (
        "openai",
        ("allow_insecure", "proxy", "rename", "stream", "stream_usage"),
        False,
    )


def test_loading_the_plugin_imports_no_http_library() -> None:
    code = "import sys, planloom_openai; print(sorted({'aiohttp', 'ssl', 'asyncio'} & set(sys.modules)))"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=30)
    assert shown.stdout.strip() == "[]"
