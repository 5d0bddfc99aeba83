"""swapped-arguments: a call whose positional arguments carry each other's parameter names.

``def area(width, height)`` called as ``area(height, width)``. Often it is meant: in a function that swaps, reflects
or orders its arguments, in the callee itself, next to the same call the other way round. Those are left alone.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from ._signatures import Target, resolver_of, shadowed
from ._unbound import parameters_of
from ._words import last_name, quoted, words_of
from .parsed import Function, ParsedFile
from .rules import Hit

_TURNING = frozenset(
    (
        "swap",
        "swapped",
        "reverse",
        "reversed",
        "rev",
        "transpose",
        "transposed",
        "inverse",
        "invert",
        "inverted",
        "flip",
        "flipped",
        "mirror",
        "mirrored",
        "converse",
        "symmetric",
        "commute",
        "rotate",
        "opposite",
        "back",
        "backward",
        "inv",
        "le",
        "lt",
        "ge",
        "gt",
    )
)
_REFLECTED = re.compile(r"__r[a-z]+__")


def check(file: ParsedFile) -> Iterator[Hit]:
    """Find calls of functions of the shard that name two arguments crosswise."""
    for call, function in file.sites(ast.Call):
        names = _positional(call)
        if sum(map(bool, names)) < 2:
            continue
        target = resolver_of(file.shard).target(file, call.func, function)
        pair = _crossed(names, target.parameters) if target is not None else None
        if target is None or pair is None or shadowed(call.func, function):
            continue
        if not _meant(call, function, target, pair):
            yield _hit(call, target, pair)


def confirm(file: ParsedFile, claim: str, line: int) -> bool:
    """Whether code cut out of its file still holds the call of a claim: the callee's definition is elsewhere."""
    called = re.match(r"`(.+?)` passes", claim)
    return called is not None and any(
        file.first_line + call.lineno - 1 == line and quoted(call) == called[1] for call, _ in file.sites(ast.Call)
    )


def _positional(call: ast.Call) -> list[str]:
    """Names of the positional arguments up to the first starred one, empty for those without a name."""
    names = []
    for argument in call.args:
        if isinstance(argument, ast.Starred):
            break
        names.append(last_name(argument))
    return names


def _crossed(names: list[str], parameters: tuple[str, ...]) -> tuple[str, str] | None:
    for i, (first, wanted) in enumerate(zip(names, parameters, strict=False)):
        if not first or first == wanted or first not in parameters[i + 1 : len(names)]:
            continue
        j = parameters.index(first, i + 1)
        if names[j] == wanted:
            return first, wanted
    return None


def _meant(call: ast.Call, function: Function | None, target: Target, pair: tuple[str, str]) -> bool:
    """Whether something around the call says that the order is deliberate."""
    outer = function
    while outer is not None:
        name = outer.node.name
        if name == target.function.node.name or _REFLECTED.fullmatch(name) or _TURNING & set(words_of(name)):
            return True
        outer = outer.parent
    if _TURNING & set(words_of(target.function.node.name)):
        return True
    if max(map(len, pair)) == 1 and not _same_order(function, pair):
        return True
    return function is not None and any(_turns(node, call, pair) for node in ast.walk(function.node))


def _same_order(function: Function | None, pair: tuple[str, str]) -> bool:
    """Whether the caller takes the two names as parameters in the callee's order.

    Single letters are reused for whatever is at hand; only this shows that both functions mean the same by them.
    """
    own = parameters_of(function.node) if function is not None else []
    return set(pair) <= set(own) and own.index(pair[1]) < own.index(pair[0])


def _turns(node: ast.AST, call: ast.Call, pair: tuple[str, str]) -> bool:
    """Whether a node tests the two names, exchanges them, binds them crosswise or makes the call straight."""
    match node:
        case ast.If(test=test) | ast.IfExp(test=test) | ast.While(test=test):
            return _inside(call, node) and set(pair) <= {last_name(n) for n in ast.walk(test)}
        case ast.Lambda(args=arguments):
            return _inside(call, node) and set(pair) <= {a.arg for a in arguments.args}
        case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)):
            return set(pair) <= {last_name(n) for n in targets} and set(pair) <= {last_name(n) for n in values}
        case ast.Call() if node is not call and ast.dump(node.func) == ast.dump(call.func):
            names = _positional(node)
            return all(name in names for name in pair) and names.index(pair[1]) < names.index(pair[0])
    return False


def _inside(call: ast.Call, node: ast.stmt | ast.expr) -> bool:
    return node.lineno <= call.lineno and (call.end_lineno or 0) <= (node.end_lineno or 0)


def _hit(call: ast.Call, target: Target, pair: tuple[str, str]) -> Hit:
    first, second = pair
    signature = f"{target.function.node.name}({', '.join(target.parameters)})"
    return Hit(
        line=call.lineno,
        claim=f"`{quoted(call)}` passes `{first}` as `{second}` and `{second}` as `{first}`: "
        f"it is defined as `{signature[:100]}`",
        failing_call=quoted(call),
        expected=f"`{first}` and `{second}` the other way round",
    )
