"""A small vocabulary with the words that the cases use; none of them is ever called here."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

from planlang import Call, Value, Vocabulary, Word

Parameter = inspect.Parameter
REQUIRED = inspect.Parameter.empty


def never(place: Call, *args: Any, **kwargs: Any) -> None:
    raise AssertionError("a checker calls nothing")


def parameters(*given: tuple[str, Any, Any], rest: str = "", keywords: str = "") -> inspect.Signature:
    made = [
        Parameter(name, Parameter.POSITIONAL_OR_KEYWORD, default=default, annotation=kind)
        for name, kind, default in given
    ]
    if rest:
        made.append(Parameter(rest, Parameter.VAR_POSITIONAL))
    if keywords:
        made.append(Parameter(keywords, Parameter.VAR_KEYWORD))
    return inspect.Signature(made)


ANY = REQUIRED
ROLES = {"model": ("worker", "judge", "lead", "fast")}
LENSES = ("boundaries", "logic", "state", "general")


def spending(name: str, signature: inspect.Signature, doc: str, **choices: Any) -> Word:
    return Word(
        name,
        never,
        signature=signature,
        doc=doc,
        spends=True,
        suspends=True,
        choices={**ROLES, **choices},
        choice_nouns={"model": "role"},
        aliases={"role": "model"},
    )


def plain(name: str, signature: inspect.Signature, doc: str) -> Word:
    return Word(name, never, signature=signature, doc=doc)


def running(name: str, signature: inspect.Signature, doc: str) -> Word:
    return Word(name, never, signature=signature, doc=doc, suspends=True, runs_tasks=True)


def audit_words() -> list[Word]:
    scan = parameters(("shard", ANY, REQUIRED), ("lens", str, "general"), ("sample", int, 0), ("model", str, "worker"))
    return [
        plain("work", parameters(), "the paths there are"),
        plain("shards", parameters(("tokens", int, 100_000)), "lists of paths"),
        plain("render", parameters(("shard", ANY, REQUIRED)), "numbered text"),
        plain("batches", parameters(("items", ANY, REQUIRED), ("size", int, REQUIRED)), "lists of that size"),
        plain("flatten", parameters(("lists", ANY, REQUIRED)), "one list"),
        plain("key_of", parameters(("finding", dict, REQUIRED)), "the place of a finding"),
        scanning(scan),
        plain("dedupe", parameters(("findings", ANY, REQUIRED)), "one finding a place"),
        spending(
            "check",
            parameters(
                ("batch", ANY, REQUIRED), ("sample", int, 0), ("model", str, "judge"), ("skeptic", str, "doubter")
            ),
            "one verdict a finding",
            skeptic=("doubter",),
        ),
        plain(
            "vote",
            parameters(("candidates", ANY, REQUIRED), ("verdicts", ANY, REQUIRED), ("need", int, 2)),
            "the confirmed ones",
        ),
        spending("report", parameters(("confirmed", ANY, REQUIRED), ("model", str, "lead")), "bugs and a summary"),
    ]


def scanning(signature: inspect.Signature) -> Word:
    return Word(
        "scan",
        never,
        signature=signature,
        doc="findings, or None when the worker failed",
        spends=True,
        suspends=True,
        choices={**ROLES, "lens": LENSES},
        choice_nouns={"model": "role", "lens": "lens"},
        aliases={"role": "model"},
    )


def judged_schema(schema: Any) -> tuple[str, str, list[object]] | None:
    """Say what is wrong with a schema; in these cases that is its type, or the type of one of its properties."""
    if not isinstance(schema, dict):
        return None
    inner = schema.get("properties", {})
    parts = [([], schema), *((["properties", name], part) for name, part in inner.items())]
    for path, part in parts:
        kind = part.get("type") if isinstance(part, dict) else None
        if isinstance(kind, str) and kind not in ("array", "boolean", "integer", "number", "object", "string"):
            place = ".".join([*path, "type"])
            return f"`schema` is not a JSON Schema: {place}: {kind!r} is no type", "write one.", [*path, "type"]
    return None


def runtime_words() -> list[Word]:
    agent = parameters(
        ("prompt", str, REQUIRED),
        ("schema", ANY, None),
        ("model", str, "worker"),
        ("label", str, ""),
        ("system", str, ""),
        ("data", ANY, None),
        ("sample", int, 0),
        ("phase", str, None),
    )
    return [
        spending("agent", agent, "a worker's answer, or None")._replace(judges={"schema": judged_schema}),
        running("parallel", parameters(("thunks", ANY, REQUIRED)), "all values, in order"),
        running("pipeline", parameters(("items", ANY, REQUIRED), rest="stages"), "each item through all stages"),
        running("race", parameters(("thunks", ANY, REQUIRED)), "the first value"),
        plain("phase", parameters(("title", ANY, REQUIRED)), "nothing"),
        plain("log", parameters(("message", ANY, REQUIRED)), "nothing"),
        plain("budget", parameters(), "credits left"),
        plain("to_json", parameters(("value", ANY, REQUIRED)), "JSON"),
        Word(
            "plan",
            never,
            signature=parameters(("name", str, REQUIRED), keywords="args"),
            doc="what a saved plan gives",
            spends=True,
            suspends=True,
            choices={"name": ("module-audit", "slim")},
            barred={"name": {"deep": ("its line 2 calls plan() itself", "put its steps here.")}},
            choice_nouns={"name": "saved plan"},
        ),
    ]


def values() -> list[Value]:
    return [
        Value("LENSES", doc="names of lenses", make=lambda host: ["boundaries", "logic", "state"]),
        Value("args", doc="the plan's arguments", make=lambda host: {}),
    ]


@pytest.fixture(scope="session")
def audit_vocabulary() -> Vocabulary:
    """The words of runtime and audit."""
    return Vocabulary([*runtime_words(), *audit_words(), *values()])


@pytest.fixture(scope="session")
def three_words() -> Vocabulary:
    """The three words of the hostile cases."""
    return Vocabulary(
        [
            Word("scan", never, signature=parameters(("x", ANY, REQUIRED)), doc="", suspends=True, spends=True),
            plain("shards", parameters(("n", ANY, REQUIRED)), ""),
            Word(
                "parallel",
                never,
                signature=parameters(("thunks", ANY, REQUIRED)),
                doc="",
                suspends=True,
                runs_tasks=True,
            ),
        ]
    )
