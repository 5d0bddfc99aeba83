"""What a store holds as plain data, for other programs; the shapes stand in ``docs/reference/store.md``.

Rows are read some hundred at a time by key, each step a transaction of its own, so that an export of many gigabytes
neither fills the memory nor keeps the write-ahead log from being emptied.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from functools import partial
from typing import Any

from planloom import StoreError
from planloom.questions import text_digest

from ._frames import refilled
from ._names import from_run
from ._packing import GONE, decode, from_digests, unpack
from ._shapes import event_from

__all__ = ["records_of"]

_AT_ONCE = 200

Row = tuple[Any, ...]


def records_of(connection: sqlite3.Connection, kind: str) -> Iterator[Mapping[str, Any]]:
    """Yield all records of one kind."""
    query, key, record = _KINDS[kind]
    if kind == "question":
        record = partial(_question, hashes=_hashes(connection))
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
    fingerprints, versions, result, result_codec, raw, raw_codec = row[13:]
    return {
        **record,
        "id": from_run(record["run"], record["id"]),
        "fingerprints": list(from_digests(fingerprints)),
        "versions": decode(versions),
        "result": decode(unpack(result, result_codec)),
        "raw": None if raw is None else unpack(raw, raw_codec),
    }


def _event(row: Row) -> dict[str, Any]:
    _, seq, t, shape, values, run = row
    event = event_from(run, (seq, t, shape, values))
    return {"run": run, "seq": seq, "t": t, "type": event.type, "data": dict(event.data)}


def _call(row: Row) -> dict[str, Any]:
    number, fingerprint, budget, run, thread, state, worst, price, sent_at = row
    return {
        "id": str(number),
        "fingerprint": fingerprint.hex(),
        "budget": budget,
        "run": run,
        "thread": from_run(run, thread),
        "state": state,
        "worst": worst,
        "price": price,
        "sent_at": _when(sent_at) if sent_at else None,
    }


def _part(row: Row) -> dict[str, Any]:
    _, digest, body, codec = row
    return {"hash": digest.hex(), "text": unpack(body, codec)}


def _question(row: Row, hashes: Callable[[int], str]) -> dict[str, Any]:
    number, fingerprint, body, codec, frame = row
    if codec == GONE:
        return {"fingerprint": fingerprint.hex(), "pruned": True}
    try:
        data, parts = refilled(frame or "", unpack(body, codec))
    except ValueError as error:
        raise StoreError(
            f"question {number} in the store is damaged ({error}); restore a copy of the store, or leave its kind out"
        ) from error
    digests = [hashes(part) if isinstance(part, int) else text_digest(part) for part in parts]
    for message in data["messages"]:
        message["parts"] = [digests[place] for place in message["parts"]]
    inline = {digest: part for digest, part in zip(digests, parts, strict=True) if isinstance(part, str)}
    return {"fingerprint": fingerprint.hex(), "pruned": False, **data, "inline": inline}


def _hashes(connection: sqlite3.Connection) -> Callable[[int], str]:
    """Return what tells the hash of a part by its number."""

    def digest(part: int) -> str:
        found = connection.execute("SELECT hash FROM part WHERE id = ?", (part,)).fetchone()
        if found is None:
            raise StoreError("the store lacks a text of a question; where it was pruned meanwhile, export it again")
        return bytes(found[0]).hex()

    return digest


def _reply(row: Row) -> dict[str, Any]:
    version, fingerprint, call, body, codec, estimated, *rest, created_at = row
    names = (
        *("finish_reason", "prompt_tokens", "cached_prompt_tokens", "completion_tokens", "reasoning_tokens"),
        *("seconds", "model", "price", "role", "key_version"),
    )
    return {
        "version": version,
        "fingerprint": fingerprint.hex(),
        "call": str(call),
        "pruned": codec == GONE,
        "text": None if codec == GONE else unpack(body, codec),
        "estimated": bool(estimated),
        **dict(zip(names, rest, strict=True)),
        "created_at": _when(created_at),
    }


def _when(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat()


_KINDS: Mapping[str, tuple[str, str, Callable[[Row], dict[str, Any]]]] = {
    "budget": ("SELECT id, name, cap, spent, reserved, uncertain FROM budget", "id", _budget),
    "run": (
        "SELECT number, id, title, status, plan, plan_hash, budget, created_at, job, facts, facts_codec, result, "
        "result_codec, error FROM run",
        "number",
        _run,
    ),
    "thread": (
        "SELECT number, thread.id, text, place, phase, label, model, role, status, started, ended, cost, error, "
        "fingerprints, versions, result, result_codec, raw, raw_codec FROM thread JOIN run_name ON run_name.id = run",
        "number",
        _thread,
    ),
    "event": (
        "SELECT run, seq, t, shape.text, data, run_name.text FROM event JOIN shape ON shape.id = event.shape "
        "JOIN run_name ON run_name.id = run",
        "run, seq",
        _event,
    ),
    "call": (
        "SELECT call.id, fingerprint, budget.name, text, thread, state, worst, price, sent_at FROM call "
        "JOIN question ON question.id = call.question JOIN budget ON budget.id = call.budget "
        "JOIN run_name ON run_name.id = call.run",
        "call.id",
        _call,
    ),
    "part": ("SELECT id, hash, body, codec FROM part", "id", _part),
    "question": (
        "SELECT question.id, fingerprint, body, codec, text FROM question LEFT JOIN frame ON frame.id = question.frame",
        "question.id",
        partial(_question, hashes=str),
    ),
    "reply": (
        "SELECT reply.id, fingerprint, call, reply.body, reply.codec, estimated, finish_reason, prompt_tokens, "
        "cached_prompt_tokens, completion_tokens, reasoning_tokens, seconds, model, price, role, key_version, "
        "created_at FROM reply JOIN question ON question.id = reply.question",
        "reply.id",
        _reply,
    ),
}
"""By kind: the query, the columns it is paged by, which come first, and what makes a record of a row."""
