"""However a server says when to come back, it is read as seconds."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planloom.wire import wait_asked_s

NOON = datetime(2026, 11, 29, 12, 0, 0, tzinfo=UTC)


def at(seconds: float) -> datetime:
    return NOON + timedelta(seconds=seconds)


@pytest.mark.parametrize(
    ("headers", "wait_s"),
    [
        ({"retry-after": "7", "x-ratelimit-reset-requests": "60s"}, 7.0),
        ({"x-ratelimit-reset-requests": "6m0s"}, 360.0),
        ({"x-ratelimit-reset-tokens": "120ms"}, 0.12),
        ({"x-ratelimit-reset-tokens": "1h2m3.5s"}, 3_723.5),
        ({"x-ratelimit-reset": "30"}, 30.0),
        ({"x-ratelimit-reset": str(int(at(90).timestamp()))}, 90.0),
        ({"x-ratelimit-reset": str(int(at(90).timestamp()) * 1000)}, 90.0),
        ({"ratelimit-reset": "soon"}, None),
        ({"anthropic-ratelimit-tokens-reset": "2026-11-29T12:00:45Z"}, 45.0),
        ({"anthropic-ratelimit-tokens-reset": "2026-11-29T11:00:00Z"}, 0.0),
        (
            {
                "anthropic-ratelimit-requests-remaining": "0",
                "anthropic-ratelimit-requests-reset": "2026-11-29T12:00:20Z",
                "anthropic-ratelimit-output-tokens-remaining": "8000",
                "anthropic-ratelimit-output-tokens-reset": "2026-11-29T12:05:00Z",
            },
            20.0,
        ),
        (
            {"x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "9s", "x-ratelimit-reset-requests": "2s"},
            9,
        ),
        ({"x-ratelimit-remaining-requests": "12", "x-ratelimit-reset-requests": "9s"}, None),
    ],
)
def test_the_reset_of_a_limit_that_is_used_up_is_read(headers: Mapping[str, str], wait_s: float | None) -> None:
    assert wait_asked_s(headers, NOON) == wait_s


@pytest.mark.parametrize(
    ("words", "wait_s"),
    [
        ("rate limit reached. please try again in 7m12.5s. visit", 432.5),
        ("please try again in 20s.", 20.0),
        ("please retry in 34.07s.", 34.07),
        ("try again in 250ms", 0.25),
        ("please retry after 12 seconds", 12.0),
        ('{"details": [{"@type": "retryinfo", "retrydelay": "41s"}]}', 41.0),
        ('{"resets_in_seconds": 5400}', 5_400.0),
        ('{"metadata": {"retry_after": 3}}', 3.0),
        ("you will regain access on 2026-12-01 at 00:00 utc.", 36 * 3_600.0),
        ("you will regain access on 2026-13-77", None),
        ("try again in 99999999999999d", 366 * 86_400.0),
        ("try again later", None),
        ("", None),
    ],
)
def test_what_the_error_says_is_read_where_no_header_does(words: str, wait_s: float | None) -> None:
    assert wait_asked_s({}, NOON, words) == wait_s


@given(st.text(), st.sampled_from(["retry-after", "retry-after-ms", "x-ratelimit-reset", "a-ratelimit-tokens-reset"]))
def test_no_header_is_a_fault_of_its_own(text: str, name: str) -> None:
    wait_s = wait_asked_s({name: text}, NOON, f"try again in {text}")
    assert wait_s is None or 0 <= wait_s <= 366 * 86_400


@pytest.mark.parametrize("name", ["retry-after", "retry-after-ms", "x-ratelimit-reset-tokens"])
@pytest.mark.parametrize("number", ["1e300", "9" * 30])
def test_a_wait_beyond_all_calendars_is_a_year(name: str, number: str) -> None:
    assert wait_asked_s({name: number}, NOON) == 366 * 86_400
