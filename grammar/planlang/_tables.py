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


class Tables:
    """LALR(1) tables: ``rows[state]`` maps a token type to a state to shift to, or to ``-n - 1`` for rule n.

    :ivar skips: for a state, the one below it and a token type: where a chain of single rules leads. It fills as plans
        are parsed and can hold no more than the grammar has combinations.
    """

    def __init__(self, data: dict[str, Any]) -> None:
        self.skips: dict[tuple[int, int, str], int] = {}
        rows = data["rows"]
        self.rows: list[dict[str, int]] = [rows[at] for at in data["row_of"]]
        self.start: int = data["start"]
        self.end: int = data["end"]
        goto = {origin: {int(s): to for s, to in row.items()} for origin, row in data["goto"].items()}
        builders = _build_calls.RULES | _build_expressions.RULES | _build_statements.RULES | _build_texts.RULES
        self.rules = [
            Rule(goto.get(origin, {}), length, name == "=", builders[name] if name not in ("", "=") else None, spliced)
            for origin, length, name, spliced in data["rules"]
        ]


@cache
def tables() -> Tables:
    """Return the tables that ship with the package."""
    # Not importlib.resources: it imports tempfile and shutil, which costs more than the parse of a plan.
    return Tables(json.loads(get_data("planlang", "tables.json") or b""))
