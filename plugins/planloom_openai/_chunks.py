"""The chunks of a streamed completion put together; some gateways stream whether asked to or not."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from planloom.wire import DONE, Unfinished, count_in, mapping_in, values_in

__all__ = ["completion_of_events", "reason_in"]


def completion_of_events(body: bytes, parse: Callable[[str], Any]) -> dict[str, Any]:
    """Return the completion, or the error object, that the events make up.

    :raises Unfinished: neither a finish reason nor the end mark came.
    :raises ValueError: an event is not JSON, and the answer had not yet ended.
    """
    joined = _Joined()
    try:
        for name, chunk in values_in(body, parse):
            if chunk == DONE:
                joined.ended = True
                break
            joined.add(chunk, name)
    except ValueError:
        # What comes behind the end of an answer takes nothing from it.
        if not joined.has_finished:
            raise
    return joined.completion()


def reason_in(choice: Mapping[str, Any]) -> Any:
    """Return why a choice ended; some servers write ``null`` as a text while it goes on."""
    reason = choice.get("finish_reason")
    return None if not reason or reason == "null" else reason


class _Choice:
    """One choice's pieces so far."""

    def __init__(self) -> None:
        self.finish_reason: Any = None
        self._content: list[Any] = []
        self._counted = self._characters = 0  # of the content, for what comes as the text so far
        self._refusal: list[str] = []
        self._arguments: dict[Any, list[str]] = {}

    def add(self, choice: Mapping[str, Any]) -> None:
        if choice.get("finish_reason") and self.finish_reason in (None, "stop"):
            # Why an answer is not whole stays said, whatever is said after it.
            self.finish_reason = reason_in(choice) or self.finish_reason
        delta = choice.get("delta")
        if isinstance(delta, dict):
            self._add_delta(delta)
        elif isinstance(choice.get("message"), dict):
            self._add_message(choice["message"])

    def _add_message(self, message: Mapping[str, Any]) -> None:
        """Some servers send the text so far, once more or each time, where others send a piece."""
        new = self._content[self._counted :]
        self._counted += len(new)
        self._characters += sum(len(piece) for piece in new if isinstance(piece, str))
        text = message.get("content")
        # Put together only where it may be the beginning of this one: else each event would cost all before it.
        if isinstance(text, str) and 0 < self._characters <= len(text):
            so_far = "".join(piece for piece in self._content if isinstance(piece, str))
            if text.startswith(so_far):
                message = {**message, "content": text[len(so_far) :]}
        self._add_delta(message)

    def _add_delta(self, delta: Mapping[str, Any]) -> None:
        content = delta.get("content")
        self._content.extend(content if isinstance(content, list) else [content] if content else [])
        if isinstance(delta.get("refusal"), str):
            self._refusal.append(delta["refusal"])
        for key, arguments in self._called(delta) if "tool_calls" in delta or "function_call" in delta else ():
            if isinstance(arguments, str | dict):
                piece = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
                self._arguments.setdefault(key, []).append(piece)

    def _called(self, delta: Mapping[str, Any]) -> Iterator[tuple[Any, Any]]:
        """Yield the pieces of arguments, each with what its call is known by."""
        calls = delta.get("tool_calls")
        for call in calls if isinstance(calls, list) else ():
            if isinstance(call, dict) and isinstance(call.get("function"), dict):
                yield self._key_of(call), call["function"].get("arguments")
        if isinstance(delta.get("function_call"), dict):
            yield "", delta["function_call"].get("arguments")

    def _key_of(self, call: Mapping[str, Any]) -> Any:
        """Return a call's number; where it has none, its id, without which it is the last one that goes on."""
        for key in (call.get("index"), call.get("id")):
            if isinstance(key, int | str):
                return key
        return next(reversed(self._arguments), 0)

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

    @property
    def has_finished(self) -> bool:
        return "error" not in self._top and self._first().finish_reason not in (None, "error")

    def add(self, chunk: Any, event_name: str) -> None:
        if event_name == "error":
            chunk = chunk if isinstance(chunk, dict) and "error" in chunk else {"error": chunk}
        if not isinstance(chunk, dict):
            return
        error = chunk if chunk.get("object") == "error" else chunk.get("error")
        usage = chunk.get("usage")
        if beside := chunk.get("x_groq"):
            error, usage = error or mapping_in(beside).get("error"), usage or mapping_in(beside).get("usage")
        if error:
            self._fail(error)
        if chunk.get("model"):
            self._top["model"] = chunk["model"]
        if usage:
            self._count(usage)
        choices = chunk.get("choices")
        for place, choice in enumerate(choices if isinstance(choices, list) else ()):
            if isinstance(choice, dict):
                self._add_choice(choice, place)

    def _add_choice(self, choice: Mapping[str, Any], place: int) -> None:
        if choice.get("usage"):
            self._count(choice["usage"])
        index = choice.get("index")
        index = index if isinstance(index, int) else place
        known = self._choices.get(index)
        if known is None:
            known = self._choices[index] = _Choice()
        known.add(choice)
        if choice.get("error") and known is self._first():
            self._fail(choice["error"])

    def _count(self, usage: Any) -> None:
        """The last counts hold, but for those of a server that forgot them."""
        if isinstance(usage, dict) and any(map(count_in, usage.values())):
            self._top["usage"] = usage

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
