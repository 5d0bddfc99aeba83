"""The table from kinds of nodes to what builds their closures."""

from __future__ import annotations

from typing import Any, Final

from planlang import _nodes as nodes

from . import arithmetic, calls, comparisons, comprehensions, displays, functions, generators, loops, names, statements

__all__ = ["BUILDERS"]

BUILDERS: Final[dict[type[nodes.Node], Any]] = {
    nodes.And: comparisons.both,
    nodes.Assign: statements.assign,
    nodes.AugAssign: statements.aug_assign,
    nodes.Break: statements.jump,
    nodes.Call: calls.call,
    nodes.Chain: arithmetic.chain,
    nodes.Compare: comparisons.compare,
    nodes.Conditional: comparisons.conditional,
    nodes.Constant: names.constant,
    nodes.Continue: statements.jump,
    nodes.Def: functions.definition,
    nodes.DictComp: comprehensions.dict_comp,
    nodes.DictDisplay: displays.dict_display,
    nodes.ExprStatement: statements.expression,
    nodes.FString: displays.fstring,
    nodes.For: loops.for_loop,
    nodes.Generator: generators.generator,
    nodes.If: statements.if_statement,
    nodes.Lambda: functions.function_value,
    nodes.ListComp: comprehensions.list_comp,
    nodes.ListDisplay: displays.list_display,
    nodes.MethodCall: calls.method_call,
    nodes.Name: names.name,
    nodes.Or: comparisons.either,
    nodes.Pass: statements.jump,
    nodes.Return: statements.return_statement,
    nodes.SetComp: comprehensions.set_comp,
    nodes.SetDisplay: displays.set_display,
    nodes.Subscript: displays.subscript,
    nodes.TupleDisplay: displays.tuple_display,
    nodes.Unary: arithmetic.unary,
}
