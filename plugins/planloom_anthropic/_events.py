"""The events of a streamed message put together into the message they carry."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from planloom.wire import DONE, Unfinished, mapping_in, values_in

__all__ = ["message_of_events"]

# Thinking, its signature and citations are no part of a reply's text.
_PIECES = {"text_delta": "text", "input_json_delta": "partial_json"}


def message_of_events(body: bytes, parse: Callable[[str], Any]) -> dict[str, Any]:
    """Return the message, or the error object, that the events make up.

    :raises Unfinished: neither a stop reason nor the last event came.
    :raises ValueError: an event is not JSON, and the message had not yet ended.
    """
    joined = _Joined()
    try:
        for name, value in values_in(body, parse):
            if value == DONE:  # a gateway's way to end every stream
                break
            if isinstance(value, dict):
                joined.add(str(value.get("type") or name), value)
            if joined.over:
                break
    except ValueError:
        # What comes behind the end of a message takes nothing from it.
        if not joined.has_stopped:
            raise
    return joined.message()


class _Joined:
    """The message so far.

    :ivar over: the last event, or an error, came.
    """

    def __init__(self) -> None:
        self.over = False
        self._message: dict[str, Any] = {}
        self._error: Any = None
        self._blocks: dict[Any, dict[str, Any]] = {}
        self._pieces: dict[Any, list[str]] = {}

    @property
    def has_stopped(self) -> bool:
        return self._error is None and bool(self._message.get("stop_reason"))

    def add(self, kind: str, event: Mapping[str, Any]) -> None:
        match kind:
            case "message_start":
                self._message |= mapping_in(event.get("message"))
            case "content_block_start":
                self._blocks[str(event.get("index"))] = dict(mapping_in(event.get("content_block")))
            case "content_block_delta":
                self._add_piece(str(event.get("index")), mapping_in(event.get("delta")))
            case "message_delta":
                self._add_end(event)
            case "message_stop":
                self.over = True
            case "error":
                self._error = None if self.has_stopped else event.get("error") or event
                self.over = True

    def _add_piece(self, index: str, delta: Mapping[str, Any]) -> None:
        piece = delta.get(_PIECES.get(str(delta.get("type")), ""))
        if isinstance(piece, str):
            self._pieces.setdefault(index, []).append(piece)
            kind = "tool_use" if "partial_json" in delta else "text"
            self._blocks.setdefault(index, {}).setdefault("type", kind)

    def _add_end(self, event: Mapping[str, Any]) -> None:
        """Counts are totals, of which the last one said holds; gateways fill up with zeros what they do not know."""
        self._message["stop_reason"] = mapping_in(event.get("delta")).get("stop_reason") or self._message.get(
            "stop_reason"
        )
        before = mapping_in(self._message.get("usage"))
        said = {name: count for name, count in mapping_in(event.get("usage")).items() if count or name not in before}
        self._message["usage"] = {**before, **said}

    def message(self) -> dict[str, Any]:
        if self._error is not None:
            return {"type": "error", "error": self._error}
        if not self.over and not self._message.get("stop_reason"):
            raise Unfinished("a stream that stopped before its end")
        return {**self._message, "content": [self._whole(index, block) for index, block in self._blocks.items()]}

    def _whole(self, index: str, block: dict[str, Any]) -> dict[str, Any]:
        text = "".join(self._pieces.get(index, ()))
        if not text:
            return block
        if block.get("type") == "tool_use":
            return {**block, "input": text}
        return {**block, "text": f"{block.get('text') or ''}{text}"}
