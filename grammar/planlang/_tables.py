"""The parser's tables, read from the package's data once."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from pkgutil import get_data
from typing import Any

from . import _build_calls, _build_expressions, _build_statements, _build_texts
from ._building import Building, Parts

__all__ = ["Rule", "Tables", "tables"]


class Rule:
    """What happens when a rule is complete.

    :ivar builder: makes its node; ``None`` for a rule whose parts are spliced into the rule around it.
    :ivar single: the rule only passes one thing through.
    :ivar spliced: which of its parts are lists to lay flat.
    """

    __slots__ = ("builder", "goto", "length", "single", "spliced")

    def __init__(
        self,
        goto: dict[int, int],
        length: int,
        single: bool,
        builder: Callable[[Building, Parts], Any] | None,
        spliced: list[int],
    ) -> None:
        self.goto, self.length, self.single, self.builder, self.spliced = goto, length, single, builder, spliced


class _Rows(dict[int, dict[str, int]]):
    """The rows of the table by state, each spread out when it is first asked for: a plan meets a quarter of them."""

    def __init__(self, packed: list[list[int]], tokens: list[str]) -> None:
        super().__init__()
        self._packed, self._tokens = packed, tokens

    def __missing__(self, state: int) -> dict[str, int]:
        packed = self._packed[state]
        row: dict[str, int] = {}
        for tokens, action in zip(packed[::2], packed[1::2], strict=True):
            row.update(dict.fromkeys(self._tokens[tokens].split(), action))
        self[state] = row
        return row


class Tables:
    """LALR(1) tables: ``rows[state]`` maps a token type to a state to shift to, or to ``-n - 1`` for rule n.

    :ivar skips: for a state, the one below it and a token type: where a chain of single rules leads. It fills as plans
        are parsed and can hold no more than the grammar has combinations.
    """

    def __init__(self, data: dict[str, Any]) -> None:
        self.skips: dict[tuple[int, int, str], int] = {}
        self.rows = _Rows(data["rows"], data["tokens"])
        self.start: int = data["start"]
        self.end: int = data["end"]
        goto = {origin: _leads(packed, data["states"]) for origin, packed in data["goto"].items()}
        builders = _build_calls.RULES | _build_expressions.RULES | _build_statements.RULES | _build_texts.RULES
        self.rules = [
            Rule(goto.get(origin, {}), length, name == "=", builders[name] if name not in ("", "=") else None, spliced)
            for origin, length, name, spliced in data["rules"]
        ]


def _leads(packed: list[int], states: list[list[int]]) -> dict[int, int]:
    row: dict[int, int] = {}
    for below, to in zip(packed[::2], packed[1::2], strict=True):
        row.update(dict.fromkeys(states[below], to))
    return row


@cache
def tables() -> Tables:
    """Return the tables that ship with the package."""
    # Not importlib.resources: it imports tempfile and shutil, which costs more than the parse of a plan.
    return Tables(json.loads(get_data("planlang", "tables.json") or b""))
