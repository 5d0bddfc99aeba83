"""Stored questions and replies, and the rows that replies become."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from planloom import Usage
from planloom.questions import Message, Part, Question, Reply

from ._connections import Readers
from ._packing import GONE, clean, unpack
from ._rows import REPLY, Rows

__all__ = [
    "ANSWER",
    "VERSION",
    "add_reply",
    "question_from",
    "read_own_versions",
    "read_replies",
    "reply_from",
]

_LARGEST = 2**63 - 1

_REPLY_COLUMNS = (
    "codec, body, finish_reason, prompt_tokens, cached_prompt_tokens, completion_tokens, reasoning_tokens, "
    "seconds, model, price, estimated, role, key_version, created_at"
)
_REPLY_TO = (
    f"SELECT id, {_REPLY_COLUMNS} FROM reply "  # noqa: S608  a constant of this module
    f"WHERE question = (SELECT id FROM question WHERE fingerprint = ?) AND codec != {GONE}"
)
_OF_REPLY = ", ".join(f"reply.{name}" for name in _REPLY_COLUMNS.split(", "))
ANSWER = f"{_REPLY_TO} ORDER BY call DESC, id LIMIT 1"
"""The answer to a fingerprint: the first reply to the newest call that has one."""
VERSION = f"{_REPLY_TO} AND id = ?"
"""The reply to a fingerprint that has this number."""


_OF_NUMBERS = (
    f"SELECT reply.id, {_OF_REPLY}, question.fingerprint FROM reply "  # noqa: S608  a constant of this module
    f"JOIN question ON question.id = reply.question WHERE reply.codec != {GONE} AND reply.id IN"
)


def read_replies(readers: Readers, versions: Mapping[str, int]) -> dict[str, Reply]:
    """Return stored replies by fingerprint, of these versions; many a query."""
    found = {}
    for row in readers.select(_OF_NUMBERS, list(versions.values())):
        fingerprint = row[-1].hex()
        if versions.get(fingerprint) == row[0]:
            found[fingerprint] = reply_from(row)
    return found


def read_own_versions(readers: Readers, run_id: str) -> dict[str, int]:
    """Return the versions of the last replies to a run's own calls, by fingerprint."""
    return {key.hex(): version for key, version in readers.rows(_OWN, (clean(run_id),))}


_OWN = (
    "SELECT question.fingerprint, reply.id FROM call JOIN question ON question.id = call.question "
    "JOIN reply ON reply.question = call.question AND reply.call = call.id WHERE call.run = ? ORDER BY call.id"
)


def question_from(body: bytes, codec: int, part_text: Callable[[str], str]) -> Question:
    """Return a stored question; ``part_text`` gives the text of a part by its hash."""
    skeleton, _, rest = unpack(body, codec).partition("\n")
    data: Mapping[str, Any] = json.loads(skeleton)
    inline: Mapping[str, str] = json.loads(rest)
    parts: dict[str, Part] = {}

    def part(digest: str) -> Part:
        if digest not in parts:
            parts[digest] = Part(inline[digest] if digest in inline else part_text(digest))
        return parts[digest]

    first, second = data["sample"]
    return Question(
        endpoint=data["endpoint"],
        model=data["model"],
        messages=tuple(Message(m["role"], tuple(part(d) for d in m["parts"])) for m in data["messages"]),
        parameters=data["parameters"],
        sample=(first, second),
    )


def add_reply(rows: Rows, question: int, call: int, reply: Reply, packed: tuple[bytes, int], digest: bytes) -> int:
    """Store a reply as a version of the answer to a question; return its number."""
    usage = reply.usage
    body, codec = packed
    created = (reply.created_at or datetime.now(UTC)).astimezone(UTC)
    number = rows.number("reply")
    row = (
        number,
        question,
        call,
        digest,
        codec,
        body,
        None if reply.finish_reason is None else clean(reply.finish_reason),
        _count(usage.prompt_tokens),
        _count(usage.cached_prompt_tokens),
        _count(usage.completion_tokens),
        _count(usage.reasoning_tokens),
        reply.seconds,
        clean(reply.model),
        reply.price,
        reply.estimated,
        clean(reply.role),
        reply.key_version,
        created.isoformat(),
    )
    rows.add(REPLY, row)
    return number


def _count(tokens: int | None) -> int | None:
    """Return a server's token count as the column can hold it: an absurd one must not lose a paid reply."""
    return None if tokens is None else min(tokens, _LARGEST)


def reply_from(row: Sequence[Any]) -> Reply:
    """Return the reply of a row that begins as those of :data:`ANSWER` and :data:`VERSION` do."""
    version, codec, body, finish_reason, prompt, cached, completion, reasoning = row[:8]
    seconds, model, price, estimated, role, key_version, created_at = row[8:15]
    return Reply(
        text=unpack(body, codec),
        finish_reason=finish_reason,
        usage=Usage(
            prompt_tokens=prompt,
            cached_prompt_tokens=cached,
            completion_tokens=completion,
            reasoning_tokens=reasoning,
        ),
        seconds=seconds,
        model=model,
        price=price,
        estimated=bool(estimated),
        role=role,
        key_version=key_version,
        created_at=datetime.fromisoformat(created_at),
        cached=True,
        version=version,
    )
