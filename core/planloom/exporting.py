"""A run as files, for other tools and for keeping: nothing cut, one JSON value a line where there are many."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from ._errors import Misuse
from .questions import Question, Reply
from .status import holes_now, lasted_s, status_now, workers_now
from .stores import RunRow, Store, ThreadRow

__all__ = ["RUN_FILES", "event_line", "export_run", "run_as_json"]

RUN_FILES = ("run.json", "plan.plan", "result.json", "events.jsonl", "transcripts.jsonl")
_PAGE = 1_000


def export_run(store: Store, row: RunRow, folder: Path) -> None:
    """Write a run's files below a folder, which is made where there is none.

    ``run.json`` is its record, ``events.jsonl`` its event stream, ``transcripts.jsonl`` its threads, each with its
    questions and the replies that it used.

    :raises Misuse: the folder cannot be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "run.json").write_text(_json(run_as_json(store, row), indent=2), encoding="utf-8")
        (folder / "plan.plan").write_text(row.plan, encoding="utf-8")
        (folder / "result.json").write_text(_json(row.result, indent=2), encoding="utf-8")
        _write_lines(folder / "events.jsonl", _events(store, row.id))
        _write_lines(folder / "transcripts.jsonl", _transcripts(store, row.id))
    except OSError as error:
        raise Misuse(f"cannot write below {folder}: {error.strerror}; name another folder with --out") from error


def run_as_json(store: Store, row: RunRow) -> dict[str, Any]:
    """Return a run's record as plain data, without plan, result and events."""
    status, progress = status_now(store, row), store.progress(row.id)
    return {
        "id": row.id,
        "title": row.title,
        "status": status,
        "workers": workers_now(store, row, status, progress),
        "holes": holes_now(store, row, status, progress),
        "seconds": round(lasted_s(store, row, status, progress), 3),
        "created_at": row.created_at,
        "plan_hash": row.plan_hash,
        "error": row.error,
        "money": dict(store.money(row.id)),
        "journal": store.journal(row.id),
        "facts": dict(row.facts),
    }


def event_line(event: Any) -> str:
    """Return an event as one line of JSON."""
    return _json({"seq": event.seq, "t": event.t, "type": event.type, **event.data})


def _write_lines(path: Path, lines: Iterable[str]) -> None:
    with path.open("w", encoding="utf-8") as file:
        file.writelines(f"{line}\n" for line in lines)


def _events(store: Store, run_id: str) -> Iterator[str]:
    after = 0
    while page := store.events(run_id, after, _PAGE):
        yield from map(event_line, page)
        after = page[-1].seq


def _transcripts(store: Store, run_id: str) -> Iterator[str]:
    after = None
    while page := store.threads(run_id, after=after, limit=_PAGE):
        yield from (_json(_transcript(store, thread)) for thread in page)
        after = page[-1].id


def _transcript(store: Store, thread: ThreadRow) -> dict[str, Any]:
    versions = thread.versions or (0,) * len(thread.fingerprints)
    asked = zip(thread.fingerprints, versions, strict=False)
    names = ("id", "place", "phase", "label", "role", "model", "status", "started", "ended", "result", "error", "raw")
    return {
        **{name: getattr(thread, name) for name in names},
        "cost": thread.cost,
        "turns": [_turn(fingerprint, store, version) for fingerprint, version in asked],
    }


def _turn(fingerprint: str, store: Store, version: int) -> dict[str, Any]:
    question, reply = store.question(fingerprint), store.reply(fingerprint, version or None)
    return {
        "fingerprint": fingerprint,
        "version": version or None,
        "question": question and _question(question),
        "reply": reply and _reply(reply),
    }


def _question(question: Question) -> dict[str, Any]:
    return {
        "endpoint": question.endpoint,
        "model": question.model,
        "parameters": dict(question.parameters),
        "sample": list(question.sample),
        "messages": [{"role": message.role, "content": message.text} for message in question.messages],
    }


def _reply(reply: Reply) -> dict[str, Any]:
    usage = reply.usage
    return {
        "text": reply.text,
        "finish_reason": reply.finish_reason,
        "prompt_tokens": usage.prompt_tokens,
        "cached_prompt_tokens": usage.cached_prompt_tokens,
        "completion_tokens": usage.completion_tokens,
        "reasoning_tokens": usage.reasoning_tokens,
        "seconds": reply.seconds,
        "model": reply.model,
        "price": reply.price,
        "estimated": reply.estimated,
        "created_at": reply.created_at.isoformat() if reply.created_at else None,
    }


def _json(value: Any, indent: int | None = None) -> str:
    # Lone surrogates have no UTF-8 form, and are written as escapes.
    return json.dumps(value, indent=indent, default=str)
