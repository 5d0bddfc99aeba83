"""How long a server asks to be left alone, in whichever of the known ways it says so.

``Retry-After`` (seconds or a date) and ``retry-after-ms`` count first. Then the headers that say when a limit is reset,
of those limits that are used up: ``x-ratelimit-reset-*`` as a duration (``6m0s``), as seconds or as a moment, and
``anthropic-ratelimit-*-reset`` as a moment. Then what the error says: Gemini's ``retryDelay``, ``resets_in_seconds``,
``try again in 7m12s``, ``estimated_time``, ``regain access on 2026-12-01 at 00:00 UTC``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

__all__ = ["wait_asked_s"]

DURATION = r"(?:\d+(?:\.\d+)?(?:ms|[dhms]))+"
UNIT_S = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3_600.0, "d": 86_400.0}
EPOCH_S = 1_000_000_000  # a larger number is no duration but a moment, in seconds or milliseconds
EPOCH_MS = 1_000_000_000_000
LONGEST_SAID_S = 366 * 86_400.0

IN_SENTENCE = re.compile(
    rf"(?:again|retry|resets?|reset) (?:in|after) (?:about |approximately )?({DURATION})\b"
    r"|(?:again|retry|resets?|reset) (?:in|after) (\d+(?:\.\d+)?) ?sec"
    rf'|"?retry_?delay"?: ?"({DURATION})"'
    r'|"resets_in_seconds": ?(\d+(?:\.\d+)?)'
    r'|"retry_after(?:_seconds)?": ?(\d+(?:\.\d+)?)'
    r'|"estimated_time": ?(\d+(?:\.\d+)?)'
)
ON_DAY = re.compile(r"(?:access|resets?) on (\d{4}-\d\d-\d\d)(?: at (\d\d:\d\d)(?::\d\d)? utc)?")


def wait_asked_s(headers: Mapping[str, str], now: datetime, words: str = "") -> float | None:
    """Return how many seconds the server asks to wait, or ``None`` when it does not say.

    :param words: what its error says, in lower case.
    """
    for said in (_retry_after(headers, now), _resets(headers, now), _in_words(words, now)):
        if said is not None:
            return min(said, LONGEST_SAID_S)  # more is no time that a calendar has
    return None


def _retry_after(headers: Mapping[str, str], now: datetime) -> float | None:
    milliseconds = _number(headers.get("retry-after-ms", ""))
    if milliseconds is not None:
        return milliseconds / 1000
    said = headers.get("retry-after", "").strip()
    if not said:
        return None
    seconds = _number(said)
    return _until_date(said, now) if seconds is None else seconds


def _resets(headers: Mapping[str, str], now: datetime) -> float | None:
    """Return when the last of the limits that are used up is reset."""
    waits = (_moment(value, now) for value in _reset_headers(headers))
    return max((wait for wait in waits if wait is not None), default=None)


def _reset_headers(headers: Mapping[str, str]) -> Iterator[str]:
    for name, value in headers.items():
        left = headers.get(name.replace("reset", "remaining"), "0")
        if "ratelimit" in name and "reset" in name and not _number(left):
            yield value.strip()


def _moment(value: str, now: datetime) -> float | None:
    """Return the seconds until what a header names: a duration, a count of seconds, or a moment."""
    number = _number(value)
    if number is not None:
        if number >= EPOCH_S:
            number = max(0.0, number / (1000 if number >= EPOCH_MS else 1) - now.timestamp())
        return number
    if re.fullmatch(DURATION, value):
        return _seconds_of(value)
    try:
        return _until(datetime.fromisoformat(value), now)
    except ValueError:
        return None


def _seconds_of(duration: str) -> float:
    return sum(float(number) * UNIT_S[unit] for number, unit in re.findall(r"([\d.]+)(ms|[dhms])", duration))


def _in_words(words: str, now: datetime) -> float | None:
    found = IN_SENTENCE.search(words)
    if found:
        said = next(group for group in found.groups() if group)
        return _seconds_of(said) if said[-1].isalpha() else float(said)
    day = ON_DAY.search(words)
    if day is None:
        return None
    try:
        return _until(datetime.fromisoformat(f"{day[1]}T{day[2] or '00:00'}"), now)
    except ValueError:
        return None


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return max(0.0, value) if math.isfinite(value) else None


def _until_date(date: str, now: datetime) -> float | None:
    try:
        return _until(parsedate_to_datetime(date), now)
    except ValueError:
        return None


def _until(at: datetime, now: datetime) -> float:
    at = at if at.tzinfo else at.replace(tzinfo=UTC)
    return max(0.0, (at - now).total_seconds())
