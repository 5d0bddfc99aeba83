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


class _Choice:
    """One choice's pieces so far."""

    def __init__(self) -> None:
        self.finish_reason: Any = None
        self._content: list[Any] = []
        self._refusal: list[str] = []
        self._arguments: dict[int | str, list[str]] = {}

    def add(self, choice: Mapping[str, Any]) -> None:
        self.finish_reason = choice.get("finish_reason") or self.finish_reason
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
                index = call.get("index")
                self._arguments.setdefault(index if isinstance(index, int | str) else 0, []).append(
                    function["arguments"]
                )

    def whole(self) -> dict[str, Any]:
        message = {
            "content": self._content,
            "refusal": "".join(self._refusal) or None,
            "tool_calls": [{"function": {"arguments": "".join(x)}} for x in self._arguments.values()],
        }
        return {"message": message, "finish_reason": self.finish_reason}


class _Joined:
    """The stream so far. Pieces of several choices may come in any order; the first choice is the answer."""

    def __init__(self) -> None:
        self.ended = False
        self._top: dict[str, Any] = {}
        self._choices: dict[int, _Choice] = {}

    def add(self, chunk: Any, event_name: str) -> None:
        if event_name == "error":
            chunk = chunk if isinstance(chunk, Mapping) and "error" in chunk else {"error": chunk}
        if not isinstance(chunk, Mapping):
            return
        if chunk.get("object") == "error":
            self._fail(chunk)
        if chunk.get("error"):
            self._fail(chunk["error"])
        for key in ("model", "usage"):
            if chunk.get(key):
                self._top[key] = chunk[key]
        choices = chunk.get("choices")
        for choice in choices if isinstance(choices, list) else ():
            if isinstance(choice, Mapping):
                index = choice.get("index")
                self._choices.setdefault(index if isinstance(index, int) else 0, _Choice()).add(choice)

    def _fail(self, error: Any) -> None:
        # What fails behind the end of an answer takes nothing from it.
        if self._first().finish_reason in (None, "error"):
            self._top["error"] = error

    def _first(self) -> _Choice:
        return self._choices[min(self._choices)] if self._choices else _Choice()

    def completion(self) -> dict[str, Any]:
        if "error" in self._top:
            return self._top
        first = self._first()
        if not self.ended and first.finish_reason is None:
            raise Unfinished("a stream that stopped before its end")
        return {**self._top, "choices": [first.whole()]}
