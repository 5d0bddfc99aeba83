"""Makes the parser's tables from ``plan.lark``: run ``python -m planlang.build_tables`` after changing the grammar.

The tables are LALR(1), computed by lark, and kept as JSON beside the package's code, so that nothing at run time
imports lark. Most states treat the same few sets of tokens alike, so a row names a set and what to do at each token of
it, which is a third of the size of the plain table. What a rule does when it is complete is decided here, from lark's
naming: splice (names with ``_``), pass one thing through (``?``), or call a builder.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

from lark import Lark
from lark.lexer import Lexer, Token

__all__ = ["build", "grammar", "main"]

TABLES = "tables.json"


class _NoLexer(Lexer):
    """Stands in for the tokenizer while the tables are made."""

    def __init__(self, lexer_conf: Any) -> None:
        del lexer_conf

    def lex(self, lexer_state: Any, parser_state: Any) -> Iterator[Token]:
        raise NotImplementedError


def grammar(lexer: type[Lexer] = _NoLexer) -> Lark:
    """Return lark's parser for the grammar; it keeps every token, as our own driver does."""
    text = files("planlang").joinpath("plan.lark").read_text(encoding="utf-8")
    return Lark(text, parser="lalr", lexer=lexer, keep_all_tokens=True, maybe_placeholders=False)


def build() -> dict[str, Any]:
    """Return the tables as plain data.

    ``rows[state]`` is ``[set, n, set, n, ...]``: at every token of ``tokens[set]``, shift to state n, or reduce by rule
    m where n is ``-m - 1``. ``goto`` has the same shape: a rule's origin, then sets of ``states`` and where each leads.
    A rule is [origin, length, builder, spliced positions] with the builder ``""`` for a splice and ``"="`` for a rule
    that passes one thing through.
    """
    # The typed face of lark ends here; its tables have no public accessor.
    lark: Any = grammar()
    table = lark.parser.parser._parse_table
    literal = {terminal.name: terminal.pattern.value for terminal in lark.terminals if terminal.pattern}
    order = _numbered(table)
    rules: list[Any] = []
    tokens: list[str] = []
    states: list[list[int]] = []
    rows: list[list[int]] = []
    goto: dict[str, dict[int, int]] = {}
    for state, number in order.items():
        row: dict[str, int] = {}
        for symbol, (action, argument) in sorted(table.states[state].items()):
            if action.name != "Shift":
                if argument not in rules:
                    rules.append(argument)
                row[literal.get(symbol, symbol)] = -rules.index(argument) - 1
            elif symbol.isupper():
                row[literal.get(symbol, symbol)] = order[argument]
            else:
                goto.setdefault(symbol, {})[number] = order[argument]
        rows.append(_grouped(row, tokens, " ".join))
    return {
        "start": order[table.start_states["start"]],
        "end": order[table.end_states["start"]],
        "tokens": tokens,
        "rows": rows,
        "states": states,
        "goto": {origin: _grouped(row, states, list) for origin, row in sorted(goto.items())},
        "rules": [_rule(rule, _singles(rules)) for rule in rules],
    }


def _grouped(row: dict[Any, int], sets: list[Any], pack: Callable[[list[Any]], Any]) -> list[int]:
    """Return a row as sets of keys, by number, and the value of each; sets that are new join ``sets``."""
    found: list[int] = []
    for value in dict.fromkeys(row.values()):
        keys = pack([key for key in row if row[key] == value])
        if keys not in sets:
            sets.append(keys)
        found += (sets.index(keys), value)
    return found


def _numbered(table: Any) -> dict[int, int]:
    """Return a number for each state that depends on the grammar alone: lark's own follow the hash seed."""
    order = {table.start_states["start"]: 0}
    for state in (waiting := list(order)):
        for _, (action, argument) in sorted(table.states[state].items(), key=lambda item: item[0]):
            if action.name == "Shift" and argument not in order:
                order[argument] = len(order)
                waiting.append(argument)
    return order


def _singles(rules: list[Any]) -> set[str]:
    """Return the spliced rules that always hold exactly one thing, so that no list is needed for it."""
    singles = {rule.origin.name for rule in rules if rule.origin.name.startswith("_")}
    while True:
        long = {r.origin.name for r in rules if len(r.expansion) != 1 or _is_spliced(r.expansion[0], singles)}
        if not singles & long:
            return singles
        singles -= long


def _is_spliced(symbol: Any, singles: set[str]) -> bool:
    return not symbol.is_term and symbol.name.startswith("_") and symbol.name not in singles


def _rule(rule: Any, singles: set[str]) -> list[Any]:
    origin = rule.origin.name
    spliced = [at for at, symbol in enumerate(rule.expansion) if _is_spliced(symbol, singles)]
    passes = rule.options.expand1 and not rule.alias and len(rule.expansion) == 1 and not spliced
    if passes or origin in singles:
        builder = "="
    elif origin.startswith("_"):
        builder = ""
    else:
        builder = rule.alias or origin
    return [origin, len(rule.expansion), builder, spliced]


def main() -> None:
    """Write the tables beside the grammar."""
    place = Path(str(files("planlang").joinpath(TABLES)))
    place.write_text(json.dumps(build(), separators=(",", ":"), sort_keys=True) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
