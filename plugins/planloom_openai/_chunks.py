"""The chunks of a streamed completion put together; some gateways stream whether asked to or not."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from planloom.wire import Unfinished, events_in

__all__ = ["DONE", "completion_of_events"]

DONE = "[DONE]"


def completion_of_events(body: bytes, parse: Callable[[str], Any]) -> dict[str, Any]:
    """Return the completion, or the error object, that the events make up.

    :raises Unfinished: neither a finish reason nor the end mark came.
    :raises ValueError: an event is not JSON.
    """
    joined = _Joined()
    for event in events_in(body):
        if event.data == DONE:
            joined.ended = True
            break
        joined.add(parse(event.data), event.name)
    return joined.completion()


class _Joined:
    """The first choice's pieces so far."""

    def __init__(self) -> None:
        self.ended = False
        self._top: dict[str, Any] = {}
        self._content: list[Any] = []
        self._refusal: list[str] = []
        self._arguments: dict[Any, list[str]] = {}
        self._finish_reason: Any = None

    def add(self, chunk: Any, event_name: str) -> None:
        if event_name == "error":
            chunk = chunk if isinstance(chunk, Mapping) and "error" in chunk else {"error": chunk}
        if not isinstance(chunk, Mapping):
            return
        if chunk.get("object") == "error":
            self._top["error"] = chunk
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
        content = delta.get("content")
        self._content.extend(content if isinstance(content, list) else [content] if content else [])
        if isinstance(delta.get("refusal"), str):
            self._refusal.append(delta["refusal"])
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
            "content": self._content,
            "refusal": "".join(self._refusal) or None,
            "tool_calls": [{"function": {"arguments": "".join(x)}} for x in self._arguments.values()],
        }
        return {**self._top, "choices": [{"message": message, "finish_reason": self._finish_reason}]}
