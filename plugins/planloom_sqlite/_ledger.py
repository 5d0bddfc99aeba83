"""Stored questions and replies, and the rows that replies become."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from planloom import StoreError, Usage
from planloom.questions import Message, Part, Question, Reply

from ._connections import Readers
from ._frames import refilled
from ._names import RUN_NUMBER
from ._packing import GONE, clean, unpack
from ._rows import NO_NUMBER, NO_TEXT, REPLY, Rows

__all__ = [
    "ANSWER",
    "VERSION",
    "add_reply",
    "read_own_versions",
    "read_question",
    "read_replies",
    "reply_from",
]

_LARGEST = 2**63 - 1
_new = object.__new__

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
    "SELECT question.fingerprint, reply.id FROM call JOIN question ON question.id = call.question "  # noqa: S608  a constant of this package
    f"JOIN reply ON reply.question = call.question AND reply.call = call.id WHERE call.run = {RUN_NUMBER} "
    "ORDER BY call.id"
)


_QUESTION = (
    "SELECT question.id, frame.text, body, codec FROM question LEFT JOIN frame ON frame.id = question.frame "  # noqa: S608  a constant of this package
    f"WHERE fingerprint = ? AND codec != {GONE}"
)


def read_question(readers: Readers, fingerprint: bytes, where: str) -> Question | None:
    """Return a question that was asked, or ``None``.

    :raises StoreError: it, or one of its texts, is damaged or missing.
    """
    row = readers.row(_QUESTION, (fingerprint,))
    if row is None:
        return None
    number, frame, body, codec = row

    def part_text(part: int) -> str:
        found = readers.row("SELECT body, codec FROM part WHERE id = ?", (part,))
        if found is None:
            raise StoreError(f"the store {where} lacks a text of question {number}; restore a copy of the store")
        return unpack(*found)

    try:
        return question_from(frame or "", unpack(body, codec), part_text)
    except ValueError as error:
        raise StoreError(
            f"question {number} of the store {where} is damaged ({error}); restore a copy of the store"
        ) from error


def question_from(frame: str, stored: str, part_text: Callable[[int], str]) -> Question:
    """Return a stored question; ``part_text`` gives the text of a part by its number.

    :raises ValueError: its row is damaged.
    """
    data, contents = refilled(frame, stored)
    parts = [Part(part_text(part) if isinstance(part, int) else part) for part in contents]
    first, second = data["sample"]
    return Question(
        endpoint=data["endpoint"],
        model=data["model"],
        messages=tuple(Message(m["role"], tuple(parts[place] for place in m["parts"])) for m in data["messages"]),
        parameters=data["parameters"],
        sample=(first, second),
    )


def add_reply(rows: Rows, question: int, call: int, reply: Reply, packed: tuple[bytes, int, bytes]) -> int:
    """Store a reply as a version of the answer to a question; return its number.

    :param packed: its text as it is stored, the codec, and its hash.
    """
    usage, finish_reason, created_at = reply.usage, reply.finish_reason, reply.created_at
    body, codec, digest = packed
    number = rows.number("reply")
    row = (
        number,
        question,
        call,
        bytearray(digest),
        codec,
        bytearray(body),
        NO_TEXT if finish_reason is None else clean(finish_reason),
        _count(usage.prompt_tokens),
        _count(usage.cached_prompt_tokens),
        _count(usage.completion_tokens),
        _count(usage.reasoning_tokens),
        reply.seconds,
        clean(reply.model),
        reply.price,
        int(reply.estimated),
        clean(reply.role),
        reply.key_version,
        time.time() if created_at is None else created_at.timestamp(),
    )
    rows.add(REPLY, row)
    return number


def _count(tokens: int | None) -> int | str:
    """Return a server's token count as the column can hold it: an absurd one must not lose a paid reply."""
    return NO_NUMBER if tokens is None else tokens if tokens < _LARGEST else _LARGEST


def reply_from(row: Sequence[Any]) -> Reply:
    """Return the reply of a row that begins as those of :data:`ANSWER` and :data:`VERSION` do."""
    version, codec, body, finish_reason, prompt, cached, completion, reasoning, *others = row
    seconds, model, price, estimated, role, key_version, created_at, *_ = others
    # Not by calling the classes, which puts the names into a dictionary and takes twice as long: a run that is played
    # again makes very many.
    usage, reply = _new(Usage), _new(Reply)
    Usage.__init__(
        usage,
        prompt_tokens=prompt,
        cached_prompt_tokens=cached,
        completion_tokens=completion,
        reasoning_tokens=reasoning,
    )
    Reply.__init__(
        reply,
        text=unpack(body, codec),
        finish_reason=finish_reason,
        usage=usage,
        seconds=seconds,
        model=model,
        price=price,
        estimated=bool(estimated),
        role=role,
        key_version=key_version,
        created_at=datetime.fromtimestamp(created_at, UTC),
        cached=True,
        version=version,
    )
    return reply
