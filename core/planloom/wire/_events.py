"""Server-sent events, as far as model servers use them."""

from __future__ import annotations

import re
from collections.abc import Iterator

import attrs

__all__ = ["ServerEvent", "Unfinished", "events_in", "looks_like_events"]

# A comment, with which gateways keep a stream open, begins with a colon, as no JSON does.
_BEGINNING = re.compile(rb"(?:\xef\xbb\xbf)?\s{0,64}(?::|(?:data|event|id|retry):)")


class Unfinished(Exception):
    """The stream stopped before its end was said."""


@attrs.frozen
class ServerEvent:
    """One event; most servers give it no name."""

    name: str
    data: str


def looks_like_events(content_type: str, body: bytes) -> bool:
    """Return whether a body is a stream of events, whatever its content type says."""
    return content_type.lower().startswith("text/event-stream") or bool(_BEGINNING.match(body))


def events_in(body: bytes) -> Iterator[ServerEvent]:
    """Yield the events of a body; comments, and events without data, are left out.

    :raises ValueError: it is not UTF-8.
    """
    name = ""
    lines: list[str] = []
    text = body.decode("utf-8").removeprefix("\ufeff")
    # Not str.splitlines: it also splits at U+2028 and the like, which may stand inside a JSON text.
    for line in (*text.replace("\r\n", "\n").replace("\r", "\n").split("\n"), ""):
        if line.startswith("data:"):
            lines.append(line[5:].removeprefix(" "))
        elif line.startswith("event:"):
            name = line[6:].strip()
        elif not line and lines:
            yield ServerEvent(name, "\n".join(lines).strip())
            lines.clear()
            name = ""
