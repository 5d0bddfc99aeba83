"""fixed-condition: a condition that has the same outcome whatever the values are.

``kind == "a" and kind == "b"`` never holds, ``n != 1 or n != 2`` always does, nor is any number below the low bound and
above the high one. Mostly ``and`` was written for ``or``.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import combinations

from planloom.data_classes import frozen

from ._words import last_name, number, quoted, words_of
from .parsed import ParsedFile
from .rules import Hit

_LOW = frozenset({"low", "lower", "lo", "min", "minimum", "start", "first", "begin", "left", "smallest"})
_HIGH = frozenset({"high", "higher", "upper", "hi", "max", "maximum", "end", "last", "stop", "right", "largest"})
_APART = frozenset({"str", "bytes", "int", "float", "list", "tuple", "dict", "set"})
_OPPOSITE: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Lt: ast.GtE, ast.GtE: ast.Lt, ast.Gt: ast.LtE, ast.LtE: ast.Gt,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip
_TURNED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.Gt, ast.Gt: ast.Lt, ast.LtE: ast.GtE, ast.GtE: ast.LtE, ast.Eq: ast.Eq, ast.NotEq: ast.NotEq,
}  # fmt: skip


@frozen
class _Claim:
    """What a part of a condition says: a subject (a dump), how it is compared, and with what."""

    subject: str
    op: type[ast.cmpop] | str
    with_: ast.expr


def check(file: ParsedFile) -> Iterator[Hit]:
    """Find conditions that cannot come out both ways."""
    for condition, _ in file.sites(ast.BoolOp):
        if _is_fixed(condition):
            yield _hit(condition, isinstance(condition.op, ast.Or))
    for compared, _ in file.sites(ast.Compare):
        outcome = _of_length(compared)
        if outcome is not None:
            yield _hit(compared, outcome)


def _is_fixed(node: ast.BoolOp) -> bool:
    # `a or b` always holds when `not a and not b` never does.
    claims = [claim for value in node.values if (claim := _claim(value, isinstance(node.op, ast.Or))) is not None]
    return any(one.subject == other.subject and _exclude(one, other) for one, other in combinations(claims, 2))


def _claim(value: ast.expr, negated: bool) -> _Claim | None:
    match value:
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return _claim(operand, not negated)
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            kind: type[ast.cmpop] | None = type(op)
            if isinstance(left, ast.Constant) and kind in _TURNED:
                left, kind, right = right, _TURNED[kind], left
            kind = _OPPOSITE.get(kind) if negated and kind else kind
            if kind in _OPPOSITE and _is_steady(left):
                return _Claim(ast.dump(left), kind, right)
        case ast.Call(func=ast.Name(id="isinstance"), args=[ast.Name() as left, kind_of]) if not negated:
            return _Claim(ast.dump(left), "isinstance", kind_of)
        case ast.Call(
            func=ast.Attribute(value=ast.Name() as left, attr="startswith" | "endswith" as side), args=[what]
        ):
            return None if negated else _Claim(ast.dump(left), side, what)
    return None


def _is_steady(node: ast.expr) -> bool:
    """Whether asking twice gives the same: names, their parts, and lengths of them."""
    match node:
        case ast.Name():
            return True
        case ast.Attribute(value=value) | ast.Call(func=ast.Name(id="len"), args=[value], keywords=[]):
            return _is_steady(value)
        case ast.Subscript(value=value, slice=ast.Constant() | ast.Name()):
            return _is_steady(value)
    return False


def _exclude(one: _Claim, other: _Claim) -> bool:
    """Whether both can never hold of one value."""
    match one.op, other.op:
        case "isinstance", "isinstance":
            kinds = {getattr(one.with_, "id", ""), getattr(other.with_, "id", "")}
            return len(kinds) == 2 and kinds <= _APART
        case ("startswith", "startswith") | ("endswith", "endswith"):
            return _other_texts(one.with_, other.with_, one.op == "startswith")
        case (ast.Eq, ast.Eq):
            return _other_constants(one.with_, other.with_)
        case (ast.Lt | ast.LtE, ast.Gt | ast.GtE):
            return _crosses(one, other)
        case (ast.Gt | ast.GtE, ast.Lt | ast.LtE):
            return _crosses(other, one)
    return False


def _other_texts(one: ast.expr, other: ast.expr, at_start: bool) -> bool:
    match one, other:
        case ast.Constant(value=str() as a), ast.Constant(value=str() as b):
            return not (a.startswith(b) or b.startswith(a)) if at_start else not (a.endswith(b) or b.endswith(a))
    return False


def _other_constants(one: ast.expr, other: ast.expr) -> bool:
    match one, other:
        case ast.Constant(value=a), ast.Constant(value=b):
            return type(a) is type(b) and a != b
    return False


def _crosses(below: _Claim, above: _Claim) -> bool:
    """Whether nothing is below the one and above the other."""
    low, high = number(below.with_), number(above.with_)
    if low is not None and high is not None:
        touching = below.op is ast.LtE and above.op is ast.GtE
        return low < high or (low == high and not touching)
    low_words, high_words = set(words_of(last_name(below.with_))), set(words_of(last_name(above.with_)))
    return bool(low_words & _LOW and high_words & _HIGH) and not (low_words & _HIGH or high_words & _LOW)


def _of_length(node: ast.Compare) -> bool | None:
    """How a length always compares with 0, None where it depends."""
    match node:
        case ast.Compare(left=ast.Call(func=ast.Name(id="len")), ops=[ast.Lt()], comparators=[ast.Constant(value=0)]):
            return False
        case ast.Compare(left=ast.Call(func=ast.Name(id="len")), ops=[ast.GtE()], comparators=[ast.Constant(value=0)]):
            return True
    return None


def _hit(node: ast.expr, outcome: bool) -> Hit:
    return Hit(
        line=node.lineno,
        claim=f"`{quoted(node)}` {'always' if outcome else 'never'} holds, whatever the values are",
        failing_call=quoted(node),
        expected="a condition that some values meet and others do not",
    )
