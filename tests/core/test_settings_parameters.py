"""What is sent beside the messages: defaults, what an endpoint adds and drops, what a role says."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from planloom import ConfigurationError
from planloom.configuration import load_settings
from planloom.plugins import Registry, load_plugins
from planloom.settings import Settings, default_parameters


@pytest.fixture(scope="module")
def registry() -> Registry:
    return load_plugins()


def read(registry: Registry, folder: Path, endpoint: str, role: str = "") -> Settings:
    text = (
        f'[endpoints.main]\nurl = "http://localhost/v1"\n{endpoint}\n[roles.worker]\nendpoint = "main"\nmodel = "m"\n'
    )
    (folder / "planloom.toml").write_text(f"{text}price = {{ call = 1 }}\n{role}\n")
    return load_settings(registry, folder=folder, environ={})


def sent(registry: Registry, folder: Path, endpoint: str, role: str = "") -> Mapping[str, Any]:
    return read(registry, folder, endpoint, role).role("worker").parameters


def test_what_an_endpoint_sends_with_every_question_is_part_of_each_of_its_roles(
    registry: Registry, tmp_path: Path
) -> None:
    thinking_off = {"chat_template_kwargs": {"enable_thinking": False}}
    parameters = sent(registry, tmp_path, "parameters = { chat_template_kwargs = { enable_thinking = false } }")
    assert parameters == default_parameters("worker") | thinking_off


def test_a_role_has_the_last_word_over_its_endpoint(registry: Registry, tmp_path: Path) -> None:
    parameters = sent(
        registry,
        tmp_path,
        "parameters = { temperature = 0.1, seed = 1 }\ndrop = ['top_p', 'temperature']",
        "parameters = { temperature = 0.9 }",
    )
    assert parameters == {"temperature": 0.9, "seed": 1, "max_tokens": 16_000}


def test_a_reasoning_model_is_sent_no_temperature_where_its_role_drops_it(registry: Registry, tmp_path: Path) -> None:
    assert sent(registry, tmp_path, "", "drop = ['temperature', 'top_p']") == {"max_tokens": 16_000}


def test_a_client_whose_servers_refuse_a_default_does_not_send_it(registry: Registry, tmp_path: Path) -> None:
    assert sent(registry, tmp_path, 'client = "anthropic"') == {"max_tokens": 16_000}


def test_what_a_client_leaves_out_is_sent_where_a_role_asks_for_it(registry: Registry, tmp_path: Path) -> None:
    parameters = sent(registry, tmp_path, 'client = "anthropic"', "parameters = { temperature = 1.0 }")
    assert parameters == {"temperature": 1.0, "max_tokens": 16_000}


@pytest.mark.parametrize(("said", "prefix_cache"), [("", None), ("prefix_cache = true", True)])
def test_whether_an_endpoint_keeps_prefixes_is_read_or_not_said(
    registry: Registry, tmp_path: Path, said: str, prefix_cache: bool | None
) -> None:
    assert read(registry, tmp_path, said).endpoints["main"].prefix_cache is prefix_cache


@pytest.mark.parametrize(
    ("said", "after_s"),
    [("", None), ("hedge_after_s = 2.5", 2.5), ("hedge_after_s = 300\ntimeouts = { first_byte = 301 }", 300)],
)
def test_an_endpoint_sends_nothing_twice_unless_somebody_says_after_how_long(
    registry: Registry, tmp_path: Path, said: str, after_s: float | None
) -> None:
    assert read(registry, tmp_path, said).endpoints["main"].hedge_after_s == after_s


@pytest.mark.parametrize(("said", "prefix_cache"), [("", True), ("prefix_cache = false", False)])
def test_an_endpoint_keeps_prefixes_where_a_role_has_a_price_for_them_unless_somebody_says_no(
    registry: Registry, tmp_path: Path, said: str, prefix_cache: bool
) -> None:
    role = '[roles.judge]\nendpoint = "main"\nmodel = "m"\nprice = { input = 1, cached_input = 0.1 }'
    assert read(registry, tmp_path, said, role).endpoints["main"].prefix_cache is prefix_cache


def test_the_json_mode_is_the_best_that_the_client_can_do(registry: Registry, tmp_path: Path) -> None:
    assert read(registry, tmp_path, 'client = "anthropic"').endpoints["main"].json_mode == "json_schema"


@pytest.mark.parametrize(
    ("endpoint", "said"),
    [
        ("drop = ['max_tokens']", "endpoints.main.drop holds max_tokens, which bounds what a call may cost"),
        ("drop = 'top_p'", "endpoints.main.drop is 'top_p'; write a list of parameters"),
        ("prefix_cache = 'yes'", "endpoints.main.prefix_cache is 'yes'; write true or false"),
        ("hedge_after_s = 0", "endpoints.main.hedge_after_s is 0; write a number of seconds above 0"),
        ("hedge_after_s = '2s'", "endpoints.main.hedge_after_s is '2s'; write a number of seconds above 0"),
        (
            "hedge_after_s = 300",
            "hedge_after_s is 300, so that no call is ever sent a second time: timeouts.first_byte",
        ),
        (
            "hedge_after_s = 5\ntimeouts = { first_byte = 5 }",
            "a call whose answer did not begin after 5 s; write fewer",
        ),
        (
            "hedge_after_s = 9.5\ntimeouts = { total = 9 }",
            "hedge_after_s is 9.5, so that no call is ever sent a second",
        ),
        ("parameters = { stream = true }", "endpoints.main.parameters.stream is what planloom sends itself"),
        ('client = "anthropic"\njson_mode = "json_object"', "endpoints.main.json_mode is `json_object`"),
    ],
)
def test_what_cannot_be_done_is_refused_with_what_to_write(
    registry: Registry, tmp_path: Path, endpoint: str, said: str
) -> None:
    with pytest.raises(ConfigurationError) as caught:
        read(registry, tmp_path, endpoint)
    assert said in str(caught.value)
