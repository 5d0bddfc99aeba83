"""missing-value: code that runs only when a value is missing, and uses the value.

``if x is not None: return x`` followed by ``x.strip()``, ``not x or x[0]`` written with ``and``, ``d[k]`` where ``k not
in d`` holds: whatever is passed, the use fails as soon as it is reached. So these are mistakes and no matter of taste.
Facts come from tests on plain names; a name that is given another value loses them.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence

from planloom.data_classes import frozen

from ._words import number, quoted
from .parsed import ParsedFile, children
from .rules import Hit

_NONE, _EMPTY, _ABSENT = "None", "empty", "absent"
_DEFERRED = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda
_LEAVES = ast.Return | ast.Raise | ast.Continue | ast.Break
_ORDERED = ast.Lt | ast.LtE | ast.Gt | ast.GtE
_TAKES_SOME = frozenset({"len", "iter", "sum", "sorted", "list", "tuple", "set", "int", "float", "abs", "max", "min"})


@frozen
class _Fact:
    """What a test has told: ``name`` is None, or holds nothing, or does not hold the ``key``.

    :ivar key: a dump of it; ``key_names`` are the names that it is made of.
    """

    kind: str
    name: str
    key: str = ""
    key_names: frozenset[str] = frozenset()


def check(file: ParsedFile) -> Iterator[Hit]:
    """Find uses of values that are known to be missing where they stand."""
    for function in file.functions:
        yield from _block(function.node.body, ())


def _block(body: Sequence[ast.stmt], facts: tuple[_Fact, ...]) -> Iterator[Hit]:
    """What is wrong in statements one after the other, the first of which begins with these facts."""
    for statement in body:
        if isinstance(statement, _DEFERRED):
            continue
        used = (_use(expression, facts) for expression in _own(statement))
        hit = next((found for found in used if found is not None), None)
        if hit is not None:
            yield hit
            return
        for expression in _own(statement):
            yield from _within(expression)
        facts = _after(statement, facts)
        yield from _inner(statement, facts)
        if isinstance(statement, ast.If) and not statement.orelse and isinstance(statement.body[-1], _LEAVES):
            facts = (*facts, *_facts(statement.test, False))


def _inner(statement: ast.stmt, facts: tuple[_Fact, ...]) -> Iterator[Hit]:
    """What is wrong in the blocks of a statement."""
    if isinstance(statement, ast.If):
        yield from _block(statement.body, (*facts, *_facts(statement.test, True)))
        yield from _block(statement.orelse, (*facts, *_facts(statement.test, False)))
        return
    # A loop may come back with other values, and what fails may be caught.
    for name in ("body", "orelse", "finalbody"):
        yield from _block(getattr(statement, name, ()), ())
    for handler in getattr(statement, "handlers", ()):
        yield from _block(handler.body, ())


def _own(statement: ast.stmt) -> list[ast.expr]:
    """The expressions of a statement that are evaluated before its blocks."""
    return [part for part in children(statement) if isinstance(part, ast.expr)]


def _after(statement: ast.stmt, facts: tuple[_Fact, ...]) -> tuple[_Fact, ...]:
    """The facts that hold still once a statement has begun."""
    if not facts:
        return facts
    changed = set(_changed(statement))
    return tuple(fact for fact in facts if fact.name not in changed and not fact.key_names & changed)


def _changed(statement: ast.AST) -> Iterator[str]:
    """Names that may be other values, or hold other things, afterwards."""
    for node in ast.walk(statement):
        match node:
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
                yield name
            case ast.Subscript(value=ast.Name(id=name), ctx=ast.Store() | ast.Del()):
                yield name
            case ast.Call(func=called, args=arguments, keywords=keywords):
                parts = [called, *arguments, *(keyword.value for keyword in keywords)]
                yield from (inner.id for part in parts for inner in ast.walk(part) if isinstance(inner, ast.Name))
            case ast.Global(names=names) | ast.Nonlocal(names=names):
                yield from names


def _within(expression: ast.expr) -> Iterator[Hit]:
    """What is wrong between the parts of one expression."""
    for node in _now(expression):
        parts: list[tuple[ast.expr, list[_Fact]]] = []
        match node:
            case ast.BoolOp(op=op, values=values):
                is_and = isinstance(op, ast.And)
                known: list[_Fact] = []
                for value in values:
                    parts.append((value, list(known)))
                    known += _facts(value, is_and)
            case ast.IfExp(test=test, body=body, orelse=orelse):
                parts = [(body, list(_facts(test, True))), (orelse, list(_facts(test, False)))]
        for part, facts in parts:
            hit = _use(part, facts)
            if hit is not None:
                yield hit
                return


def _facts(test: ast.expr, truth: bool) -> Iterator[_Fact]:
    """What is known once a test has come out so."""
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield from _facts(operand, not truth)
        case ast.BoolOp(op=op, values=values) if isinstance(op, ast.And) == truth:
            for value in values:
                yield from _facts(value, truth)
        case ast.Name(id=name) if not truth:
            yield _Fact(_EMPTY, name)
        case ast.Compare(left=ast.Name(id=name), ops=[op], comparators=[ast.Constant(value=None)]):
            if isinstance(op, ast.Is | ast.Eq) == truth and isinstance(op, ast.Is | ast.Eq | ast.IsNot | ast.NotEq):
                yield _Fact(_NONE, name)
        case ast.Compare(left=left, ops=[ast.In() | ast.NotIn() as op], comparators=[ast.Name(id=name)]):
            if isinstance(op, ast.NotIn) == truth and not isinstance(left, ast.Call):
                names = frozenset(node.id for node in ast.walk(left) if isinstance(node, ast.Name))
                yield _Fact(_ABSENT, name, ast.dump(left), names)


def _use(expression: ast.expr, facts: Iterable[_Fact]) -> Hit | None:
    """The first certain failure in an expression, which is evaluated as a whole or not at all."""
    by_name = {fact.name: fact for fact in facts}
    if not by_name:
        return None
    for node in _now(expression, certainly=True):
        for name in _used(node):
            fact = by_name.get(name)
            if fact is not None and _fails(node, fact):
                return _hit(node, fact)
    return None


def _now(expression: ast.expr, *, certainly: bool = False) -> Iterator[ast.AST]:
    """The parts of an expression that are evaluated with it, or may be; functions in it run later."""
    stack: list[ast.AST] = [expression]
    while stack:
        node = stack.pop()
        if isinstance(node, _DEFERRED | ast.NamedExpr | ast.comprehension):
            continue
        yield node
        if certainly and isinstance(node, ast.BoolOp):
            stack.append(node.values[0])
        elif certainly and isinstance(node, ast.IfExp):
            stack.append(node.test)
        else:
            stack.extend(children(node))


def _used(node: ast.AST) -> Iterator[str]:
    """Names that a node does something with."""
    match node:
        case ast.Attribute(value=ast.Name(id=name)) | ast.Subscript(value=ast.Name(id=name)):
            yield name
        case ast.Call(func=called, args=arguments):
            yield from (part.id for part in (called, *arguments[:1]) if isinstance(part, ast.Name))
            if isinstance(called, ast.Attribute) and isinstance(called.value, ast.Name):
                yield called.value.id
        case ast.BinOp(left=left, right=right):
            yield from (part.id for part in (left, right) if isinstance(part, ast.Name))
        case ast.Compare(left=left, comparators=[right]):
            yield from (part.id for part in (left, right) if isinstance(part, ast.Name))


def _fails(node: ast.AST, fact: _Fact) -> bool:
    if fact.kind == _NONE:
        return _fails_on_none(node, fact.name)
    if fact.kind == _EMPTY:
        return _fails_on_nothing(node, fact.name)
    return _fails_without(node, fact)


def _fails_on_none(node: ast.AST, name: str) -> bool:
    match node:
        case ast.Attribute(attr=attribute):
            return not attribute.startswith("__")
        case ast.Subscript():
            return True
        case ast.Call(func=ast.Name(id=called), args=[ast.Name(id=first), *_]) if first == name:
            return called in _TAKES_SOME and not (called in ("max", "min") and len(node.args) != 1)
        case ast.Call(func=ast.Name(id=called)):
            return called == name
        case ast.BinOp(op=op, left=left):
            # `"%s" % None` prints it, and `None | int` is a type.
            is_left = isinstance(left, ast.Name) and left.id == name
            return not isinstance(op, ast.BitOr) and (is_left or not isinstance(op, ast.Mod))
        case ast.Compare(ops=[op]):
            return isinstance(op, _ORDERED)
    return False


def _fails_on_nothing(node: ast.AST, name: str) -> bool:
    match node:
        case ast.Subscript(slice=index, ctx=ast.Load()):
            return isinstance(number(index), int)
        case ast.Call(func=ast.Name(id="max" | "min"), args=[ast.Name()], keywords=[]):
            return True
        case ast.Call(func=ast.Attribute(value=ast.Name(id=called), attr="pop" | "popleft"), args=[]):
            return called == name
    return False


def _fails_without(node: ast.AST, fact: _Fact) -> bool:
    match node:
        case ast.Subscript(slice=key, ctx=ast.Load() | ast.Del()):
            return ast.dump(key) == fact.key
        case ast.Call(func=ast.Attribute(value=ast.Name(id=called), attr="index" | "remove"), args=[key]):
            return called == fact.name and ast.dump(key) == fact.key
        case ast.Call(func=ast.Attribute(value=ast.Name(id=called), attr="pop"), args=[key]):
            return called == fact.name and ast.dump(key) == fact.key
    return False


def _hit(node: ast.AST, fact: _Fact) -> Hit:
    known = {_NONE: f"`{fact.name}` is None", _EMPTY: f"`{fact.name}` holds nothing"}
    what = known.get(fact.kind, f"`{fact.name}` does not hold what is asked of it")
    return Hit(
        line=getattr(node, "lineno", 1),
        claim=f"`{quoted(node)}` is reached only when {what}",
        failing_call=quoted(node),
        expected="the opposite test, or another value",
    )
