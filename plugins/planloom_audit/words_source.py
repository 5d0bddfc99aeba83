"""Words that hand out the work: paths, shards, text, batches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from planlang import Call, Value, Word
from planloom.runtime import host_of
from planloom.words import signature_of

from .schemas import named_schemas
from .work import AuditRun

__all__ = ["audit_run", "names_of", "source_words"]


def audit_run(call: Call) -> AuditRun:
    """Return the audit's state of the run that a word was called in."""
    return host_of(call).state("audit", AuditRun)


def source_words(lenses: Sequence[str]) -> list[Word | Value]:
    """Return the words and values that hand out the work; ``lenses`` is what ``LENSES`` holds."""
    return [
        Word("work", _work, signature=signature_of(lambda: None), doc="the paths of all source files, a list"),
        Word(
            "shards",
            _shards,
            signature=signature_of(_shards_shape),
            doc="all files packed into groups of about that many tokens; each a list of paths",
        ),
        Word("render", _render, signature=signature_of(_shard_shape), doc="the numbered text of a shard"),
        Word("batches", _batches, signature=signature_of(_batches_shape), doc="the list cut into lists of that size"),
        Word("flatten", _flatten, signature=signature_of(_lists_shape), doc="one list of all items; skips None"),
        Value("LENSES", doc="names of the lenses, a list", make=lambda host: list(lenses)),
        Value("SCHEMAS", doc='JSON Schemas by name: "findings", "verdicts"', make=lambda host: named_schemas()),
    ]


def names_of(shard: Any, word: str) -> list[str]:
    """Return the paths that a shard holds.

    :raises TypeError: it is not a list of paths.
    """
    if isinstance(shard, str):
        return [shard]
    if not isinstance(shard, list | tuple) or not all(isinstance(name, str) for name in shard):
        raise TypeError(f"{word}() takes a shard, a list of paths as shards() gives it; got {type(shard).__name__}")
    return list(shard)


def _shards_shape(tokens: int = 100_000) -> None: ...


def _shard_shape(shard: list) -> None: ...  # type: ignore[type-arg]  # as a plan may write it


def _batches_shape(items: list, size: int) -> None: ...  # type: ignore[type-arg]  # as a plan may write it


def _lists_shape(lists: list) -> None: ...  # type: ignore[type-arg]  # as a plan may write it


def _work(call: Call) -> list[str]:
    return list(audit_run(call).work.tree.paths)


def _shards(call: Call, tokens: int = 100_000) -> list[list[str]]:
    if type(tokens) is not int or tokens < 1:
        raise ValueError(f"shards() takes a whole number of tokens of at least 1, got {tokens!r}")
    return audit_run(call).work.shards(tokens)


def _render(call: Call, shard: Any) -> str:
    return audit_run(call).work.text(names_of(shard, "render")).text


def _batches(call: Call, items: Any, size: int) -> list[list[Any]]:
    if type(size) is not int or size < 1:
        raise ValueError(f"batches() takes a size of at least 1, got {size!r}")
    rows = list(items)
    return [rows[start : start + size] for start in range(0, len(rows), size)]


def _flatten(call: Call, lists: Any) -> list[Any]:
    return [item for row in lists if row is not None for item in (row if isinstance(row, list | tuple) else [row])]
