"""The tree of a plan: plain slotted classes, and what later passes write on them.

Nothing here is an attribute access: a method call is a node of its own, so a plan cannot name any other attribute.
The parser knows three more nodes (:class:`Attribute`, :class:`Refused`, :class:`BadTarget`) that stand for what the
language refuses; each of them is a problem, so none is ever part of an accepted tree.

Every node has ``start`` and ``end`` (character offsets in the source), ``height`` (1 + the highest child) and
``waits``. Nodes are frozen by convention once the passes below have run.

Statements
    Module(body) ExprStatement(value) Assign(targets, value) AugAssign(target, op, value)
    For(target, iterable, body, orelse) If(tests, bodies, orelse) Break Continue Pass
    Def(target, parameters, body) Return(value or None)
Expressions
    Constant(value) Name(id) FString(parts) Field(value, conversion, spec)
    ListDisplay(items) TupleDisplay(items) SetDisplay(items) DictDisplay(keys, values) Starred(value)
    ListComp(element, clauses) SetComp(element, clauses) DictComp(key, value, clauses)
    Generator(element, clauses) Clause(target, iterable, conditions)
    Call(function, args, keywords) MethodCall(receiver, name, args, keywords) Keyword(name or None, value)
    Subscript(value, index) Slice(lower, upper, step) Unary(op, operand) Chain(operands, ops)
    Compare(operands, ops) And(operands) Or(operands) Conditional(test, then, orelse) Lambda(parameters, body)
Parameters
    Parameters(positional, star, keyword_only, double_star) Parameter(target, default)

Notes on single nodes
    FString.parts holds ``str`` and Field; ``f"{x=}"`` is the text ``x=`` followed by Field(x, "r", None).
    Field.conversion is "", "r", "s" or "a"; Field.spec is None or an FString (its fields have no spec of their own).
    DictDisplay.keys has None where the value is spread with ``**``. Keyword.name is None for ``**value``.
    Chain folds operators of one precedence, left to right: ``a + b - c`` is Chain([a, b, c], ["+", "-"]).
    Its levels are ``+ -``, ``* / // %``, ``|``, ``^``, ``&``. Unary.op is ``-``, ``+`` or ``not``.
    Compare.ops holds ``< > <= >= == !=``, ``in``, ``not in``, ``is``, ``is not``.
    AugAssign.op is the operator without its ``=``.
    If has one test and one body an arm; ``orelse`` is [] without ``else``.

What `_scopes.resolve` writes
    Name.kind, Name.slot, Name.certain (also on the targets of assignments, loops, parameters and defs):
        LOCAL    frame slot ``slot`` of the function that runs here holds the value
        CELL     frame slot ``slot`` holds a cell (some inner function captures the name)
        GLOBAL   slot ``slot`` of the plan's globals, read and written from anywhere
        WORD     an entry of the vocabulary; BUILTIN a builtin of the language. Both go by ``id``.
    ``certain`` is True where the name is bound whenever this read runs: no test for "unbound" is needed.
    Module.scope, Def.scope, Lambda.scope, Generator.scope: a :class:`Scope`, the layout of that frame. Module-level
    code has a frame too: it holds the variables of its comprehensions.
    ListComp.slots / .cells (SetComp, DictComp): frame slots of its variables, which become unbound (or, for those in
    ``cells``, get a fresh cell) each time it starts. A generator expression has a frame of its own;
    the first iterable is evaluated in the frame around it.
What `_waits.mark` writes
    ``waits`` on every node: True when evaluating it may suspend the task. Bodies of Def, Lambda and Generator do not
    count for the node itself: ``Def.body_waits``, ``Lambda.body_waits``, ``Generator.body_waits`` say it of them.
    Call.callee: NEVER (what is called cannot wait), ALWAYS (may wait, known by name) or ASK (a value is called: test
    the function's own flag at run time). A MethodCall waits only when its receiver or arguments do.
"""

from __future__ import annotations

from ._node import ALWAYS, ASK, BUILTIN, CELL, GLOBAL, LOCAL, NEVER, UNRESOLVED, WORD, Node, Scope, children
from ._node_comprehensions import Clause, DictComp, Generator, ListComp, SetComp
from ._node_expressions import (
    And,
    Call,
    Chain,
    Compare,
    Conditional,
    Constant,
    DictDisplay,
    Field,
    FString,
    Keyword,
    ListDisplay,
    MethodCall,
    Name,
    Or,
    SetDisplay,
    Slice,
    Starred,
    Subscript,
    TupleDisplay,
    Unary,
)
from ._node_functions import Def, Lambda, Parameter, Parameters, Return
from ._node_refused import Attribute, BadTarget, Refused
from ._node_statements import Assign, AugAssign, Break, Continue, ExprStatement, For, If, Module, Pass

__all__ = [
    "ALWAYS",
    "ASK",
    "BUILTIN",
    "CELL",
    "GLOBAL",
    "LOCAL",
    "NEVER",
    "UNRESOLVED",
    "WORD",
    "And",
    "Assign",
    "Attribute",
    "AugAssign",
    "BadTarget",
    "Break",
    "Call",
    "Chain",
    "Clause",
    "Compare",
    "Conditional",
    "Constant",
    "Continue",
    "Def",
    "DictComp",
    "DictDisplay",
    "ExprStatement",
    "FString",
    "Field",
    "For",
    "Generator",
    "If",
    "Keyword",
    "Lambda",
    "ListComp",
    "ListDisplay",
    "MethodCall",
    "Module",
    "Name",
    "Node",
    "Or",
    "Parameter",
    "Parameters",
    "Pass",
    "Refused",
    "Return",
    "Scope",
    "SetComp",
    "SetDisplay",
    "Slice",
    "Starred",
    "Subscript",
    "TupleDisplay",
    "Unary",
    "children",
]
