"""What a loopback server says: an answer, and how it misbehaves while giving it."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

import attrs

__all__ = ["Served", "chunk_stream", "completion", "dropped", "event_stream", "html", "json_answer", "tool_call"]

USAGE: Mapping[str, Any] = {"prompt_tokens": 20, "completion_tokens": 5, "total_tokens": 25}
JSON_TYPE = {"content-type": "application/json"}


@attrs.frozen(kw_only=True)
class Served:
    """One scripted answer.

    :ivar delay_s: silence before the first byte; infinite for a server that hangs.
    :ivar drop: close the connection without a byte of an answer.
    :ivar cut_after_bytes: close the connection after so many bytes of the body.
    :ivar hang_after_bytes: say nothing more after so many bytes of the body, and leave the connection open.
    :ivar chunked: send the body in chunks, its length not announced.
    :ivar hang_up: close the connection behind the answer, though nothing said so.
    :ivar trickle_bytes: send the body so many bytes at a time, ``trickle_pause_s`` apart.
    :ivar padding_bytes: spaces sent behind the body, made while they are sent.
    :ivar wire: sent as it is in the place of a head and a body, for what no server should say.
    :ivar unasked: sent a moment after the answer, when the client may hold the connection for idle.
    """

    body: bytes = b""
    status: int = 200
    headers: Mapping[str, str] = attrs.field(factory=dict)
    delay_s: float = 0.0
    drop: bool = False
    cut_after_bytes: int | None = None
    hang_after_bytes: int | None = None
    chunked: bool = False
    hang_up: bool = False
    trickle_bytes: int | None = None
    trickle_pause_s: float = 0.0
    padding_bytes: int = 0
    wire: bytes | None = None
    unasked: bytes = b""

    @property
    def json(self) -> Any:
        """The body, parsed."""
        return json.loads(self.body)

    def after(self, delay_s: float) -> Served:
        """Return the same answer after a silence."""
        return attrs.evolve(self, delay_s=delay_s)

    def hanging(self) -> Served:
        """Return an answer that never begins."""
        return self.after(math.inf)

    def cut(self, after_bytes: int) -> Served:
        """Return the same answer, its connection cut in the middle of the body."""
        return attrs.evolve(self, cut_after_bytes=after_bytes)

    def stuck(self, after_bytes: int) -> Served:
        """Return the same answer, which stops coming in the middle of the body."""
        return attrs.evolve(self, hang_after_bytes=after_bytes)

    def in_chunks(self) -> Served:
        """Return the same answer in chunks, as streams come."""
        return attrs.evolve(self, chunked=True)

    def hanging_up(self) -> Served:
        """Return the same answer, behind which the server closes the connection."""
        return attrs.evolve(self, hang_up=True)

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


def event_stream(
    deltas: Sequence[str | Mapping[str, Any]],
    *,
    finish_reason: str | None = "stop",
    usage: Mapping[str, Any] | None = USAGE,
    done: bool = True,
) -> Served:
    """Return a completion as server-sent events: the role, one for each piece, the finish reason, then usage.

    :param deltas: pieces of text, or whole deltas.
    """
    pieces = [{"content": delta} if isinstance(delta, str) else dict(delta) for delta in deltas]
    chunks = [_chunk(delta) for delta in ({"role": "assistant", "content": ""}, *pieces)]
    chunks.append(_chunk({}, finish_reason))
    if usage is not None:
        chunks.append({"model": "loopback-1", "choices": [], "usage": dict(usage)})
    return chunk_stream(*chunks, done=done)


def chunk_stream(*chunks: Mapping[str, Any], done: bool = True) -> Served:
    """Return any chunks as server-sent events, after a comment as gateways send them."""
    lines = [": a comment\n\n", *(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks)]
    if done:
        lines.append("data: [DONE]\n\n")
    return Served(body="".join(lines).encode(), headers={"content-type": "text/event-stream"})


def _chunk(delta: Mapping[str, Any], finish_reason: str | None = None) -> dict[str, Any]:
    choice = {"index": 0, "delta": dict(delta), "finish_reason": finish_reason}
    return {"model": "loopback-1", "choices": [choice]}


def dropped() -> Served:
    """Return no answer: the connection is closed when the request has arrived."""
    return Served(drop=True)
