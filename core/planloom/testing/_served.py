"""What a loopback server says: an answer, and how it misbehaves while giving it."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

import attrs

__all__ = ["Served", "completion", "dropped", "event_stream", "html", "json_answer", "tool_call"]

USAGE: Mapping[str, Any] = {"prompt_tokens": 20, "completion_tokens": 5, "total_tokens": 25}
JSON_TYPE = {"content-type": "application/json"}


@attrs.frozen(kw_only=True)
class Served:
    """One scripted answer.

    :ivar delay_s: silence before the first byte; infinite for a server that hangs.
    :ivar drop: close the connection without a byte of an answer.
    :ivar cut_after_bytes: close the connection after so many bytes of the body.
    :ivar trickle_bytes: send the body so many bytes at a time, ``trickle_pause_s`` apart.
    :ivar padding_bytes: spaces sent behind the body, made while they are sent.
    """

    body: bytes = b""
    status: int = 200
    headers: Mapping[str, str] = attrs.field(factory=dict)
    delay_s: float = 0.0
    drop: bool = False
    cut_after_bytes: int | None = None
    trickle_bytes: int | None = None
    trickle_pause_s: float = 0.0
    padding_bytes: int = 0

    def after(self, delay_s: float) -> Served:
        """Return the same answer after a silence."""
        return attrs.evolve(self, delay_s=delay_s)

    def hanging(self) -> Served:
        """Return an answer that never begins."""
        return self.after(math.inf)

    def cut(self, after_bytes: int) -> Served:
        """Return the same answer, its connection cut in the middle of the body."""
        return attrs.evolve(self, cut_after_bytes=after_bytes)

    def trickled(self, size_bytes: int, pause_s: float) -> Served:
        """Return the same answer, sent a few bytes at a time."""
        return attrs.evolve(self, trickle_bytes=size_bytes, trickle_pause_s=pause_s)

    def padded(self, size_bytes: int) -> Served:
        """Return the same answer with so many spaces behind it."""
        return attrs.evolve(self, padding_bytes=size_bytes)


def json_answer(value: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Served:
    """Return an answer with a JSON body."""
    return Served(body=json.dumps(value).encode(), status=status, headers={**JSON_TYPE, **(headers or {})})


def completion(
    content: str | Sequence[Any] | None = "ok",
    *,
    finish_reason: str | None = "stop",
    usage: Mapping[str, Any] | None = USAGE,
    model: str | None = "loopback-1",
    **message: Any,
) -> Served:
    """Return a chat completion.

    :param content: text, a list of parts, or null.
    :param finish_reason: left out of the answer when ``None``; ``usage`` and ``model`` likewise.
    :param message: further fields of the message: ``tool_calls``, ``refusal``, ``reasoning_content``.
    """
    choice: dict[str, Any] = {"index": 0, "message": {"role": "assistant", "content": content, **message}}
    answer: dict[str, Any] = {"id": "chatcmpl-loopback", "object": "chat.completion", "choices": [choice]}
    if finish_reason is not None:
        choice["finish_reason"] = finish_reason
    if usage is not None:
        answer["usage"] = dict(usage)
    if model is not None:
        answer["model"] = model
    return json_answer(answer)


def tool_call(name: str, arguments: str) -> Mapping[str, Any]:
    """Return one entry of a message's ``tool_calls``."""
    return {"id": f"call_{name}", "type": "function", "function": {"name": name, "arguments": arguments}}


def html(title: str = "Bad gateway", status: int = 200, content_type: str = "text/html") -> Served:
    """Return a page, as gateways answer when what is behind them is gone."""
    page = f"<html><head><title>{title}</title></head><body>{title}</body></html>"
    return Served(body=page.encode(), status=status, headers={"content-type": content_type})


def event_stream(deltas: Sequence[str], *, finish_reason: str | None = "stop", done: bool = True) -> Served:
    """Return a completion as server-sent events, one for each piece of text, then usage."""
    last: dict[str, Any] = {"choices": [{"index": 0, "delta": {}, "finish_reason": finish_reason}]}
    chunks: list[dict[str, Any]] = [
        {"model": "loopback-1", "choices": [{"index": 0, "delta": {"content": delta}, "finish_reason": None}]}
        for delta in deltas
    ]
    chunks += [last, {"choices": [], "usage": dict(USAGE)}]
    lines = [": a comment\n\n", *(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks)]
    if done:
        lines.append("data: [DONE]\n\n")
    return Served(body="".join(lines).encode(), headers={"content-type": "text/event-stream"})


def dropped() -> Served:
    """Return no answer: the connection is closed when the request has arrived."""
    return Served(drop=True)
