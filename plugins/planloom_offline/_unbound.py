"""use-before-definition: a local name that is read where no assignment can have reached it.

A forward pass over each function keeps the set of names that *may* have been assigned. A back edge of a loop is the
delicate part: what the end of a body assigns reaches its start only from the second round on. So a read that the
first round surely makes must be reached without the back edge, while a read under a condition inside the loop may
rely on it (``if i > 0: use(previous)`` is usual and right).
"""

from __future__ import annotations

import ast
from bisect import bisect_left
from collections.abc import Iterable, Iterator

import attrs

from planloom.data_classes import frozen

from .parsed import Function, FunctionNode, ParsedFile, children
from .rules import Hit

_Scoped = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda
_Comprehension = ast.ListComp | ast.SetComp | ast.DictComp
_Jump = ast.Return | ast.Raise | ast.Continue | ast.Break
_Loop = ast.For | ast.AsyncFor | ast.While
_DEAD = None

State = frozenset[str] | None
"""Names that may be assigned here; ``None`` where control never arrives."""


def check(file: ParsedFile) -> Iterator[Hit]:
    """Find reads of local names that nothing has assigned yet."""
    shared = _shared_by_nested(file)
    for function in file.functions:
        scope = _scope(function.node)
        names = scope.names - shared.get(function, frozenset())
        if names:
            yield from _Pass(scope, names).of(function.node)


def _shared_by_nested(file: ParsedFile) -> dict[Function, frozenset[str]]:
    """Names by function that functions nested in it assign through ``nonlocal``."""
    shared: dict[Function, frozenset[str]] = {}
    for node, function in file.sites(ast.Nonlocal):
        outer = function.parent if function is not None else None
        while outer is not None:
            shared[outer] = shared.get(outer, frozenset()) | frozenset(node.names)
            outer = outer.parent
    return shared


@frozen
class _Scope:
    """The names a function binds itself, and where: positions are (line, column), sorted."""

    names: frozenset[str]
    positions: list[tuple[int, int]]
    bound: list[str]

    def assigned(self, *nodes: ast.AST) -> frozenset[str]:
        """Return the names bound between the start of the first node and the end of the last."""
        if not nodes:
            return frozenset()
        start, end = bisect_left(self.positions, _start(nodes[0])), bisect_left(self.positions, _end(nodes[-1]))
        return frozenset(self.bound[start:end])


def _start(node: ast.AST) -> tuple[int, int]:
    return getattr(node, "lineno", 0), getattr(node, "col_offset", 0)


def _end(node: ast.AST) -> tuple[int, int]:
    return getattr(node, "end_lineno", 0), getattr(node, "end_col_offset", 0)


def _scope(node: FunctionNode) -> _Scope:
    places: list[tuple[tuple[int, int], str]] = []
    shared: set[str] = set(parameters_of(node))
    for inner in _own_nodes(node.body):
        if isinstance(inner, ast.Global | ast.Nonlocal):
            shared.update(inner.names)
        else:
            places.extend((_start(inner), name) for name in _bound_by(inner))
    places.sort()
    names = frozenset(name for _, name in places) - shared
    return _Scope(names, [place for place, _ in places], [name for _, name in places])


def local_names(node: FunctionNode) -> frozenset[str]:
    """Return the names that the function binds itself, parameters and declared globals left out."""
    return _scope(node).names


def parameters_of(node: FunctionNode) -> list[str]:
    """Return the names of all parameters."""
    arguments = node.args
    every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
    return [argument.arg for argument in every if argument is not None]


