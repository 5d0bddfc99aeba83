"""What a loopback server of Anthropic's Messages API says."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from ._served import Served, json_answer

__all__ = ["api_error", "message", "message_events", "message_stream", "tool_use"]

USAGE: Mapping[str, Any] = {
    "input_tokens": 8,
    "cache_creation_input_tokens": 0,
    "cache_read_input_tokens": 12,
    "output_tokens": 5,
}
_DELTA_OF = {"text": ("text_delta", "text"), "thinking": ("thinking_delta", "thinking")}


def message(
    content: str | Sequence[Any] | None = "ok",
    *,
    stop_reason: str | None = "end_turn",
    usage: Mapping[str, Any] | None = USAGE,
    model: str | None = "loopback-1",
) -> Served:
    """Return a message.

    :param content: a text, a list of blocks, or null.
    :param usage: left out of the answer when ``None``; ``model`` likewise.
    """
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
    answer: dict[str, Any] = {
        "id": "msg_loopback",
        "type": "message",
        "role": "assistant",
        "content": blocks,
        "stop_reason": stop_reason,
        "stop_sequence": None,
    }
    answer |= {"usage": dict(usage)} if usage is not None else {}
    answer |= {"model": model} if model is not None else {}
    return json_answer(answer)


def tool_use(name: str, given: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a block that calls a tool."""
    return {"type": "tool_use", "id": f"toolu_{name}", "name": name, "input": given}


def message_stream(
    content: Sequence[str | Mapping[str, Any]], *, stop_reason: str | None = "end_turn", stop: bool = True
) -> Served:
    """Return a message as server-sent events.

    :param content: texts, the pieces of one block, and other blocks, each of which arrives in two pieces.
    :param stop_reason: no last word about the message comes when ``None``. :param stop: the last event comes.
    """
    events: list[Mapping[str, Any]] = [_start(), {"type": "ping"}]
    for index, (block, deltas) in enumerate(_blocks(content)):
        events.append({"type": "content_block_start", "index": index, "content_block": block})
        events += [{"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas]
        events.append({"type": "content_block_stop", "index": index})
    if stop_reason is not None:
        end = {"stop_reason": stop_reason, "stop_sequence": None}
        events.append({"type": "message_delta", "delta": end, "usage": {"output_tokens": USAGE["output_tokens"]}})
    return message_events(*events, *([{"type": "message_stop"}] if stop else []))


def message_events(*events: Mapping[str, Any]) -> Served:
    """Return any events, each under the name of its type."""
    body = "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events)
    return Served(body=body.encode(), headers={"content-type": "text/event-stream"})


def _start() -> Mapping[str, Any]:
    usage = {**USAGE, "output_tokens": 1}
    return {"type": "message_start", "message": {**message([], stop_reason=None, usage=usage).json, "content": []}}


def _blocks(content: Iterable[str | Mapping[str, Any]]) -> Iterator[tuple[Mapping[str, Any], list[Mapping[str, Any]]]]:
    """Yield each block as it starts, with the pieces that follow."""
    texts: list[Mapping[str, Any]] = []
    for piece in content:
        if isinstance(piece, str):
            texts.append({"type": "text_delta", "text": piece})
            continue
        if texts:
            yield {"type": "text", "text": ""}, texts
            texts = []
        yield _in_pieces(piece)
    if texts:
        yield {"type": "text", "text": ""}, texts


def _in_pieces(block: Mapping[str, Any]) -> tuple[Mapping[str, Any], list[Mapping[str, Any]]]:
    kind = block["type"]
    if kind == "tool_use":
        given = json.dumps(block["input"])
        halves = (given[: len(given) // 2], given[len(given) // 2 :])
        return {**block, "input": {}}, [{"type": "input_json_delta", "partial_json": half} for half in halves]
    if kind not in _DELTA_OF:
        return block, []
    delta, field = _DELTA_OF[kind]
    text = block[field]
    halves = (text[: len(text) // 2], text[len(text) // 2 :])
    return {**block, field: ""}, [{"type": delta, field: half} for half in halves]


def api_error(kind: str, text: str, status: int, headers: Mapping[str, str] | None = None) -> Served:
    """Return an error of the API."""
    error = {"type": "error", "error": {"type": kind, "message": text}, "request_id": "req_loopback"}
    return json_answer(error, status, headers)
