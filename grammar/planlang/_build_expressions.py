"""Nodes of expressions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import _nodes as n
from ._building import Building, Parts, span
from ._targets import as_target
from ._token import Token

__all__ = ["RULES"]

_CONSTANTS: dict[str, bool | None] = {"True": True, "False": False, "None": None}


def _tuple(b: Building, parts: Parts) -> n.Node:
    return n.TupleDisplay(*span(parts), parts[::2])


def _starred(b: Building, parts: Parts) -> n.Node:
    return n.Starred(*span(parts), parts[1])


def _conditional(b: Building, parts: Parts) -> n.Node:
    return n.Conditional(*span(parts), parts[2], parts[0], parts[4])


def _walrus(b: Building, parts: Parts) -> n.Node:
    """Make the node and say nothing: `_check_walrus` does, which knows what stands around it."""
    target, mark, value = parts
    binds = [n.Name(target.start, target.end, target.id)] if isinstance(target, n.Name) else []
    return n.Refused(target.start, value.end, "walrus", (mark.start, mark.end), [value], binds)


def _yield(b: Building, parts: Parts) -> n.Node:
    return b.refused("yield", parts[0], parts[1:], [])


def _or(b: Building, parts: Parts) -> n.Node:
    return n.Or(*span(parts), parts[::2])


def _and(b: Building, parts: Parts) -> n.Node:
    return n.And(*span(parts), parts[::2])


def _unary(b: Building, parts: Parts) -> n.Node:
    op, operand = parts
    if op.type == "~":
        return b.refused("~", op, [operand], [])
    return n.Unary(*span(parts), op.type, operand)


def _comparison_op(b: Building, parts: Parts) -> str:
    op = " ".join(part.type for part in parts)
    if op == "<>":
        b.refuse("<>", *span(parts))
        return "!="
    return op


def _compare(b: Building, parts: Parts) -> n.Node:
    return n.Compare(*span(parts), parts[::2], parts[1::2])


def _chain(b: Building, parts: Parts) -> n.Node:
    for op in parts[1::2]:
        if op.type in ("<<", ">>", "@"):
            return _refused_operator(b, op, parts)
    return n.Chain(*span(parts), parts[::2], [op.type for op in parts[1::2]])


def _refused_operator(b: Building, op: Token, parts: Parts) -> n.Node:
    base, by = parts[0], parts[-1]
    if op.type == "@" or len(parts) > 3 or not isinstance(by, n.Constant) or type(by.value) is not int:
        return b.refused("@" if op.type == "@" else "<<", op, parts, [])
    if not 0 <= by.value < _MOST_SHIFTED:
        return b.refused("<<", op, parts, [])
    sign = "*" if op.type == "<<" else "//"
    whole = Token(op.type, op.value, base.start, by.end)
    return b.refused("<<", whole, parts, [], f"write `{_factor(b, base)} {sign} {2**by.value}`.")


def _factor(b: Building, node: n.Node) -> str:
    """Return the text of ``node`` as a factor of a product."""
    shown = b.text_of(node, 40)
    atom = isinstance(node, n.Name | n.Constant | n.Call | n.MethodCall | n.Subscript) or shown.startswith("(")
    return shown if atom else f"({shown})"


_MOST_SHIFTED = 20
_MOST_FACTORS = 6


def _power(b: Building, parts: Parts) -> n.Node:
    base, mark, exponent = parts
    if isinstance(exponent, n.Refused) and exponent.kind == "**":
        return exponent
    hint = ""
    times = exponent.value if isinstance(exponent, n.Constant) else None
    if type(times) is int and 2 <= times <= _MOST_FACTORS:
        hint = f"write `{' * '.join([_factor(b, base)] * times)}`."
    elif type(times) is int and isinstance(base, n.Constant) and base.value in (2, 10) and 0 <= times < _MOST_SHIFTED:
        value = int(base.value or 0) ** times
        hint = f"write `{value}`." if value <= b.rules.literal else ""
    elif times is None:
        shown = b.text_of(exponent, 30)
        loop = f"`for step in range({shown}):` with `power *= {b.text_of(base, 30)}`"
        hint = f"multiply in a `def` of its own: `power = 1`, then {loop}."
    whole = Token(mark.type, mark.value, base.start, exponent.end)
    return b.refused("**", whole, [base, exponent], [], hint)


def _await(b: Building, parts: Parts) -> n.Node:
    return b.refused("async", parts[0], parts[1:], [])


def _attribute(b: Building, parts: Parts) -> n.Node:
    value, _, name = parts
    return n.Attribute(*span(parts), value, name.value, (name.start, name.end))


def _subscript(b: Building, parts: Parts) -> n.Node:
    value, _, *items, _ = parts
    index = b.one_value(items[0]) if len(items) == 1 else n.TupleDisplay(*span(items), items[::2])
    return n.Subscript(*span(parts), value, index)


def _slice(b: Building, parts: Parts) -> n.Node:
    bounds: list[n.Node | None] = [None, None, None]
    at = 0
    for part in parts:
        if isinstance(part, Token):
            at += 1
        else:
            bounds[at] = part
    return n.Slice(*span(parts), *bounds)


def _name(b: Building, parts: Parts) -> n.Node:
    token = parts[0]
    return n.Name(token.start, token.end, token.value)


def _number(b: Building, parts: Parts) -> n.Node:
    token = parts[0]
    return n.Constant(token.start, token.end, token.value)


def _constant(b: Building, parts: Parts) -> n.Node:
    token = parts[0]
    return n.Constant(token.start, token.end, _CONSTANTS[token.type])


def _ellipsis(b: Building, parts: Parts) -> n.Node:
    begin = max(b.source.rfind("\n", 0, parts[0].start), b.source.rfind("\r", 0, parts[0].start)) + 1
    alone = not b.source[begin : parts[0].start].strip()
    hint = "write `pass`, or the lines that it stands for." if alone else "write `None`, or what it stands for."
    return b.refused("...", parts[0], [], [], hint)


def _empty_tuple(b: Building, parts: Parts) -> n.Node:
    return n.TupleDisplay(*span(parts), [])


def _parenthesised(b: Building, parts: Parts) -> n.Node:
    node = b.one_value(parts[1])
    node.start, node.end = span(parts)
    return node


def _generator(b: Building, parts: Parts) -> n.Node:
    return n.Generator(*span(parts), b.one_value(parts[1]), parts[2:-1])


def _bare_generator(b: Building, parts: Parts) -> n.Node:
    return n.Generator(*span(parts), parts[0], parts[1:])


def _list_display(b: Building, parts: Parts) -> n.Node:
    return n.ListDisplay(*span(parts), parts[1] if len(parts) == 3 else [])


def _exprs_in_list(b: Building, parts: Parts) -> list[n.Node]:
    return parts[::2]


def _list_comp(b: Building, parts: Parts) -> n.Node:
    return n.ListComp(*span(parts), b.one_value(parts[1]), parts[2:-1])


def _set_comp(b: Building, parts: Parts) -> n.Node:
    return n.SetComp(*span(parts), b.one_value(parts[1]), parts[2:-1])


def _dict_comp(b: Building, parts: Parts) -> n.Node:
    return n.DictComp(*span(parts), parts[1], parts[3], parts[4:-1])


class _Entry:
    """One ``key: value`` of a dict display; ``**value`` has no key."""

    def __init__(self, key: n.Node | None, value: n.Node) -> None:
        self.key, self.value = key, value


def _entry(b: Building, parts: Parts) -> _Entry:
    return _Entry(parts[0], parts[2])


def _double_spread_entry(b: Building, parts: Parts) -> _Entry:
    return _Entry(None, parts[1])


def _brace_display(b: Building, parts: Parts) -> n.Node:
    items = parts[1:-1:2]
    entries = [item for item in items if isinstance(item, _Entry)]
    if len(entries) == len(items):
        return n.DictDisplay(*span(parts), [e.key for e in entries], [e.value for e in entries])
    if entries:
        plain = next(item for item in items if not isinstance(item, _Entry))
        hint = f"write `{b.text_of(plain)}: value`, or leave the `:` out everywhere for a set."
        b.complain("PL020", plain.start, plain.end, "a dict needs `key: value` in every place", hint)
        items = [item for item in items if not isinstance(item, _Entry)]
    return n.SetDisplay(*span(parts), items)


def _clause(b: Building, parts: Parts) -> n.Clause:
    if parts[0].type == "async":
        b.refuse("async", parts[0].start, parts[0].end)
        parts = parts[1:]
    return n.Clause(*span(parts), as_target(b, parts[1]), parts[3], parts[5::2])


RULES: dict[str, Callable[[Building, Parts], Any]] = {
    "tuple": _tuple,
    "starred": _starred,
    "conditional": _conditional,
    "walrus": _walrus,
    "yield_": _yield,
    "or_": _or,
    "and_": _and,
    "unary": _unary,
    "comparison_op": _comparison_op,
    "compare": _compare,
    "chain": _chain,
    "power_": _power,
    "await_": _await,
    "attribute": _attribute,
    "subscript": _subscript,
    "slice": _slice,
    "name": _name,
    "number": _number,
    "constant": _constant,
    "ellipsis": _ellipsis,
    "empty_tuple": _empty_tuple,
    "parenthesised": _parenthesised,
    "generator": _generator,
    "bare_generator": _bare_generator,
    "list_display": _list_display,
    "exprs_in_list": _exprs_in_list,
    "list_comp": _list_comp,
    "set_comp": _set_comp,
    "dict_comp": _dict_comp,
    "entry": _entry,
    "double_spread_entry": _double_spread_entry,
    "brace_display": _brace_display,
    "clause": _clause,
}