def _own_nodes(body: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """Every node of a function's own scope: nested functions and classes count by their name alone."""
    stack = list(body)
    while stack:
        node = stack.pop()
        yield node
        if isinstance(node, _Scoped):
            continue
        if isinstance(node, _Comprehension | ast.GeneratorExp):
            stack.extend(n for n in ast.walk(node) if isinstance(n, ast.NamedExpr))
            continue
        stack.extend(children(node))


def _bound_by(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
            yield name
        case ast.NamedExpr(target=ast.Name(id=name)):
            yield name
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            yield name
        case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
            yield name
        case ast.MatchMapping(rest=str(name)):
            yield name
        case ast.Import(names=aliases) | ast.ImportFrom(names=aliases):
            yield from ((alias.asname or alias.name).split(".")[0] for alias in aliases)


@attrs.define
class _Pass:
    """One pass over a function; owns the hits found so far and the states that leave the loops it is in.

    :ivar pending: names that enclosing loops assign somewhere: they reach conditional code from the second round on.
    """

    scope: _Scope
    names: frozenset[str]
    pending: frozenset[str] = frozenset()
    breaks: list[list[State]] = attrs.field(factory=list)
    hits: dict[str, Hit] = attrs.field(factory=dict)

    def of(self, node: FunctionNode) -> Iterable[Hit]:
        self.block(node.body, frozenset())
        return self.hits.values()

    def block(self, body: Iterable[ast.stmt], state: State) -> State:
        for statement in body:
            if state is _DEAD:
                return _DEAD
            state = self.statement(statement, state)
        return state

    def statement(self, node: ast.stmt, state: frozenset[str]) -> State:
        match node:
            case ast.If():
                return self.branch(node, self.read(node.test, state))
            case ast.For() | ast.AsyncFor() | ast.While():
                return self.loop(node, state)
            case ast.Try() | ast.TryStar():
                return self.attempt(node, state)
            case ast.With() | ast.AsyncWith():
                for item in node.items:
                    state = self.read(item, state)
                after = self.block(node.body, state)
                # A context manager may swallow what ends its body early.
                return state | self.scope.assigned(*node.body) if after is _DEAD else after
            case ast.Match():
                return self.cases(node, self.read(node.subject, state))
            case ast.AugAssign(target=ast.Name(id=name)):
                self.name(node.target, name, self.read(node.value, state))
                return state | {name}
            case ast.Break():
                self.breaks[-1].append(state)
                return _DEAD
            case _:
                state = self.read(node, state)
                return _DEAD if isinstance(node, _Jump) else state

    def branch(self, node: ast.If, state: frozenset[str]) -> State:
        inside = state | self.pending
        after = _joined(self.block(node.body, inside), self.block(node.orelse, inside))
        if after is _DEAD or _may_continue(node):
            return after
        # Without a `continue` the first round comes by here too and must not lean on the back edge.
        return state | (after & self.scope.assigned(node))

    def loop(self, node: _Loop, state: frozenset[str]) -> State:
        endless = isinstance(node, ast.While) and isinstance(node.test, ast.Constant) and bool(node.test.value)
        state = self.read(node.test if isinstance(node, ast.While) else node.iter, state)
        targets = frozenset() if isinstance(node, ast.While) else frozenset(_targets(node.target))
        outer, assigned = self.pending, self.scope.assigned(*node.body)
        self.pending = outer | assigned
        self.breaks.append([])
        self.block(node.body, state | outer | targets)
        self.pending = outer
        left = _joined(*self.breaks.pop())
        if endless:
            return left
        return _joined(self.block(node.orelse, state | targets | assigned), left)

    def attempt(self, node: ast.Try | ast.TryStar, state: frozenset[str]) -> State:
        after = self.block(node.body, state)
        broken = state | self.scope.assigned(*node.body) | self.pending
        ends = [self.block(node.orelse, after) if after is not _DEAD else _DEAD]
        for handler in node.handlers:
            caught = broken if handler.type is None else self.read(handler.type, broken)
            ends.append(self.block(handler.body, caught | ({handler.name} if handler.name else set())))
        every = broken | self.scope.assigned(*node.orelse) | self.scope.assigned(*node.handlers)
        final = self.block(node.finalbody, every)
        joined = _joined(*ends)
        if final is _DEAD or joined is _DEAD:
            return _DEAD
        return joined | self.scope.assigned(*node.finalbody)

    def cases(self, node: ast.Match, state: frozenset[str]) -> State:
        ends: list[State] = [state]
        for case in node.cases:
            inside = state | self.pending | self.scope.assigned(case.pattern)
            if case.guard is not None:
                inside = self.read(case.guard, inside)
            ends.append(self.block(case.body, inside))
        return _joined(*ends)

    # --- expressions

    def read(self, node: ast.AST, state: frozenset[str]) -> frozenset[str]:
        """Visit what a statement or expression evaluates, in order; return the state after it."""
        match node:
            case ast.Name(id=name, ctx=ast.Load()):
                self.name(node, name, state)
                return state
            case ast.Assign() | ast.AnnAssign():
                return self.assign(node, state)
            case ast.AugAssign():
                return self.read(node.target, self.read(node.value, state))
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                for part in [*node.decorator_list, *_defaults(node)]:
                    state = self.read(part, state)
                return state | {node.name}
            case ast.Lambda():
                return state
            case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
                return self.comprehension(node, state)
            case ast.BoolOp():
                return self.short_circuit(node.values[0], node.values[1:], state)
            case ast.IfExp():
                return self.short_circuit(node.test, [node.body, node.orelse], state)
            case _:
                for child in children(node):
                    state = self.read(child, state)
                return state | frozenset(_bound_by(node))

    def assign(self, node: ast.Assign | ast.AnnAssign, state: frozenset[str]) -> frozenset[str]:
        if node.value is None:
            return state
        state = self.read(node.value, state)
        for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
            state = self.read(target, state)
        return state

    def comprehension(self, node: _Comprehension | ast.GeneratorExp, state: frozenset[str]) -> frozenset[str]:
        self.read(node.generators[0].iter, state)
        if not isinstance(node, ast.GeneratorExp):
            inside = state | self.pending | self.scope.assigned(node)
            for generator in node.generators:
                inside |= frozenset(_targets(generator.target))
            for part in [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]:
                self.read(part, inside)
        return state | self.scope.assigned(node)

    def short_circuit(self, first: ast.expr, rest: list[ast.expr], state: frozenset[str]) -> frozenset[str]:
        state = self.read(first, state)
        for value in rest:
            self.read(value, state | self.pending)
            state |= self.scope.assigned(value)
        return state

    def name(self, node: ast.AST, name: str, state: frozenset[str]) -> None:
        if name in self.names and name not in state and name not in self.hits:
            line = getattr(node, "lineno", 1)
            self.hits[name] = Hit(
                line=line,
                claim=f"the local name `{name}` is read here before anything is assigned to it",
                failing_call=f"any call that reaches the read of `{name}`",
                expected="a value, where UnboundLocalError is raised",
            )


def _defaults(node: FunctionNode | ast.ClassDef) -> list[ast.expr]:
    if isinstance(node, ast.ClassDef):
        return [*node.bases, *(keyword.value for keyword in node.keywords)]
    return [*node.args.defaults, *(default for default in node.args.kw_defaults if default is not None)]


def _targets(target: ast.AST) -> Iterator[str]:
    for node in ast.walk(target):
        yield from _bound_by(node)


def _joined(*states: State) -> State:
    live = [state for state in states if state is not _DEAD]
    return frozenset().union(*live) if live else _DEAD


def _may_continue(node: ast.AST) -> bool:
    return any(isinstance(inner, ast.Continue) for inner in _own_nodes([node]))
