"""Stand-in words: answers that depend on the question alone, for a plan and for the same text run by Python itself.

Every fifth worker fails, as workers do. The functions that run tasks exist twice: plainly for Python, and for plans,
where they start tasks.
"""

from __future__ import annotations

import inspect
import json
import zlib
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Any

from planlang import Call, Function, Value, Vocabulary, Word

__all__ = ["VALUES", "namespace", "vocabulary"]

PATHS = ["app/main.py", "app/state.py", "docs/a.py", "lib/cache.py", "lib/io/read.py", "lib/io/write.py", "setup.py"]
LENSES = ("boundaries", "general", "logic", "state")
ROLES = ("fast", "judge", "lead", "worker")
VALUES: dict[str, Any] = {
    "LENSES": ["boundaries", "logic", "state"],
    "MODELS": [*ROLES],
    "SCHEMAS": {"findings": {"type": "object"}},
    "args": {
        "question": "Is water wet?",
        "questions": ["What is a list?", "How far is the moon?", "Why?"],
        "topic": "the sea",
        "docs": ["Rain fell. It fell on the sea, and the sea rose.", "A second page, of the Harbour.", "Nets 12.50"],
    },
}


def drawn(*question: Any) -> int:
    """Return a number that depends on the question alone."""
    return zlib.crc32(json.dumps(question, sort_keys=True, default=str).encode())


def work() -> list[str]:
    return list(PATHS)


