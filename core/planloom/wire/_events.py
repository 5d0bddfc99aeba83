"""Server-sent events, as far as model servers use them."""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Iterator
from typing import Any

from planloom.data_classes import frozen

__all__ = ["DONE", "ServerEvent", "Unfinished", "events_in", "looks_like_events", "values_in"]

DONE = "[DONE]"
ERROR = "error"

# A comment, with which gateways keep a stream open, begins with a colon, as no JSON does.
_BEGINNING = re.compile(rb"(?:\xef\xbb\xbf)?\s{0,64}(?::|(?:data|event|id|retry):)")
_OTHER = re.compile(rb"(?:\xef\xbb\xbf)?\s{0,64}[{\[<]")


class Unfinished(Exception):
    """The stream stopped before its end was said."""


@frozen
class ServerEvent:
    """One event; most servers give it no name."""

    name: str
    data: str


def looks_like_events(content_type: str, body: bytes) -> bool:
    """Return whether a body is a stream of events, whatever its content type says.

    An object, an array or a page is none: servers say so of refusals, and of answers, where a stream was asked for.
    """
    if content_type.lower().startswith("text/event-stream"):
        return not _OTHER.match(body)
    return bool(_BEGINNING.match(body))


def events_in(body: bytes) -> Iterator[ServerEvent]:
    """Yield the events of a body; comments, and events without data, are left out. One that is cut in the middle of a
    letter at its end lacks that letter.

    :raises ValueError: it is not UTF-8.
    """
    name = ""
    lines: list[str] = []
    text = codecs.utf_8_decode(body, "strict", False)[0].removeprefix("\ufeff")
    # Not str.splitlines: it also splits at U+2028 and the like, which may stand inside a JSON text.
    for line in (*text.replace("\r\n", "\n").replace("\r", "\n").split("\n"), ""):
        if line.startswith("data:"):
            lines.append(line[5:].removeprefix(" "))
        elif line.startswith("event:"):
            name = line[6:].strip()
        elif line.startswith("error:"):  # llama.cpp's way to say so
            name = ERROR
            lines.append(line[6:])
        elif line.startswith("{"):  # a gateway's, in the middle of a stream that it passes on
            lines.append(line)
        elif not line and lines:
            data = "\n".join(lines).strip()
            if data:
                yield ServerEvent(name, data)
            lines.clear()
            name = ""


def values_in(body: bytes, parse: Callable[[str], Any]) -> Iterator[tuple[str, Any]]:
    """Yield the name and the value of each event of a body; :data:`DONE` for the mark that ends a stream.

    Servers keep streams open with events too: what is called a ping, or is no JSON by its first letter, is left out. A
    text that is called an error is one.

    :raises ValueError: it is not UTF-8, or an event that should be JSON is none.
    """
    for event in events_in(body):
        data = event.data
        if data == DONE:
            yield event.name, DONE
        elif data[0] in "{[":
            try:
                value = parse(data)
            except ValueError:
                if "\n" not in data:
                    raise
                yield from ((event.name, value) for value in _line_by_line(data, parse))
            else:
                yield event.name, value
        elif event.name == ERROR:
            yield event.name, {"error": data}


def _line_by_line(data: str, parse: Callable[[str], Any]) -> list[Any]:
    """Return the values of events between which a server forgot the empty line."""
    lines = (line.strip() for line in data.split("\n"))
    return [DONE if line == DONE else parse(line) for line in lines if line]
