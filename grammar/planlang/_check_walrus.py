"""Assignments inside expressions: what to write instead depends on what stands around them."""

from __future__ import annotations

from . import _nodes as n
from ._refusals import REFUSALS
from ._survey import Survey

__all__ = ["check_walrus"]

_COMPREHENSIONS = n.ListComp | n.SetComp | n.DictComp | n.Generator


def check_walrus(survey: Survey) -> None:
    """Name every ``:=``, and where its value can be computed instead."""
    for node in survey.all(n.Refused):
        if node.kind == "walrus":
            _say(survey, node)


def _say(survey: Survey, node: n.Refused) -> None:
    code, message, _ = REFUSALS["walrus"]
    name = survey.source[node.start : node.mark[0]].strip("( ")
    value = survey.text(node.parts[0], 60)
    inner: n.Node = node
    for outer in survey.above(node):
        if isinstance(outer, n.Lambda):
            hint = f"make the `lambda` a `def`, with `{name} = {value}` in a line of its own."
            break
        if isinstance(outer, n.Clause) and inner in outer.conditions:
            _in_condition(survey, node, inner, name, value)
            return
        if isinstance(outer, n.Clause) and inner is outer.iterable and not _first_iterable(survey.parent[outer], node):
            hint = f"put `for {name} in [{value}]` before this `for`, and only `{name}` here."
            break
        if isinstance(outer, _COMPREHENSIONS) and not _first_iterable(outer, node):
            hint = f"put `for {name} in [{value}]` behind the last `for` or `if`, and only `{name}` here."
            break
        if isinstance(outer, n.If) and inner in outer.tests[1:]:
            hint = f"use `else:` instead of this `elif`, with `{name} = {value}` and an `if` in its block."
            break
        if isinstance(outer, n.Refused) and outer.kind == "while" and inner is outer.parts[0]:
            return  # said by the `while`, whose test it stands in
        inner = outer
    else:
        hint = f"put `{name} = {value}` in a line of its own before this one, and only `{name}` here."
    survey.complain(code, *node.mark, message, hint)


def _first_iterable(outer: n.Node, node: n.Refused) -> bool:
    """Say whether ``node`` stands in what is computed once, before the loop."""
    first = outer.clauses[0].iterable if isinstance(outer, _COMPREHENSIONS) else outer
    return first.start <= node.start and node.end <= first.end


def _in_condition(survey: Survey, node: n.Refused, condition: n.Node, name: str, value: str) -> None:
    """Say how the ``if`` of a comprehension is written with a ``for`` that goes through one value."""
    code, message, _ = REFUSALS["walrus"]
    operands = condition.operands if isinstance(condition, n.And) else [condition]
    at = next(i for i, part in enumerate(operands) if part.start <= node.start and node.end <= part.end)
    text = survey.source
    before = f"if {text[operands[0].start : operands[at - 1].end]} " if at else ""
    rest = f"{text[operands[at].start : node.start]}{name}{text[node.end : operands[-1].end]}"
    made = f"{before}for {name} in [{value}] if {rest}"
    keyword = text.rfind("if", 0, condition.start)
    fits = "..." not in made and "`" not in made and "\n" not in made
    hint = f"write `{made}`." if fits else f"put `for {name} in [{value}]` before this `if`, and only `{name}` here."
    survey.complain(code, *((keyword, condition.end) if fits else node.mark), message, hint)