def shards(tokens: int = 100_000) -> list[list[str]]:
    size = max(1, min(len(PATHS), tokens // 20_000))
    return [PATHS[at : at + size] for at in range(0, len(PATHS), size)]


def render(shard: list[str]) -> str:
    return "\n".join(f"{n}: # {path}" for n, path in enumerate(shard, 1))


def batches(items: list[Any], size: int) -> list[list[Any]]:
    return [items[at : at + size] for at in range(0, len(items), size)]


def flatten(lists: list[Any]) -> list[Any]:
    return [item for one in lists if one is not None for item in one]


def key_of(finding: dict[str, Any]) -> str:
    return f"{finding['file']}:{finding['line']}"


def scan(shard: list[str], lens: str = "general", sample: int = 0, model: str = "worker") -> Any:
    if drawn("scan", shard, lens, sample, model) % 5 == 0:
        return None
    return [_finding(path, lens) for path in shard if drawn(path, lens) % 3]


def _finding(path: str, lens: str) -> dict[str, Any]:
    line = drawn(path) % 90 + 1
    return {"file": path, "line": line, "function": "f", "claim": f"{lens} is off", "confidence": drawn(path) % 10 / 10}


def dedupe(findings: list[Any]) -> list[Any]:
    found = {key_of(finding): finding for finding in reversed(findings)}
    return [found[key] for key in sorted(found)]


def check(batch: list[Any], sample: int = 0, model: str = "judge", skeptic: str = "doubter") -> Any:
    return [{"key": key_of(f), "real": drawn(key_of(f), sample) % 3 > 0, "reason": f"seen by {model}"} for f in batch]


def vote(candidates: list[Any], verdicts: list[Any], need: int = 2) -> list[Any]:
    real = [verdict["key"] for verdict in verdicts if verdict["real"]]
    return [finding for finding in candidates if real.count(key_of(finding)) >= need]


def report(confirmed: list[Any], model: str = "lead") -> Any:
    return {"bugs": [{"id": key_of(f), "title": f["claim"]} for f in confirmed], "summary": f"{len(confirmed)} bugs"}


def agent(
    prompt: str,
    schema: dict[str, Any] | None = None,
    model: str = "worker",
    label: str = "",
    system: str = "",
    data: Any = None,
    sample: int = 0,
    phase: str | None = None,
) -> Any:
    number = drawn("agent", prompt, schema, model, data, sample)
    if number % 5 == 0:
        return None
    return _fitting(schema, number) if schema else f"{('yes', 'No.', 'code', '1')[number % 4]}, line {number % 7}\nmore"


def _fitting(schema: dict[str, Any], number: int) -> Any:
    kind = schema.get("type")
    if kind == "object":
        return {name: _fitting(inner, number + at) for at, (name, inner) in enumerate(schema["properties"].items())}
    if kind == "array":
        return [_fitting(schema["items"], number + at) for at in range(3)]
    return number % 11 if kind == "number" else f"Text {number % 13}"


def phase(title: str | None) -> None: ...


def log(message: Any) -> None: ...


def budget() -> float:
    return 60.0


def to_json(value: Any) -> str:
    return json.dumps(value)


def plan(name: str, **args: Any) -> Any:
    return {"bugs": [args]} if drawn(name, args) % 5 else None


def parallel(thunks: list[Any]) -> list[Any]:
    return [_value_of(thunk) for thunk in thunks]


def pipeline(items: list[Any], *stages: Any) -> list[Any]:
    return [_value_of(partial(_through, item, at, stages)) for at, item in enumerate(items)]


def race(thunks: list[Any]) -> Any:
    return next((value for value in map(_value_of, thunks) if value is not None), None)


def _value_of(thunk: Callable[[], Any]) -> Any:
    try:
        return thunk()
    except Exception:
        return None  # a failed task


def _through(item: Any, at: int, stages: Sequence[Any]) -> Any:
    value = item
    for stage in stages:
        parameters = inspect.signature(stage).parameters.values()
        required = sum(p.default is p.empty for p in parameters)
        value = stage(*(value, item, at)[: max(1, required)])
        if value is None:
            return None
    return value


# ---- the same for plans


async def _parallel(place: Call, thunks: Sequence[Function]) -> list[object]:
    return await place.run_tasks(thunks, lambda _path, _error: None)


async def _race(place: Call, thunks: Sequence[Function]) -> object:
    return next((value for value in await _parallel(place, thunks) if value is not None), None)


async def _pipeline(place: Call, items: Sequence[Any], *stages: Function) -> list[object]:
    def task(at: int, item: Any) -> Callable[[Call], Awaitable[object]]:
        async def run(inner: Call) -> object:
            value = item
            for stage in stages:
                value = await inner.apply(stage, *(value, item, at)[: max(1, stage.required)])
                if value is None:
                    return None
            return value

        return run

    return await place.run_tasks([task(at, item) for at, item in enumerate(items)], lambda _path, _error: None)


_PLAIN: tuple[Callable[..., Any], ...] = (
    *(work, shards, render, batches, flatten, key_of, dedupe, vote),
    *(phase, log, budget, to_json),
)
_SPENDING: tuple[Callable[..., Any], ...] = (scan, check, report, agent, plan)
_RUNNING: tuple[tuple[Callable[..., Any], Callable[..., Any]], ...] = (
    (parallel, _parallel),
    (pipeline, _pipeline),
    (race, _race),
)
_CHOICES = {"model": ROLES, "lens": LENSES, "skeptic": ("doubter",)}


def namespace() -> dict[str, Any]:
    """Return the names that a plan may use, for Python itself."""
    words = {function.__name__: function for function in (*_PLAIN, *_SPENDING, parallel, pipeline, race)}
    return {**words, **json.loads(json.dumps(VALUES))}


def vocabulary() -> Vocabulary:
    """Return the same as words and values."""
    words = [_word(shape, _without_place(shape)) for shape in _PLAIN]
    words += [_word(shape, _without_place(shape))._replace(spends=True, suspends=True) for shape in _SPENDING]
    words += [_word(shape, call)._replace(runs_tasks=True, suspends=True) for shape, call in _RUNNING]
    return Vocabulary([*words, *map(_value, VALUES)])


def _value(name: str) -> Value:
    return Value(name, doc="", make=lambda _host: VALUES[name])


def _word(shape: Callable[..., Any], call: Callable[..., Any]) -> Word:
    signature = inspect.signature(shape)
    choices = {name: _CHOICES[name] for name in signature.parameters if name in _CHOICES}
    return Word(shape.__name__, call, signature=signature, doc="", choices=choices)


def _without_place(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda _place, *args, **keywords: function(*args, **keywords)
