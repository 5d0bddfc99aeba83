"""Questions, their parts, and replies, as rows."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from planloom import Usage
from planloom.questions import Message, Part, Question, Reply

from ._packing import GONE, clean, digest_of, pack, unpack

__all__ = [
    "ANSWER",
    "VERSION",
    "PartShelf",
    "add_question",
    "add_reply",
    "has_large_parts",
    "key_of",
    "question_from",
    "question_row",
    "reply_from",
    "restore_question",
]

_INLINE_BYTES = 512
"""A shorter part lies in its question's row: a row of its own would cost more than it saves."""

_LARGEST = 2**63 - 1

_REPLY_COLUMNS = (
    "hash, codec, body, finish_reason, prompt_tokens, cached_prompt_tokens, completion_tokens, reasoning_tokens, "
    "seconds, model, price, estimated, role, key_version, created_at"
)

_REPLY_TO = (
    f"SELECT id, {_REPLY_COLUMNS} FROM reply "  # noqa: S608  a constant of this module
    f"WHERE question = (SELECT id FROM question WHERE fingerprint = ?) AND codec != {GONE}"
)
ANSWER = f"{_REPLY_TO} ORDER BY call DESC, id LIMIT 1"
"""The answer to a fingerprint: the first reply to the newest call that has one."""
VERSION = f"{_REPLY_TO} AND id = ?"
"""The reply to a fingerprint that has this number."""


def key_of(fingerprint: str) -> bytes:
    """Return a fingerprint as it is stored; what is not one gives a key that nothing has."""
    try:
        return bytes.fromhex(fingerprint)
    except ValueError:
        return b""


def has_large_parts(question: Question) -> bool:
    """Whether a question has parts that get rows of their own."""
    return any(part.size_bytes >= _INLINE_BYTES for part in question.parts)


class PartShelf:
    """The parts that one writer knows to be stored, and those of the present batch, packed before its transaction.

    Packing a large part takes as long as hundreds of rows: other processes must not wait for the lock meanwhile.
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._stored: set[bytes] = set()
        self._packed: dict[bytes, tuple[bytes, int]] = {}
        self._added: set[bytes] = set()
        self._prunings = 0

    def keep_up(self) -> None:
        """Begin a transaction: what others pruned meanwhile is no longer stored."""
        (prunings,) = self._connection.execute("SELECT value FROM meta WHERE key = 'pruned'").fetchone()
        if prunings != self._prunings:
            self._prunings = prunings
            self._stored.clear()

    def missing(self, questions: Iterable[Question]) -> list[Part]:
        """Return the large parts of these questions that are not stored, each once."""
        found: dict[bytes, Part] = {}
        for question in questions:
            for part in question.parts:
                key = bytes.fromhex(part.digest)
                if part.size_bytes >= _INLINE_BYTES and key not in found and not self._has(key):
                    found[key] = part
        return list(found.values())

    def pack_ahead(self, parts: Iterable[Part]) -> None:
        """Pack parts for the transaction that follows."""
        self._packed = {bytes.fromhex(part.digest): pack(part.text) for part in parts}

    def add(self, part: Part) -> None:
        """Store a part, where it is not stored, in the open transaction."""
        key = bytes.fromhex(part.digest)
        if self._has(key):
            return
        body, codec = self._packed.get(key) or pack(part.text)
        self._connection.execute("INSERT INTO part (hash, body, codec) VALUES (?, ?, ?)", (key, body, codec))
        self._added.add(key)

    def committed(self) -> None:
        """Remember what the transaction added."""
        self._stored.update(self._added)
        self._packed.clear()
        self._added.clear()

    def rolled_back(self) -> None:
        """Forget what the transaction added; what is packed stays for another try."""
        self._added.clear()

    def _has(self, key: bytes) -> bool:
        if key in self._stored or key in self._added:
            return True
        if self._connection.execute("SELECT 1 FROM part WHERE hash = ?", (key,)).fetchone() is None:
            return False
        # Inside a transaction only what others committed is found here: what it added itself is in `_added`.
        self._stored.add(key)
        return True


def question_row(connection: sqlite3.Connection, question: Question) -> tuple[int, bool] | None:
    """Return the row number of a question and whether its text was pruned, or ``None`` when it was never asked."""
    row = connection.execute(
        "SELECT id, codec FROM question WHERE fingerprint = ?", (key_of(question.fingerprint),)
    ).fetchone()
    return None if row is None else (row[0], row[1] == GONE)


def add_question(connection: sqlite3.Connection, shelf: PartShelf, question: Question) -> int:
    """Store a question and those of its parts that are new; return its row number."""
    cursor = connection.execute(
        "INSERT INTO question (fingerprint, body, codec) VALUES (?, ?, ?)",
        (key_of(question.fingerprint), *_packed(shelf, question)),
    )
    assert cursor.lastrowid is not None
    return cursor.lastrowid


def restore_question(connection: sqlite3.Connection, shelf: PartShelf, question: Question, number: int) -> None:
    """Store the text of a question again that was pruned."""
    connection.execute("UPDATE question SET body = ?, codec = ? WHERE id = ?", (*_packed(shelf, question), number))


def _packed(shelf: PartShelf, question: Question) -> tuple[bytes, int]:
    """Store a question's large parts and return what its own row holds of it."""
    inline = {}
    for part in question.parts:
        if part.size_bytes < _INLINE_BYTES:
            inline[part.digest] = part.text
        else:
            shelf.add(part)
    # Canonical JSON has no line breaks, so the skeleton is the first line.
    return pack(question.skeleton.decode() + "\n" + json.dumps(inline))


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


def add_reply(connection: sqlite3.Connection, question: int, call: int, reply: Reply, packed: tuple[bytes, int]) -> int:
    """Store a reply as a version of the answer to a question; return its number."""
    usage = reply.usage
    body, codec = packed
    created = (reply.created_at or datetime.now(UTC)).astimezone(UTC)
    cursor = connection.execute(
        f"INSERT INTO reply (question, call, {_REPLY_COLUMNS}) "  # noqa: S608  a constant of this module
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            question,
            call,
            digest_of(reply.text),
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
        ),
    )
    assert cursor.lastrowid is not None
    return cursor.lastrowid


def _count(tokens: int | None) -> int | None:
    """Return a server's token count as the column can hold it: an absurd one must not lose a paid reply."""
    return None if tokens is None else min(tokens, _LARGEST)


def reply_from(row: tuple[Any, ...]) -> Reply:
    """Return the reply of a row of :data:`ANSWER` or :data:`VERSION`."""
    version, _, codec, body, finish_reason, prompt, cached, completion, reasoning, seconds, model, price, *rest = row
    estimated, role, key_version, created_at = rest
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
        created_at=datetime.fromisoformat(created_at),
        key_version=key_version,
        cached=True,
        version=version,
    )
