"""clone-difference: a function that is a copy of others but for one operator, name or constant.

Functions are brought to a shape (their tree without what stands at its leaves) and a list of leaves, local names
numbered by first use. Functions of one shape in one shard are compared leaf by leaf; the odd one out is reported.
Copies that differ in a constant are often meant to, so that a constant counts only against several copies that agree.
"""

from __future__ import annotations

import ast
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

from planloom.data_classes import frozen

from ._words import quoted
from .parsed import Function, FunctionNode, ParsedFile, Shard
from .rules import Hit

_LEAST_LEAVES = 12
"""Shorter functions look alike without being copies."""
_LONG_LEAVES = 30
"""From here on two functions alike but for an operator are copies, even where no third one says which is right."""
_Operator = ast.operator | ast.cmpop | ast.boolop | ast.unaryop


@frozen
class _Leaf:
    kind: str
    text: str
    line: int


@frozen
class _Body:
    """A function as it is compared: its file's path, the function and its leaves."""

    path: str
    function: Function
    leaves: tuple[_Leaf, ...]


def check(file: ParsedFile) -> Iterator[Hit]:
    """Find the odd ones out of the copies in a shard."""
    yield from file.shard.once("clones", lambda: _odd_ones(file.shard)).get(file.path, ())


def confirm(file: ParsedFile, claim: str, line: int) -> bool:
    """Whether code cut out of its file still reads as a claim quotes it: the copies are elsewhere."""
    said = claim.partition("` but here `")[2].partition("`")[0]
    at = line - file.first_line + 1
    return bool(said) and any(
        leaf.line == at and leaf.text == said for function in file.functions for leaf in _read(function.node)[1]
    )


def _odd_ones(shard: Shard) -> dict[str, list[Hit]]:
    shapes: dict[str, list[_Body]] = defaultdict(list)
    for file in shard.files:
        for function in file.functions:
            shape, leaves = _read(function.node)
            if len(leaves) >= _LEAST_LEAVES:
                shapes[shape].append(_Body(file.path, function, leaves))
    found: dict[str, list[Hit]] = defaultdict(list)
    for bodies in shapes.values():
        if len(bodies) > 1:
            for body, hit in _compared(bodies):
                found[body.path].append(hit)
    return found


def _compared(bodies: Sequence[_Body]) -> Iterator[tuple[_Body, Hit]]:
    columns = list(zip(*([leaf.text for leaf in body.leaves] for body in bodies), strict=True))
    counts = [Counter(column) for column in columns]
    usual = [count.most_common(1)[0] for count in counts]
    for body in bodies:
        differing = [at for at, leaf in enumerate(body.leaves) if leaf.text != usual[at][0]]
        if len(bodies) == 2 and not differing:
            differing = [at for at, count in enumerate(counts) if len(count) == 2]
        if len(differing) == 1 and _tells(body.leaves[differing[0]], usual[differing[0]][1], bodies):
            at = differing[0]
            other = next(text for text in (usual[at][0], *columns[at]) if text != body.leaves[at].text)
            yield body, _hit(body, body.leaves[at], other, usual[at][1])


def _tells(leaf: _Leaf, agreeing: int, bodies: Sequence[_Body]) -> bool:
    if len(bodies) == 2:
        return leaf.kind == "operator" and len(bodies[0].leaves) >= _LONG_LEAVES
    return agreeing >= (3 if leaf.kind == "constant" else 2) and agreeing * 2 > len(bodies)


def _read(node: FunctionNode) -> tuple[str, tuple[_Leaf, ...]]:
    body = node.body[1:] if ast.get_docstring(node, clean=False) is not None else node.body
    names: dict[str, str] = {argument.arg: "" for argument in ast.walk(node.args) if isinstance(argument, ast.arg)}
    names |= {n.id: "" for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    shape: list[str] = [str(len(node.args.args))]
    leaves: list[_Leaf] = []
    numbered: dict[str, str] = {}
    stack: list[tuple[ast.AST, int]] = [(part, getattr(part, "lineno", 1)) for part in reversed(body)]
    while stack:
        part, line = stack.pop()
        line = getattr(part, "lineno", line)
        leaf = _leaf(part, line, names, numbered)
        shape.append(leaf.kind if leaf else type(part).__name__)
        if leaf:
            leaves.append(leaf)
        stack.extend((child, line) for child in reversed(list(ast.iter_child_nodes(part))))
    return " ".join(shape), tuple(leaves)


def _leaf(node: ast.AST, line: int, names: dict[str, str], numbered: dict[str, str]) -> _Leaf | None:
    match node:
        case ast.Name(id=name) if name in names:
            return _Leaf("name", numbered.setdefault(name, f"name {len(numbered) + 1}"), line)
        case ast.Name(id=name):
            return _Leaf("name", name, line)
        case ast.Constant():
            return _Leaf("constant", quoted(node), line)
    return _Leaf("operator", type(node).__name__, line) if isinstance(node, _Operator) else None


def _hit(body: _Body, leaf: _Leaf, other: str, agreeing: int) -> Hit:
    return Hit(
        line=leaf.line,
        claim=f"{agreeing} functions built like this one have `{other}` but here `{leaf.text}` stands",
        failing_call=f"a call of `{body.function.qualname}`",
        expected=f"`{other}`, as in the functions built alike",
    )
