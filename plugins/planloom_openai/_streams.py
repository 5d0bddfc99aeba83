"""Server-sent events put together into the completion they carry: some gateways stream whether asked to or not."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

__all__ = ["Unfinished", "completion_of_events", "looks_like_events"]

DONE = "[DONE]"


class Unfinished(Exception):
    """The stream stopped before its end was said."""


def looks_like_events(content_type: str, body: bytes) -> bool:
    """Return whether a body is a stream of events, whatever its content type says."""
    return content_type.startswith("text/event-stream") or body.lstrip()[:5] in (b"data:", b"event")


def completion_of_events(body: bytes, parse: Callable[[str], Any]) -> dict[str, Any]:
    """Return the completion, or the error object, that the events make up.

    :raises Unfinished: neither a finish reason nor the end mark came.
    :raises ValueError: an event is not JSON.
    """
    joined = _Joined()
    for data in _data_of(body.decode("utf-8")):
        if data == DONE:
            joined.ended = True
            break
        joined.add(parse(data))
    return joined.completion()


def _data_of(text: str) -> Iterator[str]:
    lines: list[str] = []
    # Not str.splitlines: it also splits at U+2028 and the like, which may stand inside a JSON text.
    for line in (*text.replace("\r\n", "\n").split("\n"), ""):
        if line.startswith("data:"):
            lines.append(line[5:].removeprefix(" "))
        elif not line and lines:
            yield "\n".join(lines).strip()
            lines.clear()


class _Joined:
    """The first choice's pieces so far."""

    def __init__(self) -> None:
        self.ended = False
        self._top: dict[str, Any] = {}
        self._content: list[str] = []
        self._refusal: list[str] = []
        self._arguments: dict[Any, list[str]] = {}
        self._finish_reason: Any = None

    def add(self, chunk: Any) -> None:
        if not isinstance(chunk, Mapping):
            return
        for key in ("error", "model", "usage"):
            if chunk.get(key):
                self._top[key] = chunk[key]
        choices = chunk.get("choices")
        for choice in choices[:1] if isinstance(choices, list) else ():
            if isinstance(choice, Mapping):
                self._add_choice(choice)

    def _add_choice(self, choice: Mapping[str, Any]) -> None:
        self._finish_reason = choice.get("finish_reason") or self._finish_reason
        delta = choice.get("delta") or choice.get("message")
        if not isinstance(delta, Mapping):
            return
        for pieces, key in ((self._content, "content"), (self._refusal, "refusal")):
            if isinstance(delta.get(key), str):
                pieces.append(delta[key])
        calls = delta.get("tool_calls")
        for call in calls if isinstance(calls, list) else ():
            function = call.get("function") if isinstance(call, Mapping) else None
            if isinstance(function, Mapping) and isinstance(function.get("arguments"), str):
                self._arguments.setdefault(call.get("index", 0), []).append(function["arguments"])

    def completion(self) -> dict[str, Any]:
        if "error" in self._top:
            return self._top
        if not self.ended and self._finish_reason is None:
            raise Unfinished("a stream that stopped before its end")
        message = {
            "content": "".join(self._content),
            "refusal": "".join(self._refusal) or None,
            "tool_calls": [{"function": {"arguments": "".join(x)}} for x in self._arguments.values()],
        }
        return {**self._top, "choices": [{"message": message, "finish_reason": self._finish_reason}]}
