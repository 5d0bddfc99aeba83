"""Assignments inside expressions: what to write instead depends on what stands around them.

What is assigned in `b` of ``a and b`` is computed only where ``a`` is true. A line of its own keeps that:
``if a and (m := f(a))`` becomes ``m = f(a) if a else None`` and ``if a and m``.
"""

from __future__ import annotations

from . import _nodes as n
from ._refusals import REFUSALS
from ._survey import Survey

__all__ = ["check_walrus"]

_COMPREHENSIONS = n.ListComp | n.SetComp | n.DictComp | n.Generator
_LONGEST = 60
_LOOKED_AT = 300
"""Characters: of a thousand conditions in a row, each would look at all before it."""


def check_walrus(survey: Survey) -> None:
    """Name every ``:=``, and where its value can be computed instead."""
    for node in survey.all(n.Refused):
        if node.kind == "walrus":
            _say(survey, node)
        elif node.kind == "while":
            _say_while(survey, node)


def _say(survey: Survey, node: n.Refused) -> None:
    code, message, _ = REFUSALS["walrus"]
    outer, inner = _place(survey, node)
    name, value = _name(survey, node), _value(survey, node, inner)
    if isinstance(outer, n.Clause) and inner is not outer.iterable:
        _in_condition(survey, node, inner)
        return
    if isinstance(outer, n.Refused) and outer.kind == "while":
        return  # said by the `while`, whose test it stands in
    if isinstance(outer, n.Lambda):
        hint = f"make the `lambda` a `def`, with `{name} = {value}` in a line of its own."
    elif isinstance(outer, n.Clause):
        hint = f"put `for {name} in [{value}]` before this `for`, and only `{name}` here."
    elif isinstance(outer, _COMPREHENSIONS):
        hint = f"put `for {name} in [{value}]` behind the last `for` or `if`, and only `{name}` here."
    elif isinstance(outer, n.If):
        hint = f"use `else:` instead of this `elif`, with `{name} = {value}` and an `if` in its block."
    else:
        hint = f"put `{name} = {value}` in a line of its own before this one, and only `{name}` here."
    survey.complain(code, *node.mark, message, hint)


def _say_while(survey: Survey, node: n.Refused) -> None:
    """Say how a ``while`` is written whose test assigns; one that does not was told when it was read."""
    test = node.parts[0]
    if not _assigned(survey, test):
        return
    lines: list[str] = []
    tested: list[n.Node] = []
    for operand in test.operands if isinstance(test, n.And) else [test]:
        # What stands in another is computed before it.
        inside = sorted(_assigned(survey, operand), key=lambda one: one.end)
        assigned = [one for one in inside if _place(survey, one)[0] is node]
        if assigned and tested:
            lines.append(f"`if not ({_text(survey, tested)}): break`")
            tested = []
        lines.extend(f"`{_name(survey, one)} = {_value(survey, one, operand)}`" for one in assigned)
        tested.append(operand)
    lines.append(f"`if not ({_text(survey, tested)}): break`")
    first = (
        f"{', '.join(lines[:-1])} and {lines[-1]} as the first lines" if lines[1:] else f"{lines[0]} as the first line"
    )
    code, message, _ = REFUSALS["while"]
    survey.complain(code, *node.mark, message, f"write `for attempt in range(100):` with {first} of its block.")


def _place(survey: Survey, node: n.Node) -> tuple[n.Node | None, n.Node]:
    """Return what decides when ``node`` is computed, ``None`` if its line does; and the part of it that holds it."""
    inner = node
    for outer in survey.above(node):
        if _decides(survey, outer, inner):
            return outer, inner
        inner = outer
    return None, inner


def _decides(survey: Survey, outer: n.Node, inner: n.Node) -> bool:
    """Say whether ``outer`` computes its part ``inner`` later than what stands in front of ``outer``."""
    if isinstance(outer, n.Clause):
        return inner in outer.conditions or (inner is outer.iterable and outer is not _clauses(survey.parent[outer])[0])
    if isinstance(outer, n.If):
        return inner in outer.tests[1:]
    if isinstance(outer, n.Refused):
        return outer.kind == "while" and inner is outer.parts[0]
    return isinstance(outer, n.Lambda) or (isinstance(outer, _COMPREHENSIONS) and inner is not outer.clauses[0])


def _clauses(node: n.Node) -> list[n.Clause]:
    return node.clauses if isinstance(node, _COMPREHENSIONS) else []


def _assigned(survey: Survey, node: n.Node) -> list[n.Refused]:
    return [inner for inner in survey.within(node) if isinstance(inner, n.Refused) and inner.kind == "walrus"]


def _name(survey: Survey, node: n.Refused) -> str:
    return node.binds[0].id if node.binds else survey.source[node.start : node.mark[0]].strip()


def _value(survey: Survey, node: n.Refused, whole: n.Node) -> str:
    """Return the value of ``node`` as it can stand before ``whole``, which may not come to compute it."""
    value, loose = _text(survey, node.parts), isinstance(node.parts[0], n.Conditional | n.Lambda)
    inner: n.Node = node
    while inner is not whole:
        outer = survey.parent[inner]
        condition, wanted = _condition(outer, inner)
        if condition:
            value = f"({value})" if loose else value
            test = _text(survey, condition)
            value = f"{value} if {test} else None" if wanted else f"None if {test} else {value}"
            loose = True
        inner = outer
    return value


def _condition(outer: n.Node, inner: n.Node) -> tuple[list[n.Node], bool]:
    """Return what must come out, and how, before ``outer`` computes its part ``inner``; nothing if it always does."""
    if isinstance(outer, n.And | n.Or):
        return outer.operands[: outer.operands.index(inner)], isinstance(outer, n.And)
    if isinstance(outer, n.Conditional) and inner is not outer.test:
        return [outer.test], inner is outer.then
    return [], True


def _text(survey: Survey, nodes: list[n.Node]) -> str:
    """Return the source from the first to the last of ``nodes``, with names in the place of what is assigned."""
    start, end = nodes[0].start, nodes[-1].end
    if end - start > _LOOKED_AT:
        return "..."
    made = ""
    for node in nodes:
        for inner in _assigned(survey, node):
            if inner.start >= start:
                made += survey.source[start : inner.start] + _name(survey, inner)
                start = inner.end
    made += survey.source[start:end]
    return made if len(made) <= _LONGEST and "\n" not in made else "..."


def _in_condition(survey: Survey, node: n.Refused, condition: n.Node) -> None:
    """Say how the ``if`` of a comprehension is written with a ``for`` that goes through one value."""
    code, message, _ = REFUSALS["walrus"]
    operands = condition.operands if isinstance(condition, n.And) else [condition]
    at = next(i for i, part in enumerate(operands) if part.start <= node.start and node.end <= part.end)
    name, value, text = _name(survey, node), _value(survey, node, operands[at]), survey.source
    before = f"if {text[operands[0].start : operands[at - 1].end]} " if at else ""
    rest = f"{text[operands[at].start : node.start]}{name}{text[node.end : operands[-1].end]}"
    made = f"{before}for {name} in [{value}] if {rest}"
    keyword = text.rfind("if", 0, condition.start)
    fits = "..." not in made and "`" not in made and "\n" not in made
    hint = f"write `{made}`." if fits else f"put `for {name} in [{value}]` before this `if`, and only `{name}` here."
    survey.complain(code, *((keyword, condition.end) if fits else node.mark), message, hint)
