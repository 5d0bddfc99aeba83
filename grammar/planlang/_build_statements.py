"""Nodes of statements, among them those that plans do not have."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

from . import _nodes as n
from ._build_calls import parameters
from ._building import Building, Parts, end_of, nodes_in, span
from ._refusals import MODULES
from ._targets import as_aug_target, as_target, line_prefix
from ._token import Token

__all__ = ["RULES"]


def _start(b: Building, parts: Parts) -> n.Module:
    return n.Module(0, len(b.source), nodes_in(parts))


def _block(b: Building, parts: Parts) -> list[n.Node]:
    return nodes_in(parts)


# ---- simple statements


def _expression_statement(b: Building, parts: Parts) -> n.Node:
    return n.ExprStatement(*span(parts), b.one_value(parts[0]))


def _assign(b: Building, parts: Parts) -> n.Node:
    *targets, value = parts[::2]
    return n.Assign(*span(parts), [as_target(b, target) for target in targets], b.one_value(value))


def _aug_op(b: Building, parts: Parts) -> Token:
    token: Token = parts[0]
    return token


def _aug_assign(b: Building, parts: Parts) -> n.Node:
    target, op, value = parts
    name = op.type[:-1]
    target = as_aug_target(b, target, op.type)
    if name in ("**", "@", "<<", ">>"):
        shown = b.text_of(target)
        hint = f"write `{shown} *= {shown}`." if name == "**" and b.text_of(value) == "2" else ""
        start, end = (target.start, value.end) if hint else (op.start, op.end)
        b.refuse("<<" if name == ">>" else name, start, end, hint)
        name = "+"
    return n.AugAssign(*span(parts), target, name, b.one_value(value))


def _annotated(b: Building, parts: Parts) -> n.Node:
    number = isinstance(parts[0], n.Constant) and type(parts[0].value) is int
    if number and isinstance(parts[2], n.Name | n.Subscript | n.Call | n.MethodCall):
        behind = line_prefix(b, parts[0], parts[2], "a line number")
        if len(parts) == 3:
            return n.ExprStatement(*span(parts), behind)
        return n.Assign(*span(parts), [as_target(b, behind)], b.one_value(parts[4]))
    target = as_target(b, parts[0])
    if isinstance(target, n.TupleDisplay | n.ListDisplay):
        message = "an annotation belongs to one name"
        b.complain("PL021", target.start, target.end, message, "leave the annotation out.")
    if len(parts) == 3:
        return n.Pass(*span(parts))
    return n.Assign(*span(parts), [target], b.one_value(parts[4]))


def _pass(b: Building, parts: Parts) -> n.Node:
    return n.Pass(*span(parts))


def _break(b: Building, parts: Parts) -> n.Node:
    return n.Break(*span(parts))


def _continue(b: Building, parts: Parts) -> n.Node:
    return n.Continue(*span(parts))


def _return(b: Building, parts: Parts) -> n.Node:
    return n.Return(*span(parts), b.one_value(parts[1]) if len(parts) == 2 else None)


# ---- compound statements


def _if(b: Building, parts: Parts) -> n.Node:
    tests: list[n.Node] = []
    bodies: list[list[n.Node]] = []
    orelse: list[n.Node] = []
    at = 0
    while at < len(parts):
        if parts[at].type == "else":
            orelse = parts[at + 2]
            break
        tests.append(parts[at + 1])
        bodies.append(parts[at + 3])
        at += 4
    return n.If(*span(parts), tests, bodies, orelse)


def _for(b: Building, parts: Parts) -> n.Node:
    _, target, _, iterable, _, body, *rest = parts
    return n.For(*span(parts), as_target(b, target), b.one_value(iterable), body, rest[2] if rest else [])


def _def(b: Building, parts: Parts) -> n.Node:
    name = parts[1]
    close = next(at for at, part in enumerate(parts) if isinstance(part, Token) and part.type == ")")
    target = n.Name(name.start, name.end, name.value)
    start, end = span(parts)
    return n.Def(start, end, target, parameters(b, parts[3:close], parts[close].start), parts[-1])


# ---- statements that plans do not have


def _names(tokens: Parts) -> list[n.Name]:
    return [n.Name(t.start, t.end, str(t.value)) for t in tokens if isinstance(t, Token) and t.type == "NAME"]


def _after_as(parts: Parts) -> list[n.Name]:
    pairs = pairwise(parts)
    return _names([b for a, b in pairs if isinstance(a, Token) and a.type == "as"])


class _Imported:
    """One name that an import binds, and the module it comes from."""

    def __init__(self, module: str, name: n.Name, end: int) -> None:
        self.module, self.name, self.end = module, name, end


def _dotted(b: Building, parts: Parts) -> list[n.Name]:
    return _names(parts)


def _imported(b: Building, parts: Parts) -> _Imported:
    path = parts[0]
    renamed = _after_as(parts)
    return _Imported(path[0].id, renamed[0] if renamed else path[0], end_of(parts[-1]))


def _from_name(b: Building, parts: Parts) -> n.Name:
    name: n.Name = _names(parts)[-1]
    return name


def _import(b: Building, parts: Parts) -> n.Node:
    found = [part for part in parts if isinstance(part, _Imported)]
    node = b.refused("import", parts[0], [], [i.name for i in found], _import_hint([i.module for i in found]))
    node.end = found[-1].end
    return node


def _from(b: Building, parts: Parts) -> n.Node:
    paths = [part for part in parts if isinstance(part, list)]
    binds = [part for part in parts if isinstance(part, n.Name)]
    modules = [paths[0][0].id] if paths else []
    node = b.refused("import", parts[0], [], binds, _import_hint(modules))
    node.end = end_of(parts[-1])
    return node


def _import_hint(modules: list[str]) -> str:
    known = [MODULES[module] for module in modules if module in MODULES]
    return f"delete this line; {'; '.join(known)}." if known else ""


def _raise(b: Building, parts: Parts) -> n.Node:
    error = parts[1] if len(parts) > 1 else None
    if not isinstance(error, n.Call) or len(error.args) != 1 or error.keywords:
        return b.refused("raise", parts[0], [], [])
    start, end = parts[0].start, error.end
    hint = f"write `log({b.text_of(error.args[0])})` and go on without the value."
    return b.refused("raise", Token("raise", "raise", start, end), [], [], hint)


def _assert(b: Building, parts: Parts) -> n.Node:
    test, *message = (part for part in parts[1:] if isinstance(part, n.Node))
    said = b.text_of(message[0]) if message else '"unexpected"'
    if "..." in (b.text_of(test), said):
        return b.refused("assert", parts[0], [test], [])
    hint = f"write `if not ({b.text_of(test)}): log({said})`."
    whole = Token("assert", "assert", parts[0].start, end_of(parts[-1]))
    return b.refused("assert", whole, [test], [], hint)


def _scope(b: Building, parts: Parts) -> n.Node:
    return b.refused("global", parts[0], [], _names(parts))


def _del(b: Building, parts: Parts) -> n.Node:
    target = parts[1]
    whole = Token("del", "del", parts[0].start, end_of(parts[-1]))
    if isinstance(target, n.Name):
        return b.refused("del", whole, [], [], "delete this line: values that nobody reads cost nothing.")
    if not isinstance(target, n.Subscript) or "..." in (b.text_of(target.value), b.text_of(target.index)):
        return b.refused("del", parts[0], parts[1:], [])
    shown, index = b.text_of(target.value), b.text_of(target.index)
    made = f"{shown}[{index}] = []" if isinstance(target.index, n.Slice) else f"{shown}.pop({index})"
    return b.refused("del", whole, [target], [], f"write `{made}`.")


def _while(b: Building, parts: Parts) -> n.Node:
    """Make the node; a test that assigns is told by `_check_walrus`, which says where its values go."""
    keyword, test, colon = parts[:3]
    if ":=" in b.source[test.start : test.end] and _assigns(test):
        inside = nodes_in(parts[1:])
        end = max(node.end for node in inside)
        return n.Refused(keyword.start, end, "while", (keyword.start, colon.end), inside, [])
    shown = b.text_of(test)
    first = "" if shown in ("True", "1") else f" with `if not ({shown}): break` as the first line of its block"
    hint = f"write `for attempt in range(100):`{first or ', and `break` when done'}."
    return b.refused("while", Token("while", "while", keyword.start, colon.end), parts[1:], [], hint)


def _assigns(node: n.Node) -> bool:
    waiting = [node]
    while waiting:
        node = waiting.pop()
        if isinstance(node, n.Refused) and node.kind == "walrus":
            return True
        waiting.extend(n.children(node))
    return False


def _try(b: Building, parts: Parts) -> n.Node:
    # What is caught is dropped: its names are Python's exceptions, which a plan does not have either.
    blocks = [part for part in parts if isinstance(part, list)]
    return b.refused("try", parts[0], blocks, _after_as(parts))


def _with(b: Building, parts: Parts) -> n.Node:
    binds = [part for before, part in pairwise(parts) if _is_as(before)]
    return b.refused("with", parts[0], parts[-1:], [node for node in binds if isinstance(node, n.Name)])


def _is_as(part: Any) -> bool:
    return isinstance(part, Token) and part.type == "as"


_SCHEMA = 'give a schema as a dict: `{"type": "object", "properties": {"bugs": {"type": "array"}}}`.'


def _class(b: Building, parts: Parts) -> n.Node:
    bases = b.source[parts[1].end : b.source.find(":", parts[1].end)]
    hint = _SCHEMA if any(base in bases for base in ("BaseModel", "TypedDict", "Struct")) else ""
    node = b.refused("class", parts[0], [], _names(parts[1:2]), hint)
    node.end = end_of(parts[-1])
    return node


def _async(b: Building, parts: Parts) -> n.Node:
    mark, statement = parts
    b.refuse("async", mark.start, mark.end)
    statement.start = mark.start
    return statement  # type: ignore[no-any-return]  # parts are nodes here, by the grammar


def _decorated(b: Building, parts: Parts) -> n.Node:
    if not (isinstance(parts[-1], n.Refused) and parts[-1].kind == "class"):
        b.refuse("decorator", parts[0].start, parts[1].end)
    return parts[-1]  # type: ignore[no-any-return]  # parts are nodes here, by the grammar


def _match(b: Building, parts: Parts) -> n.Node:
    kept = [parts[1], *(part for part in parts if isinstance(part, list))]
    binds = _after_as(parts)
    for before, part in pairwise(parts):
        if isinstance(before, Token) and before.type == "CASE":
            binds.extend(_names_under(part))
    return b.refused("match", parts[0], kept, binds)


def _names_under(node: n.Node) -> list[n.Name]:
    waiting, found = [node], []
    while waiting:
        node = waiting.pop()
        if isinstance(node, n.Name):
            found.append(node)
        waiting.extend(n.children(node))
    return found


RULES: dict[str, Callable[[Building, Parts], Any]] = {
    "start": _start,
    "block": _block,
    "expression_statement": _expression_statement,
    "assign": _assign,
    "aug_op": _aug_op,
    "aug_assign": _aug_assign,
    "annotated": _annotated,
    "pass_statement": _pass,
    "break_statement": _break,
    "continue_statement": _continue,
    "return_statement": _return,
    "if_statement": _if,
    "for_statement": _for,
    "def_statement": _def,
    "import_statement": _import,
    "from_statement": _from,
    "from_name": _from_name,
    "imported": _imported,
    "dotted": _dotted,
    "raise_statement": _raise,
    "assert_statement": _assert,
    "scope_statement": _scope,
    "del_statement": _del,
    "while_statement": _while,
    "try_statement": _try,
    "with_statement": _with,
    "class_statement": _class,
    "async_statement": _async,
    "decorated": _decorated,
    "match_statement": _match,
}
