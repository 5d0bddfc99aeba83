"""What a store holds as plain data, for other programs; the shapes stand in ``docs/reference/store.md``.

Rows are read some hundred at a time by key, each step a transaction of its own, so that an export of many gigabytes
neither fills the memory nor keeps the write-ahead log from being emptied.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from ._packing import GONE, decode, unpack

__all__ = ["records_of"]

_AT_ONCE = 200

Row = tuple[Any, ...]


def records_of(connection: sqlite3.Connection, kind: str) -> Iterator[Mapping[str, Any]]:
    """Yield all records of one kind."""
    query, key, record = _KINDS[kind]
    after: Row | None = None
    while rows := _page(connection, query, key, after):
        for row in rows:
            yield {"kind": kind, **record(row)}
        after = rows[-1][: key.count(",") + 1]


def _page(connection: sqlite3.Connection, query: str, key: str, after: Row | None) -> list[Row]:
    marks = ", ".join("?" for _ in after or ())
    where = f"WHERE ({key}) > ({marks})" if after else ""
    paged = f"{query} {where} ORDER BY {key} LIMIT {_AT_ONCE}"
    return connection.execute(paged, after or ()).fetchall()


def _budget(row: Row) -> dict[str, Any]:
    return dict(zip(("name", "cap", "spent", "reserved", "uncertain"), row[1:], strict=True))


def _run(row: Row) -> dict[str, Any]:
    names = ("id", "title", "status", "plan", "plan_hash", "budget", "created_at", "job")
    facts, facts_codec, result, result_codec, error = row[9:]
    return {
        **dict(zip(names, row[1:9], strict=True)),
        "facts": decode(unpack(facts, facts_codec)),
        "result": decode(unpack(result, result_codec)),
        "error": error,
    }


def _thread(row: Row) -> dict[str, Any]:
    names = ("id", "run", "place", "phase", "label", "model", "role", "status", "started", "ended", "cost", "error")
    record = dict(zip(names, row[1:13], strict=True))
    fingerprints, versions, result, raw, raw_codec = row[13:]
    return {
        **record,
        "fingerprints": decode(fingerprints),
        "versions": decode(versions),
        "result": decode(result),
        "raw": None if raw is None else unpack(raw, raw_codec),
    }


def _event(row: Row) -> dict[str, Any]:
    run, seq, t, kind, data = row
    return {"run": run, "seq": seq, "t": t, "type": kind, "data": decode(data)}


def _call(row: Row) -> dict[str, Any]:
    number, fingerprint, budget, run, thread, state, worst, price, sent_at = row
    return {
        "id": str(number),
        "fingerprint": fingerprint.hex(),
        "budget": budget,
        "run": run,
        "thread": thread,
        "state": state,
        "worst": worst,
        "price": price,
        "sent_at": None if sent_at is None else datetime.fromtimestamp(sent_at, UTC).isoformat(),
    }


def _part(row: Row) -> dict[str, Any]:
    _, digest, body, codec = row
    return {"hash": digest.hex(), "text": unpack(body, codec)}


def _question(row: Row) -> dict[str, Any]:
    _, fingerprint, body, codec = row
    if codec == GONE:
        return {"fingerprint": fingerprint.hex(), "pruned": True}
    skeleton, _, rest = unpack(body, codec).partition("\n")
    return {"fingerprint": fingerprint.hex(), "pruned": False, **json.loads(skeleton), "inline": json.loads(rest)}


def _reply(row: Row) -> dict[str, Any]:
    version, fingerprint, call, body, codec, estimated, *rest = row
    names = (
        *("finish_reason", "prompt_tokens", "cached_prompt_tokens", "completion_tokens", "reasoning_tokens"),
        *("seconds", "model", "price", "role", "key_version", "created_at"),
    )
    return {
        "version": version,
        "fingerprint": fingerprint.hex(),
        "call": str(call),
        "pruned": codec == GONE,
        "text": None if codec == GONE else unpack(body, codec),
        "estimated": bool(estimated),
        **dict(zip(names, rest, strict=True)),
    }


_KINDS: Mapping[str, tuple[str, str, Callable[[Row], dict[str, Any]]]] = {
    "budget": ("SELECT id, name, cap, spent, reserved, uncertain FROM budget", "id", _budget),
    "run": (
        "SELECT number, id, title, status, plan, plan_hash, budget, created_at, job, facts, facts_codec, result, "
        "result_codec, error FROM run",
        "number",
        _run,
    ),
    "thread": (
        "SELECT number, id, run, place, phase, label, model, role, status, started, ended, cost, error, "
        "fingerprints, versions, result, raw, raw_codec FROM thread",
        "number",
        _thread,
    ),
    "event": ("SELECT run, seq, t, type, data FROM event", "run, seq", _event),
    "call": (
        "SELECT call.id, fingerprint, budget.name, run, thread, state, worst, price, sent_at FROM call "
        "JOIN question ON question.id = call.question JOIN budget ON budget.id = call.budget",
        "call.id",
        _call,
    ),
    "part": ("SELECT rowid, hash, body, codec FROM part", "rowid", _part),
    "question": ("SELECT id, fingerprint, body, codec FROM question", "id", _question),
    "reply": (
        "SELECT reply.id, fingerprint, call, reply.body, reply.codec, estimated, finish_reason, prompt_tokens, "
        "cached_prompt_tokens, completion_tokens, reasoning_tokens, seconds, model, price, role, key_version, "
        "created_at FROM reply JOIN question ON question.id = reply.question",
        "reply.id",
        _reply,
    ),
}
"""By kind: the query, the columns it is paged by, which come first, and what makes a record of a row."""
